// The timeline: a lane for each actor, turns and calls as bars.
//
// INVARIANT: it draws what it is given and asks for nothing; it is a picture of the list beside it,
// so the list is what a screen reader reads.
// Read next: `items.js`, `list.js`.

import { draw, make, put } from "./dom.js";
import { actor, ends, isTimer, sentence, tone } from "./items.js";
import { counted, lasting, moment } from "./time.js";

const LANE = 28;
const TOP = 22;

/** The height of the track of a call, and how many tracks a lane has at most. */
const CALL = 6;
const CALLS = 32;

/** The lanes that are drawn; a run may have thousands of actors. */
const LANES = 60;

/** Pauses from this length on are marked, in milliseconds. */
const PAUSE = 10000;

export class Timeline {
  /** `hooks` has `pick(turn)`, `zoom(factor, at)` and `pan(share)`. */
  constructor(hooks) {
    this.hooks = hooks;
    this.root = make("div", { class: "timeline", "aria-hidden": "true" });
    this.root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.root.addEventListener("click", (event) => this.click(event));
  }

  /** Draws items; `look` has `axis`, `cursor`, `lit` (turns of a chain) and `found` (of a filter). */
  show(items, look) {
    this.places = places(items, look.axis);
    const width = Math.max(280, this.root.clientWidth || 900);
    this.gutter = width < 560 ? 76 : 148;
    this.step = (width - this.gutter - 16) / Math.max(1, this.places.length);
    this.width = width - this.gutter - 16;
    const lanes = laneNames(items);
    const shown = lanes.slice(0, LANES);
    const here = items.find((item) => item.turn?.turn === look.cursor);
    if (here && !shown.includes(actor(here.turn))) shown.push(actor(here.turn));
    const calls = this.findCalls();
    const rows = new Map();
    let height = TOP;
    for (const name of shown) {
      rows.set(name, height + LANE / 2);
      height += LANE + CALL * Math.max(0, Math.min(CALLS, calls.tracks.get(name) ?? 0) - 1);
    }
    height += 6;
    const drawing = draw(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}` },
      shown.map((name) => this.lane(name, rows.get(name), width)),
      this.pauses(height),
      this.links(rows, look),
      calls.found.map((call) => this.call(call, rows)),
      this.places.map((place) => this.bar(place, rows, look)),
      this.cursor(look, height),
    );
    const more = lanes.length - shown.length;
    const crowd = calls.found.filter((call) => rows.has(call.name) && call.track >= CALLS).length;
    put(
      this.root,
      drawing,
      crowd > 0 &&
        make("p", { class: "quiet lanes-more" }, `${counted(crowd, "more call")} at the same time ${crowd === 1 ? "has" : "have"} no bar here; zoom in.`),
      more > 0 &&
        make("p", { class: "quiet lanes-more" }, `${counted(more, "more actor or strand takes", "more actors or strands take")} turns here; filter by actor:NAME.`),
    );
  }

  x(share) {
    return this.gutter + 8 + share * this.width;
  }

  lane(name, y, width) {
    const short = fitted(name, Math.floor((this.gutter - 8) / 7.2));
    return draw(
      "g",
      { class: "lane" },
      draw("line", { x1: this.gutter, x2: width, y1: y, y2: y }),
      draw("text", { x: 8, y: y + 4, class: "lane-name" }, short),
    );
  }

  bar(place, rows, look) {
    const { item } = place;
    if (!item.turn) return this.fold(place, rows);
    const { turn } = item;
    const y = rows.get(actor(turn));
    if (y === undefined) return null;
    const wide = Math.min(14, Math.max(3, this.step * 0.62));
    const kind = tone(turn);
    const classes = ["bar", kind];
    if (look.lit.size > 0) classes.push(look.lit.has(turn.turn) ? "lit" : "dim");
    if (look.found) classes.push(look.found.has(turn.turn) ? "found" : "dim");
    const x = this.x(place.share) - wide / 2;
    return draw(
      "g",
      { class: classes.join(" ") },
      draw("rect", { x, y: y - 8, width: wide, height: 16, rx: Math.min(3, wide / 2) }),
      wide >= 8 && SIGNS[kind] && draw("text", { x: x + wide / 2, y: y + 4, class: "sign" }, SIGNS[kind]),
      draw("title", {}, `turn ${turn.turn} of ${actor(turn)}, ${moment(turn.stamp_ms)}\n${sentence(turn)}`),
    );
  }

  fold(place, rows) {
    const names = new Set(place.item.turns.map(actor));
    return [...names]
      .filter((name) => rows.has(name))
      .map((name) =>
        draw(
          "g",
          { class: "fold" },
          draw("circle", {
            cx: this.x(place.share),
            cy: rows.get(name),
            r: Math.min(2.5, Math.max(1.2, this.step / 4)),
          }),
          draw("title", {}, steps(place.item.turns)),
        ),
      );
  }

  /** Calls: from the turn that asks to the one that hears the answer; those at the same time have
   * tracks of their own. */
  findCalls() {
    const [open, found] = [new Map(), []];
    for (const place of this.places.filter((place) => place.item.turn)) {
      const { turn } = place.item;
      const end = this.x(place.share);
      for (const piece of (turn.heard ?? []).filter((piece) => piece.request !== undefined)) {
        const call = open.get(piece.request) ?? { name: actor(turn), begin: this.gutter };
        open.delete(piece.request);
        const length = piece.duration_ms === undefined ? "" : `, ${lasting(piece.duration_ms)}`;
        // A strand often begins in a turn of another one, which makes its first call.
        found.push({ ...call, name: actor(turn), end, tone: isTimer(piece) ? "timer" : piece.tone, words: `${piece.text}${length}` });
      }
      for (const piece of (turn.did ?? []).filter((piece) => piece.request !== undefined)) {
        open.set(piece.request, { name: actor(turn), begin: end, piece });
      }
    }
    const edge = this.gutter + 16 + this.width;
    for (const call of open.values())
      found.push({
        ...call,
        end: edge,
        tone: `${isTimer(call.piece) ? "timer" : call.piece.tone} open`,
        words: `${call.piece.text}, no answer yet`,
      });
    return { found, tracks: giveTracks(found) };
  }

  call(call, rows) {
    const y = rows.get(call.name);
    if (y === undefined || call.track >= CALLS) return null;
    return draw(
      "rect",
      {
        class: `call ${call.tone}`,
        x: call.begin,
        y: y + 9 + call.track * CALL,
        width: Math.max(2, call.end - call.begin),
        height: 4,
        rx: 2,
      },
      draw("title", {}, call.words),
    );
  }

  /** The line from the turn at the cursor back to its cause, or along a chain. */
  links(rows, look) {
    const at = new Map(this.places.flatMap((place) => place.item.turns.map((turn) => [turn.turn, { place, turn }])));
    const join = (from, to, classes) => {
      const [one, two] = [at.get(from), at.get(to)];
      if (!one || !two) return null;
      const [y1, y2] = [rows.get(actor(one.turn)), rows.get(actor(two.turn))];
      if (y1 === undefined || y2 === undefined) return null;
      const [x1, x2] = [this.x(one.place.share), this.x(two.place.share)];
      const middle = (x1 + x2) / 2;
      return draw("path", {
        class: classes,
        d: `M${x1} ${y1} C${middle} ${y1 - 14} ${middle} ${y2 - 14} ${x2} ${y2}`,
      });
    };
    if (look.lit.size > 0) {
      const chain = [...look.lit].sort((one, two) => one - two);
      return chain.slice(1).map((turn, index) => join(chain[index], turn, "link chain"));
    }
    const cause = at.get(look.cursor)?.turn.cause?.turn;
    return cause === undefined ? null : join(cause, look.cursor, "link");
  }

  pauses(height) {
    return this.places
      .filter((place) => place.pause >= PAUSE || place.isBack)
      .map((place) => {
        const x = this.x(place.share) - this.step * 0.5;
        const words = place.isBack ? "the clock went back" : lasting(place.pause);
        return draw(
          "g",
          { class: "pause" },
          draw("line", { x1: x, x2: x, y1: 14, y2: height }),
          draw("text", { x, y: 11 }, place.isBack ? "↶" : words),
          draw("title", {}, place.isBack ? words : `nothing for ${words}`),
        );
      });
  }

  cursor(look, height) {
    const place = this.places.find((place) => place.item.turns.some((turn) => turn.turn === look.cursor));
    if (!place) return null;
    const x = this.x(place.share);
    return draw(
      "g",
      { class: "cursor" },
      draw("line", { x1: x, x2: x, y1: 14, y2: height }),
      draw("path", { d: `M${x - 5} 12 h10 l-5 6 z` }),
    );
  }

  /** The item that is nearest to a point. */
  nearest(event) {
    const x = event.clientX - this.root.getBoundingClientRect().left + this.root.scrollLeft;
    let best = null;
    for (const place of this.places ?? []) {
      const distance = Math.abs(this.x(place.share) - x);
      if (!best || distance < best.distance) best = { distance, place };
    }
    return best?.place;
  }

  click(event) {
    const place = this.nearest(event);
    if (place) this.hooks.pick((place.item.turn ?? place.item.turns[0]).turn);
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey || (Math.abs(event.deltaY) > Math.abs(event.deltaX) && !event.shiftKey)) {
      event.preventDefault();
      const place = this.nearest(event);
      this.hooks.zoom(event.deltaY > 0 ? 1.25 : 0.8, place ? place.item.turns[0].turn : null);
    } else {
      event.preventDefault();
      this.hooks.pan((event.deltaX || event.deltaY) / Math.max(1, this.width ?? 1));
    }
  }
}

/** A name in so many letters; the end of a name tells many actors of one role apart. */
function fitted(name, letters) {
  if (name.length <= letters) return name;
  const [begin, end = ""] = ends(name);
  const left = letters - end.length - 1;
  return left > 0 ? `${begin.slice(0, left)}…${end}` : `${name.slice(0, letters - 1)}…`;
}

const SIGNS = { failed: "×", person: "?", model: "◇" };

/** Gives each call the first track that is free where it begins; returns the tracks of each lane. */
function giveTracks(calls) {
  const lanes = new Map();
  for (const call of [...calls].sort((one, two) => one.begin - two.begin)) {
    const ends = lanes.get(call.name) ?? [];
    const free = ends.findIndex((end) => end <= call.begin);
    call.track = free < 0 ? ends.length : free;
    ends[call.track] = call.end;
    lanes.set(call.name, ends);
  }
  return new Map([...lanes].map(([name, ends]) => [name, ends.length]));
}

/** A fold in words. */
export function steps(turns) {
  const [first, last] = [turns[0].turn, turns.at(-1).turn];
  return turns.length === 1
    ? `turn ${first}, a step without an effect`
    : `${turns.length} steps without an effect, turns ${first} to ${last}`;
}

function laneNames(items) {
  const names = new Map();
  for (const item of items) {
    for (const turn of item.turns) names.set(actor(turn), turn.actor?.id ?? -1);
  }
  const before = ([one, first], [two, second]) =>
    first - second || one.localeCompare(two, undefined, { numeric: true });
  return [...names].sort(before).map(([name]) => name);
}

/** Gives each item its share of the width, and the pause before it. */
export function places(items, axis) {
  const found = [];
  let last = null;
  for (const item of items) {
    const stamp = item.turns[0].stamp_ms;
    const gap = last !== null && stamp ? stamp - last : 0;
    found.push({ item, pause: Math.max(0, gap), isBack: gap < 0, weight: item.turn ? 1 : 0.6 });
    last = item.turns.at(-1).stamp_ms ?? last;
  }
  if (axis === "time") byTime(found);
  let sum = 0;
  const total = found.reduce((all, place) => all + place.weight, 0) || 1;
  for (const place of found) {
    place.share = (sum + place.weight / 2) / total;
    sum += place.weight;
  }
  return found;
}

/** Gives each item the weight of the time before it; idle time counts for little. */
function byTime(found) {
  const gaps = found
    .map((place) => place.pause)
    .filter((gap) => gap > 0)
    .sort((one, two) => one - two);
  const usual = gaps[Math.floor(gaps.length * 0.75)] ?? 1;
  for (const place of found) place.weight = 0.15 + Math.min(place.pause, usual * 6) / usual;
}
