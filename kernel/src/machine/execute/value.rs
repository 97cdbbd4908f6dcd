//! Instructions that move values: registers, literals, globals, captured values, closures and cells.
//!
//! INVARIANT: a global is read only once it is defined, a cell only if it is one.
//! Read next: `machine/execute/object.rs`.

use crate::heap::{Header, Kind, Register};
use crate::instruction::Instruction;
use crate::value::Value;

use super::{Cold, Flow, Hot, slow};

impl Hot {
    #[inline(always)]
    pub(super) fn move_register(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn small(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), Value::small(instruction.w_signed()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn immediate(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let bits = instruction.d() as u64 | u64::from(instruction.w()) << 32;
        self.set(instruction.a(), Value::from_bits(bits));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn constant(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Constants);
        self.set(instruction.a(), self.object_field(table, 1 + instruction.w() as usize));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        let value = self.object_field(table, 1 + instruction.w() as usize);
        if value == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.set(instruction.a(), value);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn set_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        if self.object_field(table, 1 + instruction.w() as usize) == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.write(
            cold,
            table.index() + 1 + instruction.w() as usize,
            self.get(instruction.a()),
        )
    }

    #[inline(always)]
    pub(super) fn define_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        self.write(
            cold,
            table.index() + 1 + instruction.w() as usize,
            self.get(instruction.a()),
        )
    }

    #[inline(always)]
    pub(super) fn free(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.procedure_field(self.get(0), 2 + instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn closure(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let block = cold.code.block(instruction.w() as usize);
        let captured = usize::from(block.captured);
        let words = slow::closure_words(captured);
        let Some(index) = cold.heap.bump_young(words) else {
            return cold.detour(|cold, hot, instruction| cold.make_room_for_closure(hot, instruction));
        };
        // The padding word, if there is one, is the last; the fields overwrite it if not.
        self.fill(index + words - 1, Value::ZERO);
        self.fill(index, Header::new(Kind::Closure, captured as u32 + 1).to_value());
        self.fill(index + 1, block.code_word);
        self.heap()
            .fill_all(index + 2, self.registers(instruction.a(), captured));
        self.set(instruction.a(), Value::procedure_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn patch_closure(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (closure, value) = (self.get(instruction.a()), self.get(instruction.c()));
        cold.heap.set_field(closure, 1 + instruction.b(), value);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = cold.heap.bump_young(2) else {
            return cold.detour(|cold, hot, _| cold.make_room(hot, 2));
        };
        self.fill(index, crate::heap::CELL_HEADER);
        self.fill(index + 1, self.get(instruction.b()));
        self.set(instruction.a(), Value::object_at(index));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.b());
        if !self.is_cell(cell) {
            return cold.detour(|cold, hot, _| cold.not_a_cell(hot));
        }
        self.set(instruction.a(), self.object_field(cell, 1));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn cell_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.a());
        if !self.is_cell(cell) {
            return cold.detour(|cold, hot, _| cold.not_a_cell(hot));
        }
        self.write(cold, cell.index() + 1, self.get(instruction.b()))
    }

    #[inline(always)]
    pub(super) fn check_defined(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_variable(hot, instruction.w()));
        }
        Flow::Next
    }

    /// Whether the word is a cell. Compiled code only makes cells where it uses them; but frames and closures also come from images, whose bytes may be anything.
    #[inline(always)]
    fn is_cell(&self, value: Value) -> bool {
        value.is_object() && self.object_field(value, 0) == crate::heap::CELL_HEADER
    }
}
