//! What a peer of a run says and hears: a client of a server, in the terms of the run.
//!
//! Owns the events between a run and a peer, and the references in their values. A peer's own
//! object appears as `#:<mine OID>`, everything else by the reference that the run uses.
//! INVARIANT: a value from a peer names no object of the run that the run has not shown this peer;
//! whoever makes the value of the peer's packet ensures it.
//! It does not know packets or connections; the `drivers` crate does.
//! Read next: `../turn/activation/peer.rs`.
//!
//! Source: the Syndicate protocol, <https://synit.org/book/protocol.html>, "Events".

use duet_journal::Sequence;
use preserves::{CompoundClass, IOValue, Map, Set, Value, ValueClass, ValueImpl};

use crate::codec_enum;
use crate::model::codec::{Fields, record};
use crate::model::identity::{CapabilityId, Handle, ObserverId};
use crate::model::value::Tree;

/// An event from a peer.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerEvent {
    /// It asserts a value.
    Assert {
        /// The capability through which it does.
        to: CapabilityId,
        /// Its name for the assertion.
        name: u64,
        /// The value.
        value: IOValue,
    },
    /// It retracts one of its assertions.
    Retract {
        /// Its name for the assertion.
        name: u64,
    },
    /// It sends a message.
    Message {
        /// The capability through which it does.
        to: CapabilityId,
        /// The message.
        value: IOValue,
    },
    /// It asks to be told when everything before has been handled.
    Sync {
        /// Its object that receives the answer.
        oid: u64,
    },
}
codec_enum!(PeerEvent "an event of a peer" {
    Assert "assert" { to, name, value }
    Retract "retract" { name }
    Message "message" { to, value }
    Sync "sync" { oid }
});

/// An event for a peer.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerNotice {
    /// It may act through a capability.
    Welcome {
        /// The name under which it came.
        name: String,
        /// The capability.
        capability: CapabilityId,
    },
    /// It may not come in.
    Refused {
        /// The name under which it came.
        name: String,
        /// The reason, for people.
        why: String,
    },
    /// A match of one of its observers appeared, or somebody gave a value to its object.
    Assert {
        /// The object.
        oid: u64,
        /// The observer, for a match.
        observer: Option<ObserverId>,
        /// The handle; the observer and the handle together are unique.
        handle: Handle,
        /// The captures, as a sequence; or the value.
        value: IOValue,
    },
    /// A match disappeared, or a value was taken back.
    Retract {
        /// The observer, for a match.
        observer: Option<ObserverId>,
        /// The handle.
        handle: Handle,
    },
    /// A message for one of its objects.
    Message {
        /// The object.
        oid: u64,
        /// The message.
        value: IOValue,
    },
    /// Everything before has been handled.
    Synced {
        /// The object that asked.
        oid: u64,
    },
    /// A handler of the main program failed at its words, in a turn that is undone.
    Failed {
        /// The position of the turn's record.
        turn: Sequence,
        /// The kind of failure.
        kind: String,
    },
    /// The actor that stands for it has ended.
    Ended {
        /// The reason, for people.
        why: String,
    },
}
codec_enum!(PeerNotice "an event for a peer" {
    Welcome "welcome" { name, capability }
    Refused "refused" { name, why }
    Assert "assert" { oid, observer, handle, value }
    Retract "retract" { observer, handle }
    Message "message" { oid, value }
    Synced "synced" { oid }
    Failed "failed" { turn, kind }
    Ended "ended" { why }
});

/// Makes the reference to a peer's own object.
pub fn mine(oid: u64) -> IOValue {
    embedded(record("mine", vec![IOValue::new(oid)]))
}

/// Returns the number of a peer's own object, if a value is the reference to one.
pub fn as_mine(value: &IOValue) -> Option<u64> {
    let inner = value.as_embedded()?;
    Fields::of(&inner, "mine", 1).ok()?.read("oid").ok()
}

/// Makes the reference to a capability.
pub fn capability(id: CapabilityId) -> IOValue {
    embedded(record("capability", vec![IOValue::new(id.0)]))
}

/// Returns the capability that a value refers to, if it refers to one.
pub fn as_capability(value: &IOValue) -> Option<CapabilityId> {
    let inner = value.as_embedded()?;
    Fields::of(&inner, "capability", 1).ok()?.read("id").ok()
}

/// Makes the reference to a capability that is narrowed by caveats before the run sees it.
pub fn narrowed(id: CapabilityId, caveats: Vec<IOValue>) -> IOValue {
    embedded(record("narrowed", vec![IOValue::new(id.0), IOValue::new(caveats)]))
}

/// Returns the capability and the caveats of a narrowed reference, if a value is one.
pub(crate) fn as_narrowed(value: &IOValue) -> Option<(CapabilityId, Vec<IOValue>)> {
    let inner = value.as_embedded()?;
    let mut fields = Fields::of(&inner, "narrowed", 2).ok()?;
    Some((fields.read("id").ok()?, fields.read("caveats").ok()?))
}

/// Makes a reference.
pub fn embedded(inner: IOValue) -> IOValue {
    IOValue::from(Value::embedded(inner))
}

/// Makes a value of the same shape, with `change` in the place of each reference, from left to
/// right. The depth of `value` must be bounded.
///
/// # Errors
/// Those of `change`.
pub fn map_references<E>(
    value: &IOValue,
    change: &mut impl FnMut(&IOValue) -> Result<IOValue, E>,
) -> Result<IOValue, E> {
    let mut part = |part: Tree| map_references(&part.into(), change);
    let items: Result<Vec<IOValue>, E> = match value.value_class() {
        ValueClass::Atomic(_) => return Ok(value.clone()),
        ValueClass::Embedded => return change(value),
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let mut entries: Map<Tree, Tree> = Map::new();
            for (key, entry) in value.entries() {
                entries.insert(part(key)?.value().clone(), part(entry)?.value().clone());
            }
            return Ok(IOValue::new(entries));
        }
        ValueClass::Compound(_) => value.iter().map(&mut part).collect(),
    };
    let items = items?;
    Ok(match value.value_class() {
        ValueClass::Compound(CompoundClass::Record) => IOValue::record(part(value.label())?, items),
        ValueClass::Compound(CompoundClass::Set) => IOValue::new(
            items
                .into_iter()
                .map(|item| item.value().clone())
                .collect::<Set<Tree>>(),
        ),
        ValueClass::Compound(_) | ValueClass::Atomic(_) | ValueClass::Embedded => IOValue::new(items),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_wherever_they_stand() {
        let value: IOValue = "<a #:<mine 1> [#:2 {k: #:3} #{#:4}] \"x\">"
            .parse()
            .expect("well formed");
        let mut seen = Vec::new();
        let changed = map_references(&value, &mut |reference| {
            seen.push(as_mine(reference));
            Ok::<_, ()>(capability(CapabilityId(seen.len() as u64)))
        });
        let expected = "<a #:<capability 1> [#:<capability 2> {k: #:<capability 3>} #{#:<capability 4>}] \"x\">";
        assert_eq!(changed, Ok(expected.parse().expect("well formed")));
        assert_eq!(seen, [Some(1), None, None, None]);
        assert_eq!(map_references(&value, &mut |_| Err("no")), Err("no"));
    }
}
