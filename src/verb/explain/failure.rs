//! A failure as people read it: where it arose, from what, and who passed it on.
//!
//! INVARIANT: every word is that of a record; nothing is guessed.
//! It advises nothing; `advice.rs` does. Read next: `advice.rs`.

use duet_journal::Sequence;
use duet_runtime::action::Action;
use duet_runtime::history::chain::CausalTurn;
use duet_runtime::history::first_failure::{FailureOrigin, FirstFailure};
use duet_runtime::model::counted::counted;
use duet_runtime::model::failure::{ActorFailure, Failure, Frame, FramePlace};
use duet_runtime::record::Outcome;
use duet_runtime::state::actor::Condition;
use duet_runtime::state::event::Event;
use schemars::JsonSchema;
use serde::Serialize;

use super::judged::FailedCall;
use super::row;
use crate::history::origins::{Origin, Origins};
use crate::history::turn::line::{Piece, Tone, actor, did, heard, payload_words, strand};
use crate::text::error::CommandError;
use crate::text::exchange;
use crate::text::query::spelled_packed;
use crate::text::render::{SourceTexts, message_of};
use crate::text::value_text::abbreviated;

/// How a failure arose.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Cause {
    /// The program raised it.
    Program,
    /// The program raised it, and an actor told others of it.
    Told,
    /// A call of a tool failed.
    Call {
        tool: String,
        /// The turn that made the call.
        asked: u64,
        /// Whether the tool is a language model.
        is_model: bool,
    },
    /// The gate refused an attempt.
    Gate {
        /// The attempt in words.
        attempt: String,
        reason: String,
        /// The tools of the attempt.
        tools: Vec<String>,
    },
    /// A wait ended at its time limit.
    Time {
        /// The turn that set the timer.
        set: u64,
        delay_ms: u64,
        /// The condition of the wait.
        missing: String,
        /// Whether a person was asked.
        is_question: bool,
    },
}

/// A turn before or after a failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Step {
    pub(super) turn: u64,
    /// The actor by role and number, and its strand if the turn led to a failure.
    pub(super) name: String,
    /// Whether another strand of the same actor took it, whose end only woke the one that failed:
    /// of several that it waited for, this is the last.
    is_woken: bool,
    /// What it received.
    pub(super) heard: Vec<String>,
    /// What it did.
    pub(super) did: Vec<String>,
}

/// An earlier failure of the same kind on the way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Earlier {
    /// How often it had failed so.
    times: u64,
    /// In which turn first.
    first: u64,
}

/// The failure that came first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Explained {
    /// The turn in which it arose or became known.
    pub(super) turn: u64,
    /// The actor by role and number.
    pub(super) name: String,
    /// The kind of the condition.
    pub(super) condition: String,
    pub(super) message: String,
    pub(super) cause: Cause,
    /// The text and the line where it was raised, if they are known.
    place: Option<String>,
    /// The procedure there.
    procedure: Option<String>,
    /// The turn at which `duet frames` shows the variables there; null if nothing kept them.
    pub(super) variables: Option<u64>,
    /// The frame there.
    #[serde(skip)]
    pub(super) frame: Option<Frame>,
    /// The inputs of the turn, or of the call.
    inputs: Vec<String>,
    /// Whether the inputs are those of a strand that only woke the one that failed.
    #[serde(skip)]
    has_inputs_of_other: bool,
    /// The newest turn before it whose events are an answer, which can be another one.
    pub(super) answered: Option<u64>,
    earlier: Option<Earlier>,
    /// The turns that led to it, newest first, without those that only went on.
    led: Vec<Step>,
    /// Whether older turns are left out.
    is_cut: bool,
    /// The turns that passed it on, oldest first.
    passed: Vec<Step>,
}

/// A further failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Other {
    pub(super) turn: u64,
    name: String,
    condition: String,
    message: String,
}

impl Explained {
    /// Puts a traced failure into words.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn of(
        traced: &FirstFailure,
        origins: &mut Origins<'_>,
        texts: &SourceTexts,
    ) -> Result<Self, CommandError> {
        let failure = &traced.failure;
        let at = step(&traced.at, origins)?;
        // What passed it on raised it again somewhere else.
        let (place, procedure) = if is_told(traced) {
            (None, None)
        } else {
            place(failure, texts)
        };
        let led = steps(&traced.led, &traced.at, origins)?;
        let inputs = inputs(traced, &at, &led);
        let answered = answered(traced, &at, origins)?;
        Ok(Self {
            turn: at.turn,
            cause: cause(traced),
            condition: failure.kind.clone(),
            message: message_of(failure),
            place,
            procedure,
            variables: None,
            frame: frame(failure).cloned(),
            inputs: inputs.words,
            has_inputs_of_other: inputs.is_of_other,
            answered,
            earlier: traced.before.map(|(times, first)| Earlier {
                times,
                first: first.number(),
            }),
            led,
            is_cut: traced.is_cut,
            passed: steps(&traced.passed, &traced.at, origins)?,
            name: at.name,
        })
    }

    pub(super) fn other(&self) -> Other {
        Other {
            turn: self.turn,
            name: self.name.clone(),
            condition: self.condition.clone(),
            message: self.message.clone(),
        }
    }

    /// Whether the program raised it.
    pub(super) fn is_of_program(&self) -> bool {
        matches!(self.cause, Cause::Program | Cause::Told)
    }

    /// Whether a call that failed is the only one, and an input already.
    pub(super) fn is_input(&self, call: &FailedCall) -> bool {
        let is_there = self.inputs.iter().any(|input| input.starts_with(&call.words));
        call.count == 1 && !self.has_inputs_of_other && is_there
    }

    /// Takes a call that failed before as an input, in place of what only woke the strand, and as
    /// the answer that can be another one.
    pub(super) fn note(&mut self, call: &FailedCall) {
        if self.has_inputs_of_other {
            self.inputs = vec![format!("{} (turn {})", call.words, call.turn)];
        }
        if self.answered != Some(self.turn) {
            self.answered = Some(call.turn);
        }
    }

    /// The failure in a sentence.
    pub(super) fn summary(&self) -> String {
        let Self {
            turn,
            name,
            condition,
            message,
            ..
        } = self;
        match &self.cause {
            Cause::Program => format!("{name} failed in turn {turn}: {condition}: {message}"),
            Cause::Told => format!("{name} raised in turn {turn}, and told others: {condition}: {message}"),
            Cause::Call { tool, asked, .. } => {
                format!("the call of {tool} by {name} in turn {asked} failed: {condition}: {message}")
            }
            Cause::Gate { attempt, reason, .. } => {
                format!("the gate refused {name} in turn {turn} to {attempt}: {reason}")
            }
            Cause::Time {
                set,
                delay_ms,
                missing,
                is_question: true,
            } => {
                format!("nobody answered {missing} of {name} in turn {set} within {delay_ms} ms")
            }
            Cause::Time {
                set, delay_ms, missing, ..
            } => {
                format!("{missing}, for which {name} waited since turn {set}, did not come within {delay_ms} ms")
            }
        }
    }

    /// The inputs in a line.
    pub(super) fn inputs(&self) -> String {
        if self.inputs.is_empty() {
            return "none".to_owned();
        }
        self.inputs.join("; ")
    }

    /// Everything but the sentence, a row each.
    pub(super) fn text(&self, name: &str, steps_max: usize) -> String {
        let mut text = String::new();
        if let Some(place) = &self.place {
            let procedure = self.procedure.as_ref();
            let procedure = procedure.map(|procedure| format!("`{procedure}` at "));
            text.push_str(&row("place", &format!("{}{place}", procedure.unwrap_or_default())));
        }
        text.push_str(&row("inputs", &self.inputs()));
        if let Some(Earlier { times, first }) = self.earlier {
            let times = if times == 1 {
                "once".to_owned()
            } else {
                format!("{times} times")
            };
            let told = format!("it had failed so {times}, first in turn {first}");
            text.push_str(&row("before", &told));
        }
        let mut add = |title: &str, steps: &[Step]| {
            let shown = steps.get(..steps_max).unwrap_or(steps);
            add_steps(&mut text, title, name, shown);
            if steps.len() > shown.len() {
                let more = counted(steps.len() - shown.len(), "more turn");
                text.push_str(&row("", &format!("… {more}")));
            }
        };
        add("led by", &self.led);
        add("then", &self.passed);
        text
    }

    /// Whether more turns than this led to it or passed it on.
    pub(super) fn is_longer_than(&self, steps_max: usize) -> bool {
        self.led.len().max(self.passed.len()) > steps_max
    }
}

fn add_steps(text: &mut String, title: &str, name: &str, steps: &[Step]) {
    let mut before = "";
    for step in steps {
        let title = if step.is_woken { "woken by" } else { title };
        let shown = if title == before { "" } else { title };
        text.push_str(&row(shown, &format!("{name}@{} {}", step.turn, step.line())));
        before = title;
    }
}

impl Step {
    fn line(&self) -> String {
        let heard = if self.heard.is_empty() {
            "goes on".to_owned()
        } else {
            self.heard.join("; ")
        };
        let did = if self.did.is_empty() {
            String::new()
        } else {
            format!(" ⇒ {}", self.did.join("; "))
        };
        format!("{:<8} {heard}{did}", self.name)
    }
}

impl Other {
    /// A failure that a turn reported and took, so that it names what failed.
    pub(super) fn of(failed: &ActorFailure, turn: u64) -> Self {
        Self {
            turn,
            name: failed.role.clone().unwrap_or_else(|| failed.name()),
            condition: failed.failure.kind.clone(),
            message: message_of(&failed.failure),
        }
    }

    pub(super) fn line(&self) -> String {
        format!(
            "{} failed in turn {}: {}: {}",
            self.name, self.turn, self.condition, self.message
        )
    }
}

fn step(link: &CausalTurn, origins: &mut Origins<'_>) -> Result<Step, CommandError> {
    let role = origins.role(link.turn.actor, link.sequence)?;
    let loud = |pieces: Vec<Piece>| {
        let pieces = pieces.into_iter().filter(|piece| piece.tone != Tone::Structural);
        pieces.map(|piece| piece.text).collect()
    };
    Ok(Step {
        turn: link.sequence.number(),
        name: actor(link.turn.actor, role.as_deref()),
        is_woken: false,
        heard: loud(heard(&link.turn, link.sequence, origins)?),
        did: loud(did(&link.turn, link.sequence, origins)?),
    })
}

/// The turns in which something was heard or done, before or after one that failed.
fn steps(links: &[CausalTurn], at: &CausalTurn, origins: &mut Origins<'_>) -> Result<Vec<Step>, CommandError> {
    let own = origins.strand(&at.turn, at.sequence)?;
    let mut steps = Vec::new();
    for link in links {
        let mut step = step(link, origins)?;
        let other = origins.strand(&link.turn, link.sequence)?;
        step.is_woken =
            link.sequence < at.sequence && link.turn.actor == at.turn.actor && other.is_some() && other != own;
        step.name = strand(step.name, other.as_deref());
        if !step.heard.is_empty() || !step.did.is_empty() {
            steps.push(step);
        }
    }
    Ok(steps)
}

/// The turn of the failure, or the one before it that it went on from, if it received the answer of
/// a tool or a person.
fn answered(traced: &FirstFailure, at: &Step, origins: &mut Origins<'_>) -> Result<Option<u64>, CommandError> {
    let before = traced.led.first().filter(|_| at.heard.is_empty());
    for link in std::iter::once(&traced.at).chain(before) {
        for event in &link.turn.events {
            if let Event::Answered { request, .. } = event
                && let Origin::Tool { .. } | Origin::Question = origins.request(*request, link.sequence)?
            {
                return Ok(Some(link.sequence.number()));
            }
        }
    }
    Ok(None)
}

/// The inputs of a failure.
struct Inputs {
    words: Vec<String>,
    /// Whether they are those of a strand that only woke the one that failed.
    is_of_other: bool,
}

/// The inputs of a failure: the arguments of the call or of the attempt, or what the turn, or
/// else the nearest one before it that heard something, received.
fn inputs(traced: &FirstFailure, at: &Step, led: &[Step]) -> Inputs {
    let own = |words| Inputs {
        words,
        is_of_other: false,
    };
    match &traced.arose {
        FailureOrigin::Call { call, .. } => {
            let words =
                exchange::asked(call).map_or_else(|| payload_words(&call.payload.value()), |asked| asked.line());
            own(vec![words].into_iter().filter(|words| !words.is_empty()).collect())
        }
        FailureOrigin::Gate(_) | FailureOrigin::Time { .. } | FailureOrigin::Program if !at.heard.is_empty() => {
            own(at.heard.clone())
        }
        FailureOrigin::Gate(_) | FailureOrigin::Time { .. } | FailureOrigin::Program => {
            let before = led.iter().find(|step| !step.heard.is_empty());
            let told = |step: &Step| {
                step.heard
                    .iter()
                    .map(|heard| format!("{heard} (turn {})", step.turn))
                    .collect()
            };
            Inputs {
                words: before.map_or_else(Vec::new, told),
                is_of_other: before.is_some_and(|step| step.is_woken),
            }
        }
    }
}

fn cause(traced: &FirstFailure) -> Cause {
    match &traced.arose {
        FailureOrigin::Program if is_told(traced) => Cause::Told,
        FailureOrigin::Program => Cause::Program,
        FailureOrigin::Call { asked, call } => Cause::Call {
            tool: call.tool.clone(),
            asked: asked.number(),
            is_model: call.tool == exchange::TOOL,
        },
        FailureOrigin::Gate(position) => gate(traced, *position),
        FailureOrigin::Time { set, delay_ms, asked } => time(*set, *delay_ms, asked),
    }
}

/// Whether the turn did not fail with its failure, which it had taken and told others of.
fn is_told(traced: &FirstFailure) -> bool {
    matches!(traced.at.turn.outcome, Outcome::Committed {}) && !traced.passed.is_empty()
}

fn gate(traced: &FirstFailure, position: usize) -> Cause {
    let attempt = traced.at.turn.attempts.get(position);
    let actions = attempt.map_or(&[][..], |attempt| &attempt.actions);
    let told = actions.iter().map(|action| match action.call() {
        Some(call) => format!("call {} {}", call.tool, payload_words(&call.payload.value()))
            .trim_end()
            .to_owned(),
        None => action.to_string(),
    });
    let reason = attempt.and_then(|attempt| attempt.verdict.reason());
    Cause::Gate {
        attempt: told.collect::<Vec<_>>().join(" and "),
        reason: reason.map_or_else(|| traced.failure.message.clone(), ToString::to_string),
        tools: actions
            .iter()
            .filter_map(Action::call)
            .map(|call| call.tool.clone())
            .collect(),
    }
}

/// What a turn waited for when it set a timer: a question, a call, or a fact.
#[expect(clippy::wildcard_enum_match_arm, reason = "other actions wait for nothing")]
fn time(set: Sequence, delay_ms: u64, asked: &[Action]) -> Cause {
    let question = asked.iter().find_map(|action| match action {
        Action::AskUser(question) => Some(format!("the question {}", abbreviated(&question.prompt))),
        _ => None,
    });
    let other = || {
        asked.iter().rev().find_map(|action| match action {
            Action::InvokeTool(call) => Some(format!("the result of {}", call.tool)),
            Action::Wait(wait) => wait.conditions.iter().find_map(awaited),
            _ => None,
        })
    };
    Cause::Time {
        set: set.number(),
        delay_ms,
        is_question: question.is_some(),
        missing: question
            .or_else(other)
            .unwrap_or_else(|| "the end of what it began".to_owned()),
    }
}

/// The fact that a condition waits for.
fn awaited(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Matching { pattern, .. } | Condition::Accepted { pattern, .. } => Some(spelled_packed(pattern)),
        Condition::Answer { .. } => None,
    }
}

/// The innermost frame in a text of the program.
fn frame(failure: &Failure) -> Option<&Frame> {
    let mut frames = failure.backtrace.iter();
    frames.find(|frame| matches!(frame.at, FramePlace::Text { .. }))
}

/// The line and the procedure where a failure was raised.
fn place(failure: &Failure, texts: &SourceTexts) -> (Option<String>, Option<String>) {
    let framed = frame(failure).and_then(|frame| match &frame.at {
        FramePlace::Text { source, start } => Some((source, *start, frame.procedure.as_str())),
        FramePlace::Unknown | FramePlace::Gone => None,
    });
    let origin = failure.origin.as_ref();
    let origin = origin.and_then(|origin| Some((&origin.source, texts.line_of(&origin.source, origin.start)?)));
    let procedure = |name: &str| (name != "?").then(|| name.to_owned());
    match (origin, framed) {
        (Some((source, line)), framed) => {
            let same = framed.filter(|(other, ..)| *other == source);
            (
                Some(format!("{source}:{line}")),
                same.and_then(|(.., name)| procedure(name)),
            )
        }
        (None, Some((source, start, name))) => {
            let line = texts.line_of(source, start).map(|line| format!("{source}:{line}"));
            (line, procedure(name))
        }
        (None, None) => (None, None),
    }
}
