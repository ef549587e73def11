import { describe, expect, it } from "vitest";
import { choose, keep, parse } from "./draft";

describe("draft", () => {
  it("is taken up again on the server text that it was begun on", () => {
    expect(choose("starter", { source: "mine", begunOn: "starter" })).toBe("mine");
  });
  it("yields to a version that was sent from elsewhere", () => {
    expect(choose("sent elsewhere", { source: "mine", begunOn: "starter" })).toBe("sent elsewhere");
  });
  it("is not kept when the server has the same text", () => {
    expect(keep("same", "same")).toBeNull();
    expect(keep("old", "new")).toEqual({ source: "new", begunOn: "old" });
  });
  it("reads nothing but a draft out of the browser's storage", () => {
    for (const stored of [null, "", "nonsense", "[]", "null", "3", '{"source":1,"begunOn":"x"}']) {
      expect(parse(stored)).toBeNull();
    }
    expect(parse(JSON.stringify({ source: "a", begunOn: "b" }))).toEqual({ source: "a", begunOn: "b" });
  });
});
