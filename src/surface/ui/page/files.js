// Files that tools of the workspace have changed, and what changed in them.
//
// INVARIANT: only what records say is shown; a file that was never written whole has no lines.
// Read next: `panels.js`.

import { line, member } from "./value.js";

/** Beyond this number of lines, a text is not compared line by line. */
const LINES = 1500;

/** The lines around a change that are shown. */
const AROUND = 3;

/** The changes of files in whole records, newest first; reads are left out. */
export function changes(turns) {
  const last = new Map();
  const found = [];
  for (const turn of [...turns].reverse()) {
    for (const action of turn.actions ?? []) {
      const change = of(action);
      if (!change) continue;
      const before = last.get(change.path);
      if (change.content !== undefined) last.set(change.path, change.content);
      if (change.what === "deleted") last.set(change.path, "");
      const isKnown = change.content !== undefined || change.what === "deleted";
      found.push({
        ...change,
        turn: turn.turn,
        diff: isKnown ? compare(before ?? "", change.content ?? "") : change.patch,
      });
    }
  }
  return found.reverse();
}

function of(action) {
  if (action.kind !== "invoke-tool" || !String(action.tool).startsWith("workspace/")) return null;
  const [path, content, patch] = ["path", "content", "patch"].map((name) => member(action.payload, name));
  const what = {
    "workspace/write": "written",
    "workspace/delete": "deleted",
    "workspace/patch": "patched",
    "workspace/apply": "patched",
  }[action.tool];
  if (!what) return null;
  const text = typeof content === "string" ? content : undefined;
  return {
    path: typeof path === "string" ? path : path === undefined ? "several files" : line(path),
    what,
    content: text,
    patch: typeof patch === "string" ? lined(patch) : null,
  };
}

/** A patch as rows. */
function lined(patch) {
  const kind = (line) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same");
  return patch.split("\n").map((line) => ({ kind: kind(line), text: line.replace(/^[+ -]/, "") }));
}

/** The lines of two texts: what was added, removed, and a little around it. */
export function compare(before, after) {
  const [old, young] = [split(before), split(after)];
  if (old.length > LINES || young.length > LINES) return young.slice(0, 60).map((text) => ({ kind: "added", text }));
  return shortened(aligned(old, young));
}

const split = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** Aligns lines by their longest common subsequence. */
function aligned(old, young) {
  const wide = young.length + 1;
  const lengths = new Uint16Array((old.length + 1) * wide);
  for (let one = old.length - 1; one >= 0; one -= 1) {
    for (let two = young.length - 1; two >= 0; two -= 1) {
      lengths[one * wide + two] =
        old[one] === young[two]
          ? lengths[(one + 1) * wide + two + 1] + 1
          : Math.max(lengths[(one + 1) * wide + two], lengths[one * wide + two + 1]);
    }
  }
  const rows = [];
  let [one, two] = [0, 0];
  while (one < old.length || two < young.length) {
    if (one < old.length && two < young.length && old[one] === young[two]) {
      rows.push({ kind: "same", text: old[one] });
      one += 1;
      two += 1;
    } else if (
      two >= young.length ||
      (one < old.length && lengths[(one + 1) * wide + two] >= lengths[one * wide + two + 1])
    ) {
      rows.push({ kind: "removed", text: old[one] });
      one += 1;
    } else {
      rows.push({ kind: "added", text: young[two] });
      two += 1;
    }
  }
  return rows;
}

/** Leaves out lines that are far from every change. */
function shortened(rows) {
  const isNear = rows.map(() => false);
  rows.forEach((row, at) => {
    if (row.kind === "same") return;
    for (let near = Math.max(0, at - AROUND); near <= Math.min(rows.length - 1, at + AROUND); near += 1)
      isNear[near] = true;
  });
  const kept = [];
  rows.forEach((row, at) => {
    if (isNear[at]) kept.push(row);
    else if (kept.at(-1)?.kind !== "gap") kept.push({ kind: "gap", text: "" });
  });
  return kept;
}
