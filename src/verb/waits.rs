//! `waits`: what the fibers of a run wait for at a turn, and what it has asked the world.
//!
//! INVARIANT: the waits are those of the restored run.
//! Read next: `facts.rs`.

use duet_drivers::ask::Question as Asked;
use duet_drivers::text::{self, Text};
use duet_runtime::action::{self, Action};
use duet_runtime::gate::visible::visible;
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::{ActorId, RequestId};
use duet_runtime::model::moment::Moment;
use duet_runtime::model::value::Fact;
use duet_runtime::state::RunState;
use duet_runtime::state::request::{self, Question};
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use crate::history::origins::Origins;
use crate::history::turn::line;
use crate::history::waiting::{Awaited, Waiting, waits};
use crate::owner::owned_run::compiled;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::value_json;
use crate::text::value_text::shown;
use crate::text::view::{Told, View};
use crate::verb::standing::{self, deadline};

/// Lists the open waits of a run at a turn.
///
/// The list has the waits of fibers with their conditions, and the open requests to the world:
/// questions to the person, approvals, tool calls, input. `duet answer` answers a question by its
/// number or its tag, and a request for approval by its number. Such a request shows the arguments
/// that decide first and whole, and shortens long contents, with their length and hash; `--full`
/// shows them too.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Shows all arguments of what asks for approval, whole.
    #[arg(long)]
    pub(crate) full: bool,
}

/// The waits at a turn.
pub(crate) struct Report {
    /// The branch, and the address of the turn.
    name: String,
    address: String,
    waits: Vec<Waiting>,
    requests: Vec<Open>,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    waits: Vec<WaitForm>,
    requests: Vec<RequestForm>,
}

/// A fiber that waits.
#[derive(Serialize, JsonSchema)]
struct WaitForm {
    /// The number of its wait; absent if another fiber has to wake it.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<u64>,
    actor: u64,
    /// The actor by role and number.
    name: String,
    fiber: u64,
    /// The conditions of the wait, any of which ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<Vec<Awaited>>,
    /// What another fiber will have done.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// A request to the world that has no answer yet.
#[derive(Serialize, JsonSchema)]
struct RequestForm {
    request: u64,
    /// When its timer runs out, in milliseconds since 1970, if it is one.
    at_ms: Option<u64>,
    actor: u64,
    /// The actor by role and number.
    name: String,
    /// `tool`, `deferred`, `approve`, `read`, `timer`, `limit`, `deadline`, `postponed` or `ask`.
    kind: String,
    tool: Option<String>,
    /// The arguments of the tool, or the question.
    payload: Option<Json>,
    /// The question to a person, with the choices.
    question: Option<String>,
    /// The program's name for it.
    tag: String,
}

/// A request to the world that has no answer yet.
struct Open {
    id: RequestId,
    actor: ActorId,
    name: String,
    kind: &'static str,
    tool: Option<String>,
    payload: Option<IOValue>,
    /// When its timer runs out, in milliseconds since 1970, if it is one.
    at_ms: Option<u64>,
    tag: String,
    /// The request in words.
    told: String,
    /// Whether a person has to answer.
    is_for_person: bool,
}

/// Lists the waits at a turn.
///
/// # Errors
/// If there is no such turn, or the run cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let run = compiled::sight(look.store, &place)?;
    let state = run.state();
    let mut waits = waits(state);
    let mut origins = Origins::of(place.source(look.store));
    for waiting in &mut waits {
        let strand = origins.name(waiting.fiber, place.at())?;
        waiting.name = line::strand(std::mem::take(&mut waiting.name), strand.as_deref());
    }
    let open = state.requests.iter().filter(|(_, open)| open.answer.is_none());
    let showing = Showing {
        state,
        is_full: request.full,
        now_ms: look.now_ms(),
    };
    Ok(Report {
        name: place.name(),
        address: place.address(place.at()),
        waits,
        requests: open.map(|(id, open)| showing.open(*id, open)).collect(),
    })
}

/// A wait as JSON.
fn form_of(waiting: &Waiting) -> WaitForm {
    WaitForm {
        wait: waiting.wait.map(|wait| wait.0),
        actor: waiting.actor.0,
        name: waiting.name.clone(),
        fiber: waiting.fiber.0,
        conditions: waiting.wait.map(|_| waiting.awaited.clone()),
        until: waiting.wait.is_none().then(|| waiting.conditions.concat()),
    }
}

/// How open requests are shown.
struct Showing<'a> {
    state: &'a RunState,
    is_full: bool,
    /// The time by the clock of the journal, in milliseconds since 1970.
    now_ms: u64,
}

impl Showing<'_> {
    fn open(&self, id: RequestId, request: &request::Request) -> Open {
        let (kind, tool, payload) = match &request.question {
            Question::Tool { name, payload } => ("tool", Some(name), Some(payload.value())),
            Question::Deferred { name, payload, .. } => ("deferred", Some(name), Some(payload.value())),
            Question::Approve { prompt, .. } => ("approve", None, Some(prompt.clone())),
            Question::Read { .. } => ("read", None, None),
            Question::Timer { .. } => ("timer", None, None),
            Question::Limit { .. } => ("limit", None, None),
            Question::Deadline { .. } => ("deadline", None, None),
            Question::Postponed { .. } => ("postponed", None, None),
            Question::Ask { prompt } => ("ask", None, Some(prompt.clone())),
        };
        let role = self.state.actor(request.actor).and_then(|actor| actor.role.clone());
        Open {
            id,
            actor: request.actor,
            name: line::actor(request.actor, role.as_deref()),
            kind,
            tool: tool.cloned(),
            payload,
            at_ms: deadline::of(&request.question),
            tag: request.tag.clone(),
            told: self.question(request),
            is_for_person: matches!(request.question, Question::Ask { .. } | Question::Approve { .. }),
        }
    }

    fn question(&self, request: &request::Request) -> String {
        match &request.question {
            Question::Tool { name, payload } => format!("call of {name} with {}", shown(&payload.value())),
            Question::Deferred { name, payload, .. } if self.is_full => {
                format!(
                    "approval of the call of {name} with {}",
                    visible(&shown(&payload.value()))
                )
            }
            Question::Deferred { name, .. } => format!("approval of the call of {name}"),
            Question::Approve { attempts, .. } if self.is_full => {
                format!("approval of {}", visible(&attempted(attempts)))
            }
            Question::Approve { prompt, .. } => {
                let asked = Asked::read(prompt).shown();
                format!("approval: {}", asked.as_str().trim_end())
            }
            Question::Read { length_bytes_max } => format!("at most {} of input", counted(*length_bytes_max, "byte")),
            Question::Timer { delay_ms } => format!("{delay_ms} ms to pass"),
            Question::Limit { delay_ms, of } => format!("{delay_ms} ms to pass, in which {of} can be approved"),
            Question::Deadline { at_ms, .. } => format!(
                "a timer: {} (at {})",
                standing::when(*at_ms, self.now_ms),
                Moment(*at_ms)
            ),
            Question::Postponed { attempts } => {
                format!("policy to allow {}", attempted(attempts))
            }
            Question::Ask { prompt } => match tag(request) {
                Some(tag) => format!("question {}, tag {tag}", shown(prompt)),
                None => format!("question {}", shown(prompt)),
            },
        }
    }
}

impl Open {
    /// The question to a person, as a terminal shows it.
    fn question(&self) -> Option<String> {
        let prompt = self.payload.as_ref().filter(|_| self.is_for_person)?;
        Some(Asked::read(prompt).shown().as_str().trim_end().to_owned())
    }

    fn line(&self) -> String {
        format!("{:<10} {:<8} {}", self.id.to_string(), self.name, self.told)
    }
}

/// Writes attempts with all their arguments.
fn attempted(attempts: &Fact) -> String {
    let shown = |actions: Vec<Action>| {
        let actions: Vec<String> = actions.iter().map(ToString::to_string).collect();
        actions.join(" and ")
    };
    action::of_value(attempts).map_or_else(|error| error.to_string(), shown)
}

/// The tag that the program gave a question; one that it did not name has a unique one.
fn tag(request: &request::Request) -> Option<&str> {
    let is_unique = request.tag.len() == 36 && request.tag.split('-').count() == 5;
    (!is_unique).then_some(request.tag.as_str())
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let requests = self.requests.iter().map(|open| RequestForm {
            request: open.id.0,
            at_ms: open.at_ms,
            actor: open.actor.0,
            name: open.name.clone(),
            kind: open.kind.to_owned(),
            tool: open.tool.clone(),
            payload: open.payload.as_ref().map(value_json::of),
            question: open.question(),
            tag: open.tag.clone(),
        });
        as_json(&Form {
            waits: self.waits.iter().map(form_of).collect(),
            requests: requests.collect(),
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let lines = self.waits.iter().map(Waiting::line);
        let lines: Vec<Text> = lines
            .chain(self.requests.iter().map(Open::line))
            .map(|line| Text::from(text::line(&line).as_ref()).ended())
            .collect();
        let mut told = Told::data(Text::joined(&lines, ""));
        let is_asking = self.requests.iter().any(|open| open.is_for_person);
        if is_asking && view.is_watched {
            let name = &self.name;
            told = told.say(say![
                Way::at("answer", name).with("TEXT"),
                " answers the oldest question, ",
                Way::at("answer", name).with("REQUEST TEXT"),
                " any, by number or tag; what asks for approval has to be named",
            ]);
        }
        if lines.is_empty() {
            told = told.say(format!("nothing waits at {}", self.address));
        }
        told
    }
}
