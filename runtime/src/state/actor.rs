//! One actor: its tree of facets, its observers, its parked fibers and their waits.
//!
//! INVARIANT: every handle, observer, wait and fiber belongs to a live facet of its actor and is listed there, so that stopping the facet
//! finds all of it. An observer that is closing is listed no more: it only awaits the removals that are on their way to it.
//! It does not act on the dataspace; `state.rs` does.
//! Read next: `state.rs`.

use std::sync::Arc;

use crate::collections::tracked::{Tracked, TrackedList, TrackedSet, TrackedTree, tracked_fields};
use crate::dataspace::pattern::PackedPattern;
use crate::model::identity::RequestId;
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, ObserverId, WaitId};
use crate::model::manifest::Manifest;
use crate::model::value::Fact;
use crate::{codec_enum, codec_struct};

/// A node of an actor's tree of facets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facet {
    /// The facet it lives in; none for the root.
    pub parent: Option<FacetId>,
    /// The facets that live in it.
    pub children: TrackedSet<FacetId>,
    /// What it asserts.
    pub handles: TrackedSet<Handle>,
    /// Its watches and the observers of its waits.
    pub observers: TrackedSet<ObserverId>,
    /// The waits of its parked fibers.
    pub waits: TrackedSet<WaitId>,
    /// Its parked fibers.
    pub fibers: TrackedSet<FiberId>,
    /// What it asked of the world and has not consumed.
    pub requests: TrackedSet<RequestId>,
    /// Actors that end when it stops.
    pub linked: TrackedSet<ActorId>,
    /// Actors of whose end it is told.
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
} but not { parent });
codec_struct!(Facet "facet" { parent, children, handles, observers, waits, fibers, requests, linked, monitored, stop_hooks });

/// What becomes of an observer's events.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A procedure is called with each.
    Handler {
        /// The procedure.
        procedure: Callable,
    },
    /// The first one ends a wait.
    Wait {
        /// The wait.
        wait: WaitId,
    },
    /// The first one that a predicate accepts ends a wait.
    Predicate {
        /// The wait.
        wait: WaitId,
        /// The predicate.
        procedure: Callable,
    },
}
codec_enum!(Target "a target" {
    Handler "handler" { procedure }
    Wait "wait" { wait }
    Predicate "predicate" { wait, procedure }
});

/// Someone who is told of matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Observer {
    /// The facet it belongs to.
    pub facet: FacetId,
    /// The handle of its `Observe` fact.
    pub handle: Handle,
    /// What it looks for.
    pub pattern: PackedPattern,
    /// What becomes of its events.
    pub target: Target,
    /// Whether it has ended and only its last removals are still to come.
    pub is_closing: bool,
}
codec_struct!(Observer "observer-state" { facet, handle, pattern, target, is_closing });

/// One of the things that end a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A fact or message that matches.
    Matching {
        /// The observer that looks for it.
        observer: ObserverId,
        /// The handle of its `Observe` fact.
        handle: Handle,
        /// What it looks for.
        pattern: PackedPattern,
    },
    /// A fact or message that matches and that a procedure accepts.
    Accepted {
        /// The observer that looks for it.
        observer: ObserverId,
        /// The handle of its `Observe` fact.
        handle: Handle,
        /// What it looks for.
        pattern: PackedPattern,
    },
    /// The answer to a request.
    Answer {
        /// The request.
        request: RequestId,
    },
}
codec_enum!(Condition "a condition" {
    Matching "matching" { observer, handle, pattern }
    Accepted "accepted" { observer, handle, pattern }
    Answer "answer" { request }
});

/// What a parked fiber waits for: the first of its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The fiber.
    pub fiber: FiberId,
    /// Its facet.
    pub facet: FacetId,
    /// The conditions.
    pub conditions: Vec<Condition>,
}
codec_struct!(Wait "wait-state" { fiber, facet, conditions });

/// How a fiber's work is divided into turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiberKind {
    /// A main program: commits when it waits, yields, writes or has used up its slice of fuel.
    Main {},
    /// A handler or what it spawned: runs in one turn until it waits, or fails.
    Handler {},
    /// The evaluation of a text that came to the actor: commits as a main program does; its failure ends nothing but itself.
    Interaction {},
}
codec_enum!(FiberKind "a kind of fiber" { Main "main" {} Handler "handler" {} Interaction "interaction" {} });

/// A parked fiber.
#[derive(Clone, Debug, PartialEq)]
pub struct Fiber {
    /// The facet it belongs to.
    pub facet: FacetId,
    /// How it is divided.
    pub kind: FiberKind,
    /// The rest of its computation.
    pub continuation: Callable,
}
codec_struct!(Fiber "fiber-state" { facet, kind, continuation });

/// What plays a role: a procedure that a library defines, which a new actor finds by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityClass {
    /// The library, as written: `(chat room)`.
    pub library: String,
    /// What the library calls the procedure.
    pub procedure: String,
}
codec_struct!(EntityClass "entity-class" { library, procedure });

impl std::fmt::Display for EntityClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.procedure, self.library)
    }
}

/// Who is told when an actor ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// The facet in which the procedure is called.
    pub facet: FacetId,
    /// The procedure, which is told how the actor ended.
    pub procedure: Callable,
}
codec_struct!(Monitor "monitor" { facet, procedure });

/// An actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// What it runs, packed; means something to whoever loads programs.
    pub program: Fact,
    /// What it may do.
    pub manifest: Manifest,
    /// The facet of another actor on which its life depends.
    pub link: Option<(ActorId, FacetId)>,
    /// The actor that is told when it ends.
    pub monitored_by: Option<ActorId>,
    /// The root of its facets.
    pub root: FacetId,
    /// Its live facets.
    pub facets: TrackedTree<FacetId, Facet>,
    /// Its observers.
    pub observers: Tracked<ObserverId, Observer>,
    /// Its waits.
    pub waits: Tracked<WaitId, Arc<Wait>>,
    /// Which waits are for the answer to a request.
    pub awaited: TrackedSet<(RequestId, WaitId)>,
    /// Its parked fibers.
    pub fibers: Tracked<FiberId, Fiber>,
    /// The classes of the roles it knows.
    pub roles: Tracked<Arc<str>, Arc<EntityClass>>,
    /// The facets of the entities that live in it, by role.
    pub attached: Tracked<Arc<str>, FacetId>,
    /// The actors of whose end it is told.
    pub monitors: Tracked<ActorId, Monitor>,
    /// Procedures to call when it has ended, oldest first.
    pub exit_hooks: TrackedList<Callable>,
}
tracked_fields!(Actor {
    facets,
    observers,
    waits,
    awaited,
    fibers,
    roles,
    attached,
    monitors,
    exit_hooks
} but not { program, manifest, link, monitored_by, root });
codec_struct!(Actor "actor" {
    program, manifest, link, monitored_by, root, facets, observers, waits, awaited, fibers, roles, attached, monitors, exit_hooks
});

impl Actor {
    /// Makes an actor that has done nothing yet.
    pub fn new(program: Fact, manifest: Manifest, link: Option<(ActorId, FacetId)>, root: FacetId) -> Self {
        Self {
            program,
            manifest,
            link,
            monitored_by: None,
            root,
            facets: std::iter::once((root, Facet::default())).collect(),
            observers: Tracked::default(),
            waits: Tracked::default(),
            awaited: TrackedSet::default(),
            fibers: Tracked::default(),
            roles: Tracked::default(),
            attached: Tracked::default(),
            monitors: Tracked::default(),
            exit_hooks: TrackedList::default(),
        }
    }

    /// Says whether `facet` is `ancestor` or lives somewhere in it.
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
    use preserves::IOValue;

    use super::*;

    #[test]
    fn facets_live_in_facets() {
        let mut actor = Actor::new(
            Fact::new(IOValue::new(false)).expect("it is small"),
            Manifest::default(),
            None,
            FacetId(0),
        );
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

    #[test]
    fn a_manifest_grants_names_and_prefixes() {
        let manifest = Manifest::of(&["console", "workspace/*", "web/get"]);
        let granted = ["console", "workspace/read", "workspace/a/b", "web/get"];
        let refused = ["consoles", "workspace", "web/put", "*", ""];
        assert_eq!(granted.map(|name| manifest.grants(name)), [true; 4]);
        assert_eq!(refused.map(|name| manifest.grants(name)), [false; 5]);
        assert!(Manifest::of(&["*"]).grants("anything"));
        assert!(manifest.includes(&Manifest::of(&["workspace/*", "console"])));
        assert!(!Manifest::of(&["web/get"]).includes(&Manifest::of(&["web/*"])));
    }
}
