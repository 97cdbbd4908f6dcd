//! The core language: what the expander produces and the compiler consumes.
//!
//! Owns the intermediate form of a unit (one library, one program, or one interaction) as flat
//! arenas addressed by newtype ids, so that neither walking nor dropping it recurses on the depth
//! of a program.
//! INVARIANT: every identifier is resolved: it names a [`Variable`], a global of a library, or a
//! primitive.
//! It does not know about scopes, macros, registers or instructions.
//! Read next: `compiler.rs`.

pub mod alignment;
pub mod forms;
mod print;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::datum::{Datum, Name, Span};
use crate::unit::{CompiledUnit, GlobalName, IntegratedCall};

/// Identifies one node of a [`Unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoreId(pub u32);

/// Identifies one local variable of a [`Unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// Identifies one procedure body of a [`Unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LambdaId(pub u32);

/// Identifies one entry of [`Unit::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// One core form.
#[derive(Clone, Debug, PartialEq)]
pub enum Core {
    /// A literal; evaluates to the datum, equal (`eq?`) at every evaluation of this node.
    Constant(Datum),
    /// The unspecified value.
    Unspecified,
    /// The value of a local variable.
    Local(VariableId),
    /// Assignment of a local variable; its own value is unspecified.
    SetLocal(VariableId, CoreId),
    /// The value of a global; a condition if it is not yet defined.
    Global(GlobalId),
    /// Assignment of a defined global.
    SetGlobal(GlobalId, CoreId),
    /// Definition (or redefinition) of a global of this unit's own library.
    DefineGlobal(GlobalId, CoreId),
    /// A primitive procedure, by its stable name. Never assigned.
    Primitive(Name),
    /// Conditional; only `#f` counts as false.
    If {
        /// The test.
        test: CoreId,
        /// Evaluated when the test is not `#f`.
        consequent: CoreId,
        /// Evaluated when it is.
        alternative: CoreId,
    },
    /// A procedure with one clause per element; `lambda` has one, `case-lambda` any number. A call
    /// runs the first clause that accepts the argument count.
    Lambda(Vec<LambdaId>),
    /// Counts the fuel of a call that the form after it replaces; no value. The expander makes no
    /// such form.
    CountCall,
    /// Forms in order; the value of the last. Never empty.
    Sequence(Vec<CoreId>),
    /// Parallel local bindings: all values are evaluated, left to right, outside the scope of the
    /// variables.
    Let {
        /// Variables and their initial values.
        bindings: Vec<(VariableId, CoreId)>,
        /// Evaluated in their scope.
        body: CoreId,
    },
    /// `letrec*`: values are evaluated left to right inside the scope of all variables; reading one
    /// too early is a condition.
    Letrec {
        /// Variables and their initial values.
        bindings: Vec<(VariableId, CoreId)>,
        /// Evaluated in their scope.
        body: CoreId,
    },
    /// A procedure call. Operator and arguments are evaluated left to right.
    Call {
        /// The operator.
        procedure: CoreId,
        /// The operands.
        arguments: Vec<CoreId>,
    },
}

/// A local variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The identifier that binds it, for messages and listings; not unique.
    pub name: Name,
    /// Whether some [`Core::SetLocal`] assigns it.
    pub is_assigned: bool,
}

/// One clause of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The name of the definition or binding it is the value of, for backtraces.
    pub name: Option<Name>,
    /// Required parameters.
    pub parameters: Vec<VariableId>,
    /// The variable that takes the remaining arguments as a fresh list.
    pub rest: Option<VariableId>,
    /// The body.
    pub body: CoreId,
    /// The whole lambda form in its source.
    pub span: Span,
}

/// The library of the variables that a living actor defines on request. A name that a program uses
/// and nothing binds is one of them, so that a program can use the definitions that it loads or
/// evaluates.
pub const INTERACTION: &str = "(interaction)";

/// A global as one unit sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its identity.
    pub name: GlobalName,
    /// Whether this unit defines it.
    pub is_defined_here: bool,
    /// Whether this unit assigns it with [`Core::SetGlobal`], or defines it more than once. Other
    /// libraries cannot assign it.
    pub is_assigned: bool,
}

/// What one library, program or interaction expands to. Evaluating the unit evaluates `body`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The name of the library; `(program)` for a program; used in listings.
    pub name: Name,
    /// All nodes; children are reachable only through their parents, each node from one parent.
    pub nodes: Vec<Core>,
    /// The source of each node, parallel to `nodes`.
    pub spans: Vec<Span>,
    /// Calls that were replaced by the bodies of their procedures; the expander makes none.
    pub integrated: Vec<IntegratedCall>,
    /// The integrated call that a node comes from, if any.
    pub integrated_nodes: BTreeMap<CoreId, u32>,
    /// All local variables.
    pub variables: Vec<Variable>,
    /// All procedure clauses.
    pub lambdas: Vec<Lambda>,
    /// All globals the unit mentions.
    pub globals: Vec<Global>,
    /// The body.
    pub body: CoreId,
    /// Whether later units may redefine or assign this unit's globals (the REPL), so that the
    /// compiler may not assume that a global keeps its value.
    pub is_interactive: bool,
    /// Whether its code marks the place of each expression, so that executed lines can be counted.
    pub is_counted: bool,
    /// The compiled unit, if it was compiled ahead; its body is empty then.
    pub compiled: Option<Arc<CompiledUnit>>,
}

impl Unit {
    /// Lists a form and all forms in it, each before its parts, in the order of the text.
    pub fn inside(&self, form: CoreId) -> Vec<CoreId> {
        let (mut found, mut pending) = (Vec::new(), vec![form]);
        while let Some(node) = pending.pop() {
            found.push(node);
            let first = pending.len();
            self.push_parts(node, &mut pending);
            pending[first..].reverse();
        }
        found
    }

    /// Appends the parts of a node, including bodies of procedures.
    pub fn push_parts(&self, id: CoreId, parts: &mut Vec<CoreId>) {
        match &self.nodes[id.0 as usize] {
            Core::Constant(_) | Core::Unspecified | Core::CountCall => {}
            Core::Local(_) | Core::Global(_) | Core::Primitive(_) => {}
            Core::SetLocal(_, value) | Core::SetGlobal(_, value) | Core::DefineGlobal(_, value) => parts.push(*value),
            Core::If {
                test,
                consequent,
                alternative,
            } => parts.extend([*test, *consequent, *alternative]),
            Core::Lambda(clauses) => parts.extend(clauses.iter().map(|clause| self.lambdas[clause.0 as usize].body)),
            Core::Sequence(forms) => parts.extend(forms),
            Core::Let { bindings, body } | Core::Letrec { bindings, body } => {
                parts.extend(bindings.iter().map(|(_, initialiser)| *initialiser));
                parts.push(*body);
            }
            Core::Call { procedure, arguments } => {
                parts.push(*procedure);
                parts.extend(arguments);
            }
        }
    }
}
