// Why something is as it is: the values that it came from, and the turns that led to it.
//
// INVARIANT: it shows what `duet why` prints, in the same words; it asks for nothing.
// Read next: `moment.js`.

import { button, make } from "./dom.js";
import { line } from "./value.js";

/** The words between a value and its expression, by the sort of the step. */
const SORTS = {
  literal: "literal in",
  computed: "",
  answered: "the run's answer to",
  input: "came in with",
  sent: "passed on by",
  earlier: "was there before",
};

/** The furthest that a step is drawn to the right. */
const DEPTH = 20;

/** The turns of a report: those in which its values came to be, or else those that caused it. */
export function turnsOf(report) {
  const chain = report.chain.map((link) => link.turn);
  const steps = report.values.steps.map((step) => step.turn);
  return [...new Set(steps.length > 0 ? [...chain.slice(0, 1), ...steps] : chain)];
}

/** The explanation; `hooks` has `pick(turn)` and `all()`, which asks for what is left out. */
export function explanation({ report, messages }, hooks) {
  const made = report.chain[0]?.turn;
  if (made === undefined) return shell(subject(report), words(messages.join(" ") || "Nothing led to it, up to here."));
  const { steps, left_out: left } = report.values;
  return shell(
    subject(report),
    report.by && make("p", { class: "by" }, "by ", ...expression(report.by)),
    steps.length > 0
      ? make(
          "ol",
          { class: "values" },
          steps.map((step) => row(step, made, hooks)),
        )
      : words("No further values are known: it was made of none, or the turn cannot be taken again."),
    messages.map((message) => make("p", { class: "note" }, message)),
    (left > 0 || report.is_cut) && button("Show more", hooks.all, { class: "link" }),
    turns(report, hooks),
  );
}

/** The turns that led to a turn, without values. */
export function causes(at, chain, hooks) {
  return shell(
    `turn ${at}`,
    list(
      chain.map((turn) => ({ turn })),
      hooks,
    ),
  );
}

const words = (text) => make("p", { class: "quiet" }, text);

function shell(what, ...parts) {
  return make("section", { class: "why" }, make("h3", {}, "What led to ", make("code", {}, what)), parts);
}

/** What is explained. */
function subject({ fact, line: written, call, variable }) {
  if (fact !== null) return line(fact, 80);
  if (written !== null) return line(written, 80);
  if (variable !== null) return `${variable.name} = ${variable.value ?? "?"} in ${variable.procedure}`;
  if (call !== null) return call.argument === null ? call.tool : `${call.tool}: ${call.argument} = ${call.value ?? "?"}`;
  return "it";
}

function row(step, made, hooks) {
  const turn = button(`turn ${step.turn}`, () => hooks.pick(step.turn), { class: "link" });
  const isBefore = step.sort === "input" || step.sort === "earlier";
  const word = SORTS[step.sort] ?? step.sort;
  const form = step.by ? expression(step.by) : [];
  return make(
    "li",
    { style: { paddingInlineStart: `${Math.min(step.depth, DEPTH) * 1.4}ch` } },
    make("code", { class: "value" }, step.value),
    " ← ",
    word && [make("span", { class: "quiet" }, word), " "],
    isBefore ? [turn, form.length > 0 && ": ", form] : [form, step.turn !== made && [" in ", turn]],
  );
}

/** An expression, and its place. */
function expression({ form, source, line: number }) {
  return [make("code", { class: "form" }, short(form)), make("span", { class: "quiet" }, ` at ${source}:${number}`)];
}

const short = (form) => {
  const flat = form.replace(/\s+/g, " ");
  return flat.length > 80 ? `${flat.slice(0, 79)}…` : flat;
};

function turns(report, hooks) {
  return make(
    "details",
    { open: report.values.steps.length === 0 },
    make("summary", {}, "The turns, each caused by the one before it"),
    list(report.chain, hooks),
  );
}

function list(chain, hooks) {
  const told = ({ turn, asked }) => (asked ? `turn ${turn}, asked for in ${asked}` : `turn ${turn}`);
  const sorted = [...chain].sort((one, two) => one.turn - two.turn);
  return make(
    "ol",
    { class: "chain-list" },
    sorted.map((link) => make("li", {}, button(told(link), () => hooks.pick(link.turn), { class: "link" }))),
  );
}
