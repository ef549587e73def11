import { describe, expect, it } from "vitest";
import { type Connection, follow } from "./live";

/** Stands in for the browser's EventSource, which Node has not. */
class Source extends EventTarget {
  readyState = 0;
  close(): void {
    this.readyState = 2;
  }
  send(kind: string, data: unknown): void {
    this.dispatchEvent(Object.assign(new Event(kind), { data: JSON.stringify(data) }));
  }
}

function followed(on: Record<string, (data: unknown) => void> = {}) {
  const source = new Source();
  const states: Connection[] = [];
  const stop = follow("/events/training/1/", on, {
    open: () => source as unknown as EventSource,
    onConnection: (state) => states.push(state),
  });
  return { source, states, stop };
}

describe("follow", () => {
  it("hands each kind of event to its handler, parsed", () => {
    const losses: unknown[] = [];
    const { source } = followed({ step: (data) => losses.push(data) });
    source.send("step", { loss: 2.5 });
    source.send("other", { loss: 9 });
    expect(losses).toEqual([{ loss: 2.5 }]);
  });

  it("closes at the end before it tells the handler", () => {
    let closed = false;
    const made = followed({ end: () => (closed = made.source.readyState === 2) });
    made.source.send("end", {});
    expect(closed).toBe(true);
    expect(made.states.at(-1)).toBe("ended");
  });

  it("closes at the end also when nobody handles it", () => {
    const { source } = followed();
    source.send("end", {});
    expect(source.readyState).toBe(2);
  });

  it("says that it reconnects while the browser tries, and that it failed once the browser gave up", () => {
    const { source, states } = followed();
    source.dispatchEvent(new Event("open"));
    source.dispatchEvent(new Event("error"));
    source.dispatchEvent(new Event("open"));
    source.close();
    source.dispatchEvent(new Event("error"));
    expect(states).toEqual(["connecting", "open", "reconnecting", "open", "failed"]);
  });

  it("stops when asked", () => {
    const { source, stop } = followed();
    stop();
    expect(source.readyState).toBe(2);
  });
});
