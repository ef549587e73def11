/** The few icons of the control bar: 20 px paths, drawn in the colour of the text beside them. */
import { html, type TemplateResult } from "lit";

const PATHS = {
  play: "M6 4l10 6-10 6z",
  pause: "M6 4h3v12H6zM11 4h3v12h-3z",
  forward: "M5 4l8 6-8 6zM14 4h2v12h-2z",
  back: "M15 4l-8 6 8 6zM4 4h2v12H4z",
  reset: "M10 4a6 6 0 1 1-5.7 4.1l1.9.6A4 4 0 1 0 10 6v2.5L5.5 5 10 1.5z",
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} fill="currentColor"></path>
  </svg>`;
}
