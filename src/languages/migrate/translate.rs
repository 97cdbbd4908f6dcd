//! The translation of states, functions and instructions.
//!
//! A state becomes a procedure of no arguments. Its last expression calls the state that follows,
//! so `goto` is a tail call, and what comes after a branch that may leave the state is a procedure
//! that the other arms call. A function from which a state can be left takes what follows its call
//! as one more argument, `next`.
//! INVARIANT: translated code runs the instructions of a state in their order, and nothing after an
//! instruction that leaves it.
//! It does not lay out the code; `code.rs` does. Read next: `action.rs`.
//!
//! Source: the older workflow language, "State body" and "Behaviour".

use std::collections::BTreeSet;
use std::ops::Range;

use super::code::Code;
use super::definition::Definition;
use super::error::{MigrationError, MigrationFault};
use super::program::{Function, Program, malformed};
use super::reader::Form;

/// A translation in progress.
pub(super) struct Translator<'a> {
    pub(super) program: &'a Program<'a>,
    /// Whether old quirks stay.
    pub(super) is_faithful: bool,
    /// The definitions that the code needs.
    pub(super) needed: BTreeSet<Definition>,
    /// Places where the code does something else than the workflow did, with the difference.
    pub(super) warnings: Vec<(Range<usize>, String)>,
    /// The functions from which a state can be left.
    leaving: BTreeSet<&'a str>,
    /// Whether an instruction reads the result of the last wait.
    remembers_waits: bool,
    /// Whether the workflow retracts values.
    pub(super) retracts: bool,
}

/// The names that an instruction sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope<'a> {
    /// The variables.
    pub(super) variables: Vec<&'a str>,
    /// Whether the instruction stands in a function.
    pub(super) is_function: bool,
}

/// An instruction of a sequence.
#[derive(Clone, Copy)]
struct Instruction<'f, 'a> {
    /// The sequence.
    forms: &'f [&'a Form],
    /// Its place there.
    at: usize,
}

impl<'f, 'a> Instruction<'f, 'a> {
    fn form(self) -> &'a Form {
        self.forms[self.at]
    }

    /// The instruction before it.
    fn before(self) -> Option<&'a Form> {
        self.forms[..self.at].last().copied()
    }

    /// The instructions after it.
    fn rest(self) -> &'f [&'a Form] {
        &self.forms[self.at + 1..]
    }
}

/// Prefixes of names keep the names of a workflow apart from those of the libraries.
fn state_name(name: &str) -> String {
    format!("state:{name}")
}

fn function_name(name: &str) -> String {
    format!("fn:{name}")
}

impl<'a> Translator<'a> {
    pub(super) fn new(program: &'a Program<'a>, is_faithful: bool) -> Self {
        let in_functions = || program.functions.iter().flat_map(|function| &function.body);
        let mut all = program
            .states
            .iter()
            .flat_map(|state| &state.body)
            .chain(in_functions());
        let mut translator = Self {
            remembers_waits: in_functions().any(|form| mentions(form, &["last-wait", "last-wait-field"])),
            retracts: all.any(|form| mentions(form, &["retract"])),
            program,
            is_faithful,
            needed: BTreeSet::new(),
            warnings: Vec::new(),
            leaving: BTreeSet::new(),
        };
        // A function that calls a leaving function leaves too.
        loop {
            let found = program.functions.iter().filter(|function| {
                !translator.leaving.contains(function.name) && function.body.iter().any(|form| translator.leaves(form))
            });
            let found: Vec<&str> = found.map(|function| function.name).collect();
            if found.is_empty() {
                return translator;
            }
            translator.leaving.extend(found);
        }
    }

    /// Translates all functions and states; the last expression starts the first state.
    pub(super) fn definitions(&mut self) -> Result<Vec<Code>, MigrationError> {
        let program = self.program;
        let mut definitions = Vec::new();
        for function in &program.functions {
            let scope = Scope {
                variables: function.parameters.clone(),
                is_function: true,
            };
            let is_leaving = self.leaving.contains(function.name);
            let next = is_leaving.then(|| Code::call("next", []));
            let body = self.sequence(&function.body, next, &scope)?;
            let parameters = function.parameters.iter().map(|name| variable(name));
            let parameters = parameters.chain(is_leaving.then(|| Code::name("next")));
            let head = Code::call(&function_name(function.name), parameters);
            definitions.push(Code::call("define", [head].into_iter().chain(body)));
        }
        let is_minimal = self.is_minimal();
        for (place, state) in program.states.iter().enumerate() {
            if is_minimal {
                state.body.iter().try_for_each(|form| self.check_minimal(form))?;
            }
            let following = program.states.get(place + 1);
            let next = following.map(|following| Code::call(&state_name(following.name), []));
            let body = self.sequence(&state.body, next, &Scope::default())?;
            let head = Code::call(&state_name(state.name), []);
            definitions.push(Code::call("define", [head].into_iter().chain(body)));
        }
        if let Some(first) = program.states.first() {
            definitions.push(Code::call(&state_name(first.name), []));
        }
        Ok(definitions)
    }

    /// Whether the workflow is in the dialect of `emit` and `transition`.
    fn is_minimal(&self) -> bool {
        let mut commands = self.program.states.iter().flat_map(|state| &state.body);
        commands.any(|form| matches!(form.headed(), Some(("emit" | "transition", _))))
    }

    fn check_minimal(&self, form: &Form) -> Result<(), MigrationError> {
        match form.headed() {
            Some(("emit" | "await" | "transition" | "terminal", _)) => Ok(()),
            Some((name, _)) => Err(form.fault(MigrationFault::MixedDialects { name: name.to_owned() })),
            None => Err(malformed(form, "a command")),
        }
    }

    fn function(&self, name: &str) -> Option<&'a Function<'a>> {
        self.program.functions.iter().find(|function| function.name == name)
    }

    /// Whether an instruction may leave its state, or never ends.
    fn leaves(&self, form: &Form) -> bool {
        let any = |forms: &[Form]| forms.iter().any(|form| self.leaves(form));
        match form.headed() {
            Some(("goto" | "transition" | "terminal" | "loop", _)) => true,
            Some(("branch", arms)) => arms.iter().any(|arm| arm.headed().is_some_and(|(_, parts)| any(parts))),
            Some(("let" | "let*", [_, body @ ..])) => any(body),
            Some((name, _)) => self.leaving.contains(name),
            None => false,
        }
    }

    /// Translates instructions; `next` is what follows the last of them.
    pub(super) fn sequence(
        &mut self,
        forms: &[&'a Form],
        next: Option<Code>,
        scope: &Scope<'a>,
    ) -> Result<Vec<Code>, MigrationError> {
        let mut code = Vec::new();
        for at in 0..forms.len() {
            let instruction = Instruction { forms, at };
            let form = instruction.form();
            let placed = |code: Code| Code::At(form.span.clone(), Box::new(code));
            if self.leaves(form) {
                code.extend(self.leave(instruction, next, scope)?.into_iter().map(placed));
                return Ok(code);
            }
            code.extend(self.instruction(instruction, scope)?.into_iter().map(placed));
        }
        code.extend(next);
        if code.is_empty() {
            code.push(Code::atom("#t"));
        }
        Ok(code)
    }

    /// Translates an instruction that may leave its state, with the instructions after it.
    fn leave(
        &mut self,
        instruction: Instruction<'_, 'a>,
        next: Option<Code>,
        scope: &Scope<'a>,
    ) -> Result<Vec<Code>, MigrationError> {
        let (form, rest) = (instruction.form(), instruction.rest());
        let (head, operands) = form.headed().ok_or_else(|| malformed(form, "an instruction"))?;
        if let ("goto" | "transition" | "terminal" | "loop", Some(unreached)) = (head, rest.first()) {
            let what = format!("nothing after `{head}` is ever reached");
            self.warnings.push((unreached.span.clone(), what));
        }
        match (head, operands) {
            ("terminal", []) => Ok(vec![Code::quoted("done")]),
            ("terminal", _) => Err(malformed(form, "(terminal)")),
            ("goto" | "transition", [state]) => Ok(vec![self.state(state)?]),
            ("goto" | "transition", _) => Err(malformed(form, "(goto STATE)")),
            ("loop", body) => {
                let body: Vec<&Form> = body.iter().collect();
                self.needed.insert(Definition::Rounds);
                let again = Code::atom("(again (+ round 1))");
                let mut code = vec![
                    Code::atom("again"),
                    Code::atom("((round 1))"),
                    Code::atom("(check-rounds round)"),
                ];
                code.extend(self.sequence(&body, Some(again), scope)?);
                Ok(vec![Code::call("let", code)])
            }
            ("branch", arms) => {
                let rest = self.sequence(rest, next, scope)?;
                join(rest, |next| self.branch(arms, instruction.before(), Some(next), scope))
            }
            ("let" | "let*", _) if scope.is_function => {
                let rest = self.sequence(rest, next, scope)?;
                join(rest, |next| self.binding(form, Some(next), scope))
            }
            // Only functions bind variables; outside of them the form is unknown.
            ("let" | "let*", _) => Ok(vec![self.action(form, scope)?]),
            (name, arguments) => {
                let mut call = self.arguments(form, name, arguments, scope)?;
                call.push(Code::thunk(self.sequence(rest, next, scope)?));
                Ok(vec![Code::call(&function_name(name), call)])
            }
        }
    }

    fn state(&self, form: &Form) -> Result<Code, MigrationError> {
        let name = form.symbol().ok_or_else(|| malformed(form, "the name of a state"))?;
        if self.program.states.iter().all(|state| state.name != name) {
            let name = name.to_owned();
            return Err(form.fault(MigrationFault::Undefined { sort: "state", name }));
        }
        Ok(Code::call(&state_name(name), []))
    }

    /// Translates an instruction that never leaves its state.
    fn instruction(
        &mut self,
        instruction: Instruction<'_, 'a>,
        scope: &Scope<'a>,
    ) -> Result<Vec<Code>, MigrationError> {
        let form = instruction.form();
        let (head, operands) = form.headed().ok_or_else(|| malformed(form, "an instruction"))?;
        match (head, operands) {
            ("enter" | "action" | "emit", actions) => {
                let actions = actions.iter().map(|action| self.action(action, scope));
                actions.collect()
            }
            ("await", [condition]) => {
                let (wait, condition) = self.condition(condition, scope)?;
                let wait = Code::call(wait, [condition]);
                Ok(vec![if self.remembers_waits {
                    self.needed.insert(Definition::LastWait);
                    Code::call("set!", [Code::name("last-wait"), wait])
                } else {
                    wait
                }])
            }
            ("await", _) => Err(malformed(form, "(await CONDITION)")),
            ("branch", arms) => Ok(vec![self.branch(arms, instruction.before(), None, scope)?]),
            ("let" | "let*", _) if scope.is_function => Ok(vec![self.binding(form, None, scope)?]),
            (name, arguments) if self.function(name).is_some() => {
                let arguments = self.arguments(form, name, arguments, scope)?;
                Ok(vec![Code::call(&function_name(name), arguments)])
            }
            _ => Ok(vec![self.action(form, scope)?]),
        }
    }

    fn arguments(
        &mut self,
        form: &Form,
        name: &str,
        arguments: &'a [Form],
        scope: &Scope<'a>,
    ) -> Result<Vec<Code>, MigrationError> {
        let expected = self.function(name).map_or(0, |function| function.parameters.len());
        if expected != arguments.len() {
            let name = name.to_owned();
            return Err(form.fault(MigrationFault::WrongArity { name, expected }));
        }
        arguments.iter().map(|argument| self.value(argument, scope)).collect()
    }

    /// Translates the arms of a branch; each ends with `next`.
    fn branch(
        &mut self,
        arms: &'a [Form],
        before: Option<&'a Form>,
        next: Option<Code>,
        scope: &Scope<'a>,
    ) -> Result<Code, MigrationError> {
        let mut clauses = Vec::new();
        let mut has_otherwise = false;
        for arm in arms {
            let (test, body) = match arm.headed() {
                Some(("when", [condition, body @ ..])) if !has_otherwise => {
                    (self.presence(condition, before, scope)?, body)
                }
                Some(("otherwise", body)) if !has_otherwise => {
                    has_otherwise = true;
                    (Code::atom("else"), body)
                }
                _ => {
                    return Err(malformed(
                        arm,
                        "(when CONDITION INSTRUCTION …), or (otherwise INSTRUCTION …) at the end",
                    ));
                }
            };
            let body: Vec<&Form> = body.iter().collect();
            let body = self.sequence(&body, next.clone(), scope)?;
            clauses.push(Code::List([test].into_iter().chain(body).collect()));
        }
        if let Some(next) = next.filter(|_| !has_otherwise) {
            clauses.push(Code::List(vec![Code::atom("else"), next]));
        }
        Ok(Code::call("cond", clauses))
    }

    /// Translates the question whether a condition holds at this moment.
    fn presence(
        &mut self,
        form: &'a Form,
        before: Option<&'a Form>,
        scope: &Scope<'a>,
    ) -> Result<Code, MigrationError> {
        let (_, condition) = self.condition(form, scope)?;
        let awaited = before.and_then(Form::headed).filter(|(head, _)| *head == "await");
        let awaited = awaited.and_then(|(_, operands)| operands.first());
        let is_awaited = match awaited {
            Some(awaited) => self.condition(awaited, scope)?.1 == condition,
            None => false,
        };
        if is_awaited && self.is_faithful {
            return Ok(Code::atom("#f"));
        }
        if is_awaited {
            let what = "the old interpreter never took this arm right after awaiting its condition; \
                        the translation asks whether the condition holds (`--faithful` never takes it)";
            self.warnings.push((form.span.clone(), what.to_owned()));
        }
        self.needed.insert(Definition::Present);
        Ok(Code::call("present?", [condition]))
    }

    /// Translates `(let ((NAME VALUE) …) INSTRUCTION …)` and `let*`.
    fn binding(&mut self, form: &'a Form, next: Option<Code>, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let grammar = "(let ((NAME VALUE) …) INSTRUCTION …)";
        let Some((head, [bindings, body @ ..])) = form.headed() else {
            return Err(malformed(form, grammar));
        };
        let mut inner = scope.clone();
        let mut bound = Vec::new();
        for binding in bindings.list().ok_or_else(|| malformed(bindings, grammar))? {
            let Some((name, [value])) = binding.headed() else {
                return Err(malformed(binding, "(NAME VALUE)"));
            };
            let value = self.value(value, if head == "let" { scope } else { &inner })?;
            bound.push(Code::List(vec![variable(name), value]));
            inner.variables.push(name);
        }
        let body: Vec<&Form> = body.iter().collect();
        let body = self.sequence(&body, next, &inner)?;
        Ok(Code::call(head, [Code::List(bound)].into_iter().chain(body)))
    }

    /// Translates a handler of an observation: a function without parameters, or an instruction.
    pub(super) fn handler(&mut self, form: &'a Form, scope: &Scope<'a>) -> Result<Vec<Code>, MigrationError> {
        let Some(name) = form.symbol() else {
            if self.leaves(form) {
                return Err(form.fault(MigrationFault::HandlerLeaves));
            }
            return self.instruction(Instruction { forms: &[form], at: 0 }, scope);
        };
        if self.function(name).is_none() {
            let name = name.to_owned();
            let sort = "function";
            return Err(form.fault(MigrationFault::Undefined { sort, name }));
        }
        if self.leaving.contains(name) {
            return Err(form.fault(MigrationFault::HandlerLeaves));
        }
        let arguments = self.arguments(form, name, &[], scope)?;
        Ok(vec![Code::call(&function_name(name), arguments)])
    }
}

/// Calls `branch` with what follows: `rest` itself if it is short, else a call of a procedure that
/// the code binds around it.
fn join(
    rest: Vec<Code>,
    branch: impl FnOnce(Code) -> Result<Code, MigrationError>,
) -> Result<Vec<Code>, MigrationError> {
    let is_short = |code: &Code| match code.bare() {
        Code::Atom(_) | Code::At(..) => true,
        Code::List(items) => items.len() == 1,
    };
    match &rest[..] {
        [] => Ok(vec![branch(Code::quoted("done"))?]),
        [only] if is_short(only) => Ok(vec![branch(only.clone())?]),
        _ => {
            let code = branch(Code::call("then", []))?;
            let then = Code::List(vec![Code::name("then"), Code::thunk(rest)]);
            Ok(vec![Code::call("let", [Code::List(vec![then]), code])])
        }
    }
}

/// Whether a list with one of these heads stands in a form.
fn mentions(form: &Form, heads: &[&str]) -> bool {
    let is_head = form.headed().is_some_and(|(head, _)| heads.contains(&head));
    is_head
        || form
            .list()
            .is_some_and(|items| items.iter().any(|item| mentions(item, heads)))
}

/// A variable. Names that translated code uses for something else get a prefix.
pub(super) fn variable(name: &str) -> Code {
    if RESERVED.contains(&name) || name.starts_with("v:") {
        Code::name(&format!("v:{name}"))
    } else {
        Code::name(name)
    }
}

/// The names that translated code uses inside functions.
const RESERVED: [&str; 48] = [
    "again",
    "assert!",
    "assert-value!",
    "attach-entity!",
    "await",
    "await-next",
    "check-rounds",
    "cond",
    "detach-entity!",
    "dictionary",
    "else",
    "event",
    "generate-request-id!",
    "if",
    "invoke-tool!",
    "lambda",
    "last-wait",
    "let",
    "let*",
    "list",
    "list-ref",
    "log!",
    "next",
    "on-assert",
    "pattern",
    "present?",
    "quote",
    "record",
    "record-fields",
    "retract-value!",
    "role-property",
    "round",
    "send!",
    "set!",
    "set-role-property!",
    "signal",
    "spawn-entity!",
    "spawn-facet!",
    "stop-facet!",
    "string-append",
    "then",
    "tool-result",
    "unwatch",
    "user-input",
    "watch",
    "+",
    "_",
    "unquote",
];
