//! The names of code that a chunk uses: unit hashes and primitives, each once, referred to by
//! place.
//!
//! INVARIANT: places are given in order of first use, so the same words give the same tables.
//! It does not resolve units to code; [`CodeNames`] does. Read next: `image/code.rs`.

use std::collections::BTreeMap;

use duet_packed::PackedWriter;

use super::chunk::ChunkReader;
use super::{CodeNames, CodePoint, ImageError};
use crate::value::{Immediate, Value};

/// Names under collection while words are written.
pub(super) struct NamesWriter<'a> {
    code: &'a dyn CodeNames,
    units: Vec<[u8; 32]>,
    unit_places: BTreeMap<[u8; 32], u64>,
    primitives: Vec<u32>,
    primitive_places: BTreeMap<u32, u64>,
}

impl<'a> NamesWriter<'a> {
    pub(super) fn new(code: &'a dyn CodeNames) -> NamesWriter<'a> {
        NamesWriter {
            code,
            units: Vec::new(),
            unit_places: BTreeMap::new(),
            primitives: Vec::new(),
            primitive_places: BTreeMap::new(),
        }
    }

    /// The place of the unit and the offset in it that name the position of a code or return word.
    pub(super) fn point(&mut self, word: Value) -> Result<(u64, u32), ImageError> {
        let position = word.payload();
        let is_accepted = if word.is_immediate(Immediate::Code) {
            self.code.entry_detail(position) == Some(word.detail())
        } else {
            self.code.accepts_return(position, word.detail())
        };
        let point = self.code.name_of_position(position).filter(|_| is_accepted);
        let Some(point) = point else {
            return Err(ImageError::UnnamedCode { position });
        };
        let units = &mut self.units;
        let place = *self.unit_places.entry(point.unit).or_insert_with(|| {
            units.push(point.unit);
            units.len() as u64 - 1
        });
        Ok((place, point.offset))
    }

    /// The place of the primitive at a table position.
    pub(super) fn primitive(&mut self, position: u32) -> u64 {
        let primitives = &mut self.primitives;
        *self.primitive_places.entry(position).or_insert_with(|| {
            primitives.push(position);
            primitives.len() as u64 - 1
        })
    }

    /// Writes both tables.
    pub(super) fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.units.iter().for_each(|unit| out.byte_string(unit)));
        out.sequence(|out| {
            let primitives = self.primitives.iter();
            primitives.for_each(|&position| out.symbol(self.code.primitive_name(position)));
        });
    }
}

/// Names that words being read refer to.
pub(super) struct NamesReader<'a> {
    code: &'a dyn CodeNames,
    units: Vec<[u8; 32]>,
    primitives: Vec<u32>,
}

impl<'a> NamesReader<'a> {
    /// Reads both tables.
    pub(super) fn read(reader: &mut ChunkReader<'_>, code: &'a dyn CodeNames) -> Result<NamesReader<'a>, ImageError> {
        let mut names = NamesReader {
            code,
            units: Vec::new(),
            primitives: Vec::new(),
        };
        reader.sequence()?;
        while !reader.is_at_end() {
            names.units.push(reader.hash()?);
        }
        reader.end()?;
        reader.sequence()?;
        while !reader.is_at_end() {
            let name = reader.symbol()?;
            let position = code
                .primitive_position(name)
                .ok_or_else(|| ImageError::UnknownPrimitive(name.to_owned()))?;
            names.primitives.push(position);
        }
        reader.end()?;
        Ok(names)
    }

    /// The code word for a place in the unit at `place`; nothing if the table has no such unit.
    pub(super) fn entry(&self, place: u64, offset: u64) -> Option<Result<Value, ImageError>> {
        let point = self.point(place, offset)?;
        let position = self.code.position_of(&point);
        let word = position.and_then(|position| Some((position, self.code.entry_detail(position)?)));
        Some(match word {
            Some((position, detail)) => Ok(Value::immediate(Immediate::Code, position, detail)),
            None => Err(ImageError::UnknownCode(point)),
        })
    }

    /// The return word for a place in the unit at `place`, as [`NamesReader::entry`].
    pub(super) fn returning(&self, place: u64, offset: u64, distance: u64) -> Option<Result<Value, ImageError>> {
        let point = self.point(place, offset)?;
        let distance = u32::try_from(distance).ok()?;
        let position = self.code.position_of(&point);
        Some(
            match position.filter(|&position| self.code.accepts_return(position, distance)) {
                Some(position) => Ok(Value::immediate(Immediate::Return, position, distance)),
                None => Err(ImageError::UnknownCode(point)),
            },
        )
    }

    fn point(&self, place: u64, offset: u64) -> Option<CodePoint> {
        let unit = *self.units.get(usize::try_from(place).ok()?)?;
        Some(CodePoint {
            unit,
            offset: u32::try_from(offset).ok()?,
        })
    }

    /// The primitive at `place` of the table.
    pub(super) fn primitive(&self, place: u64) -> Option<Value> {
        let position = *self.primitives.get(usize::try_from(place).ok()?)?;
        Some(Value::immediate(Immediate::Primitive, position, 0))
    }
}
