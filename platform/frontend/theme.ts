/**
 * The theme switch in the header is a plain form that the server answers (web/views.py). With this script a choice
 * shows at once and in the other open tabs. The cookie lets the server write `data-theme` into the first byte of
 * the next page, so no page ever flashes in the wrong theme.
 */
const KEY = "theme";
const YEAR_IN_SECONDS = 31_536_000;

export type Theme = "light" | "dark" | "system";

export function isTheme(value: unknown): value is Theme {
  return value === "light" || value === "dark" || value === "system";
}

function show(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
  for (const button of document.querySelectorAll<HTMLButtonElement>("#theme button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

function keep(theme: Theme): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${KEY}=${theme}; Path=/; Max-Age=${YEAR_IN_SECONDS}; SameSite=Lax${secure}`;
  try {
    localStorage.setItem(KEY, theme);
  } catch (error) {
    // Storage can be switched off by the reader; only the other open tabs miss the change.
    console.info("The theme is kept in the cookie only.", error);
  }
}

export function followThemeSwitch(): void {
  document.querySelector<HTMLFormElement>("#theme")?.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || !isTheme(button.value)) return;
    event.preventDefault();
    button.closest<HTMLElement>("[popover]")?.hidePopover();
    show(button.value);
    keep(button.value);
  });
  addEventListener("storage", (event) => {
    if (event.key === KEY && isTheme(event.newValue)) show(event.newValue);
  });
}
