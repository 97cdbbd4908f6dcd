//! The world of a simulated run: a simulated one, or one of real drivers.
//!
//! INVARIANT: a tool that must not be repeated acts at most once under a key, over all processes
//! and branches; the world reports the first call that would make the tool act again. A key never
//! means two different calls.
//! It does not decide when the world is asked; `course.rs` does.
//! Read next: `world/simulated.rs`, then `world/driven.rs`.

mod driven;
mod simulated;

use std::collections::BTreeMap;
use std::{fmt, io};

use duet_runtime::driver::{Effect, EffectKind, Input, UNNOTICED_TOOLS};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::inflight::Recovery;

use self::driven::Driven;
use self::simulated::Simulated;

/// What a run speaks to.
pub(crate) enum World {
    Simulated(Simulated),
    Driven(Box<Driven>),
}

/// The kinds of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorldKind {
    /// A virtual clock, and answers that a seed draws.
    Simulated,
    /// The drivers of `duet run`, whose answers come when they come.
    Driven,
}

/// What goes wrong in a world.
#[derive(Debug)]
pub(crate) enum WorldError {
    /// A call was made again although it must not be.
    Repeated {
        /// The key under which it was made.
        key: String,
    },
    /// The system gives the drivers no threads.
    Drivers(io::Error),
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { key } => write!(f, "a tool acted twice under the key {key}"),
            Self::Drivers(error) => write!(f, "the drivers cannot start: {error}"),
        }
    }
}

impl World {
    pub(crate) fn new(kind: WorldKind) -> Self {
        match kind {
            WorldKind::Simulated => Self::Simulated(Simulated::default()),
            WorldKind::Driven => Self::Driven(Box::default()),
        }
    }

    /// Does what a durable turn has asked for.
    ///
    /// # Errors
    /// [`WorldError`].
    pub(crate) fn perform(&mut self, effects: Vec<Effect>, recovery: &Recovery) -> Result<(), WorldError> {
        match self {
            Self::Simulated(world) => world.perform(effects, recovery),
            Self::Driven(world) => world.perform(effects, recovery),
        }
    }

    /// Answers something that it was asked: a simulated world the request `which` with `what`, real
    /// drivers whatever is ready.
    ///
    /// # Errors
    /// [`WorldError`].
    pub(crate) fn answer(&mut self, which: u64, what: u64) -> Result<Option<Input>, WorldError> {
        match self {
            Self::Simulated(world) => Ok(world.answer(which, what)),
            Self::Driven(world) => world.answer(),
        }
    }

    /// Lets time pass; a real clock needs nobody for that.
    pub(crate) fn wait(&mut self, seconds: u64) {
        if let Self::Simulated(world) = self {
            world.wait(seconds);
        }
    }

    /// The process that heard the answers has ended; what was under way is not heard of any more.
    pub(crate) fn forget(&mut self) {
        match self {
            Self::Simulated(world) => world.forget(),
            Self::Driven(world) => world.forget(),
        }
    }

    /// An answer to a request that has had one, or that was never made.
    pub(crate) fn answer_again(request: u64) -> Input {
        Input::Answer {
            request: RequestId(request),
            value: "again".to_owned().encode(),
        }
    }
}

/// The call that each key stands for, and the number of times it was made.
#[derive(Default)]
struct Ledger(BTreeMap<String, (EffectKind, u64)>);

impl Ledger {
    /// Notes a call.
    ///
    /// # Errors
    /// [`WorldError`], if it must not be made again, or the key stood for another one.
    fn enter(&mut self, effect: &Effect, recovery: &Recovery) -> Result<(), WorldError> {
        let EffectKind::Tool { name, .. } = &effect.kind else {
            return Ok(());
        };
        let first = || (effect.kind.clone(), 0);
        let (kind, count) = self.0.entry(effect.key.clone()).or_insert_with(first);
        *count += 1;
        // Nobody notices a call that was made before its turn was durable, and is made again
        // because the turn was lost.
        let may_repeat = recovery.repeatable.contains(name) || UNNOTICED_TOOLS.contains(&name.as_str());
        if *kind != effect.kind || (*count > 1 && !may_repeat) {
            return Err(WorldError::Repeated {
                key: effect.key.clone(),
            });
        }
        Ok(())
    }
}
