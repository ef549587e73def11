/**
 * The picture of a piece of evidence, drawn at a given width. No DOM.
 *
 * The twin of problems/drawing.py; both are tested on tests/vectors/evidence.json. A ring is a point of the formula, a
 * square one of the learner's, a diamond one that moved together with other entries: told apart without colour.
 */
import { line, num, type Point, Scene } from "./scene";

export type Place = { t: number; f: number | null; x: string; fx: string };
export type CurveDrawing = {
  kind: "curve";
  h: string;
  given: boolean;
  /** [distance from x, value of f there]; null where f has no finite value. */
  curve: [number, number | null][];
  at: number | null;
  yours: Place[];
  wanted: Place[];
  ticks: [number, string, string][];
  slopes: [number | null, number | null];
  said: [string, string];
};
export type StripDrawing = {
  kind: "strip";
  h: string;
  given: boolean;
  /** For each entry: [steps that a call moved it, whether other entries moved with it]. */
  rows: { entry: string; yours: [number, boolean][] }[];
  still: number;
  left: number;
};
export type Drawing = CurveDrawing | StripDrawing;

const SIDE = 10;
const TOP = 54;
const BOTTOM = 46;
const HEIGHT = 280;
const ROW = 34;
const LETTER = 8.5;
const FARTHEST = 4;

export function scene(drawing: Drawing, width: number): Scene {
  return drawing.kind === "curve" ? curve(drawing, width) : strip(drawing, width);
}

function square(x: number, y: number): string {
  return `M${num(x - 4)} ${num(y - 4)}h8v8h-8z`;
}

function diamond(x: number, y: number): string {
  return `M${num(x)} ${num(y - 6)}l6 6l-6 6l-6 -6z`;
}

function curve(d: CurveDrawing, width: number): Scene {
  const drawn = new Scene(width, HEIGHT);
  const [left, right, bottom] = [SIDE, width - SIDE, HEIGHT - BOTTOM];
  const half = d.curve[d.curve.length - 1]![0];
  const near = d.yours.filter((p) => Math.abs(p.t) <= half);
  const heights = [...d.curve.map(([, v]) => v), ...[...near, ...d.wanted].map((p) => p.f)].filter((v) => v !== null);
  let [low, high] = heights.length ? [Math.min(...heights), Math.max(...heights)] : [0, 1];
  const pad = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
  [low, high] = [low - pad, high + pad];

  const px = (t: number) => left + ((t + half) / (2 * half)) * (right - left);
  const py = (v: number) => bottom - ((v - low) / (high - low)) * (bottom - TOP);
  /** The part of a straight line that lies inside the picture. */
  const straight = (slope: number, t0: number, v0: number): string => {
    let [start, end] = [-half, half];
    if (slope) {
      const [one, two] = [t0 + (low - v0) / slope, t0 + (high - v0) / slope];
      [start, end] = [Math.max(start, Math.min(one, two)), Math.min(end, Math.max(one, two))];
    }
    if (end <= start) return "";
    return line([start, end].map((t): Point => [px(t), py(v0 + slope * (t - t0))]));
  };

  drawn.path(`M${num(left)} ${num(bottom)}H${num(right)}`, "axis");
  for (const [t, name, value] of d.ticks) {
    drawn.path(`M${num(px(t))} ${TOP}V${num(bottom)}`, "rule");
    drawn.text(px(t), bottom + 18, name, "label-soft");
    drawn.text(px(t), bottom + 37, value, "label-soft");
  }
  drawn.path(line(d.curve.map(([t, v]): Point => [px(t), v === null ? NaN : py(v)])), "line curve");
  const [wanted, own] = d.slopes;
  const first = d.wanted[0]!;
  if (wanted !== null && first.f !== null) drawn.path(straight(wanted, first.t, first.f), "line compute");
  const at = through(d, own);
  if (own !== null && at !== null) drawn.path(straight(own, ...at), "line error-mark dashed");
  for (const p of d.wanted) if (p.f !== null) drawn.circle(px(p.t), py(p.f), 8, "line compute");
  for (const p of near) if (p.f !== null) drawn.path(square(px(p.t), py(p.f)), "error-mark");
  const [expected, got] = d.said;
  drawn.text(left, 16, `○ the formula: slope ${expected}`, "compute", "start");
  drawn.text(left, 37, got ? `■ yours: slope ${got}` : "■ yours", "error-mark", "start");
  return drawn;
}

/** Where the learner's line goes through: their two points if it is the line through them, else the point x. */
function through(d: CurveDrawing, slope: number | null): [number, number] | null {
  const points = d.yours.filter((p) => p.f !== null) as (Place & { f: number })[];
  if (slope !== null && points.length === 2) {
    const [a, b] = points as [Place & { f: number }, Place & { f: number }];
    if (b.t !== a.t && Math.abs((b.f - a.f) / (b.t - a.t) - slope) <= 1e-6 * Math.max(1, Math.abs(slope))) return [a.t, a.f];
  }
  return d.at === null ? null : [0, d.at];
}

function strip(d: StripDrawing, width: number): Scene {
  const { rows } = d;
  const left = SIDE + LETTER * Math.max(...rows.map((row) => row.entry.length)) + 12;
  const right = width - SIDE;
  const bottom = TOP + ROW * rows.length;
  const drawn = new Scene(width, bottom + 30);
  const near = rows.flatMap((row) => row.yours.map(([at]) => Math.abs(at)).filter((at) => at <= FARTHEST));
  const far = Math.max(1, ...near) + 0.5;
  const px = (at: number) => left + ((at + far) / (2 * far)) * (right - left);

  for (const [at, name] of [[-1, "−h"], [0, "0"], [1, "+h"]] as const) {
    drawn.path(`M${num(px(at))} ${TOP}V${num(bottom)}`, "rule");
    drawn.text(px(at), bottom + 20, name, "label-soft");
  }
  let together = false;
  rows.forEach((row, number) => {
    const y = TOP + ROW * number + ROW / 2;
    drawn.path(`M${num(left)} ${num(y)}H${num(right)}`, "rule");
    drawn.text(SIDE, y + 5, row.entry, "code", "start");
    for (const at of [-1, 1]) drawn.circle(px(at), y, 8, "line compute");
    for (const [at, withOthers] of row.yours) {
      together ||= withOthers;
      if (Math.abs(at) > FARTHEST) drawn.path(`M${num(at > 0 ? right : left)} ${num(y)}l${at > 0 ? -9 : 9} -6v12z`, "error-mark");
      else drawn.path(withOthers ? diamond(px(at), y) : square(px(at), y), "error-mark");
    }
  });
  drawn.text(SIDE, 16, "○ the formula", "compute", "start");
  drawn.text(SIDE + 118, 16, "■ your calls of f", "error-mark", "start");
  if (together) drawn.text(SIDE, 37, "◆ moved together with other entries", "error-mark", "start");
  return drawn;
}
