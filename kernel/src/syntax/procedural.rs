//! Constants and results of procedural macros: the patterns and templates that their code refers
//! to, and the step for which they run.
//!
//! Owns the names of compiled patterns, templates and rules. A name consists of the module that
//! contains the code and a number within it, so a unit's content does not depend on the rest of its
//! session.
//! INVARIANT: a name never changes its meaning within a session.
//! It does not run transformers; `transformer.rs` does.
//! Read next: `form/syntax_case.rs`.

use std::collections::BTreeMap;

use super::rules::pattern::Pattern;
use super::rules::template::Template;
use super::rules::{ExpansionStep, Rules};
use super::{Syntax, SyntaxStore};
use crate::datum::{Name, Span};
use crate::diagnostic::{NotSyntax, RuleProblem};

/// A constant that code for expansion time refers to by name.
#[derive(Debug)]
pub(crate) enum Constant {
    Pattern(Pattern),
    /// A template, and the depth of each variable that it uses.
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
    /// Adds a constant of a module and returns its name.
    pub(crate) fn add(&mut self, module: &Name, constant: Constant) -> String {
        let count = self.counts.entry(module.clone()).or_default();
        let name = format!("{module} {count}");
        *count += 1;
        self.named.insert(name.clone(), constant);
        name
    }

    /// Returns the number of constants.
    pub(crate) fn length(&self) -> usize {
        self.named.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Constant> {
        self.named.get(name)
    }
}

/// The expansion step for which a transformer runs.
#[derive(Debug)]
pub struct Expanding<'a> {
    pub(crate) store: &'a mut SyntaxStore,
    pub(crate) constants: &'a Constants,
    pub(crate) step: ExpansionStep,
    /// The maximum number of syntax nodes in the session.
    pub(crate) nodes_max: u32,
    /// The number of procedure calls left to all transformers together.
    pub(crate) calls_left: &'a mut u64,
}

/// Identifies a transformer that a [`Transformers`](crate::expander::Transformers) keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformerId(pub u32);

/// The value of a transformer expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// A procedure that rewrites uses of its keyword.
    Procedure(TransformerId),
    /// A procedure that rewrites assignments to its keyword, too.
    VariableTransformer(TransformerId),
    /// Any other value, which is not a transformer.
    Other,
}

/// The reason why code for expansion time failed.
#[derive(Clone, Debug, PartialEq)]
pub enum TransformerFault {
    /// It raised an object that nothing handled.
    Raised {
        /// The object, as text.
        message: String,
        /// The form that it blames.
        form: Option<Syntax>,
        /// The expression that raised it.
        span: Option<Span>,
    },
    /// No clause of a `syntax-case` matches this form.
    NoMatch(Syntax),
    /// A template cannot be filled.
    Template(RuleProblem),
    /// It returned a value that is not syntax.
    NotSyntax(NotSyntax),
    /// It made more procedure calls than this limit.
    Endless(u64),
    /// It needed more memory than this limit, in bytes.
    TooMuchMemory(usize),
    /// It made more syntax than the limit.
    TooMuchSyntax,
    /// It cannot be compiled or loaded.
    Uncompilable(String),
}
