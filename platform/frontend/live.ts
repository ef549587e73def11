/**
 * Follows one object of the server (a submission, a training run) over Server-Sent Events.
 *
 *     const stop = follow("/events/training/<uuid>/", {
 *       snapshot: (run) => …,     // first event on a fresh connection: the stored state
 *       step: (step) => …,        // whatever kinds the room publishes
 *       end: () => …,             // optional: the last event; the connection is closed by then
 *     }, { onConnection: (state) => … });
 *
 * A dropped connection is taken up again by the browser with Last-Event-ID, so no event is lost or shown twice.
 * `onConnection` says when to show "reconnecting"; `stop()` closes for good. Every handler gets parsed JSON.
 */
export type Connection = "connecting" | "open" | "reconnecting" | "ended" | "failed";

export type Handlers = Record<string, (data: any) => void>;

export type FollowOptions = {
  onConnection?: (state: Connection) => void;
  /** How to open a source; tests pass their own. */
  open?: (url: string) => EventSource;
};

export function follow(url: string, on: Handlers, options: FollowOptions = {}): () => void {
  const say = options.onConnection ?? (() => {});
  const source = (options.open ?? ((address) => new EventSource(address)))(url);
  const finish = (state: "ended" | "failed") => {
    source.close();
    say(state);
  };

  say("connecting");
  source.addEventListener("open", () => say("open"));
  source.addEventListener("error", () => {
    // The browser retries by itself unless the server refused (wrong status or type): then it has closed.
    if (source.readyState === EventSourceState.CLOSED) finish("failed");
    else say("reconnecting");
  });
  for (const [kind, handle] of Object.entries(on)) {
    if (kind !== "end") source.addEventListener(kind, (event) => handle(parse(event)));
  }
  source.addEventListener("end", (event) => {
    finish("ended");
    on["end"]?.(parse(event));
  });
  return () => source.close();
}

// EventSource.CLOSED as a constant of our own: Node, where the tests run, has no EventSource.
const EventSourceState = { CLOSED: 2 } as const;

function parse(event: Event): unknown {
  const { data } = event as MessageEvent<string>;
  return data ? JSON.parse(data) : {};
}

const SENTENCES: Record<Connection, string> = {
  connecting: "Connecting…",
  open: "Live",
  reconnecting: "The connection dropped. Trying again…",
  ended: "Finished",
  failed: "Live updates are not available. Reload the page to see the latest state.",
};

/**
 * Shows the state of the connection in an element such as `<p class="live" data-live></p>`: its `data-state` for the
 * styles, a sentence for everybody. Returns the function to pass as `onConnection`.
 */
export function showConnection(element: HTMLElement): (state: Connection) => void {
  return (state) => {
    element.dataset["state"] = state;
    element.textContent = SENTENCES[state];
  };
}
