//! Reads canonical packed bytes token by token.
//!
//! INVARIANT: bytes are refused at the first that is not canonical; after [`Reader::next`] has
//! returned `None`, the bytes were exactly one canonical value. Nesting costs heap, not stack.
//! It builds nothing; `tree.rs` does, and so does whoever has a format of their own.
//! Read next: `writer.rs`.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{PackedError, PackedFault};
use crate::format::{Compound, PackedLimits, is_shortest, tag, unsigned, varint};

/// One step of reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A boolean.
    Boolean(bool),
    /// A double, bit for bit.
    Double(f64),
    /// Two's complement, most significant byte first, shortest form; no bytes for zero.
    Integer(&'a [u8]),
    /// A string.
    String(&'a str),
    /// A byte string.
    ByteString(&'a [u8]),
    /// A symbol.
    Symbol(&'a str),
    /// A compound value begins; its parts follow.
    Open(Compound),
    /// The compound value that was opened last ends.
    Close(Compound),
}

impl Token<'_> {
    /// Names the kind in an error.
    fn name(self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Double(_) => "a double",
            Self::Integer(_) => "an integer",
            Self::String(_) => "a string",
            Self::ByteString(_) => "a byte string",
            Self::Symbol(_) => "a symbol",
            Self::Open(compound) => compound.name(),
            Self::Close(_) => "an end",
        }
    }
}

/// A compound value that has begun.
#[derive(Clone, Debug)]
struct Open {
    compound: Compound,
    /// The tag that opened it.
    start: usize,
    /// The number of values in it so far.
    children: usize,
    /// The last set element or dictionary key.
    last_key: Range<usize>,
}

/// A position in packed bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the value begins that the last token began or ended.
    start: usize,
    depth_max: usize,
    open: Vec<Open>,
    next: Next,
    /// The number of values in the compound value that ended last.
    closed_count: usize,
}

/// The next token, where the reader knows it before it looks at the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// What the bytes say.
    Any,
    /// The end of an embedded value, which no byte says.
    EmbeddedEnd,
    /// None.
    Nothing,
}

/// Checks that `bytes` are one canonical value.
///
/// # Errors
/// [`PackedError`], with the offset of the first byte that is wrong.
pub fn check(bytes: &[u8], limits: PackedLimits) -> Result<(), PackedError> {
    let mut reader = Reader::new(bytes, limits)?;
    while reader.next()?.is_some() {}
    Ok(())
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    ///
    /// # Errors
    /// [`PackedFault::TooLarge`].
    pub fn new(bytes: &'a [u8], limits: PackedLimits) -> Result<Self, PackedError> {
        if bytes.len() > limits.bytes_max {
            return Err(PackedError {
                offset_bytes: limits.bytes_max,
                fault: PackedFault::TooLarge {
                    length_bytes: bytes.len(),
                    limit_bytes: limits.bytes_max,
                },
            });
        }
        Ok(Self {
            bytes,
            at: 0,
            start: 0,
            depth_max: limits.depth_max,
            open: Vec::new(),
            next: Next::Any,
            closed_count: 0,
        })
    }

    /// Returns the offset of the next token.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the offset of the value that the last token began or ended.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the number of values in the compound value that the last token ended.
    #[inline]
    pub fn count(&self) -> usize {
        self.closed_count
    }

    /// Reads one token; `None` after the last byte of a complete value.
    ///
    /// # Errors
    /// [`PackedError`]; whoever goes on reading then gets errors or wrong tokens, and no panic.
    #[inline]
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator could not stop at the first error"
    )]
    pub fn next(&mut self) -> Result<Option<Token<'a>>, PackedError> {
        if self.next != Next::Any {
            return self.known();
        }
        let start = self.at;
        self.start = start;
        let tag = *self.bytes.get(start).ok_or_else(|| self.truncated())?;
        self.at += 1;
        let token = match tag {
            tag::SYMBOL => Token::Symbol(self.text(start)?),
            tag::STRING => Token::String(self.text(start)?),
            tag::INTEGER => {
                let integer = self.content()?;
                if !is_shortest(integer) {
                    return Err(fault(start, PackedFault::Integer));
                }
                Token::Integer(integer)
            }
            tag::BYTE_STRING => Token::ByteString(self.content()?),
            tag::DOUBLE => Token::Double(self.double(start)?),
            tag::FALSE | tag::TRUE => Token::Boolean(tag == tag::TRUE),
            tag::END => return self.end_tag(start).map(Some),
            tag::RECORD => return self.begin(Compound::Record, start).map(Some),
            tag::SEQUENCE => return self.begin(Compound::Sequence, start).map(Some),
            tag::SET => return self.begin(Compound::Set, start).map(Some),
            tag::DICTIONARY => return self.begin(Compound::Dictionary, start).map(Some),
            tag::EMBEDDED => return self.begin(Compound::Embedded, start).map(Some),
            tag::ANNOTATION => return Err(fault(start, PackedFault::Annotation)),
            unknown => return Err(fault(start, PackedFault::UnknownTag(unknown))),
        };
        self.complete(start)?;
        Ok(Some(token))
    }

    /// Gives the token that the reader knows before it looks at the bytes.
    #[cold]
    fn known(&mut self) -> Result<Option<Token<'a>>, PackedError> {
        match self.next {
            Next::EmbeddedEnd => {
                self.next = Next::Any;
                self.close().map(Some)
            }
            Next::Nothing if self.at < self.bytes.len() => Err(fault(self.at, PackedFault::Trailing)),
            Next::Nothing | Next::Any => Ok(None),
        }
    }

    #[inline]
    fn begin(&mut self, compound: Compound, start: usize) -> Result<Token<'a>, PackedError> {
        if self.open.len() >= self.depth_max {
            return Err(fault(start, PackedFault::TooDeep { limit: self.depth_max }));
        }
        self.open.push(Open {
            compound,
            start,
            children: 0,
            last_key: 0..0,
        });
        Ok(Token::Open(compound))
    }

    fn end_tag(&mut self, at: usize) -> Result<Token<'a>, PackedError> {
        let open = self.open.last().ok_or_else(|| fault(at, PackedFault::MisplacedEnd))?;
        match open.compound {
            Compound::Record if open.children == 0 => Err(fault(at, PackedFault::MissingLabel)),
            Compound::Dictionary if open.children % 2 == 1 => Err(fault(at, PackedFault::MissingDictionaryValue)),
            Compound::Embedded => Err(fault(at, PackedFault::MisplacedEnd)),
            Compound::Record | Compound::Sequence | Compound::Set | Compound::Dictionary => self.close(),
        }
    }

    #[inline]
    fn close(&mut self) -> Result<Token<'a>, PackedError> {
        let open = self.open.pop().expect("only an open value is closed");
        self.start = open.start;
        self.closed_count = open.children;
        self.complete(open.start)?;
        Ok(Token::Close(open.compound))
    }

    /// Counts the value that began at `start` and ends here, and checks its place among its
    /// siblings.
    #[inline]
    fn complete(&mut self, start: usize) -> Result<(), PackedError> {
        let Some(open) = self.open.last_mut() else {
            self.next = Next::Nothing;
            return Ok(());
        };
        open.children += 1;
        match open.compound {
            Compound::Record | Compound::Sequence => Ok(()),
            Compound::Embedded => {
                self.next = Next::EmbeddedEnd;
                Ok(())
            }
            Compound::Dictionary if open.children.is_multiple_of(2) => Ok(()),
            Compound::Set | Compound::Dictionary => {
                let last = std::mem::replace(&mut open.last_key, start..self.at);
                match self.bytes[last].cmp(&self.bytes[start..self.at]) {
                    Ordering::Less => Ok(()),
                    Ordering::Equal => Err(fault(start, PackedFault::Repeated)),
                    Ordering::Greater => Err(fault(start, PackedFault::Unordered)),
                }
            }
        }
    }

    #[inline]
    fn text(&mut self, start: usize) -> Result<&'a str, PackedError> {
        let bytes = self.content()?;
        str::from_utf8(bytes).map_err(|_| fault(start, PackedFault::Utf8))
    }

    fn double(&mut self, start: usize) -> Result<f64, PackedError> {
        let bytes = self.content()?;
        let length_bytes = bytes.len();
        let bits = bytes.try_into();
        let bits = bits.map_err(|_| fault(start, PackedFault::Double { length_bytes }))?;
        Ok(f64::from_be_bytes(bits))
    }

    /// Reads a length and that many bytes.
    #[inline]
    fn content(&mut self) -> Result<&'a [u8], PackedError> {
        let length = match self.bytes.get(self.at) {
            Some(&length @ 0..0x80) => {
                self.at += 1;
                usize::from(length)
            }
            _ => self.long_length()?,
        };
        let content = self.bytes[self.at..].get(..length).ok_or_else(|| self.truncated())?;
        self.at += length;
        Ok(content)
    }

    #[cold]
    fn long_length(&mut self) -> Result<usize, PackedError> {
        let start = self.at;
        match varint::take(self.bytes, &mut self.at) {
            Some(length) => usize::try_from(length).map_err(|_| self.truncated()),
            // Nine bytes that each announce another one can still be the beginning of a length.
            None if self.bytes.len() - start < 10 && self.bytes[start..].iter().all(|byte| byte & 0x80 != 0) => {
                Err(self.truncated())
            }
            None => Err(fault(start, PackedFault::Length)),
        }
    }

    #[cold]
    fn truncated(&self) -> PackedError {
        fault(self.bytes.len(), PackedFault::Truncated)
    }
}

/// Reading where the format of the bytes says what comes next; each method names in its error what
/// it `expected`.
impl<'a> Reader<'a> {
    /// Reads a token that `accept` makes something of.
    ///
    /// # Errors
    /// [`PackedFault::Unexpected`], or as [`next`](Self::next).
    pub fn expect<T>(
        &mut self,
        expected: &'static str,
        accept: impl FnOnce(Token<'a>) -> Option<T>,
    ) -> Result<T, PackedError> {
        let at = self.at;
        let token = self.next()?;
        token.and_then(accept).ok_or_else(|| {
            let found = token.map_or("nothing", Token::name);
            fault(at, PackedFault::Unexpected { expected, found })
        })
    }

    /// Enters a record that is labelled with this symbol.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn record(&mut self, label: &'static str) -> Result<(), PackedError> {
        self.open(Compound::Record, "a record")?;
        self.expect(label, |token| (token == Token::Symbol(label)).then_some(()))
    }

    /// Enters a compound value.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn open(&mut self, compound: Compound, expected: &'static str) -> Result<(), PackedError> {
        self.expect(expected, |token| (token == Token::Open(compound)).then_some(()))
    }

    /// Whether the compound value that was entered last ends here.
    pub fn is_at_end(&self) -> bool {
        self.bytes.get(self.at) == Some(&tag::END)
    }

    /// Leaves the compound value that was entered last.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn end(&mut self) -> Result<(), PackedError> {
        self.expect("an end", |token| matches!(token, Token::Close(_)).then_some(()))
    }

    /// Checks that the value is complete and nothing follows.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn finish(&mut self) -> Result<(), PackedError> {
        let at = self.at;
        match self.next()? {
            None => Ok(()),
            Some(token) => Err(fault(
                at,
                PackedFault::Unexpected {
                    expected: "nothing",
                    found: token.name(),
                },
            )),
        }
    }

    /// Reads an integer from 0 to 2⁶⁴ − 1.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn unsigned(&mut self, expected: &'static str) -> Result<u64, PackedError> {
        self.expect(expected, |token| {
            if let Token::Integer(bytes) = token {
                unsigned(bytes)
            } else {
                None
            }
        })
    }

    /// Reads a string.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn string(&mut self, expected: &'static str) -> Result<&'a str, PackedError> {
        self.expect(expected, |token| {
            if let Token::String(text) = token {
                Some(text)
            } else {
                None
            }
        })
    }

    /// Reads a symbol.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn symbol(&mut self, expected: &'static str) -> Result<&'a str, PackedError> {
        self.expect(expected, |token| {
            if let Token::Symbol(name) = token {
                Some(name)
            } else {
                None
            }
        })
    }

    /// Reads a byte string.
    ///
    /// # Errors
    /// As [`expect`](Self::expect).
    pub fn byte_string(&mut self, expected: &'static str) -> Result<&'a [u8], PackedError> {
        self.expect(expected, |token| {
            if let Token::ByteString(bytes) = token {
                Some(bytes)
            } else {
                None
            }
        })
    }
}

#[cold]
fn fault(offset_bytes: usize, fault: PackedFault) -> PackedError {
    PackedError { offset_bytes, fault }
}
