/**
 * Geometry of the run page's two pictures: the loss curve and the lanes of one step. No DOM.
 *
 * The twin of training/chart.py; both are tested on tests/vectors/run-chart.json. Lengths are in SVG user units, which
 * are CSS pixels here because the element draws at its own width.
 */
export type Point = [step: number, loss: number];
/** [name, start, end, bucket, bytes]; times in ms from the start of the step, bucket -1 for computation. */
export type Span = [name: string, start: number, end: number, bucket: number, bytes: number];
export type Timeline = { step: number; ms: number; lanes: Span[][] };
export type Tick = { at: number; label: string };
export type Dot = { x: number; y: number };
export type LossChart = {
  width: number;
  height: number;
  left: number;
  right: number;
  bottom: number;
  x_ticks: Tick[];
  y_ticks: Tick[];
  baselines: { at: number; name: string }[];
  line: string;
  twin: Dot[];
  head: Dot | null;
};
export type Bar = {
  kind: "compute" | "idle" | "communication";
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
  title: string;
};
export type Lanes = {
  width: number;
  height: number;
  left: number;
  right: number;
  bottom: number;
  labels: { at: number; name: string }[];
  bars: Bar[];
  ticks: Tick[];
};

const LEFT = 44;
/** The names of the baselines stand on the right. */
const RIGHT = 68;
const TOP = 12;
const BOTTOM = 44;
const TWIN_DOTS = 16;
const LANE_LEFT = 56;
const LANE_RIGHT = 12;
const COMPUTE_HEIGHT = 24;
const COMM_HEIGHT = 7;
const LANE_GAP = 14;
const COMM_ROWS = 4;
/** A cautious width of a 14 px letter. */
const LETTER = 7.5;

function tenth(value: number): number {
  return Math.floor(value * 10 + 0.5) / 10;
}

/** The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most `most` parts. */
export function niceStep(span: number, most: number): number {
  if (span <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const factor = [1, 2, 5, 10].find((one) => span / (power * one) <= most + 1e-9) ?? 20;
  return power * factor;
}

function decimals(step: number): number {
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

/**
 * Axes, curve and baselines of the loss over the steps 0 … steps-1. The twin is drawn as some dots: on the curve of a run
 * that agrees with it, a second line could not be seen.
 */
export function lossChart(
  points: readonly Point[],
  twin: readonly Point[],
  baselines: Readonly<Record<string, number>>,
  steps: number,
  width = 720,
  height = 320,
): LossChart {
  const values = [...points.map(([, loss]) => loss), ...twin.map(([, loss]) => loss), ...Object.values(baselines)];
  const low = values.length ? Math.min(...values) : 0;
  const high = values.length ? Math.max(...values) : 5;
  const gap = niceStep(Math.max(high - low, 0.1), 5);
  const first = Math.floor(low / gap);
  const last = Math.max(first + 1, Math.ceil(high / gap));
  const right = width - RIGHT;
  const bottom = height - BOTTOM;
  const end = Math.max(1, steps - 1);

  const x = (step: number) => LEFT + (step / end) * (right - LEFT);
  const y = (loss: number) => bottom - ((loss - first * gap) / ((last - first) * gap)) * (bottom - TOP);
  const path = (of: readonly Point[]) =>
    of.map(([step, loss], i) => `${i ? "L" : "M"}${tenth(x(step))} ${tenth(y(loss))}`).join(" ");

  const dot = ([step, loss]: Point): Dot => ({ x: tenth(x(step)), y: tenth(y(loss)) });
  const dotEvery = Math.ceil(twin.length / TWIN_DOTS) || 1;

  const every = Math.max(1, Math.trunc(niceStep(end, Math.max(2, Math.floor(width / 110)))));
  const x_ticks: Tick[] = [];
  for (let step = 0; step <= end; step += every) x_ticks.push({ at: tenth(x(step)), label: String(step) });
  const y_ticks: Tick[] = [];
  for (let i = first; i <= last; i += 1) {
    y_ticks.push({ at: tenth(y(i * gap)), label: (i * gap).toFixed(decimals(gap)) });
  }
  const newest = points.at(-1);
  return {
    width,
    height,
    left: LEFT,
    right,
    bottom,
    x_ticks,
    y_ticks,
    baselines: Object.entries(baselines).map(([name, value]) => ({ at: tenth(y(value)), name })),
    line: path(points),
    twin: twin.filter((_, i) => i % dotEvery === 0).map(dot),
    head: newest ? dot(newest) : null,
  };
}

/**
 * One step as bars: for each rank a row of computation, and below it thin rows of buckets on their way. Buckets that
 * overlap in time lie in different rows, so that none hides another (up to COMM_ROWS of them).
 */
export function lanes(timeline: Timeline, width = 720): Lanes {
  const span = Math.max(timeline.ms, 0.001);
  const right = width - LANE_RIGHT;
  const laneHeight = COMPUTE_HEIGHT + COMM_ROWS * COMM_HEIGHT + LANE_GAP;
  const x = (ms: number) => LANE_LEFT + (ms / span) * (right - LANE_LEFT);

  const bars: Bar[] = [];
  const labels: Lanes["labels"] = [];
  timeline.lanes.forEach((spans, rank) => {
    const top = TOP + rank * laneHeight;
    labels.push({ at: tenth(top + 17), name: `rank ${rank}` });
    const rowEnds = Array.from({ length: COMM_ROWS }, () => 0);
    for (const [name, start, end, bucket, bytes] of spans) {
      const left = tenth(x(start));
      const wide = Math.max(1, tenth(x(end) - x(start)));
      const took = `${(end - start).toFixed(2)} ms`;
      if (bucket < 0) {
        bars.push({
          kind: name === "wait" ? "idle" : "compute",
          x: left,
          y: tenth(top),
          width: wide,
          height: COMPUTE_HEIGHT,
          label: wide > name.length * LETTER + 8 ? name : "",
          title: `rank ${rank}: ${name}, ${took}`,
        });
        continue;
      }
      const free = rowEnds.findIndex((freeAt) => freeAt <= start);
      const row = free < 0 ? COMM_ROWS - 1 : free;
      rowEnds[row] = end;
      bars.push({
        kind: "communication",
        x: left,
        y: tenth(top + COMPUTE_HEIGHT + 2 + row * COMM_HEIGHT),
        width: wide,
        height: COMM_HEIGHT - 1,
        label: "",
        title: `rank ${rank}: all-reduce of bucket ${bucket}, ${bytes} bytes, ${took}`,
      });
    }
  });
  const bottom = TOP + timeline.lanes.length * laneHeight;
  const gap = niceStep(span, Math.max(2, Math.floor(width / 120)));
  const ticks: Tick[] = [];
  for (let i = 0; i <= Math.floor(span / gap); i += 1) {
    ticks.push({ at: tenth(x(i * gap)), label: (i * gap).toFixed(decimals(gap)) });
  }
  return { width, height: bottom + 36, left: LANE_LEFT, right, bottom, labels, bars, ticks };
}

/** What the loss curve shows, in words: its text alternative. */
export function sentence(points: readonly Point[], steps: number): string {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return "No step is done yet.";
  const change = last[1] < first[1] ? "fell" : "rose";
  return (
    `After ${last[0] + 1} of ${steps} steps the loss ${change} from ${first[1].toFixed(3)} to ${last[1].toFixed(3)} ` +
    "nats per character."
  );
}
