//! The search for what stands in the way of a fact: in the records, in the state, in the text.
//!
//! INVARIANT: records are read one after the other, so memory does not follow the length of the
//! run. It compares no values; `near.rs` does. Read next: `near.rs`.

use std::collections::BTreeSet;

use duet_journal::Sequence;
use duet_runtime::action::{self, Action};
use duet_runtime::dataspace::pattern::Pattern;
use duet_runtime::history::changes::Sought;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::ActorId;
use duet_runtime::model::value::Fact;
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::run::Run;
use duet_runtime::run::sight::Sight;
use duet_runtime::scheme::SchemePrograms;
use duet_runtime::state::actor::Condition;
use duet_runtime::state::request::Question;
use preserves::ValueImpl;

use super::assertions::assertions;
use super::near::{difference, pattern_difference};
use super::{Reason, Sort};
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::records::Records;
use crate::history::turn;
use crate::history::turn::line::{actor, actor_in};
use crate::history::waiting::waits;
use crate::text::error::CommandError;
use crate::text::query::{Query, spelled_packed};
use crate::text::value_text::abbreviated;
use crate::verb::project::ProjectReader;

/// The maximum number of reasons of one sort.
const SHOWN_MAX: usize = 8;

/// The maximum length of a form in words.
const FORM_CHARACTERS: usize = 80;

/// A search, and what it has found.
pub(super) struct Search<'a> {
    look: &'a ProjectReader<'a>,
    place: &'a Place,
    query: &'a Query,
    origins: Origins<'a>,
    pub(super) reasons: Vec<Reason>,
}

impl<'a> Search<'a> {
    pub(super) fn of(look: &'a ProjectReader<'a>, place: &'a Place, query: &'a Query) -> Self {
        Self {
            look,
            place,
            query,
            origins: Origins::of(place.source(look.store)),
            reasons: Vec::new(),
        }
    }

    /// The name of an actor, which may have ended.
    fn who(&mut self, id: ActorId) -> Result<String, CommandError> {
        let role = self.origins.role(id, self.place.at())?;
        Ok(actor(id, role.as_deref()))
    }

    fn add(&mut self, sort: Sort, turn: Option<Sequence>, words: impl Into<String>) {
        let count = self.reasons.iter().filter(|reason| reason.sort == sort).count();
        if count < SHOWN_MAX {
            self.reasons.push(Reason::of(sort, turn, words));
        }
    }

    /// Whether and when such a fact came and went.
    pub(super) fn history(&mut self) -> Result<(), CommandError> {
        let (found, _) = self.look.changes(self.place, self.query, Sought::All)?;
        match found.last() {
            None => {
                let until = self.place.address(self.place.at());
                self.add(Sort::Never, None, format!("no such fact came up to {until}"));
            }
            Some(last) if !last.came => {
                let (turn, fact) = (last.sequence, abbreviated(&last.fact.value()));
                let who = self.who(last.actor)?;
                self.add(Sort::Went, Some(turn), format!("{fact} went in turn {turn} of {who}"));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Whether such a fact is there.
    pub(super) fn is_there(&mut self, run: &Run) -> bool {
        let state = run.state();
        let found: Vec<String> = state
            .held
            .values()
            .filter(|held| self.query.finds(&held.fact.value()))
            .map(|held| {
                let name = actor_in(state, held.actor);
                format!("{name} asserts {}", abbreviated(&held.fact.value()))
            })
            .collect();
        for words in &found {
            self.add(Sort::There, None, words);
        }
        !found.is_empty()
    }

    /// The attempts to assert it that the gate refused, newest first.
    pub(super) fn refusals(&mut self) -> Result<(), CommandError> {
        for record in Records::newest_first(self.look.store, self.place) {
            self.look.go_on()?;
            let record = record?;
            if let Body::Turn(turn) = turn::body(&record)? {
                self.refused_in(&turn, record.header().sequence)?;
            }
        }
        Ok(())
    }

    fn refused_in(&mut self, turn: &TurnRecord, at: Sequence) -> Result<(), CommandError> {
        for attempt in &turn.attempts {
            let Some(wanted) = attempt.actions.iter().find_map(|action| self.asserted(action)) else {
                continue;
            };
            let reason = attempt.verdict.reason().map(ToString::to_string).unwrap_or_default();
            let who = self.who(turn.actor)?;
            let words = format!("the gate refused {who} in turn {at} to assert {wanted}: {reason}");
            self.add(Sort::Refused, Some(at), words);
        }
        Ok(())
    }

    /// The matching fact that an action asserts or sends, in words.
    #[expect(clippy::wildcard_enum_match_arm, reason = "two actions give the dataspace a value")]
    fn asserted(&self, action: &Action) -> Option<String> {
        let value: &Fact = match action {
            Action::Assert(assert) => &assert.value,
            Action::Message(message) => &message.value,
            other => return other.parts().iter().find_map(|part| self.asserted(part)),
        };
        let value = value.value();
        self.query.finds(&value).then(|| abbreviated(&value))
    }

    /// The attempts to assert it that wait for a person or for policy.
    #[expect(clippy::wildcard_enum_match_arm, reason = "two kinds of requests hold attempts")]
    pub(super) fn held(&mut self, run: &Run) {
        for (id, request) in run.state().requests.iter() {
            let (attempts, whom) = match &request.question {
                Question::Approve { attempts, .. } => (attempts, "the approval of a person"),
                Question::Postponed { attempts } => (attempts, "policy to allow it"),
                _ => continue,
            };
            let actions = action::of_value(attempts).unwrap_or_default();
            if let Some(wanted) = actions.iter().find_map(|action| self.asserted(action)) {
                let who = actor_in(run.state(), request.actor);
                self.add(
                    Sort::Held,
                    None,
                    format!("{who} waits for {whom} ({id}) to assert {wanted}"),
                );
            }
        }
    }

    /// The facts, and the patterns of waits and observers, that are nearly the same.
    pub(super) fn near(&mut self, run: &Run) {
        let state = run.state();
        for held in state.held.values() {
            let value = held.fact.value();
            let differs = self
                .query
                .patterns()
                .iter()
                .find_map(|pattern| difference(pattern, &value));
            if let Some(differs) = differs {
                let who = actor_in(state, held.actor);
                self.add(
                    Sort::Near,
                    None,
                    format!("{who} asserts {}: {differs}", abbreviated(&value)),
                );
            }
        }
        for (id, found) in state.actors.iter() {
            let name = actor(*id, found.role.as_deref());
            for wait in found.waits.values() {
                for condition in wait.conditions.iter() {
                    self.awaited(&name, condition);
                }
            }
        }
    }

    /// A wait for a pattern of the same label.
    fn awaited(&mut self, name: &str, condition: &Condition) {
        let (Condition::Matching { pattern, .. } | Condition::Accepted { pattern, .. }) = condition else {
            return;
        };
        let Ok(other) = Pattern::decode(&pattern.encode()) else {
            return;
        };
        let differs = self
            .query
            .patterns()
            .iter()
            .find_map(|pattern| pattern_difference(pattern, &other));
        let words = match differs.as_deref() {
            None => return,
            Some("") => format!("{name} waits for {}, which it could end", spelled_packed(pattern)),
            Some(differs) => format!("{name} waits for {}: {differs}", spelled_packed(pattern)),
        };
        self.add(Sort::Awaited, None, words);
    }

    /// Where the text asserts such a fact, and what stands in those procedures.
    pub(super) fn standing(&mut self, run: &mut Sight<'_>) -> Result<(), CommandError> {
        let labels: Vec<String> = self.query.patterns().iter().filter_map(label).collect();
        let mut procedures = BTreeSet::new();
        let texts: Vec<_> = crate::text::render::SourceTexts::of(run.programs::<SchemePrograms>().expander())
            .all()
            .to_vec();
        for text in &texts {
            for found in assertions(&text.text, &labels) {
                let within = found.within.as_ref().map(|name| format!(" in `{name}`"));
                let within = within.unwrap_or_default();
                let form = turn::short(&found.form, FORM_CHARACTERS);
                let words = format!("{}:{}{within}: {form}", text.name, found.line);
                self.add(Sort::Text, None, words);
                procedures.extend(found.within);
            }
        }
        self.failed(run, &procedures);
        self.stands(run, &procedures)
    }

    /// The actors that failed and played a role with such a procedure's name.
    fn failed(&mut self, run: &Run, procedures: &BTreeSet<String>) {
        for untaken in &run.state().untaken.first {
            let role = untaken.role.clone().unwrap_or_else(|| "main".to_owned());
            let (turn, kind) = (untaken.turn, &untaken.kind);
            let of_it = if procedures.contains(&role) {
                ", which asserts it,"
            } else {
                ""
            };
            self.add(
                Sort::Failed,
                Some(turn),
                format!("{role}{of_it} failed in turn {turn} ({kind})"),
            );
        }
    }

    /// The fibers that stand in such a procedure, with what they wait for.
    fn stands(&mut self, run: &mut Sight<'_>, procedures: &BTreeSet<String>) -> Result<(), CommandError> {
        let waits = waits(run.state());
        for waiting in &waits {
            let Some(parked) = run
                .state()
                .actor(waiting.actor)
                .and_then(|actor| actor.fibers.get(&waiting.fiber))
                .map(|fiber| fiber.continuation)
            else {
                continue;
            };
            let frames = run.look(waiting.actor, |programs: &mut SchemePrograms, instance| {
                programs.frames_of(instance, parked)
            })?;
            let mut frames = frames.into_iter().flatten();
            if let Some(within) = frames.find(|shown| procedures.contains(&shown.frame.procedure)) {
                let words = format!(
                    "{} of {} stands in `{}` and waits for {}",
                    waiting.fiber,
                    waiting.name,
                    within.frame.procedure,
                    waiting.conditions()
                );
                self.add(Sort::Stands, None, words);
            }
        }
        Ok(())
    }
}

/// The label of the records that a pattern matches.
fn label(pattern: &Pattern) -> Option<String> {
    use duet_runtime::dataspace::pattern::GroupKind;
    match pattern {
        Pattern::Bind(inner) => label(inner),
        Pattern::Group {
            kind: GroupKind::Record(label),
            ..
        } => Some(label.value().as_symbol()?.into_owned()),
        Pattern::Literal(fact) => Some(fact.value().as_symbol()?.into_owned()),
        Pattern::Discard | Pattern::Group { .. } => None,
    }
}
