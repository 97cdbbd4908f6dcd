//! Patterns: which values an observer wants, and which parts it receives.
//!
//! Owns [`Pattern`], its encoding as a value, and matching by a walk over the value, which defines
//! the result that the index must produce.
//! INVARIANT: a pattern is no deeper than the value that it was read from, so recursion on it is
//! bounded.
//! It does not know how many patterns or facts exist; `index.rs` does.
//! Read next: `form.rs`.
//!
//! Source: the schema `dataspacePatterns` of the Syndicate protocols. Groups are extensible:
//! `<p _>` matches `<p 1 2>`. Two extensions are Duet's own: a group type with a second field,
//! `<rec label size>`, `<arr size>`, `<dict size>`, fixes the number of entries, and a literal may
//! be any value.

use std::fmt;

use duet_journal::packed::{Class, Compound, PackedError, PackedWriter, View};
use preserves::{IOValue, Value, ValueImpl};

use crate::model::codec::{Codec, DecodeError, Fields, label_of};
use crate::model::value::{Fact, Ordered, Tree, compare};

/// A condition on a value, with the parts to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Matches any value.
    Discard,
    /// Captures the value if the inner pattern matches it.
    Bind(Box<Pattern>),
    /// Matches an equal value.
    Literal(Fact),
    /// Matches a compound of the kind whose entries match.
    Group {
        /// The kind of compound.
        kind: GroupKind,
        /// The exact number of entries; `None` means any number.
        size: Option<u64>,
        /// Patterns for some of the entries, in ascending order of their steps.
        entries: Vec<(Step, Pattern)>,
    },
}

/// The kinds of compounds a group matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKind {
    /// A record with this label.
    Record(Fact),
    /// A sequence.
    Sequence,
    /// A dictionary.
    Dictionary,
}

/// One step from a compound to one of its entries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A field of a record or an element of a sequence, counted from 0.
    Index(u64),
    /// A dictionary's value under this key.
    Key(Fact),
}

impl Step {
    /// Takes the step; `None` if `from` has no such entry.
    pub(crate) fn take(&self, from: &Tree) -> Option<Tree> {
        match self {
            Self::Index(index) if from.is_record() || from.is_sequence() => {
                let index = usize::try_from(*index).ok().filter(|index| *index < from.len())?;
                Some(from.index(index))
            }
            Self::Key(key) if from.is_dictionary() => from.get(key.value().value()),
            Self::Index(_) | Self::Key(_) => None,
        }
    }
}

impl Step {
    /// Takes the step inside packed bytes; `None` if `from` has no such entry.
    #[inline]
    pub(crate) fn find<'a>(&self, from: View<'a>) -> Option<View<'a>> {
        match self {
            Self::Index(index) => from.items().nth(usize::try_from(*index).ok()?),
            Self::Key(sought) => {
                let mut entries = from.entries();
                entries.find_map(|(key, part)| (key == sought.view()).then_some(part))
            }
        }
    }
}

impl GroupKind {
    /// Says whether packed bytes are a compound of this kind, with exactly `size` entries if a size
    /// is given.
    pub(crate) fn is_kind_of(&self, size: Option<u64>, value: View<'_>) -> bool {
        let is_kind = match self {
            Self::Record(label) => value.label() == Some(label.view()),
            Self::Sequence => value.class() == Class::Sequence,
            Self::Dictionary => value.class() == Class::Dictionary,
        };
        let length = || (value.items().count() + value.entries().count()) as u64;
        is_kind && size.is_none_or(|size| length() == size)
    }

    /// Says whether `value` is a compound of this kind, with exactly `size` entries if a size is
    /// given.
    pub(crate) fn admits(&self, size: Option<u64>, value: &Tree) -> bool {
        let is_kind = match self {
            Self::Record(label) => value.is_record() && compare(&label.value(), &value.label().into()).is_eq(),
            Self::Sequence => value.is_sequence(),
            Self::Dictionary => value.is_dictionary(),
        };
        is_kind && size.is_none_or(|size| value.len() as u64 == size)
    }
}

impl Pattern {
    /// Makes a pattern that captures every value that `inner` matches.
    pub fn bind(inner: Pattern) -> Self {
        Self::Bind(Box::new(inner))
    }

    /// Makes a pattern for a record whose first fields match `fields`; more fields may follow.
    pub fn record(label: Fact, fields: Vec<Pattern>) -> Self {
        let entries = (0..).map(Step::Index).zip(fields).collect();
        Self::Group {
            kind: GroupKind::Record(label),
            size: None,
            entries,
        }
    }

    /// Says whether any value can match: whether every wanted entry fits into the size of its
    /// group.
    pub fn is_possible(&self) -> bool {
        match self {
            Self::Discard | Self::Literal(_) => true,
            Self::Bind(inner) => inner.is_possible(),
            Self::Group { size, entries, .. } => {
                let fits = |size: u64, step: &Step| match step {
                    Step::Index(index) => *index < size,
                    Step::Key(_) => entries.len() as u64 <= size,
                };
                let is_in = |step: &Step| size.is_none_or(|size| fits(size, step));
                entries.iter().all(|(step, inner)| is_in(step) && inner.is_possible())
            }
        }
    }

    /// Returns the captures in `value`, outer captures before inner ones, entries in order; `None`
    /// if it does not match.
    pub fn matches(&self, value: &IOValue) -> Option<Vec<IOValue>> {
        let mut captures = Vec::new();
        self.collect(value.value(), &mut captures).then_some(captures)
    }

    fn collect(&self, value: &Tree, captures: &mut Vec<IOValue>) -> bool {
        match self {
            Self::Discard => true,
            Self::Bind(inner) => {
                captures.push(value.clone().into());
                inner.collect(value, captures)
            }
            Self::Literal(literal) => compare(&literal.value(), &value.clone().into()).is_eq(),
            Self::Group { kind, size, entries } => {
                kind.admits(*size, value)
                    && entries
                        .iter()
                        .all(|(step, inner)| step.take(value).is_some_and(|entry| inner.collect(&entry, captures)))
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.encode())
    }
}

impl Codec for Pattern {
    fn write(&self, out: &mut PackedWriter) {
        match self {
            Self::Discard => out.record("_", |_| ()),
            Self::Bind(inner) => out.record("bind", |out| Codec::write(&**inner, out)),
            Self::Literal(literal) => out.record("lit", |out| Codec::write(literal, out)),
            Self::Group { kind, size, entries } => out.record("group", |out| {
                write_kind(kind, *size, out);
                out.open(Compound::Dictionary);
                for (step, inner) in entries {
                    match step {
                        Step::Index(index) => Codec::write(index, out),
                        Step::Key(key) => Codec::write(key, out),
                    }
                    Codec::write(inner, out);
                }
                out.close(Compound::Dictionary);
            }),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        match label_of(value).as_deref() {
            Some("_") => Fields::of(value, "_", 0).map(|_| Self::Discard),
            Some("bind") => Ok(Self::bind(Fields::of(value, "bind", 1)?.read("pattern")?)),
            Some("lit") => Ok(Self::Literal(Fields::of(value, "lit", 1)?.read("value")?)),
            Some("group") => {
                let mut fields = Fields::of(value, "group", 2)?;
                let (kind, size) = decode_kind(&fields.read("type")?)?;
                let entries = decode_entries(&kind, &fields.read("entries")?)?;
                Ok(Self::Group { kind, size, entries })
            }
            _ => Err(DecodeError::kind("a pattern", value)),
        }
    }
}

/// A pattern in its canonical bytes, the form for records and for memory; cheap to clone.
///
/// A pattern that is observed is in the bytes of its `Observe` fact, so that a wait takes no memory
/// for another copy.
#[derive(Clone)]
pub struct PackedPattern(Fact);

/// The packed symbol that labels an `Observe` fact; no pattern has this label.
pub(super) const OBSERVE: &[u8] = b"\xb3\x07Observe";

impl PackedPattern {
    /// Packs a pattern.
    ///
    /// # Errors
    /// [`PackedError`] if it is too large for a record.
    pub fn of(pattern: &Pattern) -> Result<Self, PackedError> {
        Fact::write(|out| Codec::write(pattern, out)).map(Self)
    }

    /// Says whether the pattern matches every value and captures it whole.
    pub(crate) fn is_anything(&self) -> bool {
        Self::of(&Pattern::bind(Pattern::Discard)).is_ok_and(|anything| anything == *self)
    }

    /// Returns the pattern of an `Observe` fact, without a copy.
    pub(crate) fn observed_by(fact: Fact) -> Self {
        Self(fact)
    }

    /// Returns a view of the bytes.
    pub(crate) fn view(&self) -> View<'_> {
        let whole = self.0.view();
        if whole.label().is_some_and(|label| label.as_bytes() == OBSERVE) {
            whole.items().next().unwrap_or(whole)
        } else {
            whole
        }
    }
}

impl PartialEq for PackedPattern {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl Eq for PackedPattern {}

impl fmt::Debug for PackedPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().to_value().fmt(f)
    }
}

impl fmt::Display for PackedPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Codec for PackedPattern {
    fn write(&self, out: &mut PackedWriter) {
        out.packed(self.view());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Pattern::decode(value)?;
        Fact::decode(value).map(Self)
    }
}

/// Reads a pattern from packed bytes without building a tree.
impl Pattern {
    pub(crate) fn read(value: View<'_>) -> Option<Self> {
        let mut fields = value.items();
        let pattern = match value.label()?.as_bytes() {
            DISCARD => Self::Discard,
            BIND => Self::bind(Self::read(fields.next()?)?),
            LITERAL => Self::Literal(fields.next()?.into()),
            GROUP => {
                let (kind, size) = read_kind(fields.next()?)?;
                let entries = read_entries(&kind, fields.next()?)?;
                Self::Group { kind, size, entries }
            }
            _ => return None,
        };
        fields.next().is_none().then_some(pattern)
    }
}

/// The packed symbols that label the kinds of patterns and of groups.
const DISCARD: &[u8] = b"\xb3\x01_";
const BIND: &[u8] = b"\xb3\x04bind";
const LITERAL: &[u8] = b"\xb3\x03lit";
const GROUP: &[u8] = b"\xb3\x05group";
const RECORD: &[u8] = b"\xb3\x03rec";
const SEQUENCE: &[u8] = b"\xb3\x03arr";
const DICTIONARY: &[u8] = b"\xb3\x04dict";

fn read_kind(value: View<'_>) -> Option<(GroupKind, Option<u64>)> {
    let mut fields = value.items();
    let kind = match value.label()?.as_bytes() {
        RECORD => GroupKind::Record(fields.next()?.into()),
        SEQUENCE => GroupKind::Sequence,
        DICTIONARY => GroupKind::Dictionary,
        _ => return None,
    };
    let size = match fields.next() {
        Some(size) => Some(size.unsigned()?),
        None => None,
    };
    fields.next().is_none().then_some((kind, size))
}

fn read_entries(kind: &GroupKind, value: View<'_>) -> Option<Vec<(Step, Pattern)>> {
    let read = |(key, entry): (View<'_>, View<'_>)| {
        let step = match kind {
            GroupKind::Record(_) | GroupKind::Sequence => Step::Index(key.unsigned()?),
            GroupKind::Dictionary => Step::Key(key.into()),
        };
        Some((step, Pattern::read(entry)?))
    };
    if value.class() != Class::Dictionary {
        return None;
    }
    let mut entries = value.entries().map(read).collect::<Option<Vec<_>>>()?;
    match kind {
        GroupKind::Record(_) | GroupKind::Sequence => entries.sort_by(|(left, _), (right, _)| left.cmp(right)),
        GroupKind::Dictionary => entries.sort_by_cached_key(|(step, _)| Ordered(encode_step(step))),
    }
    Some(entries)
}

fn encode_step(step: &Step) -> IOValue {
    match step {
        Step::Index(index) => index.encode(),
        Step::Key(key) => key.value(),
    }
}

fn write_kind(kind: &GroupKind, size: Option<u64>, out: &mut PackedWriter) {
    let (name, label) = match kind {
        GroupKind::Record(label) => ("rec", Some(label)),
        GroupKind::Sequence => ("arr", None),
        GroupKind::Dictionary => ("dict", None),
    };
    out.record(name, |out| {
        label.into_iter().for_each(|label| Codec::write(label, out));
        size.into_iter().for_each(|size| Codec::write(&size, out));
    });
}

fn decode_kind(value: &IOValue) -> Result<(GroupKind, Option<u64>), DecodeError> {
    let (label, required) = match label_of(value).as_deref() {
        Some("rec") => ("rec", 1),
        Some("arr") => ("arr", 0),
        Some("dict") => ("dict", 0),
        _ => return Err(DecodeError::kind("a group type", value)),
    };
    let is_sized = value.value().len() > required;
    let mut fields = Fields::of(value, label, required + usize::from(is_sized))?;
    let kind = match label {
        "rec" => GroupKind::Record(fields.read("label")?),
        "arr" => GroupKind::Sequence,
        _ => GroupKind::Dictionary,
    };
    let size = if is_sized { Some(fields.read("size")?) } else { None };
    Ok((kind, size))
}

fn decode_entries(kind: &GroupKind, value: &IOValue) -> Result<Vec<(Step, Pattern)>, DecodeError> {
    if !value.is_dictionary() {
        return Err(DecodeError::kind("a dictionary of entries", value));
    }
    let mut entries: Vec<(IOValue, IOValue)> = value
        .value()
        .entries()
        .map(|(key, entry): (Value<IOValue>, Value<IOValue>)| (key.into(), entry.into()))
        .collect();
    entries.sort_by(|(left, _), (right, _)| compare(left, right));
    let decode = |(key, entry): (IOValue, IOValue)| {
        let step = match kind {
            GroupKind::Record(_) | GroupKind::Sequence => Step::Index(u64::decode(&key)?),
            GroupKind::Dictionary => Step::Key(Fact::decode(&key)?),
        };
        Ok((step, Pattern::decode(&entry)?))
    };
    entries.into_iter().map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, value: &str, expected: Option<&str>) {
        let pattern: IOValue = pattern.parse().expect("the pattern is well formed");
        let value: IOValue = value.parse().expect("the value is well formed");
        let compiled = Pattern::decode(&pattern).expect("the pattern is one");
        assert_eq!(compiled.encode(), pattern, "encoding gives the pattern back");
        let captures = compiled.matches(&value).map(IOValue::new);
        assert_eq!(
            captures,
            expected.map(|text| text.parse().expect("well formed")),
            "{pattern:?} on {value:?}"
        );
    }

    #[test]
    fn matching_follows_the_schema() {
        check("<_>", "1", Some("[]"));
        check("<bind <_>>", "[1]", Some("[[1]]"));
        check("<lit 1>", "1", Some("[]"));
        check("<lit 1>", "1.0", None);
        check("<lit [1]>", "[1]", Some("[]"));
        check("<group <rec p> {0: <bind <_>>}>", "<p 1>", Some("[1]"));
        check("<group <rec p> {0: <bind <_>>}>", "<p 1 2>", Some("[1]"));
        check("<group <rec p> {0: <bind <_>>}>", "<p>", None);
        check("<group <rec p> {0: <bind <_>>}>", "<q 1>", None);
        check("<group <rec p> {0: <bind <_>>}>", "[1]", None);
        check("<group <rec p 1> {0: <bind <_>>}>", "<p 1>", Some("[1]"));
        check("<group <rec p 1> {0: <bind <_>>}>", "<p 1 2>", None);
        check("<group <arr> {1: <lit 2>}>", "[1 2 3]", Some("[]"));
        check("<group <arr 2> {1: <lit 2>}>", "[1 2 3]", None);
        check("<group <arr> {1: <_>}>", "[1]", None);
        check("<group <dict> {a: <bind <_>>}>", "{a: 1 b: 2}", Some("[1]"));
        check("<group <dict 1> {a: <bind <_>>}>", "{a: 1 b: 2}", None);
        check("<group <dict> {a: <_>}>", "{b: 2}", None);
        check("<bind <group <arr> {0: <bind <_>>}>>", "[1 2]", Some("[[1 2] 1]"));
        check(
            "<group <arr> {0: <bind <_>> 10: <bind <_>> 2: <bind <_>>}>",
            "[0 1 2 3 4 5 6 7 8 9 10]",
            Some("[0 2 10]"),
        );
        check("<group <rec [x]> {}>", "<[x]>", Some("[]"));
    }

    #[track_caller]
    fn refuse(pattern: &str, expected: &str) {
        let pattern: IOValue = pattern.parse().expect("well formed");
        assert_eq!(
            Pattern::decode(&pattern).map_err(|error| error.to_string()),
            Err(expected.into())
        );
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        refuse("1", "expected a pattern, found 1");
        refuse("<_ 1>", "`_` has 0 fields, 1 was found");
        refuse("<group <set> {}>", "expected a group type, found <set>");
        refuse("<group <rec> {}>", "`rec` has 1 field, 0 were found");
        refuse("<group <arr> []>", "expected a dictionary of entries, found []");
        refuse("<group <arr> {a: <_>}>", "expected a non-negative integer, found a");
    }

    #[test]
    fn a_pattern_that_nothing_can_match_is_known() {
        let is_possible = |text: &str| {
            let pattern: IOValue = text.parse().expect("well formed");
            Pattern::decode(&pattern).expect("a pattern").is_possible()
        };
        assert!(is_possible("<group <rec p 2> {1: <_>}>"));
        assert!(!is_possible("<bind <group <rec p 1> {1: <_>}>>"));
        assert!(!is_possible("<group <dict 1> {a: <_> b: <_>}>"));
        assert!(!is_possible("<group <arr> {0: <group <arr 0> {0: <_>}>}>"));
    }
}
