//! `stop-facet`: a facet ends with everything it holds.
//!
//! The action removes its fibers, waits and requests, ends linked actors, and retracts its
//! assertions in the order of their handles, except keyed entries, which pass to the actor's root
//! facet. Before that its child facets stop, each by an action of its own, and its stop hooks run.

use super::exit::MAIN;
use super::{Act, Claims};
use crate::codec_struct;
use crate::model::counted::counted;
use crate::model::identity::{ActorId, FacetId, FiberId, Handle, Resource};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Ends a facet that has no child facets.
#[derive(Clone, Debug, PartialEq)]
pub struct StopFacet {
    /// The facet.
    pub facet: FacetId,
    /// The handles to retract with it, in order.
    pub handles: Vec<Handle>,
}
codec_struct!(StopFacet "stop-facet" { facet, handles });

impl Act for StopFacet {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let facet = draft.facet(self.facet)?.clone();
        if !facet.children.is_empty() {
            return Err(Refusal::HasChildren(self.facet));
        }
        // Observers end before the retractions, so that a stopping facet receives no more events.
        for fiber in facet.fibers.iter() {
            draft.drop_fiber(*fiber)?;
        }
        forget_guards(draft, self.facet)?;
        for observer in facet.observers.iter() {
            draft.forget_observer(*observer)?;
        }
        for wait in facet.waits.iter() {
            draft.forget_wait(*wait)?;
        }
        let heir = heir(draft, self.facet);
        for handle in &self.handles {
            draft.state.release_assertion(*handle, heir, &mut draft.outbox);
        }
        for request in facet.requests.iter() {
            draft.forget_request(*request);
        }
        for actor in facet.linked.iter() {
            draft.outbox.push(*actor, Event::Terminate {});
        }
        draft.outbox.released.extend(facet.stop_hooks.iter().copied());
        forget_entities(draft, self.facet)?;
        draft.acting_mut()?.facets.remove(&self.facet);
        if let Some(parent) = facet.parent {
            draft.facet_mut(parent)?.children.remove(&self.facet);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default().ending(Resource::Facet(self.facet));
        self.handles
            .iter()
            .fold(claims, |claims, handle| claims.ending(Resource::Handle(*handle)))
    }

    fn show(&self) -> String {
        format!(
            "{}, retracting {}",
            self.facet,
            counted(self.handles.len(), "assertion")
        )
    }
}

/// Drops the guards whose procedures would be called in the facet.
fn forget_guards(draft: &mut Draft, facet: FacetId) -> Result<(), Refusal> {
    let guards = draft.acting()?.guards.iter();
    let its: Vec<FiberId> = guards
        .filter(|(_, guard)| guard.facet == facet)
        .map(|(fiber, _)| *fiber)
        .collect();
    for fiber in its {
        draft.take_guard(fiber)?;
    }
    Ok(())
}

/// Returns the facet that inherits the entries of an ending facet: the actor's root, or for a root
/// that of the main program.
fn heir(draft: &Draft, facet: FacetId) -> Option<(ActorId, FacetId)> {
    let root = draft.acting().ok()?.root;
    if facet != root {
        return Some((draft.actor, root));
    }
    let main = draft.state.actor(MAIN).filter(|_| draft.actor != MAIN)?;
    Some((MAIN, main.root))
}

/// Frees the role of the facet's entity, and drops the facet's monitors of other actors.
fn forget_entities(draft: &mut Draft, facet: FacetId) -> Result<(), Refusal> {
    let actor = draft
        .state
        .actor_mut(draft.actor)
        .ok_or(Refusal::NoActor(draft.actor))?;
    if !actor.attached.is_empty() {
        let role = actor.attached.iter().find(|(_, attached)| **attached == facet);
        if let Some(role) = role.map(|(role, _)| role.clone()) {
            actor.attached.remove(&role);
        }
    }
    let monitored = actor
        .facets
        .get(&facet)
        .map(|facet| facet.monitored.iter().copied().collect());
    let monitored: Vec<ActorId> = monitored.unwrap_or_default();
    for other in monitored {
        if let Some(monitor) = actor.monitors.remove(&other) {
            draft.outbox.released.push(monitor.procedure);
        }
    }
    Ok(())
}
