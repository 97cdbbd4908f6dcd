// The turns of the view as a list: what each received, and what it did.
//
// INVARIANT: the list has what the timeline has, in the same order, oldest first.
// Read next: `moment.js`.

import { make, put } from "./dom.js";
import { actor, ends, loud, tone } from "./items.js";
import { clock, lasting, moment } from "./time.js";
import { steps } from "./timeline.js";

/** The pieces of a side that are shown. */
const PIECES = 6;

export class List {
  /** `hooks` has `pick(turn)` and `unfold()`. */
  constructor(hooks) {
    this.hooks = hooks;
    this.root = make("ol", { class: "turns", "aria-label": "Turns" });
    this.root.addEventListener("click", (event) => {
      const row = event.target.closest("[data-turn]");
      if (row) this.hooks.pick(Number(row.dataset.turn));
    });
  }

  show(items, look) {
    let last = null;
    const rows = [];
    for (const item of items) {
      const stamp = item.turns[0].stamp_ms;
      const gap = last && stamp ? stamp - last : 0;
      if (gap >= 10000 || gap < 0) rows.push(pause(gap));
      rows.push(item.turn ? row(item.turn, look) : this.fold(item));
      last = item.turns.at(-1).stamp_ms ?? last;
    }
    const newest = items.at(-1)?.turns.at(-1).turn ?? 0;
    this.root.style.setProperty("--digits", String(newest).length);
    put(
      this.root,
      rows.length > 0
        ? rows
        : make("li", { class: "empty" }, nothing(look)),
    );
    this.reveal();
  }

  fold(item) {
    const words = steps(item.turns);
    const sign = item.turns.length === 1 ? "·" : `·  ${item.turns.length} steps  ·`;
    const unfold = () => this.hooks.unfold();
    const has = { type: "button", class: "link", title: words, "aria-label": `${words}; show all steps` };
    return make("li", { class: "fold-row" }, make("button", { ...has, on: { click: unfold } }, sign));
  }

  /** Brings the turn at the cursor into sight. */
  reveal() {
    const here = this.root.querySelector("[aria-current]");
    if (!here) return;
    const [box, frame] = [here.getBoundingClientRect(), this.root.getBoundingClientRect()];
    if (box.top < frame.top + 8) this.root.scrollTop += box.top - frame.top - 40;
    else if (box.bottom > frame.bottom - 8) this.root.scrollTop += box.bottom - frame.bottom + 40;
  }
}

function nothing(look) {
  if (look.isRefused) return "The filter is not understood.";
  return look.found ? "No turn matches the filter." : "There are no turns here.";
}

function pause(gap) {
  const words = gap < 0 ? `the clock went back by ${lasting(-gap)}` : `${lasting(gap)} later`;
  return make("li", { class: "pause-row quiet" }, words);
}

function row(turn, look) {
  const isHere = turn.turn === look.cursor;
  const classes = ["turn", tone(turn)];
  if (look.lit.has(turn.turn)) classes.push("lit");
  return make(
    "li",
    {},
    make(
      "button",
      {
        type: "button",
        class: classes.join(" "),
        "data-turn": turn.turn,
        "aria-current": isHere ? "true" : null,
        title: moment(turn.stamp_ms),
      },
      make("span", { class: "number" }, String(turn.turn)),
      make(
        "span",
        { class: "who" },
        ends(actor(turn)).map((part) => make("span", {}, part)),
      ),
      make("span", { class: "words" }, words(turn)),
      make("span", { class: "when quiet" }, clock(turn.stamp_ms)),
    ),
  );
}

function words(turn) {
  if (turn.program !== undefined) return ["begins ", make("strong", {}, turn.program)];
  const heard = chips(loud(turn.heard));
  const did = chips(loud(turn.did));
  const quiet = turn.heard?.[0]?.text ?? turn.cause?.kind ?? "";
  const first = heard.length > 0 ? heard : [make("span", { class: "quiet" }, quiet)];
  return [
    ...turn.branches.map((branch) =>
      make("span", { class: "head-mark", title: "the newest turn of this branch" }, branch),
    ),
    make("span", { class: "side" }, first),
    did.length > 0 && make("span", { class: "side did" }, did),
  ];
}

function chips(pieces) {
  const shown = pieces
    .slice(0, PIECES)
    .map((piece) => make("span", { class: `piece ${piece.tone}` }, short(piece.text), took(piece)));
  if (pieces.length > PIECES) shown.push(make("span", { class: "quiet" }, `and ${pieces.length - PIECES} more`));
  return shown;
}

/** How long a request took, where a person would notice. */
const took = (piece) =>
  piece.duration_ms >= 100 && make("span", { class: "quiet" }, ` ${lasting(piece.duration_ms)}`);

const short = (text) => (text.length > 220 ? `${text.slice(0, 219)}…` : text);
