//! Errors in caveats.
//!
//! INVARIANT: an error shows at most 60 characters of the invalid value.
//! It does not read caveats; `caveat.rs` does.
//! Read next: `pattern.rs`.

use std::fmt;

use duet_kernel::datum::shortened;
use preserves::IOValue;

/// Maximum depth of a caveat in levels.
pub(super) const DEPTH_MAX: usize = 64;

/// Why a caveat is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaveatError {
    /// A part has none of the forms of a pattern.
    NotAPattern {
        /// The part, shortened.
        found: String,
    },
    /// A part has none of the forms of a template.
    NotATemplate {
        /// The part, shortened.
        found: String,
    },
    /// A template refers to a part that its pattern does not bind.
    Unbound {
        /// The number of the part.
        reference: usize,
        /// The number of parts that the pattern binds.
        bound: usize,
    },
    /// A pattern has a binding under a negation, which can never bind a value.
    BindingUnderNegation,
    /// The caveat is nested too deeply.
    TooDeep,
}

impl fmt::Display for CaveatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPattern { found } => write!(f, "{found} is no pattern of a caveat"),
            Self::NotATemplate { found } => write!(f, "{found} is no template of a caveat"),
            Self::Unbound { reference, bound } => {
                write!(
                    f,
                    "the template refers to part {reference}, counted from 0, and the pattern binds {bound}"
                )
            }
            Self::BindingUnderNegation => write!(f, "a pattern under `not` binds a part, which would never be bound"),
            Self::TooDeep => write!(f, "the caveat is nested more than {DEPTH_MAX} levels"),
        }
    }
}

impl std::error::Error for CaveatError {}

/// Prints a part for people, shortened.
pub(super) fn shown(value: &IOValue) -> String {
    const CHARACTERS_MAX: usize = 60;
    shortened(&format!("{value:?}"), CHARACTERS_MAX)
}
