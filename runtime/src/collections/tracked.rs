//! Maps that can undo the changes of a turn.
//!
//! Owns [`Tracked`], a table with an undo log, and the sets, lists, cells and trees that use the
//! same idea. A turn changes the maps of the state in place; a commit drops the log, an abort
//! restores the old values from it. So a turn costs time in proportion to its changes, whether it
//! commits or aborts, and copies only nodes that a checkpoint shares. (The alternative, a copy of
//! the state before each turn, made every insertion copy a path of its tree.)
//! INVARIANT: a map with an empty undo log equals the map at the start of the turn; the first note
//! about a key holds the value from then.
//! It does not know what a turn is; `../state.rs` does.
//! Read next: `tracked/table.rs`, `tracked/tree.rs`, then `../state.rs`.

mod cell;
mod list;
mod map;
mod noted;
mod order;
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
