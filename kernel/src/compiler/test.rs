//! Generates code for expressions whose value only decides a branch.
//!
//! Comparisons and type tests fuse with the jump; `and`, `or` and `not`, which arrive as nested
//! conditionals, become jumps too.
//! INVARIANT: a test whose value only decides a branch is never stored as a boolean.
//! It does not choose contexts.
//! Read next: `instruction.rs`.

use crate::core::{Core, CoreId, VariableId};
use crate::datum::{Name, Node};
use crate::heap::Kind;
use crate::instruction::Opcode;
use crate::number::Number;
use crate::unit::Mark;
use crate::value::Value;

use super::emitter::{Emitter, Label};
use super::expression::{Context, emit_immediate};
use super::variables::ValuePlace;
use super::{CompileError, Compiler};

/// A jump and its opposite.
type Jumps = (Opcode, Opcode);

/// A comparison: the jump on registers (with exchanged operands if `is_swapped`) and the jumps for
/// a small right or left operand.
struct Comparison {
    name: &'static str,
    registers: Jumps,
    is_swapped: bool,
    small_right: Jumps,
    small_left: Jumps,
}

/// Variants of comparing jumps, by the spelling of the source; see
/// [`Role::Spelling`](crate::instruction::Role::Spelling).
const AS_WRITTEN: u8 = 0;
const EXCHANGED: u8 = 1;
const AS_ZERO: u8 = 2;

const LESS: Jumps = (Opcode::JumpIfLess, Opcode::JumpUnlessLess);
const LESS_EQUAL: Jumps = (Opcode::JumpIfLessEqual, Opcode::JumpUnlessLessEqual);
const EQUAL: Jumps = (Opcode::JumpIfEqual, Opcode::JumpUnlessEqual);
const LESS_SMALL: Jumps = (Opcode::JumpIfLessSmall, Opcode::JumpUnlessLessSmall);
const GREATER_SMALL: Jumps = (Opcode::JumpIfGreaterSmall, Opcode::JumpUnlessGreaterSmall);
const LESS_EQUAL_SMALL: Jumps = (Opcode::JumpIfLessEqualSmall, Opcode::JumpUnlessLessEqualSmall);
const GREATER_EQUAL_SMALL: Jumps = (Opcode::JumpIfGreaterEqualSmall, Opcode::JumpUnlessGreaterEqualSmall);
const EQUAL_SMALL: Jumps = (Opcode::JumpIfEqualSmall, Opcode::JumpUnlessEqualSmall);

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "<",
        registers: LESS,
        is_swapped: false,
        small_right: LESS_SMALL,
        small_left: GREATER_SMALL,
    },
    Comparison {
        name: ">",
        registers: LESS,
        is_swapped: true,
        small_right: GREATER_SMALL,
        small_left: LESS_SMALL,
    },
    Comparison {
        name: "<=",
        registers: LESS_EQUAL,
        is_swapped: false,
        small_right: LESS_EQUAL_SMALL,
        small_left: GREATER_EQUAL_SMALL,
    },
    Comparison {
        name: ">=",
        registers: LESS_EQUAL,
        is_swapped: true,
        small_right: GREATER_EQUAL_SMALL,
        small_left: LESS_EQUAL_SMALL,
    },
    Comparison {
        name: "=",
        registers: EQUAL,
        is_swapped: false,
        small_right: EQUAL_SMALL,
        small_left: EQUAL_SMALL,
    },
];

const UNARY: &[(&str, Jumps)] = &[
    ("null?", (Opcode::JumpIfNull, Opcode::JumpUnlessNull)),
    ("pair?", (Opcode::JumpIfPair, Opcode::JumpUnlessPair)),
    ("char?", (Opcode::JumpIfCharacter, Opcode::JumpUnlessCharacter)),
];

/// Comparisons of characters: the jump, and whether its operands are exchanged.
const CHARACTERS: &[(&str, Jumps, bool)] = &[
    ("char=?", CHAR_EQUAL, false),
    ("char<?", CHAR_LESS, false),
    ("char>?", CHAR_LESS, true),
    ("char<=?", CHAR_LESS_EQUAL, false),
    ("char>=?", CHAR_LESS_EQUAL, true),
];

const CHAR_EQUAL: Jumps = (Opcode::JumpIfCharEqual, Opcode::JumpUnlessCharEqual);
const CHAR_LESS: Jumps = (Opcode::JumpIfCharLess, Opcode::JumpUnlessCharLess);
const CHAR_LESS_EQUAL: Jumps = (Opcode::JumpIfCharLessEqual, Opcode::JumpUnlessCharLessEqual);

/// Predicates that hold for the objects of one kind.
const KINDS: &[(&str, Kind)] = &[
    ("symbol?", Kind::Symbol),
    ("string?", Kind::String),
    ("vector?", Kind::Vector),
    ("bytevector?", Kind::Bytevector),
];

/// A call of a primitive.
#[derive(Clone, Copy)]
struct Call<'a> {
    id: CoreId,
    name: &'a str,
}

impl Compiler<'_> {
    /// Returns whether this file generates a call of the primitive.
    pub(super) fn is_test(&self, name: &Name, arguments: &[CoreId]) -> bool {
        let name = &*name.0;
        match arguments.len() {
            1 => {
                matches!(name, "not" | "zero?" | "eof-object?")
                    || UNARY.iter().any(|(entry, _)| *entry == name)
                    || KINDS.iter().any(|(entry, _)| *entry == name)
            }
            2 => {
                name == "eq?"
                    || name == "eqv?"
                    || name == "%record?"
                    || (name == "equal?" && arguments.iter().any(|argument| self.is_word(*argument)))
                    || COMPARISONS.iter().any(|comparison| comparison.name == name)
                    || CHARACTERS.iter().any(|(entry, ..)| *entry == name)
            }
            _ => false,
        }
    }

    /// Returns whether the form is a literal that `equal?` compares by its word alone.
    fn is_word(&self, id: CoreId) -> bool {
        let Core::Constant(datum) = self.node(id) else {
            return false;
        };
        match &datum.nodes[datum.root.0 as usize] {
            Node::Nil | Node::Boolean(_) | Node::Character(_) | Node::Symbol(_) | Node::Keyword(_) => true,
            Node::Number(Number::Fixnum(_)) => true,
            Node::Number(_)
            | Node::Complex(_)
            | Node::String(_)
            | Node::Bytevector(_)
            | Node::Pair(..)
            | Node::Vector(_) => false,
        }
    }

    /// Generates the truth value of a tested call for `context`.
    pub(super) fn truth(&mut self, emitter: &mut Emitter, id: CoreId, context: Context) -> Result<(), CompileError> {
        let around = self.valued.replace(id);
        let done = self.true_or(emitter, id, context, |compiler, emitter| {
            compiler.boolean(emitter, id, Value::FALSE, context)
        });
        self.valued = around;
        done
    }

    /// Generates `(or first second)` whose first part is a boolean: tests it and never needs its
    /// value.
    pub(super) fn boolean_disjunction(
        &mut self,
        emitter: &mut Emitter,
        first: CoreId,
        second: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        self.true_or(emitter, first, context, |compiler, emitter| {
            compiler.expression(emitter, second, context)
        })
    }

    /// Tests a predicate's call: `context` gets `#t` if it holds; otherwise runs `otherwise`.
    fn true_or(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        context: Context,
        otherwise: impl FnOnce(&mut Self, &mut Emitter) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let is_false = emitter.new_label();
        let done = emitter.new_label();
        self.test(emitter, id, is_false, false)?;
        self.boolean(emitter, id, Value::TRUE, context)?;
        if context != Context::Tail {
            emitter.jump(Opcode::Jump, 0, done);
        }
        emitter.place(is_false);
        otherwise(self, emitter)?;
        emitter.place(done);
        Ok(())
    }

    /// Generates the truth of a predicate's call.
    fn boolean(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        truth: Value,
        context: Context,
    ) -> Result<(), CompileError> {
        self.effectful(emitter, context, |compiler, emitter, target| {
            emitter.note_value(ValuePlace {
                span: compiler.unit.spans[id.0 as usize],
                is_truth: true,
            });
            emit_immediate(emitter, truth, target);
            Ok(())
        })
    }

    /// Emits code that jumps to `target` if the truth of `id` is `sense`, and falls through
    /// otherwise.
    pub(super) fn test(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        self.nested(|compiler| compiler.test_here(emitter, id, target, sense))
    }

    fn test_here(&mut self, emitter: &mut Emitter, id: CoreId, target: Label, sense: bool) -> Result<(), CompileError> {
        let unit = self.unit;
        self.mark(emitter, id);
        match &unit.nodes[id.0 as usize] {
            Core::Constant(datum) => {
                let truth = !matches!(datum.nodes[datum.root.0 as usize], Node::Boolean(false));
                if truth == sense {
                    emitter.jump(Opcode::Jump, 0, target);
                }
                Ok(())
            }
            Core::If {
                test,
                consequent,
                alternative,
            } => self.test_conditional(emitter, (*test, *consequent, *alternative), target, sense),
            Core::Let { bindings, body } => match self.as_disjunction(bindings, *body) {
                Some((first, second)) => self.test_disjunction(emitter, first, second, target, sense),
                None => self.test_value(emitter, id, target, sense),
            },
            Core::Sequence(forms) => {
                let Some((last, before)) = forms.split_last() else {
                    return Ok(());
                };
                for form in before {
                    self.expression(emitter, *form, Context::Effect)?;
                }
                self.test(emitter, *last, target, sense)
            }
            Core::Call { .. } => {
                if self.is_boolean(id) {
                    self.call_test(emitter, id, target, sense)
                } else {
                    self.test_value(emitter, id, target, sense)
                }
            }
            Core::Unspecified
            | Core::CountCall
            | Core::Local(_)
            | Core::SetLocal(..)
            | Core::Global(_)
            | Core::SetGlobal(..)
            | Core::DefineGlobal(..)
            | Core::Primitive(_)
            | Core::Lambda(_)
            | Core::Letrec { .. } => self.test_value(emitter, id, target, sense),
        }
    }

    fn test_value(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let source = self.operand(emitter, id)?;
        self.decide(emitter, id);
        emitter.jump(
            if sense { Opcode::JumpIfTrue } else { Opcode::JumpIfFalse },
            source,
            target,
        );
        emitter.release_to(mark);
        Ok(())
    }

    /// Gives the comparison that follows its place, and marks it as [`decide`](Self::decide) does.
    fn compared(&self, emitter: &mut Emitter, id: CoreId) {
        self.decide(emitter, id);
        emitter.at(self.place(id));
    }

    /// Notes that the jump that follows is the condition at the expression; marks it in a counted
    /// unit, unless it only makes the value of a predicate's call.
    fn decide(&self, emitter: &mut Emitter, id: CoreId) {
        let mut deciding = id;
        if let Core::Local(variable) = self.node(id)
            && let Some(first) = self.firsts.get(variable)
        {
            deciding = *first;
        }
        if self.unit.is_counted && self.valued != Some(id) {
            emitter.mark(Mark::Condition, self.place(deciding));
        }
        emitter.note_test(self.unit.spans[deciding.0 as usize]);
    }

    fn test_conditional(
        &mut self,
        emitter: &mut Emitter,
        parts: (CoreId, CoreId, CoreId),
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        let (test, consequent, alternative) = parts;
        let otherwise = emitter.new_label();
        let done = emitter.new_label();
        if self.is_false(alternative) && !self.unit.is_counted {
            // (and test consequent)
            self.test(emitter, test, if sense { done } else { target }, false)?;
            self.test(emitter, consequent, target, sense)?;
        } else {
            self.test(emitter, test, otherwise, false)?;
            self.test(emitter, consequent, target, sense)?;
            emitter.jump(Opcode::Jump, 0, done);
            emitter.place(otherwise);
            self.test(emitter, alternative, target, sense)?;
        }
        emitter.place(done);
        Ok(())
    }

    fn is_false(&self, id: CoreId) -> bool {
        matches!(self.node(id), Core::Constant(datum) if datum.nodes[datum.root.0 as usize] == Node::Boolean(false))
    }

    /// Returns the parts of `(let ((v first)) (if v v second))`, the expansion of `(or first
    /// second)`.
    pub(super) fn as_disjunction(&self, bindings: &[(VariableId, CoreId)], body: CoreId) -> Option<(CoreId, CoreId)> {
        let [(variable, first)] = bindings else { return None };
        let Core::If {
            test,
            consequent,
            alternative,
        } = self.node(body)
        else {
            return None;
        };
        let is_variable = |id: &CoreId| matches!(self.node(*id), Core::Local(used) if used == variable);
        let is_used_twice = self.analysis.references(*variable) == 2 && !self.is_boxed(*variable);
        (is_variable(test) && is_variable(consequent) && is_used_twice).then_some((*first, *alternative))
    }

    /// Returns whether the form is a call of a predicate that is generated as a test, so that its
    /// value is a boolean, or what replaces a call and ends so.
    pub(super) fn is_boolean(&self, id: CoreId) -> bool {
        match self.node(id) {
            Core::Call { procedure, arguments } => {
                matches!(self.node(*procedure), Core::Primitive(name) if self.is_test(name, arguments))
            }
            // The body of a procedure in place of its call.
            Core::Sequence(forms) => match forms.as_slice() {
                [count, body] => matches!(self.node(*count), Core::CountCall) && self.is_boolean(*body),
                _ => false,
            },
            Core::Constant(_)
            | Core::Unspecified
            | Core::CountCall
            | Core::Local(_)
            | Core::SetLocal(..)
            | Core::Global(_)
            | Core::SetGlobal(..)
            | Core::DefineGlobal(..)
            | Core::Primitive(_)
            | Core::If { .. }
            | Core::Lambda(_)
            | Core::Let { .. }
            | Core::Letrec { .. } => false,
        }
    }

    fn test_disjunction(
        &mut self,
        emitter: &mut Emitter,
        first: CoreId,
        second: CoreId,
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        let done = emitter.new_label();
        self.test(emitter, first, if sense { target } else { done }, true)?;
        self.test(emitter, second, target, sense)?;
        emitter.place(done);
        Ok(())
    }

    /// Tests a call for which `is_test` holds.
    fn call_test(&mut self, emitter: &mut Emitter, id: CoreId, target: Label, sense: bool) -> Result<(), CompileError> {
        let unit = self.unit;
        let Core::Call { procedure, arguments } = &unit.nodes[id.0 as usize] else {
            unreachable!("only calls are call tests")
        };
        let Core::Primitive(name) = &unit.nodes[procedure.0 as usize] else {
            unreachable!("only calls of primitives are call tests")
        };
        self.mark(emitter, *procedure);
        let mark = emitter.next();
        match (&*name.0, arguments.as_slice()) {
            (name, [argument]) => self.unary_test(emitter, Call { id, name }, *argument, target, sense)?,
            (name @ ("eq?" | "eqv?" | "equal?" | "%record?"), [left, right]) => {
                let jumps = match name {
                    "%record?" => (Opcode::JumpIfRecord, Opcode::JumpUnlessRecord),
                    "eqv?" if !self.is_word(*left) && !self.is_word(*right) => {
                        (Opcode::JumpIfEqv, Opcode::JumpUnlessEqv)
                    }
                    _ => (Opcode::JumpIfEq, Opcode::JumpUnlessEq),
                };
                let left = self.operand(emitter, *left)?;
                let right = self.operand(emitter, *right)?;
                self.compared(emitter, id);
                emitter.compare_jump(choose(jumps, sense), (left, right), AS_WRITTEN, target);
            }
            (name, [left, right]) if CHARACTERS.iter().any(|(entry, ..)| *entry == name) => {
                let left = self.operand(emitter, *left)?;
                let right = self.operand(emitter, *right)?;
                let (jumps, is_exchanged) = CHARACTERS
                    .iter()
                    .find(|(entry, ..)| *entry == name)
                    .map_or((CHAR_EQUAL, false), |(_, jumps, is_exchanged)| (*jumps, *is_exchanged));
                let (operands, spelling) = if is_exchanged {
                    ((right, left), EXCHANGED)
                } else {
                    ((left, right), AS_WRITTEN)
                };
                self.compared(emitter, id);
                emitter.compare_jump(choose(jumps, sense), operands, spelling, target);
            }
            (name, arguments) => {
                let comparison = COMPARISONS.iter().find(|comparison| comparison.name == name);
                if let (Some(comparison), [left, right]) = (comparison, arguments) {
                    self.comparison(emitter, id, comparison, (*left, *right), target, sense)?;
                }
            }
        }
        emitter.release_to(mark);
        Ok(())
    }

    /// Tests a call with one argument for which `is_test` holds.
    fn unary_test(
        &mut self,
        emitter: &mut Emitter,
        call: Call<'_>,
        argument: CoreId,
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        let Call { id, name } = call;
        if name == "not" {
            if self.valued == Some(id) {
                self.valued = Some(argument);
            }
            return self.test(emitter, argument, target, !sense);
        }
        let source = self.operand(emitter, argument)?;
        if let Some((_, kind)) = KINDS.iter().find(|(entry, _)| *entry == name) {
            let jumps = (Opcode::JumpIfKind, Opcode::JumpUnlessKind);
            self.decide(emitter, id);
            emitter.jump_clause(choose(jumps, sense).0, kind.code(), source, target);
        } else if let Some((_, jumps)) = UNARY.iter().find(|(entry, _)| *entry == name) {
            self.decide(emitter, id);
            emitter.jump(choose(*jumps, sense).0, source, target);
        } else if name == "eof-object?" {
            let end = emitter.take()?;
            emit_immediate(emitter, Value::EOF, end);
            let jumps = (Opcode::JumpIfEq, Opcode::JumpUnlessEq);
            self.decide(emitter, id);
            emitter.compare_jump(choose(jumps, sense), (source, end), AS_WRITTEN, target);
        } else {
            self.compared(emitter, id);
            emitter.compare_jump(choose(EQUAL_SMALL, sense), (source, 0), AS_ZERO, target);
        }
        Ok(())
    }

    fn comparison(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        comparison: &Comparison,
        operands: (CoreId, CoreId),
        target: Label,
        sense: bool,
    ) -> Result<(), CompileError> {
        let (left, right) = operands;
        match (self.small(left), self.small(right)) {
            (_, Some(small)) => {
                let left = self.operand(emitter, left)?;
                self.mark(emitter, right);
                self.compared(emitter, id);
                emitter.compare_jump(
                    choose(comparison.small_right, sense),
                    (left, small as u16),
                    AS_WRITTEN,
                    target,
                );
            }
            (Some(small), None) => {
                self.mark(emitter, left);
                let right = self.operand(emitter, right)?;
                self.compared(emitter, id);
                emitter.compare_jump(
                    choose(comparison.small_left, sense),
                    (right, small as u16),
                    EXCHANGED,
                    target,
                );
            }
            (None, None) => {
                let left = self.operand(emitter, left)?;
                let right = self.operand(emitter, right)?;
                let (operands, spelling) = if comparison.is_swapped {
                    ((right, left), EXCHANGED)
                } else {
                    ((left, right), AS_WRITTEN)
                };
                self.compared(emitter, id);
                emitter.compare_jump(choose(comparison.registers, sense), operands, spelling, target);
            }
        }
        Ok(())
    }
}

/// Returns the jump that is taken when the test's truth is `sense`, then its opposite.
fn choose(jumps: Jumps, sense: bool) -> Jumps {
    if sense { jumps } else { (jumps.1, jumps.0) }
}
