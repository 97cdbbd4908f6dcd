//! Actions: the only ways in which a turn changes a run.
//!
//! Owns the table of action kinds; each kind has a file under `action/` with its fields, its
//! effect, its claims and its text for people. No kind needs an inverse, because the state keeps an
//! undo log (`collections/tracked.rs`).
//! INVARIANT: the effect of an action depends only on its fields, the state and the procedures that
//! the program keeps, so performing the same actions on the same state gives the same state.
//! It does not judge; `gate.rs` does.
//! Read next: any file of `action/`, then `gate.rs`.

use std::borrow::Cow;
use std::fmt;

use duet_journal::packed::{PackedError, PackedWriter};
use preserves::IOValue;
use smallvec::{SmallVec, smallvec};

use crate::capability::Authority;
use crate::dataspace::pattern::PackedPattern;
use crate::driver::EffectKind;
use crate::model::codec::{Codec, DecodeError, label_of};
use crate::model::identity::{ActorId, CapabilityId, RequestId, Resource};
use crate::model::manifest::{Manifest, Right};
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// The behaviour of a kind of action.
pub trait Act: Codec {
    /// Performs the action.
    ///
    /// # Errors
    /// [`Refusal`]; the draft may then be half changed, and the caller drops it.
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal>;

    /// Returns the resources that the action uses, makes and ends, and the capability values that
    /// it uses and makes.
    fn claims(&self) -> Claims;

    /// Returns the rights that the acting actor must have.
    fn needs(&self) -> Needs<'_> {
        Needs::new()
    }

    /// Returns the effect that the world performs once the turn is durable.
    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        None
    }

    /// Returns the actions inside this one that it performs: those that were postponed before, or
    /// go through a capability.
    fn carried_out(&self) -> &[Action] {
        &[]
    }

    /// Returns the actions that this one mentions, performed or not.
    fn parts(&self) -> &[Action] {
        self.carried_out()
    }

    /// Describes the action for people, in one line, without its name.
    fn show(&self) -> String;
}

/// A list of resources; most actions name at most two of a sort.
type Resources = SmallVec<[Resource; 2]>;

/// The rights that an action needs; most actions need at most one.
pub type Needs<'a> = SmallVec<[Need<'a>; 1]>;

/// A right that an action needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Need<'a> {
    /// The capability of this name.
    Capability(Cow<'a, str>),
    /// The right to assert a value or to send it.
    Value(Right, &'a Fact),
    /// The right to observe everything that a pattern matches.
    Observe(&'a PackedPattern),
    /// The right to assert or send at least some values.
    Some(Right),
    /// The right to send at least some messages, unless the recipient is the acting actor.
    Reach(ActorId),
    /// Everything that a manifest grants.
    Manifest(&'a Manifest),
}

impl<'a> Need<'a> {
    /// Returns the need of a capability by its name.
    pub fn of(capability: &'a str) -> Self {
        Self::Capability(Cow::Borrowed(capability))
    }
}

/// Returns one need.
fn needing(need: Need<'_>) -> Needs<'_> {
    smallvec![need]
}

/// Returns the needs of all attempts.
fn needs_of(attempts: &[Action]) -> Needs<'_> {
    attempts.iter().flat_map(Action::needs).collect()
}

/// Lists attempts for people.
pub(crate) fn listed(attempts: &[Action]) -> String {
    attempts.iter().map(Action::to_string).collect::<Vec<_>>().join(" and ")
}

/// The claims of an action, which the gate checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Resources that must exist and be the actor's own.
    pub uses: Resources,
    /// Resources that the action makes.
    pub makes: Resources,
    /// Resources that must exist and be the actor's own, and that the action ends.
    pub ends: Resources,
    /// The claims that few actions have.
    pub special: Option<Box<SpecialClaims>>,
}

/// The claims of an action besides resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialClaims {
    /// The capability value through which it acts, and the authority that this must have.
    pub through: Option<(CapabilityId, Authority)>,
    /// A capability that it makes, with its authority.
    pub conveys: Option<(CapabilityId, Authority)>,
}

impl Claims {
    /// Adds a used resource.
    #[inline]
    pub(crate) fn using(mut self, resource: Resource) -> Self {
        self.uses.push(resource);
        self
    }

    /// Adds the resources that the attempts use and make.
    pub(crate) fn attempting(mut self, attempts: &[Action]) -> Self {
        for attempt in attempts.iter().map(Action::claims) {
            self.makes.extend(attempt.makes);
            self.uses.extend(attempt.uses);
        }
        self
    }

    /// Adds a made resource.
    #[inline]
    pub fn making(mut self, resource: Resource) -> Self {
        self.makes.push(resource);
        self
    }

    /// Adds an ended resource.
    #[inline]
    pub fn ending(mut self, resource: Resource) -> Self {
        self.ends.push(resource);
        self
    }

    /// Adds the capability value used, and the authority that it must have.
    pub(crate) fn going_through(mut self, capability: CapabilityId, authority: Authority) -> Self {
        self.special().through = Some((capability, authority));
        self
    }

    /// Adds a capability that the action makes, with its authority.
    pub(crate) fn conveying(mut self, capability: CapabilityId, authority: Authority) -> Self {
        self.special().conveys = Some((capability, authority));
        self
    }

    fn special(&mut self) -> &mut SpecialClaims {
        self.special.get_or_insert_default()
    }
}

/// Represents actions as a value, for a postponed request.
///
/// # Errors
/// [`PackedError`] if they are too large or too deep.
pub(crate) fn to_value(actions: &[Action]) -> Result<Fact, PackedError> {
    Fact::new(IOValue::new(actions.iter().map(Action::encode).collect::<Vec<_>>()))
}

/// Reads the actions that a value represents.
///
/// # Errors
/// [`DecodeError`] if `to_value` did not make the value.
pub fn of_value(value: &Fact) -> Result<Vec<Action>, DecodeError> {
    Vec::decode(&value.value())
}

macro_rules! actions {
    ($($(#[doc = $doc:literal])* $module:ident $kind:ident $name:literal)*) => {
        $(pub mod $module;)*
        $(pub use $module::$kind;)*

        /// One action of a turn.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Action {
            $($(#[doc = $doc])* $kind($kind),)*
        }

        /// The names and descriptions of all kinds, in the order of the table.
        pub const KINDS: &[(&str, &str)] = &[$(($name, concat!($($doc),*)),)*];

        impl Action {
            /// Returns the kind's stable name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                }
            }

            fn act(&self) -> &dyn DynAct {
                match self {
                    $(Self::$kind(action) => action,)*
                }
            }
        }

        $(impl From<$kind> for Action {
            fn from(action: $kind) -> Self {
                Self::$kind(action)
            }
        })*

        impl Codec for Action {
            fn write(&self, out: &mut PackedWriter) {
                match self {
                    $(Self::$kind(action) => action.write(out),)*
                }
            }

            fn decode(value: &IOValue) -> Result<Self, DecodeError> {
                match label_of(value).as_deref() {
                    $(Some($name) => $kind::decode(value).map(Self::$kind),)*
                    _ => Err(DecodeError::kind("an action", value)),
                }
            }

            fn fields_of(label: &str) -> &'static [&'static str] {
                match label {
                    $($name => $kind::fields_of(label),)*
                    _ => &[],
                }
            }
        }
    };
}

actions! {
    /// Asserts a value for a facet.
    assert Assert "assert"
    /// Retracts an assertion.
    retract Retract "retract"
    /// Tells a value, once, to all who observe it.
    message Message "message"
    /// Tells a value, once, to the watches of one facet of one actor.
    send Send "send"
    /// Begins to watch.
    observe Observe "observe"
    /// Ends a watch.
    unobserve Unobserve "unobserve"
    /// Makes a facet.
    spawn_facet SpawnFacet "spawn-facet"
    /// Ends a facet in which no other lives any more.
    stop_facet StopFacet "stop-facet"
    /// Makes a fiber.
    spawn_fiber SpawnFiber "spawn-fiber"
    /// Makes a fiber whose failures a procedure receives.
    spawn_guarded SpawnGuarded "spawn-guarded"
    /// Ends a guarded fiber before its work is done.
    cancel Cancel "cancel"
    /// Parks a fiber until one of its conditions holds.
    wait Wait "wait"
    /// Ends a wait, because one of its conditions holds.
    resume Resume "resume"
    /// Parks a fiber until everything that is on its way has been handled.
    yield_turn Yield "yield"
    /// Shows a line of text to whoever follows the run.
    log Log "log"
    /// Shows a line of the runtime about the acting actor to whoever follows the run.
    note Note "note"
    /// Calls a tool.
    invoke_tool InvokeTool "invoke-tool"
    /// Keeps what a tool call is about to replace, and lets it go on.
    keep Keep "keep"
    /// Puts a question to the person.
    ask_user AskUser "ask-user"
    /// Answers a question of the acting actor.
    answer Answer "answer"
    /// Puts what was attempted to the person.
    propose Propose "propose"
    /// Limits the time in which a proposal can be approved.
    limit Limit "limit"
    /// Carries out what was approved.
    approve Approve "approve"
    /// Gives up what was proposed.
    reject Reject "reject"
    /// Puts off what policy wants later.
    postpone Postpone "postpone"
    /// Carries out what was put off.
    admit Admit "admit"
    /// Answers a proposal in the place of a person.
    decide Decide "decide"
    /// Writes to the console.
    write Write "write"
    /// Asks for bytes from standard input.
    read Read "read"
    /// Shows the failure of an actor that no other actor takes.
    report_failure ReportFailure "report-failure"
    /// Shows how far a piece of work has come.
    progress Progress "progress"
    /// Starts a timer.
    timer Timer "timer"
    /// Notes when a timer will have run out.
    due Due "due"
    /// Lets a fiber go on that parked until another one wakes it.
    wake Wake "wake"
    /// Draws a text that nothing else in the run has.
    generate_request_id GenerateRequestId "generate-request-id"
    /// Parks a fiber until another actor has caught up.
    sync Sync "sync"
    /// Lets a fiber go on that waits for the acting actor to catch up.
    synced Synced "synced"
    /// Names the class of entities that play a role.
    register_entity RegisterEntity "register-entity"
    /// Makes the facet of an entity that lives inside the acting actor.
    attach_entity AttachEntity "attach-entity"
    /// Frees the role of an entity inside the acting actor.
    detach_entity DetachEntity "detach-entity"
    /// Makes a capability, which gives what another authority gives, or less.
    attenuate Attenuate "attenuate"
    /// Takes a capability back.
    revoke Revoke "revoke"
    /// Lets a peer in, as an actor of its own.
    welcome Welcome "welcome"
    /// Makes a facet and a capability for an object of a peer.
    import_object ImportObject "import-object"
    /// Begins to observe for an object of a peer.
    subscribe Subscribe "subscribe"
    /// Asserts a value at an object of a peer.
    give Give "give"
    /// Notes a peer's name for its assertion.
    publish Publish "publish"
    /// Forgets a peer's name for an assertion that has ended.
    unpublish Unpublish "unpublish"
    /// Tells a peer something.
    relay Relay "relay"
    /// Asserts or sends through a capability.
    pass Pass "pass"
    /// Widens what the acting actor may do, as a person grants it.
    widen Widen "widen"
    /// Puts a changed text in the place of the one that the run executes.
    patch Patch "patch"
    /// Makes the acting actor begin anew, as a person wants it.
    restart Restart "restart"
    /// Makes an actor.
    spawn_actor SpawnActor "spawn-actor"
    /// Ends the acting actor.
    exit Exit "exit"
}

/// The part of [`Act`] that supports dynamic dispatch.
trait DynAct {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal>;
    fn claims(&self) -> Claims;
    fn needs(&self) -> Needs<'_>;
    fn effect(&self) -> Option<(RequestId, EffectKind)>;
    fn carried_out(&self) -> &[Action];
    fn parts(&self) -> &[Action];
    fn show(&self) -> String;
}

impl<T: Act> DynAct for T {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        Act::perform(self, draft)
    }

    fn claims(&self) -> Claims {
        Act::claims(self)
    }

    fn needs(&self) -> Needs<'_> {
        Act::needs(self)
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Act::effect(self)
    }

    fn carried_out(&self) -> &[Action] {
        Act::carried_out(self)
    }

    fn parts(&self) -> &[Action] {
        Act::parts(self)
    }

    fn show(&self) -> String {
        Act::show(self)
    }
}

impl Action {
    /// Performs the action.
    ///
    /// # Errors
    /// [`Refusal`]; the draft may then be half changed, and the caller drops it.
    pub fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        self.act().perform(draft)
    }

    /// Returns the resources that the action uses, makes and ends, and the capability values that
    /// it uses and makes.
    pub fn claims(&self) -> Claims {
        self.act().claims()
    }

    /// Returns the rights that the acting actor must have.
    pub fn needs(&self) -> Needs<'_> {
        self.act().needs()
    }

    /// Returns the effects that the world performs once the turn is durable.
    pub fn effects(&self) -> impl Iterator<Item = (RequestId, EffectKind)> {
        let put_off = self.act().carried_out().iter();
        let put_off = put_off.filter_map(|action| action.act().effect());
        self.act().effect().into_iter().chain(put_off)
    }

    /// Returns the actions inside this one that it performs, or this one if there are none.
    pub fn done(&self) -> &[Action] {
        match self.act().carried_out() {
            [] => std::slice::from_ref(self),
            actions => actions,
        }
    }

    /// Returns the actions that this one mentions, performed or not.
    pub fn parts(&self) -> &[Action] {
        self.act().parts()
    }

    /// Returns the tool call, if the action is one.
    pub fn call(&self) -> Option<&InvokeTool> {
        if let Self::InvokeTool(call) = self {
            Some(call)
        } else {
            None
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.act().show())
    }
}

#[cfg(test)]
mod tests;
