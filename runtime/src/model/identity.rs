//! The names of things inside a run: newtypes over counters that are part of the run's state.
//!
//! INVARIANT: an id is a function of the history that led to it, never of time, chance or a memory
//! address; so replay and every fork assign the same ids, and an aborted turn returns its ids.
//! Nothing here says what an id refers to; `state.rs` does. The journal names runs, branches and
//! turns.
//! Read next: `codec.rs`.

use std::fmt;

use duet_journal::packed::PackedWriter;
use duet_journal::{BlobHash, Sequence};
use preserves::IOValue;
use uuid::Uuid;

use crate::codec_struct;
use crate::model::codec::{Bytes, Codec, DecodeError};

/// Returns the namespace of every name that leaves a run as text.
///
/// It is the version 5 UUID of the word `duet` in the nil namespace, so anyone can recompute it.
fn namespace() -> Uuid {
    Uuid::new_v5(&Uuid::nil(), b"duet")
}

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident $prefix:literal)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl Codec for $name {
            fn write(&self, out: &mut PackedWriter) {
                self.0.write(out);
            }

            fn decode(value: &IOValue) -> Result<Self, DecodeError> {
                u64::decode(value).map(Self)
            }
        }
    )*};
}

ids! {
    /// Names an actor of a run. The main program is actor 0.
    ActorId "actor "
    /// Names a facet; unique in the run, not just in its actor.
    FacetId "facet "
    /// Names one assertion by one actor, or one match that an observer was notified of.
    Handle "handle "
    /// Names an observer: a watch, or the observing half of a wait.
    ObserverId "observer "
    /// Names a fiber: a thread of computation inside an actor.
    FiberId "fiber "
    /// Names the wait of a parked fiber.
    WaitId "wait "
    /// Names a request that a turn made to the world.
    RequestId "request "
    /// Names a capability.
    CapabilityId "capability "
}

/// A resource of a run, which belongs to an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// An actor, linked to one of its facets.
    Actor(ActorId),
    /// A facet.
    Facet(FacetId),
    /// An assertion.
    Handle(Handle),
    /// An observer.
    Observer(ObserverId),
    /// A wait.
    Wait(WaitId),
    /// A fiber.
    Fiber(FiberId),
    /// A request.
    Request(RequestId),
    /// A capability.
    Capability(CapabilityId),
}

/// A procedure or continuation that an actor's program keeps for the runtime between turns.
///
/// The program gives the number its meaning: for Scheme it is a host root of the instance's heap.
/// It never enters a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callable(pub u32);

impl Codec for Callable {
    fn write(&self, out: &mut PackedWriter) {
        out.unsigned(self.0.into());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let number = u64::decode(value)?;
        u32::try_from(number).map(Self).map_err(|_| DecodeError::OutOfRange {
            expected: "a root number",
            found: number,
        })
    }
}

/// The counters from which a run's ids are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of actors so far.
    pub actors: u64,
    /// The number of facets so far.
    pub facets: u64,
    /// The number of handles so far.
    pub handles: u64,
    /// The number of observers so far.
    pub observers: u64,
    /// The number of fibers so far.
    pub fibers: u64,
    /// The number of waits so far.
    pub waits: u64,
    /// The number of requests so far.
    pub requests: u64,
    /// The number of capabilities so far.
    pub capabilities: u64,
}
codec_struct!(Counters "counters" { actors, facets, handles, observers, fibers, waits, requests, capabilities });

fn draw(counter: &mut u64) -> u64 {
    let number = *counter;
    *counter += 1;
    number
}

macro_rules! draws {
    ($($method:ident $field:ident $id:ident)*) => {$(
        #[doc = concat!("Draws the next [`", stringify!($id), "`].")]
        pub fn $method(&mut self) -> $id {
            $id(draw(&mut self.$field))
        }
    )*};
}

impl Counters {
    draws! {
        actor actors ActorId
        facet facets FacetId
        handle handles Handle
        observer observers ObserverId
        fiber fibers FiberId
        wait waits WaitId
        request requests RequestId
        capability capabilities CapabilityId
    }
}

/// Makes names that depend on the run and its history but not on the branch, so all forks that
/// share the history share the names.
///
/// Source: version 5 UUIDs of (run, path, counter); RFC 9562, section 5.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namer {
    run: Uuid,
}

impl Namer {
    /// Makes the namer of the run called `run`.
    pub fn new(run: &str) -> Self {
        Self {
            run: Uuid::new_v5(&namespace(), run.as_bytes()),
        }
    }

    /// Names the thing with this counter at `path`, such as `("request", 7)`.
    ///
    /// `path` is a constant of the caller; a zero byte follows it, so no path is a prefix of
    /// another.
    pub fn name(&self, path: &str, counter: u64) -> String {
        let mut bytes = path.as_bytes().to_vec();
        bytes.push(0);
        bytes.extend_from_slice(&counter.to_be_bytes());
        Uuid::new_v5(&self.run, &bytes).to_string()
    }
}

impl Codec for Sequence {
    fn write(&self, out: &mut PackedWriter) {
        self.number().write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let number = u64::decode(value)?;
        Self::new(number).map_err(|_| DecodeError::OutOfRange {
            expected: "a position in the journal",
            found: number,
        })
    }
}

impl Codec for BlobHash {
    fn write(&self, out: &mut PackedWriter) {
        out.byte_string(self.as_bytes());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Self::from_slice(&Bytes::decode(value)?.0).ok_or_else(|| DecodeError::kind("32 bytes", value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pinned() {
        let namer = Namer::new("first");
        assert_eq!(namer.name("request", 0), "55006018-4f0e-56a5-a75e-9e97b82ebb66");
        assert_ne!(namer.name("request", 0), namer.name("request", 1));
        assert_ne!(namer.name("request", 0), namer.name("actor", 0));
        assert_ne!(namer.name("request", 0), Namer::new("second").name("request", 0));
    }

    #[test]
    fn each_kind_counts_for_itself() {
        let mut counters = Counters::default();
        assert_eq!(
            (counters.handle(), counters.handle(), counters.facet()),
            (Handle(0), Handle(1), FacetId(0))
        );
        assert_eq!(
            counters,
            Counters {
                handles: 2,
                facets: 1,
                ..Counters::default()
            }
        );
    }
}
