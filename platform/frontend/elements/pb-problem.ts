/**
 * The working part of a problem's page: <pb-problem name="…" history="…"> around the server's form, result and history.
 * Adds the editor, keeps a draft in the browser, sends without leaving the page, and shows each case as it is judged.
 * `follow` and `fragment` name the events and the result of a submission that is still waiting.
 */
import { html, nothing, render } from "lit";
import { choose, keep, parse } from "../cores/draft";
import { fold, fresh, progress, refusal, type SubmissionState } from "../cores/submission";
import type { Editor } from "../editor/python";
import { follow, showConnection } from "../live";

type Sent = { id: string; page: string; result: string; events: string; kind: string; version: string; paused: string };
type Action = "run" | "submit";

const KINDS = ["snapshot", "state", "case", "verdict"] as const;
const KEEP_AFTER_MS = 400;

export default class Problem extends HTMLElement {
  private editor: Editor | undefined;
  private stop = () => {};
  private state: SubmissionState = fresh;
  private server = "";
  private timer = 0;
  private live: HTMLElement | undefined;
  private readonly leaving = new AbortController();

  connectedCallback(): void {
    const { signal } = this.leaving;
    this.server = this.source.value;
    this.form.addEventListener("submit", this.onSubmit, { signal });
    this.form.addEventListener("keydown", this.onKey, { signal });
    this.source.addEventListener("input", () => this.changed(this.source.value), { signal });
    this.label();
    this.restore();
    void this.edit();
    const events = this.getAttribute("follow");
    const fragment = this.getAttribute("fragment");
    if (events && fragment) this.watch(events, fragment, false);
  }

  disconnectedCallback(): void {
    this.leaving.abort();
    this.stop();
    this.editor?.destroy();
  }

  // --- the parts that the server drew ---

  private find<T extends HTMLElement>(selector: string): T {
    const found = this.querySelector<T>(selector);
    if (!found) throw new Error(`<pb-problem> needs ${selector}`);
    return found;
  }
  private get form(): HTMLFormElement {
    return this.find<HTMLFormElement>("form");
  }
  private get source(): HTMLTextAreaElement {
    return this.find<HTMLTextAreaElement>("textarea");
  }
  private get key(): string {
    return `pixelbank:code:${this.getAttribute("name") ?? ""}`;
  }

  /** What needs a script is hidden until there is one: keys, "start over", the note on leaving the editor. */
  private label(): void {
    const mod = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
    for (const [name, keys] of [["run", `${mod} ↵`], ["submit", `${mod} ⇧ ↵`]] as const) {
      const kbd = this.find(`[data-key="${name}"]`);
      kbd.textContent = keys;
      kbd.hidden = false;
    }
    const reset = this.find("[data-reset]");
    reset.hidden = false;
    const starter = this.find<HTMLTemplateElement>("[data-starter]").content.textContent ?? "";
    reset.addEventListener(
      "click",
      () => {
        if (this.source.value !== starter && !confirm("Replace your code with the starter?")) return;
        this.put(starter);
        this.focusEditor();
      },
      { signal: this.leaving.signal },
    );
  }

  private async edit(): Promise<void> {
    const { editor } = await import("../editor/python");
    if (!this.isConnected) return;
    this.editor = editor({
      textarea: this.source,
      label: "Your code",
      describedBy: "source-hint",
      onChange: (text) => this.changed(text),
      onRun: () => this.press("run"),
      onSubmit: () => this.press("submit"),
    });
    this.find("[data-keys]").hidden = false;
    this.find('label[for="source"]').addEventListener("click", () => this.focusEditor(), { signal: this.leaving.signal });
  }

  private focusEditor(): void {
    if (this.editor) this.editor.focus();
    else this.source.focus();
  }

  private put(text: string): void {
    if (this.editor) this.editor.set(text);
    else this.source.value = text;
    this.changed(text);
  }

  // --- the draft ---

  private restore(): void {
    const kept = choose(this.server, parse(this.stored()));
    if (kept === this.server) return;
    this.source.value = kept;
    this.say("Your draft from this browser");
  }

  private changed(text: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.save(text), KEEP_AFTER_MS);
  }

  private save(text: string): void {
    clearTimeout(this.timer);
    const draft = keep(this.server, text);
    try {
      if (draft) localStorage.setItem(this.key, JSON.stringify(draft));
      else localStorage.removeItem(this.key);
      this.say(draft ? "Draft kept in this browser" : "");
    } catch {
      // Storage can be full or forbidden; the text is still in the editor and is kept by the server when it is sent.
      this.say("This browser does not keep drafts");
    }
  }

  private stored(): string | null {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null;
    }
  }

  private say(text: string): void {
    const note = this.find("[data-saved]");
    note.textContent = text;
    note.hidden = text === "";
  }

  // --- sending ---

  private readonly onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    this.press(event.shiftKey ? "submit" : "run");
  };

  private press(action: Action): void {
    this.form.requestSubmit(this.find<HTMLButtonElement>(`button[value="${action}"]`));
  }

  private readonly onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const button = event.submitter as HTMLButtonElement | null;
    void this.send(button?.value === "submit" ? "submit" : "run");
  };

  private async send(action: Action): Promise<void> {
    const body = new FormData(this.form);
    body.set("action", action);
    const buttons = [...this.form.querySelectorAll<HTMLButtonElement>("button[name=action]")];
    for (const button of buttons) button.disabled = true;
    this.error("");
    try {
      // not form.action: that is the buttons of this name
      const answer = await fetch(this.form.getAttribute("action") ?? "", { method: "POST", body, headers: { Accept: "application/json" } });
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json") ?? false;
      if (!isJson) return this.error(refusal(answer.status));
      const said = (await answer.json()) as Sent & { error?: string };
      if (!answer.ok) return this.error(said.error ?? refusal(answer.status));
      this.server = this.source.value;
      this.save(this.source.value);
      history.replaceState(null, "", said.page);
      this.watch(said.events, said.result, said.kind === "submit");
    } catch {
      this.error("Your code could not be sent: the site did not answer. It is still here; please try again.");
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  private error(text: string): void {
    const notice = this.find("[data-error]");
    notice.textContent = text;
    notice.hidden = text === "";
  }

  // --- the result, live ---

  private watch(events: string, fragment: string, isSubmit: boolean): void {
    this.stop();
    this.state = fresh;
    this.live = document.createElement("div");
    this.find("[data-result]").replaceChildren(this.live);
    this.draw();
    const line = this.find("[data-live]");
    const show = showConnection(line);
    let over = false;
    const take = (kind: string, data: unknown) => {
      this.state = fold(this.state, kind, data);
      if (this.state.phase !== "done") return this.draw();
      if (over) return;
      over = true;
      this.stop();
      line.hidden = true;
      void this.finish(fragment, isSubmit);
    };
    this.stop = follow(events, Object.fromEntries(KINDS.map((kind) => [kind, (data: unknown) => take(kind, data)])), {
      onConnection: (state) => {
        // "Live" needs no words here, the cases show it; trouble does.
        line.hidden = over || state === "connecting" || state === "open" || state === "ended";
        show(state);
      },
    });
    this.find("#result").scrollIntoView({ block: "nearest" });
  }

  private draw(): void {
    if (!this.live) return;
    const { cases, total } = this.state;
    const marks = Array.from({ length: total }, (_, index) => cases[index]);
    render(
      html`<div class="result stack" data-state=${this.state.phase}>
        <p class="verdict">${progress(this.state)}</p>
        ${total
          ? html`<ol class="case-strip" aria-hidden="true">
              ${marks.map((entry) => html`<li data-verdict=${entry?.verdict ?? nothing}></li>`)}
            </ol>`
          : nothing}
      </div>`,
      this.live,
    );
  }

  private async finish(fragment: string, isSubmit: boolean): Promise<void> {
    const { said } = this.state;
    const place = this.find("[data-result]");
    try {
      place.innerHTML = await text(fragment);
      if (place.querySelector("pb-evidence")) await evidence();
      if (isSubmit) {
        this.find("[data-history]").innerHTML = await text(this.getAttribute("history") ?? "");
        await openEditorial();
      }
    } catch {
      place.textContent = `${said} Reload the page to see the cases.`;
    }
    this.find("[data-announce]").textContent = said;
  }
}

/** main.ts looks at the page once, when it is loaded; this picture came later. */
async function evidence(): Promise<void> {
  const { default: Evidence } = await import("./pb-evidence");
  if (!customElements.get("pb-evidence")) customElements.define("pb-evidence", Evidence);
}

/** A verdict may have opened the explained solution, which stands elsewhere on the page. */
async function openEditorial(): Promise<void> {
  const place = document.querySelector("[data-editorial]");
  if (!place || place.querySelector("details")) return;
  const page = new DOMParser().parseFromString(await text(location.pathname), "text/html");
  const editorial = page.querySelector("[data-editorial]");
  if (editorial) place.replaceChildren(...editorial.childNodes);
}

async function text(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.text();
}
