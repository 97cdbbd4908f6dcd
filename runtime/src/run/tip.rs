//! The tip of a chain of records.
//!
//! INVARIANT: a tip names one record and, through its hash, that record's whole history.
//! It does not say whether the record is durable.
//! Read next: `../run.rs`.

use duet_journal::{RecordHash, Sequence};

/// The newest record of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its name.
    pub hash: RecordHash,
    /// Its position.
    pub sequence: Sequence,
}
