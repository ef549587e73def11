import { describe, expect, it } from "vitest";
import { back, forward, resize, seek, start, tick, toggle } from "./player";

describe("player", () => {
  it("starts at rest on the first frame", () => {
    expect(start(5)).toEqual({ step: 0, last: 5, playing: false });
    expect(start(-3).last).toBe(0);
  });

  it("keeps within its frames", () => {
    expect(seek(start(5), 99).step).toBe(5);
    expect(back(start(5)).step).toBe(0);
    expect(forward(seek(start(5), 5)).step).toBe(5);
  });

  it("plays to the end and stops there", () => {
    let player = toggle(start(3));
    const seen: number[] = [];
    while (player.playing) {
      player = tick(player);
      seen.push(player.step);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(tick(player)).toBe(player);
  });

  it("begins again when played at the end, and pauses in the middle", () => {
    expect(toggle(seek(start(3), 3))).toEqual({ step: 0, last: 3, playing: true });
    expect(toggle(tick(toggle(start(3))))).toEqual({ step: 1, last: 3, playing: false });
  });

  it("does not play a figure of one frame", () => {
    expect(toggle(start(0)).playing).toBe(false);
  });

  it("stops playing when stepped by hand", () => {
    expect(forward(toggle(start(3)))).toEqual({ step: 1, last: 3, playing: false });
  });

  it("goes back to the first frame only when the number of steps changed", () => {
    const player = seek(start(6), 4);
    expect(resize(player, 6)).toBe(player);
    expect(resize(player, 8)).toEqual({ step: 0, last: 8, playing: false });
  });
});
