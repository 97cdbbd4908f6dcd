//! Arguments of calls whose procedures the compiler has integrated, and that are under way.
//!
//! In the place of a parameter, integrated code has the literal or the variable that the call
//! passes, so no register says what the frame's own call has passed.
//! INVARIANT: where code that runs later reads such a parameter, it reads what the frame's own call
//! has passed.
//! Read next: `../../compiler/integrate.rs`.

use super::{Kept, Moves, Part, Planned, Source};
use crate::compiler::{Content, Place, Site, literal_word};
use crate::core::{Core, CoreId, VariableId};

/// What a call passes for a parameter.
struct Argument {
    parameter: VariableId,
    form: CoreId,
    /// Whether the parameter has a register of its own.
    is_held: bool,
}

impl Moves {
    /// Checks that the integrated calls around a wait pass in the new text what they have passed,
    /// as far as the new code still reads it.
    ///
    /// # Errors
    /// [`Kept::Argument`], [`Kept::Embedded`].
    pub(super) fn check_arguments(&self, old: &Site, new: &Site) -> Result<(), Kept> {
        for level in 1..new.place.len() {
            let before = self.old.arguments(&old.place[..level]);
            let mut now = self.new.arguments(&new.place[..level]);
            now.retain(|argument| !argument.is_held && self.new.reads_after(argument.parameter, new.place[level]));
            for argument in now {
                let is_it = |was: &&Argument| self.alignment.variable(was.parameter) == Some(argument.parameter);
                let name = || {
                    self.new.unit.variables[argument.parameter.0 as usize]
                        .name
                        .as_str()
                        .to_owned()
                };
                match before.iter().find(is_it) {
                    Some(was) if !was.is_held && self.is_passed_on(was, &argument) => {}
                    Some(_) => return Err(Kept::Argument(name())),
                    None if self.given.contains_key(&name()) => return Err(Kept::Embedded(name())),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Where a frame has the value of a parameter in whose place its own code has what the call has
    /// passed.
    pub(super) fn passed(&self, frame: &Planned<'_>, wanted: &Content) -> Option<Source> {
        let Content::Variable {
            around,
            variable,
            is_in_cell: false,
            ..
        } = wanted
        else {
            return None;
        };
        let mut levels = (1..frame.site.place.len()).map(|level| &frame.site.place[..level]);
        let calls = levels.find(|calls| self.place(&calls.to_vec()).as_ref() == Some(around))?;
        let arguments = self.old.arguments(calls);
        let mut arguments = arguments.iter().filter(|argument| !argument.is_held);
        let argument = arguments.find(|argument| self.alignment.variable(argument.parameter) == Some(*variable))?;
        let form = self.old.node(argument.form);
        if let Core::Constant(datum) = form {
            return literal_word(datum).map(Source::Word);
        }
        let Core::Local(passed) = form else { return None };
        let outer = &calls[..calls.len() - 1];
        let is_it = |content: &Content| {
            matches!(content, Content::Variable { around, variable, is_in_cell: false, .. }
                if around == outer && variable == passed)
        };
        let found = frame.held.iter().find(|(_, content)| is_it(content));
        found.map(|(register, _)| Source::Register(*register))
    }

    /// Whether two calls pass the same.
    fn is_passed_on(&self, old: &Argument, new: &Argument) -> bool {
        match (self.old.node(old.form), self.new.node(new.form)) {
            (Core::Constant(one), Core::Constant(other)) => one.to_string() == other.to_string(),
            (Core::Unspecified, Core::Unspecified) => true,
            (Core::Local(one), Core::Local(other)) => self.alignment.variable(*one) == Some(*other),
            _ => false,
        }
    }
}

impl Part {
    fn node(&self, id: CoreId) -> &Core {
        &self.unit.nodes[id.0 as usize]
    }

    /// What the last of some nested calls passes for each parameter, if it calls a procedure of the
    /// unit that takes so many.
    fn arguments(&self, calls: &[CoreId]) -> Vec<Argument> {
        let Some(Core::Call { procedure, arguments }) = calls.last().map(|call| self.node(*call)) else {
            return Vec::new();
        };
        let Core::Global(called) = self.node(*procedure) else {
            return Vec::new();
        };
        let mut nodes = self.unit.nodes.iter();
        let definition = nodes.find_map(|node| {
            let Core::DefineGlobal(global, value) = node else {
                return None;
            };
            (global == called).then(|| self.node(*value))
        });
        let Some(Core::Lambda(clauses)) = definition else {
            return Vec::new();
        };
        let clauses = clauses.iter().map(|clause| &self.unit.lambdas[clause.0 as usize]);
        let mut clauses = clauses.filter(|clause| clause.parameters.len() == arguments.len());
        let parameters = clauses.next().map_or(&[][..], |clause| &clause.parameters);
        let place: Place = calls.to_vec();
        let argument = |(parameter, form): (&VariableId, &CoreId)| Argument {
            parameter: *parameter,
            form: *form,
            is_held: self.variables.has_own(&place, *parameter),
        };
        parameters.iter().zip(arguments).map(argument).collect()
    }

    /// Whether the procedure of a parameter may read it after a call in it has returned.
    fn reads_after(&self, parameter: VariableId, call: CoreId) -> bool {
        let mut lambdas = self.unit.lambdas.iter();
        let Some(owner) = lambdas.find(|lambda| lambda.parameters.contains(&parameter)) else {
            return true;
        };
        let body = self.unit.inside(owner.body);
        // A procedure in it may run again.
        if body.iter().any(|form| matches!(self.node(*form), Core::Lambda(_))) {
            return true;
        }
        let before = self.unit.inside(call);
        let is_read = |form: &CoreId| matches!(self.node(*form), Core::Local(read) if *read == parameter);
        body.iter().any(|form| is_read(form) && !before.contains(form))
    }
}
