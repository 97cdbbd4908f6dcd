//! Instructions on pairs, vectors, strings, bytevectors and records.
//!
//! INVARIANT: every index is checked against the object's own length, and every write passes the
//! barrier.
//! It does not raise conditions; the slow paths do.
//! Read next: `machine/execute/inlined.rs`.

use crate::heap::Kind;
use crate::instruction::Instruction;
use crate::value::Value;

use super::{Flow, Frame, SlowPath};

impl Frame {
    #[inline(always)]
    pub(super) fn cons(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = slow.heap.bump_young(2) else {
            return slow.defer(|slow, frame, _| slow.make_room(frame, 2));
        };
        self.fill(index, self.get(instruction.b()));
        self.fill(index + 1, self.get(instruction.c()));
        self.set(instruction.a(), Value::pair_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn car(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return slow.defer(|slow, frame, instruction| slow.not_a_pair(frame, "car", frame.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 0));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cdr(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return slow.defer(|slow, frame, instruction| slow.not_a_pair(frame, "cdr", frame.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 1));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn set_car(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return slow
                .defer(|slow, frame, instruction| slow.not_a_pair(frame, "set-car!", frame.get(instruction.a())));
        }
        self.write(slow, pair.index(), self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn set_cdr(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return slow
                .defer(|slow, frame, instruction| slow.not_a_pair(frame, "set-cdr!", frame.get(instruction.a())));
        }
        self.write(slow, pair.index() + 1, self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn vector_ref(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        match self.element(vector, index, false) {
            Some(position) => {
                self.set(instruction.a(), self.object_field(vector, 1 + position));
                Flow::Next
            }
            None => slow.defer(|slow, frame, instruction| {
                slow.vector_failure(
                    frame,
                    "vector-ref",
                    [frame.get(instruction.b()), frame.get(instruction.c())],
                )
            }),
        }
    }

    #[inline(always)]
    pub(super) fn vector_set(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        match self.element(vector, index, true) {
            Some(position) => self.write(slow, vector.index() + 1 + position, self.get(instruction.c())),
            None => slow.defer(|slow, frame, instruction| {
                slow.vector_failure(
                    frame,
                    "vector-set!",
                    [frame.get(instruction.a()), frame.get(instruction.b())],
                )
            }),
        }
    }

    #[inline(always)]
    pub(super) fn cxr(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (mut part, mut path) = (self.get(instruction.b()), instruction.d());
        while path > 1 {
            if !part.is_pair() {
                return slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction));
            }
            part = self.pair_field(part, path & 1);
            path >>= 1;
        }
        self.set(instruction.a(), part);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn string_ref(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (string, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if slow.heap.is_string(string)
            && index.is_fixnum()
            && let Some(character) = slow.heap.string_ref(string, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::character(character));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn string_length(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let string = self.get(instruction.b());
        if slow.heap.is_string(string) {
            self.set(instruction.a(), Value::length(slow.heap.string_length(string)));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn vector_length(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let vector = self.get(instruction.b());
        if self.is_kind(vector, Kind::Vector as u8) {
            let length = self.object_field(vector, 0).payload() as usize;
            self.set(instruction.a(), Value::length(length));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn bytevector_ref(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = slow.heap.byte_at(bytevector, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::small(i32::from(byte)));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn bytevector_set(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = self.get(instruction.c()).as_fixnum()
            && let Ok(byte) = u8::try_from(byte)
            && slow.heap.set_byte_at(bytevector, (index.to_bits() >> 3) as usize, byte)
        {
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn record_ref(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.b());
        if self.is_instance_with(record, self.get(instruction.c()), instruction.d()) {
            self.set(instruction.a(), self.object_field(record, 2 + instruction.d()));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn record_set(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.a());
        if self.is_instance_with(record, self.get(instruction.b()), instruction.d()) {
            return self.write(slow, record.index() + 2 + instruction.d(), self.get(instruction.c()));
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }

    /// Whether `record` is an instance of `record_type` that has a field at index `field`.
    #[inline(always)]
    fn is_instance_with(&self, record: Value, record_type: Value, field: usize) -> bool {
        self.is_kind(record, Kind::Record as u8)
            && self.object_field(record, 1) == record_type
            && self.is_kind(record_type, Kind::RecordType as u8)
            && 1 + field < self.object_field(record, 0).payload() as usize
    }

    /// The position that `index` names in `vector`, if both are what they should be and the vector
    /// may be written when `for_writing`.
    #[inline(always)]
    fn element(&self, vector: Value, index: Value, for_writing: bool) -> Option<usize> {
        if !vector.is_object() {
            return None;
        }
        let header = self.object_field(vector, 0);
        let wanted = crate::heap::VECTOR_HEADER;
        let mask = if for_writing {
            crate::heap::KIND_AND_MUTABILITY_MASK
        } else {
            crate::heap::KIND_MASK
        };
        let position = (index.to_bits() >> 3) as usize;
        let is_vector = header.to_bits() & mask == wanted.to_bits() & mask;
        (is_vector && index.is_fixnum() && position < header.payload() as usize).then_some(position)
    }
}
