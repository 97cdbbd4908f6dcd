// Two branches side by side: where they part, what they ask and are answered, and what each has alone.
//
// INVARIANT: what is shown is the report of `diff`. Read next: `run.js`.

import { ask } from "./ask.js";
import { make, put } from "./dom.js";
import { List } from "./list.js";
import { items } from "./items.js";
import { link, name } from "./place.js";
import { Turns } from "./turns.js";
import { counted } from "./time.js";
import { line } from "./value.js";

/** The turns of each side after the parting that are listed. */
const LISTED = 100;

export class Compare {
  constructor(main, place) {
    Object.assign(this, { main, place });
  }

  async begin(signal) {
    const { run, branch, beside } = this.place;
    const places = [
      { run, branch: branch ?? "main", turn: null },
      { run, branch: beside, turn: null },
    ];
    document.title = `${places[0].branch} and ${beside} – Duet`;
    const [left, right] = places.map(name);
    const { report } = await ask("diff", { left, right }, signal);
    const { report: forks } = await ask("tree", { address: left }, signal);
    const heads = new Map(forks.branches.map((row) => [row.branch, row.turn]));
    put(
      this.main,
      make("h1", { class: "compare-title" }, places[0].branch, make("span", { class: "quiet" }, " and "), beside),
      make("section", { class: "card-like" }, parting(report, run, places[0].branch), first(report, places)),
      texts(report),
      asked(report, places),
      make(
        "div",
        { class: "sides" },
        places.map((place, at) =>
          this.side(
            place,
            (at === 0 ? report.left : report.right) ?? {},
            at,
            heads.get(place.branch) ?? 0,
            report.shared ?? -1,
            signal,
          ),
        ),
      ),
    );
  }

  side(place, side, at, head, shared, signal) {
    const list = new List({ pick: (turn) => this.open(place, turn), unfold: () => this.open(place, head) });
    this.fill(list, place, head, shared, signal);
    const lines = (title, rows) =>
      rows?.length > 0 &&
      make(
        "section",
        {},
        make("h3", {}, title),
        make(
          "pre",
          { class: `text ${at === 0 ? "removed" : "added"}` },
          rows.join("\n"),
        ),
      );
    return make(
      "section",
      { class: `card-like side-card ${at === 0 ? "left" : "right"}` },
      make(
        "h2",
        {},
        make("span", { class: "fact-sign" }, at === 0 ? "−" : "+"),
        make("a", { href: link(place) }, place.branch),
        make("span", { class: "quiet" }, ` to turn ${head}`),
      ),
      lines("Only its output", side.output),
      lines("Only its facts", side.facts?.map((fact) => line(fact, 1200))),
      lines("Only its files", side.files),
      !side.output?.length &&
        !side.facts?.length &&
        !side.files?.length &&
        make("p", { class: "empty" }, "No fact, output or file is on this side alone."),
      make("h3", {}, "Its turns after the parting"),
      list.root,
    );
  }

  async fill(list, place, head, shared, signal) {
    const turns = new Turns(place, head);
    const to = Math.min(head, shared + LISTED);
    await turns.need(shared + 1, to);
    if (signal.aborted) return;
    list.show(items(turns.within(shared + 1, to), { all: false, cursor: null }), {
      lit: new Set(),
      found: null,
      cursor: null,
    });
  }

  open(place, turn) {
    history.pushState(null, "", link({ ...place, turn }));
    window.dispatchEvent(new PopStateEvent("popstate"));
  }
}

function parting(report, run, branch) {
  if (report.shared === null) return make("p", {}, "They share no turn.");
  const to = make("a", { href: link({ run, branch, turn: report.shared }) }, `turn ${report.shared}`);
  const alike =
    report.alike !== null && report.alike !== report.shared ? ` Up to turn ${report.alike} both did the same.` : "";
  return make("p", {}, "They share everything up to ", to, ".", alike);
}

function first(report, places) {
  if (!report.first) return make("p", { class: "quiet" }, "No turn differs.");
  const value = (side, at) =>
    make(
      "div",
      {},
      make("h3", {}, places[at].branch),
      make(
        "pre",
        { class: `text ${at === 0 ? "removed" : "added"}` },
        side === null ? "nothing" : line(side, 4000),
      ),
    );
  return make(
    "div",
    {},
    make("p", {}, `The first difference is in the ${report.first.part} of turn ${report.first.turn}:`),
    make("div", { class: "sides" }, value(report.first.left, 0), value(report.first.right, 1)),
  );
}

/** What both sides ask of the world, aligned by what is asked. */
function asked(report, places) {
  const { asked } = report;
  if (!asked) return null;
  const groups = [
    ["Answered otherwise", asked.answered_otherwise, true],
    ["Asked with other arguments", asked.changed, false],
    ["Asked in another order", asked.moved, false],
  ].filter(([, pairs]) => pairs.length > 0);
  const alone = [asked.left, asked.right].flatMap((side, at) => side.map((one) => ({ one, at })));
  return make(
    "section",
    { class: "card-like" },
    make("h2", {}, "What they ask"),
    make("p", { class: "quiet" }, `${counted(asked.same, "request has", "requests have")} the same answer on both sides.`),
    groups.map(([title, pairs, isAnswer]) => [
      make("h3", {}, title),
      pairs.slice(0, LISTED).map((pair) => both(pair, places, isAnswer)),
    ]),
    alone.length > 0 && make("h3", {}, "Asked on one side alone"),
    make(
      "ul",
      { class: "pieces" },
      alone.slice(0, LISTED).map(({ one, at }) => make("li", {}, at === 0 ? "− " : "+ ", request(one, places[at]))),
    ),
  );
}

/** A request that both sides make, with what differs. */
function both(pair, places, isAnswer) {
  const shown = (one) => line(isAnswer ? (one.ok ?? one.error ?? null) : one.arguments, 1200);
  return make(
    "div",
    { class: "pair" },
    make("p", {}, request(pair.left, places[0])),
    make(
      "div",
      { class: "sides" },
      make("pre", { class: "text removed" }, shown(pair.left)),
      make("pre", { class: "text added" }, shown(pair.right)),
    ),
  );
}

function request(one, place) {
  return [
    make("strong", {}, one.what),
    " ",
    make("code", {}, line(one.arguments, 160)),
    " ",
    make("a", { href: link({ ...place, turn: one.turn }) }, `turn ${one.turn}`),
  ];
}

/** The texts of the programs that differ. */
function texts(report) {
  if (!report.texts?.length) return null;
  const kind = { "+": "added", "-": "removed" };
  const row = (text) => make("span", { class: kind[text[0]] ?? "same" }, `${text}\n`);
  return make(
    "section",
    { class: "card-like" },
    make("h2", {}, "Their programs"),
    report.texts.map((apart) => [
      make("h3", {}, apart.left ?? apart.right),
      make("pre", { class: "diff" }, apart.lines.map(row)),
    ]),
  );
}
