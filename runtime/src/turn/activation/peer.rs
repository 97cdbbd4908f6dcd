//! The turns of an actor that stands for a peer: what the peer says becomes actions with the rights
//! of the actor, and what reaches the actor is relayed to the peer.
//!
//! INVARIANT: a value has passed the caveats of the capability through which the peer acts before
//! it reaches the gate; what does not pass, or what the actor has no right to, has no effect but a
//! note in the record. Nothing that a peer says fails the actor.
//! It does not know packets; the `drivers` crate does.
//! Read next: `../../model/peer.rs`.
//!
//! Rejected: a program in Scheme for each peer. Everything that a peer may ask for is an action
//! already, so a heap and an instance for each connection would only cost.

use std::collections::BTreeSet;

use duet_journal::packed::View;
use preserves::{IOValue, ValueImpl};

use super::{Activation, failure};
use crate::action::{
    Action, Assert, Give, ImportObject, Message, Pass, Publish, Relay, Retract, Send, Subscribe, Unobserve, Unpublish,
    Welcome,
};
use crate::capability::{Authority, Caveat};
use crate::dataspace::Captures;
use crate::dataspace::pattern::{PackedPattern, Pattern};
use crate::model::codec::is_labelled;
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, CapabilityId, FacetId, Handle, ObserverId};
use crate::model::manifest::Manifest;
use crate::model::peer::{self, PeerEvent, PeerNotice};
use crate::model::value::Fact;
use crate::policy::keyed;
use crate::state::actor::Actor;
use crate::state::refusal::Refusal;
use crate::turn::task::Argument;

/// Why a peer's wish has no effect.
enum Fault {
    /// An action was refused.
    Refused(Refusal),
    /// The reason, for people.
    Why(&'static str),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Activation {
    /// Lets a peer in, or tells it why not.
    pub(super) fn welcome(&mut self, name: String, manifest: Manifest, caveats: &[IOValue]) -> Result<bool, Failure> {
        let caveats: Result<Vec<Caveat>, _> = caveats.iter().map(Caveat::read).collect();
        let counters = &mut self.draft.state.counters;
        let (request, actor, root) = (counters.request(), counters.actor(), counters.facet());
        let capability = counters.capability();
        let why = match caveats {
            Err(error) => error.to_string(),
            Ok(caveats) => {
                let name = name.clone();
                let welcome = Welcome {
                    request,
                    actor,
                    root,
                    name,
                    manifest,
                    capability,
                    caveats,
                };
                match self.perform(welcome) {
                    Ok(()) => return Ok(true),
                    Err(refusal) => refusal.to_string(),
                }
            }
        };
        self.relay_to(actor, PeerNotice::Refused { name, why })?;
        Ok(false)
    }

    /// Does what the peer says; returns false if that has no effect.
    pub(super) fn hear(&mut self, what: PeerEvent) -> Result<bool, Failure> {
        let done = match what {
            PeerEvent::Assert { to, name, value } => self.publish(to, name, &value),
            PeerEvent::Retract { name } => self.unpublish(name),
            PeerEvent::Message { to, value } => self.message_of_peer(to, &value),
            PeerEvent::Sync { oid } => {
                self.relay(PeerNotice::Synced { oid })?;
                Ok(())
            }
        };
        let why = match done {
            Ok(()) => return Ok(true),
            Err(Fault::Refused(refusal)) => refusal.to_string(),
            Err(Fault::Why(why)) => why.to_owned(),
        };
        let name = self.draft.acting().ok().and_then(|actor| actor.role.clone());
        let name = name.as_deref().unwrap_or("a peer");
        self.note(format!("{name}: {why}")).map_err(failure)?;
        Ok(false)
    }

    /// Relays a match or a message to the object of the peer that observes.
    pub(super) fn relay_match(&mut self, oid: u64, observer: ObserverId, argument: Argument) -> Result<(), Failure> {
        let told = match argument {
            Argument::Added(captures, handle) => PeerNotice::Assert {
                oid,
                observer: Some(observer),
                handle,
                value: self.captures(&captures),
            },
            Argument::Removed(_, handle) => PeerNotice::Retract {
                observer: Some(observer),
                handle,
            },
            Argument::Message(captures) => PeerNotice::Message {
                oid,
                value: self.captures(&captures),
            },
            Argument::Value(_) | Argument::Failed(_) | Argument::Ended(..) => return Ok(()),
        };
        self.relay(told)
    }

    /// Relays a message for an object of the peer; returns false if the facet stands for none.
    pub(super) fn relay_direct(&mut self, facet: FacetId, payload: &Fact) -> Result<bool, Failure> {
        let Some(oid) = self.draft.state.peers.oid(facet) else {
            return Ok(false);
        };
        let value = self.for_peer(&payload.value());
        self.relay(PeerNotice::Message { oid, value })?;
        Ok(true)
    }

    /// Tells whoever set off this turn, which has failed, of the failure: a peer by its connection,
    /// a session by a line of its log. They learn its kind alone, because its words may be of
    /// others.
    pub(crate) fn tell_sender(&mut self, failure: &Failure) -> Result<(), Failure> {
        let Some(sender) = self.sender() else { return Ok(()) };
        let (turn, kind) = (self.draft.turn, failure.kind.clone());
        if self.draft.state.actor(sender).is_some_and(Actor::is_peer) {
            return self.relay_to(sender, PeerNotice::Failed { turn, kind });
        }
        let request = self.fresh_request();
        let text = format!(
            "what was said here made turn {} of the main program fail: {kind}",
            turn.number()
        );
        if let Some(event) = self.draft.news_for(sender, request, text) {
            self.draft.outbox.push(sender, event);
        }
        Ok(())
    }

    /// Tells the peer that its actor ends.
    pub(super) fn bid_farewell(&mut self, why: Option<&Failure>) -> Result<(), Failure> {
        let why = why.map_or_else(|| "it has left".to_owned(), Failure::to_string);
        self.relay(PeerNotice::Ended { why })
    }

    fn relay(&mut self, told: PeerNotice) -> Result<(), Failure> {
        self.relay_to(self.actor(), told)
    }

    fn relay_to(&mut self, peer: ActorId, told: PeerNotice) -> Result<(), Failure> {
        let request = self.draft.state.counters.request();
        self.perform(Relay { request, peer, told }).map_err(failure)
    }

    fn publish(&mut self, to: CapabilityId, name: u64, value: &IOValue) -> Result<(), Fault> {
        if self.draft.state.peers.published.contains_key(&(self.actor(), name)) {
            return Err(Fault::Why("an assertion with this handle is present already"));
        }
        let (authority, value) = self.passed(to, value)?;
        if let Authority::Facet { actor, facet } = authority {
            return self.give(to, name, (actor, facet), &value);
        }
        if authority != (Authority::Dataspace {}) {
            return Err(Fault::Why("nothing can be asserted at a tool"));
        }
        if is_labelled(&value, "Observe") {
            return self.subscribe(to, name, &value);
        }
        let (value, oids) = self.imported(&value)?;
        let fact = Fact::new(value).map_err(Refusal::from)?;
        let facet = self.root()?;
        let handle = self.draft.state.counters.handle();
        if keyed::of(&fact).is_some() {
            self.forget_objects(name, handle, oids)?;
            return Err(Fault::Why("a client cannot enter policy"));
        }
        let assert = Assert {
            facet,
            handle,
            value: fact,
        };
        if let Err(fault) = self.perform_through(to, assert) {
            return self.forget_objects(name, handle, oids).and(Err(fault));
        }
        self.perform(Publish {
            name,
            handle,
            observer: None,
            given_to: None,
            oids,
        })?;
        Ok(())
    }

    /// Forgets the objects that a refused assertion mentions, unless others mention them too.
    fn forget_objects(&mut self, name: u64, handle: Handle, oids: Vec<u64>) -> Result<(), Fault> {
        if oids.is_empty() {
            return Ok(());
        }
        self.perform(Publish {
            name,
            handle,
            observer: None,
            given_to: None,
            oids,
        })?;
        self.perform(Unpublish { name })?;
        Ok(())
    }

    /// Asserts a value at an object of a peer.
    fn give(&mut self, via: CapabilityId, name: u64, to: (ActorId, FacetId), value: &IOValue) -> Result<(), Fault> {
        if self.draft.state.peers.oid(to.1).is_none() {
            return Err(Fault::Why("only objects of clients take assertions"));
        }
        let (value, oids) = self.imported(value)?;
        let authority = Authority::Facet {
            actor: to.0,
            facet: to.1,
        };
        if !self.is_within(via, &authority, &value)? {
            let handle = self.draft.state.counters.handle();
            self.forget_objects(name, handle, oids)?;
            return Err(Fault::Why("the maker of the capability may not send this"));
        }
        let value = Fact::new(value).map_err(Refusal::from)?;
        let handle = self.draft.state.counters.handle();
        let give = Give {
            to: to.0,
            facet: to.1,
            handle,
            value,
        };
        self.perform(Pass {
            via,
            action: vec![give.into()],
        })?;
        self.perform(Publish {
            name,
            handle,
            observer: None,
            given_to: Some(to.0),
            oids,
        })?;
        Ok(())
    }

    /// Relays a value that somebody gave to an object of the peer; returns false if the facet
    /// stands for none.
    pub(super) fn relay_given(&mut self, facet: FacetId, handle: Handle, value: &Fact) -> Result<bool, Failure> {
        let Some(oid) = self.draft.state.peers.oid(facet) else {
            return Ok(false);
        };
        let value = self.for_peer(&value.value());
        self.relay(PeerNotice::Assert {
            oid,
            observer: None,
            handle,
            value,
        })?;
        Ok(true)
    }

    /// Relays that a value was taken back.
    pub(super) fn relay_taken(&mut self, handle: Handle) -> Result<bool, Failure> {
        self.relay(PeerNotice::Retract { observer: None, handle })?;
        Ok(true)
    }

    fn subscribe(&mut self, to: CapabilityId, name: u64, value: &IOValue) -> Result<(), Fault> {
        let is_complete = value.len() == 2;
        let pattern = Fact::new(value.index(0).into()).map_err(Refusal::from);
        let pattern = Pattern::read(pattern?.view()).filter(|_| is_complete);
        let pattern = pattern.ok_or(Fault::Why("what it observes is no pattern"))?;
        let oid = peer::as_mine(&value.index(1).into());
        let oid = oid.ok_or(Fault::Why("only an object of its own can observe for a client"))?;
        let pattern = PackedPattern::of(&pattern).map_err(Refusal::from)?;
        let facet = self.root()?;
        let counters = &mut self.draft.state.counters;
        let (observer, handle) = (counters.observer(), counters.handle());
        self.perform_through(
            to,
            Subscribe {
                facet,
                observer,
                handle,
                pattern,
                oid,
            },
        )?;
        let observer = Some(observer);
        let oids = Vec::new();
        self.perform(Publish {
            name,
            handle,
            observer,
            given_to: None,
            oids,
        })?;
        Ok(())
    }

    fn unpublish(&mut self, name: u64) -> Result<(), Fault> {
        let published = self.draft.state.peers.published.get(&(self.actor(), name));
        // The assertion was refused, and its retraction has nothing to do.
        let Some(published) = published.cloned() else {
            return Ok(());
        };
        match (published.observer, published.given_to) {
            (Some(observer), _) => self.perform(Unobserve { observer })?,
            (None, None) => self.perform(Retract {
                handle: published.handle,
                ignored: None,
            })?,
            (None, Some(_)) => {}
        }
        self.perform(Unpublish { name })?;
        Ok(())
    }

    fn message_of_peer(&mut self, to: CapabilityId, value: &IOValue) -> Result<(), Fault> {
        let (authority, value) = self.passed(to, value)?;
        let value = self.known(&value)?;
        let value = Fact::new(value).map_err(Refusal::from)?;
        match authority {
            Authority::Dataspace {} => self.perform_through(to, Message { value }),
            Authority::Facet { actor, facet } => {
                if !self.is_within(to, &authority, &value.value())? {
                    return Err(Fault::Why("the maker of the capability may not send this"));
                }
                let send = Send {
                    to: actor,
                    facet,
                    value,
                    ignored: None,
                };
                self.perform(Pass {
                    via: to,
                    action: vec![send.into()],
                })
                .map_err(Fault::from)
            }
            Authority::Tool { .. } | Authority::Capability { .. } => Err(Fault::Why("nothing can be sent to a tool")),
        }
    }

    /// Passes a value through the caveats of a capability.
    fn passed(&mut self, via: CapabilityId, value: &IOValue) -> Result<(Authority, IOValue), Fault> {
        let authority = self.authority(via)?;
        let passed = self.filter(via, value.clone())?;
        let passed = passed.ok_or(Fault::Why("the caveats of its capability let this not pass"))?;
        Ok((authority, passed))
    }

    /// Performs an action in the dataspace with the rights of the capability's maker.
    fn perform_through(&mut self, via: CapabilityId, action: impl Into<Action>) -> Result<(), Fault> {
        let action = action.into();
        let maker = self.draft.state.maker(via).map_err(|_| Refusal::Revoked(via))?;
        if maker == self.actor() {
            return self.perform(action).map_err(Fault::from);
        }
        let value = if let Action::Assert(assert) = &action {
            assert.value.value()
        } else {
            return Err(Fault::Why("the capability is only for facts"));
        };
        if !self.is_within(via, &Authority::Dataspace {}, &value)? {
            return Err(Fault::Why("the maker of the capability may not assert this"));
        }
        self.perform(Pass {
            via,
            action: vec![action],
        })
        .map_err(Fault::from)
    }

    /// Puts capabilities in the place of the peer's own objects, which become reachable; returns
    /// these objects too.
    fn imported(&mut self, value: &IOValue) -> Result<(IOValue, Vec<u64>), Refusal> {
        let mut oids = Vec::new();
        let mut seen = BTreeSet::new();
        let value = peer::map_references(value, &mut |reference| {
            let Some(oid) = peer::as_mine(reference) else {
                return self.narrowed(reference);
            };
            if seen.insert(oid) {
                oids.push(oid);
            }
            self.import(oid).map(peer::capability)
        })?;
        Ok((value, oids))
    }

    fn import(&mut self, oid: u64) -> Result<CapabilityId, Refusal> {
        if let Some(imported) = self.draft.state.peers.imported.get(&(self.actor(), oid)) {
            return Ok(imported.capability);
        }
        let parent = self.draft.acting()?.root;
        let counters = &mut self.draft.state.counters;
        let (facet, capability) = (counters.facet(), counters.capability());
        self.perform(ImportObject {
            oid,
            facet,
            parent,
            capability,
        })?;
        Ok(capability)
    }

    /// Puts capabilities in the place of the peer's own objects, which must be reachable.
    fn known(&mut self, value: &IOValue) -> Result<IOValue, Fault> {
        peer::map_references(value, &mut |reference| {
            let Some(oid) = peer::as_mine(reference) else {
                return self.narrowed(reference).map_err(Fault::from);
            };
            match self.draft.state.peers.imported.get(&(self.actor(), oid)) {
                Some(known) => Ok(peer::capability(known.capability)),
                None => Err(Fault::Why("a message mentions an object that no assertion mentions")),
            }
        })
    }

    /// Makes the capability of a narrowed reference; other references stay.
    fn narrowed(&mut self, reference: &IOValue) -> Result<IOValue, Refusal> {
        let Some((capability, caveats)) = peer::as_narrowed(reference) else {
            return Ok(reference.clone());
        };
        // A caveat that cannot be read is one that lets nothing pass.
        let nothing = Caveat::read(&IOValue::new(false));
        let caveats = caveats
            .into_iter()
            .map(|caveat| Caveat::read(&caveat).or_else(|_| nothing.clone()));
        let caveats = caveats.filter_map(Result::ok).collect();
        self.attenuate(Authority::Capability { capability }, caveats)
            .map(peer::capability)
    }

    /// Puts the peer's own objects in the place of their capabilities.
    fn for_peer(&self, value: &IOValue) -> IOValue {
        let own = |reference: &IOValue| {
            let capability = self.draft.state.capabilities.get(&peer::as_capability(reference)?)?;
            match capability.from {
                Authority::Facet { actor, facet } if actor == self.actor() => self.draft.state.peers.oid(facet),
                Authority::Facet { .. }
                | Authority::Tool { .. }
                | Authority::Dataspace {}
                | Authority::Capability { .. } => None,
            }
        };
        let changed = peer::map_references(value, &mut |reference| {
            Ok::<_, std::convert::Infallible>(own(reference).map_or_else(|| reference.clone(), peer::mine))
        });
        let Ok(changed) = changed;
        changed
    }

    fn captures(&self, captures: &Captures) -> IOValue {
        self.for_peer(&IOValue::new(captures.iter().map(View::to_value).collect::<Vec<_>>()))
    }

    fn root(&self) -> Result<FacetId, Refusal> {
        Ok(self.draft.acting()?.root)
    }
}
