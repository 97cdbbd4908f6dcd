//! The state of a run: everything but the heaps, as one value.
//!
//! Owns who exists, who asserts what, what is in flight and what was asked of the world.
//! INVARIANT: the state is a function of the run's records, and a clone is independent. A turn changes it in place, between
//! [`RunState::begin_turn`] and one of `commit_turn` and `abort_turn`; `go_back` takes many turns back.
//! It does not know why it changes; the actions do.
//! Read next: `state/mark.rs`, `draft.rs`.

mod mark;

use std::sync::Arc;

use duet_journal::BlobHash;
use duet_journal::packed::PackedWriter;
use preserves::{IOValue, ValueImpl};

use crate::action::{Action, Thing};
use crate::actor::{Actor, Manifest};
use crate::capability::Capability;
use crate::codec::{Codec, DecodeError, Fields, record};
use crate::dataspace::{Dataspace, ObserverRef};
use crate::driver::{EffectKind, RequestId, Stream};
use crate::event::{Outbox, Queue};
use crate::identity::{ActorId, CapabilityId, Counters, FacetId, Handle};
use crate::policy::entry::Entries;
use crate::policy::item::Tools;
use crate::policy::keyed;
use crate::roster::Roster;
use crate::tracked::{Tracked, TrackedSet, TrackedTree, Tracking};
use crate::value::Fact;
use crate::{codec_enum, codec_struct};

pub(crate) use mark::Marked;

/// An assertion: who makes it, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The actor.
    pub actor: ActorId,
    /// Its facet.
    pub facet: FacetId,
    /// What is asserted.
    pub fact: Fact,
}
codec_struct!(Held "held" { actor, facet, fact });

/// What was asked of the world, until the answer is consumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who asked.
    pub actor: ActorId,
    /// On behalf of which facet.
    pub facet: FacetId,
    /// What was asked.
    pub question: Question,
    /// What the program calls it; unique text unless the program chose otherwise.
    pub tag: String,
    /// The key under which the world recognises a repetition.
    pub key: String,
    /// The assertion that shows the request, if there is one.
    pub handle: Option<Handle>,
    /// The answer, if it came before anyone waited for it.
    pub answer: Option<Result<IOValue, IOValue>>,
    /// What a tool call told that it would replace, if it did.
    pub kept: Option<Kept>,
}
codec_struct!(Request "request-state" { actor, facet, question, tag, key, handle, answer, kept });

/// What a tool call is about to replace, so that it can be put back.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What is replaced and by what, as the tool told it.
    pub note: IOValue,
    /// The contents that the note names.
    pub contents: Vec<BlobHash>,
}
codec_struct!(Kept "contents-kept" { note, contents });

/// The kinds of requests that are answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A call of a tool.
    Tool {
        /// The tool.
        name: String,
        /// Its argument.
        payload: IOValue,
    },
    /// Bytes from standard input.
    Read {
        /// At most this many bytes.
        length_bytes_max: u64,
    },
    /// That time passes.
    Timer {
        /// How long, in milliseconds.
        delay_ms: u64,
    },
    /// A call of a tool that is put off until it is approved.
    Deferred {
        /// The tool.
        name: String,
        /// Its argument.
        payload: IOValue,
    },
    /// Whether what was attempted may be done.
    Approve {
        /// What to show.
        prompt: IOValue,
        /// What was attempted.
        attempts: Vec<Action>,
        /// The attempts, by content.
        proposal: BlobHash,
        /// The policy for which an approval holds, by content.
        policy: BlobHash,
    },
    /// A question to the person.
    Ask {
        /// What to show.
        prompt: IOValue,
    },
    /// That policy allows what was attempted.
    Postponed {
        /// What was attempted.
        attempts: Vec<Action>,
    },
    /// That the time passes in which a proposal can be approved.
    Limit {
        /// How long, in milliseconds.
        delay_ms: u64,
        /// The proposal.
        of: RequestId,
    },
    /// That the time comes at which a timer has run out.
    Deadline {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// The proposal whose time it limits, if it does.
        of: Option<RequestId>,
    },
}
codec_enum!(Question "a question" {
    Tool "tool" { name, payload }
    Read "read" { length_bytes_max }
    Timer "timer" { delay_ms }
    Deferred "deferred" { name, payload }
    Approve "approve" { prompt, attempts, proposal, policy }
    Ask "ask" { prompt }
    Postponed "postponed" { attempts }
    Limit "limit" { delay_ms, of }
    Deadline "deadline" { at_ms, of }
});

impl Question {
    /// Says whether the question is put away as soon as nobody waits for its answer; a tool's result may be awaited later.
    pub fn is_withdrawable(&self) -> bool {
        match self {
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Timer { .. }
            | Self::Limit { .. }
            | Self::Deadline { .. } => true,
            Self::Tool { .. } | Self::Deferred { .. } | Self::Postponed { .. } | Self::Read { .. } => false,
        }
    }

    /// Returns the proposal whose time it limits, if it does.
    pub fn limits(&self) -> Option<RequestId> {
        match self {
            Self::Limit { of, .. } => Some(*of),
            Self::Deadline { of, .. } => *of,
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Timer { .. }
            | Self::Tool { .. }
            | Self::Deferred { .. }
            | Self::Postponed { .. }
            | Self::Read { .. } => None,
        }
    }

    /// Returns the effect that puts the question; what is put off has none.
    pub fn effect(&self) -> Option<EffectKind> {
        Some(match self {
            Self::Deferred { .. } | Self::Postponed { .. } => return None,
            Self::Tool { name, payload } => EffectKind::Tool {
                name: name.clone(),
                payload: payload.clone(),
            },
            Self::Read { length_bytes_max } => EffectKind::Read {
                length_bytes_max: usize::try_from(*length_bytes_max).unwrap_or(usize::MAX),
            },
            Self::Timer { delay_ms } | Self::Limit { delay_ms, .. } => EffectKind::Timer { delay_ms: *delay_ms },
            Self::Deadline { at_ms, .. } => EffectKind::Alarm { at_ms: *at_ms },
            Self::Ask { prompt } | Self::Approve { prompt, .. } => EffectKind::Ask { prompt: prompt.clone() },
        })
    }
}

/// Why an instruction had no effect; recorded with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The handle was retracted before, or never existed.
    Unknown {},
    /// The handle is another actor's.
    Foreign {},
    /// The recipient is gone.
    Gone {},
}
codec_enum!(Ignored "a reason to ignore" { Unknown "unknown" {} Foreign "foreign" {} Gone "gone" {} });

impl Codec for Stream {
    fn encode(&self) -> IOValue {
        IOValue::symbol(match self {
            Self::Output => "output",
            Self::Error => "error",
        })
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        [Self::Output, Self::Error]
            .into_iter()
            .find(|stream| stream.encode() == *value)
            .ok_or_else(|| DecodeError::kind("output or error", value))
    }
}

codec_struct!(Counters "counters" { actors, facets, handles, observers, fibers, waits, requests, capabilities });

/// What was when the turn began, of that which keeps no notes of its own.
#[derive(Clone, Debug, Default)]
struct Begun {
    counters: Counters,
    exit: Option<u64>,
    entries: Entries,
}

/// Everything a run is, except what the actors' programs keep to themselves.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    /// Where ids come from.
    pub counters: Counters,
    /// What is asserted and observed.
    pub dataspace: Dataspace,
    /// Who asserts it.
    pub held: Tracked<Handle, Held>,
    /// The living actors.
    pub actors: TrackedTree<ActorId, Actor, Roster<Arc<Actor>>>,
    /// What is on its way; turns take from it and add to it, and what they took they do not put back.
    pub queue: Queue,
    /// What was asked of the world.
    pub requests: Tracked<RequestId, Request>,
    /// What may be done by whoever holds a reference to it.
    pub capabilities: Tracked<CapabilityId, Capability>,
    /// The same by who made them, so that they are found when that actor ends.
    capabilities_of: TrackedSet<(ActorId, CapabilityId)>,
    /// How many calls of tools each actor has made.
    pub calls: Tracked<ActorId, u64>,
    /// The exit code, once the main program has ended the run.
    pub exit: Option<u64>,
    /// The tools as the run's first record describes them.
    pub tools: Arc<Tools>,
    /// The keyed entries among what is asserted.
    entries: Entries,
    /// Whether the turn asserted or retracted one.
    has_touched_entries: bool,
    begun: Begun,
}

impl Codec for RunState {
    fn encode(&self) -> IOValue {
        record(
            "run-state",
            vec![
                self.counters.encode(),
                self.dataspace.encode(),
                self.held.encode(),
                self.actors.encode(),
                self.queue.encode(),
                self.requests.encode(),
                self.capabilities.encode(),
                self.exit.encode(),
                self.calls.encode(),
            ],
        )
    }

    fn write(&self, out: &mut PackedWriter) {
        out.record("run-state", |out| {
            self.counters.write(out);
            self.dataspace.write(out);
            self.held.write(out);
            self.actors.write(out);
            self.queue.write(out);
            self.requests.write(out);
            self.capabilities.write(out);
            self.exit.write(out);
            self.calls.write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        // Where no calls are counted, none had been counted when the snapshot was taken.
        let has_calls = value.is_record() && value.value().len() > 8;
        let mut fields = Fields::of(value, "run-state", if has_calls { 9 } else { 8 })?;
        let mut state = Self {
            counters: fields.read("counters")?,
            dataspace: fields.read("dataspace")?,
            held: fields.read("held")?,
            actors: fields.read("actors")?,
            queue: fields.read("queue")?,
            requests: fields.read("requests")?,
            capabilities: fields.read("capabilities")?,
            capabilities_of: TrackedSet::default(),
            exit: fields.read("exit")?,
            calls: if has_calls {
                fields.read("calls")?
            } else {
                Tracked::default()
            },
            tools: Arc::default(),
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
        Ok(state)
    }
}

impl<T: Codec> Codec for Arc<T> {
    fn encode(&self) -> IOValue {
        T::encode(self)
    }

    fn write(&self, out: &mut PackedWriter) {
        T::write(self, out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        T::decode(value).map(Self::new)
    }
}

/// The state as it was when the turn began: what the gate judges by.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a>(&'a RunState);

impl<'a> Before<'a> {
    /// Returns what a living actor may do.
    pub fn manifest(self, actor: ActorId) -> Option<&'a Manifest> {
        self.actor(actor).map(|actor| &actor.manifest)
    }

    /// Says whether `thing` existed and belonged to `owner`.
    pub fn owns(self, owner: ActorId, thing: Thing) -> bool {
        let Some(actor) = self.actor(owner) else { return false };
        match thing {
            Thing::Actor(other) => {
                let link = self.actor(other).and_then(|other| other.link);
                link.is_some_and(|(parent, _)| parent == owner)
            }
            Thing::Facet(facet) => actor.facets.before(&facet).is_some(),
            Thing::Handle(handle) => self.0.held.before(&handle).is_some_and(|held| held.actor == owner),
            Thing::Observer(observer) => actor.observers.before(&observer).is_some(),
            Thing::Wait(wait) => actor.waits.before(&wait).is_some(),
            Thing::Fiber(fiber) => actor.fibers.before(&fiber).is_some(),
            Thing::Capability(capability) => self.capability(capability).is_some_and(|known| known.owner == owner),
            Thing::Request(request) => {
                let request = self.0.requests.before(&request);
                request.is_some_and(|request| request.actor == owner)
            }
        }
    }

    /// Returns what an actor asserted under a handle.
    pub fn held(self, handle: Handle) -> Option<&'a Held> {
        self.0.held.before(&handle)
    }

    /// Returns the keyed entries.
    pub fn entries(self) -> &'a Entries {
        &self.0.begun.entries
    }

    /// Returns the keyed entries as the turn has made them.
    pub fn entries_after(self) -> &'a Entries {
        &self.0.entries
    }

    /// Says whether there is any policy to judge by: whether there was an entry or the turn touched one.
    pub fn has_policy(self) -> bool {
        self.0.has_touched_entries || !self.entries().is_empty()
    }

    /// Returns a capability, revoked or not.
    pub fn capability(self, capability: CapabilityId) -> Option<&'a Capability> {
        self.0.capabilities.before(&capability)
    }

    /// Returns the tools as the run's first record describes them.
    pub fn tools(self) -> &'a Tools {
        &self.0.tools
    }

    /// Returns how many calls of tools an actor had made.
    pub fn calls(self, actor: ActorId) -> u64 {
        self.0.calls.before(&actor).copied().unwrap_or_default()
    }

    /// Returns the counters.
    pub fn counters(self) -> &'a Counters {
        &self.0.begun.counters
    }

    /// Returns an actor that was living; what it tracks has changed since.
    fn actor(self, actor: ActorId) -> Option<&'a Actor> {
        self.0.actors.before(&actor).map(|actor| &**actor)
    }
}

impl RunState {
    /// Begins a turn: from now on changes can be taken back.
    pub fn begin_turn(&mut self) {
        self.begun = Begun {
            counters: self.counters.clone(),
            exit: self.exit,
            entries: self.entries.clone(),
        };
        self.has_touched_entries = false;
    }

    /// Keeps what the turn changed.
    pub fn commit_turn(&mut self) {
        // Facts come and go only with what is held.
        if self.held.has_changed() {
            self.dataspace.commit_turn();
            self.held.commit_turn();
        }
        self.actors.commit_turn();
        self.requests.commit_turn();
        self.capabilities.commit_turn();
        self.capabilities_of.commit_turn();
        self.calls.commit_turn();
    }

    /// Takes back what the turn changed.
    pub fn abort_turn(&mut self) {
        self.dataspace.abort_turn();
        self.held.abort_turn();
        self.actors.abort_turn();
        self.requests.abort_turn();
        self.capabilities.abort_turn();
        self.capabilities_of.abort_turn();
        self.calls.abort_turn();
        (self.counters, self.exit) = (self.begun.counters.clone(), self.begun.exit);
        self.entries = self.begun.entries.clone();
        self.has_touched_entries = false;
    }

    /// Lets an actor that may not act for a while take less room, between turns.
    pub(crate) fn rest(&mut self, actor: ActorId) {
        self.actors.rest_value(&actor);
    }

    /// Says whether the turn has changed, or may have changed, what is known of an actor.
    pub(crate) fn has_touched(&self, actor: ActorId) -> bool {
        self.actors.has_touched(&actor)
    }

    /// Adds a capability.
    pub(crate) fn add_capability(&mut self, id: CapabilityId, capability: Capability) {
        self.capabilities_of.insert((capability.owner, id));
        self.capabilities.insert(id, capability);
    }

    /// Removes the capabilities that an actor has made.
    pub(crate) fn forget_capabilities(&mut self, owner: ActorId) {
        let all = (owner, CapabilityId(0))..=(owner, CapabilityId(u64::MAX));
        let owned: Vec<_> = self.capabilities_of.range(all).copied().collect();
        for entry in owned {
            self.capabilities.remove(&entry.1);
            self.capabilities_of.remove(&entry);
        }
    }

    /// Notes that an actor called a tool.
    pub(crate) fn count_call(&mut self, actor: ActorId) {
        let calls = self.calls.get(&actor).copied().unwrap_or_default();
        self.calls.insert(actor, calls + 1);
    }

    /// Returns the state as it was when the turn began.
    pub fn before(&self) -> Before<'_> {
        Before(self)
    }

    /// Returns a living actor.
    pub fn actor(&self, actor: ActorId) -> Option<&Actor> {
        self.actors.get(&actor).map(|actor| &**actor)
    }

    /// Returns a living actor to change it.
    pub fn actor_mut(&mut self, actor: ActorId) -> Option<&mut Actor> {
        self.actors.get_mut(&actor)
    }

    /// Says whether the observer's actor still knows it.
    pub fn has_observer(&self, to: ObserverRef) -> bool {
        self.actor(to.actor)
            .is_some_and(|actor| actor.observers.contains_key(&to.observer))
    }

    /// Says why `actor` cannot retract `handle`; `None` if it can.
    pub fn why_not_retract(&self, actor: ActorId, handle: Handle) -> Option<Ignored> {
        match self.held.get(&handle) {
            None => Some(Ignored::Unknown {}),
            Some(held) if held.actor != actor => Some(Ignored::Foreign {}),
            Some(_) => None,
        }
    }

    /// Asserts `fact` under `handle`, which the facet has listed, and tells the observers.
    pub(crate) fn hold(&mut self, handle: Handle, held: Held, outbox: &mut Outbox) {
        if let Some(entry) = keyed::of(&held.fact) {
            self.entries.add(&entry.key, &entry.text);
            self.has_touched_entries = true;
        }
        let notices = self.dataspace.assert(&held.fact, &mut self.counters);
        self.held.insert(handle, held);
        self.tell(notices, outbox);
    }

    /// Retracts what `handle` asserts, if anything, and tells the observers.
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

    /// Retracts what `handle` asserts, unless it is a keyed entry and there is an heir: an entry ends only when it is removed, which policy
    /// judges, and not with the facet that entered it.
    pub(crate) fn let_go(&mut self, handle: Handle, heir: Option<(ActorId, FacetId)>, outbox: &mut Outbox) {
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

    /// Lists what was put off and whose it is, if the turn has changed the entries, so that it is to be judged again.
    pub(crate) fn to_reconsider(&self) -> Vec<(ActorId, RequestId)> {
        if !self.has_touched_entries {
            return Vec::new();
        }
        let waiting = self.requests.iter();
        let waiting = waiting.filter(|(_, request)| matches!(request.question, Question::Postponed { .. }));
        waiting.map(|(id, request)| (request.actor, *id)).collect()
    }

    /// Passes notices on, except to observers that their actors have forgotten.
    fn tell(&self, notices: impl IntoIterator<Item = crate::dataspace::Notice>, outbox: &mut Outbox) {
        outbox.notify(notices.into_iter().filter(|notice| self.has_observer(notice.to)));
    }
}
