//! Where the code of a procedure comes from: its library, its name, a hash, and its place.
//!
//! Owns what a program can learn of the code of a procedure without calling it.
//! INVARIANT: the answer depends on the texts alone, not on what was loaded before. Two procedures
//! with equal hashes have the same code; the hash changes with any code of the same library,
//! because a procedure does what those it calls do. Values that a closure has captured are no code.
//! It does not show documentation; `description.rs` does.
//! Read next: `interaction.rs`.

use duet_journal::BlobHash;
use duet_kernel::heap::Kind;
use duet_kernel::value::Value;
use preserves::IOValue;

use super::actor::SchemeActor;
use super::convert;
use super::programs::{Fault, SchemePrograms};
use crate::model::codec::{Codec, record};

impl SchemePrograms {
    /// Answers a request for the code of a procedure: with a record, or with false if the procedure
    /// is not written in Scheme.
    pub(super) fn tell_code(&mut self, actor: &mut SchemeActor, procedure: Value) -> Result<(), Fault> {
        let heap = &actor.instance.heap;
        let position = heap
            .is_kind(procedure, Kind::Closure)
            .then(|| heap.field(procedure, 0).payload());
        let told = position.and_then(|position| self.code_at(position));
        let told = told.unwrap_or_else(|| IOValue::new(false));
        let answer = convert::enter(&mut actor.instance.heap, &told).map_err(|_| Fault)?;
        self.machine.resume(answer);
        Ok(())
    }

    /// Describes the procedure whose code begins at a position.
    fn code_at(&self, position: u32) -> Option<IOValue> {
        let (unit, block) = (self.code.unit_at(position)?, self.code.block_at(position)?);
        let in_unit = block.start - unit.start;
        let hash = BlobHash::of(&[&unit.hash[..], &in_unit.to_le_bytes()].concat());
        let span = self.code.span_at(block.start);
        let text = span.and_then(|span| Some((span, self.expander.source(span.source)?)));
        let line = text.map(|(span, source)| {
            let before = source.text.bytes().take(span.start as usize);
            1 + before.filter(|byte| *byte == b'\n').count() as u64
        });
        let optional = |value: Option<IOValue>| value.unwrap_or_else(|| IOValue::new(false));
        let fields = vec![
            unit.name.as_str().to_owned().encode(),
            optional(block.name.as_ref().map(|name| name.as_str().to_owned().encode())),
            hash.to_string().encode(),
            optional(text.map(|(_, source)| source.name.clone().encode())),
            optional(line.map(|line| line.encode())),
        ];
        Some(record("code", fields))
    }
}
