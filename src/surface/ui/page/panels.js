// The parts of a moment: which verb each asks, and how its report is drawn.
//
// INVARIANT: a part is one row of the table: its name, its question, its drawing.
// Read next: `value.js`, `files.js`.

import { answerForms } from "./acts.js";
import { ask } from "./ask.js";
import { button, make } from "./dom.js";
import { changes } from "./files.js";
import { loud } from "./items.js";
import { name } from "./place.js";
import { count, counted } from "./time.js";
import { isLabelled, line, text, tree } from "./value.js";

/** The turns with output, or with calls that touch files, that are read. */
const READ = 256;

const asking =
  (verb, more = {}) =>
  (moment, signal) =>
    ask(verb, { address: moment.address, ...more }, signal);

export const PANELS = [
  { id: "turn", title: "Turn", ask: asking("show"), early: earlyTurn, draw: drawTurn },
  { id: "facts", title: "Facts", ask: asking("facts"), draw: drawFacts },
  { id: "waits", title: "Waits", ask: asking("waits", { full: true }), draw: drawWaits },
  { id: "talk", title: "Conversations", ask: asking("transcript"), draw: drawTalk },
  { id: "output", title: "Output", ask: whole({ kind: "write" }), draw: drawOutput },
  { id: "files", title: "Files", ask: whole({ tool: "workspace/*" }), draw: drawFiles },
  { id: "variables", title: "Variables", ask: asking("frames"), draw: drawFrames },
  { id: "record", title: "Record", ask: asking("show"), draw: drawRecord },
];

/** Asks for the whole records of the newest turns that match, up to the moment. */
function whole(condition) {
  return (moment, signal) =>
    ask("log", { address: moment.address, ...condition, limit: READ, is_whole: true }, signal);
}

const empty = (words) => make("p", { class: "empty" }, words);

const section = (title, ...children) => make("section", {}, make("h3", {}, title), children);

/** Pieces of a turn; `why(piece, at)` gives what shows where the values of one came from, if it has
 * some. */
function pieces(title, found, why = () => undefined) {
  const shown = loud(found);
  if (shown.length === 0) return null;
  return section(
    title,
    make(
      "ul",
      { class: "pieces" },
      shown.map((piece) => {
        const asked = why(found.indexOf(piece));
        const word = asked
          ? button(piece.text, asked, { class: `fact piece ${piece.tone}`, title: "why: where its values came from" })
          : make("span", { class: `piece ${piece.tone}` }, piece.text);
        return make("li", {}, word);
      }),
    ),
  );
}

/** What the log knows of a turn already. */
function earlyTurn({ turn }) {
  if (!turn || turn.program !== undefined) return null;
  return make("div", {}, pieces("Received", turn.heard), pieces("Did", turn.did));
}

/** What asks about the calls of a turn, by their places among its actions. */
function whyOfCalls(actions, moment) {
  const asked = new Map();
  let calls = 0;
  (actions ?? []).forEach((action, at) => {
    const done = ["approve", "admit"].includes(action.kind) ? action.attempts : [action];
    if (done.some((one) => one.kind === "invoke-tool")) {
      const call = calls + 1;
      asked.set(at, () => moment.why({ call }));
    }
    calls += done.filter((one) => one.kind === "invoke-tool").length;
  });
  return (at) => asked.get(at);
}

function drawTurn({ report, patterns = [] }, moment) {
  const { turn } = moment;
  if (report.program !== undefined) {
    return make(
      "div",
      {},
      section("The run begins", make("p", {}, make("code", {}, report.program))),
      report.granted.length > 0 &&
        section(
          "Granted",
          make(
            "ul",
            {},
            report.granted.map((grant) =>
              make("li", {}, make("code", {}, typeof grant === "string" ? grant : line(grant))),
            ),
          ),
        ),
    );
  }
  const fact = (value, at, sign) => factRow(value, patterns[at], sign, moment);
  const isShown = (value) => !isLabelled(value, "Observe");
  const rows = [
    ...report.came.map((value, at) => isShown(value) && fact(value, at, "+")),
    ...report.went.map((value, at) => isShown(value) && fact(value, report.came.length + at, "−")),
  ].filter(Boolean);
  return make(
    "div",
    {},
    report.failure && failure(report.failure),
    turn && pieces("Received", turn.heard),
    turn && !report.failure && pieces("Did", turn.did, whyOfCalls(report.actions, moment)),
    report.attempts?.length > 0 &&
      section(
        "Refused by the gate",
        make(
          "ul",
          { class: "pieces" },
          report.attempts.map((attempt) =>
            make(
              "li",
              {},
              make("span", { class: "piece failed" }, attempt.denied ?? "refused"),
              tree(attempt.actions, 0),
            ),
          ),
        ),
      ),
    rows.length > 0 && section("Facts that came and went", make("ul", { class: "facts" }, rows)),
    report.memory?.places.length > 0 && memory(report.memory),
    cause(report, moment),
  );
}

function failure(failure) {
  return section(
    "Failed and undone",
    make("p", { class: "piece failed block" }, `${failure.kind}: ${failure.message}`),
    failure.irritants.length > 0 &&
      make("p", {}, "with ", make("code", {}, failure.irritants.map((value) => line(value)).join(", "))),
    failure.backtrace.length > 0 &&
      make(
        "ol",
        { class: "backtrace" },
        failure.backtrace
          .filter((frame) => frame.procedure !== "?")
          .map((frame) =>
            make(
              "li",
              {},
              make("code", {}, frame.procedure),
              frame.source && make("span", { class: "quiet" }, ` ${placeOf(frame)}`),
            ),
          ),
      ),
  );
}

/** Where a frame stands. */
const placeOf = ({ source, line }) => (line === undefined ? `in ${source}` : `at ${source}:${line}`);

function memory(memory) {
  return section(
    "Memory",
    make(
      "table",
      { class: "memory" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["place", "before", "after"].map((title) => make("th", { scope: "col" }, title)),
        ),
      ),
      make(
        "tbody",
        {},
        memory.places.map((place) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, place.place),
            make("td", {}, make("code", {}, place.before ?? "–")),
            make("td", {}, make("code", {}, place.after ?? "–")),
          ),
        ),
      ),
    ),
    memory.more > 0 && make("p", { class: "quiet" }, `and ${counted(memory.more, "more place")}`),
  );
}

function cause(report, moment) {
  const turn = report.cause?.turn;
  const words =
    turn === undefined
      ? `Caused by ${report.cause?.kind === "input" ? "an input from outside" : "the start of the run"}.`
      : null;
  return make(
    "p",
    { class: "quiet cause" },
    words ?? ["Caused by ", button(`turn ${turn}`, () => moment.hooks.pick(turn), { class: "link" }), ". "],
    " ",
    button("Why? Show the chain", () => moment.why(), { class: "link" }),
    report.fuel !== undefined && ` Fuel: ${count(report.fuel)}.`,
  );
}

function factRow(value, pattern, sign, moment) {
  const words = line(value, 400);
  return make(
    "li",
    { class: sign === "+" ? "came" : sign === "−" ? "went" : null },
    sign && make("span", { class: "fact-sign", "aria-label": sign === "+" ? "came" : "went" }, sign),
    pattern
      ? button(words, () => moment.why({ pattern }), { class: "fact", title: "why: where its values came from" })
      : make("code", {}, words),
  );
}

function drawFacts({ report, patterns }, moment) {
  if (report.length === 0) return empty("Nothing is asserted here.");
  const groups = new Map();
  report.forEach((fact, at) => {
    const rows = groups.get(fact.name) ?? [];
    rows.push(factRow(fact.value, patterns[at], null, moment));
    groups.set(fact.name, rows);
  });
  return make(
    "div",
    {},
    [...groups].map(([who, rows]) => section(`${who} (${count(rows.length)})`, make("ul", { class: "facts" }, rows))),
  );
}

function drawWaits({ report }, moment) {
  const { requests, waits } = report;
  if (requests.length + waits.length === 0) return empty("Nothing waits here.");
  const persons = requests.filter((request) => ["ask", "approve"].includes(request.kind));
  const deferred = requests.filter((request) => request.kind === "deferred");
  const others = requests.filter((request) => !persons.includes(request) && !deferred.includes(request));
  return make(
    "div",
    {},
    persons.map((request) => answerForms(request, moment)),
    deferred.length > 0 &&
      section(
        "Calls that wait for approval",
        make(
          "ul",
          { class: "pieces" },
          deferred.map((request) =>
            make(
              "li",
              {},
              make("strong", {}, request.tool),
              make("span", { class: "quiet" }, ` of ${request.name}, request ${request.request}`),
              tree(request.payload, 2),
            ),
          ),
        ),
      ),
    others.length > 0 &&
      section(
        "Asked of the world",
        make(
          "ul",
          { class: "pieces" },
          others.map((request) =>
            make(
              "li",
              {},
              make("strong", {}, request.tool ?? request.kind),
              make("span", { class: "quiet" }, ` for ${request.name}, request ${request.request}`),
              request.payload !== null && tree(request.payload, 0),
            ),
          ),
        ),
      ),
    waits.length > 0 &&
      section(
        "Fibers that wait",
        make(
          "ul",
          { class: "pieces" },
          waits.map((wait) =>
            make(
              "li",
              {},
              make("strong", {}, wait.name),
              make("span", { class: "quiet" }, ` fiber ${wait.fiber} ${wait.until ? "until" : "for"} `),
              make("code", {}, wait.until ?? wait.conditions.map(awaited).join(" or ")),
            ),
          ),
        ),
      ),
  );
}

const awaited = (condition) =>
  condition.is_judged ? `${condition.words} that a predicate accepts` : condition.words;

function drawTalk({ report }, moment) {
  if (report.length === 0) return empty("No language model was asked up to here.");
  return make(
    "div",
    {},
    report.map((talk) =>
      section(
        [
          `${talk.agent}`,
          make(
            "span",
            { class: "quiet" },
            ` · ${talk.model} · ${count(talk.input_tokens)} → ${counted(talk.output_tokens, "token")}${talk.usd ? ` · $${talk.usd.toFixed(4)}` : ""}`,
          ),
        ],
        make(
          "ol",
          { class: "talk" },
          talk.messages.map((message) => said(message, moment)),
        ),
      ),
    ),
  );
}

function said(message, moment) {
  return make(
    "li",
    { class: `said ${/^[a-z]+$/.test(message.role) ? message.role : "other"}` },
    make(
      "div",
      { class: "said-head" },
      make("strong", {}, message.role),
      button(`turn ${message.turn}`, () => moment.hooks.pick(message.turn), { class: "link" }),
    ),
    message.content && text(message.content),
    message.calls.map((call) =>
      make(
        "div",
        { class: "call-wanted" },
        make("span", { class: "piece" }, `wants ${call.name}`),
        tree(call.arguments, 0),
      ),
    ),
  );
}

function drawOutput({ report }, moment) {
  const rows = [...report.turns]
    .reverse()
    .flatMap(outputOf);
  if (rows.length === 0) return empty("The program has written nothing up to here.");
  return make(
    "div",
    {},
    report.more &&
      make("p", { class: "note" }, `The newest ${READ} turns with output; the command line has the rest.`),
    make(
      "div",
      { class: "console" },
      rows.map(({ turn, text, isError, written }) =>
        make(
          "div",
          { class: isError ? "line error" : "line" },
          button(String(turn), () => moment.hooks.pick(turn), { class: "link number", title: `turn ${turn}` }),
          written
            ? button(
                text,
                () => moment.why({ written, address: name({ ...moment.place, turn }) }),
                { class: "fact", title: "why: where its values came from" },
              )
            : make("span", {}, text),
        ),
      ),
    ),
  );
}

/** The lines that a turn has written; `written` is the number of one among those to standard output,
 * as far as it is known. */
function outputOf(turn) {
  let count = 0;
  return (turn.actions ?? [])
    .filter((action) => action.kind === "write")
    .flatMap((action) => {
      if (action.text === undefined) {
        // Duet counts the lines in bytes that are no text otherwise.
        count = NaN;
        return [{ turn: turn.turn, text: "(bytes)", isError: isError(action) }];
      }
      const lines = action.text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      return lines.map((text) => ({
        turn: turn.turn,
        text,
        isError: isError(action),
        written: isError(action) ? undefined : (count += 1),
      }));
    });
}

const isError = (action) =>
  line(action.stream ?? "")
    .toLowerCase()
    .includes("err");

function drawFiles(known, moment) {
  const files = changes(known.report.turns);
  if (files.length === 0) return empty("No file was touched by the tools of the workspace up to here.");
  return make(
    "div",
    {},
    files.map((file) =>
      section(
        [
          make("code", {}, file.path),
          make("span", { class: "quiet" }, ` ${file.what}, `),
          button(`turn ${file.turn}`, () => moment.hooks.pick(file.turn), { class: "link" }),
        ],
        file.diff &&
          make(
            "pre",
            { class: "diff" },
            file.diff.map((row) => make("span", { class: row.kind }, `${SIGN[row.kind]} ${row.text}\n`)),
          ),
      ),
    ),
  );
}

const SIGN = { same: " ", added: "+", removed: "−", gap: "⋯" };

function drawFrames({ report }, moment) {
  if (report.length === 0) return empty("No computation stands here.");
  return make(
    "div",
    {},
    report.map((computation) =>
      section(
        computation.is_failed
          ? `The procedures that were active in ${computation.name}`
          : `Fiber ${computation.fiber} of ${computation.name}`,
        make(
          "ol",
          { class: "frames" },
          computation.frames
            .filter((frame) => frame.variables.length > 0 || !/^(%|\?$)/.test(frame.procedure))
            .map((shown) => frame(shown, computation, moment)),
        ),
      ),
    ),
  );
}

function frame(frame, { fiber }, moment) {
  const at = frame.source ? ` ${frame.source}${frame.line ? `:${frame.line}` : ""}` : "";
  return make(
    "li",
    {},
    make("code", { class: "procedure" }, frame.procedure === "?" ? "unnamed" : frame.procedure),
    make("span", { class: "quiet" }, at),
    frame.variables.length > 0 &&
      make(
        "table",
        { class: "variables" },
        make(
          "tbody",
          {},
          frame.variables.map((variable) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, variable.name),
              make("td", {}, value(variable, { frame: frame.number, fiber }, moment)),
            ),
          ),
        ),
      ),
  );
}

/** The value of a variable, which tells where it came from. */
function value({ name, value }, { frame, fiber }, moment) {
  if (value === null || frame === null) return make("code", {}, value ?? "?");
  const asked = fiber === null ? { frame } : { frame, fiber };
  return button(value, () => moment.why({ variable: name, ...asked }), {
    class: "fact",
    title: "why: where it came from",
  });
}

function drawRecord({ report }, moment) {
  return make(
    "div",
    {},
    make(
      "p",
      { class: "quiet" },
      "The same on the command line: ",
      make("code", {}, `duet show ${name({ ...moment.place, turn: moment.at })}`),
    ),
    tree(report, 1),
  );
}
