//! The names of code that a chunk uses: unit hashes and primitives, each once, referred to by place.
//!
//! INVARIANT: places are given in order of first use, so the same words give the same tables.
//! It does not resolve units to code; [`CodeNames`] does. Read next: `image/code.rs`.

use std::collections::BTreeMap;

use super::packed::{PackedReader, PackedWriter};
use super::{CodeNames, CodePoint, CodeRole, ImageError};
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
    pub(super) fn point(&mut self, word: Value, role: CodeRole) -> Result<(u64, u32), ImageError> {
        let position = word.payload();
        let unnamed = ImageError::UnnamedCode { position };
        let Some(point) = self.code.name_of_position(position) else {
            return Err(unnamed);
        };
        if self.code.detail_of_position(position, role) != Some(word.detail()) {
            return Err(unnamed);
        }
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
    pub(super) fn write(&self, writer: &mut PackedWriter) {
        writer.sequence();
        self.units.iter().for_each(|unit| writer.bytes(unit));
        writer.end();
        writer.sequence();
        self.primitives
            .iter()
            .for_each(|&position| writer.symbol(self.code.primitive_name(position)));
        writer.end();
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
    pub(super) fn read(reader: &mut PackedReader<'_>, code: &'a dyn CodeNames) -> Result<NamesReader<'a>, ImageError> {
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

    /// The code or return word for a place in the unit at `place`; nothing if there is no such place in the table.
    pub(super) fn word(&self, place: u64, offset: u64, role: CodeRole) -> Option<Result<Value, ImageError>> {
        let unit = *self.units.get(usize::try_from(place).ok()?)?;
        let point = CodePoint {
            unit,
            offset: u32::try_from(offset).ok()?,
        };
        let position = self.code.position_of(&point);
        let found = position.and_then(|position| Some((position, self.code.detail_of_position(position, role)?)));
        let class = match role {
            CodeRole::Entry => Immediate::Code,
            CodeRole::Return => Immediate::Return,
        };
        Some(match found {
            Some((position, detail)) => Ok(Value::immediate(class, position, detail)),
            None => Err(ImageError::UnknownCode(point)),
        })
    }

    /// The primitive at `place` of the table.
    pub(super) fn primitive(&self, place: u64) -> Option<Value> {
        let position = *self.primitives.get(usize::try_from(place).ok()?)?;
        Some(Value::immediate(Immediate::Primitive, position, 0))
    }
}
