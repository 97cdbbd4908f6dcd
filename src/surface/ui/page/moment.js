// The moment at the cursor, in parts: the turn, facts, waits, conversations, output, files,
// variables, the record.
//
// INVARIANT: a part is asked for when it is shown; an answer that comes after the cursor has moved
// is dropped. Read next: `panels.js`.

import { changeButtons } from "./acts.js";
import { ask } from "./ask.js";
import { button, make, put } from "./dom.js";
import { actor } from "./items.js";
import { PANELS } from "./panels.js";
import { name } from "./place.js";
import { refusal } from "./refusal.js";
import { moment } from "./time.js";
import { causes, explanation, turnsOf } from "./why.js";

export class Moment {
  /** `hooks` has `pick`, `light(chain)`, `asked(turn)`, `changed(tab)` and `acted()`. */
  constructor(hooks, facts) {
    Object.assign(this, { hooks, facts });
    this.title = make("div", { class: "moment-title" });
    this.tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the moment" });
    this.body = make("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: "0" });
    this.root = make("div", {}, this.title, this.tabs, this.body);
    this.tabs.addEventListener("keydown", (event) => this.arrow(event));
    this.known = new Map();
  }

  show(place, turn, tab, at, delay = 0) {
    const address = name({ ...place, turn: at });
    if (address !== this.address) this.known.clear();
    Object.assign(this, { place, turn, at, address });
    this.tab = PANELS.some((panel) => panel.id === tab) ? tab : "turn";
    this.head();
    this.open(delay);
  }

  head() {
    const { turn } = this;
    put(
      this.title,
      make(
        "h2",
        {},
        `Turn ${this.at}`,
        turn && make("span", { class: "quiet" }, ` · ${actor(turn)} · ${moment(turn.stamp_ms)}`),
      ),
      make(
        "div",
        { class: "moment-acts" },
        button("Copy link", (event) => this.copy(event.target), { title: "the address of this moment" }),
        this.facts.acts && changeButtons(this),
      ),
    );
    put(
      this.tabs,
      PANELS.map((panel) =>
        make(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${panel.id}`,
            "aria-selected": String(panel.id === this.tab),
            "aria-controls": "panel",
            tabindex: panel.id === this.tab ? "0" : "-1",
            on: { click: () => this.choose(panel.id) },
          },
          panel.title,
        ),
      ),
    );
  }

  copy(target) {
    const address = `${location.origin}/${this.address}${location.search}`;
    navigator.clipboard?.writeText(address);
    target.textContent = "Copied";
    setTimeout(() => {
      target.textContent = "Copy link";
    }, 1500);
  }

  arrow(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    event.preventDefault();
    const at = PANELS.findIndex((panel) => panel.id === this.tab);
    this.choose(PANELS[(at + by + PANELS.length) % PANELS.length].id);
    document.getElementById(`tab-${this.tab}`)?.focus();
  }

  number(number) {
    if (PANELS[number - 1]) this.choose(PANELS[number - 1].id);
  }

  choose(tab) {
    this.tab = tab;
    this.hooks.changed(tab);
    this.head();
    this.open();
  }

  async open(delay = 0) {
    const panel = PANELS.find((panel) => panel.id === this.tab);
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.body.setAttribute("aria-labelledby", `tab-${this.tab}`);
    const early = panel.early?.(this);
    const show = () => put(this.body, early, make("p", { class: "quiet waiting" }, "Restoring the moment …"));
    const waiting = setTimeout(show, early ? 0 : 150);
    signal.addEventListener("abort", () => clearTimeout(waiting));
    try {
      if (delay > 0 && !this.known.has(panel.id)) await new Promise((resume) => setTimeout(resume, delay));
      if (signal.aborted) return;
      const known = this.known.get(panel.id) ?? (await panel.ask(this, signal));
      if (signal.aborted) return;
      clearTimeout(waiting);
      this.known.set(panel.id, known);
      put(this.body, panel.draw(known, this), notes(known));
    } catch (error) {
      clearTimeout(waiting);
      if (!signal.aborted) put(this.body, early, refusal(error));
    }
  }

  /** Shows where the values of a fact, a text, a call or a variable came from, and lights their
   * turns; without a question, those that led to the turn at the cursor. */
  async why(question) {
    const { address, tab } = this;
    const isHere = () => this.address === address && this.tab === tab;
    const pick = (turn) => this.hooks.pick(turn);
    this.tell(make("section", { class: "why" }, make("p", { class: "quiet waiting" }, "Following the values …")));
    try {
      if (question === undefined) {
        const chain = await this.back();
        if (!isHere()) return;
        this.hooks.light(chain);
        this.tell(causes(this.at, chain, { pick }));
        return;
      }
      const answer = await ask("why", { address, ...question });
      if (!isHere()) return;
      this.hooks.light(turnsOf(answer.report));
      this.tell(explanation(answer, { pick, all: () => this.why({ ...question, all: true }) }));
    } catch (error) {
      if (isHere()) this.tell(make("section", { class: "why" }, refusal(error)));
    }
  }

  /** The causes of the turn at the cursor, one after the other. */
  async back() {
    const chain = [];
    let at = this.at;
    while (at !== undefined && chain.length < 200) {
      chain.push(at);
      const { report } = await ask("log", {
        address: name({ ...this.place, turn: null }),
        before: [at + 1, 0],
        limit: 1,
      });
      const [turn] = report.turns;
      at = turn?.cause?.turn ?? this.hooks.asked(turn);
    }
    return chain;
  }

  /** Shows an explanation above the part. */
  tell(section) {
    this.body.querySelector(".why")?.remove();
    this.body.prepend(section);
    section.scrollIntoView({ block: "nearest" });
  }
}

/** What a person should know about an answer. */
function notes(known) {
  const cuts = known.cuts?.length ?? 0;
  const isNothing = Array.isArray(known.report) && known.report.length === 0;
  const words = isNothing ? [] : [...(known.messages ?? [])];
  if (cuts > 0)
    words.push(
      `${cuts >= 100 ? "100 or more" : cuts} long values are shortened here; the command line shows them whole.`,
    );
  return words.map((word) => make("p", { class: "note" }, word));
}
