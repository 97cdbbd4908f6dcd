//! What a person has granted a run after it began.
//!
//! INVARIANT: only a person's input adds a grant, and it adds to what the run has; going back to
//! before that input takes the grant back.
//! It does not know who may grant; the line of inputs does.
//! Read next: `../action/widen.rs`.

use std::sync::Arc;

use super::RunState;
use crate::model::card::ToolCard;
use crate::model::fixed::FixedEntry;
use crate::model::grant::Grant;
use crate::policy::item::Tools;

/// All grants of a run, and the tools as they describe them.
#[derive(Clone, Debug, Default)]
pub struct Granted {
    /// The grants, the oldest first.
    pub grants: Arc<Vec<Grant>>,
    /// The tools as the run's first record and the grants describe them.
    pub tools: Arc<Tools>,
}

impl RunState {
    /// Adds a grant in the turn that has begun.
    pub(crate) fn grant(&mut self, grant: &Grant) {
        let before = || Box::new(self.granted.clone());
        self.before_grant.get_or_insert_with(before);
        Arc::make_mut(&mut self.granted.tools).describe(&grant.tools);
        Arc::make_mut(&mut self.granted.grants).push(grant.clone());
        if !grant.policy.is_empty() {
            self.lay_down(&grant.policy);
        }
    }

    /// Lays down the entries of policy of the run's first record and of the grants, which nobody
    /// holds.
    pub(crate) fn govern(&mut self, policy: &[FixedEntry]) {
        let grants = Arc::clone(&self.granted.grants);
        let all = std::iter::once(policy).chain(grants.iter().map(|grant| &grant.policy[..]));
        all.for_each(|policy| self.lay_down(policy));
        self.begun.entries = self.entries.clone();
        self.has_touched_entries = false;
    }

    fn lay_down(&mut self, policy: &[FixedEntry]) {
        policy
            .iter()
            .for_each(|entry| self.entries.add(&entry.key, &entry.text));
        self.has_touched_entries = true;
    }

    /// Describes the tools from the cards of the run's first record and from the grants.
    pub(crate) fn describe_tools(&mut self, cards: &[ToolCard]) {
        let mut tools = Tools::of_cards(cards);
        self.granted
            .grants
            .iter()
            .for_each(|grant| tools.describe(&grant.tools));
        self.granted.tools = Arc::new(tools);
    }
}
