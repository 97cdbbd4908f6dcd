//! `wait`: a fiber parks until one of its conditions holds. A present fact counts, unless the wait
//! is only for later ones; in both cases the fiber continues in a later turn.

use super::{Act, Claims, Need, Needs, observe};
use crate::codec_struct;
use crate::dataspace::pattern::PackedPattern;
use crate::model::identity::{FacetId, FiberId, Resource, WaitId};
use crate::state::actor::{self, Condition, FiberKind, Observer, Target};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Parks a fiber until one of its conditions holds; takes the continuation, then a predicate for
/// each condition that has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The id of the wait.
    pub wait: WaitId,
    /// The fiber.
    pub fiber: FiberId,
    /// How the fiber's work is divided into turns.
    pub kind: FiberKind,
    /// The facet it belongs to.
    pub facet: FacetId,
    /// The conditions; the first to hold ends the wait.
    pub conditions: Vec<Condition>,
    /// Whether only later facts and messages count.
    pub is_edge: bool,
}
codec_struct!(Wait "wait" { wait, fiber, kind, facet, conditions, is_edge });

impl Act for Wait {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.park(self.fiber, self.facet, self.kind)?;
        draft.facet_mut(self.facet)?.waits.insert(self.wait);
        let begun = self.conditions.iter().map(|condition| self.begin(draft, condition));
        let conditions: Vec<Condition> = begun.collect::<Result<_, Refusal>>()?;
        let wait = actor::Wait {
            fiber: self.fiber,
            facet: self.facet,
            conditions: conditions.into(),
        };
        draft.acting_mut()?.waits.insert(self.wait, wait);
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Wait(self.wait));
        self.conditions
            .iter()
            .fold(claims, |claims, condition| match condition {
                Condition::Matching { observer, handle, .. } | Condition::Accepted { observer, handle, .. } => claims
                    .making(Resource::Observer(*observer))
                    .making(Resource::Handle(*handle)),
                Condition::Answer { request } => claims.using(Resource::Request(*request)),
            })
    }

    fn needs(&self) -> Needs<'_> {
        let patterns = self.conditions.iter().filter_map(|condition| match condition {
            Condition::Matching { pattern, .. } | Condition::Accepted { pattern, .. } => Some(Need::Observe(pattern)),
            Condition::Answer { .. } => None,
        });
        patterns.collect()
    }

    fn show(&self) -> String {
        let conditions = self.conditions.iter().map(|condition| match condition {
            Condition::Matching { pattern, .. } => pattern.to_string(),
            Condition::Accepted { pattern, .. } => format!("{pattern} that a predicate accepts"),
            Condition::Answer { request } => format!("the answer to {request}"),
        });
        let conditions: Vec<String> = conditions.collect();
        format!("{} of {} for {}", self.wait, self.fiber, conditions.join(" or "))
    }
}

impl Wait {
    /// Begins to wait for a condition; returns it as the state keeps it, with the pattern in its
    /// `Observe` fact.
    fn begin(&self, draft: &mut Draft, condition: &Condition) -> Result<Condition, Refusal> {
        let (wait, facet) = (self.wait, self.facet);
        let (observer, handle, pattern, target) = match condition {
            Condition::Matching {
                observer,
                handle,
                pattern,
            } => (observer, handle, pattern, Target::Wait { wait }),
            Condition::Accepted {
                observer,
                handle,
                pattern,
            } => {
                let procedure = draft.take_callable()?;
                let is_unlimited = pattern.is_anything();
                let target = Target::Predicate {
                    wait,
                    procedure,
                    is_unlimited,
                };
                (observer, handle, pattern, target)
            }
            Condition::Answer { request } => {
                let known = draft
                    .state
                    .requests
                    .get(request)
                    .filter(|known| known.actor == draft.actor);
                let is_answered = known.ok_or(Refusal::NoRequest(*request))?.answer.is_some();
                draft.acting_mut()?.awaited.insert((*request, wait));
                if is_answered {
                    draft.outbox.push(
                        draft.actor,
                        Event::Settled {
                            wait,
                            request: *request,
                        },
                    );
                }
                return Ok(condition.clone());
            }
        };
        let entry = Observer {
            facet,
            handle: *handle,
            target,
            is_closing: false,
        };
        let event_count = draft.outbox.count(draft.actor);
        let is_accepted = matches!(entry.target, Target::Predicate { .. });
        let (observer, handle) = (*observer, *handle);
        let pattern = PackedPattern::observed_by(observe::begin(draft, observer, entry, pattern)?);
        if self.is_edge {
            // The events for the observer so far are the facts that were present before it.
            draft.outbox.forget(draft.actor, observer, event_count);
        }
        Ok(if is_accepted {
            Condition::Accepted {
                observer,
                handle,
                pattern,
            }
        } else {
            Condition::Matching {
                observer,
                handle,
                pattern,
            }
        })
    }
}
