//! Lists of forms of two units, and how like two of the forms are.
//!
//! Read next: `../alignment.rs`.

use super::side::{Hash, Side};
use crate::core::CoreId;

/// How much two forms have in common, the most first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Everything.
    Equal,
    /// Everything but what tells the form from others.
    Renamed,
    /// The procedure and the first operand.
    Close,
    /// The procedure.
    Loose,
    /// The place.
    Any,
}

impl Likeness {
    pub(super) const ALL: [Self; 5] = [Self::Equal, Self::Renamed, Self::Close, Self::Loose, Self::Any];
}

/// The forms of a list, and the places of those that nothing matches yet.
pub(super) struct Listed<'a> {
    side: &'a Side<'a>,
    forms: &'a [CoreId],
    pub(super) left: Vec<usize>,
}

impl<'a> Listed<'a> {
    pub(super) fn of(side: &'a Side<'a>, forms: &'a [CoreId], is_matched: impl Fn(CoreId) -> bool) -> Self {
        let left = (0..forms.len()).filter(|place| !is_matched(forms[*place]));
        Self {
            side,
            forms,
            left: left.collect(),
        }
    }

    /// The part that a form shares with forms of this likeness; nothing if no form is like it so.
    pub(super) fn key(&self, place: usize, likeness: Likeness) -> Option<String> {
        let form = self.forms[place];
        if likeness == Likeness::Equal {
            return Some(shown(self.side.hash(form)));
        }
        let identity = self.side.identity(self.forms, place);
        if likeness == Likeness::Renamed {
            return self.side.rest(form).filter(|_| identity.is_some());
        }
        let text = match likeness {
            Likeness::Close => self.side.key(form, true),
            Likeness::Loose => self.side.key(form, false),
            Likeness::Equal | Likeness::Renamed | Likeness::Any => String::new(),
        };
        Some(format!("{text} {}", identity.map(shown).unwrap_or_default()))
    }

    /// Whether only its place tells a form with an unnamed procedure from others.
    pub(super) fn is_only_placed(&self, place: usize) -> bool {
        let form = self.forms[place];
        self.side.has_procedure(form)
            && !self.side.is_definition(form)
            && self.side.identity(self.forms, place).is_none()
    }
}

fn shown(hash: Hash) -> String {
    blake3::Hash::from_bytes(hash).to_string()
}

/// The places of an old form and of a new one in their lists.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) old: usize,
    pub(super) new: usize,
}

impl Standing {
    /// Whether a matched form stands before one of the two and behind the other.
    pub(super) fn crosses_any(self, matched: &[Standing]) -> bool {
        matched
            .iter()
            .any(|other| (other.old < self.old) != (other.new < self.new))
    }
}
