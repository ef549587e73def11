// @ts-expect-error: types for Node are not installed for this one import
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import vectors from "../../../tests/vectors/ring-allreduce.json";
import { asPython, bytesPerDevice, chunkBounds, describe, countSentence, draw, EXAMPLE_VALUES, exampleGradients, ringAllReduce, tableRows } from "./ring-allreduce";

test.each(vectors.cases.map((c, i) => [`${c.buffers.length} devices (case ${i})`, c] as const))(
  "%s: every frame equals the Python twin's",
  (_, { buffers, bounds, frames, sentences, table }) => {
    const mine = ringAllReduce(buffers);
    expect(chunkBounds(buffers[0]!.length, buffers.length)).toEqual(bounds);
    expect(mine).toEqual(frames);
    expect(mine.map((_, step) => describe(mine, step))).toEqual(sentences);
    expect(tableRows(mine)).toEqual(table);
  },
);

test.each(vectors.drawings.map((d) => [`${d.devices} devices, step ${d.step}`, d] as const))(
  "%s: the drawing equals the server's",
  (_, { devices, step, scene, count }) => {
    const frames = ringAllReduce(exampleGradients(devices));
    expect(countSentence(frames)).toBe(count);
    const mine = draw(frames[step]!);
    expect({ width: mine.width, height: mine.height, shapes: mine.shapes }).toEqual(scene);
  },
);

test("every device ends with the sum, and the mean number of values sent is 2(n-1)/n of the buffer", () => {
  for (let n = 2; n <= 16; n += 1) {
    const start = exampleGradients(n);
    const end = ringAllReduce(start).at(-1)!;
    const sum = start[0]!.map((_, i) => start.reduce((total, row) => total + row[i]!, 0));
    for (const row of end.buffers) expect(row).toEqual(sum);
    const mean = end.sent.reduce((total, sent) => total + sent, 0) / n;
    expect(mean).toBeCloseTo(bytesPerDevice(n, EXAMPLE_VALUES), 9);
    if (EXAMPLE_VALUES % n === 0) expect(new Set(end.sent).size).toBe(1);
  }
});

test("rings that make no sense are refused", () => {
  expect(() => ringAllReduce([[1]])).toThrow("at least two devices");
  expect(() => ringAllReduce([[1], [1, 2]])).toThrow("same length");
});

test.each([2, 4, 7, 16])("the Python program for %i devices runs and checks itself", (n) => {
  const printed = execFileSync("python3", ["-c", asPython(n)], { encoding: "utf8" });
  const total = ringAllReduce(exampleGradients(n)).at(-1)!.buffers[0]!;
  expect(JSON.parse(printed.match(/gradients: (\[.*\])/)![1]!)).toEqual(total.slice(0, 4).map((value) => value / n));
});
