//! Packed bytes to heap values.
//!
//! INVARIANT: values are built bottom-up from complete parts, and nothing is collected meanwhile,
//! so no root is needed.
//! It does not check the bytes; [`Reader`] does. Read next: `boundary.rs`.

use duet_packed::{Compound, PackedError, PackedFault, PackedLimits, Reader, Token, View};
use num_bigint::BigInt;

use super::Capabilities;
use super::error::BoundaryError;
use crate::heap::{Flags, Heap, HeapFull, Kind};
use crate::primitive::cost;
use crate::value::Value;

/// Reads a value from canonical packed bytes, all of them, and charges for it.
///
/// # Errors
/// [`BoundaryError::Packed`], [`BoundaryError::UnknownCapability`], [`BoundaryError::HeapFull`];
/// the heap then holds garbage, no part of a value.
pub fn decode(
    heap: &mut Heap,
    bytes: &[u8],
    limits: PackedLimits,
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    heap.charge(bytes.len() as u64 / cost::CONVERTED);
    let mut reader = Reader::new(bytes, limits)?;
    let mut values: Vec<Value> = Vec::new();
    while let Some(token) = reader.next()? {
        let value = match token {
            Token::Boolean(truth) => Value::boolean(truth),
            Token::Double(number) => double(heap, number)?,
            Token::Integer(bytes) => integer(heap, bytes)?,
            Token::String(text) => heap.string(text)?,
            Token::ByteString(bytes) => heap.bytevector(bytes)?,
            Token::Symbol(name) => match name.strip_prefix(':') {
                Some(keyword) => heap.keyword(keyword)?,
                None => heap.intern(name)?,
            },
            Token::Open(Compound::Embedded) => embedded(heap, &mut reader, bytes, capabilities)?,
            Token::Open(_) => continue,
            Token::Close(compound) => {
                let bottom = values.len() - reader.count();
                let value = compound_value(heap, compound, &values[bottom..], reader.start())?;
                values.truncate(bottom);
                value
            }
        };
        values.push(value);
    }
    Ok(values.pop().unwrap_or(Value::UNSPECIFIED))
}

/// Reads the rest of an embedded value, which is for the host to understand.
fn embedded(
    heap: &mut Heap,
    reader: &mut Reader<'_>,
    bytes: &[u8],
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    let offset_bytes = reader.start();
    let inner_start = reader.offset();
    while let Some(token) = reader.next()? {
        if token == Token::Close(Compound::Embedded) && reader.start() == offset_bytes {
            break;
        }
    }
    let inner = View::checked(&bytes[inner_start..reader.offset()]).to_value();
    let reference = capabilities
        .admit(&inner)
        .ok_or(BoundaryError::UnknownCapability { offset_bytes })?;
    Ok(heap.make_opaque(reference.class, reference.id, Value::FALSE)?)
}

/// Makes the value of its parts, which begins at `offset_bytes`.
fn compound_value(
    heap: &mut Heap,
    compound: Compound,
    parts: &[Value],
    offset_bytes: usize,
) -> Result<Value, BoundaryError> {
    match (compound, parts) {
        (Compound::Record, [label, fields @ ..]) => Ok(heap.make_record(*label, fields)?),
        (Compound::Set, _) => {
            let set = heap.make_set()?;
            for &member in parts {
                heap.table_put(set, member, member)?;
            }
            full_table(heap, set, parts.len(), offset_bytes)
        }
        (Compound::Dictionary, _) => {
            let dictionary = heap.make_dictionary()?;
            for entry in parts.chunks_exact(2) {
                heap.table_put(dictionary, entry[0], entry[1])?;
            }
            full_table(heap, dictionary, parts.len() / 2, offset_bytes)
        }
        (Compound::Sequence | Compound::Embedded | Compound::Record, _) => Ok(heap.list(parts, Value::NIL)?),
    }
}

/// Keys that differ as bytes may be equal here, if the host takes two embedded values for one.
fn full_table(heap: &Heap, table: Value, entries: usize, offset_bytes: usize) -> Result<Value, BoundaryError> {
    if heap.table_count(table) == entries {
        Ok(table)
    } else {
        let fault = PackedFault::Repeated;
        Err(PackedError { offset_bytes, fault }.into())
    }
}

fn integer(heap: &mut Heap, bytes: &[u8]) -> Result<Value, HeapFull> {
    if bytes.len() > 8 {
        return heap.big_integer(&BigInt::from_signed_bytes_be(bytes));
    }
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        -1
    } else {
        0
    };
    heap.integer(bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
}

/// A double, bit for bit: the payload of a NaN is part of the value outside, so it is kept inside.
fn double(heap: &mut Heap, number: f64) -> Result<Value, HeapFull> {
    if number.is_nan() {
        heap.make_raw(Kind::Flonum, Flags::NONE, &number.to_bits().to_le_bytes())
    } else {
        heap.flonum(number)
    }
}
