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
    /// Maximum size of one actor's heap in bytes, unless its spawner gave it less.
    pub heap_bytes_max: u64,
    /// Maximum size of all actors' heaps together in bytes.
    pub run_bytes_max: u64,
}
codec_struct!(Limits "limits" { slice_fuel, turn_fuel, predicate_fuel, heap_bytes_max, run_bytes_max });

/// The part of a run's memory that one actor's heap may fill. A process holds up to three times a
/// heap while it collects the garbage of a turn, so one full actor stays within the run's memory.
const HEAPS_OF_RUN: u64 = 4;

/// The memory of a run in bytes if nobody sets it, on a machine with enough of it.
const RUN_BYTES_MAX: u64 = 2 << 30;

impl Limits {
    /// Limits for a run that may take so much memory.
    pub fn within(run_bytes_max: u64) -> Self {
        Self {
            heap_bytes_max: run_bytes_max / HEAPS_OF_RUN,
            run_bytes_max,
            ..Self::default()
        }
    }

    /// Limits for a run on a machine with so much memory: a quarter of it, and not more than a run
    /// usually needs.
    pub fn for_machine(machine_bytes: Option<u64>) -> Self {
        Self::within(machine_bytes.map_or(RUN_BYTES_MAX, |bytes| RUN_BYTES_MAX.min(bytes / 4)))
    }

    /// The limits of an actor that may take so much memory; `None` means as much as any.
    pub(crate) fn of_actor(self, heap_bytes_max: Option<u64>) -> Self {
        Self {
            heap_bytes_max: heap_bytes_max.unwrap_or(self.heap_bytes_max),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            slice_fuel: 2_000_000,
            turn_fuel: 100_000_000,
            predicate_fuel: 100_000,
            heap_bytes_max: RUN_BYTES_MAX / HEAPS_OF_RUN,
            run_bytes_max: RUN_BYTES_MAX,
        }
    }
}
