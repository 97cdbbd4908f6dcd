// The runs of the journal.
//
// INVARIANT: a run that failed or asks stands above those that need nobody.
// Read next: `run.js`.

import { ask } from "./ask.js";
import { make, put } from "./dom.js";
import { link } from "./place.js";
import { count, counted, lasting } from "./time.js";
import { refusal } from "./refusal.js";

const INTERVAL = 3000;

/** The runs that are shown. */
const CARDS = 300;

/** Shows the runs until `signal` ends it. */
export async function showRuns(main, signal) {
  document.title = "Runs – Duet";
  for (;;) {
    if (!document.hidden) await refresh(main, signal);
    await new Promise((resume) => setTimeout(resume, INTERVAL));
    if (signal.aborted) return;
  }
}

let shown = "";

async function refresh(main, signal) {
  try {
    const { report, now_ms } = await ask("runs", {}, signal);
    if (signal.aborted) return;
    const found = table(report, now_ms);
    // What a person reads or has selected stays as it is.
    if (found.outerHTML !== shown || !main.querySelector(".runs")) put(main, found);
    shown = found.outerHTML;
  } catch (error) {
    if (error.name !== "AbortError") put(main, refusal(error));
  }
}

const ORDER = { failed: 0, broken: 0, stuck: 0, waiting: 1, running: 2, left: 3, queued: 3, sleeping: 3, finished: 4 };

function table(runs, now) {
  if (runs.length === 0) {
    return make(
      "section",
      { class: "empty-page" },
      make("h1", {}, "No runs yet"),
      make("p", {}, "A run appears here as soon as it begins: ", make("code", {}, "duet run PROGRAM")),
    );
  }
  const sorted = [...runs].sort(
    (one, two) => ORDER[one.status] - ORDER[two.status] || one.run.localeCompare(two.run),
  );
  return make(
    "section",
    { class: "runs" },
    make("h1", {}, counted(runs.length, "run")),
    make("ul", { class: "cards" }, sorted.slice(0, CARDS).map((run) => card(run, now))),
    sorted.length > CARDS &&
      make("p", { class: "quiet" }, `and ${count(sorted.length - CARDS)} more; duet runs lists all of them.`),
  );
}

function card(run, now) {
  const age = run.since_ms ? since(run, Math.floor((now - run.since_ms) / 60000) * 60000) : "";
  const cost = run.usage.usd ? ` · $${run.usage.usd.toFixed(run.usage.usd < 0.1 ? 4 : 2)}` : "";
  const more = run.branches.length > 1 ? ` · ${run.branches.length} branches` : "";
  return make(
    "li",
    {},
    make(
      "a",
      { class: `card ${run.status}`, href: link({ run: run.run, branch: null, turn: null }) },
      make("span", { class: "card-name" }, run.run),
      pill(run),
      make("span", { class: "card-words" }, run.words || run.program),
      make("span", { class: "quiet card-more" }, `${counted(run.turns, "turn")}${more}${cost}${age}`),
    ),
  );
}

/** For how long a run executes, or when its process was last heard of, in whole minutes. */
function since(run, ms) {
  if (ms <= 0) return "";
  return run.status === "running" ? ` · for ${lasting(ms)}` : ` · seen ${lasting(ms)} ago`;
}

const WORDS = {
  failed: "failed",
  broken: "cannot be restored",
  running: "running",
  sleeping: "sleeping",
  queued: "waits for a worker",
  stuck: "stuck",
  left: "left",
  finished: "finished",
};

/** How a run stands, as a coloured word. */
export function pill(run) {
  const words = run.status === "waiting" ? (run.questions > 0 ? "asks a person" : "waits") : WORDS[run.status];
  const isAsking = run.questions > 0;
  return make("span", { class: `pill ${isAsking ? "asking" : run.status}` }, words);
}
