/** The state of a figure in the part of the address after `#`: `#ring?n=8&step=3`. */

/** The state that `hash` gives the figure named `figure`; null when it speaks of something else. */
export function stateOf(hash: string, figure: string): URLSearchParams | null {
  const [name, state] = split(hash);
  return name === figure && state !== undefined ? new URLSearchParams(state) : null;
}

/** Name and state in a hash; the state is undefined for an ordinary anchor. */
export function split(hash: string): [name: string, state: string | undefined] {
  const text = hash.replace(/^#/, "");
  const at = text.indexOf("?");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** The hash that gives `figure` this state. */
export function withState(figure: string, state: string): string {
  return `#${figure}?${state}`;
}

/** A number from the address, kept within its range; null when it is missing or not a number. */
export function numberFrom(state: URLSearchParams, name: string, low: number, high: number): number | null {
  const text = state.get(name);
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : null;
}
