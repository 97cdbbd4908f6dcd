//! Generates single instructions for calls of the commonest primitives.
//!
//! Owns one table: an entry is a primitive's name and the instruction with the same behaviour.
//! INVARIANT: an instruction also raises the same errors as its primitive.
//! It does not know the jumps for tests.
//! Read next: `compiler/test.rs`.

use crate::core::{Core, CoreId};
use crate::datum::Name;
use crate::instruction::{CXRS, Instruction, Opcode};
use crate::value::Value;

use super::emitter::{Emitter, Origin, Register};
use super::expression::{Context, emit_immediate, small_of};
use super::variables::Held;
use super::{CompileError, Compiler};

/// The way a call maps to an instruction.
#[derive(Clone, Copy)]
enum Inline {
    /// a ← op b.
    Unary(Opcode),
    /// a ← b op c; calls with more arguments associate to the left if `is_chained`.
    Binary { opcode: Opcode, is_chained: bool },
    /// a ← b op c, always of two arguments.
    Plain(Opcode),
    /// a ← b op c, under the operation's second name.
    Renamed(Opcode),
    /// Two arguments, no result.
    Effect2(Opcode),
    /// Three arguments, no result.
    Effect3(Opcode),
    /// a ← field d of b under type c: the third argument is a literal index.
    Field(Opcode),
    /// The same with the new value as fourth argument, no result.
    FieldEffect(Opcode),
}

/// An instruction but for its registers.
#[derive(Clone, Copy)]
struct Operation {
    opcode: Opcode,
    detail: u8,
}

impl Operation {
    fn new(opcode: Opcode, detail: u8) -> Operation {
        Operation { opcode, detail }
    }

    fn on(self, a: Register, b: Register, c: Register) -> Instruction {
        Instruction::abc(self.opcode, a, b, c).with_d(self.detail)
    }
}

/// The maximum number of operands after the first in a chain of instructions, because an
/// instruction numbers its operand in eight bits.
const CHAIN_MAX: usize = 256;

const TABLE: &[(&str, Inline)] = &[
    (
        "+",
        Inline::Binary {
            opcode: Opcode::Add,
            is_chained: true,
        },
    ),
    (
        "-",
        Inline::Binary {
            opcode: Opcode::Subtract,
            is_chained: true,
        },
    ),
    (
        "*",
        Inline::Binary {
            opcode: Opcode::Multiply,
            is_chained: true,
        },
    ),
    (
        "/",
        Inline::Binary {
            opcode: Opcode::Divide,
            is_chained: true,
        },
    ),
    (
        "quotient",
        Inline::Binary {
            opcode: Opcode::Quotient,
            is_chained: false,
        },
    ),
    ("truncate-quotient", Inline::Renamed(Opcode::Quotient)),
    (
        "remainder",
        Inline::Binary {
            opcode: Opcode::Remainder,
            is_chained: false,
        },
    ),
    ("truncate-remainder", Inline::Renamed(Opcode::Remainder)),
    (
        "cons",
        Inline::Binary {
            opcode: Opcode::Cons,
            is_chained: false,
        },
    ),
    ("car", Inline::Unary(Opcode::Car)),
    ("cdr", Inline::Unary(Opcode::Cdr)),
    (
        "vector-ref",
        Inline::Binary {
            opcode: Opcode::VectorRef,
            is_chained: false,
        },
    ),
    ("set-car!", Inline::Effect2(Opcode::SetCar)),
    ("set-cdr!", Inline::Effect2(Opcode::SetCdr)),
    ("vector-set!", Inline::Effect3(Opcode::VectorSet)),
    ("vector-length", Inline::Unary(Opcode::VectorLength)),
    ("string-length", Inline::Unary(Opcode::StringLength)),
    ("string-ref", Inline::Plain(Opcode::StringRef)),
    ("bytevector-u8-ref", Inline::Plain(Opcode::BytevectorRef)),
    ("bytevector-u8-set!", Inline::Effect3(Opcode::BytevectorSet)),
    ("modulo", Inline::Plain(Opcode::Modulo)),
    ("%record-ref", Inline::Field(Opcode::RecordRef)),
    ("%record-set!", Inline::FieldEffect(Opcode::RecordSet)),
];

/// The maximum length of a list that is made by instructions; the primitive makes it without fuel
/// too.
const LIST_MAX: usize = 15;

impl Compiler<'_> {
    /// Generates the call if the table has it for this number of arguments, or if it is a predicate
    /// that is best tested; returns whether it did.
    pub(super) fn inline_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        name: &Name,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<bool, CompileError> {
        if self.is_test(name, arguments) {
            self.truth(emitter, id, context)?;
            return Ok(true);
        }
        if let ([pair], Some((_, path))) = (arguments, CXRS.iter().find(|(entry, _)| *entry == &*name.0)) {
            self.unary(emitter, id, Operation::new(Opcode::Cxr, *path), *pair, context)?;
            return Ok(true);
        }
        if &*name.0 == "list" && (1..=LIST_MAX).contains(&arguments.len()) {
            self.list(emitter, id, arguments, context)?;
            return Ok(true);
        }
        let Some((_, inline)) = TABLE.iter().find(|(entry, _)| *entry == &*name.0) else {
            return Ok(false);
        };
        match (*inline, arguments) {
            (Inline::Unary(opcode), [argument]) => {
                self.unary(emitter, id, Operation::new(opcode, 0), *argument, context)?
            }
            (Inline::Plain(opcode), [left, right]) => {
                self.binary(emitter, id, (opcode, 0), (*left, *right), context)?;
            }
            (Inline::Field(opcode), [record, record_type, index]) => {
                let Some(index) = self.small(*index).and_then(|index| u8::try_from(index).ok()) else {
                    return Ok(false);
                };
                self.binary(emitter, id, (opcode, index), (*record, *record_type), context)?;
            }
            (Inline::FieldEffect(opcode), [record, record_type, index, value]) => {
                let Some(index) = self.small(*index).and_then(|index| u8::try_from(index).ok()) else {
                    return Ok(false);
                };
                self.mutation(
                    emitter,
                    id,
                    Operation::new(opcode, index),
                    &[*record, *record_type, *value],
                    context,
                )?;
            }
            (Inline::Binary { opcode, .. }, [left, right]) => {
                self.binary(emitter, id, (opcode, 0), (*left, *right), context)?;
            }
            (Inline::Renamed(opcode), [left, right]) => {
                self.binary(emitter, id, (opcode, 1), (*left, *right), context)?;
            }
            (
                Inline::Binary {
                    opcode,
                    is_chained: true,
                },
                [first, rest @ ..],
            ) if (1..=CHAIN_MAX).contains(&rest.len()) => {
                self.chain(emitter, id, opcode, *first, rest, context)?;
            }
            (Inline::Effect2(opcode), [_, _]) | (Inline::Effect3(opcode), [_, _, _]) => {
                self.mutation(emitter, id, Operation::new(opcode, 0), arguments, context)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn unary(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        operation: Operation,
        argument: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        let place = self.place(id);
        self.effectful(emitter, context, |compiler, emitter, target| {
            let source = compiler.operand(emitter, argument)?;
            emitter.at(place);
            emitter.emit(operation.on(target, source, 0));
            Ok(())
        })
    }

    fn binary(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        operation: (Opcode, u8),
        operands: (CoreId, CoreId),
        context: Context,
    ) -> Result<(), CompileError> {
        let (opcode, spelling) = operation;
        let place = self.place(id);
        self.effectful(emitter, context, |compiler, emitter, target| {
            let (left, right) = operands;
            match (opcode, compiler.small(left), compiler.small(right)) {
                (Opcode::Add, _, Some(small)) => {
                    compiler.mark(emitter, right);
                    compiler.add_small(emitter, left, (small, 0), target, place)
                }
                (Opcode::Add, Some(small), None) => {
                    compiler.mark(emitter, left);
                    compiler.add_small(emitter, right, (small, 1), target, place)
                }
                // Subtracting 0 keeps −0.0, adding 0 does not.
                (Opcode::Subtract, _, Some(small)) if small != i16::MIN && small != 0 => {
                    compiler.mark(emitter, right);
                    compiler.add_small(emitter, left, (-small, 2), target, place)
                }
                _ => {
                    let left = compiler.operand(emitter, left)?;
                    let right = compiler.operand(emitter, right)?;
                    emitter.at(place);
                    emitter.emit(Instruction::abc(opcode, target, left, right).with_d(spelling));
                    Ok(())
                }
            }
        })
    }

    fn add_small(
        &mut self,
        emitter: &mut Emitter,
        operand: CoreId,
        addend: (i16, u8),
        target: Register,
        place: Origin,
    ) -> Result<(), CompileError> {
        let (small, spelling) = addend;
        let source = self.operand(emitter, operand)?;
        emitter.at(place);
        emitter.emit(Instruction::abc(Opcode::AddSmall, target, source, small as u16).with_d(spelling));
        Ok(())
    }

    /// Returns the argument, if it is a literal fixnum of 16 bits.
    pub(super) fn small(&self, id: CoreId) -> Option<i16> {
        let Core::Constant(datum) = self.node(id) else {
            return None;
        };
        small_of(datum).and_then(|integer| i16::try_from(integer).ok())
    }

    fn chain(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        opcode: Opcode,
        first: CoreId,
        rest: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let place = self.place(id);
        self.effectful(emitter, context, |compiler, emitter, target| {
            let sum = emitter.take()?;
            compiler.expression_at(emitter, first, sum)?;
            for (earlier, argument) in rest.iter().enumerate() {
                let source = compiler.operand(emitter, *argument)?;
                emitter.at(place);
                emitter.emit(Instruction::abc(opcode, sum, sum, source).with_d(earlier as u8));
                emitter.release_to(sum + 1);
                emitter.hold(Held::Partial(id, earlier + 1), sum);
            }
            emitter.move_to(target, sum);
            Ok(())
        })
    }

    /// Generates `(list argument …)` as pairs, the last one first.
    fn list(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let place = self.place(id);
        self.effectful(emitter, context, |compiler, emitter, target| {
            let list = emitter.take()?;
            for argument in arguments {
                let register = emitter.take()?;
                compiler.expression_at(emitter, *argument, register)?;
            }
            emitter.at(place);
            emit_immediate(emitter, Value::NIL, list);
            for index in (0..arguments.len()).rev() {
                emitter.abc(Opcode::Cons, list, list + 1 + index as Register, list);
            }
            emitter.move_to(target, list);
            Ok(())
        })
    }

    fn mutation(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        operation: Operation,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let mut registers = [0; 3];
        for (register, argument) in registers.iter_mut().zip(arguments) {
            *register = self.operand(emitter, *argument)?;
        }
        emitter.at(self.place(id));
        emitter.emit(operation.on(registers[0], registers[1], registers[2]));
        emitter.release_to(mark);
        self.unspecified(emitter, context)
    }
}
