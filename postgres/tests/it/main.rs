//! The tests of `duet-postgres` on servers of their own, as one executable.
//!
//! INVARIANT: where PostgreSQL is not installed, each test says so and ends.
//! Read next: `server.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and several writers need threads"
)]

#[path = "../../../journal/tests/it/common"]
mod common {
    pub(crate) mod script;
    pub(crate) mod writer;
}

#[path = "../../../journal/tests/it/conformance.rs"]
mod conformance;
mod ahead;
mod clocks;
mod faults;
mod gathering;
mod history;
mod proxy;
mod refusals;
mod server;
mod stores;
mod takeover;
mod tls;
