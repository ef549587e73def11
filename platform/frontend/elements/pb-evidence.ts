/**
 * <pb-evidence drawing="{…}"> around the picture that the server drew: draws it again at the width that there is, so
 * that its words keep their size on a phone. Everything else of the evidence stays as the server wrote it.
 */
import { render } from "lit";
import { type Drawing, scene } from "../cores/evidence";
import { drawing } from "./lib/scene";

const NARROWEST = 250;
const WIDEST = 560;

export default class Evidence extends HTMLElement {
  private readonly sizes = new ResizeObserver(() => this.draw());
  private place: HTMLElement | undefined;
  private data: Drawing | undefined;
  private width = 0;

  connectedCallback(): void {
    const place = this.querySelector<HTMLElement>(".picture");
    const written = this.getAttribute("drawing");
    if (!place || !written) return;
    const label = place.querySelector("svg")?.getAttribute("aria-label") ?? place.getAttribute("aria-label") ?? "";
    this.data = JSON.parse(written) as Drawing;
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", label);
    place.replaceChildren();
    this.place = place;
    this.draw();
    this.sizes.observe(this);
  }

  disconnectedCallback(): void {
    this.sizes.disconnect();
  }

  private draw(): void {
    const width = Math.round(Math.min(WIDEST, Math.max(NARROWEST, this.clientWidth)));
    if (!this.place || !this.data || width === this.width) return;
    this.width = width;
    render(drawing(scene(this.data, width)), this.place);
  }
}
