/**
 * Which source an editor starts with: what the server has (the last version sent, or the starter), or the draft that
 * this browser kept. A draft remembers on which server text it was begun; when the server has another one by now, it
 * was sent from elsewhere and wins.
 */
export type Draft = { source: string; begunOn: string };

export function choose(server: string, draft: Draft | null): string {
  return draft !== null && draft.begunOn === server ? draft.source : server;
}

/** The draft to keep while typing, or null when there is nothing that the server does not have. */
export function keep(server: string, source: string): Draft | null {
  return source === server ? null : { source, begunOn: server };
}

export function parse(stored: string | null): Draft | null {
  if (stored === null) return null;
  try {
    const value: unknown = JSON.parse(stored);
    if (typeof value !== "object" || value === null) return null;
    const { source, begunOn } = value as Record<string, unknown>;
    return typeof source === "string" && typeof begunOn === "string" ? { source, begunOn } : null;
  } catch {
    return null;
  }
}
