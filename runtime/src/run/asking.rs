//! Who asks what, kept while a run goes on.
//!
//! INVARIANT: a run that keeps it takes the same turns as one that does not.
//! It does not make keys; the ledger does. Read next: `../record/key.rs`.

use super::Run;
use crate::action::Action;
use crate::driver::Effect;
use crate::record::key::Ledger;

impl Run {
    /// Keeps what the run asks, hears and shows, and the actions that `wants` wants; says with each
    /// request who makes it. The run must not have taken a turn.
    pub fn keep_ledger(&mut self, wants: fn(&Action) -> bool) {
        self.continue_ledger(Ledger::new(self.run.as_str()).with_actions(wants));
    }

    /// Keeps the same from here on, in the ledger of the turns so far.
    pub fn continue_ledger(&mut self, ledger: Ledger) {
        name_askers(&ledger, self.unflushed.effects_mut());
        self.ledger = Some(Box::new(ledger));
    }

    /// Returns what the run has asked, heard and shown, if it keeps that.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_deref()
    }

    /// Says of each request who makes it, if the run keeps that.
    pub(super) fn with_askers(&self, mut effects: Vec<Effect>) -> Vec<Effect> {
        if let Some(ledger) = &self.ledger {
            name_askers(ledger, &mut effects);
        }
        effects
    }
}

fn name_askers(ledger: &Ledger, effects: &mut [Effect]) {
    for effect in effects.iter_mut().filter(|effect| effect.kind.is_request()) {
        effect.asking = ledger.key(effect.request).map(|key| Box::new(key.asking()));
    }
}
