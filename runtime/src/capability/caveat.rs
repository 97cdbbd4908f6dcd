//! Caveats: what a value must be, and what becomes of it, on its way through a capability.
//!
//! INVARIANT: a caveat that is not understood lets nothing pass.
//! Read next: `capability/pattern.rs`.

use std::fmt;

use preserves::{IOValue, ValueImpl};

use super::pattern::Pattern;
use super::template::{Attenuate, Template};
use crate::codec::label_of;

/// Caveats are at most this deep.
const DEPTH_MAX: usize = 64;

/// A condition on values, with what it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    source: IOValue,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// The first rewrite whose pattern matches makes another value; if none does, nothing passes.
    Alternatives(Vec<Rewrite>),
    /// What matches does not pass.
    Reject(Pattern),
    /// Nothing passes.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
struct Rewrite {
    pattern: Pattern,
    template: Template,
}

/// Why a caveat cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaveatError {
    /// A part is none of the patterns.
    NotAPattern {
        /// The part, shortened.
        found: String,
    },
    /// A part is none of the templates.
    NotATemplate {
        /// The part, shortened.
        found: String,
    },
    /// A template refers to a part that its pattern does not bind.
    Unbound {
        /// The number it refers to.
        reference: usize,
        /// How many parts are bound.
        bound: usize,
    },
    /// A pattern binds under a negation, where nothing would be bound.
    BindingUnderNegation,
    /// It is nested too deeply.
    TooDeep,
}

impl fmt::Display for CaveatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPattern { found } => write!(f, "{found} is no pattern of a caveat"),
            Self::NotATemplate { found } => write!(f, "{found} is no template of a caveat"),
            Self::Unbound { reference, bound } => {
                write!(
                    f,
                    "the template refers to part {reference}, counted from 0, and the pattern binds {bound}"
                )
            }
            Self::BindingUnderNegation => write!(f, "a pattern under `not` binds a part, which would never be bound"),
            Self::TooDeep => write!(f, "the caveat is nested more than {DEPTH_MAX} levels"),
        }
    }
}

impl std::error::Error for CaveatError {}

impl Caveat {
    /// Reads a caveat: `<rewrite pattern template>`, `<or [rewrite …]>`, `<reject pattern>`. Anything else lets nothing pass.
    ///
    /// # Errors
    /// [`CaveatError`] if it is one of these and a part of it cannot be used.
    pub fn read(source: &IOValue) -> Result<Self, CaveatError> {
        let fields: Vec<IOValue> = if source.is_record() {
            source.iter().map(IOValue::from).collect()
        } else {
            Vec::new()
        };
        let rule = match (label_of(source).as_deref(), &fields[..]) {
            (Some("rewrite"), [_, _]) => Rule::Alternatives(vec![Rewrite::read(source)?]),
            (Some("or"), [alternatives]) if alternatives.is_sequence() => {
                let alternatives = alternatives.iter().map(|one| Rewrite::read(&one.into()));
                Rule::Alternatives(alternatives.collect::<Result<_, _>>()?)
            }
            (Some("reject"), [pattern]) => Rule::Reject(Pattern::read(pattern, DEPTH_MAX)?),
            _ => Rule::Unknown,
        };
        if let Rule::Reject(pattern) = &rule {
            pattern.bound()?;
        }
        Ok(Self {
            source: source.clone(),
            rule,
        })
    }

    /// What it was read from.
    pub fn source(&self) -> &IOValue {
        &self.source
    }

    /// Passes a value through; nothing comes of one that does not pass.
    pub fn apply(&self, value: &IOValue, attenuate: &mut Attenuate<'_>) -> Option<IOValue> {
        match &self.rule {
            Rule::Alternatives(alternatives) => alternatives.iter().find_map(|rewrite| {
                let bound = rewrite.pattern.matches(value)?;
                Some(rewrite.template.fill(&bound, attenuate))
            })?,
            Rule::Reject(pattern) => pattern.matches(value).is_none().then(|| value.clone()),
            Rule::Unknown => None,
        }
    }
}

impl Rewrite {
    fn read(source: &IOValue) -> Result<Self, CaveatError> {
        let is_rewrite = label_of(source).as_deref() == Some("rewrite") && source.len() == 2;
        if !is_rewrite {
            return Err(CaveatError::NotATemplate { found: shown(source) });
        }
        let pattern = Pattern::read(&source.index(0).into(), DEPTH_MAX)?;
        let template = Template::read(&source.index(1).into(), DEPTH_MAX)?;
        let bound = pattern.bound()?;
        match template.highest() {
            Some(reference) if reference >= bound => Err(CaveatError::Unbound { reference, bound }),
            Some(_) | None => Ok(Self { pattern, template }),
        }
    }
}

/// Shows a part for people, shortened.
pub(super) fn shown(value: &IOValue) -> String {
    const CHARACTERS_MAX: usize = 60;
    let text = format!("{value:?}");
    match text.char_indices().nth(CHARACTERS_MAX) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests;
