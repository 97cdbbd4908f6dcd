//! The maps that hold a run's state.
//!
//! INVARIANT: the order of iteration follows from the keys, never from hashes or addresses.
//! It does not know what the maps hold.
//! Read next: `collections/ordered.rs`, then `collections/tracked.rs`.

mod encoding;
pub mod ordered;
pub mod tracked;
