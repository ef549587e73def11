import { expect, test } from "vitest";
import { numberFrom, split, stateOf, withState } from "./figure-state";

test("a hash with a question mark is a figure's state, any other an anchor", () => {
  expect(stateOf("#ring?n=8&step=3", "ring")?.get("n")).toBe("8");
  expect(stateOf("#ring?n=8", "slope")).toBeNull();
  expect(stateOf("#ring", "ring")).toBeNull();
  expect(split("#p-12")).toEqual(["p-12", undefined]);
  expect(split("#ring?")).toEqual(["ring", ""]);
});

test("what is written is read again", () => {
  const state = new URLSearchParams({ f: "cube", h: "1e-5", x: "-1.5" }).toString();
  expect(stateOf(withState("slope", state), "slope")?.toString()).toBe(state);
});

test.each([
  ["n=8", 8],
  ["n=99", 16],
  ["n=-4", 2],
  ["n=four", null],
  ["n=", null],
  ["", null],
  ["n=1e400", null],
])("%s gives %s", (text, expected) => {
  expect(numberFrom(new URLSearchParams(text), "n", 2, 16)).toBe(expected);
});
