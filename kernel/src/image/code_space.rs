//! The code space as images see it.
//!
//! INVARIANT: what is accepted here satisfies what the machine relies on: a closure has the
//! captured values its block reads, register 0 of a frame, if it is read again, is the procedure
//! whose block the frame runs, and a result lands inside the frame or in the slot above it.
//! It does not know the encoding. Read next: `code.rs`.

use super::{CodeNames, CodePoint};
use crate::code::builtin::{COMPOSABLE_BLOCK, CONTINUATION_BLOCK};
use crate::code::{CodeSpace, LoadedBlock};
use crate::heap::{Heap, Kind, LiveRegisters};
use crate::primitive::Names;
use crate::value::{Immediate, Value};

/// The field of a closure over a continuation's block that holds the newest segment.
const CONTINUATION_LINK: usize = 1;

impl CodeNames for CodeSpace {
    fn name_of_position(&self, position: u32) -> Option<CodePoint> {
        let unit = self.unit_at(position)?;
        Some(CodePoint {
            unit: unit.hash,
            offset: position - unit.start,
        })
    }

    fn position_of(&self, point: &CodePoint) -> Option<u32> {
        let unit = self.find_unit(&point.unit)?;
        unit.start
            .checked_add(point.offset)
            .filter(|&position| position < unit.end)
    }

    fn entry_detail(&self, position: u32) -> Option<u32> {
        let block = self.block_at(position).filter(|block| block.start == position)?;
        Some(block.code_word.detail())
    }

    fn accepts_return(&self, position: u32, distance_words: u32) -> bool {
        let most = |block: &LoadedBlock| u32::from(block.frame_size) + 1;
        self.block_at(position)
            .is_some_and(|block| (2..=most(block)).contains(&distance_words))
    }

    fn accepts_frame(&self, heap: &Heap, position: u32, procedure: Value) -> bool {
        let Some(block) = self.block_at(position) else {
            return false;
        };
        if heap.is_kind(procedure, Kind::Closure) {
            // The procedure may have the code of another text than the frame, which still reads
            // only what it has captured. A call of the running procedure takes the next frame's
            // size from the procedure's code, but runs that of the frame.
            let word = heap.field(procedure, 0);
            let is_machine = |position: u32| self.units().first().is_some_and(|unit| position < unit.end);
            let is_alike = !is_machine(word.payload())
                && !is_machine(position)
                && heap.object_length(procedure) == 1 + usize::from(block.captured)
                && (word.detail() >> 8 >= block.code_word.detail() >> 8 || !self.calls_itself(block));
            return word == block.code_word || is_alike;
        }
        // A procedure that is read no more is not kept.
        let is_read = self
            .live_at(position)
            .is_none_or(|live| live.first().is_none_or(|word| word & 1 != 0));
        if !is_read {
            return true;
        }
        // Blocks of the machine's own unit, the first, are also entered through primitives.
        procedure.is_immediate(Immediate::Primitive) && self.units().first().is_some_and(|unit| position < unit.end)
    }

    fn accepts_closure(&self, heap: &Heap, closure: Value) -> bool {
        let word = heap.field(closure, 0);
        let Some(block) = self.block_at(word.payload()).filter(|block| block.code_word == word) else {
            return false;
        };
        let is_over = |number: usize| word == self.block(number).code_word;
        if heap.object_length(closure) != 1 + usize::from(block.captured) {
            return false;
        }
        if is_over(CONTINUATION_BLOCK) || is_over(COMPOSABLE_BLOCK) {
            let chain = heap.field(closure, CONTINUATION_LINK);
            return chain == Value::NIL || heap.is_kind(chain, Kind::Link) || heap.is_kind(chain, Kind::PromptLink);
        }
        true
    }

    fn primitive_name(&self, position: u32) -> &str {
        Names::primitive_name(self, position)
    }

    fn primitive_position(&self, name: &str) -> Option<u32> {
        self.primitive(name).map(Value::payload)
    }
}
