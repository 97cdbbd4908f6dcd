//! Looking into packed bytes without decoding them.
//!
//! Owns [`View`], one value inside a [`PackedValue`]. INVARIANT: a view is exactly one canonical value, because it was cut out of bytes that
//! were checked; so its parts are found by their lengths and ends alone, and two values are equal exactly if their bytes are.
//! It does not check anything; `packed/scan.rs` does.
//! Read next: `packed/value.rs`.

use std::fmt;

use preserves::IOValue;

use super::write::tag;
use super::{MAX_DEPTH, PackedValue, PackedValues, value};

/// One value inside a packed value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View<'a>(&'a [u8]);

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

/// What a packed value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It has no parts.
    Atom,
    /// Its first part is the label, the others are the fields.
    Record,
    /// Its parts are the elements.
    Sequence,
    /// Its parts are the elements, in the order of their bytes.
    Set,
    /// Its parts are keys and values in turn, in the order of the keys' bytes.
    Dictionary,
    /// Its one part is what is embedded.
    Embedded,
}

impl PackedValue {
    /// Looks into the value.
    pub fn view(&self) -> View<'_> {
        View(self.as_bytes())
    }
}

impl<'a> View<'a> {
    /// Looks into bytes that were checked to be one canonical value.
    #[inline]
    pub(crate) fn checked(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the canonical bytes.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Decodes to a tree.
    pub fn to_value(self) -> IOValue {
        value::decode(self.0, MAX_DEPTH).expect("a view is a canonical value")
    }

    /// Says what the value is made of.
    #[inline]
    pub fn class(self) -> Class {
        match self.0[0] {
            tag::RECORD => Class::Record,
            tag::SEQUENCE => Class::Sequence,
            tag::SET => Class::Set,
            tag::DICTIONARY => Class::Dictionary,
            tag::EMBEDDED => Class::Embedded,
            _ => Class::Atom,
        }
    }

    /// Returns the number, if this is an integer from 0 to 2⁶⁴ − 1.
    pub fn unsigned(self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        if first != tag::INTEGER {
            return None;
        }
        let (length, prefix) = atom_length(rest);
        let digits = &rest[prefix..];
        // The ninth byte is a zero before one whose top bit would read as a sign.
        let is_small = length <= 8 || (length == 9 && digits[0] == 0);
        let is_negative = digits.first().is_some_and(|first| first & 0x80 != 0);
        let number = || {
            digits
                .iter()
                .fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
        };
        (is_small && !is_negative).then(number)
    }

    /// Walks over the parts, from the first; an atom has none.
    #[inline]
    pub fn parts(self) -> Parts<'a> {
        let (start, end) = match self.class() {
            Class::Atom => (0, 0),
            Class::Embedded => (1, self.0.len()),
            Class::Record | Class::Sequence | Class::Set | Class::Dictionary => (1, self.0.len() - 1),
        };
        Parts(&self.0[start..end])
    }

    /// Walks over the fields of a record or the elements of a sequence; anything else has none.
    #[inline]
    pub fn items(self) -> Parts<'a> {
        let mut parts = self.parts();
        match self.class() {
            Class::Sequence => parts,
            Class::Record => {
                parts.next();
                parts
            }
            Class::Atom | Class::Set | Class::Dictionary | Class::Embedded => Parts(&[]),
        }
    }

    /// Walks over the entries of a dictionary; anything else has none.
    pub fn entries(self) -> impl Iterator<Item = (View<'a>, View<'a>)> {
        let mut parts = if self.class() == Class::Dictionary {
            self.parts()
        } else {
            Parts(&[])
        };
        std::iter::from_fn(move || parts.next().zip(parts.next()))
    }

    /// Returns the label, if this is a record.
    #[inline]
    pub fn label(self) -> Option<View<'a>> {
        if self.class() == Class::Record {
            self.parts().next()
        } else {
            None
        }
    }
}

/// The parts of a value, one after the other.
#[derive(Clone, Debug)]
pub struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    /// Walks over a list of values.
    pub(super) fn of(values: &'a PackedValues) -> Self {
        Self(values.as_bytes())
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = View<'a>;

    #[inline]
    fn next(&mut self) -> Option<View<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let (first, rest) = self.0.split_at(length(self.0));
        self.0 = rest;
        Some(View(first))
    }
}

/// Returns the length of the value that `bytes` begin with.
#[inline]
fn length(bytes: &[u8]) -> usize {
    match *bytes {
        // Most parts are short atoms.
        [tag::INTEGER..=tag::SYMBOL, length @ 0..0x80, ..] => 2 + usize::from(length),
        _ => any_length(bytes),
    }
}

fn any_length(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        let tag = bytes[at];
        at += 1;
        match tag {
            tag::RECORD | tag::SEQUENCE | tag::SET | tag::DICTIONARY => {
                depth += 1;
                continue;
            }
            tag::EMBEDDED => continue,
            tag::END => depth -= 1,
            tag::FALSE | tag::TRUE => {}
            _ => {
                let (length, prefix) = atom_length(&bytes[at..]);
                at += prefix + length;
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

/// Reads the length of an atom, and returns how many bytes say it.
fn atom_length(bytes: &[u8]) -> (usize, usize) {
    let mut length = 0;
    for (index, byte) in bytes.iter().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return (length, index + 1);
        }
    }
    unreachable!("the length of a checked atom ends")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a value by its views alone.
    fn show(view: View<'_>) -> String {
        let parts: Vec<String> = view.parts().map(show).collect();
        if view.class() == Class::Atom {
            return format!("{:?}", view.to_value());
        }
        format!("{:?}({})", view.class(), parts.join(" "))
    }

    #[test]
    fn views_find_the_parts() {
        let check = |text: &str, expected: &str| {
            let value = text.parse().expect("well formed");
            let packed = PackedValue::from_value(&value).expect("within limits");
            assert_eq!(show(packed.view()), expected);
            assert_eq!(packed.view().to_value(), value);
        };
        check("5", "5");
        check("<p 1 [#t \"x\"] #{}>", "Record(p 1 Sequence(#t \"x\") Set())");
        check("{a: 1 b: {}}", "Dictionary(a 1 b Dictionary())");
        check(
            "[#:<x> #{2 1} <<q> 0>]",
            "Sequence(Embedded(Record(x)) Set(1 2) Record(Record(q) 0))",
        );
        let long = "y".repeat(300);
        check(&format!("[\"{long}\" 1.5]"), &format!("Sequence(\"{long}\" 1.5)"));
    }

    #[test]
    fn small_numbers_are_read_without_a_tree() {
        let check = |text: &str, expected: Option<u64>| {
            let value = text.parse().expect("well formed");
            let packed = PackedValue::from_value(&value).expect("within limits");
            assert_eq!(packed.view().unsigned(), expected, "{text}");
        };
        for number in [0, 1, 127, 128, 255, 65_535, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            check(&number.to_string(), Some(number));
        }
        for other in ["-1", "-256", "18446744073709551616", "1.0", "\"1\"", "a", "[1]", "#t"] {
            check(other, None);
        }
    }

    #[test]
    fn items_and_entries_leave_labels_and_other_kinds_out() {
        let packed = |text: &str| PackedValue::from_value(&text.parse().expect("well formed")).expect("within limits");
        let items = |text: &str| packed(text).view().items().map(show).collect::<Vec<_>>();
        assert_eq!(items("<p 1 2>"), ["1", "2"]);
        assert_eq!(items("[1 2]"), ["1", "2"]);
        assert!(items("{1: 2}").is_empty() && items("#{1}").is_empty() && items("1").is_empty());
        let dictionary = packed("{a: 1 b: 2}");
        let entries: Vec<_> = dictionary
            .view()
            .entries()
            .map(|(key, value)| show(key) + &show(value))
            .collect();
        assert_eq!(entries, ["a1", "b2"]);
        assert_eq!(packed("<p 1>").view().label().map(show).as_deref(), Some("p"));
        assert_eq!(packed("[p 1]").view().label(), None);
    }
}
