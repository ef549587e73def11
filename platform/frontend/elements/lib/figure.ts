/**
 * What all figures share, so that a reader learns it once: settings on top, the picture, one control bar
 * (play/pause, back, step, reset, position), one sentence that says what is seen, and the numbers as a table.
 *
 * A stepped figure extends `SteppedFigure` and says five things:
 *
 *     export default class RingAllReduce extends SteppedFigure {
 *       static override properties = { ...SteppedFigure.properties, n: { type: Number } };
 *       declare n: number;
 *       constructor() { super(); this.n = 4; }
 *       protected get last() { return 2 * (this.n - 1); }                  // frames are 0…last
 *       protected picture() { return html`<svg …></svg>`; }                 // at this.step
 *       protected sentence() { return `After step ${this.step} …`; }        // one plain sentence
 *       protected table() { return { caption: "…", head: ["GPU", "bytes"], rows: [["0", "4 MB"]] }; }
 *       protected override settings() {                                     // optional
 *         return numberSetting({ label: "GPUs", value: this.n, min: 2, max: 8, set: (n) => { this.n = n; } });
 *       }
 *     }
 *
 * A figure without steps (a curve with sliders) extends `Figure`: the same without `last` and without a control bar.
 * Change settings through reactive properties; when `last` changes, the figure goes back to its first frame.
 *
 * Rules kept here, so no figure has to: nothing plays by itself; a beat lasts `BEAT_MS` and the last frame stops; playing stops when
 * the figure leaves the page; with `prefers-reduced-motion` frames change without any tween (`this.calm` is true, leave
 * out transitions then); the live region speaks once per step of the reader and is silent while playing until it stops.
 * Elements render in light DOM: the page's styles apply and no style sheet is repeated. They take the place of the
 * server-rendered first frame inside the tag, which remains for readers without scripts.
 * No `style=` in a template (the content security policy forbids it): use classes and SVG attributes.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { back, forward, type Player, resize, seek, start, tick, toggle } from "../../cores/player";
import { numberColumns } from "../../cores/table";
import { icon } from "./icons";

export const BEAT_MS = 900;

export type DataTable = { caption: string; head: readonly string[]; rows: readonly (readonly string[])[] };

let figures = 0;

/** A unique id for the parts of one figure that labels point at. */
export function uniqueId(stem: string): string {
  figures += 1;
  return `${stem}-${figures}`;
}

export abstract class Figure extends LitElement {
  protected abstract picture(): TemplateResult;
  /** One plain sentence that says what the picture shows now; it is the text alternative of the picture. */
  protected abstract sentence(): string;
  /** The numbers behind the picture. */
  protected abstract table(): DataTable;
  /** Controls above the picture, made with `numberSetting` and the like. */
  protected settings(): TemplateResult | typeof nothing {
    return nothing;
  }
  protected controls(): TemplateResult | typeof nothing {
    return nothing;
  }
  /** False while frames follow each other on their own: a live region must not speak then. */
  protected get speaks(): boolean {
    return true;
  }
  /** True when the reader asked for less motion. */
  protected get calm(): boolean {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  protected override createRenderRoot(): HTMLElement {
    this.replaceChildren();
    return this;
  }

  protected override render(): TemplateResult {
    const settings = this.settings();
    const sentence = this.sentence();
    return html`
      ${settings === nothing ? nothing : html`<div class="settings">${settings}</div>`}
      <div class="picture" role="img" aria-label=${sentence}>${this.picture()}</div>
      ${this.controls()}
      <p class="sentence" aria-live=${this.speaks ? "polite" : "off"}>${sentence}</p>
      ${dataTable(this.table())}
    `;
  }
}

export abstract class SteppedFigure extends Figure {
  static override properties = { player: { state: true } };
  private declare player: Player;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this.player = start(0);
  }

  /** The number of the last frame; the first is 0. */
  protected abstract get last(): number;

  /** The frame now shown. */
  protected get step(): number {
    return this.player.step;
  }

  /** Shows one frame and stops, for "named moments" and links in the text. */
  goTo(step: number): void {
    this.move(seek(this.player, step));
  }

  protected override get speaks(): boolean {
    return !this.player.playing;
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    this.move(resize(this.player, this.last));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.move(seek(this.player, this.player.step));
  }

  private move(player: Player): void {
    this.player = player;
    if (player.playing && this.timer === undefined) {
      this.timer = setInterval(() => this.move(tick(this.player)), BEAT_MS);
    } else if (!player.playing && this.timer !== undefined) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  protected override controls(): TemplateResult {
    const { step, last, playing } = this.player;
    return html`<div class="control-bar" role="group" aria-label="Steps of the figure">
      <button type="button" class="button" @click=${() => this.move(toggle(this.player))}>
        ${icon(playing ? "pause" : "play")} ${playing ? "Pause" : "Play"}
      </button>
      <button type="button" class="button" aria-disabled=${step === 0} @click=${() => this.move(back(this.player))}>
        ${icon("back")}<span class="visually-hidden">One step back</span>
      </button>
      <button type="button" class="button" aria-disabled=${step === last} @click=${() => this.move(forward(this.player))}>
        ${icon("forward")} Step
      </button>
      <button type="button" class="button" aria-disabled=${step === 0} @click=${() => this.move(start(last))}>
        ${icon("reset")} Reset
      </button>
      <span class="position">step ${step} of ${last}</span>
    </div>`;
  }
}

/** The numbers of a figure behind a disclosure, scrolling inside on small screens. */
export function dataTable({ caption, head, rows }: DataTable): TemplateResult {
  // The first cell of a row is its header and stands at the start, whatever it holds.
  const kinds = numberColumns(rows).map((numbers, at) => (numbers && at > 0 ? "number" : nothing));
  return html`<details>
    <summary>Show the numbers</summary>
    <div class="table" role="region" tabindex="0" aria-label=${caption}>
      <table>
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            ${head.map((cell, at) => html`<th scope="col" class=${kinds[at] ?? nothing}>${cell}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => html`<tr>${row.map((cell, at) => (at === 0 ? html`<th scope="row">${cell}</th>` : html`<td class=${kinds[at] ?? nothing}>${cell}</td>`))}</tr>`)}
        </tbody>
      </table>
    </div>
  </details>`;
}

export type NumberSetting = {
  label: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  set: (value: number) => void;
};

/** A number as a slider and as a field that say the same; out-of-range entries are brought back into range. */
export function numberSetting({ label, value, min, max, step = 1, set }: NumberSetting): TemplateResult {
  const take = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const wanted = input.valueAsNumber;
    const kept = Number.isFinite(wanted) ? Math.min(max, Math.max(min, wanted)) : value;
    set(kept);
    if (kept !== wanted) input.value = String(kept);
  };
  return html`<div class="setting" role="group" aria-label=${label}>
    <span class="label" aria-hidden="true">${label}</span>
    <input type="range" aria-label=${label} min=${min} max=${max} step=${step} .value=${String(value)} @input=${take} />
    <input type="number" aria-label="${label}, as a number" min=${min} max=${max} step=${step} .value=${String(value)} @change=${take} />
  </div>`;
}
