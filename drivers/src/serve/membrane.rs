//! The membranes of a connection: which objects each side has shown the other, and under which
//! numbers.
//!
//! INVARIANT: a number refers to one object from first to last; an object that an assertion
//! mentions stays known until the assertion is retracted.
//! It does not know what the objects do. Read next: `relay.rs`.
//!
//! Source: the Syndicate protocol, "Membranes".

use std::collections::BTreeMap;

use duet_runtime::model::peer;
use preserves::{IOValue, Value, ValueImpl};

/// An object of the server that the client knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shown {
    /// The way into the run that it belongs to.
    pub(super) way: u64,
    /// The reference of the run.
    pub(super) reference: IOValue,
}

/// The objects that the two sides of a connection have shown each other.
#[derive(Default)]
pub(super) struct Membrane {
    /// The server's objects, each with the number of assertions that mention it.
    exports: BTreeMap<u64, (Shown, u64)>,
    oids: BTreeMap<Shown, u64>,
    next_oid: u64,
    /// The client's objects, by the number of assertions that mention them.
    imports: BTreeMap<u64, u64>,
}

/// The objects that an assertion or a message mentions.
#[derive(Debug, Default)]
pub(super) struct Pins {
    exports: Vec<u64>,
    imports: Vec<u64>,
}

impl Pins {
    /// Returns the number of mentions of the server's objects.
    pub(super) fn exports(&self) -> usize {
        self.exports.len()
    }
}

impl Membrane {
    /// Returns an object that the client knows under a number.
    pub(super) fn shown(&self, oid: u64) -> Option<&Shown> {
        self.exports.get(&oid).map(|(shown, _)| shown)
    }

    /// Returns the number of the server's objects that the client knows.
    pub(super) fn exports(&self) -> usize {
        self.exports.len()
    }

    /// Returns the number of the client's objects that the server knows.
    pub(super) fn imports(&self) -> usize {
        self.imports.len()
    }

    /// Shows an object to the client, or counts another mention.
    pub(super) fn show(&mut self, shown: Shown, pins: &mut Pins) -> u64 {
        let oid = *self.oids.entry(shown.clone()).or_insert_with(|| {
            // 0 is the gatekeeper.
            self.next_oid += 1;
            self.next_oid
        });
        self.exports.entry(oid).or_insert((shown, 0)).1 += 1;
        pins.exports.push(oid);
        oid
    }

    /// Notes that the client mentions an object of its own in an assertion.
    pub(super) fn learn(&mut self, oid: u64, pins: &mut Pins) {
        *self.imports.entry(oid).or_insert(0) += 1;
        pins.imports.push(oid);
    }

    /// Says whether an assertion of the client mentions an object of its own.
    pub(super) fn knows(&self, oid: u64) -> bool {
        self.imports.contains_key(&oid)
    }

    /// Forgets the mentions of an assertion.
    pub(super) fn release(&mut self, pins: Pins) {
        for oid in pins.exports {
            if let Some((shown, count)) = self.exports.get_mut(&oid) {
                *count -= 1;
                if *count == 0 {
                    self.oids.remove(shown);
                    self.exports.remove(&oid);
                }
            }
        }
        for oid in pins.imports {
            if let Some(count) = self.imports.get_mut(&oid) {
                *count -= 1;
                if *count == 0 {
                    self.imports.remove(&oid);
                }
            }
        }
    }
}

/// A reference as it is written on the wire.
#[derive(Debug, PartialEq)]
pub(super) enum Wire {
    /// An object of the side that writes: `#:[0 OID]`.
    Mine(u64),
    /// An object of the side that reads, narrowed by caveats: `#:[1 OID CAVEAT …]`.
    Yours(u64, Vec<IOValue>),
}

impl Wire {
    /// Reads a reference. A peer in Python embeds some references twice.
    pub(super) fn read(value: &IOValue) -> Option<Self> {
        let mut inner = IOValue::clone(&*value.as_embedded()?);
        if let Some(twice) = inner.as_embedded().map(|twice| IOValue::clone(&*twice)) {
            inner = twice;
        }
        let number = |index: usize| IOValue::from(inner.index(index)).as_u64().and_then(Result::ok);
        if !inner.is_sequence() || inner.len() < 2 {
            return None;
        }
        match (number(0)?, inner.len()) {
            (0, 2) => Some(Self::Mine(number(1)?)),
            (1, length) => {
                let caveats = (2..length).map(|index| inner.index(index).into()).collect();
                Some(Self::Yours(number(1)?, caveats))
            }
            _ => None,
        }
    }

    /// Writes a reference.
    pub(super) fn write(&self) -> IOValue {
        let parts = match self {
            Self::Mine(oid) => vec![IOValue::new(0_u64), IOValue::new(*oid)],
            Self::Yours(oid, caveats) => {
                let mut parts = vec![IOValue::new(1_u64), IOValue::new(*oid)];
                parts.extend_from_slice(caveats);
                parts
            }
        };
        IOValue::from(Value::embedded(IOValue::new(parts)))
    }
}

/// Narrows a reference of the run; `None` if it cannot be narrowed.
pub(super) fn narrowed(reference: &IOValue, caveats: Vec<IOValue>) -> Option<IOValue> {
    if caveats.is_empty() {
        return Some(reference.clone());
    }
    let capability = peer::as_capability(reference)?;
    Some(peer::narrowed(capability, caveats))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> IOValue {
        text.parse().expect("well formed")
    }

    #[test]
    fn references_are_read_as_clients_write_them() {
        assert_eq!(Wire::read(&value("#:[0 7]")), Some(Wire::Mine(7)));
        assert_eq!(Wire::read(&value("#:#:[0 7]")), Some(Wire::Mine(7)));
        let narrow = Wire::Yours(3, vec![value("<reject <_>>")]);
        assert_eq!(Wire::read(&value("#:[1 3 <reject <_>>]")), Some(narrow));
        for wrong in [
            "7",
            "#:7",
            "#:[0]",
            "#:[0 1 2]",
            "#:[2 1]",
            "#:[0 -1]",
            "#:[0 x]",
            "#:#:#:[0 1]",
        ] {
            assert_eq!(Wire::read(&value(wrong)), None, "{wrong}");
        }
        for text in ["#:[0 7]", "#:[1 3 <reject <_>>]"] {
            assert_eq!(Wire::read(&value(text)).map(|wire| wire.write()), Some(value(text)));
        }
    }

    #[test]
    fn an_object_is_known_as_long_as_an_assertion_mentions_it() {
        let mut membrane = Membrane::default();
        let shown = |text: &str| Shown {
            way: 1,
            reference: value(text),
        };
        let (mut first, mut second) = (Pins::default(), Pins::default());
        assert_eq!(membrane.show(shown("#:a"), &mut first), 1);
        assert_eq!(membrane.show(shown("#:b"), &mut first), 2);
        assert_eq!(membrane.show(shown("#:a"), &mut second), 1);
        membrane.learn(9, &mut second);
        membrane.release(first);
        assert_eq!((membrane.shown(1), membrane.shown(2)), (Some(&shown("#:a")), None));
        assert!(membrane.knows(9));
        membrane.release(second);
        assert_eq!((membrane.shown(1), membrane.knows(9)), (None, false));
        assert_eq!((membrane.exports(), membrane.imports()), (0, 0));
        // A number is not used again.
        assert_eq!(membrane.show(shown("#:a"), &mut Pins::default()), 3);
    }
}
