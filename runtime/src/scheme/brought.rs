//! What evaluated texts have brought to a version of a program, as data.
//!
//! INVARIANT: a key stands here only if an evaluated text brought the source.
//! It forgets nothing; `evaluation/forgetting.rs` does.
//! Read next: `evaluation/forgetting.rs`.

use std::collections::BTreeSet;

/// What evaluated texts have brought to a version of a program.
#[derive(Default)]
pub(super) struct Brought {
    /// The keys of sources.
    pub(super) sources: BTreeSet<Vec<String>>,
    /// How often libraries were forgotten.
    pub(super) forgotten: u64,
}
