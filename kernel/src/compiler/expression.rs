//! Generates code for an expression into a context: a register, nowhere, or the procedure's result.
//!
//! INVARIANT: code for [`Context::Register`] writes its target last, unless the target is the first
//! free register; so a target may be a live variable that the expression reads.
//! It does not know single primitives.
//! Read next: `compiler/call.rs`, `compiler/binding.rs`, `compiler/test.rs`.

use crate::core::{Core, CoreId, LambdaId, VariableId};
use crate::datum::{Datum, Node, Span};
use crate::instruction::{Instruction, Opcode};
use crate::number::Number;
use crate::unit::{EXACT_ARITY_MAX, Mark};
use crate::value::{Immediate, Value};

use super::emitter::{Emitter, Location, Origin, OwnName, OwnProcedure, Register};
use super::variables::{Held, ValuePlace};
use super::{CompileError, Compiler};

/// The destination of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// The value goes to a register, and control continues after the expression.
    Register(Register),
    /// The value is dropped.
    Effect,
    /// The procedure returns the value; control does not continue.
    Tail,
}

impl Compiler<'_> {
    pub(super) fn expression(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        self.nested(|compiler| compiler.expression_here(emitter, id, context))
    }

    fn expression_here(&mut self, emitter: &mut Emitter, id: CoreId, context: Context) -> Result<(), CompileError> {
        let unit = self.unit;
        self.mark(emitter, id);
        emitter.note_value(ValuePlace {
            span: unit.spans[id.0 as usize],
            is_truth: false,
        });
        match &unit.nodes[id.0 as usize] {
            Core::Constant(datum) => self.simple(emitter, context, |compiler, emitter, target| {
                compiler.literal(emitter, id, datum, target);
                Ok(())
            }),
            Core::Unspecified => self.unspecified(emitter, context),
            Core::CountCall => {
                emitter.at(self.place(id));
                emitter.abc(Opcode::CountCall, 0, 0, 0);
                self.unspecified(emitter, context)
            }
            Core::Local(variable) => self.variable(emitter, *variable, context),
            Core::Primitive(name) => {
                let number = self.known_primitive(name)?;
                self.simple(emitter, context, |_, emitter, target| {
                    let class = Immediate::Primitive as u8;
                    emitter.emit(Instruction::daw(Opcode::Immediate, class, target, number));
                    Ok(())
                })
            }
            Core::Global(global) => self.global(emitter, id, global.0, context),
            Core::SetLocal(variable, value) => {
                self.assignment(emitter, id, *variable, *value)?;
                self.unspecified(emitter, context)
            }
            Core::SetGlobal(global, value) => {
                let mark = emitter.next();
                let source = self.operand(emitter, *value)?;
                emitter.at(self.place(id));
                emitter.aw(Opcode::SetGlobal, source, global.0);
                emitter.release_to(mark);
                self.unspecified(emitter, context)
            }
            Core::DefineGlobal(global, value) => self.definition(emitter, id, global.0, *value, context),
            Core::If {
                test,
                consequent,
                alternative,
            } => self.conditional(emitter, *test, *consequent, *alternative, context),
            Core::Lambda(clauses) => self.simple(emitter, context, |compiler, emitter, target| {
                compiler.closure(emitter, id, clauses, None, target).map(|_| ())
            }),
            Core::Sequence(forms) => self.sequence(emitter, forms, context),
            Core::Let { bindings, body } => match self.as_disjunction(bindings, *body) {
                Some((first, second)) if self.is_boolean(first) => {
                    self.boolean_disjunction(emitter, first, second, context)
                }
                disjunction => {
                    if let (Some((first, _)), [(variable, _)]) = (disjunction, bindings.as_slice()) {
                        self.firsts.insert(*variable, first);
                    }
                    self.local_bindings(emitter, bindings, *body, context)
                }
            },
            Core::Letrec { bindings, body } => self.recursive_bindings(emitter, bindings, *body, context),
            Core::Call { procedure, arguments } => self.call(emitter, id, *procedure, arguments, context),
        }
    }

    /// Marks in a counted unit that an expression is evaluated here. A sequence has no code of its
    /// own, and often the place of a procedure.
    pub(super) fn mark(&self, emitter: &mut Emitter, id: CoreId) {
        if self.unit.is_counted && !matches!(self.node(id), Core::Sequence(_)) {
            emitter.mark(Mark::Expression, self.place(id));
        }
    }

    /// Marks in a counted unit that a clause of a procedure with several begins here.
    fn mark_clause(&self, emitter: &mut Emitter, span: Span) {
        if self.unit.is_counted {
            let integrated = None;
            emitter.mark(Mark::Expression, Origin { span, integrated });
        }
    }

    pub(super) fn place(&self, id: CoreId) -> Origin {
        Origin {
            span: self.unit.spans[id.0 as usize],
            integrated: self.unit.integrated_nodes.get(&id).copied(),
        }
    }

    /// Generates a value without side effects; runs `produce` only if the context uses the value.
    fn simple(
        &mut self,
        emitter: &mut Emitter,
        context: Context,
        produce: impl FnOnce(&mut Self, &mut Emitter, Register) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        match context {
            Context::Register(target) => produce(self, emitter, target),
            Context::Effect => Ok(()),
            Context::Tail => {
                let target = emitter.take()?;
                produce(self, emitter, target)?;
                emitter.abc(Opcode::Return, target, 0, 0);
                emitter.release_to(target);
                Ok(())
            }
        }
    }

    /// Generates a value with side effects: runs `produce` in every context. Its target may be the
    /// first free register, which then also serves as a temporary.
    pub(super) fn effectful(
        &mut self,
        emitter: &mut Emitter,
        context: Context,
        produce: impl FnOnce(&mut Self, &mut Emitter, Register) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let target = match context {
            Context::Register(target) => target,
            Context::Effect | Context::Tail => mark,
        };
        produce(self, emitter, target)?;
        if context == Context::Tail {
            emitter.abc(Opcode::Return, target, 0, 0);
        }
        emitter.release_to(mark);
        Ok(())
    }

    pub(super) fn unspecified(&mut self, emitter: &mut Emitter, context: Context) -> Result<(), CompileError> {
        self.simple(emitter, context, |_, emitter, target| {
            emit_immediate(emitter, Value::UNSPECIFIED, target);
            Ok(())
        })
    }

    fn literal(&mut self, emitter: &mut Emitter, id: CoreId, datum: &Datum, target: Register) {
        if let Some(value) = immediate_of(&datum.nodes[datum.root.0 as usize]) {
            emit_immediate(emitter, value, target);
            return;
        }
        if let Some(small) = small_of(datum) {
            emitter.aw(Opcode::Small, target, small as u32);
            return;
        }
        let number = self.literal_number(id, datum);
        emitter.aw(Opcode::Constant, target, number);
    }

    fn variable(&mut self, emitter: &mut Emitter, variable: VariableId, context: Context) -> Result<(), CompileError> {
        if let (Context::Tail, Some(register)) = (context, self.plain_register(emitter, variable)) {
            emitter.abc(Opcode::Return, register, 0, 0);
            return Ok(());
        }
        if context == Context::Effect && !self.is_checked(variable) {
            return Ok(());
        }
        self.effectful(emitter, context, |compiler, emitter, target| {
            compiler.read_variable(emitter, variable, target);
            Ok(())
        })
    }

    /// Returns the register that directly holds the variable's value, if one does.
    pub(super) fn plain_register(&self, emitter: &Emitter, variable: VariableId) -> Option<Register> {
        if emitter.own.is_some_and(|own| own.name == OwnName::Variable(variable)) {
            return Some(0);
        }
        match emitter.locations.get(&variable) {
            Some(Location::Register(register)) if !self.is_boxed(variable) => Some(*register),
            Some(_) | None => None,
        }
    }

    /// Emits code that puts the variable's value into `target`.
    fn read_variable(&mut self, emitter: &mut Emitter, variable: VariableId, target: Register) {
        self.read_location(emitter, variable, target);
        if self.is_boxed(variable) {
            emitter.abc(Opcode::CellRef, target, target, 0);
            if self.is_checked(variable) {
                let name = self.unit.variables[variable.0 as usize].name.clone();
                let number = self.constant_number(&Datum::symbol(name));
                emitter.aw(Opcode::CheckDefined, target, number);
            }
        }
    }

    /// Emits code that puts the variable's value, or its cell, into `target`.
    pub(super) fn read_location(&mut self, emitter: &mut Emitter, variable: VariableId, target: Register) {
        if emitter.own.is_some_and(|own| own.name == OwnName::Variable(variable)) {
            emitter.move_to(target, 0);
            return;
        }
        match emitter.locations.get(&variable) {
            Some(Location::Register(register)) => emitter.move_to(target, *register),
            Some(Location::Captured(index)) => emitter.abc(Opcode::Free, target, *index, 0),
            None => unreachable!("the expander resolves every variable to one in scope"),
        }
    }

    /// Returns a register that holds the value of `id`: the variable's own, or a new temporary.
    pub(super) fn operand(&mut self, emitter: &mut Emitter, id: CoreId) -> Result<Register, CompileError> {
        if let Core::Local(variable) = self.node(id)
            && let Some(register) = self.plain_register(emitter, *variable)
        {
            self.mark(emitter, id);
            return Ok(register);
        }
        let target = emitter.next();
        self.expression(emitter, id, Context::Register(target))?;
        emitter.take()?;
        emitter.hold(Held::Value(id), target);
        Ok(target)
    }

    fn assignment(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        variable: VariableId,
        value: CoreId,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let source = self.operand(emitter, value)?;
        emitter.at(self.place(id));
        self.write_cell(emitter, variable, source)?;
        emitter.release_to(mark);
        Ok(())
    }

    /// Writes `source` to the variable's cell.
    pub(super) fn write_cell(
        &mut self,
        emitter: &mut Emitter,
        variable: VariableId,
        source: Register,
    ) -> Result<(), CompileError> {
        let cell = match emitter.locations.get(&variable) {
            Some(Location::Register(register)) => *register,
            Some(Location::Captured(_)) | None => {
                let cell = emitter.take()?;
                self.read_location(emitter, variable, cell);
                cell
            }
        };
        emitter.abc(Opcode::CellSet, cell, source, 0);
        Ok(())
    }

    fn global(&mut self, emitter: &mut Emitter, id: CoreId, global: u32, context: Context) -> Result<(), CompileError> {
        if emitter.own.is_some_and(|own| own.name == OwnName::Global(global)) {
            return self.simple(emitter, context, |_, emitter, target| {
                emitter.move_to(target, 0);
                Ok(())
            });
        }
        let place = self.place(id);
        self.effectful(emitter, context, |_, emitter, target| {
            emitter.at(place);
            emitter.aw(Opcode::Global, target, global);
            Ok(())
        })
    }

    fn definition(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        global: u32,
        value: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let unit = self.unit;
        let is_constant = !unit.is_interactive && !unit.globals[global as usize].is_assigned;
        let source = if let (Core::Lambda(clauses), true) = (&unit.nodes[value.0 as usize], is_constant) {
            self.mark(emitter, value);
            let target = emitter.take()?;
            self.closure(emitter, value, clauses, Some(OwnName::Global(global)), target)?;
            target
        } else {
            self.operand(emitter, value)?
        };
        emitter.at(self.place(id));
        emitter.aw(Opcode::DefineGlobal, source, global);
        emitter.release_to(mark);
        self.unspecified(emitter, context)
    }

    fn conditional(
        &mut self,
        emitter: &mut Emitter,
        test: CoreId,
        consequent: CoreId,
        alternative: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        let otherwise = emitter.new_label();
        let done = emitter.new_label();
        self.test(emitter, test, otherwise, false)?;
        self.expression(emitter, consequent, context)?;
        if context != Context::Tail {
            emitter.jump(Opcode::Jump, 0, done);
        }
        emitter.place(otherwise);
        self.expression(emitter, alternative, context)?;
        emitter.place(done);
        Ok(())
    }

    pub(super) fn sequence(
        &mut self,
        emitter: &mut Emitter,
        forms: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let Some((last, before)) = forms.split_last() else {
            return self.unspecified(emitter, context);
        };
        for form in before {
            self.expression(emitter, *form, Context::Effect)?;
        }
        self.expression(emitter, *last, context)
    }

    /// Emits code that makes a closure of the procedure expression `id` in `target`; `own` names
    /// the variable that always holds it. Returns the captured variables that have no home yet
    /// (later procedures of the same `letrec`), which the caller must patch.
    pub(super) fn closure(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        clauses: &[LambdaId],
        own: Option<OwnName>,
        target: Register,
    ) -> Result<Vec<(u16, VariableId)>, CompileError> {
        let is_own = |variable: &VariableId| own == Some(OwnName::Variable(*variable));
        let captured: Vec<VariableId> = self
            .analysis
            .free_of(id)
            .iter()
            .copied()
            .filter(|variable| !is_own(variable))
            .collect();
        let number = self.procedure(id, clauses, &captured, own)?;
        let mark = emitter.next();
        let first = emitter.take_many(captured.len().max(1))?;
        let mut missing = Vec::new();
        for (index, variable) in captured.into_iter().enumerate() {
            let has_home = emitter.locations.contains_key(&variable)
                || emitter.own.is_some_and(|own| own.name == OwnName::Variable(variable));
            if has_home {
                self.read_location(emitter, variable, first + index as Register);
            } else {
                missing.push((index as u16, variable));
            }
        }
        emitter.aw(Opcode::Closure, first, number);
        emitter.move_to(target, first);
        emitter.release_to(mark);
        Ok(missing)
    }

    /// Generates a procedure's block.
    fn procedure(
        &mut self,
        id: CoreId,
        clauses: &[LambdaId],
        captured: &[VariableId],
        own: Option<OwnName>,
    ) -> Result<u32, CompileError> {
        let name = clauses.first().and_then(|clause| self.lambda(*clause).name.clone());
        let exact = self.exact_arity(clauses);
        let arity = exact
            .and_then(|count| u8::try_from(count).ok())
            .filter(|count| usize::from(*count) <= EXACT_ARITY_MAX);
        let clauses = clauses.to_vec();
        self.block(name, arity, captured.len(), |compiler, emitter| {
            emitter.note_procedure(id);
            for (index, variable) in captured.iter().enumerate() {
                let index = u16::try_from(index).map_err(|_| CompileError::TooManyCaptured)?;
                emitter.settle(*variable, Location::Captured(index));
            }
            emitter.own = own.map(|name| OwnProcedure {
                name,
                arity: arity.and(exact),
            });
            match (arity, clauses.as_slice()) {
                (Some(_), [clause]) => compiler.clause(emitter, *clause),
                _ => compiler.clauses(emitter, &clauses),
            }
        })
    }

    fn exact_arity(&self, clauses: &[LambdaId]) -> Option<usize> {
        match clauses {
            [clause] if self.lambda(*clause).rest.is_none() => Some(self.lambda(*clause).parameters.len()),
            _ => None,
        }
    }

    fn clauses(&mut self, emitter: &mut Emitter, clauses: &[LambdaId]) -> Result<(), CompileError> {
        for clause in clauses {
            let lambda = self.lambda(*clause);
            let (required, has_rest) = (lambda.parameters.len() as Register, lambda.rest.is_some());
            let next = emitter.new_label();
            emitter.at(Origin {
                span: lambda.span,
                integrated: None,
            });
            if clauses.len() > 1 {
                emitter.jump_clause(Opcode::ArityClause, has_rest.into(), required, next);
                self.mark_clause(emitter, lambda.span);
            }
            if has_rest {
                emitter.abc(Opcode::ArityRest, required, 0, 0);
            } else if clauses.len() == 1 {
                emitter.abc(Opcode::ArityExact, required, 0, 0);
            }
            self.clause(emitter, *clause)?;
            emitter.release_to(1);
            emitter.place(next);
        }
        if clauses.len() != 1 {
            emitter.abc(Opcode::ArityFail, 0, 0, 0);
        }
        Ok(())
    }

    /// Generates a clause's body; its arguments are in their registers.
    fn clause(&mut self, emitter: &mut Emitter, clause: LambdaId) -> Result<(), CompileError> {
        let unit = self.unit;
        let lambda = &unit.lambdas[clause.0 as usize];
        for parameter in lambda.parameters.iter().chain(&lambda.rest) {
            let register = emitter.take()?;
            self.bind(emitter, *parameter, register);
        }
        self.expression(emitter, lambda.body, Context::Tail)
    }

    /// Makes `register` the home of `variable`; it holds the value.
    pub(super) fn bind(&mut self, emitter: &mut Emitter, variable: VariableId, register: Register) {
        if self.is_boxed(variable) {
            emitter.abc(Opcode::Cell, register, register, 0);
        }
        emitter.settle(variable, Location::Register(register));
    }
}

/// Returns the word of a literal, if it is the same in every heap and fits an instruction.
pub(super) fn immediate_of(node: &Node) -> Option<Value> {
    match node {
        Node::Nil => Some(Value::NIL),
        Node::Boolean(truth) => Some(Value::boolean(*truth)),
        Node::Character(character) => Some(Value::character(*character)),
        Node::Number(_)
        | Node::Complex(_)
        | Node::String(_)
        | Node::Symbol(_)
        | Node::Keyword(_)
        | Node::Bytevector(_)
        | Node::Pair(..)
        | Node::Vector(_) => None,
    }
}

/// Returns the word of a literal that is the same in every heap.
pub(crate) fn literal_word(datum: &Datum) -> Option<Value> {
    let small = || small_of(datum).and_then(|small| Value::fixnum(small.into()));
    immediate_of(&datum.nodes[datum.root.0 as usize]).or_else(small)
}

/// Returns the literal's value, if it is a fixnum of 32 bits.
pub(super) fn small_of(datum: &Datum) -> Option<i32> {
    let Node::Number(Number::Fixnum(integer)) = &datum.nodes[datum.root.0 as usize] else {
        return None;
    };
    i32::try_from(*integer).ok()
}

pub(super) fn emit_immediate(emitter: &mut Emitter, value: Value, target: Register) {
    let class = value.to_bits() as u8;
    emitter.emit(Instruction::daw(Opcode::Immediate, class, target, value.payload()));
}
