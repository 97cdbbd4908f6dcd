//! History: what a run's records say about its past, read without running its program.
//!
//! Owns the facts as the records change them (`history/shadow.rs`), an index of those changes (`history/changes.rs`), where two branches part (`history/parting.rs`), why a turn took place
//! (`history/chain.rs`), the inputs of a turn as inputs for another branch (`history/input.rs`), and the merging of facts (`history/merge.rs`).
//! INVARIANT: nothing here is executed, written or asked; the same records give the same answers on any machine.
//! It does not prove that a program did what its records say; `replay.rs` does.
//! Read next: `history/shadow.rs`.

pub mod chain;
pub mod changes;
pub mod input;
pub mod merge;
pub mod parting;
pub mod shadow;

#[cfg(test)]
mod tests;
