//! Reads canonical packed bytes token by token, refusing whatever is not canonical.
//!
//! INVARIANT: after `next` has returned `None`, the bytes were exactly one canonical value; nesting costs heap, not stack.
//! It builds nothing; `packed/value.rs` does.
//! Read next: `packed/write.rs`.

use std::ops::Range;

use super::write::tag;
use super::{MAX_VALUE_BYTES, PackedError, PackedFault};

/// The kinds of values that contain values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compound {
    Record,
    Sequence,
    Set,
    Dictionary,
    Embedded,
}

/// One step of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Boolean(bool),
    Double(f64),
    /// Two's complement, big-endian, shortest form; no bytes for zero.
    Integer(&'a [u8]),
    String(&'a str),
    ByteString(&'a [u8]),
    Symbol(&'a str),
    Open(Compound),
    Close(Compound),
}

struct Frame {
    kind: Compound,
    /// The tag that opened it.
    start: usize,
    /// How many values it has so far.
    children: usize,
    /// The last set element or dictionary key.
    previous: Range<usize>,
}

/// A position in packed bytes.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
    open: Vec<Frame>,
    is_complete: bool,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Result<Self, PackedError> {
        if bytes.len() > MAX_VALUE_BYTES {
            let fault = PackedFault::TooLarge {
                length_bytes: bytes.len(),
                limit_bytes: MAX_VALUE_BYTES,
            };
            return Err(PackedError {
                offset_bytes: MAX_VALUE_BYTES,
                fault,
            });
        }
        Ok(Self {
            bytes,
            at: 0,
            max_depth,
            open: Vec::new(),
            is_complete: false,
        })
    }

    /// Returns the offset of the next token.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Reads one token; `None` after the last byte of a complete value.
    pub(crate) fn next(&mut self) -> Result<Option<Token<'a>>, PackedError> {
        if self.is_complete {
            return if self.at == self.bytes.len() {
                Ok(None)
            } else {
                Err(fault(self.at, PackedFault::Trailing))
            };
        }
        if self
            .open
            .last()
            .is_some_and(|frame| frame.kind == Compound::Embedded && frame.children == 1)
        {
            return self.close().map(Some);
        }
        let start = self.at;
        let tag = self.take(1)?[0];
        let token = match tag {
            tag::FALSE | tag::TRUE => Token::Boolean(tag == tag::TRUE),
            tag::END => return self.end(start).map(Some),
            tag::DOUBLE | tag::INTEGER | tag::STRING | tag::BYTE_STRING | tag::SYMBOL => self.atom(tag, start)?,
            tag::RECORD => return self.open(Compound::Record, start).map(Some),
            tag::SEQUENCE => return self.open(Compound::Sequence, start).map(Some),
            tag::SET => return self.open(Compound::Set, start).map(Some),
            tag::DICTIONARY => return self.open(Compound::Dictionary, start).map(Some),
            tag::EMBEDDED => return self.open(Compound::Embedded, start).map(Some),
            tag::ANNOTATION => return Err(fault(start, PackedFault::Annotation)),
            unknown => return Err(fault(start, PackedFault::UnknownTag(unknown))),
        };
        self.finish(start)?;
        Ok(Some(token))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], PackedError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        self.at += taken.map_or(0, <[u8]>::len);
        taken.ok_or_else(|| fault(self.bytes.len(), PackedFault::Truncated))
    }

    fn open(&mut self, kind: Compound, start: usize) -> Result<Token<'a>, PackedError> {
        if self.open.len() == self.max_depth {
            return Err(fault(start, PackedFault::TooDeep { limit: self.max_depth }));
        }
        self.open.push(Frame {
            kind,
            start,
            children: 0,
            previous: 0..0,
        });
        Ok(Token::Open(kind))
    }

    fn end(&mut self, at: usize) -> Result<Token<'a>, PackedError> {
        let frame = self.open.last().ok_or_else(|| fault(at, PackedFault::MisplacedEnd))?;
        match frame.kind {
            Compound::Record if frame.children == 0 => Err(fault(at, PackedFault::MissingLabel)),
            Compound::Dictionary if frame.children % 2 == 1 => Err(fault(at, PackedFault::MissingDictionaryValue)),
            Compound::Embedded => Err(fault(at, PackedFault::MisplacedEnd)),
            Compound::Record | Compound::Sequence | Compound::Set | Compound::Dictionary => self.close(),
        }
    }

    fn close(&mut self) -> Result<Token<'a>, PackedError> {
        let frame = self.open.pop().expect("only an open value is closed");
        self.finish(frame.start)?;
        Ok(Token::Close(frame.kind))
    }

    /// Counts the value that began at `start` and ends here, and checks its place among its siblings.
    fn finish(&mut self, start: usize) -> Result<(), PackedError> {
        let Some(frame) = self.open.last_mut() else {
            self.is_complete = true;
            return Ok(());
        };
        let is_key = frame.kind == Compound::Dictionary && frame.children.is_multiple_of(2);
        if is_key || frame.kind == Compound::Set {
            let value = start..self.at;
            if frame.children > 0 && self.bytes[frame.previous.clone()] >= self.bytes[value.clone()] {
                return Err(fault(start, PackedFault::Order));
            }
            frame.previous = value;
        }
        frame.children += 1;
        Ok(())
    }

    fn atom(&mut self, tag: u8, start: usize) -> Result<Token<'a>, PackedError> {
        let length_bytes = self.length()?;
        let bytes = self.take(length_bytes)?;
        let text = || str::from_utf8(bytes).map_err(|_| fault(start, PackedFault::Utf8));
        Ok(match tag {
            tag::STRING => Token::String(text()?),
            tag::SYMBOL => Token::Symbol(text()?),
            tag::BYTE_STRING => Token::ByteString(bytes),
            tag::INTEGER if is_shortest(bytes) => Token::Integer(bytes),
            tag::INTEGER => return Err(fault(start, PackedFault::Integer)),
            _ => {
                let bits = bytes
                    .try_into()
                    .map_err(|_| fault(start, PackedFault::Double { length_bytes }))?;
                Token::Double(f64::from_be_bytes(bits))
            }
        })
    }

    fn length(&mut self) -> Result<usize, PackedError> {
        let start = self.at;
        let mut length: u64 = 0;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)?[0];
            let is_last = byte & 0x80 == 0;
            // The tenth byte may add one bit; a last byte of zero adds none and should not be there.
            if shift > 63 || (shift == 63 && byte > 1) || (shift > 0 && byte == 0) {
                return Err(fault(start, PackedFault::Length));
            }
            length |= u64::from(byte & 0x7f) << shift;
            if is_last {
                break;
            }
        }
        usize::try_from(length).map_err(|_| fault(self.bytes.len(), PackedFault::Truncated))
    }
}

fn is_shortest(integer: &[u8]) -> bool {
    match integer {
        [] => true,
        [0] => false,
        [_] => true,
        [first, second, ..] => !matches!((first, second & 0x80), (0x00, 0x00) | (0xff, 0x80)),
    }
}

fn fault(offset_bytes: usize, fault: PackedFault) -> PackedError {
    PackedError { offset_bytes, fault }
}
