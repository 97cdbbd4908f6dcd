//! Trees of the `preserves` crate to packed bytes and back.
//!
//! INVARIANT: reading what was written of a tree gives the tree without its annotations, for
//! integers of any size. Nothing here recurses.
//! It does not use the crate's own reader and writer, nor its order of values.
//! Read next: `lib.rs`.

use std::fmt;

use num_bigint::BigInt;
use preserves::{
    AtomClass, CompoundClass, IOValue, Map, Set, SignedInteger, Value, ValueClass, ValueImpl,
    signed_integer::SignedIntegerRepr,
};

use crate::error::PackedError;
use crate::format::{Compound, PackedLimits};
use crate::reader::{Reader, Token};
use crate::value::PackedValue;
use crate::view::View;
use crate::writer::PackedWriter;

type Tree = Value<IOValue>;

/// Reads the tree that `bytes` are, which must be one canonical value within the default limits.
///
/// # Errors
/// [`PackedError`], with the offset of the first byte that is wrong.
pub fn read_value(bytes: &[u8]) -> Result<IOValue, PackedError> {
    decode(bytes, PackedLimits::default())
}

/// Makes a tree of what `parts` writes, which must be exactly one value. It has no limits, because
/// it is as deep and as large as values that this process holds already.
///
/// # Panics
/// If `parts` writes no value or several, or a set or dictionary with equal elements or keys.
pub fn write_tree(parts: impl FnOnce(&mut PackedWriter)) -> IOValue {
    let mut writer = PackedWriter::within(PackedLimits::NONE);
    parts(&mut writer);
    let bytes = writer.finish();
    let tree = bytes.and_then(|bytes| decode(&bytes, PackedLimits::NONE));
    tree.expect("a writer without limits writes one canonical value")
}

impl PackedValue {
    /// Packs a tree; annotations are left out, as they are no part of a value.
    ///
    /// # Errors
    /// As [`PackedWriter::finish`].
    pub fn from_value(value: &IOValue) -> Result<Self, PackedError> {
        Self::write(|out| out.value(value))
    }

    /// Makes the tree.
    pub fn to_value(&self) -> IOValue {
        self.view().to_value()
    }
}

impl fmt::Debug for PackedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl View<'_> {
    /// Makes the tree.
    pub fn to_value(self) -> IOValue {
        decode(self.as_bytes(), PackedLimits::NONE).expect("a view is a canonical value")
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

/// A part that is still to be written.
enum Pending {
    Value(Tree),
    Close(Compound),
}

impl PackedWriter {
    /// Writes a tree without its annotations.
    pub fn value(&mut self, value: &IOValue) {
        self.attempt(|out| {
            let mut tasks = vec![Pending::Value(value.value().clone())];
            while let Some(task) = tasks.pop()
                && !out.is_over()
            {
                match task {
                    Pending::Close(compound) => out.close(compound),
                    Pending::Value(value) => match compound_of(&value) {
                        Ok(compound) => {
                            out.open(compound);
                            tasks.push(Pending::Close(compound));
                            add_parts(&value, compound, &mut tasks);
                        }
                        Err(class) => write_atom(out, &value, class),
                    },
                }
            }
        });
    }
}

fn compound_of(value: &Tree) -> Result<Compound, AtomClass> {
    match value.value_class() {
        ValueClass::Compound(CompoundClass::Record) => Ok(Compound::Record),
        ValueClass::Compound(CompoundClass::Sequence) => Ok(Compound::Sequence),
        ValueClass::Compound(CompoundClass::Set) => Ok(Compound::Set),
        ValueClass::Compound(CompoundClass::Dictionary) => Ok(Compound::Dictionary),
        ValueClass::Embedded => Ok(Compound::Embedded),
        ValueClass::Atomic(class) => Err(class),
    }
}

/// Adds the parts of a compound value to the tasks, the first on top.
fn add_parts(value: &Tree, compound: Compound, tasks: &mut Vec<Pending>) {
    let bottom = tasks.len();
    match compound {
        Compound::Record => {
            tasks.push(Pending::Value(value.label()));
            tasks.extend(value.iter().map(Pending::Value));
        }
        Compound::Sequence | Compound::Set => tasks.extend(value.iter().map(Pending::Value)),
        Compound::Dictionary => {
            let parts = value.entries().flat_map(|(key, value)| [key, value]);
            tasks.extend(parts.map(Pending::Value));
        }
        Compound::Embedded => {
            let inner = value.as_embedded().expect("the class says embedded");
            tasks.push(Pending::Value(inner.value().clone()));
        }
    }
    tasks[bottom..].reverse();
}

fn write_atom(out: &mut PackedWriter, value: &Tree, class: AtomClass) {
    const CLASS: &str = "the class says which atom it is";
    match class {
        AtomClass::Boolean => out.boolean(value.as_boolean().expect(CLASS)),
        AtomClass::Double => out.double(value.as_double().expect(CLASS)),
        AtomClass::String => out.string(&value.as_string().expect(CLASS)),
        AtomClass::Symbol => out.symbol(&value.as_symbol().expect(CLASS)),
        AtomClass::ByteString => out.byte_string(&value.as_bytestring().expect(CLASS)),
        AtomClass::SignedInteger => match value.as_signed_integer().expect(CLASS).repr() {
            SignedIntegerRepr::I128(number) => out.wide_integer(*number),
            SignedIntegerRepr::U128(number) => out.big_integer(&BigInt::from(*number)),
            SignedIntegerRepr::Big(number) => out.big_integer(number),
        },
    }
}

/// Reads the tree that `bytes` are, within limits of the caller's.
pub(crate) fn decode(bytes: &[u8], limits: PackedLimits) -> Result<IOValue, PackedError> {
    let mut reader = Reader::new(bytes, limits)?;
    let mut values: Vec<Tree> = Vec::new();
    while let Some(token) = reader.next()? {
        let value = match token {
            Token::Boolean(value) => Value::new(value),
            Token::Double(number) => Value::new(number),
            Token::Integer(bytes) => Value::new(integer(bytes)),
            Token::String(text) => Value::new(text.to_owned()),
            Token::ByteString(bytes) => Value::bytes(bytes.to_vec()),
            Token::Symbol(text) => Value::symbol(text.to_owned()),
            Token::Open(_) => continue,
            Token::Close(compound) => {
                let parts = values.split_off(values.len() - reader.count());
                build(compound, parts)
            }
        };
        values.push(value);
    }
    Ok(values.pop().expect("reading ends after one value").into())
}

fn build(compound: Compound, mut values: Vec<Tree>) -> Tree {
    match compound {
        Compound::Record => {
            let fields = values.split_off(1);
            Value::record(values.swap_remove(0), fields)
        }
        Compound::Sequence => Value::new(values),
        Compound::Set => Value::new(values.into_iter().collect::<Set<Tree>>()),
        Compound::Dictionary => {
            let mut values = values.into_iter();
            let pairs = std::iter::from_fn(|| values.next().zip(values.next()));
            Value::new(pairs.collect::<Map<Tree, Tree>>())
        }
        Compound::Embedded => Value::embedded(IOValue::from(values.swap_remove(0))),
    }
}

/// Reads an integer by itself, because the crate misreads some.
fn integer(bytes: &[u8]) -> SignedInteger {
    if bytes.len() > 16 {
        return SignedInteger::from(BigInt::from_signed_bytes_be(bytes));
    }
    let is_negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start = if is_negative { -1 } else { 0 };
    let append = |number: i128, &byte: &u8| number << 8 | i128::from(byte);
    SignedInteger::from(bytes.iter().fold(start, append))
}
