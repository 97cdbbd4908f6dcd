//! Whole runs of Scheme programs on a disk that fails and a world that remembers: crashes, replays,
//! rewinds and forks.
//!
//! Owns the proofs of the invariants that only the system as a whole can break: no effect before
//! its turn is durable, replay equals live, restore equals never having stopped.
//! INVARIANT: nothing here reaches behind the public interfaces that the command line uses.
//! The crates' own tests cover the promises of single crates.
//! Read next: `support/scenario.rs`, then `crash/power.rs`.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod branches;
mod course;
pub(crate) mod defects;
mod patched;
mod plants;
mod power;
mod replay;
