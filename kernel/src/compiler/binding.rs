//! Generates code for `Let`, `Letrec` and loops.
//!
//! INVARIANT: the registers of bindings are free again after the form.
//! It does not decide which bindings are loops (`compiler/analysis.rs`).
//! Read next: `compiler/call.rs`.

use crate::core::{Core, CoreId, VariableId};
use crate::instruction::Opcode;
use crate::value::Value;

use super::analysis::BindingStep;
use super::emitter::{Emitter, Location, LoopState, OwnName, Register};
use super::expression::{Context, emit_immediate};
use super::variables::Held;
use super::{CompileError, Compiler};

impl Compiler<'_> {
    /// Returns whether the variable's home holds a cell instead of its value.
    pub(super) fn is_boxed(&self, variable: VariableId) -> bool {
        self.unit.variables[variable.0 as usize].is_assigned || self.analysis.is_checked(variable)
    }

    /// Returns whether the variable may be read before it has its value.
    pub(super) fn is_checked(&self, variable: VariableId) -> bool {
        self.analysis.is_checked(variable)
    }

    pub(super) fn local_bindings(
        &mut self,
        emitter: &mut Emitter,
        bindings: &[(VariableId, CoreId)],
        body: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let first = mark;
        for (_, initialiser) in bindings {
            let register = emitter.next();
            self.expression(emitter, *initialiser, Context::Register(register))?;
            emitter.take()?;
            emitter.hold(Held::Value(*initialiser), register);
        }
        for (index, (variable, _)) in bindings.iter().enumerate() {
            self.bind(emitter, *variable, first + index as Register);
        }
        self.body(emitter, body, context, mark)
    }

    /// Generates a body whose bindings start at register `mark`, which is free again afterwards.
    fn body(
        &mut self,
        emitter: &mut Emitter,
        body: CoreId,
        context: Context,
        mark: Register,
    ) -> Result<(), CompileError> {
        match context {
            // The target may be the register of the first binding, which is live until the end: use
            // a fresh register and move.
            Context::Register(target) if target == mark && emitter.next() != mark => {
                let result = emitter.next();
                self.expression(emitter, body, Context::Register(result))?;
                emitter.move_to(target, result);
            }
            Context::Register(_) | Context::Effect | Context::Tail => self.expression(emitter, body, context)?,
        }
        emitter.release_to(mark);
        Ok(())
    }

    pub(super) fn recursive_bindings(
        &mut self,
        emitter: &mut Emitter,
        bindings: &[(VariableId, CoreId)],
        body: CoreId,
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let plan = self.analysis.plan_of(body);
        self.checked_cells(emitter, bindings)?;
        for step in plan {
            match step {
                BindingStep::Closures(positions) => self.closures(emitter, bindings, positions)?,
                BindingStep::Value(position) => {
                    let (variable, initialiser) = bindings[*position];
                    self.initialise(emitter, variable, initialiser)?;
                }
            }
        }
        for (variable, initialiser) in bindings {
            if let Some(lambda) = self.analysis.loop_of(*variable) {
                self.mark(emitter, *initialiser);
                let count = self.lambda(lambda).parameters.len();
                let first = emitter.take_many(count)?;
                let parameters = (0..count).map(|index| first + index as Register).collect();
                emitter.loops.insert(
                    *variable,
                    LoopState {
                        parameters,
                        label: None,
                        base: 0,
                    },
                );
            }
        }
        let base = emitter.next();
        for (variable, _) in bindings {
            if let Some(state) = emitter.loops.get_mut(variable).filter(|state| state.label.is_none()) {
                state.base = base;
            }
        }
        self.body(emitter, body, context, mark)
    }

    /// Gives the variables that may be read too early a cell with the undefined marker.
    fn checked_cells(&mut self, emitter: &mut Emitter, bindings: &[(VariableId, CoreId)]) -> Result<(), CompileError> {
        for (variable, _) in bindings {
            if self.is_checked(*variable) {
                let register = emitter.take()?;
                emit_immediate(emitter, Value::UNDEFINED, register);
                emitter.abc(Opcode::Cell, register, register, 0);
                emitter.settle(*variable, Location::Register(register));
            }
        }
        Ok(())
    }

    fn initialise(
        &mut self,
        emitter: &mut Emitter,
        variable: VariableId,
        initialiser: CoreId,
    ) -> Result<(), CompileError> {
        if self.is_checked(variable) {
            let mark = emitter.next();
            let source = self.operand(emitter, initialiser)?;
            self.write_cell(emitter, variable, source)?;
            emitter.release_to(mark);
        } else {
            let register = emitter.next();
            self.expression(emitter, initialiser, Context::Register(register))?;
            emitter.take()?;
            self.bind(emitter, variable, register);
        }
        Ok(())
    }

    /// Makes closures that may refer to each other: first each with the captures that exist, then
    /// the references to later ones.
    fn closures(
        &mut self,
        emitter: &mut Emitter,
        bindings: &[(VariableId, CoreId)],
        positions: &[usize],
    ) -> Result<(), CompileError> {
        let unit = self.unit;
        let mut patches = Vec::new();
        for position in positions {
            let (variable, initialiser) = bindings[*position];
            let Core::Lambda(clauses) = &unit.nodes[initialiser.0 as usize] else {
                continue;
            };
            self.mark(emitter, initialiser);
            let target = emitter.take()?;
            let own = Some(OwnName::Variable(variable));
            let missing = self.closure(emitter, initialiser, clauses, own, target)?;
            emitter.settle(variable, Location::Register(target));
            patches.extend(missing.into_iter().map(|(index, captured)| (target, index, captured)));
        }
        for (closure, index, captured) in patches {
            let mark = emitter.next();
            let source = emitter.take()?;
            self.read_location(emitter, captured, source);
            emitter.abc(Opcode::PatchClosure, closure, index, source);
            emitter.release_to(mark);
        }
        Ok(())
    }

    /// Generates a call of a loop: its arguments go to its parameters, and control jumps to its
    /// body, which is generated here at the first call.
    pub(super) fn loop_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        variable: VariableId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let Some(state) = emitter.loops.get(&variable).cloned() else {
            unreachable!("a loop is called inside its own form only")
        };
        let mark = emitter.next();
        self.loop_arguments(emitter, &state, arguments)?;
        if let Some(label) = state.label {
            emitter.jump(Opcode::Loop, 0, label);
            emitter.release_to(mark);
            return Ok(());
        }
        // The first call of a loop counts as the others do, and as it would if it were none.
        emitter.at(self.place(id));
        emitter.abc(Opcode::CountCall, 0, 0, 0);
        let label = emitter.new_label();
        emitter.place(label);
        emitter
            .loops
            .entry(variable)
            .and_modify(|state| state.label = Some(label));
        let Some(lambda) = self.analysis.loop_of(variable) else {
            unreachable!("only loops have a loop state")
        };
        let lambda = self.lambda(lambda);
        let (body, parameters) = (lambda.body, lambda.parameters.clone());
        emitter.release_to(state.base);
        for (parameter, register) in parameters.iter().zip(&state.parameters) {
            self.bind(emitter, *parameter, *register);
        }
        self.expression(emitter, body, context)?;
        emitter.release_to(mark);
        Ok(())
    }

    /// Evaluates a loop's arguments into its parameters, by way of temporaries where a later
    /// argument still reads a parameter.
    pub(super) fn loop_arguments(
        &mut self,
        emitter: &mut Emitter,
        state: &LoopState,
        arguments: &[CoreId],
    ) -> Result<(), CompileError> {
        let mut sources = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let target = state.parameters[index];
            if self.is_register(emitter, *argument, target) {
                self.mark(emitter, *argument);
                sources.push(target);
            } else if index + 1 == arguments.len() && !sources.contains(&target) {
                self.expression(emitter, *argument, Context::Register(target))?;
                sources.push(target);
            } else {
                let temporary = emitter.next();
                self.expression(emitter, *argument, Context::Register(temporary))?;
                emitter.take()?;
                emitter.hold(Held::Value(*argument), temporary);
                sources.push(temporary);
            }
        }
        for (target, source) in state.parameters.iter().zip(sources) {
            emitter.move_to(*target, source);
        }
        Ok(())
    }

    fn is_register(&self, emitter: &Emitter, argument: CoreId, register: Register) -> bool {
        let node = self.node(argument);
        matches!(node, Core::Local(variable) if self.plain_register(emitter, *variable) == Some(register))
    }
}
