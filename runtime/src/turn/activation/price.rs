//! What a turn's actions cost beyond the computation that leads to them: those who observe hear of
//! each one by one, and the record keeps the reason of each refusal.
//!
//! INVARIANT: the fuel depends on the numbers of notices and attempts alone, so a replay uses the
//! same; each is paid once, by the fiber whose it is, else by the handlers of the turn.
//! It does not find who observes; `../../dataspace.rs` does.
//! Read next: `../activation.rs`.

use super::{Activation, Current};
use crate::state::actor::FiberKind;

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
pub(super) struct Owed {
    /// For attempts.
    attempts: u64,
    /// For the notices of actions.
    notices: u64,
}

impl Activation {
    /// Counts what the action costs that was performed last.
    pub(super) fn count_action(&mut self) {
        let notices = self.draft.outbox.take_notified().saturating_sub(FREE_NOTICES);
        let notices = notices.saturating_mul(NOTICE_FUEL);
        self.owed.notices = self.owed.notices.saturating_add(notices);
    }

    /// Counts what the attempt costs that was refused last.
    pub(super) fn count_attempt(&mut self) {
        if self.turn.attempts.len() >= FREE_ATTEMPTS {
            self.owed.attempts = self.owed.attempts.saturating_add(ATTEMPT_FUEL);
        }
    }

    fn take_owed(&mut self) -> u64 {
        let Owed { attempts, notices } = std::mem::take(&mut self.owed);
        attempts.saturating_add(notices)
    }

    /// Takes from the running fiber's fuel what its actions cost, and the values that went in or
    /// out, whose price covers that of the attempts which they are in.
    pub(crate) fn pay(&mut self, values: u64) {
        self.owed.attempts = self.owed.attempts.max(values);
        let owed = self.take_owed();
        self.fuel = self.fuel.saturating_sub_unsigned(owed);
    }

    /// Takes the cost of what ended or parked a fiber from what is left to it.
    pub(super) fn pay_after(&mut self, fiber: Current) {
        if fiber.kind != (FiberKind::Guarded {}) {
            return self.pay_apart();
        }
        let owed = self.take_owed();
        if owed == 0 {
            return;
        }
        self.turn.fuel = self.turn.fuel.saturating_add(owed);
        let guards = self.draft.acting_mut().ok().map(|actor| &mut actor.guards);
        let left = guards.and_then(|guards| guards.get_mut(&fiber.fiber)?.fuel_left.as_mut());
        if let Some(left) = left {
            *left = left.saturating_sub(owed);
        }
    }

    /// Takes the cost of actions between the fibers' runs from the fuel of the turn's handlers. The
    /// actions have happened, such as the end of a facet; the next handler lacks the fuel.
    pub(super) fn pay_apart(&mut self) {
        let owed = self.take_owed();
        self.turn.fuel = self.turn.fuel.saturating_add(owed);
        self.handler_fuel = self.handler_fuel.saturating_sub(owed);
    }
}
