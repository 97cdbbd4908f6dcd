//! The state of a run, apart from the heaps, as one value.
//!
//! Owns the actors, their assertions, the queue of events and the requests to the world.
//! INVARIANT: the state is a function of the run's records, and a clone is independent. A turn
//! changes it in place, between [`RunState::begin_turn`] and one of `commit_turn` and `abort_turn`;
//! `restore_savepoint` undoes many turns.
//! It does not know why it changes; the actions do.
//! Read next: `state/savepoint.rs`, `state/draft.rs`.

pub mod actor;
pub mod before;
pub mod chain;
pub mod draft;
pub mod event;
pub mod grants;
pub mod patches;
mod loss;
pub(crate) mod open;
pub(crate) mod own_requests;
pub mod peers;
pub(crate) mod savepoint;
pub mod refusal;
pub mod request;
pub mod untaken;

use std::sync::Arc;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::capability::Capability;
use crate::collections::tracked::{Tracked, TrackedSet, TrackedTree, Tracking};
use crate::dataspace::{Dataspace, KnownMatches, Notice, ObserverRef};
use crate::model::codec::{Codec, DecodeError, Fields};
use crate::model::failure::ActorFailure;
use crate::model::identity::{ActorId, CapabilityId, Counters, FacetId, Handle, RequestId};
use crate::policy::entry::{CONSTRAINTS, Entries};
use crate::policy::keyed;
use crate::policy::token::TOKENS;
use crate::state::actor::Actor;
use crate::state::event::{Outbox, Queue};
use crate::state::grants::Granted;
use crate::state::open::OpenRequests;
use crate::state::patches::Patches;
use crate::state::peers::Peers;
use crate::state::refusal::Ignored;
use crate::state::request::{Held, Question, Request};
use crate::state::untaken::UntakenFailures;

/// The exit code of an actor that failed, and of a run that did not succeed.
pub(crate) const FAILED: u64 = 1;

/// The values at the start of the turn of the fields that have no undo log.
#[derive(Clone, Debug, Default)]
struct Begun {
    counters: Counters,
    exit: Option<u64>,
    untaken: Arc<UntakenFailures>,
    is_session: bool,
    entries: Entries,
    patches: Patches,
}

/// A debug build proves the count of the unanswered requests where there are at most this many.
const OPEN_PROVED_MAX: usize = 64;

/// The whole state of a run, except what the actors' programs keep to themselves.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    /// The counters that ids come from.
    pub counters: Counters,
    /// The asserted facts and their observers.
    pub dataspace: Dataspace,
    /// The owners of the assertions.
    pub held: Tracked<Handle, Held>,
    /// The living actors.
    pub actors: TrackedTree<ActorId, Actor>,
    /// The batches on their way to actors. The runtime takes a turn's batch before the turn begins,
    /// so an abort does not put it back.
    pub queue: Queue,
    /// The requests to the world.
    pub requests: Tracked<RequestId, Request>,
    /// The unanswered of them, as they were before the turn.
    open: OpenRequests,
    /// The capabilities of the run; any holder of a reference may use one.
    pub capabilities: Tracked<CapabilityId, Capability>,
    /// The capabilities by owner, to find them when the owner ends.
    capabilities_of: TrackedSet<(ActorId, CapabilityId)>,
    /// The peers, which act from outside the run.
    pub peers: Peers,
    /// The number of tool calls of each actor.
    pub calls: Tracked<ActorId, u64>,
    /// The exit code, once the main program has ended the run.
    pub exit: Option<u64>,
    /// The failures of actors that no other actor has taken.
    pub untaken: Arc<UntakenFailures>,
    /// Whether the main program's actor is a session, because a person gave it a text to evaluate.
    /// A failure in a session ends what the failed event led to, never the actor.
    pub is_session: bool,
    /// What a person granted the run after it began, and the tools as policy knows them.
    pub granted: Granted,
    /// The same before the turn, if the turn has changed it.
    before_grant: Option<Box<Granted>>,
    /// The changed texts that it has taken on.
    pub patches: Patches,
    /// The asserted facts that are keyed entries.
    entries: Entries,
    /// Whether the turn asserted or retracted a keyed entry.
    has_touched_entries: bool,
    begun: Begun,
}

impl Codec for RunState {
    fn write(&self, out: &mut PackedWriter) {
        out.record("run-state", |out| {
            self.counters.write(out);
            self.held.write(out);
            self.dataspace.known_matches().write(out);
            self.actors.write(out);
            self.queue.write(out);
            self.requests.write(out);
            self.capabilities.write(out);
            self.exit.write(out);
            self.calls.write(out);
            self.untaken.write(out);
            self.is_session.write(out);
            self.peers.write(out);
            self.granted.grants.write(out);
            self.patches.write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, "run-state", 14)?;
        let counters = fields.read("counters")?;
        let held: Tracked<Handle, Held> = fields.read("held")?;
        let matches: Vec<KnownMatches> = fields.read("matches")?;
        let mut state = Self {
            counters,
            // Facts change only together with the assertions in `held`.
            dataspace: Dataspace::restore(held.values().map(|held| &held.fact), &matches)?,
            held,
            actors: fields.read("actors")?,
            queue: fields.read("queue")?,
            requests: fields.read("requests")?,
            open: OpenRequests::default(),
            capabilities: fields.read("capabilities")?,
            capabilities_of: TrackedSet::default(),
            exit: fields.read("exit")?,
            calls: fields.read("calls")?,
            untaken: fields.read("untaken")?,
            is_session: fields.read("is-session")?,
            peers: fields.read("peers")?,
            granted: Granted {
                grants: fields.read("grants")?,
                tools: Arc::default(),
            },
            before_grant: None,
            patches: fields.read("patches")?,
            entries: Entries::default(),
            has_touched_entries: false,
            begun: Begun::default(),
        };
        for entry in state.held.values().filter_map(|held| keyed::of(&held.fact)) {
            state.entries.add(&entry.key, &entry.text);
        }
        for (id, capability) in state.capabilities.iter() {
            state.capabilities_of.insert((capability.owner, *id));
        }
        state.capabilities_of.commit_turn();
        state.open = OpenRequests::of(state.requests.iter());
        Ok(state)
    }
}

impl RunState {
    /// Says whether there is a constraint, a token or a narrowed capability for a tool, which may
    /// judge paths.
    pub(crate) fn judges_places(&self) -> bool {
        let mut prefixes = [CONSTRAINTS, TOKENS].iter();
        prefixes.any(|prefix| self.entries.under(prefix).next().is_some())
            || self
                .capabilities
                .iter()
                .any(|(id, capability)| !capability.caveats.is_empty() && self.is_for_tool(*id))
    }

    /// Returns the unanswered requests, between turns.
    pub(crate) fn open(&self) -> &OpenRequests {
        debug_assert!(
            self.requests.len() > OPEN_PROVED_MAX || self.open == OpenRequests::of(self.requests.iter()),
            "the unanswered requests are counted anew at each commit"
        );
        &self.open
    }

    /// Begins a turn; [`abort_turn`](Self::abort_turn) undoes all later changes.
    pub fn begin_turn(&mut self) {
        self.begun = Begun {
            counters: self.counters.clone(),
            exit: self.exit,
            untaken: Arc::clone(&self.untaken),
            is_session: self.is_session,
            entries: self.entries.clone(),
            patches: Arc::clone(&self.patches),
        };
        self.has_touched_entries = false;
    }

    /// Keeps the turn's changes.
    pub fn commit_turn(&mut self) {
        // Facts change only together with the assertions in `held`.
        if self.held.has_changed() {
            self.dataspace.commit_turn();
            self.held.commit_turn();
        }
        self.actors.commit_turn();
        for (id, before) in self.requests.noted() {
            self.open.change(*id, before, self.requests.get(id));
        }
        self.requests.commit_turn();
        self.capabilities.commit_turn();
        self.capabilities_of.commit_turn();
        self.calls.commit_turn();
        self.peers.commit_turn();
        self.before_grant = None;
    }

    /// Undoes the turn's changes.
    pub fn abort_turn(&mut self) {
        self.dataspace.abort_turn();
        self.held.abort_turn();
        self.actors.abort_turn();
        self.requests.abort_turn();
        self.capabilities.abort_turn();
        self.capabilities_of.abort_turn();
        self.calls.abort_turn();
        self.peers.abort_turn();
        (self.counters, self.exit) = (self.begun.counters.clone(), self.begun.exit);
        self.untaken = Arc::clone(&self.begun.untaken);
        self.is_session = self.begun.is_session;
        self.entries = self.begun.entries.clone();
        self.patches = Arc::clone(&self.begun.patches);
        self.has_touched_entries = false;
        if let Some(before) = self.before_grant.take() {
            self.granted = *before;
        }
    }

    /// Compacts the state of an idle actor, between turns.
    pub(crate) fn compact(&mut self, actor: ActorId) {
        self.actors.compact_value(&actor);
    }

    /// Says whether the turn has changed, or may have changed, the actor's part of the state.
    pub(crate) fn has_touched(&self, actor: ActorId) -> bool {
        self.actors.has_touched(&actor)
    }

    /// Adds a capability.
    pub(crate) fn add_capability(&mut self, id: CapabilityId, capability: Capability) {
        self.capabilities_of.insert((capability.owner, id));
        self.capabilities.insert(id, capability);
    }

    /// Removes the capabilities that an actor made.
    pub(crate) fn forget_capabilities(&mut self, owner: ActorId) {
        let all = (owner, CapabilityId(0))..=(owner, CapabilityId(u64::MAX));
        let owned: Vec<_> = self.capabilities_of.range(all).copied().collect();
        for entry in owned {
            self.capabilities.remove(&entry.1);
            self.capabilities_of.remove(&entry);
        }
    }

    /// Removes a capability.
    pub(crate) fn forget_capability(&mut self, id: CapabilityId) {
        if let Some(capability) = self.capabilities.remove(&id) {
            self.capabilities_of.remove(&(capability.owner, id));
        }
    }

    /// Says whether somebody outside takes part in the run: a peer or a session.
    pub fn has_clients(&self) -> bool {
        self.actors.values().any(|actor| actor.is_peer() || actor.is_session())
    }

    /// Counts a tool call of an actor.
    pub(crate) fn count_call(&mut self, actor: ActorId) {
        let calls = self.calls.get(&actor).copied().unwrap_or_default();
        self.calls.insert(actor, calls + 1);
    }

    /// Returns the exit code of a run whose main program ends with `code`: a run in which a failure
    /// is left that no actor took has not succeeded.
    pub fn exit_code(&self, code: u64) -> u64 {
        if code == 0 && self.untaken.count > 0 {
            FAILED
        } else {
            code
        }
    }

    /// Notes a failure that no actor takes.
    pub(crate) fn note_untaken(&mut self, failed: &ActorFailure) {
        Arc::make_mut(&mut self.untaken).note(failed);
    }

    /// Returns a living actor.
    pub fn actor(&self, actor: ActorId) -> Option<&Actor> {
        self.actors.get(&actor).map(|actor| &**actor)
    }

    /// Returns the actor that will be told of the end of `actor`.
    pub fn monitor_of(&self, actor: ActorId) -> Option<ActorId> {
        let monitor = self.actor(actor)?.monitored_by?;
        let is_told = self.actor(monitor)?.monitors.contains_key(&actor);
        is_told.then_some(monitor)
    }

    /// Returns a living actor, to change it.
    pub(crate) fn actor_mut(&mut self, actor: ActorId) -> Option<&mut Actor> {
        self.actors.get_mut(&actor)
    }

    /// Says whether the observer's actor still has it.
    fn has_observer(&self, to: ObserverRef) -> bool {
        self.actor(to.actor)
            .is_some_and(|actor| actor.observers.contains_key(&to.observer))
    }

    /// Says why `actor` cannot retract `handle`; `None` if it can.
    pub(crate) fn why_not_retract(&self, actor: ActorId, handle: Handle) -> Option<Ignored> {
        match self.held.get(&handle) {
            None => Some(Ignored::Unknown {}),
            Some(held) if held.actor != actor => Some(Ignored::Foreign {}),
            Some(_) => None,
        }
    }

    /// Asserts a fact under `handle`, which the facet lists already, and notifies the observers.
    pub(crate) fn hold(&mut self, handle: Handle, held: Held, outbox: &mut Outbox) {
        if let Some(entry) = keyed::of(&held.fact) {
            self.entries.add(&entry.key, &entry.text);
            self.has_touched_entries = true;
        }
        let notices = self.dataspace.assert(&held.fact, &mut self.counters);
        self.held.insert(handle, held);
        self.tell(notices, outbox);
    }

    /// Retracts the assertion of `handle`, if there is one, and notifies the observers.
    pub(crate) fn release(&mut self, handle: Handle, outbox: &mut Outbox) {
        let Some(held) = self.held.remove(&handle) else { return };
        if let Some(facet) = self
            .actor_mut(held.actor)
            .and_then(|actor| actor.facets.get_mut(&held.facet))
        {
            facet.handles.remove(&handle);
        }
        if let Some(entry) = keyed::of(&held.fact) {
            self.entries.remove(&entry.key, &entry.text);
            self.has_touched_entries = true;
        }
        let notices = self.dataspace.retract(&held.fact);
        self.tell(notices, outbox);
    }

    /// Retracts the assertion of `handle` when its facet ends; a keyed entry passes to the heir
    /// instead, if there is one.
    ///
    /// An entry outlives the facet that asserted it, because only an explicit removal, which policy
    /// judges, ends it.
    pub(crate) fn release_assertion(&mut self, handle: Handle, heir: Option<(ActorId, FacetId)>, outbox: &mut Outbox) {
        let is_entry = |held: &Held| keyed::of(&held.fact).is_some();
        let Some((actor, facet)) = heir.filter(|_| self.held.get(&handle).is_some_and(is_entry)) else {
            return self.release(handle, outbox);
        };
        let Some(held) = self.held.get_mut(&handle) else { return };
        let before = (held.actor, held.facet);
        (held.actor, held.facet) = (actor, facet);
        if let Some(facet) = self
            .actor_mut(before.0)
            .and_then(|actor| actor.facets.get_mut(&before.1))
        {
            facet.handles.remove(&handle);
        }
        if let Some(facet) = self.actor_mut(actor).and_then(|actor| actor.facets.get_mut(&facet)) {
            facet.handles.insert(handle);
        }
    }

    /// Lists the postponed requests with their actors if the turn has changed the entries, because
    /// policy must judge them again.
    pub(crate) fn to_reconsider(&self) -> Vec<(ActorId, RequestId)> {
        if !self.has_touched_entries {
            return Vec::new();
        }
        let waiting = self.requests.iter();
        let waiting = waiting.filter(|(_, request)| matches!(request.question, Question::Postponed { .. }));
        waiting.map(|(id, request)| (request.actor, *id)).collect()
    }

    /// Passes notices on, except to observers that their actors have removed.
    fn tell(&self, notices: impl IntoIterator<Item = Notice>, outbox: &mut Outbox) {
        outbox.notify(notices.into_iter().filter(|notice| self.has_observer(notice.to)));
    }
}
