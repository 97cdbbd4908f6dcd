//! What procedural macros work with: the patterns and templates that their code refers to, and the step they work for.
//!
//! Owns the names of compiled patterns, templates and rules. Code names them by the module it stands in and their order there, so that a unit's
//! content does not depend on what else its session has expanded.
//! INVARIANT: a name never changes its meaning within a session.
//! It does not run transformers; `transformer.rs` does.
//! Read next: `form/syntax_case.rs`.

use std::collections::BTreeMap;

use super::rules::pattern::Pattern;
use super::rules::template::Template;
use super::rules::{Rules, Step};
use super::{Syntax, SyntaxStore};
use crate::datum::{Name, Span};
use crate::diagnostic::{NotSyntax, RuleProblem};

/// What code for expansion time refers to by name.
#[derive(Debug)]
pub(crate) enum Constant {
    Pattern(Pattern),
    /// A template, and the depth of each variable that it takes.
    Template(Template, Vec<u32>),
    Rules(Rules),
}

/// All constants of one session.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    named: BTreeMap<String, Constant>,
    counts: BTreeMap<Name, u32>,
}

impl Constants {
    /// Adds a constant of a module; its name.
    pub(crate) fn add(&mut self, module: &Name, constant: Constant) -> String {
        let count = self.counts.entry(module.clone()).or_default();
        let name = format!("{module} {count}");
        *count += 1;
        self.named.insert(name.clone(), constant);
        name
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Constant> {
        self.named.get(name)
    }
}

/// The expansion step that a transformer works for.
#[derive(Debug)]
pub struct Expanding<'a> {
    pub(crate) store: &'a mut SyntaxStore,
    pub(crate) constants: &'a Constants,
    pub(crate) step: Step,
    /// How many syntax nodes there may be in the session.
    pub(crate) nodes_max: u32,
    /// How many procedure calls all transformers together may still make.
    pub(crate) calls_left: &'a mut u64,
}

/// Names a transformer that a [`Transformers`](crate::expander::Transformers) keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformerId(pub u32);

/// What a transformer expression evaluated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// A procedure that rewrites uses of its keyword.
    Procedure(TransformerId),
    /// One that rewrites assignments to its keyword, too.
    VariableTransformer(TransformerId),
    /// No transformer.
    Other,
}

/// Why code for expansion time gave nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It raised an object that nothing handled.
    Raised {
        /// What, in words.
        message: String,
        /// The form that it complains of.
        form: Option<Syntax>,
        /// The expression that raised it.
        span: Option<Span>,
    },
    /// No clause of a `syntax-case` matches this form.
    NoMatch(Syntax),
    /// A template cannot be filled in.
    Template(RuleProblem),
    /// It made something that is no syntax.
    NotSyntax(NotSyntax),
    /// It ran longer than the limit, in calls.
    Endless(u64),
    /// It needed more memory than the limit, in bytes.
    TooMuchMemory(usize),
    /// It made more syntax than the limit.
    TooMuchSyntax,
    /// It cannot be compiled or loaded.
    Uncompilable(String),
}
