//! Patterns of caveats.
//!
//! INVARIANT: a record or sequence pattern matches only a value with exactly as many parts; unlike
//! the dataspace's patterns, it is not extensible. A dictionary matches if it has the pattern's
//! keys, so nobody can evade the rejection of a key by adding another.
//! It does not rewrite values; `template.rs` does.
//! Read next: `template.rs`.

use preserves::{AtomClass, IOValue, ValueClass, ValueImpl};

use super::compound::Compound;
use super::error::{CaveatError, shown};
use crate::model::codec::label_of;

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Matches any value.
    Discard,
    /// Matches any atom of a class.
    Atom(AtomClass),
    /// Matches any reference.
    Embedded,
    /// Binds the value if the inner pattern matches it; bindings are numbered from the outside in
    /// and from left to right.
    Bind(Box<Pattern>),
    /// Matches if all of them match.
    And(Vec<Pattern>),
    /// Matches if the inner pattern does not.
    Not(Box<Pattern>),
    /// Matches this value.
    Literal(IOValue),
    /// Matches a record or a sequence with exactly these parts, or a dictionary with at least these
    /// keys.
    Compound(Compound<Pattern>),
}

impl Pattern {
    /// Reads a pattern, at most `depth` levels deep.
    ///
    /// # Errors
    /// [`CaveatError::NotAPattern`], [`CaveatError::TooDeep`].
    pub(super) fn read(source: &IOValue, depth: usize) -> Result<Self, CaveatError> {
        let depth = depth.checked_sub(1).ok_or(CaveatError::TooDeep)?;
        let wrong = || CaveatError::NotAPattern { found: shown(source) };
        if let Some(name) = source.as_symbol() {
            return match &*name {
                "Boolean" => Ok(Self::Atom(AtomClass::Boolean)),
                "Double" => Ok(Self::Atom(AtomClass::Double)),
                "SignedInteger" => Ok(Self::Atom(AtomClass::SignedInteger)),
                "String" => Ok(Self::Atom(AtomClass::String)),
                "ByteString" => Ok(Self::Atom(AtomClass::ByteString)),
                "Symbol" => Ok(Self::Atom(AtomClass::Symbol)),
                "Embedded" => Ok(Self::Embedded),
                _ => Err(wrong()),
            };
        }
        let label = label_of(source).ok_or_else(wrong)?;
        let fields: Vec<IOValue> = source.iter().map(IOValue::from).collect();
        if let Some(compound) = Compound::read(source, |part| Self::read(part, depth))? {
            return Ok(Self::Compound(compound));
        }
        match (label.as_str(), &fields[..]) {
            ("_", []) => Ok(Self::Discard),
            ("bind", [inner]) => Ok(Self::Bind(Box::new(Self::read(inner, depth)?))),
            ("and", [patterns]) if patterns.is_sequence() => {
                let patterns = patterns.iter().map(|pattern| Self::read(&pattern.into(), depth));
                Ok(Self::And(patterns.collect::<Result<_, _>>()?))
            }
            ("not", [inner]) => Ok(Self::Not(Box::new(Self::read(inner, depth)?))),
            ("lit", [value]) => Ok(Self::Literal(value.clone())),
            _ => Err(wrong()),
        }
    }

    /// Counts the bindings.
    ///
    /// # Errors
    /// [`CaveatError::BindingUnderNegation`].
    pub(super) fn bound(&self) -> Result<usize, CaveatError> {
        match self {
            Self::Discard | Self::Atom(_) | Self::Embedded | Self::Literal(_) => Ok(0),
            Self::Bind(inner) => Ok(1 + inner.bound()?),
            Self::Not(inner) if inner.bound()? == 0 => Ok(0),
            Self::Not(_) => Err(CaveatError::BindingUnderNegation),
            Self::And(patterns) => patterns.iter().map(Self::bound).sum(),
            Self::Compound(compound) => compound.parts().map(Self::bound).sum(),
        }
    }

    /// Matches a value and returns the bound parts.
    pub(super) fn matches(&self, value: &IOValue) -> Option<Vec<IOValue>> {
        let mut bound = Vec::new();
        self.collect(value, &mut bound).then_some(bound)
    }

    fn collect(&self, value: &IOValue, bound: &mut Vec<IOValue>) -> bool {
        match self {
            Self::Discard => true,
            Self::Atom(class) => value.value_class() == ValueClass::Atomic(class.clone()),
            Self::Embedded => value.value_class() == ValueClass::Embedded,
            Self::Bind(inner) => {
                bound.push(value.clone());
                inner.collect(value, bound)
            }
            Self::And(patterns) => patterns.iter().all(|pattern| pattern.collect(value, bound)),
            Self::Not(inner) => !inner.collect(value, bound),
            Self::Literal(literal) => literal == value,
            Self::Compound(Compound::Record(label, fields)) => {
                value.is_record() && IOValue::from(value.label()) == *label && each(fields, value, bound)
            }
            Self::Compound(Compound::Sequence(items)) => value.is_sequence() && each(items, value, bound),
            Self::Compound(Compound::Dictionary(entries)) => {
                value.is_dictionary()
                    && entries.iter().all(|(key, pattern)| {
                        let found = value.get(key.value());
                        found.is_some_and(|found| pattern.collect(&found.into(), bound))
                    })
            }
        }
    }
}

fn each(patterns: &[Pattern], value: &IOValue, bound: &mut Vec<IOValue>) -> bool {
    let mut pairs = patterns.iter().zip(value.iter());
    value.len() == patterns.len() && pairs.all(|(pattern, part)| pattern.collect(&part.into(), bound))
}
