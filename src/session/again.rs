//! The way back to before a call whose failure ended a run.
//!
//! A turn that a call's failure led to has that failure wherever a run goes back to after the call;
//! only from before the turn that made it is the call made again.
//! INVARIANT: the way is named only if going it repeats the call.
//! It goes no way. Read next: `stop_report.rs`.

use duet_journal::Store;
use duet_runtime::history::chain::failed_call;
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::source::Source;

use super::Session;
use crate::error::CommandError;
use crate::turn;

impl Session {
    /// Names the way back to before the call whose failure ended the run, if one did and may be
    /// repeated.
    pub(super) fn way_to_call_again(&self, store: &dyn Store) -> Result<Option<String>, CommandError> {
        let (run, name) = (&self.run, &self.place.name);
        if self.place.journal.is_none() {
            return Ok(None);
        }
        let Some(record) = store.record_at(run.id(), run.branch(), self.head())? else {
            return Ok(None);
        };
        let Body::Turn(last) = turn::body(&record)? else {
            return Ok(None);
        };
        let Outcome::Failed { failure } = last.outcome else {
            return Ok(None);
        };
        let source = Source {
            store,
            run: run.id(),
            branch: run.branch(),
        };
        let call = failed_call(&source, self.head())?;
        let call = call.filter(|call| call.kind == failure.kind && self.world.is_repeatable(&call.tool));
        let before = call.and_then(|call| Some((call.turn.number().checked_sub(1)?, call)));
        Ok(before.map(|(before, call)| {
            format!(
                "{name}@{} and later have the failure of {}; `duet goto {name}@{before}`, then `duet resume {name}`, \
                 calls it again",
                call.turn, call.tool
            )
        }))
    }
}
