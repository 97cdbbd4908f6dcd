//! Instructions that move values: registers, literals, globals, captured values, closures and
//! cells.
//!
//! INVARIANT: a global is read only once it is defined, and a cell only if it is one.
//! It does not look into pairs, vectors, strings and records; `machine/execute/object.rs` does.
//! Read next: `machine/execute/object.rs`.

use crate::heap::{Header, Kind, Register};
use crate::instruction::Instruction;
use crate::value::Value;

use super::{Flow, Frame, SlowPath, slow};

impl Frame {
    #[inline(always)]
    pub(super) fn move_register(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn small(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), Value::small(instruction.w_signed()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn immediate(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let bits = instruction.d() as u64 | u64::from(instruction.w()) << 32;
        self.set(instruction.a(), Value::from_bits(bits));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn constant(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let table = slow.heap.register(Register::Constants);
        self.set(instruction.a(), self.object_field(table, 1 + instruction.w() as usize));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn global(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let table = slow.heap.register(Register::Globals);
        let value = self.object_field(table, 1 + instruction.w() as usize);
        if value == Value::UNDEFINED {
            return slow.defer(|slow, frame, instruction| slow.undefined_global(frame, instruction.w()));
        }
        self.set(instruction.a(), value);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn set_global(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let table = slow.heap.register(Register::Globals);
        if self.object_field(table, 1 + instruction.w() as usize) == Value::UNDEFINED {
            return slow.defer(|slow, frame, instruction| slow.undefined_global(frame, instruction.w()));
        }
        self.write(
            slow,
            table.index() + 1 + instruction.w() as usize,
            self.get(instruction.a()),
        )
    }

    #[inline(always)]
    pub(super) fn define_global(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let table = slow.heap.register(Register::Globals);
        self.write(
            slow,
            table.index() + 1 + instruction.w() as usize,
            self.get(instruction.a()),
        )
    }

    #[inline(always)]
    pub(super) fn free(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.procedure_field(self.get(0), 2 + instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn closure(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let block = slow.code.block(instruction.w() as usize);
        let captured = usize::from(block.captured);
        let words = slow::closure_words(captured);
        let Some(index) = slow.heap.bump_young(words) else {
            return slow.defer(|slow, frame, instruction| slow.make_room_for_closure(frame, instruction));
        };
        // The padding word, if there is one, is the last; the fields overwrite it if not.
        self.fill(index + words - 1, Value::ZERO);
        self.fill(index, Header::new(Kind::Closure, captured as u32 + 1).to_value());
        self.fill(index + 1, block.made_word);
        self.heap()
            .fill_all(index + 2, self.registers(instruction.a(), captured));
        self.set(instruction.a(), Value::procedure_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn patch_closure(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (closure, value) = (self.get(instruction.a()), self.get(instruction.c()));
        slow.heap.set_field(closure, 1 + instruction.b(), value);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = slow.heap.bump_young(2) else {
            return slow.defer(|slow, frame, _| slow.make_room(frame, 2));
        };
        self.fill(index, crate::heap::CELL_HEADER);
        self.fill(index + 1, self.get(instruction.b()));
        self.set(instruction.a(), Value::object_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell_ref(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.b());
        if !self.is_cell(cell) {
            return slow.defer(|slow, frame, _| slow.not_a_cell(frame));
        }
        self.set(instruction.a(), self.object_field(cell, 1));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell_set(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.a());
        if !self.is_cell(cell) {
            return slow.defer(|slow, frame, _| slow.not_a_cell(frame));
        }
        self.write(slow, cell.index() + 1, self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn check_defined(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == Value::UNDEFINED {
            return slow.defer(|slow, frame, instruction| slow.undefined_variable(frame, instruction.w()));
        }
        Flow::Next
    }

    /// Whether the word is a cell. Compiled code makes cells where it uses them, but the frames and
    /// closures of a damaged image may hold anything.
    #[inline(always)]
    fn is_cell(&self, value: Value) -> bool {
        value.is_object() && self.object_field(value, 0) == crate::heap::CELL_HEADER
    }
}
