//! The layout of a text: one pass over its pieces.
//!
//! Owns the decision before each piece: a line break, a space or nothing.
//! INVARIANT: a second pass meets every break of the first as the author's, and adds none; the time
//! is linear in the text, whatever its nesting.
//! It knows forms only through the tables.
//! Read next: `frame.rs`.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::WIDTH;
use super::frame::{Frame, Role, Shape};
use super::macros::Macros;
use super::pieces::{Kind, Pieces};

/// A list that begins so near the margin is not broken: its parts would not fit either.
const ROOM: usize = 20;

/// A trailing comment that stands at least so many blanks behind its line is in a column that the
/// author has chosen.
const COLUMN_BLANKS: usize = 3;

/// The measures of a text that is to be laid out.
pub(crate) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) pieces: &'a Pieces,
    pub(super) macros: Macros,
    /// Where each piece begins and ends if all stood on one line.
    flat: Vec<Range<usize>>,
    /// For each piece, the first at or behind it with a line break before or in it.
    next_break: Vec<usize>,
    /// For each piece, the last of the closing brackets that follow it on its line.
    tail: Vec<usize>,
}

impl<'a> Layout<'a> {
    /// Measures a text.
    pub(crate) fn new(text: &'a str, pieces: &'a Pieces, macros: Macros) -> Self {
        let count = pieces.all.len();
        let mut layout = Self {
            text,
            pieces,
            macros,
            flat: Vec::with_capacity(count),
            next_break: vec![count; count + 1],
            tail: (0..count).collect(),
        };
        let mut column = 0;
        for index in 0..count {
            let start = column + usize::from(index > 0 && layout.has_space(index));
            column = start + first_line(pieces.text(text, index)).width();
            layout.flat.push(start..column);
        }
        for index in (0..count).rev() {
            let has_break = layout.breaks(index) || layout.has_lines(index);
            layout.next_break[index] = if has_break { index } else { layout.next_break[index + 1] };
            if index + 1 < count && layout.kind(index + 1) == Kind::Close && !layout.breaks(index + 1) {
                layout.tail[index] = layout.tail[index + 1];
            }
        }
        layout
    }

    /// Lays out the whole text.
    pub(crate) fn write(&self) -> String {
        let mut text = self.write_form(0..self.pieces.all.len());
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Lays out a range of pieces, which are whole data at top level. No line break follows them.
    pub(crate) fn write_form(&self, range: Range<usize>) -> String {
        let mut writer = Writer {
            layout: self,
            result: String::new(),
            column: 0,
            first: range.start,
            frames: vec![Frame::top()],
        };
        range.for_each(|index| writer.piece(index));
        writer.result
    }

    pub(super) fn kind(&self, index: usize) -> Kind {
        self.pieces.all[index].kind
    }

    /// Whether the author has broken the line before a piece, where a break may stay.
    pub(super) fn breaks(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|before| self.kind(before)) else {
            return false;
        };
        let piece = &self.pieces.all[index];
        let may_stay = piece.end.is_some() && (before != Kind::Open || piece.is_comment());
        before == Kind::LineComment || (piece.newlines > 0 && may_stay)
    }

    /// Whether a string or block comment has several lines.
    fn has_lines(&self, index: usize) -> bool {
        self.pieces.text(self.text, index).contains('\n')
    }

    fn has_space(&self, index: usize) -> bool {
        let (before, kind) = (self.kind(index - 1), self.kind(index));
        let is_glued = match before {
            Kind::Open => true,
            // `, @a` is not `,@a`.
            Kind::Sign(_) | Kind::DatumComment => {
                let ends_in_comma = self.pieces.text(self.text, index - 1).ends_with(',');
                let would_splice = ends_in_comma && self.pieces.text(self.text, index).starts_with('@');
                !matches!(kind, Kind::LineComment | Kind::BlockComment) && !would_splice
            }
            Kind::Close | Kind::Symbol | Kind::Keyword | Kind::Atom | Kind::LineComment | Kind::BlockComment => {
                kind == Kind::Close
            }
        };
        !is_glued
    }

    /// The columns from a piece to the first line break in or behind its datum.
    fn first_line(&self, index: usize) -> usize {
        let last = self.tail[self.pieces.all[index].end.unwrap_or(index + 1) - 1];
        let end = if self.has_lines(index) {
            index
        } else {
            match self.next_break[index + 1] {
                broken if broken > last => last,
                broken if self.breaks(broken) => broken - 1,
                broken => broken,
            }
        };
        self.flat[end].end - self.flat[index].start
    }

    /// As [`Self::first_line`], where a keyword or another key and its value are one.
    fn first_line_with_value(&self, index: usize, is_key: bool) -> usize {
        let value = self.pieces.all[index].end.unwrap_or(index + 1);
        let has_value = (self.kind(index) == Kind::Keyword || is_key)
            && value < self.flat.len()
            && self.kind(value) != Kind::Close
            && self.next_break[value] != value;
        if has_value {
            self.flat[value].start - self.flat[index].start + self.first_line(value)
        } else {
            self.first_line(index)
        }
    }

    /// The columns of a datum on one line, with the brackets behind it.
    pub(super) fn flat_width(&self, datum: &Range<usize>) -> usize {
        self.flat[self.tail[datum.end - 1]].end - self.flat[datum.start].start
    }

    /// The column in which the author has put a piece.
    pub(super) fn author_column(&self, index: usize) -> usize {
        let start = self.pieces.start_of(index);
        let line = self.text[..start].rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
        self.text[line..start].width()
    }

    /// Whether a list in this column has to have several lines, and whether that is because it does
    /// not fit on one.
    fn is_open(&self, open: usize, column: usize) -> (bool, bool) {
        let close = self.pieces.all[open].close;
        if self.next_break[open + 1] <= close {
            return (true, false);
        }
        let width = self.flat[self.tail[close]].end - self.flat[open].start;
        let is_long = column + width > WIDTH && column + ROOM <= WIDTH;
        (is_long, is_long)
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// A text that is being laid out.
struct Writer<'a> {
    layout: &'a Layout<'a>,
    result: String,
    /// The column behind the last piece.
    column: usize,
    /// The first piece.
    first: usize,
    frames: Vec<Frame>,
}

impl Writer<'_> {
    fn piece(&mut self, index: usize) {
        let kind = self.layout.kind(index);
        if kind == Kind::Close {
            return self.close(index);
        }
        if kind == Kind::LineComment && index > self.first && !self.layout.breaks(index) {
            return self.trailing(index);
        }
        let number = self.top().seen;
        let is_broken = index > self.first && self.is_broken(index);
        self.note_flow(index, is_broken);
        if is_broken {
            self.break_line(index);
        } else if index > self.first && self.layout.has_space(index) {
            self.push(" ");
        }
        let piece = &self.layout.pieces.all[index];
        let (begins, is_comment) = (piece.end.is_some(), piece.is_comment());
        let column = self.column;
        let frame = self.top_mut();
        if begins {
            frame.follows_comment = is_comment;
            frame.seen += usize::from(!is_comment);
            if number == 1 && !is_broken && !is_comment {
                frame.beside = Some(column);
            }
        }
        self.push(self.layout.pieces.text(self.layout.text, index));
        if self.layout.kind(index) == Kind::Open {
            self.open(index, column, number);
        }
    }

    fn top(&self) -> &Frame {
        self.frames.last().unwrap_or(&Frame::TOP)
    }

    fn top_mut(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::top());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Whether a line begins with a piece.
    fn is_broken(&self, index: usize) -> bool {
        let piece = &self.layout.pieces.all[index];
        let frame = self.top();
        if self.layout.breaks(index) {
            return !self.joins(index);
        }
        if piece.end.is_none() || piece.is_comment() || frame.follows_comment || frame.seen == 0 || !frame.is_open {
            return false;
        }
        let place = self.column + 1;
        let target = frame.column_of(frame.seen);
        let is_key = frame.has_pairs && frame.seen % 2 == 1;
        let width = self.layout.first_line_with_value(index, is_key);
        let is_wide = place + width > WIDTH && target < place;
        match frame.shape {
            Shape::Top => true,
            Shape::Body { before, each, .. } => frame.seen > before && (each || is_wide),
            Shape::Data { each } => each || is_wide,
            Shape::Call { .. } if frame.seen == 1 => {
                let widest = if frame.is_split { frame.widest.max(width) } else { width };
                place + widest > WIDTH && target + widest <= WIDTH
            }
            // The value of a keyword stands beside it.
            Shape::Call { .. } if self.layout.kind(index - 1) == Kind::Keyword => is_wide,
            Shape::Call { each } => each || frame.is_split || is_wide,
        }
    }

    /// Whether a piece that begins a line of the author's joins the line before, because that
    /// consists of what did not fit on the line before it.
    fn joins(&self, index: usize) -> bool {
        let (frame, piece) = (self.top(), &self.layout.pieces.all[index]);
        let is_plain = !frame.follows_comment && !piece.is_comment() && piece.newlines == 1;
        let end = piece.end.unwrap_or(index + 1);
        frame.is_joined_next
            && is_plain
            && self.layout.next_break[index + 1] >= end
            && self.column + 1 + self.layout.first_line(index) <= WIDTH
    }

    fn note_flow(&mut self, index: usize, is_broken: bool) {
        if !self.top().is_flowing || self.layout.pieces.all[index].end.is_none() {
            return;
        }
        let is_authors = self.layout.breaks(index);
        let frame = self.top_mut();
        frame.is_joined_next = (frame.is_joined_next || is_broken) && !is_authors;
    }

    fn break_line(&mut self, index: usize) {
        let piece = &self.layout.pieces.all[index];
        let follows_opener = index > 0 && self.layout.kind(index - 1) == Kind::Open;
        self.result.push('\n');
        if piece.newlines > 1 && !follows_opener {
            self.result.push('\n');
        }
        let frame = self.top();
        self.column = frame.column_of(frame.seen);
        self.result.extend(std::iter::repeat_n(' ', self.column));
    }

    fn close(&mut self, index: usize) {
        if index > 0 && self.layout.kind(index - 1) == Kind::LineComment {
            let frame = self.top();
            self.column = frame.column_of(frame.seen);
            self.result.push('\n');
            self.result.extend(std::iter::repeat_n(' ', self.column));
        }
        self.frames.pop();
        self.push(self.layout.pieces.text(self.layout.text, index));
    }

    /// A comment behind code: near it, or in the column that the author has chosen.
    fn trailing(&mut self, index: usize) {
        let text = self.layout.text;
        let (before, start) = (self.layout.pieces.end_of(index - 1), self.layout.pieces.start_of(index));
        let blanks = start - before;
        let chosen = self.layout.author_column(index).min(WIDTH);
        let gap = if blanks < COLUMN_BLANKS {
            blanks.max(1)
        } else {
            chosen.saturating_sub(self.column).max(1)
        };
        self.result.extend(std::iter::repeat_n(' ', gap));
        self.column += gap;
        self.top_mut().follows_comment = true;
        self.push(self.layout.pieces.text(text, index));
    }

    fn open(&mut self, index: usize, column: usize, number: usize) {
        let (is_open, is_long) = self.layout.is_open(index, column);
        let role = self.top().role_of(number);
        let quoted = index > 0 && self.layout.kind(index - 1) == Kind::Sign(true);
        let role = if quoted { Role::Data } else { role };
        let mut frame = if is_open {
            self.layout.frame(index, role)
        } else {
            Frame::flat()
        };
        frame.column = column;
        frame.inside = self.column;
        frame.is_open = is_open;
        frame.is_split &= is_long;
        self.frames.push(frame);
    }

    fn push(&mut self, text: &str) {
        let text = if text.starts_with(';') { text.trim_end() } else { text };
        self.result.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.width(),
            None => self.column += text.width(),
        }
    }
}
