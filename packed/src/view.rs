//! Looking into packed bytes without decoding them.
//!
//! INVARIANT: a [`View`] is exactly one canonical value, because it was cut out of bytes that were
//! checked; so its parts are found by their lengths and ends alone, and two values are equal
//! exactly if their bytes are.
//! It does not check anything; `reader.rs` does.
//! Read next: `value.rs`.

use crate::format::{tag, unsigned, varint};

/// One value inside a packed value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View<'a>(&'a [u8]);

/// The kind of a packed value, by its parts.
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

impl<'a> View<'a> {
    /// Looks into bytes that were checked to be one canonical value; of other bytes a view says
    /// anything, or panics.
    #[inline]
    pub fn checked(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the canonical bytes.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
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
        match self.0 {
            [tag::INTEGER, length @ 0..0x80, digits @ ..] => unsigned(&digits[..usize::from(*length)]),
            // Longer ones are larger.
            _ => None,
        }
    }

    /// Returns the text, if this is a string.
    #[inline]
    pub fn string(self) -> Option<&'a str> {
        self.text(tag::STRING)
    }

    /// Returns the name, if this is a symbol.
    #[inline]
    pub fn symbol(self) -> Option<&'a str> {
        self.text(tag::SYMBOL)
    }

    /// Returns the UTF-8 bytes of the text, if this is a string or a symbol.
    #[inline]
    pub fn utf8(self) -> Option<&'a [u8]> {
        if self.0[0] == tag::STRING || self.0[0] == tag::SYMBOL {
            self.content()
        } else {
            None
        }
    }

    /// Says whether this is a symbol.
    #[inline]
    pub fn is_symbol(self) -> bool {
        self.0[0] == tag::SYMBOL
    }

    fn text(self, tag: u8) -> Option<&'a str> {
        if self.0[0] == tag {
            str::from_utf8(self.content()?).ok()
        } else {
            None
        }
    }

    /// The bytes behind the length of an atom that has one.
    fn content(self) -> Option<&'a [u8]> {
        let mut at = 1;
        varint::take(self.0, &mut at)?;
        Some(&self.0[at..])
    }

    /// Says whether the value is at most `levels` deep; of one with something embedded it may say
    /// no.
    pub(crate) fn is_within(self, levels: usize) -> bool {
        let (mut at, mut depth) = (0, 0_usize);
        while let Some(tag) = self.0.get(at) {
            at += 1;
            match *tag {
                tag::RECORD | tag::SEQUENCE | tag::SET | tag::DICTIONARY if depth == levels => return false,
                tag::RECORD | tag::SEQUENCE | tag::SET | tag::DICTIONARY => depth += 1,
                tag::EMBEDDED => return false,
                tag::END => depth -= 1,
                tag::FALSE | tag::TRUE => {}
                _ => skip_content(self.0, &mut at),
            }
        }
        true
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
    /// Walks over canonical values, one after the other.
    pub(crate) fn of(values: &'a [u8]) -> Self {
        Self(values)
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
            _ => skip_content(bytes, &mut at),
        }
        if depth == 0 {
            return at;
        }
    }
}

/// Moves behind the content of an atom, from its length on.
#[inline]
fn skip_content(bytes: &[u8], at: &mut usize) {
    let length = match bytes[*at] {
        length @ 0..0x80 => {
            *at += 1;
            length.into()
        }
        _ => varint::take(bytes, at).expect("the length of a checked atom is sound"),
    };
    *at += length as usize;
}
