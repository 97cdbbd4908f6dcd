//! The reader of workflow files: text to forms.
//!
//! Owns the lexical rules: parentheses, strings, keywords, integers of 64 bits, decimals, `true`
//! and `false`, comments after `;`; anything else is a symbol, and there is no quote.
//! INVARIANT: every form has the range of bytes in which it stands.
//! It does not know what a form means. Read next: `program.rs`.
//!
//! Source: the older workflow language, "Lexer".

use std::ops::Range;

use super::error::{MigrationError, MigrationFault};

/// The maximum depth of nested lists.
const DEPTH_MAX: usize = 100;

/// One form of a workflow file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub(super) kind: FormKind,
    /// Its place in the text, in bytes.
    pub(super) span: Range<usize>,
}

/// The kinds of [`Form`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FormKind {
    Symbol(String),
    /// A keyword, without its colon.
    Keyword(String),
    Text(String),
    Integer(i64),
    Decimal(f64),
    Boolean(bool),
    List(Vec<Form>),
}

impl Form {
    /// Returns the name of a symbol.
    pub(super) fn symbol(&self) -> Option<&str> {
        match &self.kind {
            FormKind::Symbol(name) => Some(name),
            FormKind::Keyword(_)
            | FormKind::Text(_)
            | FormKind::Integer(_)
            | FormKind::Decimal(_)
            | FormKind::Boolean(_)
            | FormKind::List(_) => None,
        }
    }

    /// Returns the items of a list.
    pub(super) fn list(&self) -> Option<&[Form]> {
        match &self.kind {
            FormKind::List(items) => Some(items),
            FormKind::Symbol(_)
            | FormKind::Keyword(_)
            | FormKind::Text(_)
            | FormKind::Integer(_)
            | FormKind::Decimal(_)
            | FormKind::Boolean(_) => None,
        }
    }

    /// Returns the symbol at the head of a list, and the other items.
    pub(super) fn headed(&self) -> Option<(&str, &[Form])> {
        let (head, operands) = self.list()?.split_first()?;
        Some((head.symbol()?, operands))
    }

    /// Returns an error about this form.
    pub(super) fn fault(&self, fault: MigrationFault) -> MigrationError {
        MigrationError {
            span: self.span.clone(),
            fault,
        }
    }
}

/// Reads all forms of a text.
///
/// # Errors
/// [`MigrationError`] at the first place that is no form.
pub(super) fn read_all(text: &str) -> Result<Vec<Form>, MigrationError> {
    let mut reader = Reader { text, at: 0 };
    // The lists that are open, outermost first, with the place of their parentheses.
    let mut open: Vec<(usize, Vec<Form>)> = Vec::new();
    let mut forms = Vec::new();
    loop {
        reader.skip_blanks();
        let start = reader.at;
        let Some(letter) = reader.peek() else { break };
        let (kind, start) = match letter {
            '(' => {
                reader.at += 1;
                open.push((start, Vec::new()));
                if open.len() > DEPTH_MAX {
                    let fault = MigrationFault::TooDeep { limit: DEPTH_MAX };
                    return Err(MigrationError::at(start..reader.at, fault));
                }
                continue;
            }
            ')' => {
                reader.at += 1;
                let closed = open.pop();
                let (start, items) =
                    closed.ok_or_else(|| MigrationError::at(start..reader.at, MigrationFault::NothingToClose))?;
                (FormKind::List(items), start)
            }
            '"' => (reader.string()?, start),
            _ => (reader.word()?, start),
        };
        let form = Form {
            kind,
            span: start..reader.at,
        };
        open.last_mut().map_or(&mut forms, |(_, items)| items).push(form);
    }
    match open.first() {
        Some((at, _)) => Err(MigrationError::at(*at..at + 1, MigrationFault::NeverClosed)),
        None => Ok(forms),
    }
}

struct Reader<'a> {
    text: &'a str,
    /// The place of the next character, in bytes.
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) {
        while let Some(letter) = self.peek() {
            if letter == ';' {
                let rest = &self.text[self.at..];
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if letter.is_whitespace() {
                self.at += letter.len_utf8();
            } else {
                return;
            }
        }
    }

    fn string(&mut self) -> Result<FormKind, MigrationError> {
        let start = self.at;
        self.at += 1;
        let mut content = String::new();
        while let Some(letter) = self.peek() {
            let at = self.at;
            self.at += letter.len_utf8();
            match letter {
                '"' => return Ok(FormKind::Text(content)),
                '\\' => {
                    let escaped = self.peek();
                    self.at += escaped.map_or(0, char::len_utf8);
                    content.push(match escaped {
                        Some('"') => '"',
                        Some('\\') => '\\',
                        Some('n') => '\n',
                        Some('r') => '\r',
                        Some('t') => '\t',
                        Some(_) | None => return Err(MigrationError::at(at..self.at, MigrationFault::UnknownEscape)),
                    });
                }
                letter => content.push(letter),
            }
        }
        Err(MigrationError::at(start..start + 1, MigrationFault::NeverClosed))
    }

    fn word(&mut self) -> Result<FormKind, MigrationError> {
        let start = self.at;
        let is_end = |letter: char| letter.is_whitespace() || "()\";".contains(letter);
        let rest = &self.text[start..];
        self.at += rest.find(is_end).unwrap_or(rest.len());
        let word = &self.text[start..self.at];
        let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
        let is_numeric = digits.contains(|letter: char| letter.is_ascii_digit())
            && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        if is_numeric && !digits.contains('.') {
            let range = start..self.at;
            let integer = word.parse();
            return integer
                .map(FormKind::Integer)
                .map_err(|_| MigrationError::at(range, MigrationFault::IntegerTooLarge));
        }
        if is_numeric && let Ok(number) = word.parse() {
            return Ok(FormKind::Decimal(number));
        }
        Ok(match word {
            "true" => FormKind::Boolean(true),
            "false" => FormKind::Boolean(false),
            word => match word.strip_prefix(':').filter(|name| !name.is_empty()) {
                Some(name) => FormKind::Keyword(name.to_owned()),
                None => FormKind::Symbol(word.to_owned()),
            },
        })
    }
}
