// What a view of turns consists of: turns that matter, and folds of those that only go on.
//
// INVARIANT: every turn of the range is in one item, in order. Read next: `timeline.js`.

/** The loud pieces of a side of a turn. */
export const loud = (pieces) => (pieces ?? []).filter((piece) => piece.tone !== "structural");

/** Whether a piece is about time that passes. */
export const isTimer = (piece) => piece.kind === "timer" || /^timer \d/.test(piece.text);

/** Whether a turn only moves the program along. */
export function isStep(turn) {
  if (turn.program !== undefined || turn.is_failed) return false;
  return loud(turn.did).length === 0 && loud(turn.heard).length === 0;
}

/** The strongest tone of a turn. */
export function tone(turn) {
  if (turn.is_failed) return "failed";
  const pieces = [...loud(turn.heard), ...loud(turn.did)];
  for (const tone of ["person", "failed", "model"]) {
    if (pieces.some((piece) => piece.tone === tone)) return tone;
  }
  if (pieces.some((piece) => ["invoke-tool", "answered"].includes(piece.kind) && !isTimer(piece))) return "tool";
  if (pieces.some((piece) => piece.kind === "write")) return "output";
  return "plain";
}

/** The name of the strand that took a turn, as the command line has it: that of its actor, and its
 * own if it has one; a run begins for the main program. */
export function actor(turn) {
  const name = turn.actor?.name ?? "main";
  return turn.strand ? `${name}/${turn.strand}` : name;
}

/** The begin of an actor's name, and its number, if it has one. */
export function ends(name) {
  const number = /.( \d+)$/.exec(name)?.[1];
  return number ? [name.slice(0, -number.length), number] : [name];
}

/** Folds steps between turns that matter; the turn at the cursor always stands by itself. */
export function items(turns, { all, cursor }) {
  const made = [];
  for (const turn of turns) {
    const last = made.at(-1);
    if (all || !isStep(turn) || turn.turn === cursor) made.push({ turn, turns: [turn] });
    else if (last && !last.turn) last.turns.push(turn);
    else made.push({ turn: null, turns: [turn] });
  }
  return made;
}

/** A sentence about a turn. */
export function sentence(turn) {
  if (turn.program !== undefined) return `run of ${turn.program}`;
  const words = (pieces) =>
    loud(pieces)
      .map((piece) => piece.text)
      .join("; ");
  const heard = words(turn.heard) || (turn.heard?.[0]?.text ?? turn.cause?.kind ?? "");
  const did = words(turn.did);
  return did ? `${heard} ⇒ ${did}` : heard;
}
