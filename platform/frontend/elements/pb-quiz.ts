/**
 * `<pb-quiz>` around an ordinary form with radio buttons: the answer is checked without leaving the page. Without this
 * script the same form reloads the page at the same place, with the same feedback.
 */
export default class Quiz extends HTMLElement {
  connectedCallback(): void {
    this.querySelector("form")?.addEventListener("submit", this.check);
  }

  disconnectedCallback(): void {
    this.querySelector("form")?.removeEventListener("submit", this.check);
  }

  private readonly check = async (event: SubmitEvent): Promise<void> => {
    const form = event.currentTarget as HTMLFormElement;
    const feedback = form.querySelector<HTMLElement>(".feedback");
    if (!feedback) return;
    event.preventDefault();
    const button = form.querySelector("button");
    button?.setAttribute("aria-disabled", "true");
    try {
      const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
      const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      const answer = (await response.json()) as { feedback?: string; error?: string };
      if (answer.feedback === undefined) {
        feedback.textContent = answer.error ?? "The answer could not be kept. Try again.";
        return;
      }
      // HTML that the server made from the chapter's own text; it is what the page without scripts shows.
      feedback.innerHTML = answer.feedback;
      for (const option of form.querySelectorAll(".option")) {
        option.classList.toggle("chosen", option.querySelector("input")?.checked ?? false);
      }
    } catch {
      feedback.textContent = "The server did not answer. Your choice is still marked; try again in a moment.";
    } finally {
      button?.removeAttribute("aria-disabled");
    }
  };
}
