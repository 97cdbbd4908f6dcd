//! The lexical shape of Scheme text: brackets, atoms, prefixes and comments, with their lines.
//!
//! Owns as much of the lexical syntax as finding the end of an expression needs, and no more:
//! strings, characters, quoted symbols and nested comments.
//! INVARIANT: tokens are in source order, do not overlap, and every byte outside them is white
//! space or a block comment.
//! It does not know what an atom means.
//! Read next: `expectation.rs`.

use super::expectation::{ScriptError, ScriptFault};

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// A number, symbol, string, character, …
    Atom,
    /// Something that belongs to the datum after it: `'`, `` ` ``, `,`, `#'`, `#` before a
    /// bracket, …
    Prefix,
    /// `#;`, which discards the datum after it.
    Discard,
    /// `;` to the end of the line.
    Comment,
}

/// One token; offsets are bytes into the text, lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) line: usize,
    pub(crate) end_line: usize,
}

/// Scans the whole text.
///
/// # Errors
/// [`ScriptFault::Unfinished`] where a string, quoted symbol or block comment does not end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ScriptError> {
    let mut scanner = Scanner {
        text,
        position: 0,
        line: 1,
    };
    let mut found = Vec::new();
    loop {
        scanner.skip_blank()?;
        let (start, line) = (scanner.position, scanner.line);
        let Some(kind) = scanner.token()? else { return Ok(found) };
        found.push(Token {
            kind,
            start,
            end: scanner.position,
            line,
            end_line: scanner.line,
        });
    }
}

struct Scanner<'text> {
    text: &'text str,
    position: usize,
    line: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.position += next.len_utf8();
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn skip_blank(&mut self) -> Result<(), ScriptError> {
        loop {
            if self.rest().starts_with("#|") {
                self.block_comment()?;
            } else if self.rest().starts_with(char::is_whitespace) {
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    fn block_comment(&mut self) -> Result<(), ScriptError> {
        let unfinished = ScriptError {
            line: self.line,
            fault: ScriptFault::Unfinished,
        };
        let mut depth = 0_usize;
        loop {
            if self.rest().starts_with("#|") {
                self.position += 2;
                depth += 1;
            } else if self.rest().starts_with("|#") {
                self.position += 2;
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            } else {
                self.next().ok_or_else(|| unfinished.clone())?;
            }
        }
    }

    fn token(&mut self) -> Result<Option<TokenKind>, ScriptError> {
        for (prefix, kind) in [
            ("#;", TokenKind::Discard),
            ("#'", TokenKind::Prefix),
            ("#`", TokenKind::Prefix),
            ("#,", TokenKind::Prefix),
        ] {
            if self.rest().starts_with(prefix) {
                self.position += prefix.len();
                return Ok(Some(kind));
            }
        }
        let Some(first) = self.rest().chars().next() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '(' | '[' | '{' => self.single(TokenKind::Open),
            ')' | ']' | '}' => self.single(TokenKind::Close),
            '\'' | '`' | ',' => self.single(TokenKind::Prefix),
            ';' => {
                self.position += self.rest().find('\n').unwrap_or(self.rest().len());
                TokenKind::Comment
            }
            '"' => {
                self.quoted('"')?;
                TokenKind::Atom
            }
            _ => self.atom()?,
        }))
    }

    fn single(&mut self, kind: TokenKind) -> TokenKind {
        self.position += 1;
        kind
    }

    fn quoted(&mut self, delimiter: char) -> Result<(), ScriptError> {
        let unfinished = ScriptError {
            line: self.line,
            fault: ScriptFault::Unfinished,
        };
        self.next();
        loop {
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                Some(end) if end == delimiter => return Ok(()),
                Some(_) => {}
                None => return Err(unfinished),
            }
        }
    }

    fn atom(&mut self) -> Result<TokenKind, ScriptError> {
        let hash = self.rest().starts_with('#');
        if self.rest().starts_with("#\\") {
            self.position += 2;
            self.next();
        }
        while let Some(next) = self.rest().chars().next() {
            match next {
                '|' => self.quoted('|')?,
                // `#(`, `#u8(`, `#0=(`: one datum with the bracket.
                '(' if hash => return Ok(TokenKind::Prefix),
                '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '\'' | '`' | ',' => break,
                _ if next.is_whitespace() => break,
                _ => {
                    self.next();
                }
            }
        }
        Ok(TokenKind::Atom)
    }
}
