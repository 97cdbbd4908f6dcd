//! Tokens: the lexical syntax of R7RS-small, with keywords.
//!
//! Owns the division of a text into tokens with byte positions, and the meaning of each atom.
//! INVARIANT: every call to [`Lexer::next_token`] either consumes at least one byte or returns
//! [`Token::End`], whatever the text.
//! It does not know how tokens nest.
//! Read next: `reader.rs`.

pub(in crate::datum) mod atom;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::reader::ReadProblem;
use super::{Name, Node};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// `(` or `[`
    Open,
    /// `#(`
    OpenVector,
    /// `#u8(`, or `#vu8(` as in R6RS.
    OpenBytevector,
    /// `)` or `]`
    Close,
    /// A lone `.`
    Dot,
    /// `'`, `` ` ``, `,` or `,@`, as the name of the form it abbreviates.
    Abbreviation(&'static str),
    /// `#;`
    DatumComment,
    /// `#n=`
    LabelDefinition(u64),
    /// `#n#`
    LabelReference(u64),
    /// A complete datum without children.
    Atom(Node),
    /// The end of the text.
    End,
}

/// The place of a token: byte offsets into the text.
pub type Extent = Range<usize>;

/// Splits one text into tokens.
#[derive(Debug)]
pub struct Lexer<'a> {
    text: &'a str,
    offset: usize,
    folds_case: bool,
    /// Ends the text early once it is set.
    stop: Option<&'a AtomicBool>,
}

/// Bytes of a token between two looks at the flag that ends the text.
const BYTES_BETWEEN_LOOKS: usize = 1 << 14;

impl<'a> Lexer<'a> {
    /// Starts at byte `offset` of `text`, which must be a character boundary. Skips a first line
    /// that starts with `#!/` or `#! `.
    pub fn new(text: &'a str, offset: usize) -> Self {
        let mut lexer = Self {
            text,
            offset,
            folds_case: false,
            stop: None,
        };
        if offset == 0 && (text.starts_with("#!/") || text.starts_with("#! ")) {
            lexer.skip_line();
        }
        lexer
    }

    /// Returns whether the rest of the text folds case.
    pub fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// Starts with case folding on or off, as `#!fold-case` and `include-ci` ask for.
    pub fn with_case_folding(mut self, folds_case: bool) -> Self {
        self.folds_case = folds_case;
        self
    }

    /// Ends the text early once the flag, if there is one, is set.
    pub(crate) fn until(mut self, stop: Option<&'a AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Returns whether the flag is set.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns the offset of the byte after the last token.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Reads the next token and its extent.
    ///
    /// # Errors
    /// The problem and the extent of the offending text, which has been consumed; the next call
    /// continues after it.
    pub fn next_token(&mut self) -> Result<(Token, Extent), (ReadProblem, Extent)> {
        loop {
            self.skip_blanks()?;
            let start = self.offset;
            let located = |problem, end| (problem, start..end);
            match self.token() {
                Ok(Some(token)) => return Ok((token, start..self.offset)),
                Ok(None) => {}
                Err(problem) => return Err(located(problem, self.offset)),
            }
        }
    }

    /// Reads one token at a place that is not blank; `None` for a directive.
    fn token(&mut self) -> Result<Option<Token>, ReadProblem> {
        let Some(first) = self.bump() else {
            return Ok(Some(Token::End));
        };
        let token = match first {
            '(' | '[' => Token::Open,
            ')' | ']' => Token::Close,
            '\'' => Token::Abbreviation("quote"),
            '`' => Token::Abbreviation("quasiquote"),
            ',' if self.take("@") => Token::Abbreviation("unquote-splicing"),
            ',' => Token::Abbreviation("unquote"),
            '"' => Token::Atom(Node::String(Arc::from(self.delimited('"')?))),
            '|' => Token::Atom(Node::Symbol(self.barred()?)),
            '#' => return self.sharp(),
            ':' if self.take("|") => Token::Atom(Node::Keyword(self.barred()?)),
            '{' | '}' => return Err(ReadProblem::ReservedCharacter(first)),
            _ => {
                let start = self.offset - first.len_utf8();
                self.skip_word();
                let word = &self.text[start..self.offset];
                if word == "." {
                    Token::Dot
                } else {
                    Token::Atom(atom::word(word, self.folds_case)?)
                }
            }
        };
        Ok(Some(token))
    }

    /// Reads the rest of a token that begins with `#`.
    fn sharp(&mut self) -> Result<Option<Token>, ReadProblem> {
        let start = self.offset - 1;
        if self.take("(") {
            return Ok(Some(Token::OpenVector));
        }
        if self.take(";") {
            return Ok(Some(Token::DatumComment));
        }
        // Source: R6RS, section 4.3.5.
        for (sign, name) in [
            ("'", "syntax"),
            ("`", "quasisyntax"),
            (",@", "unsyntax-splicing"),
            (",", "unsyntax"),
        ] {
            if self.take(sign) {
                return Ok(Some(Token::Abbreviation(name)));
            }
        }
        if self.take("\\") {
            self.bump().ok_or(ReadProblem::UnknownCharacter(Name::from("")))?;
            self.skip_word();
            let name = &self.text[start + 2..self.offset];
            return Ok(Some(Token::Atom(Node::Character(atom::character(name)?))));
        }
        if let Some(token) = self.label() {
            return token.map(Some);
        }
        self.skip_word();
        let word = &self.text[start..self.offset];
        match word {
            "#!fold-case" => self.folds_case = true,
            "#!no-fold-case" => self.folds_case = false,
            "#u8" | "#vu8" if self.take("(") => return Ok(Some(Token::OpenBytevector)),
            _ => return Ok(Some(Token::Atom(atom::sharp_word(word)?))),
        }
        Ok(None)
    }

    /// Recognises `12=` and `12#` after a `#`. The lexer stops right after the sign, where another
    /// token may follow.
    fn label(&mut self) -> Option<Result<Token, ReadProblem>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let sign = *rest.as_bytes().get(digits)?;
        if digits == 0 || !(sign == b'=' || sign == b'#') {
            return None;
        }
        self.offset += digits + 1;
        let Ok(number) = rest[..digits].parse() else {
            let label = format!("#{}", &rest[..=digits]);
            return Some(Err(ReadProblem::UnknownSharp(Name::from(label.as_str()))));
        };
        Some(Ok(if sign == b'=' {
            Token::LabelDefinition(number)
        } else {
            Token::LabelReference(number)
        }))
    }

    fn barred(&mut self) -> Result<Name, ReadProblem> {
        Ok(Name(Arc::from(self.delimited('|')?)))
    }

    /// Reads the rest of a string or barred symbol, with its escapes.
    fn delimited(&mut self, delimiter: char) -> Result<String, ReadProblem> {
        let mut content = String::new();
        let mut problem = None;
        loop {
            match self.bump() {
                None if delimiter == '"' => return Err(ReadProblem::UnclosedString),
                None => return Err(ReadProblem::UnclosedSymbol),
                Some(character) if character == delimiter => break,
                Some('\\') => {
                    let start = self.offset - 1;
                    match self.escape() {
                        Ok(character) => content.extend(character),
                        Err(()) => {
                            let text = Name::from(&self.text[start..self.offset]);
                            problem.get_or_insert(ReadProblem::UnknownEscape(text));
                        }
                    }
                }
                Some('\r') => {
                    self.take("\n");
                    content.push('\n');
                }
                Some(character) => content.push(character),
            }
        }
        problem.map_or(Ok(content), Err)
    }

    /// Reads an escape sequence after its backslash; `None` for a line continuation.
    fn escape(&mut self) -> Result<Option<char>, ()> {
        let character = self.bump().ok_or(())?;
        let meaning = match character {
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            '"' | '\\' | '|' => character,
            'x' | 'X' => return self.hex_escape().map(Some),
            ' ' | '\t' | '\n' | '\r' => {
                self.offset -= 1;
                return self.continuation();
            }
            _ => return Err(()),
        };
        Ok(Some(meaning))
    }

    fn hex_escape(&mut self) -> Result<char, ()> {
        let digits: usize = self.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
        let code = u32::from_str_radix(&self.rest()[..digits], 16).map_err(drop);
        self.offset += digits;
        if !self.take(";") {
            return Err(());
        }
        char::from_u32(code?).ok_or(())
    }

    fn continuation(&mut self) -> Result<Option<char>, ()> {
        self.skip_while(|character| character == ' ' || character == '\t');
        if !(self.take("\r\n") || self.take("\n") || self.take("\r")) {
            return Err(());
        }
        self.skip_while(|character| character == ' ' || character == '\t');
        Ok(None)
    }

    /// Skips white space and comments, except datum comments.
    fn skip_blanks(&mut self) -> Result<(), (ReadProblem, Extent)> {
        loop {
            self.skip_while(|character| character.is_whitespace() || character == '\u{feff}');
            if self.rest().starts_with(';') {
                self.skip_line();
            } else if self.rest().starts_with("#|") {
                self.skip_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), (ReadProblem, Extent)> {
        let start = self.offset;
        let mut depth = 0_usize;
        loop {
            if self.take("#|") {
                depth += 1;
            } else if self.take("|#") {
                depth -= 1;
            } else if self.bump().is_none() {
                return Err((ReadProblem::UnclosedComment, start..start + 2));
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn skip_line(&mut self) {
        self.skip_while(|character| character != '\n' && character != '\r');
    }

    fn skip_word(&mut self) {
        self.skip_while(|character| !is_delimiter(character));
    }

    fn skip_while(&mut self, accepts: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.offset += rest.find(|character| !accepts(character)).unwrap_or(rest.len());
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        let next = self.offset + character.len_utf8();
        let looks = self.offset / BYTES_BETWEEN_LOOKS != next / BYTES_BETWEEN_LOOKS;
        if looks && self.is_stopped() {
            return None;
        }
        self.offset = next;
        Some(character)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let is_next = self.rest().starts_with(prefix);
        if is_next {
            self.offset += prefix.len();
        }
        is_next
    }

    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }
}

/// Returns whether a character ends the word before it.
pub(super) fn is_delimiter(character: char) -> bool {
    matches!(
        character,
        '(' | ')' | '"' | ';' | '|' | '\'' | '`' | ',' | '[' | ']' | '{' | '}'
    ) || character.is_whitespace()
}
