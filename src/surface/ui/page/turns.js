// The turns of a branch, as far as they were asked for.
//
// INVARIANT: no more turns are asked for than are shown; those of one branch are in one chain, and
// when the branch was taken back, the old ones are forgotten.
// Read next: `items.js`.

import { ask } from "./ask.js";
import { name } from "./place.js";

/** The number of turns of a question. */
const PAGE = 128;

/** The number of turns that are kept. */
const KEPT = 8192;

export class Turns {
  constructor(place, head) {
    this.place = { run: place.run, branch: place.branch };
    this.head = head;
    this.known = new Map();
    this.asking = new Map();
  }

  /** Takes the number of the newest turn; says whether what was known is gone. */
  moved(head) {
    const isBack = head < this.head;
    this.head = head;
    if (isBack) this.known.clear();
    return isBack;
  }

  /** The turns of a range that are known. */
  within(from, to) {
    const found = [];
    for (let at = from; at <= to; at += 1) {
      const turn = this.known.get(at);
      if (turn) found.push(turn);
    }
    return found;
  }

  get(at) {
    return this.known.get(at);
  }

  /** The turn that asked for what a turn was answered, as far as it is known. */
  asked(turn) {
    const request = turn?.heard?.find((piece) => piece.request !== undefined)?.request;
    if (request === undefined) return undefined;
    const asks = (other) => other.turn < turn.turn && other.did?.some((piece) => piece.request === request);
    return [...this.known.values()].find(asks)?.turn;
  }

  /** Asks for the turns of a range that are not known yet. */
  async need(from, to) {
    const last = Math.min(to, this.head);
    const pages = new Set();
    for (let at = Math.max(0, from); at <= last; at += 1) {
      if (!this.known.has(at)) pages.add(Math.floor(at / PAGE));
    }
    await Promise.all([...pages].map((page) => this.page(page)));
  }

  page(page) {
    const underWay = this.asking.get(page);
    if (underWay) return underWay;
    const asked = this.read(page).finally(() => this.asking.delete(page));
    this.asking.set(page, asked);
    return asked;
  }

  async read(page) {
    const { report } = await ask("log", {
      address: name(this.place),
      before: [(page + 1) * PAGE, 0],
      limit: PAGE,
    });
    this.take(report.turns);
  }

  take(turns) {
    const after = turns.length > 0 ? this.known.get(turns[0].turn + 1) : undefined;
    if (after && after.parent !== turns[0].record) this.known.clear();
    if (this.known.size > KEPT) this.known.clear();
    for (const turn of turns) this.known.set(turn.turn, turn);
  }
}

/** The words of a filter: a name with a colon, if there is one, and a text that quotes may hold together. */
const WORD = /(?:(tool|actor|kind|label|pattern|since|until|is):)?(?:"((?:[^"\\]|\\.)*)"?|'([^']*)'?|(\S+))/g;

/** Reads a filter: the conditions of `duet log` by their names, `is:failed`, `is:refused`, and text. */
export function conditions(filter) {
  const request = {};
  const text = [];
  for (const [word, name, double, single, plain] of filter.matchAll(WORD)) {
    const value = double?.replace(/\\(.)/g, "$1") ?? single ?? plain;
    if (name === "is" && ["failed", "refused"].includes(value)) request[value] = true;
    else if (name && name !== "is") request[name] = value;
    else text.push(name ? word : value);
  }
  const grep = text.join(" ");
  if (grep !== "") request.grep = grep;
  return request;
}

/** Asks for the newest turns that a filter leaves. */
export async function filtered(place, filter, signal) {
  const { report } = await ask(
    "log",
    { address: name({ ...place, turn: null }), ...conditions(filter), limit: 256 },
    signal,
  );
  return { turns: report.turns.reverse(), isMore: report.more !== null };
}
