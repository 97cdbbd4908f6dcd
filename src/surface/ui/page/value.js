// Values as people read them.
//
// INVARIANT: a value is shown as Preserves text, to a bounded length; the rest is there when it is
// asked for. A string, a list and a small integer are themselves; any other value of a program is
// an object of its sort `#` and its parts `of`. What has no sort is a part of a report.
// Read next: `dom.js`.

import { button, make } from "./dom.js";

/** The longest text of a value that stands in a line. */
const LINE = 140;

/** The members of a list or an object that are shown at first. */
const MEMBERS = 100;

/** The sort of a value of a program: `atom`, `record`, `set` or `dictionary`; nothing for others. */
const sort = (value) => (value !== null && typeof value === "object" ? value["#"] : undefined);

const isAtom = (value) => value === null || typeof value !== "object" || sort(value) === "atom";

/** A value in one line, cut at a length. */
export function line(value, length = LINE) {
  const text = words(value, length, 0);
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The part of a report, or of a dictionary under a symbol or a string, that has a name. */
export function member(value, name) {
  if (sort(value) !== "dictionary") return value?.[name];
  return value.of.find(([key]) => key === name || (sort(key) === "atom" && key.of === name))?.[1];
}

/** Whether a value is a record with a symbol as its label. */
export const isLabelled = (value, label) => sort(value) === "record" && value.of[0]?.of === label;

function words(value, left, depth) {
  if (typeof value === "string") return JSON.stringify(value.length > left ? value.slice(0, left) : value);
  if (sort(value) === "atom") return value.of;
  if (isAtom(value)) return String(value);
  if (depth > 8) return "…";
  const inner = (part) => words(part, left, depth + 1);
  if (sort(value) === "record") return `<${joined(value.of, left, inner).join(" ")}>`;
  if (sort(value) === "set") return `#{${joined(value.of, left, inner).join(", ")}}`;
  if (Array.isArray(value)) return `[${joined(value, left, inner).join(", ")}]`;
  const pair = ([name, part]) => `${typeof name === "string" && !sort(value) ? name : inner(name)}: ${inner(part)}`;
  return `{${joined(sort(value) ? value.of : Object.entries(value), left, pair).join(", ")}}`;
}

function joined(items, left, inner) {
  let used = 0;
  const parts = [];
  for (const item of items) {
    if (used > left) {
      parts.push("…");
      break;
    }
    const part = inner(item);
    used += part.length;
    parts.push(part);
  }
  return parts;
}

/** The parts of a value that is no atom, with their names. */
function entries(value) {
  const numbered = (parts) => parts.map((part, at) => [String(at), part]);
  if (Array.isArray(value)) return numbered(value);
  if (sort(value) === "record") return numbered(value.of.slice(1));
  if (sort(value) === "set") return numbered(value.of);
  if (sort(value) === "dictionary") return value.of.map(([key, part]) => [line(key), part]);
  return Object.entries(value);
}

function title(value) {
  if (Array.isArray(value)) return "list";
  if (sort(value) === "record") return `<${line(value.of[0], 40)}>`;
  return sort(value) === "set" ? "set" : "members";
}

/** A value as a tree whose branches open. */
export function tree(value, open = 1) {
  if (isAtom(value)) return leaf(value);
  const parts = entries(value);
  const short = line(value, 90);
  if (parts.length === 0 || (short.length < 90 && parts.every(([, part]) => isFlat(part)))) {
    return make("code", { class: "value" }, short);
  }
  const body = make("div", { class: "tree-body" });
  const details = make(
    "details",
    { class: "tree", open: open > 0 },
    make(
      "summary",
      {},
      make("span", { class: "tree-title" }, title(value)),
      " ",
      make("span", { class: "quiet" }, `${parts.length}`),
    ),
    body,
  );
  const show = () => {
    if (body.childElementCount === 0) grow(body, parts, 0, open - 1);
  };
  // What nobody opens costs nothing.
  if (open > 0) show();
  else details.addEventListener("toggle", show);
  return details;
}

function grow(body, parts, from, open) {
  for (const [name, part] of parts.slice(from, from + MEMBERS)) {
    body.append(make("div", { class: "member" }, make("span", { class: "member-name" }, name), tree(part, open)));
  }
  const next = from + MEMBERS;
  if (next >= parts.length) return;
  const more = button(`${parts.length - next} more`, () => {
    more.remove();
    grow(body, parts, next, open);
  });
  body.append(more);
}

const isFlat = (value) => isAtom(value) || line(value, 60).length < 60;

function leaf(value) {
  if (sort(value) === "atom" && value.of.length >= LINE) return text(value.of);
  if (typeof value !== "string") return make("code", { class: "value atom" }, words(value, LINE, 0));
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
