//! A session as a program: the texts that were evaluated.
//!
//! INVARIANT: a text whose evaluation has failed or was given up is left out, in whichever turn
//! that was; the records alone tell.
//! It evaluates nothing. Read next: `session.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::identity::FiberId;
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::state::event::Event;

use super::session::texts;
use crate::history::journal::Place;
use crate::history::turn;
use crate::owner::owned_run::{self, evaluations};
use crate::text::error::CommandError;

/// The texts of a session, as far as its records were read.
#[derive(Default)]
struct Script {
    /// The texts, in order; none for one that has failed.
    texts: Vec<Option<String>>,
    /// The evaluations that have not ended, each with the index of its text.
    open: BTreeMap<FiberId, usize>,
}

/// The texts that were evaluated on the way to a place, except those that failed, as a program.
///
/// # Errors
/// If the journal fails.
pub(crate) fn script(store: &dyn Store, place: &Place) -> Result<String, CommandError> {
    let mut script = Script::default();
    let mut shadow = Shadow::begin(&owned_run::record_at(store, place, Sequence::FIRST)?)?;
    let mut next = Sequence::FIRST.next();
    while let Some(at) = next.filter(|at| *at <= place.at()) {
        let record = owned_run::record_at(store, place, at)?;
        if let Body::Turn(turn) = turn::body(&record)? {
            shadow.apply(&record, &turn)?;
            let given = texts(&record)?;
            script.add(&turn, given, &evaluations(shadow.state()));
        }
        next = at.next();
    }
    let mut program = String::new();
    for text in script.texts.iter().flatten() {
        program.push_str(text.trim_end());
        program.push('\n');
    }
    Ok(program)
}

impl Script {
    /// Adds what a turn has given to be evaluated, after which these evaluations have not ended.
    fn add(&mut self, turn: &TurnRecord, given: Vec<String>, evaluations: &BTreeSet<FiberId>) {
        if turn.actor != MAIN {
            return;
        }
        let is_failed = turn::is_failed_turn(turn);
        let is_given_up = is_failed || turn.events.iter().any(|event| matches!(event, Event::Abandon {}));
        let ended: Vec<FiberId> = self
            .open
            .keys()
            .filter(|id| !evaluations.contains(id))
            .copied()
            .collect();
        for text in ended.iter().filter_map(|id| self.open.remove(id)) {
            if is_given_up {
                self.texts[text] = None;
            }
        }
        if is_failed {
            return;
        }
        let begun = evaluations.iter().filter(|id| !self.open.contains_key(id)).max();
        for text in given {
            self.open.extend(begun.map(|fiber| (*fiber, self.texts.len())));
            self.texts.push(Some(text));
        }
    }
}
