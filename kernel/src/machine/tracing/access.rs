//! What instructions on objects do to the origins of values, and those that only compute or test.
//!
//! INVARIANT: what an instruction reads from an object has the origin of the word it was read from.
//! Read next: `step.rs`.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an instruction that has no arm is traced by the roles of its operands in the table"
)]

use crate::heap::Heap;
use crate::instruction::{Opcode, Role};
use crate::value::Value;

use super::super::frame::Frame;
use super::decision::Tested;
use super::step::Before;
use super::{OriginId, Sort, Trace};

impl Trace {
    /// Instructions that write into objects; false if the instruction is none.
    fn after_writing(&mut self, before: &Before) -> bool {
        let input = |index: usize| before.inputs.get(index).copied().unwrap_or((Value::UNSPECIFIED, 0));
        let object = input(0).0;
        let index = if object.is_reference() { object.index() } else { 0 };
        match before.opcode {
            Opcode::CellSet => self.set_heap(index + 1, input(1).1),
            Opcode::PatchClosure => self.set_heap(index + 2 + before.instruction.b(), input(1).1),
            Opcode::SetCar => self.change_heap(index, input(1).1),
            Opcode::SetCdr => self.change_heap(index + 1, input(1).1),
            Opcode::VectorSet => self.change_heap(index + 1 + position(input(1).0), input(2).1),
            Opcode::RecordSet => self.change_heap(index + 2 + before.instruction.d(), input(2).1),
            Opcode::BytevectorSet => {
                let at = position(input(1).0);
                self.put_content(index, at..at + 1, input(2).1);
            }
            _ => return false,
        }
        true
    }

    /// Instructions on objects, and those that only compute.
    pub(super) fn after_access(&mut self, before: &Before, frame: &Frame, heap: &Heap) {
        if self.after_writing(before) {
            return;
        }
        let (instruction, at) = (before.instruction, before.at);
        let input = |index: usize| before.inputs.get(index).copied().unwrap_or((Value::UNSPECIFIED, 0));
        let object = input(0).0;
        let index = if object.is_reference() { object.index() } else { 0 };
        let writes = instruction
            .description()
            .is_some_and(|row| row.operands.iter().any(|(_, role)| *role == Role::Out));
        if !writes {
            self.after_test(before, frame);
            return;
        }
        let value = frame.get(instruction.a());
        let read = match before.opcode {
            Opcode::CellRef | Opcode::Cdr => Some(index + 1),
            Opcode::Car => Some(index),
            Opcode::Cxr => last_word(heap, object, instruction.d()),
            Opcode::VectorRef => Some(index + 1 + position(input(1).0)),
            Opcode::RecordRef => Some(index + 2 + instruction.d()),
            _ => None,
        };
        let id = match (before.opcode, read) {
            (Opcode::CellRef, Some(word)) => self.found_in_heap(word, value, at),
            (Opcode::Cell, _) => {
                self.set_heap(value.index() + 1, input(0).1);
                input(0).1
            }
            (Opcode::StringRef | Opcode::BytevectorRef, _) => {
                let known = self.content_word(index, position(input(1).0));
                let part = if known == 0 { input(0).1 } else { known };
                self.made(Sort::Computed, value, at, &[part])
            }
            (_, Some(word)) => {
                let known = self.heap_word(word);
                // Nobody traced how the object was made: the value came with the object.
                let part = if known == 0 { input(0).1 } else { known };
                self.made(Sort::Computed, value, at, &[part])
            }
            (opcode, None) => {
                if opcode == Opcode::Cons {
                    self.set_heap(value.index(), input(0).1);
                    self.set_heap(value.index() + 1, input(1).1);
                }
                let parts: Vec<OriginId> = before.inputs.iter().map(|(_, id)| *id).collect();
                self.made(Sort::Computed, value, at, &parts)
            }
        };
        self.set_stack(before.base + instruction.a(), id);
    }

    /// The list of the arguments beyond the required ones.
    pub(super) fn after_rest(&mut self, before: &Before, frame: &Frame, heap: &Heap) {
        let register = before.instruction.a() + 1;
        let list = frame.get(register);
        let parts: Vec<OriginId> = before.inputs.iter().map(|(_, id)| *id).collect();
        let id = self.made(Sort::Computed, list, before.at, &parts);
        let mut rest = list;
        for part in parts {
            if !rest.is_pair() {
                break;
            }
            self.set_heap(rest.index(), part);
            self.set_heap(rest.index() + 1, id);
            rest = heap.cdr(rest);
        }
        self.set_stack(before.base + register, id);
    }

    /// A jump on a condition.
    fn after_test(&mut self, before: &Before, frame: &Frame) {
        let Some(jumps_if) = before.instruction.jumps_if() else {
            return;
        };
        let tested = Tested {
            at: before.at,
            jumps_if,
            has_jumped: frame.pc() as u32 != before.at.position + 1,
            is_comparison: !matches!(before.opcode, Opcode::JumpIfFalse | Opcode::JumpIfTrue),
        };
        self.note_test(&tested, &before.inputs);
    }
}

/// A position in an object.
fn position(value: Value) -> usize {
    let position = value.as_fixnum();
    position.and_then(|at| usize::try_from(at).ok()).unwrap_or(0)
}

/// The index of the word that a path of cars and cdrs leads to.
fn last_word(heap: &Heap, object: Value, mut path: usize) -> Option<usize> {
    let (mut part, mut word) = (object, None);
    while path > 1 {
        let index = part.is_pair().then(|| part.index() + (path & 1))?;
        part = heap.word(index);
        word = Some(index);
        path >>= 1;
    }
    word
}
