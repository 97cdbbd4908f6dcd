//! Tokens of packed values.
//!
//! INVARIANT: the length of an atom counts before its bytes have come, so that a limit holds before
//! anything is kept.
//! It does not know where a token may stand; `build.rs` does. Read next: `text.rs`.
//!
//! Source: <https://preserves.dev/preserves-binary.html>.

use std::borrow::Cow;

use crate::{Compound, varint};
use num_bigint::BigInt;

use super::build::{Atom, Closer, Token};
use super::{Extent, Fault};

/// The maximum length of a varint, in bytes.
const VARINT_BYTES_MAX: usize = 10;

/// Finds the length of the token at the start of `bytes`.
pub(super) fn extent(bytes: &[u8]) -> Result<Extent, Fault> {
    let Some(&tag) = bytes.first() else {
        return Ok(Extent::Part(0));
    };
    match tag {
        0x80 | 0x81 | 0x84..=0x86 | 0xb4..=0xb7 => Ok(Extent::Whole(1)),
        0x87 | 0xb0..=0xb3 => {
            let mut content = 1;
            let Some(length) = varint::take(bytes, &mut content) else {
                let rest = &bytes[1..];
                if rest.len() >= VARINT_BYTES_MAX || rest.iter().any(|byte| *byte < 0x80) {
                    return Err(Fault::Atom("a length is malformed"));
                }
                return Ok(Extent::Part(bytes.len()));
            };
            let end = content.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            Ok(if end > bytes.len() {
                Extent::Part(end)
            } else {
                Extent::Whole(end)
            })
        }
        _ => Err(Fault::Byte(tag)),
    }
}

/// Reads a token that is as long as [`extent`] said.
pub(super) fn token(bytes: &[u8]) -> Result<Token<'_>, Fault> {
    let mut start = 1;
    let content = |start: &mut usize| {
        varint::take(bytes, start)
            .map(|_| &bytes[*start..])
            .ok_or(Fault::Atom("a length is malformed"))
    };
    Ok(match bytes[0] {
        0x80 => Token::Atom(Atom::Boolean(false)),
        0x81 => Token::Atom(Atom::Boolean(true)),
        0x84 => Token::Close(Closer::Any),
        0x85 => Token::Annotation,
        0x86 => Token::Open(Compound::Embedded),
        0x87 => {
            let bits = content(&mut start)?.try_into();
            let bits = bits.map_err(|_| Fault::Atom("a double has another length than 8 bytes"))?;
            Token::Atom(Atom::Double(f64::from_be_bytes(bits)))
        }
        0xb0 => Token::Atom(Atom::Integer(BigInt::from_signed_bytes_be(content(&mut start)?))),
        0xb1 => Token::Atom(Atom::String(Cow::Borrowed(text(content(&mut start)?)?))),
        0xb2 => Token::Atom(Atom::ByteString(Cow::Borrowed(content(&mut start)?))),
        0xb3 => Token::Atom(Atom::Symbol(Cow::Borrowed(text(content(&mut start)?)?))),
        0xb4 => Token::Open(Compound::Record),
        0xb5 => Token::Open(Compound::Sequence),
        0xb6 => Token::Open(Compound::Set),
        0xb7 => Token::Open(Compound::Dictionary),
        tag => return Err(Fault::Byte(tag)),
    })
}

/// Reads UTF-8.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes).map_err(|_| Fault::Atom("a string or symbol is not UTF-8"))
}
