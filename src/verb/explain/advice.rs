//! The commands that help against a failure, or end a wait.
//!
//! INVARIANT: no command leads back to the same failure: to go back and on helps only before a call
//! that is then made again, before a limit of time, or with a grant that was missing.
//! It executes nothing. Read next: `text/saying.rs`.

use schemars::JsonSchema;
use serde::Serialize;

use super::failure::{Cause, Explained};
use super::standstill::Wait;
use super::{Explaining, Status};
use crate::history::asked::For;
use crate::text::exchange;
use crate::text::saying::{Saying, Speaker, Way, say};
use crate::world::tools;

/// What helps: the commands, and what they do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(into = "Spelled")]
#[schemars(with = "Spelled")]
pub(super) struct Advice(Saying);

/// An advice as data.
#[derive(Serialize, JsonSchema)]
struct Spelled {
    /// The commands, in the order in which they are given.
    commands: Vec<String>,
    /// What they do.
    words: String,
}

impl From<Advice> for Spelled {
    fn from(Advice(saying): Advice) -> Self {
        Self {
            commands: saying.commands(),
            words: saying.spelled(Speaker::Command).as_str().to_owned(),
        }
    }
}

impl Advice {
    pub(super) fn saying(&self) -> Saying {
        self.0.clone()
    }
}

impl From<Saying> for Advice {
    fn from(saying: Saying) -> Self {
        Self(saying)
    }
}

/// The last of the three lines at the end of a failed run.
pub(super) fn brief(name: &str, first: Option<&Advice>) -> Saying {
    let more = say!["  ", Way::at("explain", name), " says what led to it and what helps"];
    match first {
        Some(Advice(first)) => Saying::joined([more, "; ".into(), first.clone()]),
        None => more,
    }
}

/// What helps with a run that a process executes.
pub(super) fn of_running(name: &str) -> Vec<Advice> {
    vec![
        say![Way::at("attach", name), " shows what it does"].into(),
        say![Way::at("waits", name), " lists what it waits for"].into(),
    ]
}

impl Explaining<'_> {
    /// What helps.
    pub(super) fn advice(&self, failure: Option<&Explained>, status: Status, waits: &[Wait]) -> Vec<Advice> {
        let name = &self.place.name();
        match (failure, status) {
            (Some(failure), _) => against(name, failure, self.is_prompt),
            (None, Status::Finished | Status::Running) => {
                vec![say![Way::at("log", name), " lists its turns"].into()]
            }
            _ if self.is_past() => vec![from_the_past(name, self.place.at().number())],
            (None, Status::Waiting) => waits.iter().take(1).flat_map(|wait| of_wait(name, wait)).collect(),
            (None, Status::Stuck) => vec![say![Way::at("waits", name), " lists the waits"].into(), why_not(name)],
            (None, Status::Left | Status::Broken) => vec![say![Way::at("resume", name), " goes on"].into()],
            (None, Status::Sleeping) => vec![
                say![Way::of("work"), " goes on with it when its timer has run out"].into(),
                say![Way::at("resume", name), " waits for the timer here"].into(),
            ],
            (None, Status::Queued) => vec![
                say![Way::of("work"), " goes on with it"].into(),
                say![Way::at("resume", name), " goes on with it here"].into(),
            ],
            (None, Status::Failed) => vec![say![Way::at("log", name), " lists its turns"].into()],
        }
    }
}

/// What helps at a turn that others follow.
fn from_the_past(name: &str, turn: u64) -> Advice {
    let back = Way::turn("goto", name, turn);
    say![back, ", then ", Way::at("resume", name), ", goes on from there"].into()
}

fn of_wait(name: &str, wait: &Wait) -> Vec<Advice> {
    let request = wait.request.map(|request| request.to_string()).unwrap_or_default();
    match wait.whom {
        For::Approval => vec![
            say![Way::at("answer", name).with(format!("{request} yes")), " approves it"].into(),
            say![Way::at("answer", name).with(format!("{request} no")), " refuses it"].into(),
        ],
        For::Person => vec![say![Way::at("answer", name).with("TEXT"), " answers, and the run goes on"].into()],
        For::Fact => vec![
            say![Way::at("signal", name).with("LABEL VALUE"), " asserts a fact"].into(),
            say![Way::at("message", name).with("VALUE"), " sends a message"].into(),
            why_not(name),
        ],
        For::Input => vec![
            say![
                Way::at("resume", name),
                " goes on, and reads what is typed or piped to it"
            ]
            .into(),
        ],
        For::Tool | For::Time | For::Other => vec![say![Way::at("resume", name), " goes on"].into()],
    }
}

/// What helps against a failure, by where it arose.
fn against(name: &str, failure: &Explained, is_prompt: bool) -> Vec<Advice> {
    let turn = failure.turn;
    let shows = shows(name, turn);
    let mut advice = match &failure.cause {
        Cause::Program => {
            let shown = failure.variables.into_iter();
            let shown = shown.map(|turn| say![Way::turn("frames", name, turn), " shows the variables there"].into());
            shown.collect()
        }
        Cause::Told => Vec::new(),
        Cause::Call { tool, asked, .. } => of_call(name, failure, tool, *asked),
        Cause::Gate { tools, .. } => of_gate(name, failure, tools),
        Cause::Time { is_question, .. } => of_time(name, turn, *is_question),
    };
    // The program of a prompt is what is typed there.
    if matches!(failure.cause, Cause::Program | Cause::Told) && !is_prompt {
        advice.push(mended(name));
    }
    advice.push(shows);
    if let (Some(answered), false) = (failure.answered, matches!(failure.cause, Cause::Gate { .. })) {
        let amend = Way::turn("amend", name, answered).with("INPUT");
        advice.push(say![amend, " goes on, on a branch, as if the answer there had been another"].into());
    }
    advice
}

pub(super) fn shows(name: &str, turn: u64) -> Advice {
    say![Way::turn("show", name, turn), " shows the turn"].into()
}

/// What shows the calls whose failures the program took.
pub(super) fn failed_calls(name: &str) -> Advice {
    let way = Way::at("log", name).with("--failed");
    say![way, " lists the calls that failed"].into()
}

fn why_not(name: &str) -> Advice {
    let way = Way::at("why-not", name).with("PATTERN");
    say![way, " says what stands in the way of a fact"].into()
}

fn mended(name: &str) -> Advice {
    let with = Way::at("resume", name).with("--with FILE");
    say![with, " goes on with a mended program on what it has received"].into()
}

fn of_call(name: &str, failure: &Explained, tool: &str, asked: u64) -> Vec<Advice> {
    let mut advice = Vec::new();
    if let Some(before) = asked.checked_sub(1) {
        let kind = &failure.condition;
        let again = match tool {
            _ if exchange::lacks_provider(tool, kind) => "--provider NAME",
            // A question to a model has no effect in the world, so Duet asks it again anyway.
            exchange::TOOL => "",
            _ if tools::is_repeatable(tool) => "",
            _ => "--again",
        };
        let is_risky = again == "--again" && exchange::may_be_made(tool, kind);
        let risk = if is_risky {
            "; the first one may have had its effect"
        } else {
            ""
        };
        advice.push(
            say![
                Way::turn("goto", name, before),
                ", then ",
                Way::at("resume", name).with(again),
                format!(", makes the call again{risk}"),
            ]
            .into(),
        );
    }
    if tool == exchange::TOOL {
        advice.push(say![Way::turn("transcript", name, failure.turn), " shows the conversation"].into());
    } else if let (Some((server, _)), "unavailable") = (tool.split_once('/'), failure.condition.as_str()) {
        advice.push(
            say![
                Way::at("servers", server),
                " starts that server, if it is one, and lists its tools"
            ]
            .into(),
        );
    }
    advice
}

fn of_gate(name: &str, failure: &Explained, tools: &[String]) -> Vec<Advice> {
    let before = failure.turn.checked_sub(1);
    match (before, tools) {
        (Some(before), [_, ..]) if failure.condition == "capability-denied" => vec![
            say![
                Way::turn("goto", name, before),
                ", then ",
                Way::at("resume", name).with(format!("--grant {}", tools.join(","))),
                ", takes the turn again with the grant",
            ]
            .into(),
        ],
        _ => Vec::new(),
    }
}

fn of_time(name: &str, turn: u64, is_question: bool) -> Vec<Advice> {
    let Some(before) = turn.checked_sub(1) else {
        return Vec::new();
    };
    let back = Way::turn("goto", name, before);
    vec![if is_question {
        say![
            back,
            ", then ",
            Way::at("answer", name).with("TEXT"),
            ", answers while there is time"
        ]
        .into()
    } else {
        say![Way::turn("waits", name, before), " lists what was waited for then"].into()
    }]
}
