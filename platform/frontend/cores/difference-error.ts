/**
 * Forward and central differences in real float64: twin of `pixelbank/chapters/cores/difference_error.py`; the drawings
 * are twins of `figures/difference_error.py`. Functions made of +, -, *, / and square roots give the same bits in both.
 */
import { line, num, type Point, Scene } from "./scene";

export type NamedFunction = {
  label: string;
  python: string;
  f: (x: number) => number;
  derivative: (x: number) => number;
  /** A good place to start. */
  x: number;
};

export const FUNCTIONS: Readonly<Record<string, NamedFunction>> = {
  cube: { label: "x³", python: "x * x * x", f: (x) => x * x * x, derivative: (x) => 3 * x * x, x: 1.5 },
  square: { label: "x²", python: "x * x", f: (x) => x * x, derivative: (x) => 2 * x, x: 3 },
  inverse: { label: "1/x", python: "1 / x", f: inverse, derivative: (x) => -inverse(x * x), x: 0.5 },
  root: { label: "√x", python: "math.sqrt(x)", f: Math.sqrt, derivative: (x) => inverse(2 * Math.sqrt(x)), x: 2 },
  offset: { label: "1000000 + x²", python: "1e6 + x * x", f: (x) => 1e6 + x * x, derivative: (x) => 2 * x, x: 3 },
  exp: { label: "eˣ", python: "math.exp(x)", f: Math.exp, derivative: Math.exp, x: 1 },
  sin: { label: "sin x", python: "math.sin(x)", f: Math.sin, derivative: Math.cos, x: 0.7 },
  tanh: { label: "tanh x", python: "math.tanh(x)", f: Math.tanh, derivative: (x) => 1 - Math.tanh(x) * Math.tanh(x), x: 1 },
};

function inverse(x: number): number {
  return x ? 1 / x : Infinity;
}

/** The steps on the slider and of the error curves, smallest first; written as decimals so that both twins agree. */
export const STEPS: readonly number[] = [
  ...Array.from({ length: 16 }, (_, i) => i - 16).flatMap((e) => [1, 1.5, 2, 3, 5, 7].map((m) => Number(`${m}e${e}`))),
  1,
];

/** Where the figure stops on its way from a large step to a small one: 1, 0.5, 0.2, 0.1 and so on. */
export const STOPS: readonly number[] = STEPS.filter((h) => /^[125]/.test(h.toExponential()) && !/^1\.5/.test(h.toExponential())).reverse();

/** Both estimates of f'(x) at one step, and how far they are from the truth (absolute errors). */
export type Estimate = { h: number; forward: number; central: number; forwardError: number; centralError: number };

/** Evaluates both formulas, exactly as they are written, in float64. `h` must be positive. */
export function estimate(name: string, x: number, h: number): Estimate {
  const { f, derivative } = FUNCTIONS[name]!;
  const [right, here, left] = [f(x + h), f(x), f(x - h)];
  const truth = derivative(x);
  const forward = (right - here) / h;
  const central = (right - left) / (2 * h);
  return { h, forward, central, forwardError: Math.abs(forward - truth), centralError: Math.abs(central - truth) };
}

export function errorCurve(name: string, x: number): Estimate[] {
  return STEPS.map((h) => estimate(name, x, h));
}

/** Neighbouring steps that are judged together: their largest is five to seven times their smallest. */
const REGION = 5;

/** Neighbouring steps from `low` to `high`, and the largest error at any of them. */
export type Region = { low: number; high: number; error: number };

/**
 * Where a method does best; larger steps win a tie. Rounding makes a single step exact by luck, so that the smallest
 * error on the curve says little. Sought are neighbouring steps whose largest error is as small as possible.
 */
export function best(curve: readonly Estimate[], method: "forward" | "central"): Region | null {
  let found: Region | null = null;
  for (let start = 0; start + REGION <= curve.length; start += 1) {
    const near = curve.slice(start, start + REGION);
    const error = Math.max(...near.map((e) => (method === "forward" ? e.forwardError : e.centralError)));
    if (Number.isFinite(error) && (!found || error <= found.error)) found = { low: near[0]!.h, high: near[REGION - 1]!.h, error };
  }
  return found;
}

/** Text with that many significant digits: `1.5e−7`, `6.75`, `not a number`. Written alike by both twins. */
export function number(value: number, digits = 2): string {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return "infinite";
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
  if (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5) {
    return bare(value.toFixed(Math.max(0, digits - 1 - Number(exponent)))).replace("-", "−");
  }
  return `${bare(mantissa)}e${Number(exponent)}`.replaceAll("-", "−");
}

function bare(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** One sentence: both errors at this step. */
export function describe(name: string, x: number, h: number): string {
  const e = estimate(name, x, h);
  return (
    `${FUNCTIONS[name]!.label} at x = ${number(x, 6)}, h = ${number(h, 3)}: the forward difference ` +
    `${off(e.forwardError)}, the central one ${off(e.centralError)}.`
  );
}

function off(error: number): string {
  return Number.isFinite(error) ? `is off by ${number(error)}` : "cannot be compared with a slope here";
}

/** Where each method does best, and its largest error there. */
export function bestSentence(name: string, x: number): string {
  const curve = errorCurve(name, x);
  const [forward, central] = [best(curve, "forward"), best(curve, "central")];
  const luck = forward || central ? " A single step can be better by luck." : "";
  return `Best steps here: forward ${region(forward)}, central ${region(central)}.${luck}`;
}

function region(found: Region | null): string {
  return found ? `h = ${number(found.low)} to ${number(found.high)} (largest error ${number(found.error)})` : "none";
}

export const TABLE_HEAD = ["Step h", "Forward", "Its error", "Central", "Its error"];

/** One row for each power of ten. */
export function tableRows(curve: readonly Estimate[]): string[][] {
  return curve
    .filter((_, i) => i % 6 === 0)
    .map((e) => [number(e.h), number(e.forward, 12), number(e.forwardError), number(e.central, 12), number(e.centralError)]);
}

const WIDTH = 420;
const HEIGHT = 330;
const LEFT = 52;
const RIGHT = 404;
const TOP = 30;
const BOTTOM = 282;
const SAMPLES = 320;
/** Powers of ten on the error axis; a smaller error, also zero, is drawn on its bottom line. */
const LOW = -16;
const HIGH = 2;

/** The function on [x - 3h, x + 3h], its true slope, and the two secants. The window shrinks with h. */
export function drawSecants(name: string, x: number, h: number): Scene {
  const { f, derivative } = FUNCTIONS[name]!;
  const e = estimate(name, x, h);
  const scene = new Scene(WIDTH, HEIGHT);
  const half = 3 * h;
  const offsets = Array.from({ length: SAMPLES + 1 }, (_, i) => (2 * half * i) / SAMPLES - half);
  // x + t is rounded to the nearest float64; drawn over the wanted t, that makes the stairs for tiny h.
  const values = offsets.map((t) => f(x + t));
  const [here, right, left] = [f(x), f(x + h), f(x - h)];
  const finite = [...values, here, right, left].filter(Number.isFinite);
  let [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  if (high === low) {
    const value = high;
    high = value + Math.abs(value) * 2 ** -52 + 1e-300;
    low = value - Math.abs(value) * 2 ** -52;
  }
  const pad = (high - low) * 0.12;
  const px = (t: number) => LEFT + ((t + half) / (2 * half)) * (RIGHT - LEFT);
  const py = (v: number) => BOTTOM - ((v - (low - pad)) / (high + pad - (low - pad))) * (BOTTOM - TOP);
  /** The part of a straight line that lies inside the box. */
  const straight = (slope: number, t0: number, y0: number): string => {
    const inside = offsets
      .map((t): Point => [px(t), py(y0 + slope * (t - t0))])
      .filter(([, y]) => y >= TOP && y <= BOTTOM);
    return inside.length > 1 ? line([inside[0]!, inside[inside.length - 1]!]) : "";
  };

  scene.path(`M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`, "axis");
  for (const [offset, label] of [[-1, "x − h"], [0, "x"], [1, "x + h"]] as const) {
    const at = px(offset * h);
    scene.path(`M${num(at)} ${TOP}V${BOTTOM}`, "rule");
    scene.text(at, BOTTOM + 20, label, "label-soft");
  }
  scene.text((LEFT + RIGHT) / 2, BOTTOM + 40, `window: x ± ${number(3 * h)}`, "label-soft small");
  scene.path(line(offsets.map((t, i): Point => [px(t), py(values[i]!)])), "line curve");
  scene.path(straight(derivative(x), 0, here), "line gradients thin");
  scene.path(straight(e.forward, 0, here), "line error-mark dashed");
  scene.path(straight(e.central, -h, left), "line compute");
  for (const [t, v] of [[-h, left], [h, right]] as const) {
    if (Number.isFinite(v)) scene.circle(px(t), py(v), 5, "compute");
  }
  if (Number.isFinite(here)) scene.path(`M${num(px(0) - 5)} ${num(py(here) - 5)}h10v10h-10z`, "error-mark");
  scene.text(LEFT + 10, TOP + 4, `true slope ${number(derivative(x), 6)}`, "gradients", "start");
  scene.text(LEFT + 10, TOP + 23, `● central ${number(e.central, 6)}`, "compute", "start");
  scene.text(LEFT + 10, TOP + 42, `■ forward ${number(e.forward, 6)}`, "error-mark", "start");
  return scene;
}

/** Both errors against h, both axes in powers of ten, with the present step marked. */
export function drawErrors(name: string, x: number, h: number): Scene {
  const curve = errorCurve(name, x);
  const scene = new Scene(WIDTH, HEIGHT);
  const px = (step: number) => LEFT + ((Math.log10(step) + 16) / 16) * (RIGHT - LEFT);
  const height = (power: number) => BOTTOM - ((power - LOW) / (HIGH - LOW)) * (BOTTOM - TOP);
  const py = (error: number) => {
    if (Number.isNaN(error)) return NaN;
    if (error === 0) return height(LOW);
    return height(Math.min(HIGH, Math.max(LOW, Number.isFinite(error) ? Math.log10(error) : HIGH)));
  };

  scene.path(`M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`, "axis");
  for (let power = -16; power < 3; power += 3) {
    const y = height(power);
    scene.path(`M${LEFT} ${num(y)}H${RIGHT}`, "rule");
    scene.text(LEFT - 6, y + 4, `1e${power}`.replace("-", "−"), "label-soft small", "end");
  }
  for (let power = -16; power < 1; power += 4) {
    scene.text(px(Number(`1e${power}`)), BOTTOM + 20, `1e${power}`.replace("-", "−"), "label-soft small");
  }
  scene.text((LEFT + RIGHT) / 2, BOTTOM + 40, "step h (powers of ten)", "label-soft small");
  scene.text(LEFT - 44, TOP - 14, "absolute error (powers of ten)", "label-soft small", "start");
  scene.path(line(curve.map((e): Point => [px(e.h), py(e.forwardError)])), "line error-mark dashed");
  scene.path(line(curve.map((e): Point => [px(e.h), py(e.centralError)])), "line compute");
  const now = estimate(name, x, h);
  const at = px(h);
  if (at >= LEFT && at <= RIGHT) {
    scene.path(`M${num(at)} ${TOP}V${BOTTOM}`, "line now");
    const [forward, central] = [py(now.forwardError), py(now.centralError)];
    if (Number.isFinite(forward)) scene.path(`M${num(at - 5)} ${num(forward - 5)}h10v10h-10z`, "error-mark");
    if (Number.isFinite(central)) scene.circle(at, central, 5.5, "compute");
  }
  scene.text(RIGHT - 156, TOP - 14, "■ forward", "error-mark", "start");
  scene.text(RIGHT - 66, TOP - 14, "● central", "compute", "start");
  return scene;
}

/** The same computation as a short Python program, for "copy as Python". */
export function asPython(name: string, x: number, h: number): string {
  return `import math


def f(x):
    return ${FUNCTIONS[name]!.python}


x, h = ${x}, ${h}
forward = (f(x + h) - f(x)) / h
central = (f(x + h) - f(x - h)) / (2 * h)
print("forward", forward)
print("central", central)
print("true slope", ${FUNCTIONS[name]!.derivative(x)})
`;
}
