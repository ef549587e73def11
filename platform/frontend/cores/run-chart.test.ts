import { describe, expect, test } from "vitest";
import vectors from "../../../tests/vectors/run-chart.json";
import { lanes, lossChart, type Point, sentence, type Timeline } from "./run-chart";

describe("the same geometry as training/chart.py", () => {
  test.each(vectors.loss_chart)("loss chart: $name", ({ given, drawn }) => {
    const [points, twin, baselines, steps, width, height] = given as unknown as [
      Point[],
      Point[],
      Record<string, number>,
      number,
      number?,
      number?,
    ];
    expect(lossChart(points, twin, baselines, steps, width, height)).toEqual(drawn);
  });
  test.each(vectors.lanes)("lanes: $name", ({ given, drawn }) => {
    const [timeline, width] = given as unknown as [Timeline, number?];
    expect(lanes(timeline, width)).toEqual(drawn);
  });
  test.each(vectors.sentence)("sentence: $said", ({ given, said }) => {
    const [points, steps] = given as unknown as [Point[], number];
    expect(sentence(points, steps)).toBe(said);
  });
});
