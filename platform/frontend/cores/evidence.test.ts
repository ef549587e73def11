import { expect, test } from "vitest";
import vectors from "../../../tests/vectors/evidence.json";
import { type Drawing, scene } from "./evidence";

test.each(vectors.map((row) => [row.name, row] as const))("%s is drawn as on the server, at every width", (_, row) => {
  for (const theirs of row.scenes) {
    const mine = scene(row.drawing as unknown as Drawing, theirs.width);
    expect([mine.width, mine.height]).toEqual([theirs.width, theirs.height]);
    expect(mine.shapes).toEqual(theirs.shapes);
  }
});

test("nothing is drawn outside of the picture", () => {
  for (const row of vectors)
    for (const width of [250, 330, 560]) {
      const drawn = scene(row.drawing as unknown as Drawing, width);
      for (const shape of drawn.shapes)
        if (shape.k === "circle") {
          expect(shape.x - shape.r).toBeGreaterThanOrEqual(0);
          expect(shape.x + shape.r).toBeLessThanOrEqual(width);
        }
    }
});
