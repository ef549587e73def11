// @ts-expect-error: types for Node are not installed for this one import
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import vectors from "../../../tests/vectors/difference-error.json";
import { asPython, bestSentence, describe, drawErrors, drawSecants, errorCurve, estimate, FUNCTIONS, number, STEPS } from "./difference-error";
import type { Scene, Shape } from "./scene";

const value = (written: number | string): number => (typeof written === "number" ? written : Number(written.replace("nan", "NaN").replace("inf", "Infinity")));

test("the steps are the Python twin's, bit for bit", () => {
  expect(STEPS).toEqual(vectors.steps);
});

test.each(vectors.exact.map((c) => [`${c.f} at ${c.x}`, c] as const))("%s: bit for bit the Python twin's", (_, { f, x, curve }) => {
  const mine = errorCurve(f, x);
  curve.forEach((theirs, i) => {
    const { forward, central, forwardError, centralError } = mine[i]!;
    expect([forward, central, forwardError, centralError]).toEqual(
      [theirs.forward, theirs.central, theirs.forward_error, theirs.central_error].map(value),
    );
  });
});

test.each(vectors.library.map((c) => [`${c.f} at ${c.x}`, c] as const))(
  "%s: equal but for the last bits of the function, enlarged by 1/h",
  (_, { f, x, curve }) => {
    for (const theirs of curve) {
      const { forward, central } = estimate(f, x, theirs.h);
      const slack = (4 * Number.EPSILON * Math.max(1, Math.abs(FUNCTIONS[f]!.f(x)))) / theirs.h + 1e-12;
      expect(Math.abs(forward - value(theirs.forward))).toBeLessThanOrEqual(slack);
      expect(Math.abs(central - value(theirs.central))).toBeLessThanOrEqual(slack);
    }
  },
);

test("numbers and sentences are written as on the server", () => {
  for (const { value: written, text, long } of vectors.numbers) {
    expect(number(value(written))).toBe(text);
    expect(number(value(written), 6)).toBe(long);
  }
  for (const { f, x, best, at } of vectors.sentences) {
    expect(bestSentence(f, x)).toBe(best);
    expect(describe(f, x, 1e-5)).toBe(at);
  }
});

// log10 may differ in its last bit between two libraries, so a coordinate may round the other way.
function same(mine: Scene, theirs: { width: number; height: number; shapes: object[] }): void {
  expect([mine.width, mine.height]).toEqual([theirs.width, theirs.height]);
  expect(mine.shapes.length).toBe(theirs.shapes.length);
  const flat = (shape: Shape) =>
    Object.entries(shape).flatMap(([key, v]) => (key === "d" ? String(v).split(/(?=[MLHVhvlqz])/).flatMap((p) => [p.slice(0, 1), ...p.slice(1).split(" ")]) : [v]));
  mine.shapes.forEach((shape, i) => {
    const [a, b] = [flat(shape), flat(theirs.shapes[i] as Shape)];
    expect(a.length).toBe(b.length);
    a.forEach((part, j) => {
      const other = b[j]!;
      if (part !== "" && Number.isFinite(Number(part))) expect(Math.abs(Number(part) - Number(other))).toBeLessThanOrEqual(0.0101);
      else expect(part).toBe(other);
    });
  });
}

test.each(vectors.pictures.map((p) => [`${p.f} at ${p.x}, h = ${p.h}`, p] as const))("%s: the drawings equal the server's", (_, { f, x, h, secants, errors }) => {
  same(drawSecants(f, x, h), secants);
  same(drawErrors(f, x, h), errors);
});

test.each(vectors.exact.filter(({ x }) => x !== 0).map(({ f, x }) => [f, x] as const))("the Python program for %s prints the same bits", (f, x) => {
  const h = 1e-5;
  const printed = execFileSync("python3", ["-c", asPython(f, x, h)], { encoding: "utf8" });
  const { forward, central } = estimate(f, x, h);
  expect(printed.match(/[-\d.e]+$/gm)!.slice(0, 2).map(Number)).toEqual([forward, central]);
});
