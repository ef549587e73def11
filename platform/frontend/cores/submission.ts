/** A submission as its events tell it. Events may come twice (a snapshot holds what the stream repeats). */
export type CaseEvent = {
  index: number;
  total: number;
  name: string;
  group: string;
  note: string;
  verdict: string;
  text: string;
  message: string;
  ms: number;
};

export type SubmissionState = {
  phase: "queued" | "running" | "done";
  verdict: string;
  /** The sentence to announce, once there is a verdict. */
  said: string;
  total: number;
  cases: (CaseEvent | undefined)[];
};

export const fresh: SubmissionState = { phase: "queued", verdict: "", said: "", total: 0, cases: [] };

export function fold(state: SubmissionState, kind: string, data: any): SubmissionState {
  if (kind === "snapshot" && data) {
    const start = data.verdict ? withVerdict(fresh, data) : { ...fresh, phase: phaseOf(data.state, state.phase) };
    return ((data.cases ?? []) as CaseEvent[]).reduce(withCase, start);
  }
  // A state again after cases: a judge died and another one begins anew.
  if (kind === "state") return { ...fresh, phase: phaseOf(data.state, "running") };
  if (kind === "case") return { ...withCase(state, data), phase: state.phase === "done" ? "done" : "running" };
  if (kind === "verdict") return withVerdict(state, data);
  return state;
}

export function progress(state: SubmissionState): string {
  if (state.phase === "queued") return "Waiting for a judge…";
  const known = state.cases.filter((entry) => entry !== undefined).length;
  return state.total ? `Case ${known} of ${state.total}` : "Starting the sandbox…";
}

function withCase(state: SubmissionState, entry: CaseEvent): SubmissionState {
  const cases = [...state.cases];
  cases[entry.index] = entry;
  return { ...state, cases, total: Math.max(entry.total, state.total) };
}

function withVerdict(state: SubmissionState, data: any): SubmissionState {
  return { ...state, phase: "done", verdict: data.verdict, said: data.said, total: Math.max(data.total, state.total) };
}

function phaseOf(value: string, otherwise: SubmissionState["phase"]): SubmissionState["phase"] {
  return value === "queued" || value === "running" || value === "done" ? value : otherwise;
}

/** What to say when the site refused a program and gave no sentence of its own (an error page instead of JSON). */
export function refusal(status: number): string {
  if (status === 400 || status === 413) return "This is more than the site takes. Shorten your code or your own input; it is still here.";
  if (status === 403) return "This page is out of date, perhaps because you signed in elsewhere. Reload it; your code is kept.";
  if (status === 429) return "That was too often in a short time. Wait a little and try again; your code is still here.";
  return `The site could not take your code (error ${status}). It is still here; please try again in a minute.`;
}
