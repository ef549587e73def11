/**
 * The clock of every stepped figure, without a DOM: at which step it is, and whether it plays.
 * Steps are 0…last; step 0 is the first frame. Nothing plays by itself: only `toggle` starts it.
 */
export type Player = { readonly step: number; readonly last: number; readonly playing: boolean };

export function start(last: number): Player {
  return { step: 0, last: Math.max(0, Math.floor(last)), playing: false };
}

/** Moves to a step, kept within 0…last, and stops. */
export function seek(player: Player, step: number): Player {
  return { ...player, step: Math.min(player.last, Math.max(0, Math.round(step))), playing: false };
}

/** One step on. */
export function forward(player: Player): Player {
  return seek(player, player.step + 1);
}

/** One step back. */
export function back(player: Player): Player {
  return seek(player, player.step - 1);
}

/** Plays or pauses; at the end, playing begins again from the first frame. */
export function toggle(player: Player): Player {
  if (player.playing || player.last === 0) return { ...player, playing: false };
  return { ...player, step: player.step >= player.last ? 0 : player.step, playing: true };
}

/** What the passing of one beat does while playing: one step on, and a stop at the last. */
export function tick(player: Player): Player {
  if (!player.playing) return player;
  const step = Math.min(player.last, player.step + 1);
  return { ...player, step, playing: step < player.last };
}

/** The same figure with another number of steps, as after a change of its settings. */
export function resize(player: Player, last: number): Player {
  return start(last).last === player.last ? player : start(last);
}
