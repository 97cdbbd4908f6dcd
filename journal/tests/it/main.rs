//! The integration tests of `duet-journal`, as one executable: each suite is a module.
//!
//! INVARIANT: every file beside this one is named here; `tests/it/tidy/modules.rs` checks it.
//! Read next: `conformance.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common {
    pub(crate) mod script;
    pub(crate) mod writer;
}

mod conformance;
mod crash;
mod damage;
mod displaced;
mod file;
mod golden;
mod hostile;
mod index;
mod owners;
mod power;
mod schema;
mod stores;
mod tail;
