//! Maps that can go back to where a turn began.
//!
//! Owns [`Tracked`], a table that notes what each change replaces, and the sets, cells, hooks and trees made of the same idea. A turn
//! changes the maps of the state in place; committing forgets the notes, aborting puts back what they say. So a turn costs what it changes,
//! whether it commits or not, and copies nothing that no checkpoint shares. (Copying the state before each turn was the alternative: it made
//! every insertion copy a path of its tree.)
//! INVARIANT: with no notes, a map is what it was when the turn began; the first note about a key holds what stood there then.
//! It does not know what a turn is; `state.rs` does.
//! Read next: `tracked/table.rs`, `tracked/tree.rs`, then `state.rs`.

mod cell;
mod list;
mod map;
mod savepoints;
mod set;
mod table;
pub(crate) mod tracking;
mod tree;

pub use cell::TrackedCell;
pub use list::TrackedList;
pub use map::Tracked;
pub use set::TrackedSet;
pub use table::Table;
pub use tracking::Tracking;
pub(crate) use tracking::tracked_fields;
pub use tree::TrackedTree;

#[cfg(test)]
mod tests;
