//! The limits of a module that declares capabilities: its own code may use these and no others.
//!
//! What the module takes from elsewhere and calls may act, so each reference to such a thing makes
//! a procedure that acts within the limits. Procedures that a caller hands to
//! the module keep the caller's rights.
//! INVARIANT: a reference is left as it is only where what it refers to cannot act by itself, or
//! has limits of its own.
//! It does not judge actions; the host does, by the limits of the present dynamic extent.
//! Read next: `unit.rs`.

use super::unit::UnitExpander;
use crate::core::{Core, CoreId};
use crate::datum::{Datum, Name, Node};
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;

/// The procedure that makes a procedure act within limits: its library and name.
pub(super) const LIMITER: (&str, &str) = ("(duet internal needs)", "%limited");

/// The parts of the language and of the collections of procedures that reach the world.
const ACTING: [&str; 11] = [
    "(scheme eval)",
    "(scheme file)",
    "(scheme load)",
    "(scheme process-context)",
    "(scheme repl)",
    "(scheme time)",
    "(srfi 27)",
    "(srfi 98)",
    "(duet internal eval)",
    "(duet internal ports)",
    "(duet internal routes)",
];

/// The families of libraries whose other members only compute.
const COMPUTING: [&str; 3] = ["(scheme ", "(srfi ", "(duet internal "];

impl UnitExpander<'_> {
    /// Adds a line to the limits of the module.
    pub(super) fn limit(&mut self, capability: &str) {
        let limits = self.module.limits.get_or_insert_with(|| self.module.name.clone());
        *limits = Name::from(format!("{limits}\n{capability}").as_str());
    }

    /// Makes a reference act within the limits of the module, if it has any.
    pub(super) fn limited(&mut self, reference: CoreId, binding: Option<Binding>, place: Syntax) -> CoreId {
        let is_for_syntax = self.module.proper_name.is_some();
        let limits = self.module.limits.clone().filter(|_| !is_for_syntax);
        let Some((limits, binding)) = limits.zip(binding) else {
            return reference;
        };
        if !self.acts(binding) {
            return reference;
        }
        let limiter = self.session.global(&Name::from(LIMITER.0), &Name::from(LIMITER.1));
        let limiter = Core::Global(self.global_id(limiter));
        let procedure = self.node(limiter, place);
        let limits = Datum::of(Node::String(limits.0));
        let limits = self.node(Core::Constant(limits), place);
        let arguments = vec![limits, reference];
        self.node(Core::Call { procedure, arguments }, place)
    }

    /// Says whether a call of what a name means may act.
    fn acts(&self, binding: Binding) -> bool {
        match binding {
            Binding::Primitive(index) => self.session.primitives[index as usize].is_host,
            Binding::Global(global) => {
                let library = &self.session.globals[global as usize].library;
                let is_limited = self
                    .session
                    .libraries
                    .get(library)
                    .is_some_and(|library| library.is_limited);
                let name = library.as_str();
                let computes = COMPUTING.iter().any(|family| name.starts_with(family)) && !ACTING.contains(&name);
                *library != self.module.name && !is_limited && !computes
            }
            Binding::Local { .. } | Binding::Pattern(_) | Binding::Form(_) | Binding::Macro(_) => false,
        }
    }
}
