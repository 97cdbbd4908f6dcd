// The keys, and the help that lists them.

import { make } from "./dom.js";

/** The conditions of a filter. */
export const FILTERS =
  'text, tool:NAME, actor:NAME, kind:NAME, label:NAME, pattern:PATTERN, since:TURN, until:TURN, is:failed and is:refused; a value with blanks stands in quotes, as in actor:"worker 3"';

const KEYS = [
  ["← →", "the turn before, the next turn"],
  ["Home End", "the first turn, the newest turn"],
  ["+ −", "zoom in, zoom out; so does the wheel"],
  ["f  Shift-f", "the next failure, the one before"],
  ["t", "the axis: turns or time"],
  ["a", "show all steps, or fold those without an effect"],
  ["1 … 8", "the parts of the moment"],
  ["w", "why: the turns that led here"],
  ["/", "filter the turns"],
  ["Esc", "leave the filter, a chain, a window"],
  ["?", "this list"],
];

const MARKS = [
  ["failed", "×", "a turn that failed and was undone, or learned of a failure"],
  ["person", "?", "a question to a person, an answer, an approval"],
  ["model", "◇", "a language model is asked or answers"],
  ["tool", "", "a tool is called or has returned; the thin bar lasts as long as the call"],
  ["output", "", "the program writes"],
  ["plain", "", "facts, messages and the rest"],
];

/** Shows the keys and the marks. */
export function help() {
  const window = make(
    "dialog",
    { class: "window", "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Keys and marks"),
    make(
      "dl",
      { class: "keys" },
      KEYS.map(([key, words]) => [
        make(
          "dt",
          {},
          key.split("  ").map((part) => make("kbd", {}, part)),
        ),
        make("dd", {}, words),
      ]),
    ),
    make(
      "ul",
      { class: "legend" },
      MARKS.map(([tone, sign, words]) =>
        make("li", {}, make("span", { class: `swatch ${tone}`, "aria-hidden": "true" }, sign), words),
      ),
    ),
    make(
      "p",
      { class: "quiet" },
      `Each view has an address of its own, RUN/BRANCH@TURN. The filter takes ${FILTERS}.`,
    ),
    make("form", { method: "dialog" }, make("button", { class: "primary" }, "Close")),
  );
  open(window);
}

/** Opens a window above the page; it goes when it is closed. */
export function open(window) {
  document.body.append(window);
  window.addEventListener("close", () => window.remove());
  window.addEventListener("click", (event) => {
    if (event.target === window) window.close();
  });
  window.showModal();
}
