//! Caveats: conditions on values that pass through a capability, and rewrites of them.
//!
//! INVARIANT: an unknown caveat lets nothing pass.
//! It does not know what passes values through it.
//! Read next: `pattern.rs`.

use std::sync::Arc;

use duet_journal::packed::PackedError;
use preserves::{IOValue, ValueImpl};

use super::allowance::Allowance;
use super::error::{CaveatError, DEPTH_MAX, shown};
use super::pattern::Pattern;
use super::template::{Attenuate, Template};
use crate::model::codec::label_of;

/// A condition on values, with the value that it was read from; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    source: IOValue,
    rule: Arc<Rule>,
}

#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// The first rewrite whose pattern matches produces the new value; if none matches, the value
    /// does not pass.
    Alternatives(Vec<Rewrite>),
    /// A value that matches does not pass.
    Reject(Pattern),
    /// Nothing passes.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
struct Rewrite {
    pattern: Pattern,
    template: Template,
}

impl Caveat {
    /// Reads a caveat: `<rewrite pattern template>`, `<or [rewrite …]>` or `<reject pattern>`; any
    /// other value is a caveat that lets nothing pass.
    ///
    /// # Errors
    /// [`CaveatError`] if it has one of these forms and a part of it is invalid.
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
            rule: Arc::new(rule),
        })
    }

    /// Returns the value that the caveat was read from.
    pub fn source(&self) -> &IOValue {
        &self.source
    }

    /// Applies the caveat to a value; returns `None` if the value does not pass.
    ///
    /// # Errors
    /// If it makes a value that is too deep, or longer than what is left of the allowance.
    pub fn apply(
        &self,
        value: &IOValue,
        allowance: &mut Allowance,
        attenuate: &mut Attenuate<'_>,
    ) -> Result<Option<IOValue>, PackedError> {
        match &*self.rule {
            Rule::Alternatives(alternatives) => {
                let made = alternatives.iter().find_map(|rewrite| {
                    let bound = rewrite.pattern.matches(value)?;
                    Some(rewrite.template.fill(&bound, attenuate))
                });
                let made = made.flatten();
                if let Some(made) = &made {
                    allowance.take(made)?;
                }
                Ok(made)
            }
            Rule::Reject(pattern) => Ok(pattern.matches(value).is_none().then(|| value.clone())),
            Rule::Unknown => Ok(None),
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

#[cfg(test)]
mod tests;
