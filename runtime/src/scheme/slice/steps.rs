//! The steps of a slice, as they are reported.
//!
//! INVARIANT: a step stands directly behind the one that it led to, or behind steps between them.
//! Read next: `../slice.rs`.

use duet_journal::Sequence;
use duet_kernel::machine::Cut;

use crate::model::failure::Origin;

/// How a value came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The text has it.
    Literal,
    /// The expression computed it.
    Computed,
    /// The expression asked the run for it.
    Answered,
    /// It came with an event of the turn.
    Input,
    /// The expression passed it on to an event of a later turn.
    Sent,
    /// It was there before the first traced turn.
    Earlier,
}

/// A value, and the expression that it came from.
#[derive(Clone, Debug)]
pub struct ValueStep {
    /// How many steps lead from here to the value that is explained.
    pub depth: usize,
    /// The value, as it would be written.
    pub value: String,
    /// How it came to be.
    pub how: How,
    /// The turn in which it came to be; the first traced turn for what was there before.
    pub turn: Sequence,
    /// The place of the expression, if it has one in the program's own texts.
    pub origin: Option<Origin>,
}

/// The values that led to others.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// The place of the expression that performed the action.
    pub origin: Option<Origin>,
    /// The value of the variable, if one was asked about and it is known.
    pub value: Option<String>,
    /// The steps, each directly after the one that it led to or after steps between them.
    pub steps: Vec<ValueStep>,
    /// The number of steps that are left out.
    pub left_out: usize,
    /// Why the trace ended before the turns did, if it did.
    pub cut: Option<Cut>,
    /// Whether earlier turns may tell more.
    pub is_open: bool,
    /// The turn in which it goes on, if that is known and was not traced.
    pub before: Option<Sequence>,
    /// The names among which the wanted one is not, if it is none.
    pub missing: Option<Vec<String>>,
}
