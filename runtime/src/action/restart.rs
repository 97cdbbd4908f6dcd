//! `restart`: the acting actor begins anew, because the person who owns the run wants it to.
//!
//! It keeps its id, its program, its rights and limits, the actor that monitors it and the facet
//! that it is linked to. Its facets end with all that they hold, as at [`Exit`](super::Exit): its
//! assertions are retracted in the given order, except keyed entries, which pass to the new root
//! facet; its calls are withdrawn, and linked actors end. No hook runs, because the code that is to
//! be left may be wrong. Messages that it has not received yet wait for an observer with the same
//! pattern. The code that takes the turn runs the program afterwards, in the same turn and in an
//! empty heap. No program can perform it, so it needs no right.

use super::exit::MAIN;
use super::{Act, Claims};
use crate::codec_struct;
use crate::model::counted::counted;
use crate::model::identity::{FacetId, Handle, Resource};
use crate::state::actor::{Actor, Facet, Undelivered};
use crate::state::draft::Draft;
use crate::state::event::{Batch, Event};
use crate::state::refusal::Refusal;

/// Makes the acting actor begin anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    /// Its new root facet.
    pub root: FacetId,
    /// The handles to retract, in order.
    pub handles: Vec<Handle>,
}
codec_struct!(Restart "restart" { root, handles });

impl Act for Restart {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let old = draft.acting()?.clone();
        if draft.actor == MAIN || old.is_peer() {
            return Err(Refusal::NoRestart(draft.actor));
        }
        let undelivered = take_undelivered(draft, &old);
        draft.acting_mut()?.observers.clear();
        draft.acting_mut()?.facets.insert(self.root, Facet::default());
        let heir = Some((draft.actor, self.root));
        for handle in &self.handles {
            draft.state.release_assertion(*handle, heir, &mut draft.outbox);
        }
        for facet in old.facets.values() {
            for request in facet.requests.iter() {
                draft.forget_request(*request);
            }
            for linked in facet.linked.iter() {
                draft.outbox.push(*linked, Event::Terminate {});
            }
        }
        draft.state.forget_capabilities(draft.actor);
        let kept = draft.facet(self.root)?.clone();
        let mut actor = old.anew(self.root);
        actor.facets.insert(self.root, kept);
        for (number, message) in (0..).zip(undelivered) {
            actor.undelivered.insert(number, message);
        }
        draft.state.actors.insert(draft.actor, actor);
        if let Some(monitor) = draft.state.monitor_of(draft.actor) {
            let actor = draft.actor;
            draft.outbox.push(monitor, Event::Restarted { actor });
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default().making(Resource::Facet(self.root));
        self.handles
            .iter()
            .fold(claims, |claims, handle| claims.ending(Resource::Handle(*handle)))
    }

    fn show(&self) -> String {
        format!(
            "in {}, retracting {}",
            self.root,
            counted(self.handles.len(), "assertion")
        )
    }
}

/// Takes the messages on their way to the actor out of the queue, and its beginning, which this one
/// replaces.
fn take_undelivered(draft: &mut Draft, old: &Actor) -> Vec<Undelivered> {
    let mut taken: Vec<Undelivered> = old.undelivered.values().cloned().collect();
    let mut left = Vec::new();
    for batch in &draft.state.queue {
        let mut batch: Batch = batch.clone();
        if batch.to == draft.actor {
            batch.events.retain(|event| {
                let message = undelivered(draft, old, event);
                let is_left = message.is_none() && *event != Event::Boot {};
                taken.extend(message);
                is_left
            });
            if batch.events.is_empty() {
                continue;
            }
        }
        left.push(batch);
    }
    draft.state.queue = left.into_iter().collect();
    taken
}

/// Returns the message that an event brings to an observer of the actor.
fn undelivered(draft: &Draft, old: &Actor, event: &Event) -> Option<Undelivered> {
    let Event::Message { observer, captures } = event else {
        return None;
    };
    let known = old.observers.get(observer)?;
    Some(Undelivered {
        observer: *observer,
        watch: draft.state.held.get(&known.handle)?.fact.clone(),
        captures: captures.clone(),
    })
}
