/**
 * A figure of a chapter: its state is in the address (`#ring?n=8&step=3`), links in the text can set it, and it can be
 * copied as a link or as a Python program. A subclass says how its state is written and read.
 */
import { html, type PropertyValues, type TemplateResult } from "lit";
import { stateOf, withState } from "../../cores/figure-state";
import { SteppedFigure } from "./figure";
import { STATE_EVENT } from "./state-event";


export abstract class ChapterFigure extends SteppedFigure {
  static override properties = {
    ...SteppedFigure.properties,
    figure: { type: String },
    note: { state: true },
  };
  /** The id of the surrounding figure: its name in the address. */
  declare figure: string;
  private declare note: string;
  private written = "";

  constructor() {
    super();
    this.figure = "";
    this.note = "";
  }

  /** The state as the address writes it, without `step`. */
  protected abstract state(): Record<string, string>;
  /** Takes over settings from the address; anything out of range is brought back into it or ignored. */
  protected abstract take(state: URLSearchParams): void;
  /** The step to begin with, and the one for a state that names none. */
  protected abstract get firstStep(): number;
  protected abstract python(): string;
  /** A second sentence below the first, outside the live region. */
  protected abstract remark(): string;

  private readonly onState = (event: Event) => {
    this.show(new URLSearchParams((event as CustomEvent<string>).detail));
  };

  /** A picture that is wider than its box scrolls there, and only then the keyboard has to reach it. */
  private readonly onResize = new ResizeObserver(() => this.keepReachable());

  private keepReachable(): void {
    const picture = this.querySelector<HTMLElement>(".picture");
    picture?.toggleAttribute("tabindex", false);
    if (picture && picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.onResize.observe(this);
    this.closest("figure")?.addEventListener(STATE_EVENT, this.onState);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.onResize.disconnect();
    this.closest("figure")?.removeEventListener(STATE_EVENT, this.onState);
  }

  protected override firstUpdated(changed: PropertyValues): void {
    super.firstUpdated(changed);
    this.show(stateOf(location.hash, this.figure) ?? new URLSearchParams());
  }

  private show(state: URLSearchParams): void {
    this.take(state);
    const step = Number(state.get("step") ?? this.firstStep);
    // The number of steps may depend on the settings, so they have to be in force before the step is set.
    void this.updateComplete.then(() => this.goTo(Number.isFinite(step) ? step : this.firstStep));
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    const now = new URLSearchParams({ ...this.state(), step: String(this.step) }).toString();
    // The first state that settles is the page's own; only what the reader changes after it belongs in the address.
    if (this.figure && this.written && now !== this.written && document.activeElement && this.contains(document.activeElement)) {
      history.replaceState(history.state, "", withState(this.figure, now));
    }
    this.written = now;
    this.keepReachable();
  }

  private async copy(text: string, what: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.note = `${what} copied.`;
    } catch {
      this.note = "The browser does not allow copying here.";
    }
  }

  protected override render(): TemplateResult {
    const link = () => new URL(withState(this.figure, this.written), location.href).href;
    return html`${super.render()}
      <p class="count">${this.remark()}</p>
      <div class="cluster">
        <button type="button" class="button quiet" @click=${() => this.copy(this.python(), "The Python program is")}>Copy as Python</button>
        <button type="button" class="button quiet" @click=${() => this.copy(link(), "The link is")}>Copy link to this view</button>
        <span aria-live="polite" class="meta">${this.note}</span>
      </div>`;
  }
}
