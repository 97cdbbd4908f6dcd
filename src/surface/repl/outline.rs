//! The shape of a text that is being typed: its pieces, and the lists that are open at its end.
//!
//! Owns the division into pieces, the pairs of brackets, and whether Enter asks for another line.
//! INVARIANT: pieces are in order, do not overlap, and cover every character that is not blank,
//! whatever the text; nesting costs no stack.
//! It does not know the meaning of names; tokens are the kernel's.
//! Read next: `highlight.rs`, `indent.rs`, `complete.rs`.

use duet_kernel::datum::lexer::{Extent, Lexer, Token};
use duet_kernel::datum::reader::{ReadError, ReadProblem, read_all};
use duet_kernel::datum::{Node, SourceId};

use super::command;
use crate::workbench::format::pieces::comments;

/// The kind of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// The comma command at the start, such as `,back`.
    Command,
    /// `(`, `#(` or `#u8(`
    Open,
    /// `)`
    Close,
    /// A quotation sign, a dot, a label or `#;`.
    Sign,
    /// A symbol.
    Symbol,
    /// A keyword, `:name`.
    Keyword,
    /// A string.
    String,
    /// A character.
    Character,
    /// A number.
    Number,
    /// `#t`, `#f` and their long names.
    Boolean,
    /// A comment or a directive such as `#!fold-case`.
    Comment,
    /// Text that the reader refuses.
    Wrong,
}

/// A run of text of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its kind.
    pub(crate) kind: PieceKind,
    /// Its extent, in bytes.
    pub(crate) extent: Extent,
    /// The piece with the other bracket, for a bracket that has one.
    pub(crate) partner: Option<usize>,
    /// Whether it belongs to a datum behind `#;`.
    pub(crate) is_commented: bool,
    /// Whether it is quoted, so that it is no code.
    pub(crate) is_quoted: bool,
}

/// The beginning of an unfinished datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatumStart {
    /// `(`
    List,
    /// `#(` or `#u8(`
    Vector,
    /// A quotation sign, as the name of the form it abbreviates.
    Prefix(&'static str),
    /// `#n=`
    Label,
    /// `#;`
    DatumComment,
}

/// A datum that is unfinished where the text ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its beginning.
    pub(crate) start: DatumStart,
    /// The piece that begins it.
    pub(crate) piece: usize,
    /// The first pieces of its finished elements.
    pub(crate) elements: Vec<usize>,
    /// Whether its contents are quoted. Templates of quasiquotes count as code, because most become
    /// code.
    pub(crate) is_quoted: bool,
}

/// The shape of a text.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// All pieces, in order.
    pub(crate) pieces: Vec<Piece>,
    /// The data that are unfinished where the text ends, outermost first.
    pub(crate) open: Vec<Frame>,
    /// Whether the text ends inside a string, a barred symbol or a block comment.
    pub(crate) ends_inside: Option<PieceKind>,
}

impl Outline {
    /// Finds the shape of a text, which may begin with a comma command.
    pub(crate) fn of(text: &str) -> Self {
        let mut outline = Outline::default();
        let mut end = 0;
        if let Some(call) = command::split(text) {
            outline.add(PieceKind::Command, call.name_extent);
            end = call.operand_start;
        }
        let mut lexer = Lexer::new(text, end);
        loop {
            let located = lexer.next_token();
            let start = match &located {
                Ok((_, extent)) | Err((_, extent)) => extent.start,
            };
            outline.comments(text, end..start);
            end = lexer.offset();
            match located {
                Ok((Token::End, _)) => break,
                Ok((token, extent)) => outline.token(token, extent),
                Err((problem, extent)) => outline.problem(&problem, extent.start..end),
            }
        }
        let open = outline
            .open
            .iter()
            .filter(|frame| frame.start == DatumStart::DatumComment);
        if let Some(first) = open.map(|frame| frame.piece).min() {
            outline.comment_from(first);
        }
        outline
    }

    /// The text of a piece, which must be a piece of this text.
    pub(crate) fn text<'a>(&self, text: &'a str, piece: usize) -> &'a str {
        &text[self.pieces[piece].extent.clone()]
    }

    fn add(&mut self, kind: PieceKind, extent: Extent) -> usize {
        self.pieces.push(Piece {
            kind,
            extent,
            partner: None,
            is_commented: false,
            is_quoted: self.open.last().is_some_and(|frame| frame.is_quoted),
        });
        self.pieces.len() - 1
    }

    fn token(&mut self, token: Token, extent: Extent) {
        match token {
            Token::Open => self.open(DatumStart::List, PieceKind::Open, extent),
            Token::OpenVector | Token::OpenBytevector => self.open(DatumStart::Vector, PieceKind::Open, extent),
            Token::Abbreviation(name) => self.open(DatumStart::Prefix(name), PieceKind::Sign, extent),
            Token::DatumComment => self.open(DatumStart::DatumComment, PieceKind::Sign, extent),
            Token::LabelDefinition(_) => self.open(DatumStart::Label, PieceKind::Sign, extent),
            Token::Close => self.close(extent),
            Token::Dot => {
                self.add(PieceKind::Sign, extent);
            }
            Token::LabelReference(_) => self.datum(PieceKind::Sign, extent),
            Token::Atom(node) => self.datum(kind_of(&node), extent),
            Token::End => {}
        }
    }

    fn problem(&mut self, problem: &ReadProblem, extent: Extent) {
        let insides = [
            (ReadProblem::UnclosedString, PieceKind::String),
            (ReadProblem::UnclosedSymbol, PieceKind::Symbol),
            (ReadProblem::UnclosedComment, PieceKind::Comment),
        ];
        let inside = insides.into_iter().find(|(known, _)| known == problem);
        self.ends_inside = inside.map(|(_, kind)| kind);
        match self.ends_inside {
            Some(PieceKind::Comment) => {
                self.add(PieceKind::Comment, extent);
            }
            inside => self.datum(inside.unwrap_or(PieceKind::Wrong), extent),
        }
    }

    fn open(&mut self, start: DatumStart, kind: PieceKind, extent: Extent) {
        let piece = self.add(kind, extent);
        self.open.push(Frame {
            start,
            piece,
            elements: Vec::new(),
            is_quoted: self.pieces[piece].is_quoted || start == DatumStart::Prefix("quote"),
        });
    }

    fn datum(&mut self, kind: PieceKind, extent: Extent) {
        let piece = self.add(kind, extent);
        self.complete(piece);
    }

    fn close(&mut self, extent: Extent) {
        let closing = self.add(PieceKind::Close, extent);
        while let Some(frame) = self.open.pop() {
            if matches!(frame.start, DatumStart::List | DatumStart::Vector) {
                self.pieces[closing].partner = Some(frame.piece);
                self.pieces[frame.piece].partner = Some(closing);
                self.complete(frame.piece);
                return;
            }
        }
    }

    /// The datum that begins with a piece is finished; so are the signs that waited for it.
    fn complete(&mut self, mut piece: usize) {
        while let Some(frame) = self.open.last_mut() {
            match frame.start {
                DatumStart::List | DatumStart::Vector => {
                    frame.elements.push(piece);
                    return;
                }
                DatumStart::DatumComment => {
                    let first = frame.piece;
                    self.open.pop();
                    self.comment_from(first);
                    return;
                }
                DatumStart::Prefix(_) | DatumStart::Label => {
                    piece = frame.piece;
                    self.open.pop();
                }
            }
        }
    }

    fn comment_from(&mut self, first: usize) {
        for piece in &mut self.pieces[first..] {
            piece.is_commented = true;
        }
    }

    /// Adds the comments of a stretch between two tokens, in which blanks, comments and directives
    /// stand.
    fn comments(&mut self, text: &str, gap: Extent) {
        for comment in comments(text, gap) {
            self.add(PieceKind::Comment, comment);
        }
    }
}

fn kind_of(node: &Node) -> PieceKind {
    match node {
        Node::Symbol(_) => PieceKind::Symbol,
        Node::Keyword(_) => PieceKind::Keyword,
        Node::String(_) => PieceKind::String,
        Node::Character(_) => PieceKind::Character,
        Node::Number(_) | Node::Complex(_) => PieceKind::Number,
        Node::Boolean(_) => PieceKind::Boolean,
        Node::Nil | Node::Bytevector(_) | Node::Pair(..) | Node::Vector(_) => PieceKind::Sign,
    }
}

/// Whether more lines can complete the text: a datum, string or block comment is open, and nothing
/// in it is beyond repair.
pub(crate) fn is_incomplete(text: &str) -> bool {
    let start = match command::split(text) {
        Some(call) if !call.takes_datum() => return false,
        Some(call) => call.operand_start,
        None => 0,
    };
    let text = &text[start..];
    let (_, errors) = read_all(text, SourceId(0));
    !errors.is_empty() && errors.iter().all(|error| is_mendable(text, error))
}

/// Whether text behind the end can mend an error. A sign that lacks its datum is lost once the list
/// around it is closed.
fn is_mendable(text: &str, error: &ReadError) -> bool {
    let closes = || {
        let rest = Outline::of(&text[error.span.end as usize..]);
        let is_stray = |piece: &Piece| piece.kind == PieceKind::Close && piece.partner.is_none();
        rest.pieces.iter().any(is_stray)
    };
    error.problem.is_incomplete() && !(error.problem == ReadProblem::MissingDatum && closes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        let outline = Outline::of(text);
        let show = |piece: &Piece| {
            let mark = if piece.is_commented { "#;" } else { "" };
            format!("{mark}{:?}", piece.kind)
        };
        let pieces: Vec<String> = outline.pieces.iter().map(show).collect();
        pieces.join(" ")
    }

    #[test]
    fn pieces_have_kinds() {
        for (text, expected) in [
            ("", ""),
            (
                "(f :k \"s\" #\\a 1.5 #t)",
                "Open Symbol Keyword String Character Number Boolean Close",
            ),
            ("'(a . |b c|)", "Sign Open Symbol Sign Symbol Close"),
            (
                "#(1) #u8(2) #0=a #0#",
                "Open Number Close Open Number Close Sign Symbol Sign",
            ),
            ("; one\na #| two #| deep |# |# b", "Comment Symbol Comment Symbol"),
            ("#!fold-case a", "Comment Symbol"),
            ("#!/usr/bin/duet run\na", "Comment Symbol"),
            (
                "a #;(b 'c) d",
                "Symbol #;Sign #;Open #;Symbol #;Sign #;Symbol #;Close Symbol",
            ),
            ("(a #;(b", "Open Symbol #;Sign #;Open #;Symbol"),
            ("#;#;a b c", "#;Sign #;Sign #;Symbol #;Symbol Symbol"),
            (") a", "Close Symbol"),
            ("\"open", "String"),
            ("a #| open", "Symbol Comment"),
            ("[a 1x] {1/0", "Open Symbol Symbol Close Wrong Wrong"),
            (",back 3", "Command Number"),
            (",time (f)", "Command Open Symbol Close"),
            ("(a ,b)", "Open Symbol Sign Symbol Close"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    #[test]
    fn brackets_know_their_partners() {
        let partners = |text| {
            Outline::of(text)
                .pieces
                .iter()
                .map(|piece| piece.partner)
                .collect::<Vec<_>>()
        };
        assert_eq!(partners("(()')"), [Some(4), Some(2), Some(1), None, Some(0)]);
        assert_eq!(partners("\")\"("), [None, None]);
        assert_eq!(partners(")"), [None]);
    }

    #[test]
    fn what_is_open_at_the_end_is_known_with_its_elements() {
        let text = "(let ((x 1) (y 'z)) #(a";
        let outline = Outline::of(text);
        let open: Vec<(DatumStart, Vec<&str>)> = outline
            .open
            .iter()
            .map(|frame| {
                let elements = frame.elements.iter().map(|piece| outline.text(text, *piece));
                (frame.start, elements.collect())
            })
            .collect();
        assert_eq!(
            open,
            [(DatumStart::List, vec!["let", "("]), (DatumStart::Vector, vec!["a"])]
        );
        assert_eq!(Outline::of("(f \"x").ends_inside, Some(PieceKind::String));
    }

    #[test]
    fn enter_asks_for_more_only_where_more_can_help() {
        for (text, expected) in [
            ("", false),
            ("1", false),
            ("(f", true),
            ("(f)", false),
            ("(f \"a\n", true),
            ("\"a", true),
            ("#| a", true),
            ("|a", true),
            ("'", true),
            ("#;", true),
            ("' #;(a)", true),
            ("(')", false),
            ("(a (')", false),
            ("(f))", false),
            ("(f [", true),
            ("(f {", false),
            ("(f #\\nosuch", false),
            ("(f ; )", true),
            ("(a . )", false),
            (",quit", false),
            (",time (f", true),
            (",time (f)", false),
            (",apropos (", false),
            (",nosuch (", false),
            (",facts <a", false),
        ] {
            assert_eq!(is_incomplete(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn pieces_cover_what_is_not_blank(text in "[()\\[\\]'`,@#;|\"\\\\:. \nab19!utfx=λ]{0,40}") {
            let mut end = 0;
            for piece in Outline::of(&text).pieces {
                proptest::prop_assert!(end <= piece.extent.start && piece.extent.start < piece.extent.end);
                let gap = &text[end..piece.extent.start];
                proptest::prop_assert!(gap.chars().all(char::is_whitespace), "{gap:?}");
                end = piece.extent.end;
            }
            proptest::prop_assert!(text[end..].chars().all(char::is_whitespace));
        }
    }
}
