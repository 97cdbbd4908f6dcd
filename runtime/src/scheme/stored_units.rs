//! Compiled units as blobs, so that a later version of the compiler can go on with the code that
//! suspended computations run.
//!
//! A unit is stored with the texts that its places are in, because spans name texts by numbers of
//! the process.
//! INVARIANT: a unit is loaded only if it is well-formed and each of its places lies in its text.
//! It does not decide which units a snapshot needs; `run/freezing.rs` does.
//! Read next: `programs.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_journal::packed::varint;
use duet_journal::{Blob, BlobHash, PackedValue};
use duet_kernel::datum::{SourceId, Span};
use duet_kernel::expander::SourceText;
use duet_kernel::unit::CompiledUnit;

use super::programs::SchemePrograms;
use crate::codec_struct;
use crate::model::codec::{Bytes, Codec};
use crate::turn::image::{FreezeError, StoredUnit, StoredUnits};

/// A unit outside any process.
struct UnitRecord {
    /// The unit, without the texts of its places.
    code: Bytes,
    /// The text of each place in turn: an index into `texts` and the number of places that follow
    /// each other in it, both varints.
    places: Bytes,
    texts: Vec<TextRecord>,
}
codec_struct!(UnitRecord "unit" { code, places, texts });

/// A text to which places of a unit belong.
#[derive(Clone, PartialEq)]
struct TextRecord {
    name: String,
    text: BlobHash,
}
codec_struct!(TextRecord "text" { name, text });

impl SchemePrograms {
    /// Stores the loaded units that are not `known`. The machine's own unit is not stored: its code
    /// belongs to the machine.
    pub(super) fn units_besides(&self, known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError> {
        let failed = |reason: String| FreezeError { reason };
        let units = self.code.units().iter().enumerate().skip(1);
        let mut texts = BTreeMap::new();
        units
            .filter(|(_, unit)| !known.contains_key(&BlobHash(unit.hash)))
            .map(|(number, unit)| {
                let compiled = self.code.compiled(number);
                let compiled = compiled.ok_or_else(|| failed(format!("unit {} was not kept", unit.name)))?;
                let record = self.unit_record(&compiled, &mut texts);
                let packed = PackedValue::write(|out| record.write(out)).map_err(|error| failed(error.to_string()))?;
                Ok(StoredUnit {
                    unit: BlobHash(unit.hash),
                    blob: Blob::new(packed.into_bytes()).map_err(|error| failed(error.to_string()))?,
                })
            })
            .collect()
    }

    /// `texts` keeps what is known of each source, because many units have places in the same ones.
    fn unit_record(&self, unit: &CompiledUnit, texts: &mut BTreeMap<SourceId, TextRecord>) -> UnitRecord {
        let mut own: Vec<SourceId> = Vec::new();
        let mut runs: Vec<(usize, u64)> = Vec::new();
        for span in unit.places() {
            let index = own.iter().position(|source| *source == span.source).unwrap_or_else(|| {
                own.push(span.source);
                own.len() - 1
            });
            match runs.last_mut().filter(|(last, _)| *last == index) {
                Some((_, count)) => *count += 1,
                None => runs.push((index, 1)),
            }
        }
        let mut places = Vec::new();
        for (index, count) in runs {
            varint::put(&mut places, index as u64);
            varint::put(&mut places, count);
        }
        let text_of = |source: &SourceId| {
            let record = texts.entry(*source).or_insert_with(|| {
                let source = self.present.expander.source(*source);
                let (name, text) = source.map_or((String::new(), ""), |source| (source.name.clone(), &*source.text));
                TextRecord {
                    name,
                    text: BlobHash::of(text.as_bytes()),
                }
            });
            record.clone()
        };
        UnitRecord {
            code: Bytes(unit.to_bytes()),
            places: Bytes(places),
            texts: own.iter().map(text_of).collect(),
        }
    }

    /// Loads those of the stored units that are not loaded yet and that this machine can run; a
    /// snapshot names the others in vain.
    pub(super) fn load_stored_units(&mut self, stored: &StoredUnits, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) {
        let mut known = KnownTexts::of(self.present.expander.sources());
        for (unit, blob) in stored {
            if self.code.find_unit(&unit.0).is_some() {
                continue;
            }
            let compiled = fetch(blob).and_then(|bytes| known.unit(&bytes, fetch));
            if let Some(compiled) = compiled.filter(|compiled| compiled.hash() == unit.0) {
                // A unit that needs what this machine lacks stays away.
                self.has_stored_units |= self.code.load(&compiled).is_ok();
            }
        }
        self.present.expander.set_sources(known.texts);
    }
}

/// The texts of the session while units are loaded.
struct KnownTexts {
    texts: Vec<SourceText>,
    numbers: BTreeMap<(String, BlobHash), SourceId>,
}

impl KnownTexts {
    fn of(texts: &[SourceText]) -> Self {
        let key = |text: &SourceText| (text.name.clone(), BlobHash::of(text.text.as_bytes()));
        Self {
            texts: texts.to_vec(),
            numbers: texts.iter().map(key).zip((0..).map(SourceId)).collect(),
        }
    }

    /// Decodes a stored unit; `None` if the bytes are none.
    fn unit(&mut self, bytes: &[u8], fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) -> Option<CompiledUnit> {
        let value = duet_journal::packed::read_value(bytes).ok()?;
        let record = UnitRecord::decode(&value).ok()?;
        let sources: Vec<SourceId> = record.texts.into_iter().map(|text| self.number(text, fetch)).collect();
        let places = places(&record.places.0, &sources, record.code.0.len())?;
        let unit = CompiledUnit::from_bytes(&record.code.0, places)?;
        let is_sound = unit.places().all(|place| self.has(place));
        is_sound.then_some(unit)
    }

    /// The number of a text; one that nobody has is empty.
    fn number(&mut self, record: TextRecord, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) -> SourceId {
        let texts = &mut self.texts;
        let TextRecord { name, text: hash } = record;
        *self.numbers.entry((name.clone(), hash)).or_insert_with(|| {
            let text = fetch(&hash).and_then(|bytes| String::from_utf8(bytes).ok());
            let text = Arc::from(text.unwrap_or_default());
            texts.push(SourceText { name, text });
            SourceId(u32::try_from(texts.len() - 1).unwrap_or(u32::MAX))
        })
    }

    fn has(&self, place: &Span) -> bool {
        let text = self.texts.get(place.source.0 as usize);
        text.is_some_and(|text| {
            text.text.is_empty() || text.text.get(place.start as usize..place.end as usize).is_some()
        })
    }
}

/// The source of each place. A unit has fewer places than bytes.
fn places(bytes: &[u8], sources: &[SourceId], most: usize) -> Option<Vec<SourceId>> {
    let (mut places, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let source = sources.get(usize::try_from(varint::take(bytes, &mut at)?).ok()?)?;
        let count = usize::try_from(varint::take(bytes, &mut at)?).ok()?;
        if count > most - places.len() {
            return None;
        }
        places.resize(places.len() + count, *source);
    }
    Some(places)
}

#[cfg(test)]
mod tests;
