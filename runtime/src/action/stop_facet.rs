//! `stop-facet`: a facet ends with all it holds: fibers and waits vanish, requests are dropped, linked actors end, and its assertions are
//! retracted in the order of their handles, except keyed entries, which pass to the actor's root facet. Facets inside it stop before, each by an action of its own, and so do its stop hooks run before.

use super::exit::MAIN;
use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::Resource;
use crate::model::identity::{ActorId, FacetId, Handle};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Ends a facet in which no other lives any more.
#[derive(Clone, Debug, PartialEq)]
pub struct StopFacet {
    /// The facet.
    pub facet: FacetId,
    /// What is retracted with it, in order.
    pub handles: Vec<Handle>,
}
codec_struct!(StopFacet "stop-facet" { facet, handles });

impl Act for StopFacet {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let facet = draft.facet(self.facet)?.clone();
        if !facet.children.is_empty() {
            return Err(Refusal::HasChildren(self.facet));
        }
        // Observers go before their facts are retracted: a stopping facet is told nothing more.
        for fiber in facet.fibers.iter() {
            let fiber = draft.unpark(*fiber)?;
            draft.outbox.released.push(fiber.continuation);
        }
        for observer in facet.observers.iter() {
            draft.forget_observer(*observer)?;
        }
        for wait in facet.waits.iter() {
            draft.forget_wait(*wait)?;
        }
        let heir = heir(draft, self.facet);
        for handle in &self.handles {
            draft.state.let_go(*handle, heir, &mut draft.outbox);
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
        format!("{}, retracting {} assertions", self.facet, self.handles.len())
    }
}

/// Who has the entries of a facet when it ends: the actor's root, or the main program's.
fn heir(draft: &Draft, facet: FacetId) -> Option<(ActorId, FacetId)> {
    let root = draft.acting().ok()?.root;
    if facet != root {
        return Some((draft.actor, root));
    }
    let main = draft.state.actor(MAIN).filter(|_| draft.actor != MAIN)?;
    Some((MAIN, main.root))
}

/// Frees the role of the entity whose facet this was, and forgets what was to be called here at the end of other actors.
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
    let told = actor
        .facets
        .get(&facet)
        .map(|facet| facet.monitored.iter().copied().collect());
    let told: Vec<ActorId> = told.unwrap_or_default();
    for other in told {
        if let Some(monitor) = actor.monitors.remove(&other) {
            draft.outbox.released.push(monitor.procedure);
        }
    }
    Ok(())
}
