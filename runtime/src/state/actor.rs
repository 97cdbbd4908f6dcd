//! One actor: its tree of facets, its observers, its parked fibers and their waits.
//!
//! INVARIANT: every handle, observer, wait and fiber belongs to a live facet of its actor, and the
//! facet lists it, so that stopping the facet finds all of them. The exception is a closing
//! observer, which no facet lists: it only waits for the removals that are on their way to it.
//! It does not act on the dataspace; `../state.rs` does.
//! Read next: `../state.rs`.

use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::collections::tracked::{Tracked, TrackedList, TrackedSet, TrackedTree, tracked_fields};
use crate::dataspace::Captures;
use crate::dataspace::pattern::PackedPattern;
use crate::model::codec::{Codec, DecodeError, Fields};
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, ObserverId, RequestId, WaitId};
use crate::model::manifest::Manifest;
use crate::model::value::Fact;
use crate::{codec_enum, codec_struct};

/// A node of an actor's tree of facets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facet {
    /// The parent facet; `None` for the root.
    pub parent: Option<FacetId>,
    /// The fiber that uses it: if that fiber is ended before its work is done, the facet stops.
    pub user: Option<FiberId>,
    /// The child facets.
    pub children: TrackedSet<FacetId>,
    /// The handles of its assertions.
    pub handles: TrackedSet<Handle>,
    /// Its watches and the observers of its waits.
    pub observers: TrackedSet<ObserverId>,
    /// The waits of its parked fibers.
    pub waits: TrackedSet<WaitId>,
    /// Its parked fibers.
    pub fibers: TrackedSet<FiberId>,
    /// The requests that it made to the world and whose answers it has not consumed.
    pub requests: TrackedSet<RequestId>,
    /// Actors that end when it stops.
    pub linked: TrackedSet<ActorId>,
    /// Actors whose end it monitors.
    pub monitored: TrackedSet<ActorId>,
    /// Procedures to call when it stops, oldest first.
    pub stop_hooks: TrackedList<Callable>,
}
tracked_fields!(Facet {
    children,
    handles,
    observers,
    waits,
    fibers,
    requests,
    linked,
    monitored,
    stop_hooks
} but not { parent, user });
codec_struct!(Facet "facet" {
    parent, user, children, handles, observers, waits, fibers, requests, linked, monitored, stop_hooks
});

/// The use of an observer's events.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Each event calls a procedure.
    Handler {
        /// The procedure.
        procedure: Callable,
    },
    /// The first event ends a wait.
    Wait {
        /// The wait.
        wait: WaitId,
    },
    /// The first event that a predicate accepts ends a wait.
    Predicate {
        /// The wait.
        wait: WaitId,
        /// The predicate.
        procedure: Callable,
        /// Whether every fact matches, so that the runtime's own must be left out.
        is_unlimited: bool,
    },
    /// Each event goes to an object of the peer that the actor stands for.
    Peer {
        /// The peer's number for the object.
        oid: u64,
    },
}
codec_enum!(Target "a target" {
    Handler "handler" { procedure }
    Wait "wait" { wait }
    Predicate "predicate" { wait, procedure, is_unlimited }
    Peer "peer" { oid }
});

/// A recipient of matches. Its pattern stands in its `Observe` fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Observer {
    /// The facet it belongs to.
    pub facet: FacetId,
    /// The handle of its `Observe` fact.
    pub handle: Handle,
    /// The use of its events.
    pub target: Target,
    /// Whether it has ended and only its last removals are still to come.
    pub is_closing: bool,
}
codec_struct!(Observer "observer-state" { facet, handle, target, is_closing });

/// A condition that ends a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A fact or message that matches.
    Matching {
        /// The observer with the pattern.
        observer: ObserverId,
        /// The handle of its `Observe` fact.
        handle: Handle,
        /// The pattern.
        pattern: PackedPattern,
    },
    /// A fact or message that matches and that a procedure accepts.
    Accepted {
        /// The observer with the pattern.
        observer: ObserverId,
        /// The handle of its `Observe` fact.
        handle: Handle,
        /// The pattern.
        pattern: PackedPattern,
    },
    /// The answer to a request.
    Answer {
        /// The request.
        request: RequestId,
    },
}
/// A procedure that is called when its actor has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitHook {
    /// The procedure.
    pub procedure: Callable,
    /// The facet of the attached entity that registered it, with which it goes.
    pub entity: Option<FacetId>,
}
codec_struct!(ExitHook "exit-hook" { procedure, entity });

impl Condition {
    /// Returns whether a fact or a message can satisfy it.
    pub(crate) fn is_of_dataspace(&self) -> bool {
        match self {
            Self::Matching { .. } | Self::Accepted { .. } => true,
            Self::Answer { .. } => false,
        }
    }
}

codec_enum!(Condition "a condition" {
    Matching "matching" { observer, handle, pattern }
    Accepted "accepted" { observer, handle, pattern }
    Answer "answer" { request }
});

/// The conditions of a wait. Almost every wait has one, which takes no allocation of its own, so
/// that a run may have a million waits.
#[derive(Clone, Debug, PartialEq)]
pub enum Conditions {
    /// The only condition.
    One(Condition),
    /// Any number of conditions.
    Many(Arc<[Condition]>),
}

impl Deref for Conditions {
    type Target = [Condition];

    fn deref(&self) -> &[Condition] {
        match self {
            Self::One(condition) => slice::from_ref(condition),
            Self::Many(conditions) => conditions,
        }
    }
}

impl From<Vec<Condition>> for Conditions {
    fn from(conditions: Vec<Condition>) -> Self {
        match <[Condition; 1]>::try_from(conditions) {
            Ok([condition]) => Self::One(condition),
            Err(conditions) => Self::Many(conditions.into()),
        }
    }
}

impl Codec for Conditions {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|condition| condition.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Vec::decode(value).map(Self::from)
    }
}

/// The conditions of a parked fiber; the first that holds ends the wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The fiber.
    pub fiber: FiberId,
    /// Its facet.
    pub facet: FacetId,
    /// The conditions.
    pub conditions: Conditions,
}
codec_struct!(Wait "wait-state" { fiber, facet, conditions });

/// How a fiber's work is divided into turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiberKind {
    /// A main program: commits when it waits, yields, writes or has used its slice of fuel.
    Main {},
    /// A handler: runs in one turn until it waits, or fails.
    Handler {},
    /// A handler of a main program that another actor has set off: as [`Handler`](Self::Handler),
    /// but its failure does not end a run that has clients.
    Served {},
    /// A fiber that another fiber has spawned: goes on in the next turn when it has used its slice
    /// of fuel; its failure is that of its actor.
    Strand {
        /// Whether a handler has spawned it, or a strand of one, that another actor has set off.
        is_served: bool,
    },
    /// The same, spawned by a fiber with a limit of fuel, or by a strand of it: the limit holds for
    /// all of them together. One that outlives that fiber is limited as a handler is.
    Limited {
        /// The fiber with the limit.
        payer: FiberId,
    },
    /// The evaluation of a text that the actor received: commits as a main program does; its
    /// failure ends only itself.
    Interaction {},
    /// A fiber with a [`Guard`]: commits as a main program does, after less fuel; the guard
    /// receives its failure.
    Guarded {},
}
codec_enum!(FiberKind "a kind of fiber" {
    Main "main" {} Handler "handler" {} Served "served" {} Strand "strand" { is_served } Limited "limited" { payer }
    Interaction "interaction" {} Guarded "guarded" {}
});

impl FiberKind {
    /// Whether writing commits the fiber's turn.
    pub(crate) fn commits_on_write(self) -> bool {
        match self {
            Self::Main {} | Self::Interaction {} | Self::Guarded {} => true,
            Self::Handler {} | Self::Served {} | Self::Strand { .. } | Self::Limited { .. } => false,
        }
    }
}

/// The recipient of a fiber's failure, which ends only the fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The facet in which the procedure is called.
    pub facet: FacetId,
    /// The procedure, which receives the failure.
    pub procedure: Callable,
    /// The fuel that is left to the fiber, if it is limited.
    pub fuel_left: Option<u64>,
}
codec_struct!(Guard "guard" { facet, procedure, fuel_left });

/// A parked fiber.
#[derive(Clone, Debug, PartialEq)]
pub struct Fiber {
    /// The facet it belongs to.
    pub facet: FacetId,
    /// How its work is divided into turns.
    pub kind: FiberKind,
    /// The rest of its computation.
    pub continuation: Callable,
    /// What it sleeps for; few fibers sleep.
    pub sleep: Option<Box<Sleep>>,
}

/// The sleep of a fiber that another fiber wakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sleep {
    /// What the other fiber will have done then, for people.
    pub until: Arc<str>,
    /// The parked fiber whose end also wakes this one.
    pub follows: Option<FiberId>,
}

impl Codec for Fiber {
    fn write(&self, out: &mut PackedWriter) {
        out.record(Self::LABEL, |out| {
            self.facet.write(out);
            self.kind.write(out);
            self.continuation.write(out);
            let sleep = self.sleep.as_deref();
            sleep.map(|sleep| Arc::clone(&sleep.until)).write(out);
            sleep.and_then(|sleep| sleep.follows).write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, Self::LABEL, Self::FIELDS.len())?;
        let [facet, kind, continuation, until, follows] = Self::FIELDS;
        let (facet, kind) = (fields.read(facet)?, fields.read(kind)?);
        let continuation = fields.read(continuation)?;
        let until: Option<Arc<str>> = fields.read(until)?;
        let follows = fields.read(follows)?;
        let sleep = until.map(|until| Box::new(Sleep { until, follows }));
        if sleep.is_none() && follows.is_some() {
            return Err(DecodeError::Inconsistent {
                what: "a fiber that follows another one sleeps",
            });
        }
        Ok(Self {
            facet,
            kind,
            continuation,
            sleep,
        })
    }

    fn fields_of(label: &str) -> &'static [&'static str] {
        if label == Self::LABEL { &Self::FIELDS } else { &[] }
    }
}

impl Fiber {
    const LABEL: &str = "fiber-state";
    const FIELDS: [&str; 5] = ["facet", "kind", "continuation", "asleep_until", "follows"];

    /// Returns the parked fiber whose end also wakes this one, if this one sleeps.
    pub fn follows(&self) -> Option<FiberId> {
        self.sleep.as_deref()?.follows
    }
}

/// The class of the entities with a role: a procedure of a library, which a new actor finds by
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityClass {
    /// The library, as written: `(chat room)`.
    pub library: String,
    /// The name of the procedure in the library.
    pub procedure: String,
}
codec_struct!(EntityClass "entity-class" { library, procedure });

impl std::fmt::Display for EntityClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.procedure, self.library)
    }
}

/// The monitor of another actor's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// The facet in which the procedure is called.
    pub facet: FacetId,
    /// The procedure, which receives the reason for the end.
    pub procedure: Callable,
}
codec_struct!(Monitor "monitor" { facet, procedure });

/// The role of sessions.
const SESSION: &str = "session";

/// The packed symbol that labels the program of a peer's actor.
const PEER: &[u8] = b"\xb3\x04peer";

/// A message that an actor had not received when it began anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Undelivered {
    /// The observer that was to receive it, which has ended.
    pub observer: ObserverId,
    /// The observer's `Observe` fact: the next observer of the same pattern receives the message.
    pub watch: Fact,
    /// The captured parts.
    pub captures: Captures,
}
codec_struct!(Undelivered "undelivered" { observer, watch, captures });

/// An actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// The role that it plays; none for the main program.
    pub role: Option<Arc<str>>,
    /// The packed program, to which the loader of programs gives its meaning; none for the main
    /// program, which the run's first record describes.
    pub program: Option<Fact>,
    /// The capabilities that it has by name.
    pub manifest: Manifest,
    /// The maximum size of its heap in bytes, if its spawner gave it one.
    pub heap_bytes_max: Option<u64>,
    /// The maximum number of its assertions, its watches included, if its spawner limited it.
    pub facts_max: Option<u64>,
    /// The facet of another actor on which its life depends.
    pub link: Option<(ActorId, FacetId)>,
    /// The actor that monitors its end.
    pub monitored_by: Option<ActorId>,
    /// The root of its facets.
    pub root: FacetId,
    /// Its live facets.
    pub facets: TrackedTree<FacetId, Facet>,
    /// Its observers.
    pub observers: Tracked<ObserverId, Observer>,
    /// Its waits.
    pub waits: Tracked<WaitId, Wait>,
    /// The waits for the answer to a request.
    pub awaited: TrackedSet<(RequestId, WaitId)>,
    /// Its parked fibers.
    pub fibers: Tracked<FiberId, Fiber>,
    /// Fibers, each with one that sleeps until it has ended.
    pub followers: TrackedSet<(FiberId, FiberId)>,
    /// The guards of its guarded fibers, parked or not.
    pub guards: Tracked<FiberId, Guard>,
    /// The classes of the roles it knows.
    pub roles: Tracked<Arc<str>, Arc<EntityClass>>,
    /// The facets of the entities that live in it, by role.
    pub attached: Tracked<Arc<str>, FacetId>,
    /// The monitors of other actors' ends.
    pub monitors: Tracked<ActorId, Monitor>,
    /// Procedures to call after it has ended, oldest first.
    pub exit_hooks: TrackedList<ExitHook>,
    /// Messages that it had not received when it began anew, in their order.
    pub undelivered: Tracked<u64, Undelivered>,
}
tracked_fields!(Actor {
    facets,
    observers,
    waits,
    awaited,
    fibers,
    followers,
    guards,
    roles,
    attached,
    monitors,
    exit_hooks,
    undelivered
} but not { role, program, manifest, heap_bytes_max, facts_max, link, monitored_by, root });
codec_struct!(Actor "actor" {
    role, program, manifest, heap_bytes_max, facts_max, link, monitored_by, root, facets, observers, waits, awaited,
    fibers, followers, guards, roles, attached, monitors, exit_hooks, undelivered
});

/// The maximum number of an actor's observers, waits and fibers that are looked at after a turn.
const WHOLE_FACETS_MAX: usize = 64;

impl Actor {
    /// Makes an actor that has not acted yet.
    pub fn new(program: Option<Fact>, manifest: Manifest, link: Option<(ActorId, FacetId)>, root: FacetId) -> Self {
        Self {
            role: None,
            program,
            manifest,
            heap_bytes_max: None,
            facts_max: None,
            link,
            monitored_by: None,
            root,
            facets: std::iter::once((root, Facet::default())).collect(),
            observers: Tracked::default(),
            waits: Tracked::default(),
            awaited: TrackedSet::default(),
            fibers: Tracked::default(),
            followers: TrackedSet::default(),
            guards: Tracked::default(),
            roles: Tracked::default(),
            attached: Tracked::default(),
            monitors: Tracked::default(),
            exit_hooks: TrackedList::default(),
            undelivered: Tracked::default(),
        }
    }

    /// Says whether each observer, wait and fiber belongs to a live facet that lists it. An actor
    /// with many of them is not looked at.
    pub(crate) fn has_whole_facets(&self) -> bool {
        if self.observers.len() + self.waits.len() + self.fibers.len() > WHOLE_FACETS_MAX {
            return true;
        }
        let lists =
            |facet: FacetId, has: &dyn Fn(&Facet) -> bool| self.facets.get(&facet).is_some_and(|facet| has(facet));
        let mut observers = self.observers.iter().filter(|(_, observer)| !observer.is_closing);
        observers.all(|(id, observer)| lists(observer.facet, &|facet| facet.observers.iter().any(|own| own == id)))
            && (self.waits.iter()).all(|(id, wait)| lists(wait.facet, &|facet| facet.waits.iter().any(|own| own == id)))
            && (self.fibers.iter())
                .all(|(id, fiber)| lists(fiber.facet, &|facet| facet.fibers.iter().any(|own| own == id)))
    }

    /// Makes the actor as it was spawned, with another root facet; it still knows the roles that it
    /// has learnt.
    pub(crate) fn anew(&self, root: FacetId) -> Self {
        Self {
            role: self.role.clone(),
            heap_bytes_max: self.heap_bytes_max,
            facts_max: self.facts_max,
            monitored_by: self.monitored_by,
            roles: self
                .roles
                .iter()
                .map(|(role, class)| (role.clone(), class.clone()))
                .collect(),
            ..Self::new(self.program.clone(), self.manifest.clone(), self.link, root)
        }
    }

    /// Lists the waits for the answer to a request, oldest first.
    pub(crate) fn waits_for(&self, request: RequestId) -> impl Iterator<Item = WaitId> {
        let all = (request, WaitId(0))..=(request, WaitId(u64::MAX));
        self.awaited.range(all).map(|(_, wait)| *wait)
    }

    /// Finds the facet of the attached entity that a facet belongs to: itself or the nearest around
    /// it.
    pub(crate) fn entity_of(&self, facet: FacetId) -> Option<FacetId> {
        let mut next = Some(facet);
        while let Some(facet) = next {
            if self.attached.values().any(|attached| *attached == facet) {
                return Some(facet);
            }
            next = self.facets.get(&facet)?.parent;
        }
        None
    }

    /// Says whether the actor is a session, which hears of its requests.
    pub(crate) fn is_session(&self) -> bool {
        self.role.as_deref() == Some(SESSION)
    }

    /// Returns its program; `main` is that of the run.
    pub(crate) fn program_in(&self, main: &IOValue) -> IOValue {
        let own = self.program.as_ref();
        own.map_or_else(|| main.clone(), Fact::value)
    }

    /// Says whether the actor stands for a peer; then it has a name for a program, and no instance.
    pub fn is_peer(&self) -> bool {
        let label = self.program.as_ref().and_then(|program| program.view().label());
        label.is_some_and(|label| label.as_bytes() == PEER)
    }

    /// Returns the number of its assertions, its watches included.
    pub fn facts(&self) -> u64 {
        self.facets.values().map(|facet| facet.handles.len() as u64).sum()
    }

    /// Says whether `facet` is `ancestor` or one of its descendants.
    pub fn is_within(&self, facet: FacetId, ancestor: FacetId) -> bool {
        let mut next = Some(facet);
        while let Some(current) = next {
            if current == ancestor {
                return true;
            }
            next = self.facets.get(&current).and_then(|facet| facet.parent);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_live_in_facets() {
        let mut actor = Actor::new(None, Manifest::default(), None, FacetId(0));
        for (facet, parent) in [(1, 0), (2, 0), (3, 1), (4, 1), (5, 3)] {
            let parent = FacetId(parent);
            actor.facets.insert(
                FacetId(facet),
                Facet {
                    parent: Some(parent),
                    ..Facet::default()
                },
            );
            if let Some(parent) = actor.facets.get_mut(&parent) {
                parent.children.insert(FacetId(facet));
            }
        }
        assert!(actor.is_within(FacetId(5), FacetId(1)));
        assert!(!actor.is_within(FacetId(2), FacetId(1)));
    }
}
