//! The indentation of the next line.
//!
//! Owns the rules of Scheme layout: bodies two columns in, arguments under the first one, the
//! operands of a form before its body four columns in.
//! INVARIANT: the column depends only on the text before the cursor, and follows the layout that
//! the author has chosen by hand.
//! It changes no text.
//! Read next: `editor.rs`, `workbench/format/forms.rs`.

use unicode_width::UnicodeWidthStr;

use super::outline::{DatumStart, Frame, Outline, PieceKind};
use crate::workbench::format::forms;

/// The column, from 0, in which a line that follows the text begins, where the text itself begins
/// in column `origin`.
///
/// Nothing inside a string, a barred symbol or a block comment, whose lines belong to its author.
pub(crate) fn next_column(text: &str, origin: usize) -> Option<usize> {
    let outline = Outline::of(text);
    if outline.ends_inside.is_some() {
        return None;
    }
    let layout = Layout {
        text,
        origin,
        outline: &outline,
    };
    let is_list = |frame: &&Frame| matches!(frame.start, DatumStart::List | DatumStart::Vector);
    Some(
        outline
            .open
            .iter()
            .rev()
            .find(is_list)
            .map_or(origin, |frame| layout.inside(frame)),
    )
}

struct Layout<'a> {
    text: &'a str,
    origin: usize,
    outline: &'a Outline,
}

impl Layout<'_> {
    fn inside(&self, frame: &Frame) -> usize {
        let opener = &self.outline.pieces[frame.piece].extent;
        let Some(head) = frame.elements.first() else {
            return self.column(opener.end);
        };
        let is_call = frame.start == DatumStart::List && self.is_name(*head) && !self.is_data(frame);
        if is_call && let Some(before) = self.operands_before_body(frame) {
            let given = frame.elements.len() - 1;
            let name = self.outline.text(self.text, *head);
            let in_front = if given < before {
                forms::columns_before_body(name)
            } else {
                2
            };
            return self.column(opener.start) + in_front;
        }
        let laid_out = frame.elements[1..].iter().rev().find(|piece| self.begins_line(**piece));
        let beside = frame
            .elements
            .get(1)
            .filter(|piece| is_call && self.line(**piece) == self.line(*head));
        let under = laid_out.or(beside).unwrap_or(head);
        self.column(self.start(*under))
    }

    /// How many operands stand before the body of a list; nothing if the list has none.
    fn operands_before_body(&self, frame: &Frame) -> Option<usize> {
        let head = self.outline.text(self.text, *frame.elements.first()?);
        let before = forms::operands_before_body(head)?;
        // A named `let` has its name before its bindings.
        let is_named = head == "let" && frame.elements.get(1).is_some_and(|piece| self.is_name(*piece));
        Some(before + usize::from(is_named))
    }

    fn is_name(&self, piece: usize) -> bool {
        self.outline.pieces[piece].kind == PieceKind::Symbol
    }

    /// Whether a list is quoted, so that its first element is no operator.
    fn is_data(&self, frame: &Frame) -> bool {
        let before = frame.piece.checked_sub(1);
        before.is_some_and(|sign| self.outline.text(self.text, sign) == "'")
    }

    fn start(&self, piece: usize) -> usize {
        self.outline.pieces[piece].extent.start
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn line(&self, piece: usize) -> usize {
        self.line_start(self.start(piece))
    }

    fn begins_line(&self, piece: usize) -> bool {
        let start = self.start(piece);
        let line = self.line_start(start);
        line > 0 && self.text[line..start].trim().is_empty()
    }

    fn column(&self, offset: usize) -> usize {
        let line = self.line_start(offset);
        self.text[line..offset].width() + if line == 0 { self.origin } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, usize)]) {
        for (text, expected) in cases {
            assert_eq!(next_column(text, 0), Some(*expected), "{text}");
        }
    }

    #[test]
    fn bodies_are_two_columns_in() {
        check(&[
            ("(define (f x)", 2),
            ("(define", 4),
            ("(define-record-type point", 2),
            ("  (lambda (x)", 4),
            ("(lambda", 4),
            ("(let ((x 1))", 2),
            ("(let*", 4),
            ("(let loop ((i 0))", 2),
            ("(let loop", 4),
            ("(let-values (((a b) (f)))", 2),
            ("(when (null? x)", 2),
            ("(unless x", 2),
            ("(begin", 2),
            ("(do ((i 0 (+ i 1)))", 4),
            ("(do ((i 0 (+ i 1)))\n    ((= i 9))", 2),
            ("(case x", 2),
            ("(guard (e (#t 1))", 2),
            ("(call-with-output-string", 2),
            ("(parameterize ((p 1))\n  (f)", 2),
            ("(cond (a 1)\n      (else", 7),
        ]);
    }

    #[test]
    fn arguments_stand_under_the_first() {
        check(&[
            ("(f", 1),
            ("(f a", 3),
            ("(f a b\n   c", 3),
            ("(map (lambda (x)\n       x)", 5),
            ("(if (a)", 4),
            ("(cond (a 1)", 6),
            ("(cond\n (a 1)", 1),
            ("(f\n  a", 2),
            ("((f g) a", 1),
            ("(\"s\" a", 1),
            ("(λ字 a", 5),
            ("(f a #;(b", 8),
        ]);
    }

    #[test]
    fn data_stand_under_their_first_element() {
        check(&[
            ("'(a b", 2),
            ("'(lambda (x)", 2),
            ("#(1 2", 2),
            ("#u8(1", 4),
            ("(let ((x 1)", 6),
            ("(let ((x 1)\n      (y", 7),
            ("(", 1),
            ("((", 2),
            ("(cond ((null? x)", 7),
        ]);
    }

    #[test]
    fn text_begins_where_the_prompt_ends() {
        assert_eq!(next_column("(f a", 6), Some(9));
        assert_eq!(next_column("(f a\n         (g", 6), Some(10));
        assert_eq!(next_column("(f)", 6), Some(6));
        assert_eq!(next_column("'", 6), Some(6));
        assert_eq!(next_column(",time (f a", 2), Some(11));
    }

    #[test]
    fn text_of_strings_and_comments_is_left_alone() {
        for text in ["(f \"a", "(f #| a", "|a"] {
            assert_eq!(next_column(text, 4), None, "{text}");
        }
        check(&[("(f ; (g", 1), ("(f a ; (g", 3), ("(f #| (g |# a", 12)]);
    }
}
