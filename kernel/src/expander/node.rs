//! Making the nodes of the core language.
//!
//! Owns short methods by which the expander and the forms add nodes, variables, procedures and
//! globals to the unit that they expand.
//! INVARIANT: every node has a span of the source.
//! It does not choose which nodes to make.
//! Read next: `builder.rs`.

use super::Expander;
use super::unit::UnitExpander;
use crate::core::{Core, CoreId, GlobalId, Lambda, LambdaId, VariableId};
use crate::datum::{Datum, Name, Node};
use crate::number::Number;
use crate::syntax::binding::Binding;
use crate::syntax::scope::Scope;
use crate::syntax::{Identifier, Syntax};

impl Expander {
    /// Makes units whose executed lines can be counted from here on.
    pub fn begin_counted(&mut self) {
        self.is_counted = true;
    }
}

impl UnitExpander<'_> {
    /// Adds a node with the source of `place`.
    pub(crate) fn node(&mut self, core: Core, place: Syntax) -> CoreId {
        let span = self.session.syntax.span(place);
        self.builder.node(core, span)
    }

    /// Lets what a form such as `cond` has become begin on the form's own line, in counted units.
    pub(super) fn widened(&mut self, node: CoreId, form: Syntax) -> CoreId {
        if self.session.is_counted {
            self.builder.widen(node, self.session.syntax.span(form));
        }
        node
    }

    /// Returns a node of the unit.
    pub(crate) fn node_at(&self, id: CoreId) -> &Core {
        self.builder.get(id)
    }

    /// Adds a literal.
    pub(crate) fn constant(&mut self, syntax: Syntax) -> CoreId {
        let datum = match self.session.syntax.atom(syntax) {
            Some(atom) => Datum::of(atom.clone()),
            None => self.session.syntax.datum(syntax),
        };
        self.node(Core::Constant(datum), syntax)
    }

    pub(crate) fn boolean(&mut self, value: bool, place: Syntax) -> CoreId {
        self.node(Core::Constant(Datum::of(Node::Boolean(value))), place)
    }

    pub(crate) fn sequence_node(&mut self, mut forms: Vec<CoreId>, place: Syntax) -> CoreId {
        match forms.len() {
            0 => self.node(Core::Unspecified, place),
            1 => forms.remove(0),
            _ => self.node(Core::Sequence(forms), place),
        }
    }

    pub(crate) fn conditional(
        &mut self,
        test: CoreId,
        consequent: CoreId,
        alternative: CoreId,
        place: Syntax,
    ) -> CoreId {
        self.node(
            Core::If {
                test,
                consequent,
                alternative,
            },
            place,
        )
    }

    /// Adds a call of a primitive that a form needs.
    pub(crate) fn primitive_call(&mut self, name: &str, arguments: Vec<CoreId>, place: Syntax) -> CoreId {
        let procedure = self.node(Core::Primitive(Name::from(name)), place);
        self.node(Core::Call { procedure, arguments }, place)
    }

    /// Makes the call that an unbound name such as `$7` stands for, if this top level has such
    /// names.
    pub(super) fn numbered(&mut self, place: Syntax, identifier: Identifier) -> Option<Core> {
        let procedure = self.module.numbered.clone()?;
        let number = number_of(self.name_of(identifier).as_str())?;
        let global = self.session.global(&procedure.library, &procedure.name);
        let global = self.global_id(global);
        let procedure = self.node(Core::Global(global), place);
        let number = Datum::of(Node::Number(Number::Fixnum(number)));
        let arguments = vec![self.node(Core::Constant(number), place)];
        Some(Core::Call { procedure, arguments })
    }

    /// Makes a fresh scope for the names that a form binds.
    pub(crate) fn binding_scope(&mut self) -> Scope {
        let scope = self.session.syntax.sets.fresh();
        self.local_scopes.push(scope);
        scope
    }

    /// Makes a local variable that no identifier names.
    pub(crate) fn temporary(&mut self, name: &str) -> VariableId {
        self.builder.variable(Name::from(name))
    }

    /// Binds an identifier to a fresh local variable.
    pub(crate) fn bind_local(&mut self, identifier: Identifier) -> VariableId {
        let name = self.name_of(identifier);
        let variable = self.builder.variable(name);
        let unit = self.number;
        self.session.syntax.bind(identifier, Binding::Local { unit, variable });
        variable
    }

    /// Returns the number of this unit in the session.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn variable_name(&self, variable: VariableId) -> Name {
        self.builder.variable_name(variable).clone()
    }

    /// Adds a procedure of one clause.
    pub(crate) fn lambda_node(&mut self, lambda: Lambda, place: Syntax) -> CoreId {
        let id = self.add_lambda(lambda);
        self.node(Core::Lambda(vec![id]), place)
    }

    pub(crate) fn add_lambda(&mut self, lambda: Lambda) -> LambdaId {
        self.builder.lambda(lambda)
    }

    pub(crate) fn assign_local(&mut self, variable: VariableId, value: CoreId, place: Syntax) -> CoreId {
        self.builder.mark_variable_assigned(variable);
        self.node(Core::SetLocal(variable, value), place)
    }

    pub(crate) fn assign_global(&mut self, global: GlobalId, value: CoreId, place: Syntax) -> CoreId {
        self.builder.mark_global_assigned(global);
        self.node(Core::SetGlobal(global, value), place)
    }

    pub(crate) fn define_global(&mut self, global: u32, value: CoreId, place: Syntax) -> CoreId {
        let id = self.global_id(global);
        self.builder.mark_global_defined(id);
        self.node(Core::DefineGlobal(id, value), place)
    }

    /// Returns whether a global of the session belongs to this module.
    pub(crate) fn is_own(&self, global: u32) -> bool {
        self.session.globals[global as usize].library == self.module.name
    }

    /// Returns this unit's number of a global of the session.
    pub(crate) fn global_id(&mut self, global: u32) -> GlobalId {
        self.builder.global(global, &self.session.globals[global as usize])
    }
}

/// The number in a name such as `$7`.
fn number_of(name: &str) -> Option<i64> {
    let digits = name.strip_prefix('$')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    // A longer one is the name of no value.
    digits.parse().ok().filter(|number| is_number && *number < 1 << 40)
}
