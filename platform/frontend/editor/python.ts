/**
 * A Python editor over a textarea: CodeMirror 6, loaded only on pages that have one. The textarea stays in its form
 * and always holds the text, so the form works the same with and without this.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { cspNonce } from "../csp";

export type EditorOptions = {
  textarea: HTMLTextAreaElement;
  label: string;
  describedBy: string;
  onChange: (text: string) => void;
  onRun: () => void;
  onSubmit: () => void;
};

export type Editor = { focus: () => void; set: (text: string) => void; destroy: () => void };

/**
 * Typing over a selection. Left to itself, Chromium keeps the look of the replaced text by an inline style, which the
 * page's policy blocks and reports; as a change of the editor's own there is nothing to style.
 */
const typingOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) {
      return false;
    }
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

export function editor({ textarea, label, describedBy, onChange, onRun, onSubmit }: EditorOptions): Editor {
  const keys = Prec.highest(
    keymap.of([
      { key: "Mod-Enter", run: () => (onRun(), true) },
      { key: "Shift-Mod-Enter", run: () => (onSubmit(), true) },
    ]),
  );
  const view = new EditorView({
    doc: textarea.value,
    extensions: [
      keys,
      EditorView.cspNonce.of(cspNonce()),
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      history(),
      drawSelection(),
      indentOnInput(),
      typingOverSelection,
      bracketMatching(),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      python(),
      // Names of classes instead of colours: problems.css themes them, by day and by night.
      syntaxHighlighting(classHighlighter),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": describedBy, spellcheck: "false", tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        textarea.value = update.state.doc.toString();
        onChange(textarea.value);
      }),
    ],
  });
  textarea.hidden = true;
  textarea.after(view.dom);
  return {
    focus: () => view.focus(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    destroy: () => {
      view.destroy();
      textarea.hidden = false;
    },
  };
}
