//! The limits that decide where turns are cut.
//!
//! INVARIANT: the limits are part of a run's first record, so a replay cuts its turns at the same places.
//! It does not measure anything.
//! Read next: `record.rs`.

use crate::codec_struct;

/// The numbers that decide where turns are cut; part of a run for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fuel after which a main program's turn commits.
    pub slice_fuel: u64,
    /// Fuel that the handlers of one turn may use in all; beyond it the turn fails. After as much, the turn of an interaction commits.
    pub turn_fuel: u64,
    /// Fuel that one call of a predicate may use; beyond it the answer is no.
    pub predicate_fuel: u64,
    /// Bytes that the heap of one actor may have.
    pub heap_bytes_max: u64,
}
codec_struct!(Limits "limits" { slice_fuel, turn_fuel, predicate_fuel, heap_bytes_max });

impl Default for Limits {
    fn default() -> Self {
        Self {
            slice_fuel: 2_000_000,
            turn_fuel: 100_000_000,
            predicate_fuel: 100_000,
            heap_bytes_max: 1 << 30,
        }
    }
}
