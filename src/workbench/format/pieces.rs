//! The pieces of a text: its tokens and, between them, its comments.
//!
//! Owns where each datum ends, and what stands between two tokens.
//! INVARIANT: pieces are in order and cover every character that is not blank; the text has been
//! read without an error.
//! It does not know what names mean.
//! Read next: `layout.rs`.

use std::ops::Range;

use duet_kernel::datum::Node;
use duet_kernel::datum::lexer::{Extent, Lexer, Token};

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `(`, `#(` or `#u8(`
    Open,
    /// `)`
    Close,
    /// A quotation sign or a label, which belongs to the datum behind it; `true` for `'`.
    Sign(bool),
    /// `#;`
    DatumComment,
    /// A symbol.
    Symbol,
    /// A keyword, `:name`.
    Keyword,
    /// Another datum without children, or a dot.
    Atom,
    /// A comment to the end of the line.
    LineComment,
    /// A block comment, or a directive such as `#!fold-case`.
    BlockComment,
}

/// A token or comment.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its extent, in bytes.
    pub(crate) extent: Extent,
    /// How many line breaks stand before it.
    pub(crate) newlines: usize,
    /// The index behind the last piece of the datum or comment that begins here; nothing for one
    /// that begins none.
    pub(crate) end: Option<usize>,
    /// The index of the bracket that closes an opening one.
    pub(crate) close: usize,
}

impl Piece {
    /// Whether it is a comment, or the sign that makes a datum one.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::DatumComment | Kind::LineComment | Kind::BlockComment)
    }
}

/// The pieces of a text.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// All, in order.
    pub(crate) all: Vec<Piece>,
}

impl Pieces {
    /// Divides a text that the reader accepts.
    pub(crate) fn of(text: &str) -> Self {
        let mut pieces = Self::default();
        let mut lexer = Lexer::new(text, 0);
        let mut end = 0;
        // The reader has accepted the text, so no token is an error.
        while let Ok((token, extent)) = lexer.next_token() {
            for comment in comments(text, end..extent.start) {
                pieces.add(text, comment_kind(&text[comment.clone()]), comment, &mut end);
            }
            match kind_of(&token) {
                Some(kind) => pieces.add(text, kind, extent, &mut end),
                None => break,
            }
        }
        pieces.mark_ends();
        pieces
    }

    fn add(&mut self, text: &str, kind: Kind, extent: Extent, end: &mut usize) {
        let newlines = line_breaks(&text[*end..extent.start]);
        *end = extent.end;
        self.all.push(Piece {
            kind,
            extent,
            newlines,
            end: None,
            close: 0,
        });
    }

    /// Finds where each datum and comment ends.
    fn mark_ends(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.all.len() {
            let is_signed = open.last().is_some_and(|last| self.all[*last].kind != Kind::Open);
            match self.all[index].kind {
                Kind::LineComment | Kind::BlockComment => self.all[index].end = Some(index + 1),
                Kind::Open | Kind::Sign(_) | Kind::DatumComment => {
                    if !is_signed {
                        self.all[index].end = Some(index);
                    }
                    open.push(index);
                    continue;
                }
                Kind::Close => {
                    let list = open.pop();
                    if let Some(list) = list {
                        self.all[list].close = index;
                    }
                    self.finish(list.filter(|_| !self.waits(&open)), index + 1);
                    self.unsign(&mut open, index + 1);
                }
                Kind::Symbol | Kind::Keyword | Kind::Atom => {
                    if !is_signed {
                        self.all[index].end = Some(index + 1);
                    }
                    self.unsign(&mut open, index + 1);
                }
            }
        }
    }

    fn waits(&self, open: &[usize]) -> bool {
        open.last().is_some_and(|last| self.all[*last].kind != Kind::Open)
    }

    fn finish(&mut self, start: Option<usize>, end: usize) {
        if let Some(piece) = start.and_then(|start| self.all.get_mut(start)) {
            piece.end = Some(end);
        }
    }

    /// The datum behind signs is finished, and so are they. A datum comment leaves the signs before
    /// it waiting for theirs.
    fn unsign(&mut self, open: &mut Vec<usize>, end: usize) {
        while let Some(last) = open.last().copied().filter(|last| self.all[*last].kind != Kind::Open) {
            open.pop();
            let is_first = !self.waits(open);
            self.finish(Some(last).filter(|_| is_first), end);
            if self.all[last].kind == Kind::DatumComment {
                return;
            }
        }
    }

    /// The data at top level.
    pub(crate) fn forms(&self) -> Vec<Range<usize>> {
        self.children(0..self.all.len())
    }

    /// The data that begin in a range of pieces, in order, without comments.
    pub(crate) fn children(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let end = self.all[at].end.unwrap_or(at + 1).max(at + 1);
            if self.all[at].end.is_some() && !self.all[at].is_comment() {
                found.push(at..end);
            }
            at = end;
        }
        found
    }

    /// The elements of a list; `None` if the datum is none.
    pub(crate) fn parts(&self, datum: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let is_list = self.all.get(datum.start)?.kind == Kind::Open;
        is_list.then(|| self.children(datum.start + 1..datum.end))
    }

    /// The text of a piece.
    pub(crate) fn text<'a>(&self, text: &'a str, piece: usize) -> &'a str {
        &text[self.all[piece].extent.clone()]
    }

    /// The byte at which a piece begins.
    pub(crate) fn start_of(&self, piece: usize) -> usize {
        self.all[piece].extent.start
    }

    /// The byte behind a piece.
    pub(crate) fn end_of(&self, piece: usize) -> usize {
        self.all[piece].extent.end
    }
}

fn kind_of(token: &Token) -> Option<Kind> {
    Some(match token {
        Token::Open | Token::OpenVector | Token::OpenBytevector => Kind::Open,
        Token::Close => Kind::Close,
        Token::Abbreviation(name) => Kind::Sign(*name == "quote"),
        Token::LabelDefinition(_) => Kind::Sign(false),
        Token::DatumComment => Kind::DatumComment,
        Token::Atom(Node::Symbol(_)) => Kind::Symbol,
        Token::Atom(Node::Keyword(_)) => Kind::Keyword,
        Token::Atom(_) | Token::Dot | Token::LabelReference(_) => Kind::Atom,
        Token::End => return None,
    })
}

fn comment_kind(text: &str) -> Kind {
    let is_line = text.starts_with(';') || is_first_line(text);
    if is_line { Kind::LineComment } else { Kind::BlockComment }
}

fn is_first_line(text: &str) -> bool {
    text.starts_with("#!/") || text.starts_with("#! ")
}

/// How many line breaks a text has: `\n`, `\r\n` or `\r`.
fn line_breaks(text: &str) -> usize {
    let returns = text.matches('\r').count() - text.matches("\r\n").count();
    text.matches('\n').count() + returns
}

/// The comments and directives of a stretch between two tokens.
pub(crate) fn comments(text: &str, gap: Extent) -> Vec<Extent> {
    let is_blank = |character: char| character.is_whitespace() || character == '\u{feff}';
    let mut found = Vec::new();
    let mut start = gap.start;
    while start < gap.end {
        let rest = &text[start..gap.end];
        let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
        start += blanks;
        let rest = &rest[blanks..];
        let length = if rest.starts_with("#|") {
            block_comment(rest)
        } else if rest.starts_with(';') || is_first_line(rest) {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else {
            directive(rest)
        };
        if length > 0 {
            found.push(start..start + length);
        }
        start += length;
    }
    found
}

/// The length in bytes of the directive at the start of a text, which ends where a word does; a
/// comment may follow at once.
fn directive(text: &str) -> usize {
    let ends = |character: char| character.is_whitespace() || matches!(character, ';' | '\u{feff}');
    text.find(ends).unwrap_or(text.len())
}

/// The length in bytes of the block comment at the start of a text; comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text[at..].find(['#', '|']) {
        at += found;
        if text[at..].starts_with("#|") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("|#") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
