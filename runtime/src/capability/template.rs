//! Templates of caveats: how a rewrite builds a value from the parts that a pattern bound.
//!
//! INVARIANT: a template refers only to parts that its pattern binds, because reading a caveat
//! checks this.
//! It does not match values; `pattern.rs` does.
//! Read next: `sturdy.rs`.

use preserves::{IOValue, Map, Value, ValueImpl};

use super::caveat::Caveat;
use super::compound::Compound;
use super::error::{CaveatError, shown};
use crate::model::codec::label_of;

/// Makes a narrower capability from a reference to one; returns `None` for any other value.
pub type Attenuate<'a> = dyn FnMut(&IOValue, &[Caveat]) -> Option<IOValue> + 'a;

/// A template.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// The capability that the inner template produces, narrowed by these caveats.
    Attenuate(Box<Template>, Vec<Caveat>),
    /// A bound part, counted from 0.
    Reference(usize),
    /// This value.
    Literal(IOValue),
    /// A compound value.
    Compound(Compound<Template>),
}

impl Template {
    /// Reads a template, at most `depth` levels deep.
    ///
    /// # Errors
    /// [`CaveatError`].
    pub(super) fn read(source: &IOValue, depth: usize) -> Result<Self, CaveatError> {
        let depth = depth.checked_sub(1).ok_or(CaveatError::TooDeep)?;
        let wrong = || CaveatError::NotATemplate { found: shown(source) };
        let label = label_of(source).ok_or_else(wrong)?;
        let fields: Vec<IOValue> = source.iter().map(IOValue::from).collect();
        if let Some(compound) = Compound::read(source, |part| Self::read(part, depth))? {
            return Ok(Self::Compound(compound));
        }
        match (label.as_str(), &fields[..]) {
            ("attenuate", [inner, caveats]) if caveats.is_sequence() => {
                let caveats = caveats.iter().map(|caveat| Caveat::read(&caveat.into()));
                let inner = Box::new(Self::read(inner, depth)?);
                Ok(Self::Attenuate(inner, caveats.collect::<Result<_, _>>()?))
            }
            ("ref", [number]) => {
                let number = number.as_u64().and_then(Result::ok);
                Ok(Self::Reference(
                    number
                        .and_then(|number| usize::try_from(number).ok())
                        .ok_or_else(wrong)?,
                ))
            }
            ("lit", [value]) => Ok(Self::Literal(value.clone())),
            _ => Err(wrong()),
        }
    }

    /// Returns the highest number of a part that it refers to.
    pub(super) fn highest(&self) -> Option<usize> {
        match self {
            Self::Reference(number) => Some(*number),
            Self::Literal(_) => None,
            Self::Attenuate(inner, _) => inner.highest(),
            Self::Compound(compound) => compound.parts().filter_map(Self::highest).max(),
        }
    }

    /// Builds the value from the bound parts; returns `None` if the template narrows a value that
    /// is not a capability.
    pub(super) fn fill(&self, bound: &[IOValue], attenuate: &mut Attenuate<'_>) -> Option<IOValue> {
        let mut all = |items: &[Self]| {
            items
                .iter()
                .map(|item| item.fill(bound, attenuate))
                .collect::<Option<Vec<_>>>()
        };
        match self {
            Self::Reference(number) => bound.get(*number).cloned(),
            Self::Literal(value) => Some(value.clone()),
            Self::Compound(Compound::Record(label, fields)) => Some(IOValue::record(label.clone(), all(fields)?)),
            Self::Compound(Compound::Sequence(items)) => Some(IOValue::new(all(items)?)),
            Self::Attenuate(inner, caveats) => {
                let inner = inner.fill(bound, attenuate)?;
                attenuate(&inner, caveats)
            }
            Self::Compound(Compound::Dictionary(entries)) => {
                let mut filled = Map::new();
                for (key, template) in entries {
                    filled.insert(Value::from(key.clone()), template.fill(bound, attenuate)?);
                }
                Some(IOValue::new(filled))
            }
        }
    }
}
