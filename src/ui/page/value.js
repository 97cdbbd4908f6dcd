// Values as people read them.
//
// INVARIANT: a value is shown as text, to a bounded length; the rest is there when it is asked for.
// A record is `{record, fields}`, as JSON gives it. Read next: `dom.js`.

import { button, make } from "./dom.js";

/** The longest text of a value that stands in a line. */
const LINE = 140;

/** The members of a list or an object that are shown at first. */
const MEMBERS = 100;

const isRecord = (value) =>
  value !== null && typeof value === "object" && Array.isArray(value.fields) && "record" in value;

/** A value in one line, cut at a length. */
export function line(value, length = LINE) {
  const text = words(value, length, 0);
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function words(value, left, depth) {
  if (typeof value === "string") return JSON.stringify(value.length > left ? value.slice(0, left) : value);
  if (value === null || typeof value !== "object") return String(value);
  if (depth > 8) return "…";
  if (isRecord(value)) {
    const label = typeof value.record === "string" ? value.record : words(value.record, left, depth + 1);
    return `<${[label, ...joined(value.fields, left, depth)].join(" ")}>`;
  }
  if (Array.isArray(value)) return `[${joined(value, left, depth).join(" ")}]`;
  const members = Object.entries(value).slice(0, 20);
  return `{${members.map(([name, member]) => `${name}: ${words(member, left, depth + 1)}`).join(", ")}}`;
}

function joined(items, left, depth) {
  let used = 0;
  const parts = [];
  for (const item of items) {
    if (used > left) {
      parts.push("…");
      break;
    }
    const part = words(item, left, depth + 1);
    used += part.length;
    parts.push(part);
  }
  return parts;
}

/** A value as a tree whose branches open. */
export function tree(value, open = 1) {
  if (value === null || typeof value !== "object") return leaf(value);
  const entries = isRecord(value) ? value.fields.map((field, at) => [at, field]) : Object.entries(value);
  const short = line(value, 90);
  if (entries.length === 0 || (short.length < 90 && entries.every(([, member]) => isFlat(member)))) {
    return make("code", { class: "value" }, short);
  }
  const title = isRecord(value) ? `<${line(value.record, 40)}>` : Array.isArray(value) ? "list" : "members";
  const body = make("div", { class: "tree-body" });
  const details = make(
    "details",
    { class: "tree", open: open > 0 },
    make(
      "summary",
      {},
      make("span", { class: "tree-title" }, title),
      " ",
      make("span", { class: "quiet" }, `${entries.length}`),
    ),
    body,
  );
  const show = () => {
    if (body.childElementCount === 0) grow(body, entries, 0, open - 1);
  };
  // What nobody opens costs nothing.
  if (open > 0) show();
  else details.addEventListener("toggle", show);
  return details;
}

function grow(body, entries, from, open) {
  for (const [name, member] of entries.slice(from, from + MEMBERS)) {
    body.append(
      make("div", { class: "member" }, make("span", { class: "member-name" }, String(name)), tree(member, open)),
    );
  }
  const next = from + MEMBERS;
  if (next >= entries.length) return;
  const more = button(`${entries.length - next} more`, () => {
    more.remove();
    grow(body, entries, next, open);
  });
  body.append(more);
}

const isFlat = (value) => value === null || typeof value !== "object" || line(value, 60).length < 60;

function leaf(value) {
  if (typeof value !== "string") return make("code", { class: "value atom" }, String(value));
  if (!value.includes("\n") && value.length < LINE) return make("code", { class: "value" }, JSON.stringify(value));
  return text(value);
}

/** A long text, of which the first lines show. */
export function text(value) {
  const lines = value.split("\n");
  const isLong = lines.length > 30 || value.length > 4000;
  const first = isLong ? lines.slice(0, 30).join("\n").slice(0, 4000) : value;
  const block = make("pre", { class: "text" }, first);
  if (!isLong) return block;
  const more = button(`show all ${lines.length} lines`, () => {
    block.textContent = "";
    block.append(make("span", { text: value }));
    more.remove();
  });
  return make("div", {}, block, more);
}
