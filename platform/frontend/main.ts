/**
 * The only script that every page loads. It fetches the code of a `<pb-…>` element when that element comes near the
 * view, and makes the theme switch instant. Pages work without it.
 *
 * To add an element: write `elements/pb-foo.ts` with a default export that is the element's class. Nothing else.
 */
import { followThemeSwitch } from "./theme";

type ElementModule = { default: CustomElementConstructor };

const modules = import.meta.glob<ElementModule>("./elements/pb-*.ts");

function define(tag: string): void {
  const load = modules[`./elements/${tag}.ts`];
  if (!load || customElements.get(tag)) return;
  load().then(
    ({ default: constructor }) => {
      if (!customElements.get(tag)) customElements.define(tag, constructor);
    },
    (error: unknown) => console.error(`The part <${tag}> of this page could not be loaded; reload to try again.`, error),
  );
}

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      define(entry.target.localName);
    }
  },
  // Early enough that the element is usually ready before it is seen.
  { rootMargin: "600px 0px" },
);

/** Watches every element of ours below `root`; call it after adding server-rendered HTML to the page. */
export function watch(root: ParentNode = document): void {
  for (const tag of Object.keys(modules).map((path) => path.slice("./elements/".length, -".ts".length))) {
    for (const element of root.querySelectorAll(tag)) near.observe(element);
  }
}

watch();
followThemeSwitch();
