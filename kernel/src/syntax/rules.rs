//! `syntax-rules`: macros by pattern and template.
//!
//! Owns the compiled form of rules and the choice of the rule that matches a use.
//! INVARIANT: every identifier that a template inserts gets the scope of its expansion step; what the use provides keeps its own scopes.
//! It does not know where macros may be defined.
//! Read next: `rules/pattern.rs`, then `rules/template.rs`.
//!
//! Source: R7RS-small, section 4.3.2.

mod pattern;
mod template;

use super::symbol::Symbol;
use super::{Identifier, OriginId, Syntax, SyntaxStore};
use crate::datum::Span;
use crate::diagnostic::{DiagnosticKind, Failure, RuleProblem};
use pattern::Pattern;
use template::Template;

/// The compiled form of one `syntax-rules` expression.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<(Pattern, Template)>,
}

/// What the identifiers of a `syntax-rules` form mean to it.
#[derive(Debug)]
struct Conventions {
    ellipsis: Ellipsis,
    literals: Vec<Identifier>,
    underscore: Identifier,
}

#[derive(Debug)]
enum Ellipsis {
    /// Whatever means the same as this identifier.
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

/// What a pattern variable matched.
#[derive(Clone, Debug)]
enum Match {
    /// Not yet anything.
    Nothing,
    /// A form.
    One(Syntax),
    /// A form, or a sequence, for each repetition.
    Many(Vec<Match>),
}

/// Where expansion goes: the scope and origin of everything that a template inserts.
struct Step {
    scope: super::scope::Scope,
    span: Span,
    origin: OriginId,
}

impl Rules {
    /// Compiles `(syntax-rules [ellipsis] (literal …) (pattern template) …)`; `None` if it is not of this form.
    ///
    /// # Errors
    /// A [`RuleProblem`] at the first wrong pattern or template.
    pub(crate) fn compile(
        store: &mut SyntaxStore,
        form: Syntax,
        auxiliary: Auxiliary,
    ) -> Option<Result<Self, Failure>> {
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
            let pattern = Pattern::compile(store, &conventions, pattern)?;
            let template = Template::compile(store, &conventions, &pattern, template)?;
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
    /// [`DiagnosticKind::NoRuleMatches`], or [`RuleProblem::UnequalLengths`] from the template.
    pub(crate) fn expand(&self, store: &mut SyntaxStore, macro_use: Use) -> Result<Syntax, Failure> {
        let Use {
            form,
            keyword,
            definition,
        } = macro_use;
        let (span, parent) = (store.span(form), store.origin(form));
        for (pattern, template) in &self.rules {
            if let Some(matches) = pattern.matches(store, form) {
                let origin = store.add_origin(keyword, definition, parent);
                let step = Step {
                    scope: store.sets.fresh(),
                    span,
                    origin,
                };
                return template
                    .instantiate(store, matches, &step)
                    .map_err(|problem| store.failure(form, DiagnosticKind::BadRule(problem)));
            }
        }
        let keyword = store.symbols.name(keyword).clone();
        Err(store.failure(form, DiagnosticKind::NoRuleMatches { keyword }))
    }
}

impl Conventions {
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

fn problem(store: &SyntaxStore, place: Syntax, problem: RuleProblem) -> Failure {
    store.failure(place, DiagnosticKind::BadRule(problem))
}
