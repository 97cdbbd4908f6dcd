//! What a run waits for, for whom, and since when.
//!
//! INVARIANT: a request and the wait for its answer are one row.
//! It does not know failures; `failure.rs` does. Read next: `../waits.rs`.

use duet_journal::Sequence;
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::moment::Moment;
use duet_runtime::run::{DriveOutcome, Run};
use duet_runtime::state::actor::Actor;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Explaining, Status};
use crate::history::asked::{For, asked};
use crate::history::origins::Origins;
use crate::history::turn::line::{actor, actor_in};
use crate::history::waiting::facts;
use crate::text::error::CommandError;
use crate::verb::standing::{self, deadline};

/// One wait.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Wait {
    pub(super) whom: For,
    /// The actor by role and number.
    pub(super) name: String,
    /// What it waits for, in words.
    pub(super) what: String,
    /// The number of the request, if it is one.
    pub(super) request: Option<u64>,
    /// The turn in which it began, if that is known.
    pub(super) since: Option<u64>,
    /// When that turn became durable, in milliseconds since 1970, if that is known.
    since_ms: Option<u64>,
    /// When that was, in words.
    #[serde(skip)]
    ago: Option<String>,
}

impl Wait {
    fn age(&self) -> String {
        let since = self.since.map(|turn| format!(" since turn {turn}"));
        let ago = self.ago.as_deref().unwrap_or_default();
        format!("{}{ago}", since.unwrap_or_default())
    }

    pub(super) fn line(&self) -> String {
        let request = self.request.map(|request| format!(" (request {request})"));
        format!(
            "{}{}: {}{}",
            self.name,
            self.age(),
            self.what,
            request.unwrap_or_default()
        )
    }
}

impl Explaining<'_> {
    /// The open waits at the place, first those that a person can end.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn waits(&self, run: &Run) -> Result<Vec<Wait>, CommandError> {
        let state = run.state();
        if state.exit.is_some() {
            return Ok(Vec::new());
        }
        let mut origins = Origins::of(self.place.source(self.store));
        let mut waits = Vec::new();
        let open = state.requests.iter().filter(|(_, request)| request.answer.is_none());
        for (id, request) in open {
            let (whom, what) = asked(request);
            let when = deadline::of(&request.question).map(|ms| format!(" ({})", standing::when(ms, self.now_ms)));
            let what = format!("{what}{}", when.unwrap_or_default());
            waits.push(Wait {
                whom,
                name: actor_in(state, request.actor),
                what,
                request: Some(id.0),
                since: None,
                since_ms: None,
                ago: None,
            });
        }
        for wait in &mut waits {
            let request = RequestId(wait.request.unwrap_or_default());
            self.since(wait, origins.asked_at(request, self.place.at())?)?;
        }
        for (id, found) in state.actors.iter() {
            let name = actor(*id, found.role.as_deref());
            for (wait, waiting) in found.waits.iter() {
                let Some(what) = facts(waiting) else { continue };
                let mut told = Wait {
                    whom: For::Fact,
                    name: name.clone(),
                    what,
                    request: None,
                    since: None,
                    since_ms: None,
                    ago: None,
                };
                self.since(&mut told, origins.waits_since(*wait, self.place.at())?)?;
                waits.push(told);
            }
            waits.extend(sleepers(found, &name));
        }
        waits.sort_by_key(|wait| wait.whom);
        Ok(waits)
    }

    fn since(&self, wait: &mut Wait, turn: Option<Sequence>) -> Result<(), CommandError> {
        let Some(turn) = turn else { return Ok(()) };
        let range = turn..turn.next().unwrap_or(turn);
        let times = self.store.times(&self.place.run, &self.place.branch, range)?;
        wait.since = Some(turn.number());
        wait.since_ms = times.first().and_then(|time| time.ms());
        let ago = |ms| format!(", {} ({})", Moment(ms), standing::when(ms, self.now_ms));
        wait.ago = wait.since_ms.map(ago);
        Ok(())
    }

    /// How a run without a failure stands, in a sentence.
    pub(super) fn standing(&self, run: &Run, status: Status, waits: &[Wait]) -> Result<String, CommandError> {
        let (name, turn) = (self.place.name(), self.place.at());
        let code = match (run.state().exit, run.outcome()) {
            (Some(code), _) => run.state().exit_code(code),
            (None, DriveOutcome::Ended { code }) => code,
            (None, _) => 0,
        };
        let first = waits.first();
        let for_what = first.map(|wait| format!("{}: {}", wait.age(), wait.what));
        let for_what = for_what.unwrap_or_default();
        Ok(match status {
            Status::Finished => format!("{name} finished in turn {turn} with code 0; nothing failed"),
            Status::Failed => format!("{name} ended in turn {turn} with code {code}, which the program chose"),
            Status::Waiting => match first.map(|wait| wait.whom) {
                Some(For::Approval) => format!("{name} waits for a person who approves{for_what}"),
                Some(For::Person) => format!("{name} waits for a person{for_what}"),
                Some(For::Input) => format!(
                    "{name} waits for standard input{}",
                    first.map_or_else(String::new, Wait::age)
                ),
                Some(For::Fact | For::Tool | For::Time | For::Other) | None => {
                    format!("{name} waits for a fact or a message from outside{for_what}")
                }
            },
            Status::Stuck => format!("{name} cannot go on: it waits for what can no longer happen{for_what}"),
            Status::Sleeping => format!("{name} sleeps{for_what}"),
            Status::Queued => format!("{name} can go on from turn {turn} and waits for a worker"),
            Status::Running | Status::Left | Status::Broken => match first {
                Some(_) => format!("{name} can go on from turn {turn}; no process executes it; it waits{for_what}"),
                None => format!("{name} can go on from turn {turn}; no process executes it"),
            },
        })
    }
}

/// The fibers that sleep until another one wakes them.
fn sleepers(found: &Actor, name: &str) -> Vec<Wait> {
    let asleep = found
        .fibers
        .iter()
        .filter_map(|(_, fiber)| fiber.sleep.as_deref().map(|sleep| &*sleep.until));
    let asleep = asleep.map(|until| Wait {
        whom: For::Other,
        name: name.to_owned(),
        what: until.to_owned(),
        request: None,
        since: None,
        since_ms: None,
        ago: None,
    });
    asleep.collect()
}
