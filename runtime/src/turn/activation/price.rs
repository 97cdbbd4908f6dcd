//! Who pays for a turn's actions, notices and attempts.
//!
//! INVARIANT: each is paid once, by the fiber whose it is, else by the handlers of the turn.
//! It does not know the price; `debt.rs` does. It does not find who observes; `../../dataspace.rs`
//! does. Read next: `../activation.rs`.

use super::{Activation, Current};

impl Activation {
    /// Adds the price of the newest action and of its notices.
    pub(super) fn count_action(&mut self) {
        let notices = self.draft.outbox.take_notified();
        self.debt.add_action(self.turn.actions.len() + 1, notices);
    }

    /// Adds the price of the newest refused attempt.
    pub(super) fn count_attempt(&mut self) {
        self.debt.add_attempt(self.turn.attempts.len());
    }

    /// Takes from the running fiber's fuel what its actions cost, and the values that went in or
    /// out.
    pub(crate) fn pay(&mut self, values: u64) {
        self.debt.cover_attempts(values);
        self.fuel = self.fuel.saturating_sub_unsigned(self.debt.take());
    }

    /// Pays for a fiber's last actions, after it has ended or parked, from its remaining fuel.
    pub(super) fn pay_after(&mut self, fiber: Current) {
        let Some(payer) = self.payer(fiber) else {
            return self.pay_apart();
        };
        let debt = self.debt.take();
        if debt == 0 {
            return;
        }
        self.turn.fuel = self.turn.fuel.saturating_add(debt);
        let guards = self.draft.acting_mut().ok().map(|actor| &mut actor.guards);
        let left = guards.and_then(|guards| guards.get_mut(&payer)?.fuel_left.as_mut());
        if let Some(left) = left {
            *left = left.saturating_sub(debt);
        }
    }

    /// Takes the cost of actions between the fibers' runs from the fuel of the turn's handlers. The
    /// actions have happened, such as the end of a facet; the next handler lacks the fuel.
    pub(super) fn pay_apart(&mut self) {
        let debt = self.debt.take();
        self.turn.fuel = self.turn.fuel.saturating_add(debt);
        self.handler_fuel = self.handler_fuel.saturating_sub(debt);
    }
}
