//! The ways from the failure that ended a run: back to before a call that failed, and to the
//! conversation of an agent.
//!
//! A turn that a call's failure led to has that failure wherever a run goes back to after the call;
//! only from before the turn that made it is the call made again.
//! INVARIANT: the way back is named only if going it repeats the call; a conversation is named only
//! if the failure is an agent's.
//! It goes no way. Read next: `stop_report.rs`.

use duet_journal::Store;
use duet_runtime::history::chain::leading_call;
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::source::Source;

use super::OwnedRun;
use crate::history::turn;
use crate::text::error::CommandError;
use crate::text::exchange;
use crate::text::saying::{Saying, Way, say};

impl OwnedRun {
    /// Names the way back to before the call whose failure ended the run, if one did, and the turn
    /// with the conversation of an agent whose failure ended it.
    pub(super) fn ways_from_failure(&self, store: &dyn Store) -> Result<Vec<Saying>, CommandError> {
        let (run, name) = (&self.run, &self.place.name);
        if self.place.journal.is_none() {
            return Ok(Vec::new());
        }
        let Some(record) = store.record_at(run.id(), run.branch(), self.head())? else {
            return Ok(Vec::new());
        };
        let Body::Turn(last) = turn::body(&record)? else {
            return Ok(Vec::new());
        };
        let Outcome::Failed { failure } = last.outcome else {
            return Ok(Vec::new());
        };
        let source = Source {
            store,
            run: run.id(),
            branch: run.branch(),
        };
        let Some(call) = leading_call(&source, self.head())? else {
            return Ok(Vec::new());
        };
        let (turn, tool) = (call.turn, &call.tool);
        let mut ways = Vec::new();
        if *tool == exchange::TOOL && failure.is_of("conversation") {
            ways.push(say![
                format!("{name}@{turn} asked the model last; "),
                Way::turn("show", name, turn),
                " shows the conversation up to there",
            ]);
        }
        let is_failed = call.failed.is_some_and(|kind| kind == failure.kind);
        if let (true, Some(before)) = (is_failed, turn.number().checked_sub(1)) {
            let again = match self.world.is_repeatable(tool) {
                _ if exchange::lacks_provider(tool, &failure.kind) => "--provider NAME",
                true => "",
                false => "--again",
            };
            let is_risky = again == "--again" && exchange::may_be_made(tool, &failure.kind);
            let risk = if is_risky {
                "; the first call may have had its effect"
            } else {
                ""
            };
            ways.push(say![
                format!("{name}@{turn} and later have the failure of {tool}; "),
                Way::turn("goto", name, before),
                ", then ",
                Way::at("resume", name).with(again),
                format!(", calls it again{risk}"),
            ]);
        }
        Ok(ways)
    }
}
