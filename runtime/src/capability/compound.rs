//! The compound values that the patterns and the templates of caveats have in common.
//!
//! INVARIANT: reading one reads every part with the reader of its owner, so that the owner's limit
//! of depth holds for the parts.
//! It neither matches nor builds values; `pattern.rs` and `template.rs` do.
//! Read next: `pattern.rs`.

use preserves::{IOValue, Value, ValueImpl};

use super::error::CaveatError;
use crate::model::codec::label_of;

/// A compound value with parts of type `T`.
#[derive(Clone, Debug, PartialEq)]
pub enum Compound<T> {
    /// A record with this label and these fields.
    Record(IOValue, Vec<T>),
    /// A sequence of these items.
    Sequence(Vec<T>),
    /// A dictionary with these entries.
    Dictionary(Vec<(IOValue, T)>),
}

impl<T> Compound<T> {
    /// Reads `<rec LABEL [FIELD …]>`, `<arr [ITEM …]>` or `<dict {KEY: VALUE …}>`, and the parts
    /// with `part`; returns `None` for any other value.
    pub(super) fn read(
        source: &IOValue,
        mut part: impl FnMut(&IOValue) -> Result<T, CaveatError>,
    ) -> Result<Option<Self>, CaveatError> {
        let Some(label) = label_of(source) else {
            return Ok(None);
        };
        let fields: Vec<IOValue> = source.iter().map(IOValue::from).collect();
        let mut all = |items: &IOValue| {
            items
                .iter()
                .map(|item| part(&item.into()))
                .collect::<Result<_, CaveatError>>()
        };
        Ok(match (label.as_str(), &fields[..]) {
            ("rec", [label, fields]) if fields.is_sequence() => Some(Self::Record(label.clone(), all(fields)?)),
            ("arr", [items]) if items.is_sequence() => Some(Self::Sequence(all(items)?)),
            ("dict", [entries]) if entries.is_dictionary() => {
                let entry = |(key, value): (_, Value<IOValue>)| Ok((IOValue::from(key), part(&value.into())?));
                let entries: Result<_, CaveatError> = entries.entries().map(entry).collect();
                Some(Self::Dictionary(entries?))
            }
            _ => None,
        })
    }

    /// Iterates over the parts, from left to right.
    pub(super) fn parts(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Self::Record(_, parts) | Self::Sequence(parts) => Box::new(parts.iter()),
            Self::Dictionary(entries) => Box::new(entries.iter().map(|(_, part)| part)),
        }
    }
}
