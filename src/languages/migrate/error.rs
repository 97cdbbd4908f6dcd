//! The errors of a translation.
//!
//! INVARIANT: an error has the place of the form that it concerns.
//! It does not lay out the message; `text/render.rs` does. Read next: `languages/migrate.rs`.

use std::fmt;
use std::ops::Range;

/// A workflow that cannot be translated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MigrationError {
    /// The place of the form, in bytes.
    pub(crate) span: Range<usize>,
    /// The error.
    pub(crate) fault: MigrationFault,
}

impl MigrationError {
    pub(super) fn at(span: Range<usize>, fault: MigrationFault) -> Self {
        Self { span, fault }
    }
}

/// The kinds of [`MigrationError`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MigrationFault {
    /// Lists are nested deeper than this many levels.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A closing parenthesis without its partner.
    NothingToClose,
    /// A list or string without its end.
    NeverClosed,
    /// A string has an escape other than `\"`, `\\`, `\n`, `\r`, `\t`.
    UnknownEscape,
    /// An integer beyond 64 bits.
    IntegerTooLarge,
    /// A form does not have the shape of its grammar.
    Malformed {
        /// The grammar.
        grammar: &'static str,
    },
    /// A form that the language does not have at this place.
    UnknownForm {
        /// Its head.
        name: String,
        /// The forms that are allowed there.
        known: &'static str,
    },
    /// An option that the form does not have.
    UnknownOption {
        /// The keyword, without its colon.
        name: String,
        /// The options that it has.
        known: &'static str,
    },
    /// An option that the form must have.
    MissingOption {
        /// The keyword, without its colon.
        name: &'static str,
    },
    /// A name that nothing defines.
    Undefined {
        /// The sort of thing: "state", "function", "role".
        sort: &'static str,
        /// The name.
        name: String,
    },
    /// A name that is defined twice.
    DefinedTwice {
        /// The sort of thing.
        sort: &'static str,
        /// The name.
        name: String,
    },
    /// A function is called with another number of arguments than it has parameters.
    WrongArity {
        /// The function.
        name: String,
        /// The number of its parameters.
        expected: usize,
    },
    /// A command of the fuller dialect in a workflow of the minimal one.
    MixedDialects {
        /// The command.
        name: String,
    },
    /// A handler that goes to a state or ends the workflow.
    HandlerLeaves,
}

impl fmt::Display for MigrationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { limit } => write!(f, "lists are nested more than {limit} levels deep"),
            Self::NothingToClose => write!(f, "this parenthesis closes nothing"),
            Self::NeverClosed => write!(f, "this is never closed"),
            Self::UnknownEscape => write!(f, "strings have the escapes \\\" \\\\ \\n \\r \\t only"),
            Self::IntegerTooLarge => write!(f, "this integer does not fit into 64 bits"),
            Self::Malformed { grammar } => write!(f, "expected {grammar}"),
            Self::UnknownForm { name, known } => write!(f, "there is no `{name}` here; there are {known}"),
            Self::UnknownOption { name, known } => write!(f, "there is no option `:{name}`; there are {known}"),
            Self::MissingOption { name } => write!(f, "the option `:{name}` is missing"),
            Self::Undefined { sort, name } => write!(f, "no {sort} is called `{name}`"),
            Self::DefinedTwice { sort, name } => write!(f, "two {sort}s are called `{name}`"),
            Self::WrongArity { name, expected: 1 } => write!(f, "`{name}` takes 1 argument"),
            Self::WrongArity { name, expected } => write!(f, "`{name}` takes {expected} arguments"),
            Self::MixedDialects { name } => write!(
                f,
                "`{name}` is not in the dialect of `emit` and `transition`, which other commands of this workflow use"
            ),
            Self::HandlerLeaves => write!(f, "a handler can neither go to a state nor end the workflow"),
        }
    }
}
