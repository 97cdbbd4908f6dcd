//! Slow paths of instructions that stand for a call of a primitive: they apply the primitive to the
//! instruction's operands.
//!
//! INVARIANT: one table says which primitive an instruction stands for, so value and errors are the
//! primitive's own.
//! It does no arithmetic; see `machine/execute/slow.rs`.
//! Read next: `compiler/inline.rs`.

use crate::instruction::{CXRS, Field, Instruction, Opcode, Role};
use crate::primitive::{Context, PrimitiveBody, PrimitiveError};
use crate::value::Value;

use super::super::Frame;
use super::{Flow, InUse, SlowPath};

/// A call as the source has it.
struct WrittenCall {
    name: &'static str,
    operands: [Value; 4],
    count: usize,
}

/// An instruction, the primitive it stands for, and the operands in the primitive's order; `d` is a
/// fixnum, the others are registers.
type InlinedRow = (Opcode, &'static str, &'static [Field]);

const CALLS: &[InlinedRow] = &[
    (Opcode::Modulo, "modulo", &[Field::b, Field::c]),
    (Opcode::StringRef, "string-ref", &[Field::b, Field::c]),
    (Opcode::StringLength, "string-length", &[Field::b]),
    (Opcode::VectorLength, "vector-length", &[Field::b]),
    (Opcode::BytevectorRef, "bytevector-u8-ref", &[Field::b, Field::c]),
    (
        Opcode::BytevectorSet,
        "bytevector-u8-set!",
        &[Field::a, Field::b, Field::c],
    ),
    (Opcode::RecordRef, "%record-ref", &[Field::b, Field::c, Field::d]),
    (
        Opcode::RecordSet,
        "%record-set!",
        &[Field::a, Field::b, Field::d, Field::c],
    ),
    (Opcode::JumpIfEqv, "eqv?", &[Field::a, Field::b]),
    (Opcode::JumpUnlessEqv, "eqv?", &[Field::a, Field::b]),
    (Opcode::JumpIfRecord, "%record?", &[Field::a, Field::b]),
    (Opcode::JumpUnlessRecord, "%record?", &[Field::a, Field::b]),
    (Opcode::JumpIfCharEqual, "char=?", &[Field::a, Field::b]),
    (Opcode::JumpUnlessCharEqual, "char=?", &[Field::a, Field::b]),
    (Opcode::JumpIfCharLess, "char<?", &[Field::a, Field::b]),
    (Opcode::JumpUnlessCharLess, "char<?", &[Field::a, Field::b]),
    (Opcode::JumpIfCharLessEqual, "char<=?", &[Field::a, Field::b]),
    (Opcode::JumpUnlessCharLessEqual, "char<=?", &[Field::a, Field::b]),
];

/// Names of character comparisons with exchanged operands.
const EXCHANGED: &[(&str, &str)] = &[("char=?", "char=?"), ("char<?", "char>?"), ("char<=?", "char>=?")];

impl SlowPath<'_> {
    /// Executes an instruction that has a value, or only an effect, by its primitive.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn inlined_slow(&mut self, mut frame: Frame, instruction: Instruction) -> (Frame, Flow) {
        let value = match self.apply_inlined(&mut frame, instruction) {
            Ok(value) => value,
            Err(condition) => return self.signal(frame, condition),
        };
        let has_result = instruction
            .description()
            .is_some_and(|row| row.operands.contains(&(Field::a, Role::Out)));
        if has_result {
            frame.set(instruction.a(), value);
        }
        if self.heap.is_collection_due() {
            self.collect(&mut frame, InUse::After);
        }
        (frame, Flow::Next)
    }

    /// Executes a jump on a predicate by its primitive; jumps if the truth is `sense`.
    #[cold]
    #[inline(never)]
    pub(super) fn test_slow(&mut self, mut frame: Frame, instruction: Instruction, sense: bool) -> (Frame, Flow) {
        match self.apply_inlined(&mut frame, instruction) {
            Ok(value) => {
                if value.is_true() == sense {
                    frame.branch(instruction.c_signed() as isize);
                }
                (frame, Flow::Next)
            }
            Err(condition) => self.signal(frame, condition),
        }
    }

    /// The value of the primitive that the instruction stands for, or the condition of its failure.
    fn apply_inlined(&mut self, frame: &mut Frame, instruction: Instruction) -> Result<Value, Value> {
        let mut call = written_call(*frame, instruction);
        let mut outcome = self.apply_by_name(&call);
        if outcome == Err(PrimitiveError::HeapFull) {
            self.collect_major(frame, InUse::Before);
            self.heap.take_charge();
            call = written_call(*frame, instruction);
            outcome = self.apply_by_name(&call);
        }
        frame.reload_heap(self.heap);
        self.pay(frame);
        outcome
            .map_err(|failure| self.failure_condition(*frame, call.name, &failure, |argument| call.operands[argument]))
    }

    fn apply_by_name(&mut self, call: &WrittenCall) -> Result<Value, PrimitiveError> {
        let number = self.code.primitive(call.name).map_or(0, Value::payload);
        let primitive = &self.code.primitives()[number as usize];
        let PrimitiveBody::Function(function) = primitive.body else {
            return Err(PrimitiveError::HeapFull);
        };
        primitive.cost.spend(self.heap, &call.operands[..call.count])?;
        let mut context = Context {
            heap: self.heap,
            names: self.code,
        };
        function(&mut context, &call.operands[..call.count])
    }
}

fn written_call(frame: Frame, instruction: Instruction) -> WrittenCall {
    let row = CALLS.iter().find(|(opcode, ..)| Some(*opcode) == instruction.opcode());
    let Some((_, name, fields)) = row else {
        return written_cxr(frame, instruction);
    };
    let mut operands = [Value::ZERO; 4];
    for (operand, field) in operands.iter_mut().zip(*fields) {
        let number = instruction.operand(*field) as usize;
        *operand = if *field == Field::d {
            Value::length(number)
        } else {
            frame.get(number)
        };
    }
    let exchanged = EXCHANGED
        .iter()
        .find(|(written, _)| written == name && instruction.d() == 1);
    if exchanged.is_some() {
        operands.swap(0, 1);
    }
    WrittenCall {
        name: exchanged.map_or(*name, |(_, exchanged)| exchanged),
        operands,
        count: fields.len(),
    }
}

fn written_cxr(frame: Frame, instruction: Instruction) -> WrittenCall {
    let row = CXRS.iter().find(|(_, path)| usize::from(*path) == instruction.d());
    WrittenCall {
        name: row.map_or("car", |(name, _)| name),
        operands: [frame.get(instruction.b()), Value::ZERO, Value::ZERO, Value::ZERO],
        count: 1,
    }
}
