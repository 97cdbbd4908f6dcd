// The whole run in one line, with the part that the timeline shows; and its branches.
//
// INVARIANT: it asks for no turns, whatever the length of the run. Read next: `timeline.js`.

import { draw, make, put } from "./dom.js";
import { link } from "./place.js";
import { count } from "./time.js";

const ROW = 18;

/** The branches that are drawn at first. */
const ROWS = 6;

export class Overview {
  /** `hooks` has `look(turn)`, which shows the turns around one. */
  constructor(hooks) {
    this.hooks = hooks;
    this.thumb = make("div", { class: "thumb" });
    this.marks = make("div", { class: "marks" });
    this.bar = make(
      "div",
      { class: "range", role: "slider", tabindex: "0", "aria-label": "The part of the run that is shown" },
      this.marks,
      this.thumb,
    );
    this.ends = make("div", { class: "range-ends quiet" });
    this.root = make("div", { class: "overview" }, this.bar, this.ends);
    this.bar.addEventListener("pointerdown", (event) => this.grab(event));
    this.bar.addEventListener("keydown", (event) => this.key(event));
  }

  show(view, head, cursor, failed) {
    this.head = head;
    this.view = view;
    const share = (turn) => `${(100 * turn) / Math.max(1, head)}%`;
    const width = Math.min(100, Math.max(0.6, (100 * (view.to - view.from)) / Math.max(1, head)));
    // At the end of a long run, the least width would lie beyond the line.
    const left = Math.min((100 * Math.min(view.from, head)) / Math.max(1, head), 100 - width);
    Object.assign(this.thumb.style, { left: `${Math.max(0, left)}%`, width: `${width}%` });
    put(
      this.marks,
      make("span", { class: "mark cursor-mark", style: { left: share(cursor) } }),
      failed.map((turn) =>
        make("span", { class: "mark failed-mark", style: { left: share(turn) }, title: `turn ${turn} failed` }),
      ),
    );
    const [from, to] = [Math.max(0, view.from), Math.min(head, view.to)];
    const set = {
      "aria-valuemin": 0,
      "aria-valuemax": head,
      "aria-valuenow": from,
      "aria-valuetext": `turns ${from} to ${to} of ${head}`,
    };
    for (const [name, value] of Object.entries(set)) this.bar.setAttribute(name, value);
    put(this.ends, make("span", {}, `turns ${count(from)} – ${count(to)}`), make("span", {}, `of ${count(head)}`));
  }

  grab(event) {
    this.bar.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const box = this.bar.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (moved.clientX - box.left) / box.width));
      this.hooks.look(Math.round(share * this.head));
    };
    move(event);
    this.bar.onpointermove = move;
    this.bar.onpointerup = () => {
      this.bar.onpointermove = null;
    };
  }

  key(event) {
    const span = this.view.to - this.view.from;
    const middle = (this.view.from + this.view.to) / 2;
    const steps = { ArrowLeft: -span / 4, ArrowRight: span / 4, PageUp: -span, PageDown: span };
    if (!(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    this.hooks.look(Math.round(middle + steps[event.key]));
  }
}

/** Draws the branches of a run; each is a link. `place` is the one that is shown. */
export function branches(tree, place, cursor) {
  const rows = tree.branches;
  if (rows.length < 2) return null;
  const most = Math.max(1, ...rows.map((row) => row.turn));
  const root = make("div", { class: "branches" });
  const show = (number) => {
    const shown = rows.slice(0, number);
    const here = rows.find((row) => row.branch === place.branch);
    if (here && !shown.includes(here)) shown.push(here);
    put(
      root,
      make("h2", { class: "small-title" }, `${count(rows.length)} branches`),
      make(
        "ul",
        {},
        shown.map((row) => branchRow(row, rows, most, place, cursor)),
      ),
      shown.length < rows.length &&
        make(
          "button",
          { type: "button", class: "link", on: { click: () => show(rows.length) } },
          `show all ${rows.length}`,
        ),
    );
  };
  show(ROWS);
  return root;
}

function branchRow(row, rows, most, place, cursor) {
  const isHere = row.branch === place.branch;
  const begin = row.from ? row.from.turn : 0;
  const share = (turn) => `${(100 * turn) / most}%`;
  const width = `${Math.max(0.8, (100 * (row.turn - begin)) / most)}%`;
  // What was there first stands on the left.
  const [left, right] =
    rows.findIndex((other) => other.branch === place.branch) < rows.indexOf(row)
      ? [place.branch, row.branch]
      : [row.branch, place.branch];
  const words = row.from ? `from ${row.from.branch}@${row.from.turn}, to turn ${row.turn}` : `to turn ${row.turn}`;
  return make(
    "li",
    { class: isHere ? "here" : null },
    make(
      "a",
      {
        href: link({ run: place.run, branch: row.branch, turn: null }),
        "aria-current": isHere ? "page" : null,
        title: words,
      },
      row.branch,
    ),
    make(
      "span",
      { class: "track", "aria-hidden": "true" },
      make("span", { class: "shared", style: { left: "0", width: share(begin) } }),
      make("span", { class: "own", style: { left: share(begin), width } }),
      isHere && make("span", { class: "at", style: { left: share(cursor) } }),
    ),
    make("span", { class: "quiet branch-words" }, words),
    !isHere &&
      make(
        "a",
        { class: "compare-link", href: link({ run: place.run, branch: left, turn: null, beside: right }) },
        "compare",
      ),
  );
}
