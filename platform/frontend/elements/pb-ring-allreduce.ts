/** `<pb-ring-allreduce n="4" figure="ring">`: n devices (2 to 16) average their gradients, one chunk at a time. */
import { type TemplateResult } from "lit";
import { numberFrom } from "../cores/figure-state";
import { asPython, countSentence, describe, draw, exampleGradients, type Frame, ringAllReduce, TABLE_HEAD, tableRows } from "../cores/ring-allreduce";
import { ChapterFigure } from "./lib/chapter-figure";
import { type DataTable, numberSetting } from "./lib/figure";
import { drawing } from "./lib/scene";

const LEAST = 2;
const MOST = 16;

/** Small rings keep their size, middling ones fill the figure, large ones scroll where there is no room. */
function size(devices: number): string {
  if (devices < 4) return "small";
  return devices <= 6 ? "fits" : "scrolls";
}

export default class RingAllReduce extends ChapterFigure {
  static override properties = { ...ChapterFigure.properties, n: { type: Number } };
  declare n: number;
  private made: Frame[] = [];

  constructor() {
    super();
    this.n = 4;
  }

  private get devices(): number {
    return Math.min(MOST, Math.max(LEAST, Math.round(this.n) || LEAST));
  }

  private get frames(): Frame[] {
    if (this.made[0]?.buffers.length !== this.devices) this.made = ringAllReduce(exampleGradients(this.devices));
    return this.made;
  }

  protected override get last(): number {
    return 2 * (this.devices - 1);
  }

  protected override get firstStep(): number {
    return 1;
  }

  protected override state(): Record<string, string> {
    return { n: String(this.devices) };
  }

  protected override take(state: URLSearchParams): void {
    this.n = numberFrom(state, "n", LEAST, MOST) ?? this.n;
  }

  protected override settings(): TemplateResult {
    const set = (n: number) => {
      this.n = n;
    };
    return numberSetting({ label: "Number of devices", value: this.devices, min: LEAST, max: MOST, set });
  }

  protected override picture(): TemplateResult {
    return drawing(draw(this.frames[Math.min(this.step, this.last)]!), size(this.devices));
  }

  protected override sentence(): string {
    return describe(this.frames, Math.min(this.step, this.last));
  }

  protected override remark(): string {
    return countSentence(this.frames);
  }

  protected override table(): DataTable {
    const caption = `Ring all-reduce with ${this.devices} devices, step by step`;
    return { caption, head: TABLE_HEAD, rows: tableRows(this.frames) };
  }

  protected override python(): string {
    return asPython(this.devices);
  }
}
