//! Heap values to packed bytes.
//!
//! INVARIANT: the stack of open parts is the path to the part at hand, so every refusal can say
//! where it is.
//! It does not change the heap. Read next: `boundary/decode.rs`.

use duet_packed::{Compound, PackedLimits, PackedValue, PackedWriter};

use super::error::{BoundaryError, Path, PathStep, Refusal};
use super::{Capabilities, OpaqueReference};
use crate::heap::kind::{opaque, record, record_type};
use crate::heap::{Heap, Kind};
use crate::primitive::cost;
use crate::printer::{Anonymous, write_limited};
use crate::value::{Immediate, Value};

/// The longest text of a key or label in a path, in characters.
const NAME_CHARACTERS_MAX: usize = 40;

/// Room for this many open values is made at once; most values of a dataspace are no deeper.
const DEPTH_INITIAL: usize = 4;

/// Packs a value, and charges for it, also if it is refused half-way. `limits` are at most those of
/// every packed value.
///
/// # Errors
/// [`BoundaryError::Refused`] for what cannot leave, [`BoundaryError::Packed`] for what is too deep
/// or too large.
pub fn encode(
    heap: &Heap,
    value: Value,
    limits: PackedLimits,
    capabilities: &mut dyn Capabilities,
) -> Result<PackedValue, BoundaryError> {
    let mut encoder = Encoder {
        heap,
        capabilities,
        writer: PackedWriter::within(limits),
        open: Vec::with_capacity(DEPTH_INITIAL),
    };
    let outcome = encoder.run(value);
    heap.charge(encoder.writer.length_bytes() as u64 / cost::CONVERTED);
    outcome?;
    Ok(PackedValue::written(encoder.writer)?)
}

struct Encoder<'a> {
    heap: &'a Heap,
    capabilities: &'a mut dyn Capabilities,
    writer: PackedWriter,
    open: Vec<Open>,
}

/// A compound value whose parts are being written.
struct Open {
    object: Value,
    compound: Compound,
    /// How many parts have been begun.
    begun: usize,
    rest: Rest,
}

/// The parts of an open value that are still to be written.
#[derive(Clone, Copy)]
enum Rest {
    /// The rest of a list, and an earlier pair of it that is caught up with if the list is
    /// circular.
    List { rest: Value, earlier: Value },
    /// The fields of a vector or record.
    Fields,
    /// The entries of a table from this ordinal on, and the value that follows the key at hand.
    Entries { ordinal: usize, value: Option<Value> },
}

impl Encoder<'_> {
    fn run(&mut self, value: Value) -> Result<(), BoundaryError> {
        self.value(value)?;
        while let Some(open) = self.open.last_mut()
            && !self.writer.is_over()
        {
            match open.next_part(self.heap) {
                Ok(Some(part)) => self.value(part)?,
                Ok(None) => {
                    let compound = open.compound;
                    self.open.pop();
                    self.writer.close(compound);
                    // Nothing else can go wrong where a value ends.
                    if self.writer.has_fault() {
                        return Err(self.refuse(Refusal::DuplicateKey));
                    }
                }
                Err(reason) => {
                    self.open.pop();
                    return Err(self.refuse(reason));
                }
            }
        }
        Ok(())
    }

    fn value(&mut self, value: Value) -> Result<(), BoundaryError> {
        if let Some(integer) = value.as_fixnum() {
            self.writer.integer(integer);
        } else if let Some(number) = value.as_flonum() {
            self.writer.double(number);
        } else if value.is_pair() {
            return self.open_list(value);
        } else if let Some(kind) = self.heap.kind_of(value) {
            return self.object(value, kind);
        } else {
            return self.immediate(value);
        }
        Ok(())
    }

    fn immediate(&mut self, value: Value) -> Result<(), BoundaryError> {
        let reason = match value {
            Value::TRUE | Value::FALSE => {
                self.writer.boolean(value.is_true());
                return Ok(());
            }
            Value::NIL => {
                self.writer.sequence(|_| ());
                return Ok(());
            }
            Value::EOF => Refusal::Constant("the end-of-file object"),
            Value::UNSPECIFIED => Refusal::Constant("the unspecified value"),
            _ if value.as_character().is_some() => Refusal::Character,
            _ if value.is_immediate(Immediate::Primitive) => Refusal::Primitive,
            _ => Refusal::Constant("an undefined value"),
        };
        Err(self.refuse(reason))
    }

    fn object(&mut self, object: Value, kind: Kind) -> Result<(), BoundaryError> {
        let heap = self.heap;
        match kind {
            Kind::Vector => return self.open(object, Compound::Sequence, Rest::Fields),
            Kind::Record if heap.is_labelled(object) => return self.open(object, Compound::Record, Rest::Fields),
            Kind::Dictionary | Kind::Set => {
                let compound = if kind == Kind::Set {
                    Compound::Set
                } else {
                    Compound::Dictionary
                };
                let rest = Rest::Entries {
                    ordinal: 0,
                    value: None,
                };
                return self.open(object, compound, rest);
            }
            Kind::Record => {
                let name = heap.field(heap.record_label(object), record_type::NAME);
                return Err(self.refuse(Refusal::TypedRecord(written(heap, name))));
            }
            Kind::Symbol if heap.string_ref(object, 0) == Some(':') => {
                return Err(self.refuse(Refusal::ColonSymbol(heap.string_text(object))));
            }
            Kind::String => match heap.string_ascii(object).and_then(|text| str::from_utf8(text).ok()) {
                Some(text) => self.writer.string(text),
                None => self.writer.string(&heap.string_text(object)),
            },
            Kind::Symbol => match heap.string_ascii(object).and_then(|name| str::from_utf8(name).ok()) {
                Some(name) => self.writer.symbol(name),
                None => self.writer.symbol(&heap.string_text(object)),
            },
            Kind::Keyword => self.writer.symbol(&format!(":{}", heap.symbol_name(object))),
            Kind::Bytevector => self.writer.byte_string(heap.raw_bytes(object)),
            Kind::Bignum => self
                .writer
                .big_integer(&heap.as_big_integer(object).unwrap_or_default()),
            Kind::Flonum => self.writer.double(heap.as_flonum(object).unwrap_or_default()),
            Kind::Opaque => return self.reference(object),
            Kind::Ratio => return Err(self.refuse(Refusal::Ratio)),
            Kind::Complex => return Err(self.refuse(Refusal::Complex)),
            Kind::Closure | Kind::Cell | Kind::Values | Kind::RecordType => {
                return Err(self.refuse(Refusal::Object(kind)));
            }
            Kind::Promise | Kind::Condition | Kind::PromptTag | Kind::Frames | Kind::Link | Kind::PromptLink => {
                return Err(self.refuse(Refusal::Object(kind)));
            }
            Kind::Port | Kind::Environment | Kind::NarrowCharacters | Kind::WideCharacters => {
                return Err(self.refuse(Refusal::Object(kind)));
            }
        }
        Ok(())
    }

    fn open_list(&mut self, pair: Value) -> Result<(), BoundaryError> {
        let rest = Rest::List {
            rest: pair,
            earlier: Value::NIL,
        };
        self.open(pair, Compound::Sequence, rest)
    }

    fn open(&mut self, object: Value, compound: Compound, rest: Rest) -> Result<(), BoundaryError> {
        if self.open.iter().any(|open| open.object == object) {
            return Err(self.refuse(Refusal::Cycle));
        }
        self.writer.open(compound);
        self.open.push(Open {
            object,
            compound,
            begun: 0,
            rest,
        });
        Ok(())
    }

    fn reference(&mut self, object: Value) -> Result<(), BoundaryError> {
        let number = |field| u32::try_from(self.heap.field(object, field).as_fixnum()?).ok();
        let embedded = number(opaque::CLASS)
            .zip(number(opaque::ID))
            .and_then(|(class, id)| self.capabilities.embed(OpaqueReference { class, id }));
        let Some(embedded) = embedded else {
            return Err(self.refuse(Refusal::Capability));
        };
        self.writer.embedded(|out| out.value(&embedded));
        Ok(())
    }

    fn refuse(&self, reason: Refusal) -> BoundaryError {
        let steps = self.open.iter().map(|open| open.step(self.heap)).collect();
        BoundaryError::Refused {
            reason,
            path: Path(steps),
        }
    }
}

impl Open {
    /// The next part to write.
    fn next_part(&mut self, heap: &Heap) -> Result<Option<Value>, Refusal> {
        let part = match &mut self.rest {
            Rest::List { rest, earlier } => {
                if *rest == Value::NIL {
                    return Ok(None);
                }
                if !rest.is_pair() {
                    return Err(Refusal::ImproperList);
                }
                if rest == earlier {
                    return Err(Refusal::Cycle);
                }
                // Brent: the earlier pair moves up each time the distance doubles.
                if self.begun.is_power_of_two() {
                    *earlier = *rest;
                }
                let part = heap.car(*rest);
                *rest = heap.cdr(*rest);
                part
            }
            Rest::Fields if self.begun == heap.object_length(self.object) => return Ok(None),
            Rest::Fields => heap.field(self.object, self.begun),
            Rest::Entries { value, .. } if value.is_some() => value.take().unwrap_or(Value::FALSE),
            Rest::Entries { ordinal, value } => {
                let Some(entry) = heap.table_next(self.object, *ordinal) else {
                    return Ok(None);
                };
                *ordinal = entry.ordinal + 1;
                if heap.is_kind(self.object, Kind::Dictionary) {
                    *value = Some(entry.value);
                }
                entry.key
            }
        };
        self.begun += 1;
        Ok(Some(part))
    }

    /// The step to the part begun last.
    fn step(&self, heap: &Heap) -> PathStep {
        let position = self.begun.saturating_sub(1);
        match self.rest {
            Rest::List { .. } => PathStep::Element(position),
            Rest::Fields if heap.is_kind(self.object, Kind::Vector) => PathStep::Element(position),
            Rest::Fields if position < record::FIELDS => PathStep::Label,
            Rest::Fields => PathStep::Field {
                position: position - record::FIELDS,
                record: written(heap, heap.record_label(self.object)),
            },
            Rest::Entries { .. } if heap.is_kind(self.object, Kind::Set) => PathStep::Member(position),
            Rest::Entries { value: Some(_), .. } => PathStep::Key(position / 2),
            Rest::Entries { ordinal, value: None } => {
                let entry = heap.table_next(self.object, ordinal.saturating_sub(1));
                PathStep::Entry(entry.map_or_else(String::new, |entry| written(heap, entry.key)))
            }
        }
    }
}

fn written(heap: &Heap, value: Value) -> String {
    write_limited(heap, &Anonymous, value, NAME_CHARACTERS_MAX)
}
