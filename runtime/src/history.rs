//! History: questions about a run's past, answered from its records; only `rerun` runs a program.
//!
//! Owns the facts as the records change them (`history/shadow.rs`), an index of those changes
//! (`history/changes.rs`), the point where two branches part (`history/relation.rs`), what each of
//! them asks (`history/alignment.rs`), the cause of a turn (`history/chain.rs`), the failure that
//! came first (`history/first_failure.rs`), the inputs of a turn as inputs for another branch
//! (`history/input.rs`), the merging of facts (`history/merge.rs`), and the way of changed code
//! through what was recorded (`history/rerun.rs`).
//! INVARIANT: nothing here writes, or asks the world for anything; the same records give the same
//! answers on any machine.
//! It does not prove that a program did what its records say; `run/replay.rs` does.
//! Read next: `history/shadow.rs`.

pub mod alignment;
pub mod chain;
pub mod changes;
pub mod first_failure;
pub mod input;
pub mod merge;
pub mod relation;
pub mod passing;
pub mod rerun;
pub mod shadow;

#[cfg(test)]
mod tests;
