//! The integration tests of `duet-packed`, as one executable: each suite is a module.
//!
//! INVARIANT: every file beside this one is named here; `tests/it/tidy/modules.rs` checks it.
//! Read next: `canonical.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod canonical;
mod parts;
mod samples;
