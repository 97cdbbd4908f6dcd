//! The places that a turn notes for its actions, and the one that it seeks.
//!
//! INVARIANT: a place belongs to the action that the turn performed next.
//! It finds no place; the instance notes them. Read next: `activation/trace.rs`.

use crate::model::failure::Origin;
use crate::record::key::Place;

/// A search for the place in the program from which an action came.
#[derive(Debug)]
pub(super) struct Search {
    /// The index of the action in the turn.
    pub(super) action: usize,
    /// The current place in the program.
    pub(super) now: Option<Origin>,
    /// The place, once the action has been performed.
    pub(super) found: Option<Origin>,
}

/// The places in the program from which the actions of a turn came.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The current place in the program.
    pub(super) now: Place,
    /// The place of each action.
    pub(super) places: Vec<Place>,
}
