//! Divergences: the first difference between two turns.
//!
//! INVARIANT: equal turns have no difference.
//! It does not run anything; `run/replay.rs` does.
//! Read next: `../run/replay.rs`.

use std::fmt;

use duet_journal::Sequence;
use preserves::IOValue;

use crate::model::codec::Codec;
use crate::model::failure::Origin;
use crate::model::identity::ActorId;
use crate::record::{Outcome, TurnRecord};

/// The first difference between a run's journal and its program.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The position of the record.
    pub sequence: Sequence,
    /// Whose turn it was.
    pub actor: ActorId,
    /// Which part of the turn differs.
    pub part: &'static str,
    /// Which element of the part, counted from 0, if it is a list.
    pub element: Option<usize>,
    /// What the journal says; nothing, if the program did more.
    pub journal_says: Option<IOValue>,
    /// What the program did; nothing, if the journal says more.
    pub program_did: Option<IOValue>,
    /// Where in the program, if that is known.
    pub span: Option<Box<Origin>>,
    /// The other versions whose code the run has: only the version that took a turn proves it.
    pub versions: Vec<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<IOValue>| {
            value
                .as_ref()
                .map_or("nothing".to_owned(), |value| format!("{value:?}"))
        };
        let (says, did) = (side(&self.journal_says), side(&self.program_did));
        write!(
            f,
            "turn {} of {} differs in its {}: ",
            self.sequence, self.actor, self.part
        )?;
        write!(f, "the journal says {says}, the program did {did}")?;
        if !self.versions.is_empty() {
            write!(f, "; {} took turns of this run", self.versions.join(" and "))?;
        }
        Ok(())
    }
}

/// Finds the first difference between two turns.
pub(crate) fn difference(sequence: Sequence, journal: &TurnRecord, program: &TurnRecord) -> Option<Divergence> {
    let one = |part, journal: IOValue, program: IOValue| {
        (journal != program).then_some(Difference {
            part,
            element: None,
            journal: Some(journal),
            program: Some(program),
        })
    };
    let difference = one("actor", journal.actor.encode(), program.actor.encode())
        .or_else(|| one("cause", journal.cause.encode(), program.cause.encode()))
        .or_else(|| first("events", &journal.events, &program.events))
        .or_else(|| first("actions", &journal.actions, &program.actions))
        .or_else(|| first("verdicts", &journal.verdicts, &program.verdicts))
        .or_else(|| first("attempts", &journal.attempts, &program.attempts))
        .or_else(|| first("dropped events", &journal.dropped, &program.dropped))
        .or_else(|| one("outcome", journal.outcome.encode(), program.outcome.encode()))
        .or_else(|| one("fuel", journal.fuel.encode(), program.fuel.encode()))?;
    let span = match &program.outcome {
        Outcome::Failed { failure } => failure.origin.clone(),
        Outcome::Committed {} => None,
    };
    Some(Divergence {
        sequence,
        actor: journal.actor,
        part: difference.part,
        element: difference.element,
        journal_says: difference.journal,
        program_did: difference.program,
        span,
        versions: Vec::new(),
    })
}

/// A difference in a part of a turn, as [`Divergence`] has it.
struct Difference {
    part: &'static str,
    element: Option<usize>,
    journal: Option<IOValue>,
    program: Option<IOValue>,
}

fn first<T: Codec>(part: &'static str, journal: &[T], program: &[T]) -> Option<Difference> {
    (0..journal.len().max(program.len())).find_map(|position| {
        let (journal, program) = (
            journal.get(position).map(T::encode),
            program.get(position).map(T::encode),
        );
        (journal != program).then_some(Difference {
            part,
            element: Some(position),
            journal,
            program,
        })
    })
}
