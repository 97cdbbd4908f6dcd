//! Tokens of values in text.
//!
//! INVARIANT: each byte of a token is looked at once while the token is incomplete, however the
//! stream is cut; a number has a bounded number of digits, because reading it costs their square.
//! It does not know where a token may stand; `build.rs` does. Read next: `build.rs`.
//!
//! Source: <https://preserves.dev/preserves-text.html>.

use std::borrow::Cow;

use crate::Compound;
use num_bigint::BigInt;

use super::build::{Atom, Closer, Token};
use super::packed::text;
use super::{Extent, Fault};

/// The maximum number of digits of an integer.
const DIGITS_MAX: usize = 10_000;

/// A position in the token under way.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    /// The length of the first part of the token, which has no end of it.
    searched: usize,
}

impl Lexer {
    /// Returns the length of the white space and whole comments at the start of `bytes`; nothing
    /// if a comment has more than `comment_bytes_max` bytes. One that is not whole yet is a part
    /// of a token, which is refused at the same length.
    pub(super) fn blanks(&mut self, bytes: &[u8], comment_bytes_max: usize) -> Option<usize> {
        let mut length = 0;
        loop {
            let rest = &bytes[length..];
            length += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match &bytes[length..] {
                [b'#', b'\n' | b'\r', ..] => length += 2,
                [b'#', b' ' | b'\t' | b'!', ..] => match self.line_end(&bytes[length..]) {
                    Some(end) if end > comment_bytes_max => return None,
                    Some(end) => length += end,
                    None => return Some(length),
                },
                _ => return Some(length),
            }
        }
    }

    fn line_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.find(bytes, 2, |byte| matches!(byte, b'\n' | b'\r'))
            .map(|end| end + 1)
    }

    /// Finds the length of the token at the start of `bytes`.
    pub(super) fn extent(&mut self, bytes: &[u8]) -> Result<Extent, Fault> {
        let part = Ok(Extent::Part(bytes.len()));
        let Some(&first) = bytes.first() else { return part };
        let end = match (first, bytes.get(1)) {
            (b'<' | b'[' | b'{' | b'>' | b']' | b'}' | b'@' | b':' | b',', _) => Some(1),
            (b'(' | b')' | b';', _) => return Err(Fault::Byte(first)),
            (b'"' | b'\'', _) => self.quoted(bytes, 1),
            (b'#', None) => None,
            (b'#', Some(b'{' | b':')) => Some(2),
            (b'#', Some(b'"')) => self.quoted(bytes, 2),
            (b'#', Some(b'[')) => self.find(bytes, 2, |byte| byte == b']').map(|end| end + 1),
            (b'#', Some(b'x')) => self.hexadecimal(bytes)?,
            // An incomplete comment.
            (b'#', Some(b' ' | b'\t' | b'!')) => None,
            (b'#', Some(b'f' | b't')) => self.find(bytes, 2, is_delimiter),
            (b'#', Some(_)) => return Err(Fault::Atom("`#` stands before something that it does not introduce")),
            _ => self.find(bytes, 1, is_delimiter),
        };
        Ok(match end {
            Some(length) => {
                self.searched = 0;
                Extent::Whole(length)
            }
            None => Extent::Part(bytes.len()),
        })
    }

    /// Finds the next byte of a kind, from `from` on.
    fn find(&mut self, bytes: &[u8], from: usize, is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
        let from = from.max(self.searched);
        let found = bytes[from..].iter().position(|byte| is_wanted(*byte));
        self.searched = if found.is_some() { 0 } else { bytes.len() };
        found.map(|place| from + place)
    }

    /// Finds the end of what the quotation mark before `from` begins.
    fn quoted(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let mark = bytes[from - 1];
        let mut at = from.max(self.searched);
        while let Some(&byte) = bytes.get(at) {
            if byte == mark {
                return Some(at + 1);
            }
            let length = if byte == b'\\' { 2 } else { 1 };
            if at + length > bytes.len() {
                break;
            }
            at += length;
        }
        self.searched = at;
        None
    }

    /// Finds the end of `#x"…"` or `#xd"…"`.
    fn hexadecimal(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let from = match bytes {
            [_, _, b'"', ..] => 3,
            [_, _, b'd', b'"', ..] => 4,
            [_, _] | [_, _, b'd'] => return Ok(None),
            _ => return Err(Fault::Atom("`#x` or `#xd` has no quotation mark after it")),
        };
        Ok(self.find(bytes, from, |byte| byte == b'"').map(|end| end + 1))
    }
}

fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"()[]{}<>\"';,@#:".contains(&byte)
}

/// Reads a token that is as long as [`Lexer::extent`] said.
pub(super) fn token(bytes: &[u8]) -> Result<Token<'_>, Fault> {
    Ok(match bytes {
        b"<" => Token::Open(Compound::Record),
        b"[" => Token::Open(Compound::Sequence),
        b"{" => Token::Open(Compound::Dictionary),
        b"#{" => Token::Open(Compound::Set),
        b"#:" => Token::Open(Compound::Embedded),
        b">" => Token::Close(Closer::Angle),
        b"]" => Token::Close(Closer::Bracket),
        b"}" => Token::Close(Closer::Brace),
        b"@" => Token::Annotation,
        b":" => Token::Colon,
        b"," => Token::Comma,
        b"#f" => Token::Atom(Atom::Boolean(false)),
        b"#t" => Token::Atom(Atom::Boolean(true)),
        [b'"', content @ .., _] => Token::Atom(Atom::String(unescaped(content)?)),
        [b'\'', content @ .., _] => Token::Atom(Atom::Symbol(unescaped(content)?)),
        [b'#', b'"', content @ .., _] => Token::Atom(Atom::ByteString(unescaped_bytes(content)?)),
        [b'#', b'[', content @ .., _] => Token::Atom(Atom::ByteString(Cow::Owned(base_64(content)?))),
        [b'#', b'x', b'"', content @ .., _] => Token::Atom(Atom::ByteString(Cow::Owned(hexadecimal(content)?))),
        [b'#', b'x', b'd', b'"', content @ .., _] => {
            let bits = hexadecimal(content)?.try_into();
            let bits = bits.map_err(|_| Fault::Atom("a double has another length than 8 bytes"))?;
            Token::Atom(Atom::Double(f64::from_be_bytes(bits)))
        }
        [b'#', ..] => return Err(Fault::Atom("`#` stands before something that it does not introduce")),
        plain => plain_atom(text(plain)?)?,
    })
}

/// Reads a number, or a symbol that looks like none.
fn plain_atom(text: &str) -> Result<Token<'_>, Fault> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let after_digits = |text: &str| {
        let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (rest.len() < text.len()).then(|| text.len() - rest.len())
    };
    let Some(whole) = after_digits(unsigned) else {
        return Ok(Token::Atom(Atom::Symbol(Cow::Borrowed(text))));
    };
    let mut rest = &unsigned[whole..];
    if rest.is_empty() {
        if whole > DIGITS_MAX {
            return Err(Fault::Atom("an integer has more than 10000 digits"));
        }
        let malformed = |_| Fault::Atom("an integer is malformed");
        return text
            .parse::<BigInt>()
            .map(|number| Token::Atom(Atom::Integer(number)))
            .map_err(malformed);
    }
    if let Some(length) = rest.strip_prefix('.').and_then(after_digits) {
        rest = &rest[1 + length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if let Some(length) = after_digits(digits) {
            rest = &digits[length..];
        }
    }
    let number = text.parse::<f64>().ok().filter(|_| rest.is_empty());
    Ok(number.map_or_else(
        || Token::Atom(Atom::Symbol(Cow::Borrowed(text))),
        |number| Token::Atom(Atom::Double(number)),
    ))
}

fn unescaped(content: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let content = text(content)?;
    if !content.contains('\\') {
        return Ok(Cow::Borrowed(content));
    }
    let (mut plain, mut rest) = (String::with_capacity(content.len()), content);
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let letter = after.chars().next().ok_or(ESCAPE)?;
        rest = &after[letter.len_utf8()..];
        plain.push(match letter {
            'u' => unicode(&mut rest)?,
            other => u8::try_from(other).ok().and_then(short_escape).ok_or(ESCAPE)?.into(),
        });
    }
    plain.push_str(rest);
    Ok(Cow::Owned(plain))
}

const ESCAPE: Fault = Fault::Atom("an escape after `\\` is malformed");

/// The characters that a letter after a backslash means.
fn short_escape(letter: u8) -> Option<u8> {
    match letter {
        b'"' | b'\'' | b'\\' | b'/' => Some(letter),
        b'b' => Some(0x08),
        b'f' => Some(0x0c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// Takes four digits, or two times four for a surrogate pair.
fn unicode(rest: &mut &str) -> Result<char, Fault> {
    let mut units = vec![unit(rest)?];
    if (0xd800..0xdc00).contains(&units[0]) {
        *rest = rest.strip_prefix("\\u").ok_or(ESCAPE)?;
        units.push(unit(rest)?);
    }
    let mut decoded = char::decode_utf16(units);
    decoded.next().and_then(Result::ok).ok_or(ESCAPE)
}

/// Takes four digits.
fn unit(rest: &mut &str) -> Result<u16, Fault> {
    let (digits, after) = rest.split_at_checked(4).ok_or(ESCAPE)?;
    let number = digits_of(digits.as_bytes()).ok_or(ESCAPE)?;
    *rest = after;
    u16::try_from(number).map_err(|_| ESCAPE)
}

/// Reads hexadecimal digits.
fn digits_of(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, byte| {
        char::from(*byte).to_digit(16).map(|digit| number << 4 | digit)
    })
}

fn unescaped_bytes(content: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    if !content.contains(&b'\\') {
        return Ok(Cow::Borrowed(content));
    }
    let (mut plain, mut rest) = (Vec::with_capacity(content.len()), content);
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            plain.push(*byte);
            continue;
        }
        let [letter, after @ ..] = rest else { return Err(ESCAPE) };
        rest = after;
        plain.push(if *letter == b'x' {
            let digits = rest
                .get(..2)
                .and_then(digits_of)
                .and_then(|byte| u8::try_from(byte).ok());
            rest = rest.get(2..).unwrap_or_default();
            digits.ok_or(ESCAPE)?
        } else {
            short_escape(*letter).ok_or(ESCAPE)?
        });
    }
    Ok(Cow::Owned(plain))
}

/// Reads pairs of digits; blanks may stand between two pairs, not in one.
fn hexadecimal(content: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(content.len() / 2);
    let mut rest = content.trim_ascii_start();
    while let Some((pair, after)) = rest.split_at_checked(2) {
        let byte = digits_of(pair).and_then(|byte| u8::try_from(byte).ok());
        bytes.push(byte.ok_or(HEXADECIMAL)?);
        rest = after.trim_ascii_start();
    }
    if rest.is_empty() { Ok(bytes) } else { Err(HEXADECIMAL) }
}

const HEXADECIMAL: Fault = Fault::Atom("bytes in hexadecimal are malformed");

fn base_64(content: &[u8]) -> Result<Vec<u8>, Fault> {
    let standard = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let is_content = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'=';
    let digits: Vec<u8> = content.iter().copied().filter(is_content).map(standard).collect();
    let malformed = |_| Fault::Atom("bytes in Base64 are malformed");
    base64::decode_config(digits, base64::STANDARD_NO_PAD).map_err(malformed)
}
