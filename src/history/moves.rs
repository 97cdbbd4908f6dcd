//! The moves of heads that a person can undo.
//!
//! Owns the lines that each move, undo and redo adds to those of its run.
//! INVARIANT: lines are only added, and a command checks a line against the journal before it moves
//! a head, so a lost or foreign line can cost an undo, but never a turn.
//! It moves no head; `verb/act/undo.rs` does. The lines are a convenience of the command line, and
//! no run sees them.
//! Read next: `journal/lines.rs`, `verb/act/undo.rs`.

use std::collections::BTreeMap;

use duet_journal::{RecordHash, RunId};

use crate::history::journal::{Journal, LineKind, Place};
use crate::text::error::CommandError;

/// The cause of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveKind {
    /// A command such as `goto`.
    Move,
    /// `undo`.
    Undo,
    /// `redo`.
    Redo,
}

/// Where a branch stood and where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Before.
    pub(crate) from: RecordHash,
    /// After.
    pub(crate) to: RecordHash,
}

/// The moves of a branch that can be taken back, and those that were, newest last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    pub(crate) undoable: Vec<Move>,
    pub(crate) redoable: Vec<Move>,
}

impl MoveKind {
    fn word(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Move, Self::Undo, Self::Redo]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// Notes that a branch's head has moved. That it cannot be noted only costs the way back by `duet
/// undo`.
pub(crate) fn note(journal: &Journal, place: &Place, kind: MoveKind, moved: Move) {
    let line = format!(
        "{} {}/{} {} {} {}\n",
        kind.word(),
        place.run,
        place.branch,
        moved.from,
        moved.to,
        now_s()
    );
    let _lost = journal.add_line(LineKind::Moves, &place.run, &line);
}

/// Reads the moves of a branch.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn of(journal: &Journal, place: &Place) -> Result<Moves, CommandError> {
    let text = journal.lines(LineKind::Moves, &place.run)?;
    Ok(parse(&text, &format!("{}/{}", place.run, place.branch)))
}

fn parse(text: &str, branch: &str) -> Moves {
    let mut moves = Moves::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [kind, named, from, to, ..] = words[..]
            && named == branch
            && let (Some(kind), Ok(from), Ok(to)) = (MoveKind::read(kind), from.parse(), to.parse())
        {
            moves.add(kind, Move { from, to });
        }
    }
    moves
}

/// The heads of a run's branches that were left, each with when that was last, in seconds since
/// 1970.
///
/// # Errors
/// If the moves cannot be read.
pub(crate) fn left(journal: &Journal, run: &RunId) -> Result<BTreeMap<RecordHash, u64>, CommandError> {
    let text = journal.lines(LineKind::Moves, run)?;
    let mut left = BTreeMap::new();
    for line in text.lines() {
        if let [_, named, from, _, at] = line.split(' ').collect::<Vec<_>>()[..]
            && named.split_once('/').is_some_and(|(of, _)| of == run.as_str())
            && let (Ok(from), Ok(at)) = (from.parse(), at.parse())
        {
            left.insert(from, at);
        }
    }
    Ok(left)
}

/// The time, in seconds since 1970: for how long something was left behind is a matter of the
/// person's clock, and enters no record.
pub(crate) fn now_s() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "it is compared with itself and enters no record"
    )]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl Moves {
    /// Takes note of a move.
    pub(crate) fn add(&mut self, kind: MoveKind, moved: Move) {
        match kind {
            MoveKind::Move => {
                self.undoable.push(moved);
                self.redoable.clear();
            }
            MoveKind::Undo => {
                self.undoable.pop();
                self.redoable.push(moved);
            }
            MoveKind::Redo => {
                self.redoable.pop();
                self.undoable.push(moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(name: &str) -> RecordHash {
        RecordHash::of(name.as_bytes())
    }

    fn moved(from: &str, to: &str) -> Move {
        Move {
            from: hash(from),
            to: hash(to),
        }
    }

    #[test]
    fn moves_are_taken_back_and_done_again_in_order() {
        let mut text = String::new();
        let mut add = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            text.push_str(&format!(
                "{} {} {} {}\n",
                words[0],
                words[1],
                hash(words[2]),
                hash(words[3])
            ));
            parse(&text, "r/main")
        };
        add("move r/main a b");
        let moves = add("move r/main b c");
        assert_eq!(moves.undoable, [moved("a", "b"), moved("b", "c")]);
        let moves = add("undo r/main c b");
        assert_eq!(
            (moves.undoable, moves.redoable),
            (vec![moved("a", "b")], vec![moved("c", "b")])
        );
        let moves = add("redo r/main b c");
        assert_eq!(
            (moves.undoable, moves.redoable),
            (vec![moved("a", "b"), moved("b", "c")], vec![])
        );
        add("undo r/main c b");
        add("move r/other x y");
        let moves = add("move r/main b d");
        assert_eq!(
            (moves.undoable, moves.redoable),
            (vec![moved("a", "b"), moved("b", "d")], vec![])
        );
    }

    #[test]
    fn lines_that_are_none_are_passed_over() {
        for text in ["", "move r/main x y\n\njump r/main a b\nmove r/main"] {
            assert_eq!(parse(text, "r/main"), Moves::default());
        }
    }
}
