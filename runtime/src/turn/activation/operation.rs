//! The operations of a program in a turn.
//!
//! INVARIANT: each operation draws its ids and performs one action; after a refusal the turn lists
//! nothing, and the program receives the reason.
//! It does not decide what is allowed; actions refuse, and `arbitrate.rs` asks policy.
//! Read next: `arbitrate.rs`.

use preserves::{IOValue, Value, ValueImpl};

use super::Activation;
use crate::action::{
    Action, AskUser, Assert, AttachEntity, Attenuate, DetachEntity, GenerateRequestId, InvokeTool, Message, Observe,
    Pass, Progress, Read, RegisterEntity, Retract, Revoke, Send, SpawnActor, SpawnFacet, Timer, Unobserve, Wake, Write,
};
use crate::capability::{Allowance, Authority, Caveat};
use crate::dataspace::pattern::{PackedPattern, Pattern};
use crate::driver::Stream;
use crate::model::codec::{Bytes, Codec, Fields, record};
use crate::model::identity::{ActorId, Callable, CapabilityId, FacetId, FiberId, Handle, ObserverId, RequestId};
use crate::model::manifest::Manifest;
use crate::model::value::Fact;
use crate::policy::keyed;
use crate::state::actor::{EntityClass, ExitHook, FiberKind};
use crate::state::draft::Callables;
use crate::state::own_requests::Change;
use crate::state::refusal::{Ignored, Refusal};
use crate::state::request::Question;
use crate::turn::task::NewActor;

impl Activation {
    /// Returns the fuel that is left to the running fiber; the instance counts it down, below zero
    /// if the last primitive takes more.
    pub fn fuel(&mut self) -> &mut i64 {
        &mut self.fuel
    }

    /// Returns the fuel that the running fiber may use and owe together, if that is limited.
    pub(crate) fn fuel_max(&self) -> Option<u64> {
        let left = u64::try_from(self.fuel).unwrap_or(0);
        self.debt_max.map(|debt_max| left.saturating_add(debt_max))
    }

    /// Returns the acting actor.
    pub fn actor(&self) -> ActorId {
        self.draft.actor
    }

    /// Returns the facet of the running fiber.
    pub fn facet(&self) -> FacetId {
        self.current.map_or(FacetId(0), |current| current.facet)
    }

    /// Returns whether the running fiber is a main program.
    pub fn is_main(&self) -> bool {
        self.current.is_some_and(|current| current.kind == (FiberKind::Main {}))
    }

    /// Returns the maximum size of the acting actor's heap in bytes.
    pub fn heap_bytes_max(&self) -> u64 {
        let own = self.draft.acting().ok().and_then(|actor| actor.heap_bytes_max);
        self.limits.of_actor(own).heap_bytes_max
    }

    /// Returns whether the running fiber is the evaluation of a text.
    pub(crate) fn is_interaction(&self) -> bool {
        let interaction = FiberKind::Interaction {};
        self.current.is_some_and(|current| current.kind == interaction)
    }

    /// Returns the manifest of the acting actor.
    pub fn manifest(&self) -> Manifest {
        self.draft
            .acting()
            .map(|actor| actor.manifest.clone())
            .unwrap_or_default()
    }

    /// Returns whether writing commits the turn of the running fiber, which then parks
    /// [`Until::Flushed`](crate::turn::task::Until::Flushed).
    pub fn commits_on_write(&self) -> bool {
        self.current.is_some_and(|current| current.kind.commits_on_write())
    }

    /// Returns the name of the `counter`th resource at `path` in this run; see
    /// [`Namer`](crate::model::identity::Namer).
    pub fn name(&self, path: &str, counter: u64) -> String {
        self.draft.names.name(path, counter)
    }

    /// Asserts `value` for the current facet.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`] if the facet has stopped.
    pub fn assert(&mut self, value: Fact) -> Result<Handle, Refusal> {
        self.assert_through(None, value)
    }

    /// Asserts `value` for the current facet. With a capability, the value must have
    /// [passed](Self::pass) its caveats.
    ///
    /// # Errors
    /// As [`assert`](Self::assert); [`Refusal::Revoked`], [`Refusal::Unfit`].
    pub(crate) fn assert_through(&mut self, via: Option<CapabilityId>, value: Fact) -> Result<Handle, Refusal> {
        let is_entry = keyed::of(&value).is_some();
        let handle = self.draft.state.counters.handle();
        let facet = self.facet();
        let assert = through(via, Assert { facet, handle, value });
        if is_entry {
            self.arbitrate(vec![assert])?;
        } else {
            self.perform(assert)?;
        }
        Ok(handle)
    }

    /// Returns whether an assertion is an entry of policy.
    fn is_entry(&self, handle: Handle) -> bool {
        let held = self.draft.state.before().held(handle);
        held.is_some_and(|held| keyed::of(&held.fact).is_some())
    }

    /// Retracts an assertion of this actor; returns the reason if the call was ignored.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub fn retract(&mut self, handle: Handle) -> Result<Option<Ignored>, Refusal> {
        let ignored = self.draft.state.why_not_retract(self.actor(), handle);
        let retract = Retract { handle, ignored };
        if ignored.is_none() && self.is_entry(handle) {
            self.arbitrate(vec![retract.into()])?;
        } else {
            self.perform(retract)?;
        }
        Ok(ignored)
    }

    /// Asserts `value` and then retracts `old`, so that an equal value does not flicker.
    ///
    /// # Errors
    /// As [`assert`](Self::assert).
    pub fn update(&mut self, old: Handle, value: Fact) -> Result<Handle, Refusal> {
        if keyed::of(&value).is_none() && !self.is_entry(old) {
            let handle = self.assert(value)?;
            self.retract(old)?;
            return Ok(handle);
        }
        let handle = self.draft.state.counters.handle();
        let facet = self.facet();
        let ignored = self.draft.state.why_not_retract(self.actor(), old);
        let retract = Retract { handle: old, ignored };
        self.arbitrate(vec![retract.into(), Assert { facet, handle, value }.into()])?;
        Ok(handle)
    }

    /// Sends `value` to all who observe it.
    ///
    /// # Errors
    /// [`Refusal::Value`], [`Refusal::Pure`].
    pub fn message(&mut self, value: Fact) -> Result<(), Refusal> {
        self.perform(Message { value })
    }

    /// Sends `value` to the watches of a facet; returns the reason if the call was ignored.
    ///
    /// # Errors
    /// [`Refusal::Value`], [`Refusal::Pure`].
    pub fn send(&mut self, to: ActorId, facet: FacetId, value: Fact) -> Result<Option<Ignored>, Refusal> {
        self.send_through(None, to, facet, value)
    }

    /// Sends `value` to the watches of a facet; returns the reason if the call was ignored. With a
    /// capability, the value must have [passed](Self::pass) its caveats.
    ///
    /// # Errors
    /// As [`send`](Self::send); [`Refusal::Revoked`], [`Refusal::Unfit`].
    pub(crate) fn send_through(
        &mut self,
        via: Option<CapabilityId>,
        to: ActorId,
        facet: FacetId,
        value: Fact,
    ) -> Result<Option<Ignored>, Refusal> {
        let recipient = self.draft.state.actor(to);
        let is_there = recipient.is_some_and(|actor| actor.facets.contains_key(&facet));
        let ignored = if is_there { None } else { Some(Ignored::Gone {}) };
        let send = Send {
            to,
            facet,
            value,
            ignored,
        };
        self.perform(through(via, send))?;
        Ok(ignored)
    }

    /// Begins a watch for the current facet.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Value`].
    pub fn watch(&mut self, pattern: &Pattern, handler: Callable) -> Result<ObserverId, Refusal> {
        let pattern = PackedPattern::of(pattern)?;
        let counters = &mut self.draft.state.counters;
        let (observer, handle) = (counters.observer(), counters.handle());
        self.draft.callables = Callables::from_iter([handler]);
        self.perform(Observe {
            facet: self.facet(),
            observer,
            handle,
            pattern,
        })?;
        Ok(observer)
    }

    /// Ends a watch.
    ///
    /// # Errors
    /// [`Refusal::NoObserver`] if it has ended before.
    pub fn unwatch(&mut self, observer: ObserverId) -> Result<(), Refusal> {
        self.perform(Unobserve { observer })
    }

    /// Makes a facet in `parent`, which also stops when the fiber that uses it, if one does, is
    /// ended before its work is done.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub fn spawn_facet(&mut self, parent: FacetId, user: Option<FiberId>) -> Result<FacetId, Refusal> {
        let facet = self.draft.state.counters.facet();
        self.perform(SpawnFacet { facet, parent, user })?;
        Ok(facet)
    }

    /// Registers `hook`, which runs when the current facet stops.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Pure`].
    pub fn on_stop(&mut self, hook: Callable) -> Result<(), Refusal> {
        if self.is_pure {
            return Err(Refusal::Pure);
        }
        let facet = self.facet();
        self.draft.facet_mut(facet)?.stop_hooks.push(hook);
        Ok(())
    }

    /// Returns the maximum number of assertions of the acting actor, if it is limited.
    pub fn facts_max(&self) -> Option<u64> {
        self.draft.acting().ok()?.facts_max
    }

    /// Registers `hook`, which runs with the actor's outcome when the actor has ended.
    ///
    /// # Errors
    /// [`Refusal::NoActor`], [`Refusal::Pure`].
    pub(crate) fn on_exit(&mut self, hook: Callable) -> Result<(), Refusal> {
        if self.is_pure {
            return Err(Refusal::Pure);
        }
        let entity = self.draft.acting()?.entity_of(self.facet());
        let hook = ExitHook {
            procedure: hook,
            entity,
        };
        self.draft.acting_mut()?.exit_hooks.push(hook);
        Ok(())
    }

    /// Makes an actor.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub fn spawn_actor(&mut self, new_actor: NewActor) -> Result<ActorId, Refusal> {
        let own = self.draft.acting()?;
        let (own_bytes_max, own_facts_max) = (own.heap_bytes_max, own.facts_max);
        let counters = &mut self.draft.state.counters;
        let (actor, root) = (counters.actor(), counters.facet());
        let monitor = new_actor.on_end.map(|_| self.facet());
        self.draft.callables = new_actor.on_end.into_iter().collect();
        self.perform(SpawnActor {
            actor,
            root,
            role: new_actor.role,
            link: new_actor.link,
            monitor,
            program: new_actor.program,
            heap_bytes_max: new_actor.heap_bytes_max.or(own_bytes_max),
            facts_max: new_actor.facts_max.or(own_facts_max),
            manifest: new_actor.manifest,
        })?;
        Ok(actor)
    }

    /// Registers the class of entities that play `role`.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub(crate) fn register_entity(&mut self, role: String, class: EntityClass) -> Result<(), Refusal> {
        self.perform(RegisterEntity { role, class })
    }

    /// Finds the class that plays `role`.
    ///
    /// # Errors
    /// [`Refusal::NoRole`].
    pub(crate) fn entity_class(&self, role: &str) -> Result<EntityClass, Refusal> {
        let roles = &self.draft.acting()?.roles;
        let class = roles.get(role).map(|class| EntityClass::clone(class));
        class.ok_or_else(|| Refusal::NoRole {
            role: role.to_owned(),
            known: roles.keys().map(|role| role.to_string()).collect(),
        })
    }

    /// Makes the facet of an entity inside `parent`, and registers it as `role`.
    ///
    /// # Errors
    /// [`Refusal::Attached`], [`Refusal::NoFacet`].
    pub(crate) fn attach_entity(&mut self, role: String, parent: FacetId) -> Result<FacetId, Refusal> {
        let facet = self.draft.state.counters.facet();
        self.perform(AttachEntity { role, facet, parent })?;
        Ok(facet)
    }

    /// Frees a role inside the actor; returns the facet that must stop.
    ///
    /// # Errors
    /// [`Refusal::NotAttached`].
    pub(crate) fn detach_entity(&mut self, role: String) -> Result<FacetId, Refusal> {
        let attached = &self.draft.acting()?.attached;
        let facet = *attached
            .get(role.as_str())
            .ok_or_else(|| Refusal::NotAttached(role.clone()))?;
        self.perform(DetachEntity { role, facet })?;
        Ok(facet)
    }

    /// Starts a timer, for which the fiber then waits.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Pure`].
    pub fn start_timer(&mut self, delay_ms: u64) -> Result<RequestId, Refusal> {
        let request = self.draft.state.counters.request();
        self.perform(Timer {
            request,
            facet: self.facet(),
            delay_ms,
        })?;
        Ok(request)
    }

    /// Shows the progress of a piece of work.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub fn progress(&mut self, label: String, done: u64, total: u64) -> Result<(), Refusal> {
        let request = self.draft.state.counters.request();
        self.perform(Progress {
            request,
            label,
            done,
            total,
        })
    }

    /// Writes to the console. If writing [commits](Self::commits_on_write), the fiber parks next.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub fn write(&mut self, stream: Stream, bytes: Vec<u8>) -> Result<(), Refusal> {
        let request = self.draft.state.counters.request();
        self.perform(Write {
            request,
            stream,
            bytes: Bytes(bytes),
        })
    }

    /// Asks for bytes from standard input; the fiber then waits for the answer.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Pure`].
    pub fn read(&mut self, length_bytes_max: u64) -> Result<RequestId, Refusal> {
        let request = self.draft.state.counters.request();
        self.perform(Read {
            request,
            facet: self.facet(),
            length_bytes_max,
        })?;
        Ok(request)
    }

    /// Calls a tool, which the manifest grants or the capability `via`, whose caveats `payload` has
    /// [passed](Self::pass). Returns the tag that awaits its result, by default a unique one.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Value`], [`Refusal::Pure`].
    pub fn invoke_tool(
        &mut self,
        role: IOValue,
        tool: String,
        payload: Fact,
        tag: Option<String>,
        via: Option<CapabilityId>,
    ) -> Result<String, Refusal> {
        let request = self.draft.state.counters.request();
        let tag = tag.unwrap_or_else(|| self.name("request", request.0));
        let facet = self.facet();
        let call = InvokeTool {
            request,
            facet,
            role,
            tool,
            payload,
            tag: tag.clone(),
            via,
        };
        self.arbitrate(vec![call.into()])?;
        Ok(tag)
    }

    /// Makes a capability from `from`, narrowed by caveats, the newest last.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::TooNarrow`], [`Refusal::Pure`].
    pub fn attenuate(&mut self, from: Authority, caveats: Vec<Caveat>) -> Result<CapabilityId, Refusal> {
        let capability = self.draft.state.counters.capability();
        self.perform(Attenuate {
            capability,
            from,
            caveats,
        })?;
        Ok(capability)
    }

    /// Revokes a capability of this actor.
    ///
    /// # Errors
    /// [`Refusal::NotOwner`], [`Refusal::Pure`].
    pub fn revoke(&mut self, capability: CapabilityId) -> Result<(), Refusal> {
        self.perform(Revoke { capability })
    }

    /// Returns the authority of a capability.
    ///
    /// # Errors
    /// [`Refusal::Revoked`].
    pub fn authority(&self, capability: CapabilityId) -> Result<Authority, Refusal> {
        self.draft.state.way_through(capability).map(|(authority, _)| authority)
    }

    /// Passes a value through a capability's caveats, the newest first; returns `None` if they
    /// reject it, or if whoever made the capability has no right to it. Capabilities inside the
    /// value are narrowed where a caveat says so.
    ///
    /// # Errors
    /// [`Refusal::Revoked`]; [`Refusal::Value`] if a caveat makes too much of it;
    /// [`Refusal::TooNarrow`], [`Refusal::Pure`] where one is narrowed.
    pub fn pass(&mut self, capability: CapabilityId, value: IOValue) -> Result<Option<IOValue>, Refusal> {
        let authority = self.authority(capability)?;
        let value = match &authority {
            Authority::Tool { name } => match self.draft.state.as_judged(capability, name, value)? {
                Some(value) => value,
                None => return Ok(None),
            },
            Authority::Dataspace {} | Authority::Facet { .. } | Authority::Capability { .. } => value,
        };
        match self.filter(capability, value)? {
            Some(value) if self.is_within(capability, &authority, &value)? => Ok(Some(value)),
            Some(_) | None => Ok(None),
        }
    }

    /// Passes a value through a capability's caveats, as [`pass`](Self::pass) does, and does not
    /// ask for the rights of its maker.
    pub(super) fn filter(&mut self, capability: CapabilityId, value: IOValue) -> Result<Option<IOValue>, Refusal> {
        let (_, caveats) = self.draft.state.way_through(capability)?;
        let mut refusal = None;
        let mut allowance = Allowance::default();
        let mut passed = value;
        for caveat in caveats {
            let mut attenuate = |inner: &IOValue, caveats: &[Caveat]| {
                let held = Fields::of(&*inner.as_embedded()?, "capability", 1)
                    .ok()?
                    .read("id")
                    .ok()?;
                let made = self.attenuate(Authority::Capability { capability: held }, caveats.to_vec());
                let made = made.map_err(|why| refusal = Some(why)).ok()?;
                Some(IOValue::from(Value::embedded(record(
                    "capability",
                    vec![made.encode()],
                ))))
            };
            let made = caveat.apply(&passed, &mut allowance, &mut attenuate);
            match (made.map_err(Refusal::Value)?, refusal.take()) {
                (_, Some(why)) => return Err(why),
                (Some(made), None) => passed = made,
                (None, None) => return Ok(None),
            }
        }
        Ok(Some(passed))
    }

    /// Asks the person a question; the fiber then waits for the answer.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::Value`], [`Refusal::Pure`].
    pub fn ask_user(&mut self, prompt: IOValue, tag: Option<String>) -> Result<RequestId, Refusal> {
        let counters = &mut self.draft.state.counters;
        let (request, handle) = (counters.request(), counters.handle());
        let tag = tag.unwrap_or_else(|| self.name("request", request.0));
        self.perform(AskUser {
            request,
            facet: self.facet(),
            handle,
            prompt,
            tag,
        })?;
        self.tell_of_request(request, Change::Asked);
        Ok(request)
    }

    /// Draws a unique text, such as a request id, for a use of a role.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub(crate) fn generate_request_id(&mut self, role: IOValue, property: IOValue) -> Result<String, Refusal> {
        if self.is_pure {
            return Err(Refusal::Pure);
        }
        let request = self.draft.state.counters.request();
        let text = self.name("request", request.0);
        self.perform(GenerateRequestId {
            request,
            role,
            property,
            text: text.clone(),
        })?;
        Ok(text)
    }

    /// Returns the running fiber, for [`wake`](Self::wake).
    pub fn fiber(&self) -> FiberId {
        self.current.map_or(FiberId(0), |current| current.fiber)
    }

    /// Lets a fiber of this actor continue that parked [`Until::Woken`](crate::turn::task::Until).
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub fn wake(&mut self, fiber: FiberId) -> Result<(), Refusal> {
        self.perform(Wake { fiber })
    }

    /// Finds this actor's newest tool call with a tag whose result is not consumed.
    pub fn tool_call(&self, tag: &str) -> Option<RequestId> {
        let is_it = |request: &crate::state::request::Request| {
            let is_call = matches!(request.question, Question::Tool { .. } | Question::Deferred { .. });
            request.actor == self.actor() && request.tag == tag && is_call
        };
        let requests = self.draft.state.requests.iter();
        requests
            .filter(|(_, request)| is_it(request))
            .map(|(id, _)| *id)
            .next_back()
    }
}

/// Makes an action go through a capability, if there is one.
fn through(via: Option<CapabilityId>, action: impl Into<Action>) -> Action {
    match via {
        None => action.into(),
        Some(via) => Pass {
            via,
            action: vec![action.into()],
        }
        .into(),
    }
}
