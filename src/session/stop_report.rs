//! The report when a run stops: its state, and the commands that continue it or take it back.
//!
//! INVARIANT: the report names a command only if it can be given: none about the journal where
//! there is no journal.
//! It decides nothing. Read next: the crate's `session.rs`.

use duet_drivers::ask::Question;
use duet_journal::Sequence;
use duet_runtime::run::Run;
use duet_runtime::run::inflight::Recalled;
use duet_runtime::scheme::SchemePrograms;

use super::RunPlace;
use crate::error::CommandError;
use crate::terminal::Terminal;

/// A run that rests, in words.
pub(super) struct StopReport<'a> {
    pub(super) place: &'a RunPlace,
    pub(super) head: Sequence,
}

impl StopReport<'_> {
    fn is_kept(&self) -> bool {
        self.place.journal.is_some()
    }

    /// How to look at the failed turn and how to go back to before it.
    pub(super) fn ways_back(&self) -> Vec<String> {
        let name = &self.place.name;
        let before = self.head.number().checked_sub(1).filter(|_| self.is_kept());
        let ways = before.map(|before| {
            [
                format!(
                    "`duet show {name}@{}` shows the turn that failed; it left no other trace",
                    self.head
                ),
                format!("`duet goto {name}@{before}` goes back to before it, `duet resume {name}` goes on from there"),
            ]
        });
        ways.into_iter().flatten().collect()
    }

    /// Reports the calls that were not repeated, and how to repeat them.
    pub(super) fn tell_recalled(&self, recalled: &[Recalled], terminal: &mut Terminal) {
        let name = &self.place.name;
        for call in recalled {
            let told = if call.is_known {
                "its recorded result was delivered"
            } else {
                "its result is not known"
            };
            let (tool, turn) = (&call.tool, call.turn);
            terminal.message(&format!(
                "{tool} was called in turn {turn} before ({}) and not again: {told}",
                call.branch
            ));
        }
        let before = recalled.first().and_then(|call| call.turn.number().checked_sub(1));
        if let Some(before) = before {
            terminal.message(&format!(
                "`duet goto {name}@{before}`, then `duet resume {name} --again` makes the call again"
            ));
        }
    }

    pub(super) fn tell_journal(&self, terminal: &mut Terminal) {
        if let Some(journal) = self.place.journal.as_ref().filter(|_| !terminal.is_lent) {
            let name = &self.place.name;
            terminal.message(&format!(
                "{} turns of {name} are in {}; `duet log {name}` lists them",
                self.head,
                journal.display()
            ));
        }
    }

    pub(super) fn tell_questions(&self, run: &Run<SchemePrograms>, terminal: &mut Terminal) {
        let name = &self.place.name;
        for (_, prompt) in run.questions() {
            let question = Question::read(&prompt).shown();
            terminal.message(&format!("{name} waits for an answer: {}", question.trim_end()));
        }
        if self.is_kept() {
            terminal.message(&format!(
                "`duet answer {name} TEXT` answers, `duet resume {name}` asks again"
            ));
        }
    }

    pub(super) fn interrupted(&self) -> String {
        let name = &self.place.name;
        if self.is_kept() {
            format!("interrupted after turn {}; `duet resume {name}` goes on", self.head)
        } else {
            "interrupted".to_owned()
        }
    }

    pub(super) fn stuck(&self, fibers: usize) -> CommandError {
        let name = &self.place.name;
        let what = if fibers == 1 {
            "1 fiber waits".to_owned()
        } else {
            format!("{fibers} fibers wait")
        };
        let failure = CommandError::problem(format!(
            "{name} cannot continue: {what} for events that can no longer happen"
        ));
        if self.is_kept() {
            failure.advise(format!("`duet waits {name}` lists them"))
        } else {
            failure
        }
    }
}
