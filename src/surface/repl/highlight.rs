//! Text in colours.
//!
//! Owns the colour of each piece, and the pair of brackets that is shown.
//! INVARIANT: without its escape sequences the styled text is the text, character for character.
//! It does not decide whether a terminal has colours.
//! Read next: `editor.rs`.

use duet_kernel::datum::lexer::Extent;

use super::command;
use super::complete::Names;
use super::outline::{Outline, Piece, PieceKind};

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// The terminal's own.
    Plain,
    /// Comments, and data behind `#;`.
    Comment,
    /// Strings and characters.
    Text,
    /// Numbers and booleans.
    Constant,
    /// Keywords, `:name`.
    Keyword,
    /// Operators that are special forms or macros, and comma commands.
    Form,
    /// A misplaced piece.
    Wrong,
    /// A bracket whose partner the cursor is at.
    Pair,
}

/// The escape sequence that ends every style.
const END: &str = "\u{1b}[0m";

impl Style {
    /// The escape sequence that begins it; only the eight colours that every theme sets. Source:
    /// ECMA-48, section 8.3.117.
    fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Comment => "\u{1b}[2m",
            Self::Text => "\u{1b}[32m",
            Self::Constant => "\u{1b}[36m",
            Self::Keyword => "\u{1b}[35m",
            Self::Form => "\u{1b}[1;34m",
            Self::Wrong => "\u{1b}[31m",
            Self::Pair => "\u{1b}[1;4m",
        }
    }
}

/// Styles a text; the pair of brackets at the cursor, a byte offset, is marked if there is one.
pub(crate) fn highlight(text: &str, cursor: Option<usize>, names: &Names) -> String {
    let mut styled = String::new();
    let mut end = 0;
    for (extent, style) in styles(text, cursor, names) {
        styled.push_str(&text[end..extent.start]);
        end = extent.end;
        styled.push_str(style.begin());
        styled.push_str(&text[extent]);
        styled.push_str(END);
    }
    styled + &text[end..]
}

/// Shows a text dimmed, as hints are.
pub(crate) fn dim(text: &str) -> String {
    format!("{}{text}{END}", Style::Comment.begin())
}

/// Whether the cursor is at a bracket that has a partner.
pub(crate) fn is_at_pair(text: &str, cursor: usize) -> bool {
    pair(&Outline::of(text), cursor).is_some()
}

/// The pieces that do not look plain.
fn styles(text: &str, cursor: Option<usize>, names: &Names) -> Vec<(Extent, Style)> {
    let outline = Outline::of(text);
    let pair = cursor.and_then(|cursor| pair(&outline, cursor));
    let look = |index: usize| match pair {
        Some((one, other)) if index == one || index == other => Style::Pair,
        _ => style(text, &outline, index, names),
    };
    let styled = (0..outline.pieces.len()).map(|index| (outline.pieces[index].extent.clone(), look(index)));
    styled.filter(|(_, style)| *style != Style::Plain).collect()
}

fn style(text: &str, outline: &Outline, index: usize, names: &Names) -> Style {
    let piece = &outline.pieces[index];
    if piece.is_commented {
        return Style::Comment;
    }
    match piece.kind {
        PieceKind::Command => command_style(text, piece),
        PieceKind::Close if piece.partner.is_none() => Style::Wrong,
        PieceKind::Open | PieceKind::Close | PieceKind::Sign => Style::Plain,
        PieceKind::Symbol if is_operator(outline, index) && names.is_keyword(outline.text(text, index)) => Style::Form,
        PieceKind::Symbol => Style::Plain,
        PieceKind::Keyword => Style::Keyword,
        PieceKind::String | PieceKind::Character => Style::Text,
        PieceKind::Number | PieceKind::Boolean => Style::Constant,
        PieceKind::Comment => Style::Comment,
        // A word at the end may be unfinished, such as `#\spa`.
        PieceKind::Wrong if piece.extent.end == text.len() && !text.ends_with(['[', ']', '{', '}']) => Style::Plain,
        PieceKind::Wrong => Style::Wrong,
    }
}

fn command_style(text: &str, piece: &Piece) -> Style {
    let name = &text[piece.extent.start + 1..piece.extent.end];
    if command::find(name).is_some() {
        Style::Form
    } else if piece.extent.end == text.len() {
        Style::Plain
    } else {
        Style::Wrong
    }
}

/// Whether a piece is at the place of the operator in a list that is neither quoted nor a vector.
fn is_operator(outline: &Outline, index: usize) -> bool {
    let Some(before) = index.checked_sub(1) else {
        return false;
    };
    let opener = &outline.pieces[before];
    opener.kind == PieceKind::Open && opener.extent.len() == 1 && !opener.is_quoted
}

/// The brackets of the pair that the cursor is at: an opening one under it, or else a closing one
/// before it.
fn pair(outline: &Outline, cursor: usize) -> Option<(usize, usize)> {
    let at = |kind, is_there: fn(&Extent, usize) -> bool| {
        let mut pieces = outline.pieces.iter().enumerate();
        let found = pieces.find(|(_, piece)| piece.kind == kind && is_there(&piece.extent, cursor));
        found.and_then(|(index, piece)| Some((index, piece.partner?)))
    };
    at(PieceKind::Open, |extent, cursor| extent.contains(&cursor))
        .or_else(|| at(PieceKind::Close, |extent, cursor| extent.end == cursor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::repl::complete::tests::Example;

    fn names() -> Names {
        Names::of(&Example)
    }

    /// Shows each styled piece as `<style text>`.
    fn marked(text: &str, cursor: Option<usize>) -> String {
        let mut shown = String::new();
        let mut end = 0;
        for (extent, style) in styles(text, cursor, &names()) {
            shown += &text[end..extent.start];
            end = extent.end;
            shown += &format!("<{style:?} {}>", &text[extent]);
        }
        shown + &text[end..]
    }

    #[test]
    fn pieces_look_like_what_they_are() {
        for (text, expected) in [
            ("", ""),
            ("(define x 1)", "(<Form define> x <Constant 1>)"),
            ("(map car '(if x))", "(map car '(if x))"),
            ("`(if ,x)", "`(<Form if> ,x)"),
            ("(x if)", "(x if)"),
            ("#(if)", "#(if)"),
            (
                "(f :to #t \"a\\n\" #\\a)",
                "(f <Keyword :to> <Constant #t> <Text \"a\\n\"> <Text #\\a>)",
            ),
            ("x ; (if\ny", "x <Comment ; (if>\ny"),
            ("#| a |# x", "<Comment #| a |#> x"),
            (
                "#;(if 1) x",
                "<Comment #;><Comment (><Comment if> <Comment 1><Comment )> x",
            ),
            ("(x)) y", "(x)<Wrong )> y"),
            ("(f {[a]})", "(f <Wrong {>[a]<Wrong }>)"),
            ("(f #\\nosuch)", "(f <Wrong #\\nosuch>)"),
            ("#\\spa", "#\\spa"),
            ("{", "<Wrong {>"),
            ("\"open", "<Text \"open>"),
            (",back 3", "<Form ,back> <Constant 3>"),
            (",bac", ",bac"),
            (",bac 3", "<Wrong ,bac> <Constant 3>"),
            (",time (if)", "<Form ,time> (<Form if>)"),
        ] {
            assert_eq!(marked(text, None), expected, "{text}");
        }
    }

    #[test]
    fn the_pair_at_the_cursor_is_shown() {
        for (cursor, expected) in [
            (0, "<Pair (>x (x)<Pair )>"),
            (1, "(x (x))"),
            (3, "(x <Pair (>x<Pair )>)"),
            (6, "(x <Pair (>x<Pair )>)"),
            (7, "<Pair (>x (x)<Pair )>"),
        ] {
            assert_eq!(marked("(x (x))", Some(cursor)), expected, "{cursor}");
            assert_eq!(is_at_pair("(x (x))", cursor), expected.contains("Pair"), "{cursor}");
        }
        assert!(!is_at_pair("\"()\"", 1) && !is_at_pair(")", 1) && !is_at_pair("(", 0) && !is_at_pair("#\\(", 3));
    }

    #[test]
    fn styles_are_escape_sequences_around_the_text() {
        assert_eq!(
            highlight("(if 1)", None, &names()),
            "(\u{1b}[1;34mif\u{1b}[0m \u{1b}[36m1\u{1b}[0m)"
        );
        assert_eq!(dim("a"), "\u{1b}[2ma\u{1b}[0m");
    }

    proptest::proptest! {
        #[test]
        fn the_text_stays_the_text(text in "[()\\[\\]'`,#;|\"\\\\:. \nif19!λ]{0,40}", cursor in 0_usize..40) {
            let mut styled = highlight(&text, Some(cursor), &names());
            for style in [
                Style::Comment,
                Style::Text,
                Style::Constant,
                Style::Keyword,
                Style::Form,
                Style::Wrong,
                Style::Pair,
            ] {
                styled = styled.replace(style.begin(), "");
            }
            proptest::prop_assert_eq!(styled.replace(END, ""), text);
        }
    }
}
