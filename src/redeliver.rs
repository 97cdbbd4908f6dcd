//! Recorded inputs, delivered again to another branch.
//!
//! Owns drivers that answer the requests of a run from recorded answers first, and pass the others
//! on to the world.
//! INVARIANT: a request receives a recorded answer only if it equals the request that was answered
//! then; inputs that fit no request are reported.
//! It does not decide where a branch begins; `command/pick.rs` and `command/amend.rs` do.
//! Read next: `command/pick.rs`.

use std::collections::VecDeque;

use duet_journal::{RecordHash, Sequence};
use duet_runtime::driver::{Drivers, Effect, EffectKind, Input};
use duet_runtime::history::input::{Recorded, What, answer};
use duet_runtime::model::identity::RequestId;

/// Answers requests from recorded answers, and passes on the others, except questions to the person
/// and reading.
pub(crate) struct Redelivery<'a> {
    world: &'a mut dyn Drivers,
    /// The inputs that are not delivered yet, oldest first.
    left: VecDeque<Recorded>,
    ready: VecDeque<Input>,
    delivered: usize,
}

impl<'a> Redelivery<'a> {
    pub(crate) fn new(world: &'a mut dyn Drivers, inputs: Vec<Recorded>) -> Self {
        Self {
            world,
            left: inputs.into(),
            ready: VecDeque::new(),
            delivered: 0,
        }
    }

    /// How many inputs were delivered, and the turns of those that nothing asked for.
    pub(crate) fn outcome(self) -> (usize, Vec<Sequence>) {
        (self.delivered, self.left.into_iter().map(|left| left.turn).collect())
    }

    /// Finds the oldest recorded answer to a question.
    fn answer(&mut self, asked: RequestId, kind: &EffectKind) -> Option<Input> {
        let position = self.left.iter().position(|recorded| match &recorded.what {
            What::Answer { question, .. } => question == kind,
            What::Unasked(_) => false,
        })?;
        let What::Answer { outcome, .. } = &self.left.get(position)?.what else {
            return None;
        };
        let input = answer(asked, kind, outcome)?;
        self.left.remove(position);
        Some(input)
    }
}

impl Drivers for Redelivery<'_> {
    fn judge_places(&mut self, is_judged: bool) {
        self.world.judge_places(is_judged);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let mut passed_on = Vec::new();
        for effect in effects {
            if let Some(input) = self.answer(effect.request, &effect.kind) {
                self.ready.push_back(input);
            } else if !matches!(effect.kind, EffectKind::Ask { .. } | EffectKind::Read { .. }) {
                passed_on.push(effect);
            }
        }
        if !passed_on.is_empty() {
            self.world.perform(passed_on);
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        let is_unasked = |recorded: &Recorded| matches!(recorded.what, What::Unasked(_));
        let input = self.ready.pop_front().or_else(|| {
            let found = self.left.pop_front_if(|front| is_unasked(front))?;
            match found.what {
                What::Unasked(input) => Some(input),
                What::Answer { .. } => None,
            }
        });
        match input {
            Some(input) => {
                self.delivered += 1;
                Some(input)
            }
            None => self.world.next_input(),
        }
    }

    fn poll_input(&mut self) -> Option<Input> {
        self.world.poll_input()
    }

    fn before_output(&mut self, record: RecordHash, at: Sequence) {
        self.world.before_output(record, at);
    }

    fn after_output(&mut self) {
        self.world.after_output();
    }
}
