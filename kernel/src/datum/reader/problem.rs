//! Errors of the reader.
//!
//! INVARIANT: an error carries facts; its words are one clause.
//! Read next: `../reader.rs`.

use std::fmt;

use crate::datum::{Name, Span};

/// One error in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError {
    /// The kind.
    pub problem: ReadProblem,
    /// The place.
    pub span: Span,
    /// The likely cause, if that is elsewhere: for an unclosed list, a form inside it that starts
    /// at the left margin.
    pub related: Option<Span>,
}

/// The kinds of [`ReadError`].
#[derive(Clone, Debug, PartialEq)]
pub enum ReadProblem {
    /// `)` or `]` without an opener.
    UnexpectedClose,
    /// `]` instead of `)`, or the other way round.
    MismatchedClose {
        /// The closer that would match.
        expected: char,
    },
    /// The text ends inside this list or vector.
    UnclosedList,
    /// The text ends inside this string.
    UnclosedString,
    /// The text ends inside this barred symbol.
    UnclosedSymbol,
    /// The text ends inside this block comment.
    UnclosedComment,
    /// The text or list ends where this abbreviation, comment or label needs a datum.
    MissingDatum,
    /// A `.` that is not followed by exactly one last datum of a list.
    MisplacedDot,
    /// An element of a bytevector that is not an exact integer from 0 to 255.
    NotAByte,
    /// `#n#` before `#n=`, or a label that names itself.
    UnknownLabel(u64),
    /// A second `#n=` in one datum.
    DuplicateLabel(u64),
    /// A word that starts like a number.
    MalformedNumber(Name),
    /// An unknown name after `#\`.
    UnknownCharacter(Name),
    /// An unknown `#` syntax.
    UnknownSharp(Name),
    /// An unknown escape sequence in a string or symbol.
    UnknownEscape(Name),
    /// A brace.
    ReservedCharacter(char),
    /// A text of 4 GiB or more.
    TextTooLong,
    /// The data of the text have more nodes than the reader may make.
    TooManyNodes {
        /// The limit.
        limit: u32,
    },
}

impl ReadProblem {
    /// Returns whether more text could repair the error.
    pub fn is_incomplete(&self) -> bool {
        matches!(
            self,
            Self::UnclosedList
                | Self::UnclosedString
                | Self::UnclosedSymbol
                | Self::UnclosedComment
                | Self::MissingDatum
        )
    }
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedClose => write!(formatter, "closing parenthesis without an opening one"),
            Self::MismatchedClose { expected } => write!(formatter, "`{expected}` must close this list"),
            Self::UnclosedList => write!(formatter, "this parenthesis is never closed"),
            Self::UnclosedString => write!(formatter, "this string is never closed"),
            Self::UnclosedSymbol => write!(formatter, "this `|` symbol is never closed"),
            Self::UnclosedComment => write!(formatter, "this block comment is never closed"),
            Self::MissingDatum => write!(formatter, "a datum must follow"),
            Self::MisplacedDot => write!(formatter, "a dot must stand before the last datum of a list"),
            Self::NotAByte => write!(formatter, "a bytevector holds integers from 0 to 255"),
            Self::UnknownLabel(label) => write!(formatter, "label #{label}# is not defined before"),
            Self::DuplicateLabel(label) => write!(formatter, "label #{label}= is defined twice"),
            Self::MalformedNumber(word) => write!(formatter, "malformed number `{word}`"),
            Self::UnknownCharacter(name) => write!(formatter, "unknown character name `#\\{name}`"),
            Self::UnknownSharp(word) => write!(formatter, "unknown syntax `{word}`"),
            Self::UnknownEscape(text) => write!(formatter, "unknown escape sequence `{text}`"),
            Self::ReservedCharacter(character) => write!(formatter, "`{character}` is reserved; use parentheses"),
            Self::TextTooLong => write!(formatter, "the text is longer than 4 GiB"),
            Self::TooManyNodes { limit } => write!(formatter, "the text has more than {limit} nodes"),
        }
    }
}
