//! Properties of images and snapshots.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]
#![allow(clippy::wildcard_enum_match_arm, reason = "tests of some kinds pass over the others")]

mod graphs;
mod shapes;
mod snapshots;

use super::*;
use crate::heap::kind::{condition, link, opaque, port, prompt_link};
use crate::heap::{AllLive, Heap, Limits};
use crate::value::{Immediate, Value};

pub(super) fn roomy() -> Heap {
    Heap::new(Limits { bytes_max: 64 << 20 })
}

/// Code as one process has loaded it: units of a hundred instructions each, somewhere; even places
/// are entries, odd ones returns.
pub(super) struct Loaded {
    pub(super) base: u32,
    pub(super) units: u32,
}

const UNIT_LENGTH: u32 = 100;
const PRIMITIVES: [&str; 4] = ["car", "cdr", "cons", "vector-ref"];

impl Loaded {
    fn unit_hash(unit: u32) -> [u8; 32] {
        *blake3::hash(&unit.to_le_bytes()).as_bytes()
    }

    /// The code word of the procedure at `place`, an index of pairs of instructions.
    pub(super) fn entry(&self, place: u32) -> Value {
        let position = self.base + place * 2 % (self.units * UNIT_LENGTH);
        Value::immediate(Immediate::Code, position, self.detail(position))
    }

    /// The return word after `place` for a frame of `words` words.
    pub(super) fn returning(&self, place: u32, words: u32) -> Value {
        let position = self.base + (place * 2 + 1) % (self.units * UNIT_LENGTH);
        Value::immediate(Immediate::Return, position, words)
    }

    /// A primitive.
    pub(super) fn primitive(&self, place: u32) -> Value {
        Value::immediate(Immediate::Primitive, self.base % 4 + place % 4, 0)
    }

    fn detail(&self, position: u32) -> u32 {
        (position - self.base) % UNIT_LENGTH * 3
    }
}

impl LiveRegisters for Loaded {
    fn live_at(&self, _: u32) -> Option<&[u64]> {
        None
    }
}

impl CodeNames for Loaded {
    fn name_of_position(&self, position: u32) -> Option<CodePoint> {
        let place = position.checked_sub(self.base)?;
        let unit = Loaded::unit_hash(place / UNIT_LENGTH);
        (place / UNIT_LENGTH < self.units).then_some(CodePoint {
            unit,
            offset: place % UNIT_LENGTH,
        })
    }

    fn position_of(&self, point: &CodePoint) -> Option<u32> {
        let unit = (0..self.units).find(|&unit| Loaded::unit_hash(unit) == point.unit)?;
        (point.offset < UNIT_LENGTH).then_some(self.base + unit * UNIT_LENGTH + point.offset)
    }

    fn entry_detail(&self, position: u32) -> Option<u32> {
        (position - self.base).is_multiple_of(2).then(|| self.detail(position))
    }

    fn accepts_return(&self, position: u32, distance_words: u32) -> bool {
        !(position - self.base).is_multiple_of(2) && distance_words < 1000
    }

    fn accepts_frame(&self, heap: &Heap, _: u32, procedure: Value) -> bool {
        heap.is_kind(procedure, Kind::Closure)
    }

    fn accepts_closure(&self, heap: &Heap, closure: Value) -> bool {
        heap.object_length(closure) < 100
    }

    fn primitive_name(&self, position: u32) -> &str {
        PRIMITIVES[(position - self.base % 4) as usize]
    }

    fn primitive_position(&self, name: &str) -> Option<u32> {
        PRIMITIVES
            .iter()
            .position(|&known| known == name)
            .map(|place| place as u32 + self.base % 4)
    }
}
