//! The integration tests of `duet-kernel`, as one executable: each suite is a module.
//!
//! INVARIANT: every file beside this one is named here; `tests/it/tidy/modules.rs` checks it.
//! Read next: `machine.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common {
    pub(crate) mod bare;
    pub(crate) mod process;
}

mod brink;
mod continuation_images;
mod cost;
mod image;
mod listing;
mod literals;
mod liveness;
mod machine;
mod native;
mod reentry;
mod stress;
mod transformer;
mod unchecked;
