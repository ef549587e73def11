/**
 * A training run, live: <pb-run events="/events/run/<uuid>/" state="run-state" certificate="…"> around the page that
 * the server drew from the stored state. `state` is the id of the JSON block that holds that state.
 */
import { html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { fold, grouped, headline, isOver, type Parity, type RunState, scientific, spread } from "../cores/run";
import { type Bar, lanes, lossChart, sentence, type Tick } from "../cores/run-chart";
import { type Connection, follow, showConnection } from "../live";

const KINDS = ["snapshot", "restart", "facts", "progress", "timeline", "state"] as const;
const BYTES: Record<string, number> = { float32: 4, float64: 8 };
const TABLE_ROWS = 12;

export default class Run extends LitElement {
  static override properties = { run: { state: true }, connection: { state: true }, pictureWidth: { state: true } };
  private declare run: RunState;
  private declare connection: Connection | undefined;
  private declare pictureWidth: number;
  private stop = () => {};
  private readonly sizes = new ResizeObserver(([entry]) => {
    // At its own width the picture keeps its letters readable on a phone.
    if (entry) this.pictureWidth = Math.max(280, Math.round(entry.contentRect.width));
  });

  constructor() {
    super();
    this.pictureWidth = 720;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    const stored = document.getElementById(this.getAttribute("state") ?? "")?.textContent;
    if (!stored) return; // the server's page stays as it is
    this.run = JSON.parse(stored) as RunState;
    this.replaceChildren();
    super.connectedCallback();
    if (isOver(this.run)) return;
    const on = Object.fromEntries(KINDS.map((kind) => [kind, (data: unknown) => this.take(kind, data)]));
    this.stop = follow(this.getAttribute("events") ?? "", on, {
      onConnection: (state) => {
        this.connection = state;
      },
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop();
    this.sizes.disconnect();
  }

  private take(kind: string, data: unknown): void {
    this.run = fold(this.run, kind, data);
    if (isOver(this.run)) {
      for (const part of document.querySelectorAll<HTMLElement>("[data-live-only]")) part.hidden = true;
    }
  }

  protected override updated(): void {
    const picture = this.querySelector(".picture");
    if (picture) this.sizes.observe(picture);
    const live = this.querySelector<HTMLElement>("[data-live]");
    if (live && this.connection) showConnection(live)(this.connection);
  }

  protected override render(): TemplateResult {
    const { run } = this;
    return html`<div class="run">
      <div class="run-status cluster apart">
        <p class="run-headline" role="status"><strong>${headline(run)}${run.reason ? "." : ""}</strong>${run.reason ? ` ${run.reason}` : ""}</p>
        ${this.connection && !isOver(run) ? html`<p class="live" data-live></p>` : nothing}
      </div>
      <div class="run-main stack">${this.lossFigure()} ${this.lanesFigure()}</div>
      <div class="run-side stack">
        ${this.ranks()} ${this.figures()}
        ${run.facts.note ? html`<p class="meta">${run.facts.note}</p>` : nothing}
        ${run.result?.parity ? this.proof(run.result.parity) : nothing}
      </div>
    </div>`;
  }

  private lossFigure(): TemplateResult {
    const { points, twin, facts, steps } = this.run;
    const chart = lossChart(points, twin, facts.baselines ?? {}, steps, this.pictureWidth);
    const words = sentence(points, steps);
    const ofTwin = new Map(twin);
    return html`<figure class="figure">
      <h2>Loss</h2>
      <div class="picture" role="img" aria-label=${words}>
        <svg viewBox="0 0 ${chart.width} ${chart.height}" aria-hidden="true">
          ${chart.y_ticks.map(
            (tick) => svg`<path class="rule" d="M${chart.left} ${tick.at}H${chart.right}" />
              <text class="label-soft" x=${chart.left - 8} y=${tick.at} dy="5" text-anchor="end">${tick.label}</text>`,
          )}
          ${chart.x_ticks.map((tick) => below(tick, chart.bottom, true))}
          <path class="axis" d="M${chart.left} ${chart.bottom}H${chart.right}" />
          ${chart.baselines.map(
            (line) => svg`<path class="run-baseline" d="M${chart.left} ${line.at}H${chart.right}" />
              <text class="label-soft" x=${chart.right} y=${line.at} dx="8" dy="5">${line.name}</text>`,
          )}
          ${chart.line ? svg`<path class="line compute" d=${chart.line} />` : nothing}
          ${chart.head ? svg`<circle class="compute" cx=${chart.head.x} cy=${chart.head.y} r="4.5" />` : nothing}
          ${chart.twin.map((dot) => svg`<circle class="run-twin" cx=${dot.x} cy=${dot.y} r="4" />`)}
          <text class="label-soft" x=${chart.left} y=${chart.height} dy="-4">step</text>
        </svg>
      </div>
      <p class="sentence">${words}</p>
      <p class="run-legend">
        <span class="run-key run-key-line compute">mean loss over all ranks</span>
        <span class="run-key run-key-twin">one process</span>
        <span class="label-soft"
          >Loss in nats per character. Dotted: guessing evenly (uniform), by letter counts (unigram), by pairs of
          letters (bigram).</span
        >
      </p>
      <details>
        <summary>The numbers</summary>
        <div class="table" role="region" tabindex="0" aria-label="Loss by step">
          <table>
            <thead>
              <tr>
                <th scope="col">step</th>
                <th scope="col" class="number">loss</th>
                <th scope="col" class="number">one process</th>
              </tr>
            </thead>
            <tbody>
              ${spread(points, TABLE_ROWS).map(
                ([step, loss]) => html`<tr>
                  <td>${step}</td>
                  <td class="number">${loss.toFixed(4)}</td>
                  <td class="number">${ofTwin.get(step)?.toFixed(4) ?? "–"}</td>
                </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </details>
    </figure>`;
  }

  private lanesFigure(): TemplateResult | typeof nothing {
    const { timeline } = this.run.live;
    if (!timeline) return nothing;
    const drawn = lanes(timeline, this.pictureWidth);
    const words = `What each rank did during step ${timeline.step}, which took ${timeline.ms} milliseconds.`;
    return html`<figure class="figure">
      <h2>Step ${timeline.step}, rank by rank</h2>
      <div class="picture" role="img" aria-label=${words}>
        <svg viewBox="0 0 ${drawn.width} ${drawn.height}" aria-hidden="true">
          ${drawn.ticks.map(
            (tick) => svg`<path class="rule" d="M${tick.at} 8V${drawn.bottom}" />${below(tick, drawn.bottom, false)}`,
          )}
          ${drawn.labels.map((label) => svg`<text x="0" y=${label.at}>${label.name}</text>`)}
          ${drawn.bars.map(bar)}
        </svg>
      </div>
      <p class="run-legend">
        <span class="run-key compute">computing</span>
        <span class="run-key idle">waiting for gradients</span>
        <span class="run-key communication">a bucket of gradients on its way to all ranks</span>
        <span class="label-soft">milliseconds from the start of the step</span>
      </p>
    </figure>`;
  }

  private ranks(): TemplateResult {
    const { steps } = this.run;
    const done = this.run.live.ranks ?? Array.from({ length: this.run.ranks }, () => 0);
    return html`<section aria-labelledby="progress" class="stack tight">
      <h2 id="progress">Ranks</h2>
      ${done.map(
        (count, rank) => html`<div class="run-rank">
          <label for="rank-${rank}">rank ${rank}</label>
          <progress id="rank-${rank}" class="progress" value=${count} max=${steps}></progress>
          <span class="number">${count} / ${steps}</span>
        </div>`,
      )}
    </section>`;
  }

  private figures(): TemplateResult {
    const { live, result } = this.run;
    const dtype = result?.parity?.dtype ?? "float32";
    const size = BYTES[dtype] ?? 4;
    return html`<dl class="run-figures">
      <div>
        <dt>characters trained on, a second</dt>
        <dd class="number">${live.tokens_per_s ? grouped(live.tokens_per_s) : "–"}</dd>
      </div>
      <div>
        <dt>bytes all-reduced in a step</dt>
        <dd class="number">${live.bytes ? grouped(live.bytes) : "–"}</dd>
      </div>
      ${result
        ? html`<div>
              <dt>bytes a number × parameters</dt>
              <dd class="number">${size} × ${grouped(result.parameters)} = ${grouped(size * result.parameters)}</dd>
            </div>
            <div>
              <dt>sent by each rank in a ring, 2(N−1)/N of it</dt>
              <dd class="number">${grouped(result.wire_bytes_per_rank)}</dd>
            </div>`
        : nothing}
    </dl>`;
  }

  private proof(proof: Parity): TemplateResult {
    const result = this.run.result!;
    return html`<section class="run-proof stack tight ${proof.holds ? "" : "broken"}" aria-labelledby="proof">
      <h2 id="proof">Certificate</h2>
      <p class="verdict" data-verdict=${proof.holds ? "AC" : "WA"}>
        ${proof.holds ? "Agrees with one process" : "Differs from one process"}
      </p>
      <dl class="run-figures">
        <div>
          <dt>largest difference of a parameter</dt>
          <dd class="number">${scientific(proof.max_dparam)}</dd>
        </div>
        <div>
          <dt>largest difference of a loss</dt>
          <dd class="number">${scientific(proof.max_dloss)}</dd>
        </div>
        <div>
          <dt>tolerance for ${proof.dtype}</dt>
          <dd class="number">${scientific(proof.tolerance)}</dd>
        </div>
      </dl>
      <p class="meta">
        After the ranks had finished, one process trained the same model from the same start on the same batches, for
        ${proof.steps} step${proof.steps === 1 ? "" : "s"}. Compared were the mean loss of each of them and all
        ${grouped(result.parameters)} parameters after the last.
        ${result.replicas_identical
          ? "The copies of the model on all ranks are equal to the last bit."
          : "The copies of the model on the ranks are not equal."}
      </p>
      <p><a class="button" href=${this.getAttribute("certificate") ?? ""} download>Certificate as JSON</a></p>
    </section>`;
  }
}

/** A label below the picture, with or without its mark on the axis. */
function below(tick: Tick, bottom: number, marked: boolean) {
  return svg`${marked ? svg`<path class="axis" d="M${tick.at} ${bottom}v5" />` : nothing}
    <text class="label-soft" x=${tick.at} y=${bottom} dy="22" text-anchor="middle">${tick.label}</text>`;
}

function bar(one: Bar) {
  return svg`<rect class=${one.kind} x=${one.x} y=${one.y} width=${one.width} height=${one.height} rx="1">
      <title>${one.title}</title>
    </rect>
    ${one.label ? svg`<text class="run-bar-label" x=${one.x} y=${one.y} dx="6" dy="17">${one.label}</text>` : nothing}`;
}
