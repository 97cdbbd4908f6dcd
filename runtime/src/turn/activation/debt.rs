//! The fuel that nobody has paid yet for what actions cost beyond the computation that leads to
//! them: each is done and recorded, those who observe hear of each one by one, and the record keeps
//! the reason of a refusal.
//!
//! INVARIANT: the fuel depends on the numbers of actions, notices and attempts alone, so a replay
//! uses the same.
//! It does not find who pays; `price.rs` does. Read next: `price.rs`.

/// The fuel of an action, which is done and recorded. Without it a slice of fuel would hold a
/// million actions: for seconds nobody could stop the run, and its record would not end.
const ACTION_FUEL: u64 = 100;

/// The actions of a turn that cost nothing more than the calls; most turns have fewer.
const FREE_ACTIONS: usize = 64;

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
    /// For actions and their notices.
    actions: u64,
}

impl FuelDebt {
    /// Adds the price of an action, the last of this many in the turn, and of its notices.
    pub(super) fn add_action(&mut self, count: usize, notices: u64) {
        let own = if count > FREE_ACTIONS { ACTION_FUEL } else { 0 };
        let fuel = notices.saturating_sub(FREE_NOTICES).saturating_mul(NOTICE_FUEL);
        self.actions = self.actions.saturating_add(fuel).saturating_add(own);
    }

    /// Adds the price of an attempt that was refused, the last of this many in the turn.
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
        let Self { attempts, actions } = std::mem::take(self);
        attempts.saturating_add(actions)
    }
}
