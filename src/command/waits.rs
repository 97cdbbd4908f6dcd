//! `duet waits`: lists the open waits of a run at a turn.

use duet_drivers::ask::Question as Asked;
use duet_drivers::text::{self, Text};
use duet_runtime::action::{self, Action};
use duet_runtime::gate::visible::visible;
use duet_runtime::model::identity::{FiberId, RequestId};
use duet_runtime::model::value::Fact;
use duet_runtime::state::RunState;
use duet_runtime::state::actor::{Actor, Condition};
use duet_runtime::state::request::{Question, Request};
use serde_json::{Value, json};

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::terminal::Terminal;
use crate::value_text::shown;
use crate::{session, standing, turn};

/// Lists the open waits of a run at a turn.
///
/// The list has the waits of fibers with their conditions, and the open requests to the world:
/// questions to the person, approvals, tool calls, input. `duet answer` answers a question by its
/// number or its tag, and a request for approval by its number. Such a request shows the arguments
/// that decide first and whole, and shortens long contents, with their length and hash; `--full`
/// shows them too.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Shows all arguments of what asks for approval, whole.
    #[arg(long)]
    full: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let run = session::restore(&store, &place)?;
    let state = run.state();
    if arguments.json {
        terminal.json(&as_json(state))?;
        return Ok(ExitCode::OK);
    }
    let lines = waits(state).chain(requests(state).map(|(id, request)| {
        format!(
            "{:<10} {:<8} {}",
            id.to_string(),
            turn::actor(request.actor),
            question(request, arguments.full)
        )
    }));
    let mut is_waiting = false;
    for line in lines {
        terminal.data(Text::from(text::line(&line).as_ref()).ended())?;
        is_waiting = true;
    }
    let is_asking =
        requests(state).any(|(_, request)| matches!(request.question, Question::Ask { .. } | Question::Approve { .. }));
    if is_asking && terminal.is_watched {
        let name = place.name();
        terminal.message(format!(
            "`duet answer {name} TEXT` answers the oldest question, `duet answer {name} REQUEST TEXT` \
             any, by number or tag; what asks for approval has to be named"
        ));
    }
    if !is_waiting {
        terminal.message(format!("nothing waits at {}", place.address(place.at())));
    }
    Ok(ExitCode::OK)
}

/// Lists the waits of fibers, and the fibers that sleep until another one wakes them.
pub(crate) fn waits(state: &RunState) -> impl Iterator<Item = String> {
    state.actors.iter().flat_map(|(id, actor)| {
        let name = turn::actor(*id);
        let waits = actor.waits.iter().map(|(wait, found)| {
            let conditions: Vec<String> = found.conditions.iter().map(condition).collect();
            let (wait, conditions) = (wait.to_string(), conditions.join(" or "));
            format!("{wait:<10} {name:<8} {} for {conditions}", found.fiber)
        });
        let sleepers = sleepers(actor).map(|(fiber, until)| format!("{:<10} {name:<8} {fiber} until {until}", "-"));
        waits.chain(sleepers).collect::<Vec<_>>()
    })
}

fn sleepers(actor: &Actor) -> impl Iterator<Item = (FiberId, &str)> {
    let fibers = actor.fibers.iter();
    fibers.filter_map(|(id, fiber)| Some((*id, fiber.asleep_until.as_deref()?)))
}

fn requests(state: &RunState) -> impl Iterator<Item = (&RequestId, &Request)> {
    state.requests.iter().filter(|(_, request)| request.answer.is_none())
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Matching { pattern, .. } => pattern.to_string(),
        Condition::Accepted { pattern, .. } => format!("{pattern} that a predicate accepts"),
        Condition::Answer { request } => format!("the answer to {request}"),
    }
}

fn question(request: &Request, is_full: bool) -> String {
    match &request.question {
        Question::Tool { name, payload } => format!("call of {name} with {}", shown(payload)),
        Question::Deferred { name, payload } if is_full => {
            format!("approval of the call of {name} with {}", visible(&shown(payload)))
        }
        Question::Deferred { name, .. } => format!("approval of the call of {name}"),
        Question::Approve { attempts, .. } if is_full => format!("approval of {}", visible(&attempted(attempts))),
        Question::Approve { prompt, .. } => {
            let asked = Asked::read(prompt).shown();
            format!("approval: {}", asked.as_str().trim_end())
        }
        Question::Read { length_bytes_max } => format!("at most {length_bytes_max} bytes of input"),
        Question::Timer { delay_ms } => format!("{delay_ms} ms to pass"),
        Question::Limit { delay_ms, of } => format!("{delay_ms} ms to pass, in which {of} can be approved"),
        Question::Deadline { at_ms, .. } => format!("a timer: {} (at {at_ms} ms after 1970)", standing::when(*at_ms)),
        Question::Postponed { attempts } => {
            format!("policy to allow {}", attempted(attempts))
        }
        Question::Ask { prompt } => match tag(request) {
            Some(tag) => format!("question {}, tag {tag}", shown(prompt)),
            None => format!("question {}", shown(prompt)),
        },
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
fn tag(request: &Request) -> Option<&str> {
    let is_unique = request.tag.len() == 36 && request.tag.split('-').count() == 5;
    (!is_unique).then_some(request.tag.as_str())
}

fn as_json(state: &RunState) -> Value {
    let waits = state.actors.iter().flat_map(|(id, actor)| {
        actor.waits.iter().map(move |(wait, found)| {
            json!({
                "wait": wait.0,
                "actor": id.0,
                "fiber": found.fiber.0,
                "conditions": found.conditions.iter().map(condition).collect::<Vec<_>>(),
            })
        })
    });
    let requests = requests(state).map(|(id, request)| {
        let (kind, tool, payload) = match &request.question {
            Question::Tool { name, payload } => ("tool", Some(name), Some(shown(payload))),
            Question::Deferred { name, payload } => ("deferred", Some(name), Some(shown(payload))),
            Question::Approve { prompt, .. } => ("approve", None, Some(shown(prompt))),
            Question::Read { .. } => ("read", None, None),
            Question::Timer { .. } => ("timer", None, None),
            Question::Limit { .. } => ("limit", None, None),
            Question::Deadline { .. } => ("deadline", None, None),
            Question::Postponed { .. } => ("postponed", None, None),
            Question::Ask { prompt } => ("ask", None, Some(shown(prompt))),
        };
        json!({
            "request": id.0,
            "actor": request.actor.0,
            "kind": kind,
            "tool": tool,
            "payload": payload,
            "tag": request.tag,
        })
    });
    let sleepers = state.actors.iter().flat_map(|(id, actor)| {
        sleepers(actor).map(move |(fiber, until)| json!({ "actor": id.0, "fiber": fiber.0, "until": until }))
    });
    let waits: Vec<Value> = waits.chain(sleepers).collect();
    json!({ "waits": waits, "requests": requests.collect::<Vec<_>>() })
}
