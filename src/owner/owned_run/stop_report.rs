//! The report when a run stops: its state, and the commands that continue it or take it back.
//!
//! INVARIANT: the report names a command only if it can be given: none about the journal where
//! there is no journal.
//! It decides nothing. Read next: the crate's `owner/owned_run.rs`.

use duet_drivers::ask::Question;
use duet_drivers::text::line;
use duet_journal::Sequence;
use duet_runtime::gate::question::NOT_SHOWN;
use duet_runtime::model::counted::counted;
use duet_runtime::run::Run;
use duet_runtime::run::inflight::Recalled;
use duet_runtime::run::questions::OpenQuestion;
use duet_runtime::state::RunState;
use duet_runtime::state::untaken::UntakenFailures;

use super::RunPlace;
use super::view::is_approval;
use crate::history::waiting::{Waiting, waits};
use crate::text::error::{CommandError, ExitCode, Problem};
use crate::text::render;
use crate::text::saying::{Saying, Speaker, Way, say};
use crate::text::terminal::Terminal;

/// The ways to take a failure.
const TAKERS: &str = "`guard` in the entity handles a failure where it happens; `:on-exit` of `spawn-entity!` \
                      and the supervisors of (duet supervision) take it from there";

/// The maximum number of failures, and of waits, that are listed.
const LISTED_MAX: usize = 8;

/// How to look at a failed turn and how to try a mended program. Going back to before it and on
/// from there leads to the same failure, unless the failure is that of a call (`again.rs`).
pub(super) fn ways_back(name: &str, turn: Sequence) -> Vec<String> {
    vec![
        format!(
            "`duet show {name}@{turn}` shows the turn that failed, `duet frames {name}@{turn}` its variables; \
             it left no other trace"
        ),
        format!("`duet resume {name} --with FILE` goes on with a mended program on what it has received"),
    ]
}

/// Lists the failures that no actor took, if there are any.
fn untaken_failures(untaken: &UntakenFailures) -> Option<String> {
    let listed = untaken.first.iter().take(LISTED_MAX);
    let mut listed: Vec<String> = listed
        .map(|one| {
            let actor = one.actor.to_string();
            let who = line(one.role.as_ref().unwrap_or(&actor));
            format!("{who} in turn {} ({})", one.turn, line(&one.kind))
        })
        .collect();
    let left_out = untaken.count.saturating_sub(listed.len() as u64);
    if left_out > 0 {
        listed.push(format!("{left_out} more"));
    }
    let listed = listed.join(", ");
    match untaken.count {
        0 => None,
        1 => Some(format!("an actor failed, and nothing took its failure: {listed}")),
        count => Some(format!(
            "{count} actors failed, and nothing took their failures: {listed}"
        )),
    }
}

/// A run that rests, in words.
pub(super) struct StopReport<'a> {
    pub(super) place: &'a RunPlace,
    pub(super) head: Sequence,
}

impl StopReport<'_> {
    fn is_kept(&self) -> bool {
        self.place.journal.is_some()
    }

    /// Reports the failures of actors that no other actor took; each was shown when it happened.
    pub(super) fn tell_untaken(&self, untaken: &UntakenFailures, terminal: &mut Terminal) {
        if let Some(what) = untaken_failures(untaken) {
            let problem = Problem {
                what,
                because: Vec::new(),
                advice: vec![TAKERS.into()],
                code: ExitCode::FAILED,
            };
            terminal.message(render::problem(&problem, terminal.speaker, terminal.is_styled));
        }
    }

    /// Reports the calls that were not repeated, and how to repeat them.
    pub(super) fn tell_recalled(&self, recalled: &[Recalled], terminal: &mut Terminal) {
        let name = &self.place.name;
        for call in recalled {
            let told = if call.is_known {
                "its recorded result was delivered"
            } else {
                "its result is not known"
            };
            let (tool, turn) = (line(&call.tool), call.turn);
            terminal.message(format!(
                "{tool} was called in turn {turn} before ({}) and not again: {told}",
                call.branch
            ));
        }
        let before = recalled.first().and_then(|call| call.turn.number().checked_sub(1));
        if let Some(before) = before {
            terminal.message(say![
                Way::turn("goto", name, before),
                ", then ",
                Way::at("resume", name).with("--again"),
                " makes the call again",
            ]);
        }
    }

    pub(super) fn tell_journal(&self, terminal: &mut Terminal) {
        if let Some(journal) = self
            .place
            .journal
            .as_ref()
            .filter(|_| terminal.speaker == Speaker::Command)
        {
            let name = &self.place.name;
            let turns = self.head.number();
            let (are, them) = if turns == 1 { ("is", "it") } else { ("are", "them") };
            let where_to = format!("{} of {name} {are} in {}; ", counted(turns, "turn"), journal.shown());
            terminal.message(say![where_to, Way::at("log", name), format!(" lists {them}")]);
        }
    }

    pub(super) fn tell_questions(&self, run: &Run, terminal: &mut Terminal) {
        let name = &self.place.name;
        let mut is_asking = false;
        for OpenQuestion { request, prompt, .. } in run.open_questions() {
            let question = Question::read(&prompt).shown();
            let question = question.as_str().trim_end();
            let number = request.0;
            if !is_approval(run.state(), request) {
                is_asking = true;
                terminal.message(format!("{name} waits for an answer: {question}"));
            } else if self.is_kept() {
                let yes = Way::at("answer", name).with(format!("{number} yes"));
                let mut told = say![format!("{name} waits for approval: {question}\n"), yes, " approves it"];
                if question.contains(NOT_SHOWN) {
                    told = told
                        .and("; ")
                        .and(Way::at("waits", name).with("--full"))
                        .and(" shows all of it");
                }
                terminal.message(told);
            } else {
                terminal.message(format!("{name} waits for approval: {question}"));
            }
        }
        if self.is_kept() && is_asking {
            terminal.message(say![
                Way::at("answer", name).with("TEXT"),
                " answers, ",
                Way::at("resume", name),
                " asks again",
            ]);
        }
    }

    /// Reports that only somebody outside can give what the run waits for.
    pub(super) fn tell_waits(&self, state: &RunState, terminal: &mut Terminal) {
        let name = &self.place.name;
        let words = |wait: &Waiting| line(&wait.line()).into_owned();
        let mut listed: Vec<String> = waits(state).iter().map(words).collect();
        let left_out = listed.len().saturating_sub(LISTED_MAX);
        listed.truncate(LISTED_MAX);
        if left_out > 0 {
            listed.push(format!("{left_out} more"));
        }
        let listed: String = listed.iter().map(|wait| format!("\n  {wait}")).collect();
        terminal.message(format!("{name} waits for a signal or a message from outside:{listed}"));
        if self.is_kept() {
            terminal.message(say![
                Way::at("signal", name).with("LABEL VALUE"),
                " asserts a fact and ",
                Way::at("message", name).with("VALUE"),
                " sends a message; the run then goes on",
            ]);
        }
    }

    pub(super) fn interrupted(&self) -> Saying {
        if !self.is_kept() {
            return "interrupted".into();
        }
        say![
            format!("interrupted after turn {}; ", self.head),
            Way::at("resume", &self.place.name),
            " goes on",
        ]
    }

    pub(super) fn stuck(&self, fibers: usize, state: &RunState) -> CommandError {
        let name = &self.place.name;
        let untaken = &state.untaken;
        let what = if fibers == 1 {
            "1 fiber waits".to_owned()
        } else {
            format!("{fibers} fibers wait")
        };
        let mut failure = CommandError::problem(format!(
            "{name} cannot continue: {what} for events that can no longer happen"
        ));
        for wait in waits(state).iter().take(LISTED_MAX).map(Waiting::line) {
            failure = failure.because(wait);
        }
        if let (CommandError::Problem(problem), Some(untaken)) = (&mut failure, untaken_failures(untaken)) {
            problem.because.push(untaken);
            problem.advice.push(TAKERS.into());
        }
        if self.is_kept() {
            failure.advise(say![Way::at("waits", name), " lists them again"])
        } else {
            failure
        }
    }
}
