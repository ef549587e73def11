/**
 * `<pb-reading place="/learn/…/place/">` around a section: links that set a figure ("set the ring to 8 devices"), an
 * address that holds a figure's state, and the place up to which was read, kept on the server.
 */
import { split, withState } from "../cores/figure-state";
import { STATE_EVENT } from "./lib/state-event";

/** Nobody reads a section in less; whoever leaves earlier leaves no trace. */
const AT_LEAST_MS = 10_000;
const EVERY_MS = 15_000;

export default class Reading extends HTMLElement {
  private timer: ReturnType<typeof setInterval> | undefined;
  private sent = "";
  private readonly since = performance.now();

  connectedCallback(): void {
    this.addEventListener("click", this.followMoment);
    document.addEventListener("visibilitychange", this.keepPlace);
    this.timer = setInterval(this.keepPlace, EVERY_MS);
    const [name, state] = split(location.hash);
    if (state !== undefined) document.getElementById(name)?.scrollIntoView();
  }

  disconnectedCallback(): void {
    this.removeEventListener("click", this.followMoment);
    document.removeEventListener("visibilitychange", this.keepPlace);
    clearInterval(this.timer);
  }

  private readonly followMoment = (event: MouseEvent): void => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a.moment");
    const { figure: name, state } = link?.dataset ?? {};
    const figure = name ? document.getElementById(name) : null;
    if (!figure || state === undefined || name === undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    // A figure whose script is still on its way reads the address when it arrives.
    history.replaceState(history.state, "", withState(name, state));
    figure.dispatchEvent(new CustomEvent(STATE_EVENT, { detail: state }));
    if (!mostlyInView(figure)) {
      const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
      figure.scrollIntoView({ block: "start", behavior });
    }
  };

  private readonly keepPlace = (): void => {
    const anchor = this.place();
    if (!anchor || anchor === this.sent || performance.now() - this.since < AT_LEAST_MS) return;
    const url = this.getAttribute("place");
    const token = this.querySelector<HTMLInputElement>("input[name=csrfmiddlewaretoken]")?.value;
    if (!url || !token) return;
    this.sent = anchor;
    const body = new URLSearchParams({ anchor, csrfmiddlewaretoken: token });
    // Not worth a message when it fails: the next beat sends the then current place.
    fetch(url, { method: "POST", body, keepalive: true }).catch(() => {
      this.sent = "";
    });
  };

  /** The last block whose beginning lies above the middle of the view; empty before the first. */
  private place(): string {
    const middle = innerHeight / 2;
    const blocks = [...this.querySelectorAll<HTMLElement>(":scope > [id^='p-']")];
    return blocks.filter((block) => block.getBoundingClientRect().top < middle).at(-1)?.id ?? "";
  }
}

function mostlyInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const seen = Math.min(bottom, innerHeight) - Math.max(top, 0);
  return seen >= 0.6 * Math.min(bottom - top, innerHeight);
}
