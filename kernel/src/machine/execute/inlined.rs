//! The rare sides of instructions that stand for a call of a primitive: the primitive itself is applied to the instruction's operands.
//!
//! INVARIANT: one table says which primitive an instruction stands for, so value and errors are the primitive's own.
//! It does no arithmetic; see `machine/execute/slow.rs`. Read next: `compiler/inline.rs`.

use crate::instruction::{Field, Instruction, Opcode, PARTS, Role};
use crate::primitive::{Body, Context, Failure};
use crate::value::Value;

use super::super::Hot;
use super::{Cold, Flow, InUse};

/// A call as the source has it.
struct WrittenCall {
    name: &'static str,
    operands: [Value; 4],
    count: usize,
}

/// An instruction, the primitive it stands for, and the operands in the primitive's order; `d` is a fixnum, the others are registers.
type Row = (Opcode, &'static str, &'static [Field]);

const CALLS: &[Row] = &[
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

/// What character comparisons are called with exchanged operands.
const EXCHANGED: &[(&str, &str)] = &[("char=?", "char=?"), ("char<?", "char>?"), ("char<=?", "char>=?")];

impl Cold<'_> {
    /// Does an instruction that gives a value, or is for its effect only, by its primitive.
    #[cold]
    #[inline(never)]
    pub(super) fn inlined_slow(&mut self, mut hot: Hot, instruction: Instruction) -> (Hot, Flow) {
        let value = match self.apply_inlined(&mut hot, instruction) {
            Ok(value) => value,
            Err(condition) => return self.signal(hot, condition),
        };
        let has_result = instruction
            .description()
            .is_some_and(|row| row.operands.contains(&(Field::a, Role::Out)));
        if has_result {
            hot.set(instruction.a(), value);
        }
        if self.heap.is_collection_due() {
            self.collect(&mut hot, InUse::After);
        }
        (hot, Flow::Next)
    }

    /// Does a jump on a predicate by its primitive; it is taken if the truth is `sense`.
    #[cold]
    #[inline(never)]
    pub(super) fn test_slow(&mut self, mut hot: Hot, instruction: Instruction, sense: bool) -> (Hot, Flow) {
        match self.apply_inlined(&mut hot, instruction) {
            Ok(value) => {
                if value.is_true() == sense {
                    hot.branch(instruction.c_signed() as isize);
                }
                (hot, Flow::Next)
            }
            Err(condition) => self.signal(hot, condition),
        }
    }

    /// The value of the primitive that the instruction stands for, or the condition of its failure.
    fn apply_inlined(&mut self, hot: &mut Hot, instruction: Instruction) -> Result<Value, Value> {
        let mut call = written_call(*hot, instruction);
        let mut outcome = self.apply_by_name(&call);
        if outcome == Err(Failure::HeapFull) {
            self.collect_major(hot, InUse::Before);
            call = written_call(*hot, instruction);
            outcome = self.apply_by_name(&call);
        }
        hot.reload_heap(self.heap);
        outcome.map_err(|failure| self.failure_condition(*hot, call.name, &failure, |argument| call.operands[argument]))
    }

    fn apply_by_name(&mut self, call: &WrittenCall) -> Result<Value, Failure> {
        let number = self.code.primitive(call.name).map_or(0, Value::payload);
        let Body::Function(function) = self.code.primitives()[number as usize].body else {
            return Err(Failure::HeapFull);
        };
        let mut context = Context {
            heap: self.heap,
            names: self.code,
        };
        function(&mut context, &call.operands[..call.count])
    }
}

fn written_call(hot: Hot, instruction: Instruction) -> WrittenCall {
    let row = CALLS.iter().find(|(opcode, ..)| Some(*opcode) == instruction.opcode());
    let Some((_, name, fields)) = row else {
        return written_part(hot, instruction);
    };
    let mut operands = [Value::ZERO; 4];
    for (operand, field) in operands.iter_mut().zip(*fields) {
        let number = instruction.operand(*field) as usize;
        *operand = if *field == Field::d {
            Value::length(number)
        } else {
            hot.get(number)
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

fn written_part(hot: Hot, instruction: Instruction) -> WrittenCall {
    let row = PARTS.iter().find(|(_, path)| usize::from(*path) == instruction.d());
    WrittenCall {
        name: row.map_or("car", |(name, _)| name),
        operands: [hot.get(instruction.b()), Value::ZERO, Value::ZERO, Value::ZERO],
        count: 1,
    }
}
