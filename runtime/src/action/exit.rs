//! `exit`: the acting actor ends. It retracts its remaining assertions in descending order of the
//! handles, except keyed entries, which pass to the main program; stop hooks do not run. The code
//! that takes the turn calls the exit hooks afterwards, in the same turn: they can notify others
//! but hold nothing.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::counted::counted;
use crate::model::failure::{ActorFailure, Failure};
use crate::model::identity::{ActorId, Handle, Resource};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// The main program's actor, whose end ends the run.
pub const MAIN: ActorId = ActorId(0);

/// Ends the acting actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// The exit code; 0 for success.
    pub code: u64,
    /// The handles to retract, in order.
    pub handles: Vec<Handle>,
    /// The failure, if the actor failed.
    pub failure: Option<Failure>,
}
codec_struct!(Exit "exit" { code, handles, failure });

impl Act for Exit {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.acting()?.clone();
        draft.acting_mut()?.observers.clear();
        let heir = draft
            .state
            .actor(MAIN)
            .filter(|_| draft.actor != MAIN)
            .map(|main| (MAIN, main.root));
        for handle in &self.handles {
            draft.state.release_assertion(*handle, heir, &mut draft.outbox);
        }
        draft.state.calls.remove(&draft.actor);
        for facet in actor.facets.values() {
            for request in facet.requests.iter() {
                draft.forget_request(*request);
            }
            for linked in facet.linked.iter() {
                draft.outbox.push(*linked, Event::Terminate {});
            }
        }
        if let Some((parent, facet)) = actor.link
            && let Some(parent) = draft.state.actor_mut(parent)
            && let Some(facet) = parent.facets.get_mut(&facet)
        {
            facet.linked.remove(&draft.actor);
        }
        if let Some(monitor) = draft.state.monitor_of(draft.actor) {
            let failed = self.failure.clone().map(|failure| ActorFailure {
                actor: draft.actor,
                role: actor.role.as_deref().map(str::to_owned),
                turn: draft.turn,
                failure,
            });
            let (actor, code) = (draft.actor, self.code);
            draft.outbox.push(monitor, Event::Ended { actor, code, failed });
        }
        draft.state.forget_capabilities(draft.actor);
        for (to, handle) in draft.state.peers.forget(draft.actor) {
            draft.outbox.push(to, Event::Taken { handle });
        }
        draft.state.actors.remove(&draft.actor);
        if draft.actor == MAIN {
            draft.state.exit = Some(self.code);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        let handles = self.handles.iter();
        handles.fold(Claims::default(), |claims, handle| {
            claims.ending(Resource::Handle(*handle))
        })
    }

    fn show(&self) -> String {
        format!(
            "with code {}, retracting {}",
            self.code,
            counted(self.handles.len(), "assertion")
        )
    }
}
