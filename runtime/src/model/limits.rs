//! The limits at which the runtime ends turns.
//!
//! INVARIANT: the limits are part of a run's first record, so a replay ends its turns at the same
//! places.
//! It does not measure anything.
//! Read next: `record.rs`.

use crate::codec_struct;

/// The limits at which the runtime ends turns; they never change during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fuel after which a turn of the main program commits.
    pub slice_fuel: u64,
    /// Fuel for all handlers of one turn together; a turn that uses more fails. A turn that
    /// evaluates a text of the REPL commits after the same amount.
    pub turn_fuel: u64,
    /// Fuel for one call of a predicate; a call that uses more answers `#f`.
    pub predicate_fuel: u64,
    /// Maximum size of one actor's heap in bytes.
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
