//! Marks: the names that a person gives to turns.
//!
//! Owns the lines that each new mark and each removed mark adds to those of its run.
//! INVARIANT: lines are only added, and a mark names a record by its hash, so it never comes to
//! mean another turn. `duet gc` keeps marked turns. This module does not check that a marked turn
//! exists; `journal.rs` does.
//! Read next: `journal/lines.rs`, `verb/act/mark.rs`.

use std::collections::BTreeMap;

use duet_journal::{Head, RecordHash, RunId, Sequence, Store};
use duet_runtime::model::address::Mark;
use duet_runtime::run::source::Source;

use crate::history::journal::{Journal, LineKind};
use crate::history::records::hash_at;
use crate::text::error::CommandError;

/// A turn that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    /// Its position.
    pub(crate) turn: Sequence,
    /// Its record.
    pub(crate) record: RecordHash,
}

/// A run and its copy in another store, where records may have other hashes.
pub(crate) struct CopiedRun<'a> {
    pub(crate) original: &'a dyn Store,
    pub(crate) copy: &'a dyn Store,
    pub(crate) run: &'a RunId,
    /// The heads of the branches that were copied.
    pub(crate) heads: &'a [Head],
}

impl CopiedRun<'_> {
    /// Finds a marked turn of the original in the copy; `None` if no copied branch leads to it.
    ///
    /// # Errors
    /// If a store cannot be read.
    pub(crate) fn find(&self, marked: Marked) -> Result<Option<Marked>, CommandError> {
        for Head { branch, .. } in self.heads {
            let at = |store| hash_at(Source::new(store, self.run, branch), marked.turn);
            if at(self.original)? == Some(marked.record)
                && let Some(record) = at(self.copy)?
            {
                return Ok(Some(Marked { record, ..marked }));
            }
        }
        Ok(None)
    }
}

/// Adds a mark, or with `None` removes it.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn set(journal: &Journal, run: &RunId, mark: &Mark, marked: Option<Marked>) -> Result<(), CommandError> {
    let line = match marked {
        Some(marked) => line(run, mark, marked),
        None => format!("unmark {run} {mark}\n"),
    };
    journal.add_line(LineKind::Marks, run, &line)
}

/// Reads the marks of a run; other lines are skipped.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn of(journal: &Journal, run: &RunId) -> Result<BTreeMap<Mark, Marked>, CommandError> {
    Ok(parse(&journal.lines(LineKind::Marks, run)?, run))
}

/// The line that gives a turn a name.
pub(crate) fn line(run: &RunId, mark: &Mark, Marked { turn, record }: Marked) -> String {
    format!("mark {run} {mark} {turn} {record}\n")
}

/// Reads the marks of a run from lines; other lines are skipped.
pub(crate) fn parse(text: &str, run: &RunId) -> BTreeMap<Mark, Marked> {
    let mut marks = BTreeMap::new();
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["mark", of, mark, turn, record] if of == run.as_str() => {
                let turn = turn.parse().ok().and_then(|turn| Sequence::new(turn).ok());
                if let (Some(mark), Some(turn), Ok(record)) = (Mark::new(mark), turn, record.parse()) {
                    marks.insert(mark, Marked { turn, record });
                }
            }
            ["unmark", of, mark] if of == run.as_str() => {
                Mark::new(mark).map(|mark| marks.remove(&mark));
            }
            _ => {}
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_name_counts() {
        let run = RunId::new("r").expect("a name");
        assert_eq!(parse("", &run), BTreeMap::new());
        let (one, two) = (RecordHash::of(b"one"), RecordHash::of(b"two"));
        let text = format!("mark r a 1 {one}\nmark r b 1 {one}\nmark other a 9 {two}\nmark r a 2 {two}\nunmark r b\n");
        let text = text + "mark r 7 1 x\nnonsense\n\nmark r c";
        let marked = Marked {
            turn: Sequence::new(2).expect("small"),
            record: two,
        };
        assert_eq!(
            parse(&text, &run),
            BTreeMap::from([(Mark::new("a").expect("a name"), marked)])
        );
    }
}
