//! Packed bytes to the values of the `preserves` crate and back.
//!
//! INVARIANT: the `preserves` crate's reader and writer are not used, and no value is nested so deeply that dropping it could overflow the stack.
//! It does not know heaps. Read next: `boundary/decode.rs`.

use num_bigint::BigInt;
use preserves::{AtomClass, CompoundClass, IOValue, Map, Set, SignedInteger, ValueClass, ValueImpl};

use super::Limits;
use super::error::{BoundaryError, Path, Refusal};
use super::packed::{Compound, PackedWriter};
use super::scan::{Atom, Sink, SinkFault, scan};

/// The deepest nesting of an `IOValue` made here, whatever the limits say: its own code recurses.
const DEPTH_CEILING: usize = 1000;

type Part = preserves::Value<IOValue>;

/// The canonical packed bytes of a Preserves value without its annotations.
///
/// # Errors
/// [`BoundaryError::TooDeep`], [`BoundaryError::TooLarge`]; [`BoundaryError::Refused`] if a dictionary or set has a key twice.
pub fn pack(value: &IOValue, limits: Limits) -> Result<Vec<u8>, BoundaryError> {
    let mut writer = PackedWriter::new();
    pack_into(&mut writer, value, limits, 0)?;
    Ok(writer.into_bytes())
}

/// The Preserves value that canonical packed bytes are, all of them.
///
/// # Errors
/// [`BoundaryError::Malformed`], [`BoundaryError::TooDeep`], [`BoundaryError::TooLarge`].
pub fn unpack(bytes: &[u8], limits: Limits) -> Result<IOValue, BoundaryError> {
    let limits = Limits {
        depth_max: limits.depth_max.min(DEPTH_CEILING),
        ..limits
    };
    let mut builder = Builder::default();
    scan(bytes, limits, &mut builder)?;
    Ok(builder.finished())
}

enum Task {
    Value(Part),
    Close(Compound),
}

/// Writes a value that stands inside `depth` others.
pub(super) fn pack_into(
    writer: &mut PackedWriter,
    value: &IOValue,
    limits: Limits,
    depth: usize,
) -> Result<(), BoundaryError> {
    let mut depth = depth;
    let mut work = vec![Task::Value(value.value().clone())];
    while let Some(task) = work.pop() {
        match task {
            Task::Close(compound) => {
                depth -= 1;
                writer.close(compound).map_err(|_| BoundaryError::Refused {
                    reason: Refusal::DuplicateKey,
                    path: Path::default(),
                })?;
            }
            Task::Value(value) => match value.value_class() {
                ValueClass::Atomic(class) => write_atom(writer, &value, class),
                ValueClass::Compound(_) | ValueClass::Embedded => {
                    depth += 1;
                    if depth > limits.depth_max {
                        return Err(BoundaryError::TooDeep {
                            depth_max: limits.depth_max,
                        });
                    }
                    let compound = compound_of(&value);
                    work.push(Task::Close(compound));
                    writer.open(compound);
                    add_parts(&value, compound, &mut work);
                }
            },
        }
        if writer.length() > limits.bytes_max {
            return Err(BoundaryError::TooLarge {
                bytes_max: limits.bytes_max,
            });
        }
    }
    Ok(())
}

fn write_atom(writer: &mut PackedWriter, value: &Part, class: AtomClass) {
    match class {
        AtomClass::Boolean => writer.boolean(value.as_boolean().unwrap_or_default()),
        AtomClass::Double => writer.double(value.as_double().unwrap_or_default()),
        AtomClass::SignedInteger => match value.as_signed_integer() {
            Some(integer) => match i64::try_from(&*integer) {
                Ok(integer) => writer.integer(integer),
                Err(_) => writer.big_integer(&BigInt::from(&*integer)),
            },
            None => writer.integer(0),
        },
        AtomClass::String => writer.string(&value.as_string().unwrap_or_default()),
        AtomClass::ByteString => writer.byte_string(&value.as_bytestring().unwrap_or_default()),
        AtomClass::Symbol => writer.symbol(&value.as_symbol().unwrap_or_default()),
    }
}

/// The kind of what is no atom.
fn compound_of(value: &Part) -> Compound {
    match value.value_class() {
        ValueClass::Compound(CompoundClass::Record) => Compound::Record,
        ValueClass::Compound(CompoundClass::Sequence) => Compound::Sequence,
        ValueClass::Compound(CompoundClass::Set) => Compound::Set,
        ValueClass::Compound(CompoundClass::Dictionary) => Compound::Dictionary,
        ValueClass::Embedded | ValueClass::Atomic(_) => Compound::Embedded,
    }
}

/// Adds the parts of a compound value to the work, the first on top.
fn add_parts(value: &Part, compound: Compound, work: &mut Vec<Task>) {
    let bottom = work.len();
    match compound {
        Compound::Record => {
            work.push(Task::Value(value.label()));
            work.extend(value.iter().map(Task::Value));
        }
        Compound::Sequence | Compound::Set => work.extend(value.iter().map(Task::Value)),
        Compound::Dictionary => {
            work.extend(value.entries().flat_map(|(key, value)| [key, value]).map(Task::Value));
        }
        Compound::Embedded => {
            work.extend(
                value
                    .as_embedded()
                    .map(|embedded| Task::Value(embedded.value().clone())),
            );
        }
    }
    work[bottom..].reverse();
}

/// Builds a Preserves value.
#[derive(Default)]
pub(super) struct Builder {
    values: Vec<Part>,
    /// What is open, and how many values stood before it.
    open: Vec<(Compound, usize)>,
}

impl Builder {
    /// Whether everything opened has been closed.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The value, once it is complete.
    pub(super) fn finished(&mut self) -> IOValue {
        IOValue::from(self.values.pop().unwrap_or_else(|| Part::new(false)))
    }
}

impl Sink for Builder {
    fn atom(&mut self, atom: Atom<'_>) -> Result<(), SinkFault> {
        self.values.push(match atom {
            Atom::Boolean(truth) => Part::new(truth),
            Atom::Double(number) => Part::new(number),
            Atom::Integer(bytes) => Part::new(SignedInteger::from(BigInt::from_signed_bytes_be(bytes))),
            Atom::String(text) => Part::new(text.to_owned()),
            Atom::Bytes(bytes) => Part::bytes(bytes.to_vec()),
            Atom::Symbol(name) => Part::symbol(name.to_owned()),
        });
        Ok(())
    }

    fn open(&mut self, compound: Compound) -> Result<(), SinkFault> {
        self.open.push((compound, self.values.len()));
        Ok(())
    }

    fn close(&mut self) -> Result<(), SinkFault> {
        let Some((compound, bottom)) = self.open.pop() else {
            return Ok(());
        };
        let mut parts = self.values.split_off(bottom).into_iter();
        let value = match compound {
            Compound::Sequence => Part::new(parts.collect::<Vec<_>>()),
            Compound::Set => Part::new(parts.collect::<Set<_>>()),
            Compound::Dictionary => {
                let mut entries = Map::new();
                while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                    entries.insert(key, value);
                }
                Part::new(entries)
            }
            Compound::Record => {
                let label = parts.next().unwrap_or_else(|| Part::new(false));
                Part::record(label, parts.collect())
            }
            Compound::Embedded => Part::embedded(IOValue::from(parts.next().unwrap_or_else(|| Part::new(false)))),
        };
        self.values.push(value);
        Ok(())
    }
}
