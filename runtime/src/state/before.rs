//! The state at the start of the turn, which the gate judges by.
//!
//! INVARIANT: no change of the turn is visible here, except through methods that say so.
//! It does not judge; `../gate.rs` does.
//! Read next: `../gate.rs`.

use crate::capability::Capability;
use crate::model::identity::{ActorId, CapabilityId, Counters, Handle, Resource};
use crate::model::manifest::Manifest;
use crate::policy::entry::Entries;
use crate::policy::item::Tools;
use crate::state::RunState;
use crate::state::actor::Actor;
use crate::state::request::Held;

impl RunState {
    /// Returns the state at the start of the turn.
    pub fn before(&self) -> StateBefore<'_> {
        StateBefore(self)
    }
}

/// The state at the start of the turn, which the gate judges by.
#[derive(Clone, Copy, Debug)]
pub struct StateBefore<'a>(&'a RunState);

impl<'a> StateBefore<'a> {
    /// Returns the manifest of a living actor.
    pub fn manifest(self, actor: ActorId) -> Option<&'a Manifest> {
        self.actor(actor).map(|actor| &actor.manifest)
    }

    /// Says whether `resource` existed and belonged to `owner`.
    pub fn owns(self, owner: ActorId, resource: Resource) -> bool {
        let Some(actor) = self.actor(owner) else { return false };
        match resource {
            Resource::Actor(other) => {
                let link = self.actor(other).and_then(|other| other.link);
                link.is_some_and(|(parent, _)| parent == owner)
            }
            Resource::Facet(facet) => actor.facets.before(&facet).is_some(),
            Resource::Handle(handle) => self.0.held.before(&handle).is_some_and(|held| held.actor == owner),
            Resource::Observer(observer) => actor.observers.before(&observer).is_some(),
            Resource::Wait(wait) => actor.waits.before(&wait).is_some(),
            Resource::Fiber(fiber) => actor.fibers.before(&fiber).is_some(),
            Resource::Capability(capability) => self.capability(capability).is_some_and(|known| known.owner == owner),
            Resource::Request(request) => {
                let request = self.0.requests.before(&request);
                request.is_some_and(|request| request.actor == owner)
            }
        }
    }

    /// Returns the assertion of a handle.
    pub fn held(self, handle: Handle) -> Option<&'a Held> {
        self.0.held.before(&handle)
    }

    /// Returns the keyed entries.
    pub fn entries(self) -> &'a Entries {
        &self.0.begun.entries
    }

    /// Returns the keyed entries with the turn's changes.
    pub(crate) fn entries_after(self) -> &'a Entries {
        &self.0.entries
    }

    /// Says whether there is any policy to judge by: whether there was an entry or the turn changed
    /// one.
    pub(crate) fn has_policy(self) -> bool {
        self.0.has_touched_entries || !self.entries().is_empty()
    }

    /// Returns a capability, revoked or not.
    pub fn capability(self, capability: CapabilityId) -> Option<&'a Capability> {
        self.0.capabilities.before(&capability)
    }

    /// Returns the tools as the run's first record and earlier grants describe them.
    pub fn tools(self) -> &'a Tools {
        let before = self.0.before_grant.as_deref();
        &before.unwrap_or(&self.0.granted).tools
    }

    /// Returns the number of an actor's tool calls.
    pub fn calls(self, actor: ActorId) -> u64 {
        self.0.calls.before(&actor).copied().unwrap_or_default()
    }

    /// Returns the counters.
    pub fn counters(self) -> &'a Counters {
        &self.0.begun.counters
    }

    /// Returns an actor that was alive; its tracked fields contain the turn's changes.
    fn actor(self, actor: ActorId) -> Option<&'a Actor> {
        self.0.actors.before(&actor).map(|actor| &**actor)
    }
}
