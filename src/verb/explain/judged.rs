//! The calls of tools whose results told of a failure, which the program took and judged itself.
//!
//! INVARIANT: a call counts here if `duet log --failed` lists the turn that received its result.
//! It does not say that the program was wrong to go on. Read next: `failure.rs`.

use duet_journal::Sequence;
use duet_runtime::record::Body;
use duet_runtime::state::event::Event;
use schemars::JsonSchema;
use serde::Serialize;

use super::Explaining;
use crate::history::journal::Place;
use crate::history::origins::{Origin, Origins};
use crate::history::records::Records;
use crate::history::turn;
use crate::history::turn::line::{actor, heard, is_failure, strand};
use crate::text::error::CommandError;

/// The turns before a failure among which such calls are looked for.
const SEARCHED_MAX: usize = 4_096;

/// The first of the calls that failed before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FailedCall {
    /// The turn that received the result.
    pub(super) turn: u64,
    /// The actor by role and number, and its strand.
    name: String,
    /// The call and its result in words.
    pub(super) words: String,
    /// How many calls failed so, with this one.
    pub(super) count: u64,
}

impl FailedCall {
    /// In a line, with the address of the turn.
    pub(super) fn line(&self, name: &str) -> String {
        let count = match self.count {
            1 => String::new(),
            count => format!(", the first of {count} calls that failed"),
        };
        format!("{name}@{} {:<8} {}{count}", self.turn, self.name, self.words)
    }
}

impl Explaining<'_> {
    /// Finds the first call whose result, which the program received up to a turn, told of a
    /// failure; at a prompt, since the text that was typed last.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn failed_call(&self, until: Sequence) -> Result<Option<FailedCall>, CommandError> {
        let mut origins = Origins::of(self.place.source(self.store));
        let place = Place {
            turn: Some(until),
            ..self.place.clone()
        };
        let (mut count, mut first) = (0, None);
        for record in Records::newest_first(self.store, &place).take(SEARCHED_MAX) {
            let record = record?;
            let at = record.header().sequence;
            let bytes = record.body_view();
            if !turn::may_have(bytes.as_bytes(), "answered") && !turn::may_have(bytes.as_bytes(), "evaluate") {
                continue;
            }
            let Body::Turn(turn) = turn::body(&record)? else {
                break;
            };
            let mut failed = None;
            for (position, event) in turn.events.iter().enumerate().rev() {
                if let Event::Answered { request, outcome } = event
                    && is_failure(outcome)
                    && matches!(origins.request(*request, at)?, Origin::Tool { .. })
                {
                    count += 1;
                    failed = Some(position);
                }
            }
            let is_typed = turn.events.iter().any(|event| matches!(event, Event::Evaluate { .. }));
            if let Some(position) = failed {
                first = Some((at, turn, position));
            }
            if is_typed {
                break;
            }
        }
        let Some((at, turn, position)) = first else {
            return Ok(None);
        };
        let role = origins.role(turn.actor, at)?;
        let words = heard(&turn, at, &mut origins)?.swap_remove(position).text;
        let strand_name = origins.strand(&turn, at)?;
        Ok(Some(FailedCall {
            turn: at.number(),
            name: strand(actor(turn.actor, role.as_deref()), strand_name.as_deref()),
            words,
            count,
        }))
    }
}
