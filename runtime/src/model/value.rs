//! Preserves values as the dataspace compares and keeps them.
//!
//! Owns the total order of Preserves with integers of any size put right, and [`Fact`], a value as
//! its canonical bytes.
//! INVARIANT: a [`Fact`] is at most [`MAX_DEPTH`](duet_journal::packed::MAX_DEPTH) deep, so what
//! recurses on it further down is bounded; two facts are equal exactly if their bytes are. It does
//! not know patterns.
//! Read next: `dataspace/pattern.rs`.
//!
//! Source: "Preserves: an Expressive Data Language", "Total order"; canonical form as in the
//! journal.

use std::cmp::Ordering;
use std::fmt;

use duet_journal::PackedValue;
use duet_journal::packed::{PackedError, PackedWriter, SharedValue, View};
use num_bigint::BigInt;
use preserves::{AtomClass, CompoundClass, IOValue, Map, Set, Value, ValueClass, ValueImpl};

use crate::model::codec::{Codec, DecodeError};

/// A tree as the `preserves` crate hands it out when one looks inside an `IOValue`.
pub(crate) type Tree = Value<IOValue>;

/// Makes a value of the same shape, with `change` in the place of each atom; what is embedded
/// stays. The depth of `value` must be bounded.
pub fn map_atoms(value: &IOValue, change: &impl Fn(&IOValue) -> IOValue) -> IOValue {
    let part = |part: Tree| map_atoms(&part.into(), change);
    let tree = |whole: Tree| part(whole).value().clone();
    match value.value_class() {
        ValueClass::Compound(CompoundClass::Record) => {
            IOValue::record(part(value.label()), value.iter().map(part).collect::<Vec<_>>())
        }
        ValueClass::Compound(CompoundClass::Sequence) => IOValue::new(value.iter().map(part).collect::<Vec<_>>()),
        ValueClass::Compound(CompoundClass::Set) => IOValue::new(value.iter().map(tree).collect::<Set<Tree>>()),
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let entries = value.entries().map(|(key, entry)| (tree(key), tree(entry)));
            IOValue::new(entries.collect::<Map<Tree, Tree>>())
        }
        ValueClass::Embedded => value.clone(),
        ValueClass::Atomic(_) => change(value),
    }
}

/// A value as its canonical bytes; cheap to clone, compared by content.
#[derive(Clone)]
pub struct Fact(SharedValue);

impl Fact {
    /// Admits a value.
    ///
    /// # Errors
    /// [`PackedError`] if it is too deep or too large to be recorded.
    pub fn new(value: IOValue) -> Result<Self, PackedError> {
        PackedValue::from_value(&value).map(Self::from)
    }

    /// Admits a value given as canonical packed bytes.
    ///
    /// # Errors
    /// [`PackedError`] if they are none, or too deep or too large to be recorded.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, PackedError> {
        PackedValue::from_bytes(bytes).map(Self::from)
    }

    /// Admits what `parts` writes, which must be exactly one value, without a tree of it.
    ///
    /// # Errors
    /// [`PackedError`] if it is too deep or too large to be recorded.
    ///
    /// # Panics
    /// If `parts` writes no value or several.
    pub fn write(parts: impl FnOnce(&mut PackedWriter)) -> Result<Self, PackedError> {
        PackedValue::write(parts).map(Self::from)
    }

    /// Decodes the value.
    pub fn value(&self) -> IOValue {
        self.view().to_value()
    }

    /// Looks into the packed value.
    pub fn view(&self) -> View<'_> {
        self.0.view()
    }

    /// Returns the canonical packed bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<PackedValue> for Fact {
    fn from(value: PackedValue) -> Self {
        Self(value.into())
    }
}

impl From<View<'_>> for Fact {
    fn from(value: View<'_>) -> Self {
        Self(value.into())
    }
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Fact {}

/// The order of the bytes: for maps, where any order will do. [`compare`] is the order of values.
impl Ord for Fact {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl PartialOrd for Fact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl Codec for Fact {
    fn write(&self, out: &mut PackedWriter) {
        out.packed(self.view());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Self::new(value.clone()).map_err(|_| DecodeError::Inconsistent {
            what: "a fact fits into a record",
        })
    }
}

/// Compares two values in the total order of Preserves.
///
/// The crate's own order is inconsistent for integers beyond 128 bits, hence this one. Depth must
/// be bounded, as in a [`Fact`].
pub fn compare(left: &IOValue, right: &IOValue) -> Ordering {
    compare_trees(left.value(), right.value())
}

/// A value in the total order of Preserves.
#[derive(PartialEq, Eq)]
pub(crate) struct Ordered(pub(crate) IOValue);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two tuples of values, the first difference deciding.
pub fn compare_all(left: &[IOValue], right: &[IOValue]) -> Ordering {
    let differences = left.iter().zip(right).map(|(left, right)| compare(left, right));
    differences
        .into_iter()
        .find(|order| order.is_ne())
        .unwrap_or(left.len().cmp(&right.len()))
}

fn compare_trees(left: &Tree, right: &Tree) -> Ordering {
    let class = left.value_class();
    class.cmp(&right.value_class()).then_with(|| match class {
        ValueClass::Atomic(AtomClass::SignedInteger) => integer(left).cmp(&integer(right)),
        ValueClass::Atomic(_) => left.cmp(right),
        ValueClass::Compound(CompoundClass::Record) => {
            compare_trees(&left.label(), &right.label()).then_with(|| compare_sequences(left.iter(), right.iter()))
        }
        ValueClass::Compound(CompoundClass::Sequence) => compare_sequences(left.iter(), right.iter()),
        ValueClass::Compound(CompoundClass::Set) => {
            compare_sequences(sorted(left.iter()).into_iter(), sorted(right.iter()).into_iter())
        }
        ValueClass::Compound(CompoundClass::Dictionary) => {
            compare_sequences(entries(left).into_iter(), entries(right).into_iter())
        }
        ValueClass::Embedded => match (left.as_embedded(), right.as_embedded()) {
            (Some(left), Some(right)) => compare(&left, &right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        },
    })
}

fn compare_sequences(mut left: impl Iterator<Item = Tree>, mut right: impl Iterator<Item = Tree>) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (Some(left), Some(right)) => {
                let order = compare_trees(&left, &right);
                if order.is_ne() {
                    return order;
                }
            }
            (left, right) => return left.is_some().cmp(&right.is_some()),
        }
    }
}

fn sorted(values: impl Iterator<Item = Tree>) -> Vec<Tree> {
    let mut values: Vec<Tree> = values.collect();
    values.sort_by(compare_trees);
    values
}

/// Returns keys and values alternately, ordered by key.
fn entries(dictionary: &Tree) -> Vec<Tree> {
    let mut entries: Vec<(Tree, Tree)> = dictionary.entries().collect();
    entries.sort_by(|(left, _), (right, _)| compare_trees(left, right));
    entries.into_iter().flat_map(|(key, value)| [key, value]).collect()
}

fn integer(value: &Tree) -> BigInt {
    value
        .as_signed_integer()
        .map(|number| BigInt::from(&*number))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values in ascending order: each class before the next, and inside a class by content.
    const ASCENDING: &[&str] = &[
        "#f",
        "#t",
        "-1.0",
        "-0.0",
        "0.0",
        "-340282366920938463463374607431768211457",
        "-340282366920938463463374607431768211456",
        "-170141183460469231731687303715884105729",
        "-1",
        "0",
        "5",
        "170141183460469231731687303715884105728",
        "340282366920938463463374607431768211455",
        "340282366920938463463374607431768211456",
        "\"a\"",
        "\"b\"",
        "#x\"00\"",
        "a",
        "<a>",
        "<a 1>",
        "<a 340282366920938463463374607431768211456>",
        "<b>",
        "[]",
        "[1]",
        "[1 1]",
        "[2]",
        "#{}",
        "#{1}",
        "#{1 2}",
        "#{2}",
        "{}",
        "{1: 2}",
        "{1: 3}",
        "#:1",
    ];

    #[test]
    fn the_order_is_total_and_that_of_the_specification() {
        let values: Vec<IOValue> = ASCENDING
            .iter()
            .map(|text| text.parse().expect("well formed"))
            .collect();
        for (i, left) in values.as_slice().iter().enumerate() {
            for (j, right) in values.as_slice().iter().enumerate() {
                assert_eq!(compare(left, right), i.cmp(&j), "{left:?} and {right:?}");
            }
        }
    }
}
