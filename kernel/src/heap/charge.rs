//! The fuel that work on the heap's objects costs beyond that of calls and loops.
//!
//! Owns the sum that is still to be paid, and the most that a computation may owe.
//! INVARIANT: a charge depends on values alone: never on storage, probes, garbage or the tier, so
//! that a turn costs the same wherever it runs.
//! It does not know what an operation costs; `primitive/cost.rs` does. The machine takes the sum
//! from its fuel after each primitive.
//! Read next: `primitive/cost.rs`.

use std::cell::Cell;

use super::Heap;

/// The sum to be paid.
#[derive(Clone, Debug)]
pub(super) struct Charge {
    due: Cell<u64>,
    /// The most that may be charged; with more, the computation has to end.
    allowance: Cell<u64>,
}

impl Default for Charge {
    fn default() -> Charge {
        Charge {
            due: Cell::new(0),
            allowance: Cell::new(u64::MAX),
        }
    }
}

/// Items that a walk passes before it looks again whether the computation should stop.
pub(crate) const ITEMS_BETWEEN_LOOKS: usize = 1 << 12;

/// The computation has to end: it has no fuel for this, or a person stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent;

impl Heap {
    /// Lets the computation use this much fuel and no more; without a limit, it may owe any amount.
    pub fn allow_fuel(&mut self, fuel: Option<u64>) {
        self.charge.allowance.set(fuel.unwrap_or(u64::MAX));
    }

    /// Adds to what is to be paid.
    #[inline]
    pub fn charge(&self, fuel: u64) {
        self.charge.due.set(self.charge.due.get().saturating_add(fuel));
    }

    /// The same before or within work that can still be left undone.
    #[inline]
    pub(crate) fn spend(&self, fuel: u64) -> Result<(), Spent> {
        self.charge(fuel);
        let is_spent = self.charge.due.get() > self.charge.allowance.get() || self.is_stop_wanted();
        if is_spent { Err(Spent) } else { Ok(()) }
    }

    /// Whether a walk that has passed so many items has to end, because the computation should
    /// stop. The outcome then means nothing: whoever stops a computation discards what it does
    /// afterwards.
    #[inline(always)]
    pub(crate) fn ends_walk(&self, passed: usize) -> bool {
        passed.is_multiple_of(ITEMS_BETWEEN_LOOKS) && self.is_stop_wanted()
    }

    /// Returns the items of a walk, and no more of them once it has to end.
    #[inline]
    pub(crate) fn until_stopped<Walk: Iterator>(&self, walk: Walk) -> impl Iterator<Item = Walk::Item> {
        walk.zip(1..)
            .take_while(|(_, passed)| !self.ends_walk(*passed))
            .map(|(item, _)| item)
    }

    /// Whether something is to be paid.
    #[inline(always)]
    pub(crate) fn is_charged(&self) -> bool {
        self.charge.due.get() != 0
    }

    /// Returns what is to be paid.
    pub(super) fn charged(&self) -> u64 {
        self.charge.due.get()
    }

    /// Goes back to what was to be paid before something that costs nothing.
    pub(super) fn set_charged(&self, fuel: u64) {
        self.charge.due.set(fuel);
    }

    /// Takes what is to be paid.
    pub fn take_charge(&self) -> u64 {
        self.charge.due.take()
    }

    /// Takes paid fuel from the allowance.
    pub(crate) fn note_paid(&self, fuel: u64) {
        let left = self.charge.allowance.get();
        if left != u64::MAX {
            self.charge.allowance.set(left.saturating_sub(fuel));
        }
    }
}

/// Charges a unit of fuel for each `PER` steps of a walk.
#[derive(Default)]
pub(crate) struct Steps<const PER: u64>(u64);

impl<const PER: u64> Steps<PER> {
    /// Counts a step.
    #[inline(always)]
    pub(crate) fn step(&mut self, heap: &Heap) {
        self.0 += 1;
        if self.0.is_multiple_of(PER) {
            heap.charge(1);
        }
    }

    /// Counts steps; fails if the walk has to end.
    #[inline]
    pub(crate) fn walk(&mut self, heap: &Heap, steps: u64) -> Result<(), Spent> {
        let before = self.0 / PER;
        self.0 += steps;
        match self.0 / PER - before {
            0 => Ok(()),
            fuel => heap.spend(fuel),
        }
    }
}
