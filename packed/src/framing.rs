//! Preserves values in a stream of bytes: cuts the stream into values and makes bytes of values.
//!
//! A peer writes either encoding: the first byte of its stream tells packed from text, and whoever
//! answers uses the same. A [`Decoder`] takes the bytes in pieces of any length. Peers write sets
//! and dictionaries in any order and annotate, so the stream is more liberal than a record:
//! tokens of either encoding pass through a `Builder` into canonical packed bytes, which the strict
//! reader reads. [`read_text`] reads a text that is one value; commands, files and programs use it.
//! (Rejected: the reader of the `preserves` crate. It recurses, misreads integers, and has to start
//! again from the first byte when a value is incomplete.)
//! INVARIANT: nobody makes a decoder keep more bytes of a value than its limit and the last piece,
//! or follow more levels. How a stream is cut into pieces never changes its values. Nothing here
//! recurses except the writing of text, as deep as a packed value may be.
//! It opens no sockets and does not know what a value means. Read next: `framing/build.rs`.
//!
//! Source: Preserves 0.996, <https://preserves.dev/preserves-binary.html> and
//! <https://preserves.dev/preserves-text.html>.

mod build;
mod packed;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

use crate::tree::decode;
use crate::{PackedError, PackedLimits, PackedValue};
use preserves::IOValue;

use self::build::Builder;
use self::text::Lexer;

/// How a stream writes its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Packed binary; the first byte of the stream is 0x80 or greater.
    Packed,
    /// Text; a line end follows each value.
    Text,
}

impl Encoding {
    /// Tells the encodings apart by the first byte of a stream.
    fn of(first: u8) -> Self {
        if first < 0x80 { Self::Text } else { Self::Packed }
    }

    /// Makes the bytes of a value in a stream.
    ///
    /// # Errors
    /// [`PackedError`] if the value is deeper or longer than a packed value may be.
    pub fn write(self, value: &IOValue) -> Result<Vec<u8>, PackedError> {
        let packed = PackedValue::from_value(value)?;
        Ok(match self {
            Self::Packed => packed.as_bytes().to_vec(),
            Self::Text => format!("{:?}\n", packed.to_value()).into_bytes(),
        })
    }
}

/// Says where and why a stream has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// Where the faulty part begins, counted from the first byte of the stream.
    pub offset_bytes: u64,
    /// Why.
    pub fault: Fault,
}

/// The faults of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A value has more bytes than the limit.
    TooLong {
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// A value has more levels than the limit.
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// No value starts with this byte.
    Byte(u8),
    /// A part stands where it means nothing.
    Misplaced(&'static str),
    /// An atom is malformed.
    Atom(&'static str),
    /// A set or dictionary has equal elements or keys.
    Repeated,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.fault, self.offset_bytes)
    }
}

impl std::error::Error for FrameError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit_bytes } => write!(f, "a value has more than {limit_bytes} bytes"),
            Self::TooDeep { limit } => write!(f, "a value is nested more than {limit} levels deep"),
            Self::Byte(byte) => write!(f, "the byte {byte:#04x} stands in the place of a value"),
            Self::Misplaced(part) => write!(f, "{part} stands where it means nothing"),
            Self::Atom(problem) => f.write_str(problem),
            Self::Repeated => f.write_str("a set or dictionary has an element or key twice"),
        }
    }
}

/// Cuts a stream into values.
#[derive(Debug)]
pub struct Decoder {
    limits: PackedLimits,
    bytes: Vec<u8>,
    /// How many of the bytes have been used.
    at: usize,
    /// The number of bytes of the stream before them.
    passed: u64,
    /// The length of the value under way, as far as its bytes have been used.
    used: usize,
    encoding: Option<Encoding>,
    lexer: Lexer,
    builder: Builder,
    failed: Option<FrameError>,
}

impl Decoder {
    /// Begins a stream. Each value has at most `limits.bytes_max` bytes as the peer writes it, and
    /// at most `limits.depth_max` levels, or as many as a packed value may have.
    pub fn new(limits: PackedLimits) -> Self {
        Self {
            limits,
            bytes: Vec::new(),
            at: 0,
            passed: 0,
            used: 0,
            encoding: None,
            lexer: Lexer::default(),
            builder: Builder::new(limits.depth_max),
            failed: None,
        }
    }

    /// Begins a stream of text, whatever its first byte is.
    fn of_text(limits: PackedLimits) -> Self {
        Self {
            encoding: Some(Encoding::Text),
            ..Self::new(limits)
        }
    }

    /// Says what is missing from the value under way.
    fn missing(&self) -> TextError {
        let rest = &self.bytes[self.at..];
        match (rest.first(), rest.get(1), self.builder.is_open()) {
            (None, _, true) => TextError::Unfinished("a bracket is never closed"),
            (None, _, false) if self.builder.has_begun() => {
                TextError::Unfinished("an annotation has no value after it")
            }
            (None, _, false) => TextError::Empty,
            (Some(b'#'), Some(b'['), _) => TextError::Unfinished("a bracket is never closed"),
            (Some(_), _, _) => TextError::Unfinished("a quotation mark is never closed"),
        }
    }

    /// Adds the next bytes of the stream.
    pub fn add(&mut self, bytes: &[u8]) {
        // Only here, so that a piece of many small values costs no more than its length.
        self.bytes.drain(..self.at);
        self.passed += self.at as u64;
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
        self.encoding = self
            .encoding
            .or_else(|| self.bytes.first().map(|first| Encoding::of(*first)));
    }

    /// Returns the encoding, once a byte has come.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Says whether the first part of a value has come, so that the rest should follow soon. It
    /// asks about the bytes that [`next`](Self::next) has left.
    pub fn is_amid(&self) -> bool {
        self.builder.has_begun() || self.at < self.bytes.len()
    }

    /// Takes the next value that is complete; `None` if more bytes have to come. A number, symbol
    /// or boolean in text is complete when a further byte shows its end.
    ///
    /// # Errors
    /// [`FrameError`], and the same again each time, since the rest of the stream has no meaning.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator would end where this waits for bytes"
    )]
    pub fn next(&mut self) -> Result<Option<IOValue>, FrameError> {
        if self.failed.is_none() {
            let advanced = self.advance();
            self.failed = advanced.as_ref().err().map(|fault| FrameError {
                offset_bytes: self.passed + self.at as u64,
                fault: fault.clone(),
            });
            if let Ok(value) = advanced {
                return Ok(value);
            }
        }
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn advance(&mut self) -> Result<Option<IOValue>, Fault> {
        let Some(encoding) = self.encoding else {
            return Ok(None);
        };
        loop {
            if encoding == Encoding::Text {
                let limit_bytes = self.limits.bytes_max;
                let blanks = self.lexer.blanks(&self.bytes[self.at..], limit_bytes);
                self.use_up(blanks.ok_or(Fault::TooLong { limit_bytes })?);
            }
            let rest = &self.bytes[self.at..];
            let extent = match encoding {
                Encoding::Packed => packed::extent(rest)?,
                Encoding::Text => self.lexer.extent(rest)?,
            };
            let (Extent::Whole(length) | Extent::Part(length)) = extent;
            if length.saturating_add(self.used) > self.limits.bytes_max {
                let limit_bytes = self.limits.bytes_max;
                return Err(Fault::TooLong { limit_bytes });
            }
            if let Extent::Part(_) = extent {
                return Ok(None);
            }
            let token = match encoding {
                Encoding::Packed => packed::token(&rest[..length])?,
                Encoding::Text => text::token(&rest[..length])?,
            };
            self.builder.add(token, encoding)?;
            self.use_up(length);
            if let Some(bytes) = self.builder.take()? {
                self.used = 0;
                // Its source was within the limits.
                let value = decode(&bytes, PackedLimits::NONE).map_err(|_| Fault::Atom("a value is malformed"))?;
                return Ok(Some(value));
            }
        }
    }

    /// Passes over bytes, which count for the value under way.
    fn use_up(&mut self, length: usize) {
        self.at += length;
        self.used = if self.builder.has_begun() {
            self.used + length
        } else {
            0
        };
    }
}

/// Why a text is not one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    /// It has no value.
    Empty,
    /// It ends before its value does; what is missing.
    Unfinished(&'static str),
    /// More follows the first value.
    Several,
    /// Something in it has no meaning.
    Faulty(FrameError),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Unfinished(missing) => f.write_str(missing),
            Self::Several => f.write_str("more than one value is given"),
            Self::Faulty(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TextError {}

/// Reads a text that is one value; annotations and comments leave no trace. A comment may also
/// stand where the grammar has none, behind the value.
///
/// # Errors
/// [`TextError`].
pub fn read_text(text: &str, limits: PackedLimits) -> Result<IOValue, TextError> {
    let mut decoder = Decoder::of_text(PackedLimits {
        // The line end below belongs to no value.
        bytes_max: limits.bytes_max.saturating_add(1),
        ..limits
    });
    decoder.add(text.as_bytes());
    // It ends a last comment, and shows the end of a number, a symbol or a boolean.
    decoder.add(b"\n");
    let value = decoder.next().map_err(TextError::Faulty)?;
    let value = value.ok_or_else(|| decoder.missing())?;
    match decoder.next() {
        Ok(None) if !decoder.is_amid() => Ok(value),
        Ok(_) | Err(_) => Err(TextError::Several),
    }
}

/// How many of the bytes at hand the next token takes.
enum Extent {
    /// As many as this.
    Whole(usize),
    /// At least as many as this, of which not all have come.
    Part(usize),
}
