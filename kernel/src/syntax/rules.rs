//! `syntax-rules`: macros by pattern and template.
//!
//! Owns the compiled form of rules and the choice of the rule that matches a use.
//! INVARIANT: every identifier that a template inserts gets the scope of its expansion step;
//! identifiers of the use keep their own scopes.
//! It does not know where macros may be defined.
//! Read next: `rules/pattern.rs`, then `rules/template.rs`.
//!
//! Source: R7RS-small, section 4.3.2.

pub(crate) mod pattern;
pub(crate) mod template;

use super::scope::Scope;
use super::symbol::Symbol;
use super::{Identifier, OriginId, Syntax, SyntaxStore};
use crate::datum::Span;
use crate::diagnostic::{DiagnosticKind, FormError, RuleProblem};
use pattern::Pattern;
use template::{Template, Variables};

/// The compiled form of one `syntax-rules` expression.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<(Pattern, Template)>,
}

/// The identifiers with a special role in patterns and templates.
#[derive(Debug)]
pub(crate) struct Conventions {
    ellipsis: Ellipsis,
    literals: Vec<Identifier>,
    underscore: Identifier,
}

#[derive(Debug)]
enum Ellipsis {
    /// Any identifier with the same meaning as this one.
    Standard(Identifier),
    /// Exactly this identifier.
    Custom(Identifier),
}

/// The auxiliary keywords of `syntax-rules`, as the kernel's own library binds them.
#[derive(Clone, Copy, Debug)]
pub struct Auxiliary {
    /// `...`
    pub ellipsis: Identifier,
    /// `_`
    pub underscore: Identifier,
}

/// One use of a macro.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The whole form.
    pub form: Syntax,
    /// The keyword of the macro.
    pub keyword: Symbol,
    /// Where the macro is defined.
    pub definition: Span,
}

/// The forms that a pattern variable matched.
#[derive(Clone, Debug)]
pub(crate) enum Match {
    /// Not matched yet.
    Nothing,
    /// A form.
    One(Syntax),
    /// One match for each repetition.
    Many(Vec<Match>),
}

/// The scope, span and origin of everything that a template inserts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpansionStep {
    pub(crate) scope: Scope,
    pub(crate) span: Span,
    pub(crate) origin: OriginId,
}

impl ExpansionStep {
    pub(crate) fn begin(store: &mut SyntaxStore, macro_use: Use) -> ExpansionStep {
        ExpansionStep {
            scope: store.sets.fresh(),
            span: store.span(macro_use.form),
            origin: store.add_origin(macro_use),
        }
    }
}

impl Rules {
    /// Compiles `(syntax-rules [ellipsis] (literal …) (pattern template) …)`; `None` if it is not
    /// of this form.
    ///
    /// # Errors
    /// A [`RuleProblem`] at the first wrong pattern or template.
    pub(crate) fn compile(
        store: &mut SyntaxStore,
        form: Syntax,
        auxiliary: Auxiliary,
    ) -> Option<Result<Self, FormError>> {
        let mut parts = store.list(form)?.into_iter().skip(1).peekable();
        let custom = parts.peek().and_then(|first| store.identifier(*first));
        if custom.is_some() {
            parts.next();
        }
        let mut literals = Vec::new();
        for literal in store.list(parts.next()?)? {
            literals.push(store.identifier(literal)?);
        }
        let ellipsis = custom.map_or(Ellipsis::Standard(auxiliary.ellipsis), Ellipsis::Custom);
        let conventions = Conventions {
            ellipsis,
            literals,
            underscore: auxiliary.underscore,
        };
        let mut sources = Vec::new();
        for rule in parts {
            let rule = store.list(rule)?;
            let [pattern, template] = rule[..] else { return None };
            sources.push((pattern, template));
        }
        let compile = |(pattern, template)| {
            // The first element of a rule's pattern, the keyword, matches anything.
            let Some((_, arguments)) = store.pair(pattern) else {
                return Err(problem(store, pattern, RuleProblem::PatternNotAList));
            };
            let pattern = Pattern::compile(store, &conventions, arguments)?;
            let template = Template::compile(store, &conventions, &mut Variables::Of(&pattern), template)?;
            Ok((pattern, template))
        };
        Some(
            sources
                .into_iter()
                .map(compile)
                .collect::<Result<_, _>>()
                .map(|rules| Self { rules }),
        )
    }

    /// Rewrites a use by the first rule that matches.
    ///
    /// # Errors
    /// [`DiagnosticKind::NoRuleMatches`], or [`RuleProblem::UnequalLengths`] or
    /// [`RuleProblem::TooLarge`] from the template.
    pub(crate) fn expand(&self, store: &mut SyntaxStore, macro_use: Use) -> Result<Syntax, FormError> {
        let form = macro_use.form;
        if let Some((chosen, matches)) = self.choose(store, form) {
            let step = ExpansionStep::begin(store, macro_use);
            return self.rules[chosen]
                .1
                .instantiate(store, matches, &step)
                .map_err(|problem| store.failure(form, DiagnosticKind::BadRule(problem)));
        }
        let keyword = store.symbols.name(macro_use.keyword).clone();
        Err(store.failure(form, DiagnosticKind::NoRuleMatches { keyword }))
    }

    /// Rewrites a form by the first rule that matches, as part of a step; returns `None` if no rule
    /// matches.
    ///
    /// # Errors
    /// [`RuleProblem::UnequalLengths`] from the template.
    pub(crate) fn apply(
        &self,
        store: &mut SyntaxStore,
        form: Syntax,
        step: &ExpansionStep,
    ) -> Result<Option<Syntax>, RuleProblem> {
        match self.choose(store, form) {
            Some((chosen, matches)) => self.rules[chosen].1.instantiate(store, matches, step).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the first rule that matches, and the matches of its variables.
    fn choose(&self, store: &mut SyntaxStore, form: Syntax) -> Option<(usize, Vec<Match>)> {
        let (_, arguments) = store.pair(form)?;
        let matched = |(index, (pattern, _)): (usize, &(Pattern, Template))| {
            pattern.matches(store, arguments).map(|matches| (index, matches))
        };
        self.rules.iter().enumerate().find_map(matched)
    }
}

impl Conventions {
    /// Returns the conventions of `syntax-case` and `syntax`.
    pub(crate) fn standard(auxiliary: Auxiliary, literals: Vec<Identifier>) -> Self {
        Self {
            ellipsis: Ellipsis::Standard(auxiliary.ellipsis),
            literals,
            underscore: auxiliary.underscore,
        }
    }

    fn is_ellipsis(&self, store: &SyntaxStore, syntax: Syntax) -> bool {
        let Some(identifier) = store.identifier(syntax) else {
            return false;
        };
        let is_ellipsis = match self.ellipsis {
            Ellipsis::Standard(ellipsis) => store.is_same_meaning(identifier, ellipsis),
            Ellipsis::Custom(ellipsis) => identifier == ellipsis,
        };
        is_ellipsis && !self.is_literal(identifier)
    }

    fn is_literal(&self, identifier: Identifier) -> bool {
        self.literals.contains(&identifier)
    }
}

fn problem(store: &SyntaxStore, place: Syntax, problem: RuleProblem) -> FormError {
    store.failure(place, DiagnosticKind::BadRule(problem))
}
