import { describe, expect, test } from "vitest";
import { fold, grouped, headline, isOver, merged, type RunState, scientific, spread } from "./run";
import type { Point } from "./run-chart";

const queued: RunState = {
  state: "queued",
  reason: "",
  attempt: 0,
  steps: 4,
  ranks: 2,
  facts: {},
  points: [],
  twin: [],
  live: {},
  result: null,
};
const progress = (...points: Point[]) => ({ points, twin: [], ranks: [points.length, points.length], tokens_per_s: 9, bytes: 8 });
const play = (run: RunState, events: [string, unknown][]) => events.reduce((now, [kind, data]) => fold(now, kind, data), run);

describe("a run folded from its events", () => {
  const live: [string, unknown][] = [
    ["restart", { attempt: 1 }],
    ["facts", { note: "On the CPU." }],
    ["progress", progress([0, 4], [1, 3])],
    ["timeline", { step: 1, ms: 2, lanes: [] }],
    ["progress", progress([2, 2.5], [3, 2])],
  ];

  test("grows by step and keeps the latest figures", () => {
    const run = play(queued, live);
    expect(run.points.map(([step]) => step)).toEqual([0, 1, 2, 3]);
    expect(run.live.timeline?.step).toBe(1);
    expect(run.live.ranks).toEqual([2, 2]);
    expect(run.facts.note).toBe("On the CPU.");
    expect(headline(run)).toBe("Comparing with one process");
  });

  test("is the same when the stream is replayed onto a snapshot", () => {
    const run = play(queued, live);
    expect(play(run, live)).toEqual(run);
  });

  test("starts anew with the next attempt, and only then", () => {
    const run = play(queued, live);
    const again = fold(run, "restart", { attempt: 2 });
    expect(again.points).toEqual([]);
    expect(again.attempt).toBe(2);
    expect(again.live.ranks).toEqual([0, 0]);
    const waiting = fold(run, "state", { state: "queued", reason: "The launcher is away." });
    expect(fold(waiting, "restart", { attempt: 1 })).toEqual(run);
  });

  test("ends with its reason and ignores what comes after", () => {
    const ended = fold(play(queued, live), "state", { state: "failed", reason: "Rank 1 was killed." });
    expect(isOver(ended)).toBe(true);
    expect(headline(ended)).toBe("Failed");
    expect(fold(ended, "restart", { attempt: 1 })).toBe(ended);
    expect(fold(ended, "unheard-of", {})).toBe(ended);
  });

  test("says what it waits for", () => {
    expect(headline(queued)).toBe("Waiting for a free worker");
    expect(headline({ ...queued, attempt: 1 })).toBe("Waiting to try again");
    expect(headline(fold(queued, "restart", { attempt: 1 }))).toBe("Starting the ranks");
    expect(headline(play(queued, live.slice(0, 3)))).toBe("Training");
  });
});

test("points of one step are kept once, in order", () => {
  expect(merged([[0, 1], [1, 2]], [[1, 3], [2, 4]])).toEqual([[0, 1], [1, 3], [2, 4]]);
  expect(merged([[5, 1]], [[2, 4]])).toEqual([[2, 4], [5, 1]]);
  expect(merged([[5, 1]], [])).toEqual([[5, 1]]);
});

test("a spread keeps the first and the last point", () => {
  const points = Array.from({ length: 100 }, (_, i): Point => [i, i]);
  const chosen = spread(points, 12);
  expect(chosen).toHaveLength(12);
  expect([chosen[0]![0], chosen.at(-1)![0]]).toEqual([0, 99]);
  expect(spread(points.slice(0, 3), 12)).toHaveLength(3);
});

test("numbers are written as the server writes them", () => {
  expect(grouped(446464)).toBe("446,464");
  expect(scientific(9.04e-7)).toBe("9.0 × 10⁻⁷");
  expect(scientific(0)).toBe("0");
  expect(scientific(12)).toBe("1.2 × 10¹");
});
