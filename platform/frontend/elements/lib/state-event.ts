/** Sent to a `<figure>` when a link in the text asks for a state; `detail` is the state as the address writes it. */
export const STATE_EVENT = "pb-state";
