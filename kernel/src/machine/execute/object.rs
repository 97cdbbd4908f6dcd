//! Pairs, vectors, strings, bytevectors and records.
//!
//! INVARIANT: every index is checked against the object's own length, and every write passes the barrier.
//! Read next: `machine/execute/inlined.rs`.

use crate::heap::Kind;
use crate::instruction::Instruction;
use crate::value::Value;

use super::{Cold, Flow, Hot};

impl Hot {
    #[inline(always)]
    pub(super) fn cons(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = cold.heap.bump_young(2) else {
            return cold.detour(|cold, hot, _| cold.make_room(hot, 2));
        };
        self.fill(index, self.get(instruction.b()));
        self.fill(index + 1, self.get(instruction.c()));
        self.set(instruction.a(), Value::pair_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn car(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "car", hot.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 0));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "cdr", hot.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 1));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn set_car(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "set-car!", hot.get(instruction.a())));
        }
        self.write(cold, pair.index(), self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn set_cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "set-cdr!", hot.get(instruction.a())));
        }
        self.write(cold, pair.index() + 1, self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn vector_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        match self.element(vector, index, false) {
            Some(position) => {
                self.set(instruction.a(), self.object_field(vector, 1 + position));
                Flow::Next
            }
            None => cold.detour(|cold, hot, instruction| {
                cold.vector_failure(hot, "vector-ref", [hot.get(instruction.b()), hot.get(instruction.c())])
            }),
        }
    }

    #[inline(always)]
    pub(super) fn vector_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        match self.element(vector, index, true) {
            Some(position) => self.write(cold, vector.index() + 1 + position, self.get(instruction.c())),
            None => cold.detour(|cold, hot, instruction| {
                cold.vector_failure(hot, "vector-set!", [hot.get(instruction.a()), hot.get(instruction.b())])
            }),
        }
    }

    #[inline(always)]
    pub(super) fn part(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (mut part, mut path) = (self.get(instruction.b()), instruction.d());
        while path > 1 {
            if !part.is_pair() {
                return cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction));
            }
            part = self.pair_field(part, path & 1);
            path >>= 1;
        }
        self.set(instruction.a(), part);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn string_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (string, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if cold.heap.is_string(string)
            && index.is_fixnum()
            && let Some(character) = cold.heap.string_ref(string, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::character(character));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn string_length(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let string = self.get(instruction.b());
        if cold.heap.is_string(string) {
            self.set(instruction.a(), Value::length(cold.heap.string_length(string)));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn vector_length(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let vector = self.get(instruction.b());
        if self.is_kind(vector, Kind::Vector as u8) {
            let length = self.object_field(vector, 0).payload() as usize;
            self.set(instruction.a(), Value::length(length));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn bytevector_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = cold.heap.byte_at(bytevector, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::small(i32::from(byte)));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn bytevector_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = self.get(instruction.c()).as_fixnum()
            && let Ok(byte) = u8::try_from(byte)
            && cold.heap.set_byte_at(bytevector, (index.to_bits() >> 3) as usize, byte)
        {
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn record_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.b());
        if self.is_instance_with(record, self.get(instruction.c()), instruction.d()) {
            self.set(instruction.a(), self.object_field(record, 2 + instruction.d()));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn record_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.a());
        if self.is_instance_with(record, self.get(instruction.b()), instruction.d()) {
            return self.write(cold, record.index() + 2 + instruction.d(), self.get(instruction.c()));
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    /// Whether `record` is an instance of `record_type` that has a field at index `field`.
    #[inline(always)]
    fn is_instance_with(&self, record: Value, record_type: Value, field: usize) -> bool {
        self.is_kind(record, Kind::Record as u8)
            && self.object_field(record, 1) == record_type
            && self.is_kind(record_type, Kind::RecordType as u8)
            && 1 + field < self.object_field(record, 0).payload() as usize
    }

    /// The position that `index` names in `vector`, if both are what they should be and the vector may be written when `for_writing`.
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
