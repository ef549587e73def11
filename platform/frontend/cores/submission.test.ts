import { describe, expect, it } from "vitest";
import { fold, fresh, progress, type SubmissionState, refusal } from "./submission";

const entry = (index: number, verdict = "AC") => ({
  index,
  total: 3,
  name: `case ${index}`,
  group: "secret",
  note: "",
  verdict,
  text: "Right",
  message: "",
  ms: 1,
});
const verdict = { state: "done", verdict: "WA", said: "Wrong answer. 2 of 3.", total: 3 };

function play(...events: [string, unknown][]): SubmissionState {
  return events.reduce((state, [kind, data]) => fold(state, kind, data), fresh);
}

describe("submission", () => {
  it("counts cases as they come", () => {
    expect(progress(fresh)).toBe("Waiting for a judge…");
    expect(progress(play(["state", { state: "running" }]))).toBe("Starting the sandbox…");
    expect(progress(play(["state", { state: "running" }], ["case", entry(0)], ["case", entry(1)]))).toBe("Case 2 of 3");
  });
  it("does not mind an event that comes twice", () => {
    const once = play(["case", entry(0)], ["case", entry(1)], ["verdict", verdict]);
    const twice = play(["case", entry(0)], ["case", entry(0)], ["case", entry(1)], ["verdict", verdict], ["verdict", verdict]);
    expect(twice).toEqual(once);
  });
  it("begins anew when another judge takes over", () => {
    const state = play(["state", { state: "running" }], ["case", entry(0, "WA")], ["state", { state: "running" }]);
    expect(state.cases).toEqual([]);
    expect(state.phase).toBe("running");
  });
  it("takes a snapshot with or without a verdict", () => {
    expect(play(["snapshot", { state: "queued", verdict: "", cases: [] }]).phase).toBe("queued");
    const done = play(["snapshot", { ...verdict, cases: [entry(0), entry(1, "WA")] }]);
    expect([done.phase, done.verdict, done.cases.length]).toEqual(["done", "WA", 2]);
  });
  it("keeps its state for kinds that it does not know, and for an empty snapshot", () => {
    const state = play(["case", entry(0)]);
    expect(fold(state, "something", {})).toBe(state);
    expect(fold(state, "snapshot", null)).toBe(state);
  });
});

describe("refusal", () => {
  it("says what to do, and that nothing is lost, for each kind of error page", () => {
    expect(refusal(400)).toContain("Shorten");
    expect(refusal(413)).toBe(refusal(400));
    expect(refusal(403)).toContain("Reload");
    expect(refusal(429)).toContain("Wait");
    expect(refusal(502)).toContain("error 502");
  });
});
