//! Generates code for calls.
//!
//! Arguments are evaluated left to right, straight into the callee's frame.
//! INVARIANT: a call's window is above all live registers.
//! It does not know which primitives have instructions.
//! Read next: `compiler/inline.rs`.

use crate::core::{Core, CoreId, GlobalId, INTERACTION};
use crate::datum::Name;
use crate::instruction::{Instruction, Opcode};

use super::analysis::fixed_arity_clause;
use super::emitter::{Emitter, LoopState, OwnName, Register};
use super::expression::Context;
use super::variables::Held;
use super::{CompileError, Compiler, PrimitiveKind};

/// Calls with more arguments pass them as a list.
const ARGUMENTS_MAX: usize = 250;

/// The library of the procedures that raise objects and never return.
const RAISING_LIBRARY: &str = "(duet internal control)";
/// These procedures.
const RAISING: [&str; 2] = ["error", "raise"];
/// How the names of the libraries begin that Duet brings.
const STANDARD: [&str; 3] = ["(duet ", "(scheme ", "(srfi "];

/// The source of a call's procedure.
#[derive(Clone, Copy)]
enum Callee {
    /// The procedure is in the window.
    Window,
    /// The procedure is a global.
    Global(u32),
    /// The procedure is the running one.
    Own,
}

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        procedure: CoreId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let unit = self.unit;
        let operator = &unit.nodes[procedure.0 as usize];
        self.mark(emitter, procedure);
        if let Core::Local(variable) = operator
            && self.analysis.loop_of(*variable).is_some()
        {
            return self.loop_call(emitter, id, *variable, arguments, context);
        }
        if self.is_own(emitter, operator, arguments.len()) {
            return self.own_call(emitter, id, arguments, context);
        }
        if let Some(clause) = fixed_arity_clause(unit, procedure)
            && self.lambda(clause).parameters.len() == arguments.len()
        {
            let lambda = self.lambda(clause);
            let bindings: Vec<_> = lambda
                .parameters
                .iter()
                .copied()
                .zip(arguments.iter().copied())
                .collect();
            let body = lambda.body;
            return self.local_bindings(emitter, &bindings, body, context);
        }
        if arguments.len() > ARGUMENTS_MAX {
            return self.long_call(emitter, id, procedure, arguments, context);
        }
        if let Core::Primitive(name) = operator {
            return self.primitive_call(emitter, id, procedure, name, arguments, context);
        }
        let callee = if let Core::Global(global) = operator
            && !(emitter.is_body && self.may_be_undefined(*global))
        {
            Callee::Global(global.0)
        } else {
            Callee::Window
        };
        self.window_call(emitter, id, callee, procedure, arguments, context)
    }

    /// Returns whether nothing in the program or its libraries defines a global. In the unit's body
    /// such an operator is evaluated before the operands, so that a misspelt name is the error, and
    /// not what its operands do.
    fn may_be_undefined(&self, global: GlobalId) -> bool {
        self.unit.globals[global.0 as usize].name.library.as_str() == INTERACTION
    }

    /// Returns whether the operator always holds the running procedure, and that takes this many
    /// arguments.
    fn is_own(&self, emitter: &Emitter, operator: &Core, arguments: usize) -> bool {
        emitter.own.is_some_and(|own| {
            own.arity == Some(arguments)
                && match own.name {
                    OwnName::Variable(variable) => *operator == Core::Local(variable),
                    OwnName::Global(global) => *operator == Core::Global(GlobalId(global)),
                }
        })
    }

    fn own_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        if context != Context::Tail {
            return self.window_call(emitter, id, Callee::Own, id, arguments, context);
        }
        let mark = emitter.next();
        let parameters = (1..=arguments.len() as Register).collect();
        let state = LoopState {
            parameters,
            label: None,
            base: 0,
        };
        self.loop_arguments(emitter, &state, arguments)?;
        emitter.at(self.place(id));
        let distance = emitter.distance_to_start();
        emitter.aw(Opcode::Loop, 0, distance);
        emitter.release_to(mark);
        Ok(())
    }

    fn window_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        callee: Callee,
        procedure: CoreId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let window = emitter.take_many(2)?;
        if let Callee::Window = callee {
            self.expression_at(emitter, procedure, window + 1)?;
        }
        for argument in arguments {
            let register = emitter.take()?;
            self.expression_at(emitter, *argument, register)?;
        }
        emitter.at(self.place(id));
        emitter.note_call(id);
        self.emit_call(emitter, callee, window, arguments.len() as u8, context);
        emitter.release_to(mark);
        Ok(())
    }

    /// Evaluates into the register that was taken last.
    pub(super) fn expression_at(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        register: Register,
    ) -> Result<(), CompileError> {
        emitter.release_to(register);
        self.expression(emitter, id, Context::Register(register))?;
        emitter.take()?;
        emitter.hold(Held::Value(id), register);
        Ok(())
    }

    fn emit_call(&mut self, emitter: &mut Emitter, callee: Callee, window: Register, count: u8, context: Context) {
        // A call that never returns keeps its frame, which shows its place in the text.
        let is_lasting = matches!(callee, Callee::Global(global) if self.never_returns(global));
        let is_tail = context == Context::Tail && !is_lasting;
        let instruction = match (callee, is_tail) {
            (Callee::Window, false) => Instruction::daw(Opcode::Call, count, window, 0),
            (Callee::Window, true) => Instruction::daw(Opcode::TailCall, count, window, 0),
            (Callee::Global(global), false) => Instruction::daw(Opcode::CallGlobal, count, window, global),
            (Callee::Global(global), true) => Instruction::daw(Opcode::TailCallGlobal, count, window, global),
            (Callee::Own, _) => Instruction::daw(Opcode::CallSelf, count, window, emitter.distance_to_start()),
        };
        emitter.emit(instruction);
        match context {
            Context::Register(target) => emitter.move_to(target, window),
            Context::Tail if is_lasting => emitter.abc(Opcode::Return, window, 0, 0),
            Context::Tail | Context::Effect => {}
        }
    }

    /// Says whether a program calls this global procedure only to raise an object. The libraries
    /// that Duet brings make tail calls of these too, because their frames mean nothing to a
    /// program's author.
    fn never_returns(&self, global: u32) -> bool {
        let called = self.unit.globals.get(global as usize).map(|global| &global.name);
        let raises = called.is_some_and(|called| {
            called.library.as_str() == RAISING_LIBRARY && RAISING.contains(&called.name.as_str())
        });
        let own = self.unit.name.as_str();
        raises && !STANDARD.iter().any(|prefix| own.starts_with(prefix))
    }

    /// Generates a call with more arguments than a window holds; they are passed as a list: `(apply
    /// procedure list)`.
    fn long_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        procedure: CoreId,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        let mark = emitter.next();
        let window = emitter.take_many(2)?;
        let operator = emitter.take()?;
        self.expression_at(emitter, procedure, operator)?;
        let list = emitter.take()?;
        for argument in arguments {
            let register = emitter.take()?;
            self.expression_at(emitter, *argument, register)?;
        }
        emitter.at(self.place(id));
        super::expression::emit_immediate(emitter, crate::value::Value::NIL, list);
        for index in (0..arguments.len()).rev() {
            emitter.abc(Opcode::Cons, list, list + 1 + index as Register, list);
        }
        let apply = self.known_primitive(&Name("apply".into()))?;
        let class = crate::value::Immediate::Primitive as u8;
        emitter.emit(Instruction::daw(Opcode::Immediate, class, window + 1, apply));
        emitter.note_call(id);
        self.emit_call(emitter, Callee::Window, window, 2, context);
        emitter.release_to(mark);
        Ok(())
    }

    fn primitive_call(
        &mut self,
        emitter: &mut Emitter,
        id: CoreId,
        procedure: CoreId,
        name: &Name,
        arguments: &[CoreId],
        context: Context,
    ) -> Result<(), CompileError> {
        if self.inline_call(emitter, id, name, arguments, context)? {
            return Ok(());
        }
        let kind = self
            .primitives
            .kind(&name.0)
            .ok_or_else(|| CompileError::UnknownPrimitive(name.clone()))?;
        let is_direct = match kind {
            PrimitiveKind::Function { least, most } => {
                arguments.len() >= usize::from(least) && most.is_none_or(|most| arguments.len() <= usize::from(most))
            }
            PrimitiveKind::Procedure => false,
        };
        if !is_direct {
            return self.window_call(emitter, id, Callee::Window, procedure, arguments, context);
        }
        let number = self.known_primitive(name)?;
        let place = self.place(id);
        self.effectful(emitter, context, |compiler, emitter, target| {
            let first = emitter.next();
            for argument in arguments {
                let register = emitter.take()?;
                compiler.expression_at(emitter, *argument, register)?;
            }
            if arguments.is_empty() {
                emitter.take()?;
            }
            emitter.at(place);
            emitter.emit(Instruction::daw(
                Opcode::CallPrimitive,
                arguments.len() as u8,
                first,
                number,
            ));
            emitter.move_to(target, first);
            Ok(())
        })
    }

    /// Returns the unit's number for a primitive that exists.
    pub(super) fn known_primitive(&mut self, name: &Name) -> Result<u32, CompileError> {
        if self.primitives.kind(&name.0).is_none() {
            return Err(CompileError::UnknownPrimitive(name.clone()));
        }
        Ok(self.primitive_number(name))
    }
}
