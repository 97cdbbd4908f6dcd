//! Who asks what, kept while a run goes on.
//!
//! INVARIANT: a run that keeps it takes the same turns as one that does not.
//! It does not make keys; the ledger does. Read next: `../record/key.rs`.

use super::Run;
use crate::action::Action;
use crate::driver::{Effect, EffectKind};
use crate::record::key::Ledger;

impl Run {
    /// Keeps what the run asks, hears and shows, and the actions that `wants` wants; says with each
    /// call of a tool who makes it. The run must not have taken a turn.
    pub fn keep_ledger(&mut self, wants: fn(&Action) -> bool) {
        let ledger = Ledger::new(self.run.as_str()).with_actions(wants);
        self.ledger = Some(Box::new(ledger));
    }

    /// Returns what the run has asked, heard and shown, if it keeps that.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_deref()
    }

    /// Says of each call of a tool who makes it, if the run keeps that.
    pub(super) fn with_askers(&self, mut effects: Vec<Effect>) -> Vec<Effect> {
        let Some(ledger) = &self.ledger else { return effects };
        let calls = effects.iter_mut();
        for call in calls.filter(|effect| matches!(effect.kind, EffectKind::Tool { .. })) {
            call.asking = ledger.asking(call.request).map(Box::new);
        }
        effects
    }
}
