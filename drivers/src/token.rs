//! Tokens that clients send in a header, as they come from a variable or a file.
//!
//! INVARIANT: a token that is accepted can be sent: it has the characters of a header's value, and
//! no blanks at its ends, which HTTP leaves out.
//! It compares nothing. Read next: `http_server.rs`.
//!
//! Source: RFC 9110, section 5.5.

use std::error::Error;
use std::fmt;

/// Why no client can send a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsendableToken {
    /// There is nothing but blanks and line ends.
    Blank,
    /// It has this character, which no header has.
    Character(char),
}

impl fmt::Display for UnsendableToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the token is empty"),
            Self::Character(letter) => {
                write!(f, "the token has the character {letter:?}, which no header can have")
            }
        }
    }
}

impl Error for UnsendableToken {}

/// Reads a token, without the blanks and line ends around it.
///
/// # Errors
/// [`UnsendableToken`], if no client could ever send it.
pub fn sendable(text: &str) -> Result<&str, UnsendableToken> {
    let token = text.trim_ascii();
    if token.is_empty() {
        return Err(UnsendableToken::Blank);
    }
    match token.chars().find(|letter| !matches!(letter, ' '..='~')) {
        Some(letter) => Err(UnsendableToken::Character(letter)),
        None => Ok(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_a_client_can_send() {
        for (text, expected) in [
            ("open-sesame", Ok("open-sesame")),
            (" open sesame\r\n", Ok("open sesame")),
            ("\n", Err(UnsendableToken::Blank)),
            ("", Err(UnsendableToken::Blank)),
            ("one\ntwo", Err(UnsendableToken::Character('\n'))),
            ("schlüssel", Err(UnsendableToken::Character('ü'))),
        ] {
            assert_eq!(sendable(text), expected, "{text:?}");
        }
    }
}
