//! The fuel that nobody has paid yet for what actions cost beyond the computation that leads to
//! them: those who observe hear of each one by one, and the record keeps the reason of a refusal.
//!
//! INVARIANT: the fuel depends on the numbers of notices and attempts alone, so a replay uses the
//! same.
//! It does not find who pays; `price.rs` does. Read next: `price.rs`.

/// The fuel of an attempt that was refused: the reason is made, and recorded with it.
const ATTEMPT_FUEL: u64 = 500;

/// The attempts of a turn that cost nothing more than the calls. Most turns have fewer; to commit
/// one costs more than these.
const FREE_ATTEMPTS: usize = 64;

/// The fuel of a notice, which is found, copied and queued.
const NOTICE_FUEL: u64 = 200;

/// The notices of an action that cost nothing more than it; most actions have fewer.
const FREE_NOTICES: u64 = 8;

/// The fuel that nobody has paid yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FuelDebt {
    /// For attempts.
    attempts: u64,
    /// For the notices of actions.
    notices: u64,
}

impl FuelDebt {
    /// Adds the price of the notices of an action.
    pub(super) fn add_notices(&mut self, count: u64) {
        let fuel = count.saturating_sub(FREE_NOTICES).saturating_mul(NOTICE_FUEL);
        self.notices = self.notices.saturating_add(fuel);
    }

    /// Adds the price of an attempt that was refused, the last of so many in the turn.
    pub(super) fn add_attempt(&mut self, count: usize) {
        if count >= FREE_ATTEMPTS {
            self.attempts = self.attempts.saturating_add(ATTEMPT_FUEL);
        }
    }

    /// Lets the price of the values of attempts, if it is higher, take the place of theirs.
    pub(super) fn cover_attempts(&mut self, values: u64) {
        self.attempts = self.attempts.max(values);
    }

    /// Returns the whole, which is then paid.
    pub(super) fn take(&mut self) -> u64 {
        let Self { attempts, notices } = std::mem::take(self);
        attempts.saturating_add(notices)
    }
}
