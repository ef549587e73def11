/**
 * `<pb-difference-error f="cube" x="1.5" h="0.5" figure="slope">`: forward and central differences of f at x, and their
 * error against the step h, in float64. Each step of the figure is a smaller h; any other h can be typed.
 */
import { html, type PropertyValues, type TemplateResult } from "lit";
import {
  asPython,
  bestSentence,
  describe,
  drawErrors,
  drawSecants,
  errorCurve,
  FUNCTIONS,
  number,
  STOPS,
  TABLE_HEAD,
  tableRows,
} from "../cores/difference-error";
import { numberFrom } from "../cores/figure-state";
import { ChapterFigure } from "./lib/chapter-figure";
import { type DataTable, uniqueId } from "./lib/figure";
import { drawing } from "./lib/scene";

const SMALLEST = 1e-16;

export default class DifferenceError extends ChapterFigure {
  static override properties = {
    ...ChapterFigure.properties,
    f: { type: String },
    x: { type: Number },
    h: { type: Number },
  };
  declare f: string;
  declare x: number;
  /** The step now shown: one of STOPS, or what was typed. */
  declare h: number;
  private shownStep = -1;
  private readonly ids = { f: uniqueId("f"), x: uniqueId("x"), h: uniqueId("h") };

  constructor() {
    super();
    this.f = "cube";
    this.x = 1.5;
    this.h = 0.5;
  }

  private get name(): string {
    return Object.hasOwn(FUNCTIONS, this.f) ? this.f : "cube";
  }

  protected override get last(): number {
    return STOPS.length - 1;
  }

  protected override get firstStep(): number {
    return nearest(this.h);
  }

  protected override state(): Record<string, string> {
    return { f: this.name, x: String(this.x), h: String(this.h) };
  }

  protected override take(state: URLSearchParams): void {
    const f = state.get("f");
    if (f !== null && Object.hasOwn(FUNCTIONS, f)) this.f = f;
    this.x = numberFrom(state, "x", -1e6, 1e6) ?? this.x;
    this.typed(numberFrom(state, "h", SMALLEST, 1) ?? this.h);
    // h says it all; a step in the address would only repeat it.
    state.delete("step");
  }

  /** Takes any step, and puts the player at the stop next to it. */
  private typed(h: number): void {
    this.h = h;
    this.shownStep = nearest(h);
    this.goTo(this.shownStep);
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.step !== this.shownStep && this.shownStep >= 0) {
      this.shownStep = this.step;
      this.h = STOPS[this.step]!;
    }
  }

  protected override settings(): TemplateResult {
    const choose = (event: Event) => {
      this.f = (event.target as HTMLSelectElement).value;
      this.x = FUNCTIONS[this.f]!.x;
    };
    const setX = (event: Event) => {
      const value = (event.target as HTMLInputElement).valueAsNumber;
      if (Number.isFinite(value)) this.x = value;
    };
    const slide = (event: Event) => this.typed(STOPS[STOPS.length - 1 - (event.target as HTMLInputElement).valueAsNumber]!);
    const setH = (event: Event) => {
      const input = event.target as HTMLInputElement;
      const value = Number(input.value);
      this.typed(Number.isFinite(value) && value > 0 ? Math.min(1, Math.max(SMALLEST, value)) : this.h);
      input.value = String(this.h);
    };
    const { f, x, h } = this.ids;
    return html`
      <div class="field">
        <label for=${f}>Function</label>
        <select id=${f} @change=${choose}>
          ${Object.entries(FUNCTIONS).map(([name, { label }]) => html`<option value=${name} ?selected=${name === this.name}>${label}</option>`)}
        </select>
      </div>
      <div class="field">
        <label for=${x}>at x =</label>
        <input id=${x} type="number" step="any" .value=${String(this.x)} @change=${setX} />
      </div>
      <div class="setting" role="group" aria-label="Step h">
        <span class="label" aria-hidden="true">Step h (smaller to the left)</span>
        <input
          type="range"
          aria-label="Step h"
          aria-valuetext=${number(this.h)}
          min="0"
          max=${STOPS.length - 1}
          step="1"
          .value=${String(STOPS.length - 1 - nearest(this.h))}
          @input=${slide}
        />
        <input id=${h} type="text" inputmode="decimal" aria-label="Step h, as a number" .value=${String(this.h)} @change=${setH} />
      </div>
    `;
  }

  protected override picture(): TemplateResult {
    return html`<div class="pair">${drawing(drawSecants(this.name, this.x, this.h))}${drawing(drawErrors(this.name, this.x, this.h))}</div>`;
  }

  protected override sentence(): string {
    return describe(this.name, this.x, this.h);
  }

  protected override remark(): string {
    return bestSentence(this.name, this.x);
  }

  protected override table(): DataTable {
    const caption = `Errors for ${FUNCTIONS[this.name]!.label} near x = ${number(this.x, 6)}`;
    return { caption, head: TABLE_HEAD, rows: tableRows(errorCurve(this.name, this.x)) };
  }

  protected override python(): string {
    return asPython(this.name, this.x, this.h);
  }
}

/** The stop next to `h`, by order of magnitude. */
function nearest(h: number): number {
  let found = 0;
  STOPS.forEach((stop, i) => {
    if (Math.abs(Math.log(stop / h)) < Math.abs(Math.log(STOPS[found]! / h))) found = i;
  });
  return found;
}
