/**
 * A drawing as plain data: shapes with a class each. Twin of `pixelbank/core/scene.py`; both must produce
 * the same scene, so that the first frame never jumps when the script arrives.
 */
export type Shape =
  | { k: "rect"; x: number; y: number; w: number; h: number; c: string; o: number }
  | { k: "text"; x: number; y: number; t: string; c: string; a: "start" | "middle" | "end" }
  | { k: "path"; d: string; c: string }
  | { k: "circle"; x: number; y: number; r: number; c: string };

export type Point = readonly [number, number];

/** Two decimals, halves upwards: the same in both languages, unlike their own rounding. */
export function r2(value: number): number {
  return Math.floor(value * 100 + 0.5) / 100;
}

/** A coordinate as text: `12`, `12.5`, never `12.0`. */
export function num(value: number): string {
  const rounded = r2(value);
  return rounded ? rounded.toFixed(2).replace(/\.?0+$/, "") : "0";
}

/** A polyline as path data. Points that are not finite break the line. */
export function line(points: readonly Point[]): string {
  let penUp = true;
  let d = "";
  for (const [x, y] of points) {
    if (!(Number.isFinite(x) && Number.isFinite(y))) {
      penUp = true;
      continue;
    }
    d += `${penUp ? "M" : "L"}${num(x)} ${num(y)}`;
    penUp = false;
  }
  return d;
}

/** Shapes in a box of `width` by `height` units (CSS pixels at natural size). */
export class Scene {
  readonly shapes: Shape[] = [];
  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  rect(x: number, y: number, w: number, h: number, c: string, opacity = 1): void {
    this.shapes.push({ k: "rect", x: r2(x), y: r2(y), w: r2(w), h: r2(h), c, o: r2(opacity) });
  }
  text(x: number, y: number, t: string, c: string, a: "start" | "middle" | "end" = "middle"): void {
    this.shapes.push({ k: "text", x: r2(x), y: r2(y), t, c, a });
  }
  path(d: string, c: string): void {
    this.shapes.push({ k: "path", d, c });
  }
  circle(x: number, y: number, r: number, c: string): void {
    this.shapes.push({ k: "circle", x: r2(x), y: r2(y), r: r2(r), c });
  }
}
