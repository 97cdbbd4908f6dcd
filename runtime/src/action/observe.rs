//! `observe`: a facet watches for matches of a pattern. The watch is itself a fact, which others
//! can observe.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::dataspace::pattern::PackedPattern;
use crate::dataspace::{ObserverRef, observe_fact};
use crate::model::identity::{FacetId, Handle, ObserverId, Resource};
use crate::model::value::Fact;
use crate::state::actor::{Observer, Target};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Begins a watch; takes the handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Observe {
    /// The facet.
    pub facet: FacetId,
    /// The id of the watch.
    pub observer: ObserverId,
    /// The handle of the `Observe` fact.
    pub handle: Handle,
    /// The pattern.
    pub pattern: PackedPattern,
}
codec_struct!(Observe "observe" { facet, observer, handle, pattern });

impl Act for Observe {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let target = Target::Handler {
            procedure: draft.take_callable()?,
        };
        let observer = Observer {
            facet: self.facet,
            handle: self.handle,
            target,
            is_closing: false,
        };
        begin(draft, self.observer, observer, &self.pattern).map(drop)
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Handle(self.handle))
            .making(Resource::Observer(self.observer))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Observe(&self.pattern))
    }

    fn show(&self) -> String {
        format!("{} as {} of {}", self.pattern, self.observer, self.facet)
    }
}

/// Adds an observer of a pattern, asserts its `Observe` fact and returns it.
pub(super) fn begin(
    draft: &mut Draft,
    id: ObserverId,
    observer: Observer,
    pattern: &PackedPattern,
) -> Result<Fact, Refusal> {
    let (facet, handle) = (observer.facet, observer.handle);
    let fact = observe_fact(
        ObserverRef {
            actor: draft.actor,
            observer: id,
        },
        pattern,
    )?;
    draft.facet_mut(facet)?.observers.insert(id);
    draft.acting_mut()?.observers.insert(id, observer);
    draft.hold(facet, handle, fact.clone())?;
    if !draft.acting()?.undelivered.is_empty() {
        hand_over(draft, id, pattern)?;
    }
    Ok(fact)
}

/// Hands a new observer the messages that one of the same pattern had not received when the actor
/// began anew: those of the oldest such one, so that nobody receives a message twice.
fn hand_over(draft: &mut Draft, id: ObserverId, pattern: &PackedPattern) -> Result<(), Refusal> {
    let actor = draft.actor;
    let mut heir_of: Option<ObserverId> = None;
    let mut taken = Vec::new();
    for (number, message) in draft.acting()?.undelivered.iter() {
        let observer = message.observer;
        if heir_of.is_none() && message.watch == observe_fact(ObserverRef { actor, observer }, pattern)? {
            heir_of = Some(observer);
        }
        if heir_of == Some(observer) {
            taken.push((*number, message.captures.clone()));
        }
    }
    for (number, captures) in taken {
        draft.acting_mut()?.undelivered.remove(&number);
        draft.outbox.push(actor, Event::Message { observer: id, captures });
    }
    Ok(())
}
