// One branch of a run: its timeline, its turns, and the moment at the cursor.
//
// INVARIANT: the address of the page is that of the cursor. What is drawn follows from the fields
// of `Run`; `draw` is the only place that draws them.
// Read next: `timeline.js`, `moment.js`.

import { resumeButtons } from "./acts.js";
import { ask, follow } from "./ask.js";
import { button, make, put, say } from "./dom.js";
import { isStep, items, tone } from "./items.js";
import { List } from "./list.js";
import { Moment } from "./moment.js";
import { Overview, branches } from "./overview.js";
import { link, name } from "./place.js";
import { pill } from "./runs.js";
import { counted } from "./time.js";
import { Timeline } from "./timeline.js";
import { Turns, filtered } from "./turns.js";

const SPAN = 160;
const SPAN_MAX = 1024;

/** The time in which nothing new comes from a run that rests, in milliseconds. */
const SETTLED = 400;

export class Run {
  constructor(main, place, facts) {
    Object.assign(this, { main, place, facts });
    this.filter = place.filter;
    this.axis = "turns";
    this.all = false;
    this.lit = new Set();
    this.found = null;
    this.refused = null;
    this.failed = [];
    const pick = (turn) => this.pick(turn);
    this.timeline = new Timeline({
      pick,
      zoom: (factor, at) => this.zoom(factor, at),
      pan: (share) => this.pan(share),
    });
    this.overview = new Overview({ look: (turn) => this.center(turn) });
    this.list = new List({ pick, unfold: () => this.toggle("all") });
    this.moment = new Moment(
      {
        pick,
        light: (chain) => this.light(chain),
        changed: (tab) => this.tabbed(tab),
        acted: () => this.refresh(),
        asked: (turn) => this.turns.asked(turn),
      },
      facts,
    );
  }

  async begin(signal) {
    this.signal = signal;
    if (this.place.turn !== null) await this.resolve();
    const first = await ask("tree", { address: name({ ...this.place, turn: null }) }, signal);
    this.tree = first.report;
    const own =
      this.tree.branches.find((row) => row.branch === (this.place.branch ?? "main")) ?? this.tree.branches[0];
    this.place.branch ??= own.branch;
    this.head = own.turn;
    this.turns = new Turns(this.place, this.head);
    this.cursor = Math.min(this.place.turn ?? this.head, this.head);
    this.isFollowing = this.place.turn === null;
    if (!this.isFollowing) this.write();
    this.span = SPAN;
    this.view = around(this.cursor, this.span, this.head);
    this.lay();
    await this.load();
    this.moment.show(this.place, this.turns.get(this.cursor), this.place.tab, this.cursor);
    this.stand();
    follow(
      this.place.run,
      (news) => this.hear(news),
      (error) => this.lose(error),
      signal,
    );
    const resize = new ResizeObserver(() => this.soon());
    resize.observe(this.timeline.root);
    signal.addEventListener("abort", () => resize.disconnect());
    this.filterBox();
  }

  /** Finds the turn that the address names: by its number, by one that counts from the end, or by a mark. */
  async resolve() {
    const { report } = await ask("log", { address: name(this.place), limit: 1 }, this.signal);
    this.place.branch = report.branch.includes("/") ? report.branch.slice(report.branch.indexOf("/") + 1) : "main";
    this.place.turn = report.turns[0].turn;
  }

  /** Puts the parts of the view in their places. */
  lay() {
    this.banner = make("div", { id: "banner" });
    this.forks = make("div", {});
    this.bar = make("div", { class: "bar-of-buttons", role: "toolbar", "aria-label": "Timeline" });
    put(
      this.main,
      this.banner,
      make(
        "section",
        { class: "card-like", "aria-label": "Timeline" },
        this.forks,
        this.bar,
        this.timeline.root,
        this.overview.root,
      ),
      make(
        "div",
        { class: "columns" },
        make("section", { class: "card-like list-card", "aria-label": "Turns" }, this.list.root),
        make("section", { class: "card-like moment-card", "aria-label": "The moment" }, this.moment.root),
      ),
    );
  }

  filterBox() {
    const box = document.getElementById("filter");
    if (!box) return;
    let timer = 0;
    box.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.search(box.value), 250);
    });
    // Whoever was quick has typed already.
    if (box.value) this.search(box.value);
  }

  /** Lists the turns that a filter leaves, of the whole branch. */
  async search(filter) {
    this.filter = filter.trim();
    this.searching?.abort();
    this.searching = new AbortController();
    this.write();
    this.refuse(null);
    if (!this.filter) {
      this.found = null;
      this.soon();
      return;
    }
    try {
      const { turns, isMore } = await filtered(this.place, this.filter, this.searching.signal);
      this.found = new Map(turns.map((turn) => [turn.turn, turn]));
      this.isMore = isMore;
      say(counted(turns.length, "turn matches", "turns match"));
      this.soon();
    } catch (error) {
      if (error.name !== "AbortError") this.refuse(error);
    }
  }

  /** Says beside the filter why it leaves no turns; nothing takes that back. */
  refuse(error) {
    if (error) [this.found, this.isMore] = [new Map(), false];
    else if (this.refused) this.found = null;
    this.refused = error;
    const box = document.getElementById("filter");
    box?.setAttribute("aria-invalid", String(error !== null));
    const place = document.getElementById("filter-said");
    if (place) put(place, error?.message);
    this.soon();
  }

  /** Asks how the branch stands, and for the cause if it failed. */
  async stand() {
    try {
      const { report } = await ask("runs", { only: name({ ...this.place, turn: null }) }, this.signal);
      [this.standing] = report;
      this.soon();
      await this.findFailure();
      this.soon();
    } catch (error) {
      if (error.name !== "AbortError") this.trouble(error);
    }
  }

  /** Finds the failure that came first in a run that failed, once for each newest turn. */
  async findFailure() {
    if (this.standing?.status !== "failed") [this.explained, this.failed] = [null, []];
    else if (this.searched !== this.head) {
      this.searched = this.head;
      const { report } = await ask("explain", { address: name({ ...this.place, turn: null }) }, this.signal);
      this.explained = report.failure;
      this.failedCall = report.failed_call;
      this.failed = [report.failure, ...report.others].filter(Boolean).map((failure) => failure.turn);
    }
  }

  hear(news) {
    this.problem = null;
    this.isRunning = news.running;
    const own = news.branches.find((row) => row.branch === this.place.branch);
    if (!own) {
      this.lose(new Error(`The branch ${this.place.branch} is no longer there.`));
      return;
    }
    const isNew = news.branches.length !== this.tree.branches.length || own.turn < this.head;
    const isMoved = own.turn !== this.head;
    if (isMoved) {
      this.turns.moved(own.turn);
      this.head = own.turn;
      if (this.isFollowing || this.cursor > this.head) this.jump(this.head, this.place.tab, SETTLED);
      else this.load();
    }
    const row = this.tree.branches.find((row) => row.branch === this.place.branch);
    if (row) row.turn = own.turn;
    if (isNew) this.fork();
    clearTimeout(this.settling);
    // A run that goes on changes faster than anybody reads how it stands.
    this.settling = setTimeout(() => this.stand(), SETTLED);
    this.soon();
  }

  lose(error) {
    this.isRunning = false;
    this.trouble(error);
  }

  trouble(error) {
    this.problem = error;
    this.soon();
  }

  async fork() {
    const { report } = await ask("tree", { address: name({ ...this.place, turn: null }) }, this.signal);
    this.tree = report;
    this.soon();
  }

  /** Asks anew for what an act may have changed. */
  refresh() {
    this.fork().catch(() => {});
    this.stand();
  }

  async load() {
    try {
      await this.turns.need(this.view.from, this.view.to);
    } catch (error) {
      if (error.name !== "AbortError") this.trouble(error);
    }
    this.soon();
  }

  soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (this.signal.aborted || !this.view) return;
    const look = {
      axis: this.axis,
      cursor: this.cursor,
      lit: this.lit,
      found: this.found,
      isRefused: this.refused !== null,
    };
    const shown = items(this.turns.within(this.view.from, this.view.to), { all: this.all, cursor: this.cursor });
    this.timeline.show(shown, look);
    const listed = this.found ? [...this.found.values()].map((turn) => ({ turn, turns: [turn] })) : shown;
    this.list.show(listed, look);
    this.overview.show(this.view, this.head, this.cursor, this.failed);
    put(this.forks, branches(this.tree, this.place, this.cursor));
    put(this.bar, this.buttons());
    this.drawHead();
  }

  buttons() {
    const toggle = (words, isOn, act, title) => button(words, act, { "aria-pressed": String(isOn), title });
    return [
      toggle("by turn", this.axis === "turns", () => this.toggle("axis"), "one step for each turn (t)"),
      toggle("by time", this.axis === "time", () => this.toggle("axis"), "idle time is folded (t)"),
      toggle("all steps", this.all, () => this.toggle("all"), "show turns without an effect (a)"),
      make("span", { class: "grow" }),
      this.found &&
        !this.refused &&
        make("span", { class: "quiet" }, this.isMore ? `${this.found.size} or more turns match` : counted(this.found.size, "turn matches", "turns match")),
      this.lit.size > 0 && button("clear the chain", () => this.light([]), { title: "Esc" }),
      this.standing && !this.isInTrouble(this.standing) && resumeButtons(this, this.standing),
      button("−", () => this.zoom(1.5, this.cursor), { "aria-label": "Zoom out" }),
      button("+", () => this.zoom(0.67, this.cursor), { "aria-label": "Zoom in" }),
      button("newest", () => this.newest(), {
        "aria-pressed": String(this.isFollowing),
        title: "stay at the newest turn (End)",
      }),
    ];
  }

  drawHead() {
    const standing = this.standing;
    document.title = `${name({ ...this.place, turn: this.cursor })} – Duet`;
    const branch = document.getElementById("branch");
    if (branch)
      put(
        branch,
        make("span", { class: "quiet" }, "/ "),
        make("span", { class: "here-branch" }, `${this.place.branch}@${this.cursor}`),
      );
    const place = document.getElementById("standing");
    const live = this.isRunning && make("span", { class: "live" }, "live");
    if (place)
      put(place, standing && pill(this.isRunning ? { ...standing, status: "running" } : standing), " ", live);
    if (this.problem)
      put(
        this.banner,
        make(
          "div",
          { class: "banner failed", role: "alert" },
          make("pre", { class: "banner-words" }, this.problem.message),
        ),
      );
    else if (standing) put(this.banner, this.cause(standing));
  }

  isInTrouble(standing) {
    return standing.questions > 0 || standing.status === "failed" || standing.status === "broken";
  }

  /** What stands in the way of the run, before everything else. */
  cause(standing) {
    const acts = resumeButtons(this, standing);
    if (standing.status === "failed" || standing.status === "broken") {
      return make(
        "div",
        { class: "banner failed" },
        make("strong", {}, standing.status === "failed" ? `Failed with code ${standing.code}` : "Cannot be restored"),
        make("span", { class: "banner-words" }, this.explained ? firstFailure(this.explained) : standing.words),
        this.explained && this.failureButtons(this.explained),
        this.explained && this.failedCall && this.callBefore(this.failedCall),
        acts,
      );
    }
    if (standing.questions > 0) {
      return make(
        "div",
        { class: "banner asking" },
        make("strong", {}, standing.questions === 1 ? "Asks a person" : `Asks ${standing.questions} questions. The first:`),
        make("span", { class: "banner-words" }, standing.words),
        button("Show the question", () => this.pick(this.head, "waits"), { class: "primary" }),
        acts,
      );
    }
    return null;
  }

  failureButtons(failure) {
    const { turn, led, answered, variables } = failure;
    const chain = [turn, ...led.map((step) => step.turn)];
    return [
      button(`Go to turn ${turn}`, () => this.pick(turn), { class: "primary" }),
      typeof variables === "number" && button("Variables there", () => this.pick(variables, "variables")),
      led.length > 0 && button("What led to it", () => this.light(chain), { title: "light the turns of the chain" }),
      typeof answered === "number" && button(`The answer before, turn ${answered}`, () => this.pick(answered)),
    ];
  }

  /** The call that failed before, whose result the program judged itself. */
  callBefore({ turn, name, words, count }) {
    const more = count > 1 ? `, the first of ${count} calls that failed` : "";
    return [
      make("span", { class: "banner-words" }, `Before, ${name}: ${words}${more}`),
      button(`Go to the call's end, turn ${turn}`, () => this.pick(turn)),
    ];
  }

  pick(turn, tab) {
    this.isFollowing = turn === this.head && this.isFollowing;
    this.jump(turn, tab);
  }

  /** Goes to a turn; the moment is asked for after a while, if the cursor is still there. */
  jump(turn, tab = this.place.tab, delay = 80) {
    this.cursor = Math.min(Math.max(0, turn), this.head);
    if (this.cursor < this.view.from || this.cursor > this.view.to) {
      this.view = around(this.cursor, this.span, this.head);
    }
    this.place.tab = tab;
    this.write();
    const cursor = this.cursor;
    this.load().then(() => {
      if (cursor === this.cursor) this.moment.show(this.place, this.turns.get(cursor), tab, cursor, delay);
    });
    this.soon();
  }

  newest() {
    this.isFollowing = true;
    this.jump(this.head);
  }

  tabbed(tab) {
    this.place.tab = tab;
    this.write();
  }

  /** The address of the page becomes that of the cursor. */
  write() {
    const turn = this.isFollowing ? null : this.cursor;
    history.replaceState(null, "", link({ ...this.place, turn, filter: this.filter }));
  }

  light(chain) {
    this.lit = new Set(chain);
    if (chain.length > 0) {
      const [from, to] = [Math.min(...chain), Math.max(...chain)];
      if (from < this.view.from && to - from < SPAN_MAX) {
        this.view = { from: Math.max(0, from - 2), to: Math.min(this.head, Math.max(to + 2, this.view.to)) };
        if (this.view.to - this.view.from >= SPAN_MAX) this.view.to = this.view.from + SPAN_MAX - 1;
        this.load();
      }
    }
    this.soon();
  }

  zoom(factor, at) {
    const middle = at ?? this.cursor;
    const span = this.view.to - this.view.from + 1;
    const wide = Math.min(SPAN_MAX, this.head + 1, Math.max(8, Math.round(span * factor)));
    this.span = wide;
    const share = (middle - this.view.from) / Math.max(1, span);
    this.lookAt(Math.round(middle - share * wide), wide);
  }

  pan(share) {
    const span = this.view.to - this.view.from + 1;
    const by = Math.sign(share) * Math.max(1, Math.round(Math.abs(share) * span));
    this.lookAt(this.view.from + by, span);
  }

  center(turn) {
    const span = this.view.to - this.view.from + 1;
    this.lookAt(turn - Math.floor(span / 2), span);
  }

  lookAt(from, span) {
    const first = Math.max(0, Math.min(from, this.head + 1 - span));
    this.view = { from: first, to: Math.min(this.head, first + span - 1) };
    this.soon();
    clearTimeout(this.loading);
    this.loading = setTimeout(() => this.load(), 60);
  }

  toggle(what) {
    if (what === "axis") this.axis = this.axis === "turns" ? "time" : "turns";
    else this.all = !this.all;
    this.soon();
  }

  /** Goes to the next turn in a direction that is not folded away. */
  step(by) {
    let at = this.cursor + by;
    while (at > 0 && at < this.head && !this.all && this.turns.get(at) && isStep(this.turns.get(at))) at += by;
    this.pick(Math.min(Math.max(0, at), this.head));
  }

  /** Goes to the next failure in a direction. */
  failure(by) {
    const known = this.turns
      .within(this.view.from, this.view.to)
      .filter((turn) => tone(turn) === "failed")
      .map((turn) => turn.turn);
    const all = [...new Set([...known, ...this.failed])].sort((one, two) => by * (one - two));
    const next = all.find((turn) => by * (turn - this.cursor) > 0);
    if (next === undefined) say("There is no further failure in sight.");
    else this.pick(next);
  }

  key(key) {
    const keys = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.pick(0),
      End: () => this.newest(),
      "+": () => this.zoom(0.67, this.cursor),
      "=": () => this.zoom(0.67, this.cursor),
      "-": () => this.zoom(1.5, this.cursor),
      f: () => this.failure(1),
      F: () => this.failure(-1),
      t: () => this.toggle("axis"),
      a: () => this.toggle("all"),
      w: () => this.moment.why(),
      "/": () => document.getElementById("filter")?.focus(),
      Escape: () => this.light([]),
    };
    const act = keys[key] ?? (/^[1-8]$/.test(key) ? () => this.moment.number(Number(key)) : null);
    act?.();
    return Boolean(act);
  }
}

/** The failure that came first, in words. */
function firstFailure(failure) {
  const place = failure.place ? ` (${failure.place})` : "";
  return `${failure.name}: ${failure.condition}: ${failure.message}${place}`;
}

/** A range of turns around one, of at most a span. */
function around(turn, span, head) {
  const wide = Math.min(span, head + 1);
  const from = Math.max(0, Math.min(turn - Math.floor(wide * 0.7), head + 1 - wide));
  return { from, to: from + wide - 1 };
}
