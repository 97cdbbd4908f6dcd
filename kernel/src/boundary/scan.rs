//! Canonical packed bytes to the events of reading them.
//!
//! INVARIANT: bytes that are not in canonical form are refused at the first offending byte, so two different texts of bytes are two
//! different values; what a sink is given is well formed. Depth costs no Rust stack.
//! It does not build values. Read next: `boundary/decode.rs`, `boundary/convert.rs`.
//!
//! Source: Preserves 0.996, "Binary encoding" and "Canonical form".

use std::ops::Range;

use super::Limits;
use super::error::{BoundaryError, Fault};
use super::packed::{Compound, is_redundant, tag};

/// A value without parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atom<'a> {
    Boolean(bool),
    Double(f64),
    /// Two's complement, big end first, in the fewest bytes; none for zero.
    Integer(&'a [u8]),
    String(&'a str),
    Bytes(&'a [u8]),
    Symbol(&'a str),
}

/// Takes the events of reading one value.
pub(super) trait Sink {
    fn atom(&mut self, atom: Atom<'_>) -> Result<(), SinkFault>;
    fn open(&mut self, compound: Compound) -> Result<(), SinkFault>;
    /// Ends what was opened last. A record has been given its label, a dictionary a value for each key, an embedded value its content.
    fn close(&mut self) -> Result<(), SinkFault>;
}

/// Why a sink cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SinkFault {
    HeapFull,
    UnknownCapability,
    DuplicateKey,
}

/// Reads one value that takes all of `bytes`.
pub(super) fn scan(bytes: &[u8], limits: Limits, sink: &mut impl Sink) -> Result<(), BoundaryError> {
    if bytes.len() > limits.bytes_max {
        return Err(BoundaryError::TooLarge {
            bytes_max: limits.bytes_max,
        });
    }
    let mut scanner = Scanner {
        bytes,
        offset: 0,
        depth_max: limits.depth_max,
        open: Vec::new(),
        sink,
    };
    loop {
        scanner.step()?;
        if scanner.open.is_empty() {
            break;
        }
    }
    if scanner.offset < bytes.len() {
        return Err(scanner.fault(Fault::TrailingBytes));
    }
    Ok(())
}

struct Scanner<'a, S> {
    bytes: &'a [u8],
    offset: usize,
    depth_max: usize,
    open: Vec<Open>,
    sink: &'a mut S,
}

/// A compound value that has begun.
struct Open {
    compound: Compound,
    start: usize,
    /// How many values it has so far.
    count: usize,
    /// The bytes of the last key or member.
    last_key: Range<usize>,
}

impl<'a, S: Sink> Scanner<'a, S> {
    /// Reads an atom, the beginning of a compound value, or an end.
    fn step(&mut self) -> Result<(), BoundaryError> {
        let start = self.offset;
        let first = *self.bytes.get(start).ok_or_else(|| self.fault(Fault::Truncated))?;
        self.offset += 1;
        let compound = match first {
            tag::RECORD => Compound::Record,
            tag::SEQUENCE => Compound::Sequence,
            tag::SET => Compound::Set,
            tag::DICTIONARY => Compound::Dictionary,
            tag::EMBEDDED => Compound::Embedded,
            tag::END => return self.end(start),
            _ => {
                let atom = self.atom(first, start)?;
                let outcome = self.sink.atom(atom);
                self.check(outcome, start)?;
                return self.completed(start);
            }
        };
        if self.open.len() >= self.depth_max {
            return Err(BoundaryError::TooDeep {
                depth_max: self.depth_max,
            });
        }
        self.open.push(Open {
            compound,
            start,
            count: 0,
            last_key: 0..0,
        });
        let outcome = self.sink.open(compound);
        self.check(outcome, start)
    }

    fn end(&mut self, end_offset: usize) -> Result<(), BoundaryError> {
        let malformed = |fault| {
            Err(BoundaryError::Malformed {
                offset_bytes: end_offset,
                fault,
            })
        };
        let Some(open) = self.open.last() else {
            return malformed(Fault::UnexpectedEnd);
        };
        match open.compound {
            Compound::Embedded => return malformed(Fault::UnexpectedEnd),
            Compound::Record if open.count == 0 => return malformed(Fault::RecordWithoutLabel),
            Compound::Dictionary if open.count % 2 == 1 => return malformed(Fault::KeyWithoutValue),
            Compound::Record | Compound::Dictionary | Compound::Sequence | Compound::Set => {}
        }
        self.close()
    }

    fn close(&mut self) -> Result<(), BoundaryError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let outcome = self.sink.close();
        self.check(outcome, open.start)?;
        self.completed(open.start)
    }

    /// Notes that a value which began at `start` ends here; an embedded value around it ends with it.
    fn completed(&mut self, start: usize) -> Result<(), BoundaryError> {
        let mut start = start;
        loop {
            let Some(open) = self.open.last_mut() else {
                return Ok(());
            };
            open.count += 1;
            let is_key = match open.compound {
                Compound::Set => true,
                Compound::Dictionary => open.count % 2 == 1,
                Compound::Embedded => {
                    start = open.start;
                    self.open.pop();
                    let outcome = self.sink.close();
                    self.check(outcome, start)?;
                    continue;
                }
                Compound::Record | Compound::Sequence => false,
            };
            if is_key {
                let last = std::mem::replace(&mut open.last_key, start..self.offset);
                let fault = match self.bytes[last].cmp(&self.bytes[start..self.offset]) {
                    std::cmp::Ordering::Less => return Ok(()),
                    std::cmp::Ordering::Equal => Fault::DuplicateKey,
                    std::cmp::Ordering::Greater => Fault::Unordered,
                };
                return Err(BoundaryError::Malformed {
                    offset_bytes: start,
                    fault,
                });
            }
            return Ok(());
        }
    }

    fn atom(&mut self, first: u8, start: usize) -> Result<Atom<'a>, BoundaryError> {
        let malformed = |fault| BoundaryError::Malformed {
            offset_bytes: start,
            fault,
        };
        match first {
            tag::FALSE => return Ok(Atom::Boolean(false)),
            tag::TRUE => return Ok(Atom::Boolean(true)),
            tag::ANNOTATION => return Err(malformed(Fault::Annotation)),
            tag::DOUBLE | tag::INTEGER | tag::STRING | tag::BYTES | tag::SYMBOL => {}
            _ => return Err(malformed(Fault::UnknownTag(first))),
        }
        let content = self.content()?;
        let text = || str::from_utf8(content).map_err(|_| malformed(Fault::NotUtf8));
        match first {
            tag::DOUBLE => {
                let bytes = <[u8; 8]>::try_from(content).map_err(|_| malformed(Fault::DoubleLength(content.len())))?;
                Ok(Atom::Double(f64::from_bits(u64::from_be_bytes(bytes))))
            }
            tag::INTEGER if is_redundant(content) => Err(malformed(Fault::LongInteger)),
            tag::INTEGER => Ok(Atom::Integer(content)),
            tag::STRING => text().map(Atom::String),
            tag::SYMBOL => text().map(Atom::Symbol),
            _ => Ok(Atom::Bytes(content)),
        }
    }

    /// Reads a length and that many bytes.
    fn content(&mut self) -> Result<&'a [u8], BoundaryError> {
        let length_offset = self.offset;
        let mut length: usize = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = *self
                .bytes
                .get(self.offset)
                .ok_or_else(|| self.fault(Fault::Truncated))?;
            self.offset += 1;
            let bits = usize::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(self.fault(Fault::Truncated));
            }
            length |= bits << shift;
            if byte & 0x80 == 0 {
                if bits == 0 && shift > 0 {
                    return Err(BoundaryError::Malformed {
                        offset_bytes: length_offset,
                        fault: Fault::LongLength,
                    });
                }
                let content = self.bytes[self.offset..]
                    .get(..length)
                    .ok_or_else(|| self.fault(Fault::Truncated))?;
                self.offset += length;
                return Ok(content);
            }
        }
        Err(self.fault(Fault::Truncated))
    }

    fn fault(&self, fault: Fault) -> BoundaryError {
        BoundaryError::Malformed {
            offset_bytes: self.offset,
            fault,
        }
    }

    /// Turns what a sink says about the value that began at `start` into an error.
    fn check(&self, outcome: Result<(), SinkFault>, start: usize) -> Result<(), BoundaryError> {
        let fault = match outcome {
            Ok(()) => return Ok(()),
            Err(SinkFault::HeapFull) => return Err(BoundaryError::HeapFull),
            Err(SinkFault::UnknownCapability) => Fault::UnknownCapability,
            Err(SinkFault::DuplicateKey) => Fault::DuplicateKey,
        };
        Err(BoundaryError::Malformed {
            offset_bytes: start,
            fault,
        })
    }
}
