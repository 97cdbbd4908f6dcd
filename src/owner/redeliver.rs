//! Recorded inputs, delivered again to another branch.
//!
//! Owns drivers that answer the requests of a run from recorded answers first, and pass the others
//! on to the world.
//! INVARIANT: an answer goes to the request with the key of the one that it answered. Only if there
//! is none, it goes to another request of the same words, and the outcome names it.
//! It does not decide where a branch begins; `verb/act/pick.rs` and `verb/act/amend.rs` do.
//! Read next: `verb/act/pick.rs`, `runtime/src/record/key.rs`.

use std::collections::BTreeSet;

use duet_journal::{RecordHash, Sequence};
use duet_runtime::driver::{Asking, Drivers, Effect, EffectKind, Input};
use duet_runtime::history::input::{Recorded, What, answer};
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::key::Ledger;

/// Delivers recorded inputs in their order, each as soon as something waits for it, and passes on
/// the requests that have none, except questions to the person and reading.
pub(crate) struct Redelivery<'a> {
    world: &'a mut dyn Drivers,
    /// The inputs that are not delivered yet, oldest first.
    left: Vec<Left>,
    /// The requests that a recorded answer may fit, oldest first; the world does not know them.
    open: Vec<Effect>,
    /// The calls that the world works on.
    awaited: BTreeSet<RequestId>,
    delivered: usize,
    elsewhere: Vec<Elsewhere>,
}

/// A recorded input that is not delivered yet.
struct Left {
    recorded: Recorded,
    /// The request that it answered, if it is an answer.
    asking: Option<Asking>,
    /// Whether the branch had made the same request before anything was delivered.
    was_asked: bool,
}

/// An answer that went to another request than the one that it had answered.
pub(crate) struct Elsewhere {
    /// The turn that recorded it.
    pub(crate) turn: Sequence,
    /// The path of names of the actor that had asked.
    pub(crate) there: String,
    /// The path of names of the actor that received it.
    pub(crate) here: String,
}

/// What became of the inputs.
pub(crate) struct Outcome {
    pub(crate) delivered: usize,
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// The turns of the answers that nothing asked for.
    pub(crate) not_asked: Vec<Sequence>,
    /// The turns of the other inputs that the run did not go on to receive.
    pub(crate) not_reached: Vec<Sequence>,
}

/// How much of two requests must be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The whole key.
    Key,
    /// The actor and the words.
    Actor,
    /// The words.
    Words,
}

impl Fit {
    fn has(self, one: &Asking, other: &Asking) -> bool {
        let has_words = (&one.what, &one.arguments) == (&other.what, &other.arguments);
        match self {
            Self::Key => one == other,
            Self::Actor => has_words && one.asker.actor == other.asker.actor,
            Self::Words => has_words,
        }
    }
}

/// The next input, and where it comes from.
struct Choice {
    /// Its place among those that are left.
    at: usize,
    /// The place of the open request that it answers, and how well that fits.
    open: Option<(usize, Fit)>,
    input: Input,
}

impl<'a> Redelivery<'a> {
    /// Makes drivers of recorded inputs, by what their branch has asked and what the branch that
    /// receives them has asked so far.
    pub(crate) fn new(world: &'a mut dyn Drivers, inputs: Vec<Recorded>, there: &Ledger, here: &Ledger) -> Self {
        let left = inputs.into_iter().map(|recorded| {
            let key = match &recorded.what {
                What::Answer { request, .. } => there.key(*request),
                What::Unasked(_) => None,
            };
            Left {
                asking: key.map(|key| key.asking()),
                was_asked: key.is_some_and(|key| here.count(key) >= key.nth),
                recorded,
            }
        });
        Self {
            world,
            left: left.collect(),
            open: Vec::new(),
            awaited: BTreeSet::new(),
            delivered: 0,
            elsewhere: Vec::new(),
        }
    }

    /// What became of the inputs.
    pub(crate) fn outcome(self) -> Outcome {
        let is_answer = |left: &Left| matches!(left.recorded.what, What::Answer { .. });
        let (answers, others): (Vec<_>, Vec<_>) = self.left.into_iter().partition(is_answer);
        let turns = |left: Vec<Left>| left.into_iter().map(|left| left.recorded.turn).collect();
        Outcome {
            delivered: self.delivered,
            elsewhere: self.elsewhere,
            not_asked: turns(answers),
            not_reached: turns(others),
        }
    }

    /// Says whether a recorded answer may be for a request.
    fn may_answer(&self, effect: &Effect) -> bool {
        let Some(asking) = effect.asking.as_deref() else {
            return false;
        };
        let mut recorded = self.left.iter().filter_map(|left| left.asking.as_ref());
        recorded.any(|recorded| Fit::Words.has(recorded, asking))
    }

    /// Chooses the oldest input that something waits for. As long as the world works on a call, its
    /// result may lead to the question of an answer; the answer then waits for that, and holds up
    /// the inputs behind it that nobody asks for.
    fn choose(&self) -> Option<Choice> {
        let is_busy = !self.awaited.is_empty();
        let mut is_held_up = false;
        for (at, left) in self.left.iter().enumerate() {
            let may_be_asked = is_busy && !left.was_asked;
            let found = match &left.recorded.what {
                What::Unasked(_) if is_held_up => None,
                What::Unasked(input) => Some(Choice {
                    at,
                    open: None,
                    input: input.clone(),
                }),
                What::Answer { .. } if may_be_asked => self.choose_for(at, Fit::Key),
                What::Answer { .. } => [Fit::Key, Fit::Actor]
                    .into_iter()
                    .find_map(|fit| self.choose_for(at, fit)),
            };
            if found.is_some() {
                return found;
            }
            is_held_up |= may_be_asked;
        }
        if is_busy {
            return None;
        }
        (0..self.left.len()).find_map(|at| self.choose_for(at, Fit::Words))
    }

    /// Chooses the oldest open request that an answer fits. A request that another answer was for
    /// waits for that one, and a request of another actor is not meant if the branch has made the
    /// right one.
    fn choose_for(&self, at: usize, fit: Fit) -> Option<Choice> {
        let left = &self.left[at];
        let (What::Answer { outcome, .. }, Some(recorded)) = (&left.recorded.what, &left.asking) else {
            return None;
        };
        if fit == Fit::Words && left.was_asked {
            return None;
        }
        self.open.iter().enumerate().find_map(|(place, effect)| {
            let asking = effect.asking.as_deref().filter(|asking| fit.has(recorded, asking))?;
            let has_own = || self.left.iter().any(|left| left.asking.as_ref() == Some(asking));
            if fit != Fit::Key && has_own() {
                return None;
            }
            let input = answer(effect.request, &effect.kind, outcome)?;
            let open = Some((place, fit));
            Some(Choice { at, open, input })
        })
    }

    fn take(&mut self, choice: Choice) -> Input {
        let Choice { at, open, input } = choice;
        let left = self.left.remove(at);
        let open = open.map(|(place, fit)| (self.open.remove(place), fit));
        if let Some((effect, Fit::Actor | Fit::Words)) = open {
            let actor = |asking: Option<Asking>| asking.map_or_else(String::new, |asking| asking.asker.actor);
            self.elsewhere.push(Elsewhere {
                turn: left.recorded.turn,
                there: actor(left.asking),
                here: actor(effect.asking.map(|asking| *asking)),
            });
        }
        self.delivered += 1;
        input
    }

    fn pass_on(&mut self, mut effects: Vec<Effect>) {
        effects.retain(|effect| !matches!(effect.kind, EffectKind::Ask { .. } | EffectKind::Read { .. }));
        let calls = effects
            .iter()
            .filter(|effect| matches!(effect.kind, EffectKind::Tool { .. }));
        self.awaited.extend(calls.map(|effect| effect.request));
        if !effects.is_empty() {
            self.world.perform(effects);
        }
    }

    /// Notes that the world has answered a request.
    fn heard(&mut self, input: Option<Input>) -> Option<Input> {
        if let Some(Input::ToolResult { request, .. }) = &input {
            self.awaited.remove(request);
        }
        input
    }
}

impl Drivers for Redelivery<'_> {
    fn judge_places(&mut self, is_judged: bool) {
        self.world.judge_places(is_judged);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let mut passed_on = Vec::new();
        for effect in effects {
            if effect.kind == EffectKind::Withdraw {
                self.open.retain(|open| open.request != effect.request);
                self.awaited.remove(&effect.request);
            }
            if self.may_answer(&effect) {
                self.open.push(effect);
            } else {
                passed_on.push(effect);
            }
        }
        self.pass_on(passed_on);
    }

    fn next_input(&mut self) -> Option<Input> {
        loop {
            if let Some(choice) = self.choose() {
                return Some(self.take(choice));
            }
            if self.awaited.is_empty() {
                let open = std::mem::take(&mut self.open);
                self.pass_on(open);
            }
            let is_busy = !self.awaited.is_empty();
            let input = self.world.next_input();
            if input.is_some() || !is_busy {
                return self.heard(input);
            }
            // Nobody answers these calls any more, so nothing waits for them.
            self.awaited.clear();
        }
    }

    fn poll_input(&mut self) -> Option<Input> {
        let input = self.world.poll_input();
        self.heard(input)
    }

    fn before_output(&mut self, record: RecordHash, at: Sequence) {
        self.world.before_output(record, at);
    }

    fn after_output(&mut self) {
        self.world.after_output();
    }
}
