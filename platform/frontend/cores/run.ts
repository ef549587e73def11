/**
 * The state of a training run as its page knows it: the stored snapshot, then every live event folded in. No DOM.
 *
 * Events may come twice (a fresh connection replays the whole stream after the snapshot), so points are kept by step.
 */
import type { Point, Timeline } from "./run-chart";

export type Parity = {
  max_dparam: number;
  max_dloss: number;
  tolerance: number;
  holds: boolean;
  steps: number;
  dtype: string;
};
export type Result = {
  loss: number;
  steps: number;
  params_sha256: string;
  replicas_identical: boolean;
  parameters: number;
  tokens_per_s: number;
  bytes_per_step: number;
  wire_bytes_per_rank: number;
  parity: Parity | null;
};
export type Facts = { device?: string; backend?: string; note?: string; baselines?: Record<string, number> };
export type Live = { ranks?: number[]; tokens_per_s?: number; bytes?: number; timeline?: Timeline };
export type RunState = {
  state: "queued" | "running" | "done" | "failed" | "cancelled" | "lost";
  reason: string;
  attempt: number;
  steps: number;
  ranks: number;
  facts: Facts;
  points: Point[];
  twin: Point[];
  live: Live;
  result: Result | null;
};

/** Adds points by step; a step that is there already is replaced. Points come in order, so this stays cheap. */
export function merged(old: readonly Point[], more: readonly Point[]): Point[] {
  const first = more[0];
  if (!first) return [...old];
  const newest = old.at(-1);
  if (!newest || newest[0] < first[0]) return [...old, ...more];
  const byStep = new Map<number, Point>([...old, ...more].map((point) => [point[0], point]));
  return [...byStep.values()].sort((a, b) => a[0] - b[0]);
}

/** The next state after one event of the stream; an event of an unknown kind changes nothing. */
export function fold(run: RunState, kind: string, data: any): RunState {
  switch (kind) {
    case "snapshot":
      return data ?? run;
    case "restart":
      // Attempts are numbered: a replayed restart of the attempt that is shown already must not wipe its curve.
      if (data.attempt <= run.attempt && run.points.length) return isOver(run) ? run : { ...run, state: "running", reason: "" };
      return {
        ...run,
        state: "running",
        reason: "",
        attempt: data.attempt,
        points: [],
        twin: [],
        live: { ranks: Array.from({ length: run.ranks }, () => 0) },
      };
    case "facts":
      return { ...run, facts: data };
    case "progress": {
      const { points, twin, ...figures } = data;
      return {
        ...run,
        points: merged(run.points, points),
        twin: merged(run.twin, twin),
        live: { ...run.live, ...figures },
      };
    }
    case "timeline":
      return { ...run, live: { ...run.live, timeline: data } };
    case "state":
      return { ...run, ...data };
    default:
      return run;
  }
}

export function isOver(run: RunState): boolean {
  return run.state !== "queued" && run.state !== "running";
}

/** The state in a word or two, with what is going on when the ranks are done and the twin is still training. */
export function headline(run: RunState): string {
  if (run.state === "queued") return run.attempt ? "Waiting to try again" : "Waiting for a free worker";
  if (run.state !== "running") return { done: "Finished", failed: "Failed", cancelled: "Cancelled", lost: "Lost" }[run.state];
  if (run.points.length >= run.steps) return "Comparing with one process";
  return run.points.length ? "Training" : "Starting the ranks";
}

/** About `count` points spread evenly, always with the first and the last: the rows of the data table. */
export function spread(points: readonly Point[], count: number): Point[] {
  if (points.length <= count) return [...points];
  return Array.from({ length: count }, (_, i) => points[Math.round((i * (points.length - 1)) / (count - 1))]!);
}

/** 446464 -> "446,464". */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** 9.0e-7 as "9.0 × 10⁻⁷"; zero stays "0". */
export function scientific(value: number): string {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(1).split("e") as [string, string];
  const raised = String(Number(exponent)).replace(/[-0-9]/g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]!);
  return `${mantissa} × 10${raised}`;
}
