/** Draws a scene (plain data from a figure's core) as SVG. The server's twin is `to_svg` in `core/scene.py`. */
import { html, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { num, type Scene, type Shape } from "../../cores/scene";

export function drawing(scene: Scene, css = ""): TemplateResult {
  return html`<svg
    class="scene ${css}"
    viewBox="0 0 ${num(scene.width)} ${num(scene.height)}"
    width=${num(scene.width)}
    height=${num(scene.height)}
    aria-hidden="true"
  >
    ${scene.shapes.map(shape)}
  </svg>`;
}

function shape(s: Shape): SVGTemplateResult {
  switch (s.k) {
    case "rect":
      return svg`<rect class=${s.c} x=${num(s.x)} y=${num(s.y)} width=${num(s.w)} height=${num(s.h)} rx="3" fill-opacity=${num(s.o)}></rect>`;
    case "circle":
      return svg`<circle class=${s.c} cx=${num(s.x)} cy=${num(s.y)} r=${num(s.r)}></circle>`;
    case "path":
      return svg`<path class=${s.c} d=${s.d}></path>`;
    case "text":
      return svg`<text class=${s.c} x=${num(s.x)} y=${num(s.y)} text-anchor=${s.a}>${s.t}</text>`;
  }
}
