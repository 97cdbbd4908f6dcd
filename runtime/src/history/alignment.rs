//! The requests of two branches, aligned by their content and not by the numbers of turns.
//!
//! INVARIANT: each request of either side stands in exactly one list.
//! It reads records alone, so its keys have no definitions; it runs nothing.
//! Read next: `../record/key.rs`.

use std::collections::BTreeMap;

use duet_journal::Sequence;
use preserves::IOValue;

use super::rerun::comparison::{longest_ascent, nearest};
use super::rerun::outcome_of;
use crate::record::key::{Asked, Key, Ledger};
use crate::run::error::RunError;
use crate::run::source::{PORTION, Source, decode_turn};

/// The answer to a request, if there is one.
pub type Outcome = Option<Result<IOValue, IOValue>>;

/// A request with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The request.
    pub asked: Asked,
    /// Its answer.
    pub outcome: Outcome,
}

/// A request that both sides make.
#[derive(Clone, Debug)]
pub struct Pair {
    /// On the left.
    pub left: Answered,
    /// On the right.
    pub right: Answered,
    /// Whether the sides make it in another order among those that both make.
    pub is_moved: bool,
}

/// The requests of two branches, aligned.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// What both ask.
    pub both: Vec<Pair>,
    /// What the same actor asks the same tool with other arguments.
    pub changed: Vec<(Answered, Answered)>,
    /// What only the left asks.
    pub left: Vec<Answered>,
    /// What only the right asks.
    pub right: Vec<Answered>,
}

impl Source<'_> {
    /// Lists what the branch has asked, heard and shown up to turn `at`, by its records, without
    /// the places of requests.
    ///
    /// # Errors
    /// [`RunError`] if a record cannot be read.
    pub fn recorded_ledger(&self, at: Sequence) -> Result<Ledger, RunError> {
        let mut ledger = Ledger::new(self.run.as_str());
        let mut next = 1;
        while next <= at.number() {
            let end = (at.number() + 1).min(next + PORTION);
            for record in self.read(Sequence::new(next).map_err(|_| RunError::Full)?, end)? {
                let record = record?;
                ledger.note(record.header().sequence, &decode_turn(&record)?, &[]);
            }
            next = end;
        }
        Ok(ledger)
    }
}

/// Aligns the requests of two ledgers.
pub fn align(left: &Ledger, right: &Ledger) -> Alignment {
    let by_key: BTreeMap<&Key, usize> = left.asked.iter().zip(0..).map(|(asked, at)| (&asked.key, at)).collect();
    let met: Vec<Option<usize>> = right
        .asked
        .iter()
        .map(|asked| by_key.get(&asked.key).copied())
        .collect();
    let in_order = longest_ascent(&met.iter().flatten().copied().collect::<Vec<_>>());
    let answered = |ledger: &Ledger, asked: &Asked| Answered {
        asked: asked.clone(),
        outcome: outcome_of(ledger, asked.request).cloned(),
    };
    let both = right
        .asked
        .iter()
        .zip(&met)
        .filter_map(|(asked, met)| Some((asked, (*met)?)));
    let both = both.zip(in_order).map(|((asked, met), is_in_order)| Pair {
        left: answered(left, &left.asked[met]),
        right: answered(right, asked),
        is_moved: !is_in_order,
    });
    let mut found = Alignment {
        both: both.collect(),
        ..Alignment::default()
    };
    let mut left_alone: Vec<Option<&Asked>> = left.asked.iter().map(Some).collect();
    met.iter().flatten().for_each(|met| left_alone[*met] = None);
    for (asked, _) in right.asked.iter().zip(&met).filter(|(_, met)| met.is_none()) {
        match nearest(&asked.key, &mut left_alone) {
            Some(near) => found.changed.push((answered(left, near), answered(right, asked))),
            None => found.right.push(answered(right, asked)),
        }
    }
    found.left = left_alone
        .into_iter()
        .flatten()
        .map(|asked| answered(left, asked))
        .collect();
    found
}
