//! Tokens of either encoding become one canonical packed value.
//!
//! INVARIANT: it accepts a token only where the grammar allows it, so the accepted tokens make
//! exactly one value; annotations leave no trace in it.
//! It does not read bytes; `packed.rs` and `text.rs` do. Read next: `packed.rs`.

use std::borrow::Cow;

use crate::{Compound, MAX_DEPTH, PackedFault, PackedLimits, PackedWriter};
use num_bigint::BigInt;

use super::{Encoding, Fault};

/// A value without parts.
pub(super) enum Atom<'a> {
    Boolean(bool),
    Double(f64),
    Integer(BigInt),
    String(Cow<'a, str>),
    ByteString(Cow<'a, [u8]>),
    Symbol(Cow<'a, str>),
}

/// A part of a value as it stands in a stream.
pub(super) enum Token<'a> {
    Atom(Atom<'a>),
    Open(Compound),
    Close(Closer),
    /// An annotation follows, and then the value that it is about.
    Annotation,
    /// Between a key and its value, in text.
    Colon,
    /// Between values, in text.
    Comma,
}

/// The ends of compound values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closer {
    /// Of any compound value.
    Any,
    Angle,
    Bracket,
    Brace,
}

impl Closer {
    fn fits(self, place: Position) -> bool {
        match place {
            Position::Record { .. } => matches!(self, Self::Any | Self::Angle),
            Position::Sequence => matches!(self, Self::Any | Self::Bracket),
            Position::Set | Position::Dictionary(_) => matches!(self, Self::Any | Self::Brace),
            Position::Embedded | Position::Annotation => false,
        }
    }
}

/// Where the next token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Record { has_label: bool },
    Sequence,
    Set,
    Dictionary(Entry),
    Embedded,
    Annotation,
}

/// What comes next in a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Key,
    Colon,
    Value,
}

/// A value under way.
#[derive(Debug)]
pub(super) struct Builder {
    depth_max: usize,
    out: PackedWriter,
    /// The compound values and annotations that have begun.
    open: Vec<Position>,
    /// The number of annotations among them.
    annotations: usize,
    /// Whether an annotation has just ended, so that a value has to follow.
    is_annotated: bool,
    is_complete: bool,
}

impl Builder {
    pub(super) fn new(depth_max: usize) -> Self {
        Self {
            depth_max: depth_max.min(MAX_DEPTH),
            out: PackedWriter::within(PackedLimits::NONE),
            open: Vec::new(),
            annotations: 0,
            is_annotated: false,
            is_complete: false,
        }
    }

    /// Says whether a token of the next value has come.
    pub(super) fn has_begun(&self) -> bool {
        !self.open.is_empty() || self.is_annotated || self.is_complete
    }

    /// Says whether a compound value or an annotation has begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes the value if it is complete, and begins another.
    pub(super) fn take(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        if !self.is_complete {
            return Ok(None);
        }
        let Self { out, .. } = std::mem::replace(self, Self::new(self.depth_max));
        out.finish().map(Some).map_err(|error| {
            if error.fault == PackedFault::Repeated {
                Fault::Repeated
            } else {
                Fault::Atom("a value is malformed")
            }
        })
    }

    /// Adds a token.
    pub(super) fn add(&mut self, token: Token<'_>, encoding: Encoding) -> Result<(), Fault> {
        match token {
            Token::Open(compound) => self.open(compound),
            Token::Close(closer) => self.close(closer, encoding),
            Token::Annotation => {
                self.begin()?;
                self.annotations += 1;
                self.enter(Position::Annotation)
            }
            Token::Colon => self.colon(),
            Token::Comma => self.comma(),
            Token::Atom(atom) => {
                self.begin()?;
                if self.annotations == 0 {
                    write(&mut self.out, atom);
                }
                self.complete(encoding);
                Ok(())
            }
        }
    }

    /// Checks that a value may begin here.
    fn begin(&mut self) -> Result<(), Fault> {
        if self.open.last() == Some(&Position::Dictionary(Entry::Colon)) {
            return Err(Fault::Misplaced("a value that should follow a colon"));
        }
        self.is_annotated = false;
        Ok(())
    }

    fn enter(&mut self, place: Position) -> Result<(), Fault> {
        self.open.push(place);
        if self.open.len() > self.depth_max {
            return Err(Fault::TooDeep { limit: self.depth_max });
        }
        Ok(())
    }

    fn open(&mut self, compound: Compound) -> Result<(), Fault> {
        self.begin()?;
        if self.annotations == 0 {
            self.out.open(compound);
        }
        self.enter(match compound {
            Compound::Record => Position::Record { has_label: false },
            Compound::Sequence => Position::Sequence,
            Compound::Set => Position::Set,
            Compound::Dictionary => Position::Dictionary(Entry::Key),
            Compound::Embedded => Position::Embedded,
        })
    }

    fn close(&mut self, closer: Closer, encoding: Encoding) -> Result<(), Fault> {
        let place = self.open.last().copied().filter(|place| closer.fits(*place));
        let (Some(place), false) = (place, self.is_annotated) else {
            return Err(Fault::Misplaced("an end"));
        };
        let compound = match place {
            Position::Record { has_label: false } => return Err(Fault::Atom("a record has no label")),
            Position::Dictionary(Entry::Colon | Entry::Value) => {
                return Err(Fault::Atom("a dictionary's last key has no value"));
            }
            Position::Record { has_label: true } => Compound::Record,
            Position::Sequence => Compound::Sequence,
            Position::Set => Compound::Set,
            Position::Dictionary(Entry::Key) => Compound::Dictionary,
            Position::Embedded | Position::Annotation => return Err(Fault::Misplaced("an end")),
        };
        self.open.pop();
        if self.annotations == 0 {
            self.out.close(compound);
        }
        self.complete(encoding);
        Ok(())
    }

    fn colon(&mut self) -> Result<(), Fault> {
        match self.open.last_mut() {
            Some(Position::Dictionary(entry @ Entry::Colon)) => {
                *entry = Entry::Value;
                Ok(())
            }
            _ => Err(Fault::Misplaced("a colon")),
        }
    }

    fn comma(&self) -> Result<(), Fault> {
        match self.open.last() {
            Some(Position::Sequence | Position::Set | Position::Dictionary(Entry::Key)) if !self.is_annotated => Ok(()),
            _ => Err(Fault::Misplaced("a comma")),
        }
    }

    /// Counts a value that has ended, and ends whatever it ends with it.
    fn complete(&mut self, encoding: Encoding) {
        loop {
            match self.open.last_mut() {
                None => self.is_complete = true,
                Some(Position::Record { has_label }) => *has_label = true,
                Some(Position::Sequence | Position::Set) => {}
                Some(Position::Dictionary(entry)) => {
                    *entry = match (*entry, encoding) {
                        (Entry::Value, _) => Entry::Key,
                        (Entry::Key | Entry::Colon, Encoding::Text) => Entry::Colon,
                        (Entry::Key | Entry::Colon, Encoding::Packed) => Entry::Value,
                    };
                }
                Some(Position::Annotation) => {
                    self.open.pop();
                    self.annotations -= 1;
                    self.is_annotated = true;
                }
                Some(Position::Embedded) => {
                    self.open.pop();
                    if self.annotations == 0 {
                        self.out.close(Compound::Embedded);
                    }
                    continue;
                }
            }
            return;
        }
    }
}

fn write(out: &mut PackedWriter, atom: Atom<'_>) {
    match atom {
        Atom::Boolean(value) => out.boolean(value),
        Atom::Double(number) => out.double(number),
        Atom::Integer(number) => out.big_integer(&number),
        Atom::String(text) => out.string(&text),
        Atom::ByteString(bytes) => out.byte_string(&bytes),
        Atom::Symbol(name) => out.symbol(&name),
    }
}
