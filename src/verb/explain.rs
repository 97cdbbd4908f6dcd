//! `explain`: why a run failed, what it waits for, or how it ended.
//!
//! INVARIANT: the report names the failure that came first, never one that only passed it on; its
//! advice does not lead back to the same failure.
//! It finds no failures in records; `../../runtime/src/history/first_failure.rs` does.
//! Read next: `explain/failure.rs`.

mod advice;
mod failure;
mod judged;
mod standstill;

use std::num::NonZeroUsize;

use duet_drivers::text::Text;
use duet_journal::{Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::history::first_failure::first_failure;
use duet_runtime::record::Body;
use duet_runtime::run::Run;
use duet_runtime::scheme::SchemePrograms;
use duet_runtime::state::RunState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::fitting::{BOLD, RED, cut, styled_line};
use super::form::as_json;
use super::frames::turn_with;
use super::project::Project;
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::prompts::is_of_prompt;
use crate::history::records::Records;
use crate::history::turn;
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::saying::Saying;
use crate::text::view::{Told, View};
use crate::verb::standing::{LOOKED_BACK, Rest, RunStatus, Status, end_of_main};
use advice::Advice;
use failure::{Cause, Explained, Other};
use judged::FailedCall;
use standstill::Wait;

/// Explains why a run failed, what it waits for, or how it ended.
///
/// Of a run that failed, the report has the failure that came first, not those that only passed it
/// on: what an actor, a strand or a tool did wrong, what the gate refused, or what nobody answered
/// in time; with the inputs there, the turns that led to it, those that passed it on, and the
/// commands that help. Of a run that waits, it says for whom, and since when. At an address with a
/// turn it explains the failure of that turn, or how the run stood there.
///
///   duet explain review
///   duet explain review@12 --json
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Shows at most this many waits, further failures, and turns before and after.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Shows all of them, and each line whole.
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

/// The explanation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The branch.
    name: String,
    /// The turn at which it is explained.
    turn: u64,
    status: Status,
    /// The explanation in a sentence.
    summary: String,
    /// The failure that came first, if there was one.
    failure: Option<Explained>,
    /// Further failures that no actor took; if there is none, those that the program reported.
    others: Vec<Other>,
    /// The first call whose result told of a failure that the program took, if the program then
    /// raised one itself, or ended with a code of its own.
    failed_call: Option<FailedCall>,
    /// The open waits.
    waits: Vec<Wait>,
    /// What helps.
    advice: Vec<Advice>,
    /// How much of it is shown in words.
    #[serde(skip)]
    extent: Extent,
}

/// How much of a report is shown in words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The maximum number of turns on each side of the failure.
    steps_max: usize,
    /// The maximum number of waits, and that of further failures.
    rows_max: usize,
    /// Whether each line is shown whole.
    is_whole: bool,
}

impl Default for Extent {
    /// About a screen.
    fn default() -> Self {
        Self {
            steps_max: 6,
            rows_max: 10,
            is_whole: false,
        }
    }
}

impl Extent {
    fn of(request: &Request) -> Self {
        let most = if request.all { Some(usize::MAX) } else { None };
        let most = request.limit.map(NonZeroUsize::get).or(most);
        let Some(most) = most else {
            return Self::default();
        };
        Self {
            steps_max: most,
            rows_max: most,
            is_whole: request.all,
        }
    }
}

/// The report as JSON.
pub(crate) type Form = Report;

/// The maximum number of failures of actors that are traced.
const TRACED_MAX: usize = 8;

/// The maximum number of failures that are listed because the program has reported them.
const REPORTED_MAX: usize = 32;

/// Explains a run.
///
/// # Errors
/// If there is no such place, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let run = compiled::sight(look.store, &place)?;
    let texts = SourceTexts::of(run.programs::<SchemePrograms>().expander());
    let explaining = Explaining {
        store: look.store,
        place: &place,
        texts: &texts,
        now_ms: look.now_ms(),
        is_prompt: is_of_prompt(look.store, &place)?,
    };
    let mut report = explaining.report(&run)?;
    report.extent = Extent::of(request);
    if place.turn.is_none() {
        let mut standings = look.standings();
        let (standing, _) = standings.standing(look.store, &place.run, &place.head)?;
        standings.keep();
        explaining.note_standing(&mut report, &run, &standing)?;
    }
    Ok(report)
}

/// The place that is explained, and where it is read.
pub(crate) struct Explaining<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) place: &'a Place,
    pub(crate) texts: &'a SourceTexts,
    /// The time by the clock of the journal, in milliseconds since 1970.
    pub(crate) now_ms: u64,
    /// Whether the run is that of a prompt.
    pub(crate) is_prompt: bool,
}

impl Explaining<'_> {
    /// Explains how a run stands there.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn report(&self, run: &Run) -> Result<Report, CommandError> {
        let state = run.state();
        let mut failures = self.failures(state)?;
        let waits = self.waits(run)?;
        let goes_on = state.exit.is_none() && self.is_session(state);
        let is_failed = self.is_failed_turn()? || (goes_on && !failures.is_empty());
        let status = if is_failed {
            Status::Failed
        } else {
            Rest::of(run).status()
        };
        let first = (status == Status::Failed || status == Status::Stuck) && !failures.is_empty();
        let mut failure = first.then(|| failures.remove(0));
        if let Some(failure) = &mut failure
            && matches!(failure.cause, Cause::Program)
        {
            failure.variables = turn_with(self.store, self.place, failure.frame.as_ref(), failure.turn);
        }
        let failed_call = self.judged(failure.as_mut(), status)?;
        let summary = match (&failure, status) {
            (Some(failure), _) => failure.summary(),
            (None, _) => self.standing(run, status, &waits)?,
        };
        let mut others: Vec<Other> = failures.iter().map(Explained::other).collect();
        let mut advice = self.advice(failure.as_ref(), status, &waits);
        if failure.is_none() && status == Status::Failed {
            others.extend(self.reported()?);
            let first = others.first();
            advice.extend(first.map(|other| advice::shows(&self.place.name(), other.turn)));
        }
        if failed_call.is_some() {
            advice.push(advice::failed_calls(&self.place.name()));
        }
        Ok(Report {
            name: self.place.name(),
            turn: self.place.at().number(),
            status,
            summary,
            failure,
            others,
            failed_call,
            waits,
            advice,
            extent: Extent::default(),
        })
    }

    /// The call that mattered, if the program judged results itself; unless the explanation of the
    /// failure has it as its only input.
    fn judged(&self, failure: Option<&mut Explained>, status: Status) -> Result<Option<FailedCall>, CommandError> {
        match failure {
            Some(failure) if failure.is_of_program() => {
                let until = Sequence::new(failure.turn).map_err(|error| CommandError::problem(error.to_string()))?;
                let call = self.failed_call(until)?.filter(|call| !failure.is_input(call));
                if let Some(call) = &call {
                    failure.note(call);
                }
                Ok(call)
            }
            None if status == Status::Failed => self.failed_call(self.place.at()),
            Some(_) | None => Ok(None),
        }
    }

    /// Adds what the journal says of processes and workers: that one executes the run, or will.
    fn note_standing(&self, report: &mut Report, run: &Run, standing: &RunStatus) -> Result<(), CommandError> {
        let can_go_on = matches!(report.status, Status::Left | Status::Sleeping);
        match standing {
            RunStatus::Running(owner, _) if can_go_on => {
                report.status = Status::Running;
                report.summary = format!("{} runs: process {} executes it", report.name, owner.process);
                report.advice = advice::of_running(&report.name);
            }
            RunStatus::Resting(rest @ (Rest::Queued | Rest::Left)) if can_go_on || *rest == Rest::Queued => {
                report.status = rest.status();
                report.summary = self.standing(run, report.status, &report.waits)?;
                report.advice = self.advice(None, report.status, &report.waits);
            }
            RunStatus::Running(..) | RunStatus::Resting(_) => {}
        }
        Ok(())
    }

    /// Whether people type texts there, which may fail while the run goes on.
    fn is_session(&self, state: &RunState) -> bool {
        // A prompt is a session before its first text has committed.
        state.is_session || self.is_prompt
    }

    /// Whether other turns of the branch follow the place.
    fn is_past(&self) -> bool {
        self.place.at() != self.place.head.sequence
    }

    fn is_failed_turn(&self) -> Result<bool, CommandError> {
        let record = owned_run::record_at(self.store, self.place, self.place.at())?;
        Ok(self.place.turn.is_some() && turn::is_failed(&turn::body(&record)?))
    }

    /// The failures that matter at the place, each traced to where it arose, the first one first.
    fn failures(&self, state: &RunState) -> Result<Vec<Explained>, CommandError> {
        let source = self.place.source(self.store);
        let mut found: Vec<Explained> = Vec::new();
        for turn in self.failed_turns(state)? {
            let Some(traced) = first_failure(&source, turn)? else {
                continue;
            };
            if found.iter().all(|known| known.turn != traced.at.sequence.number()) {
                let mut origins = Origins::of(self.place.source(self.store));
                found.push(Explained::of(&traced, &mut origins, self.texts)?);
            }
        }
        found.sort_by_key(|found| found.turn);
        Ok(found)
    }

    /// The turns whose failures nothing in the program took.
    fn failed_turns(&self, state: &RunState) -> Result<Vec<Sequence>, CommandError> {
        if self.is_failed_turn()? {
            return Ok(vec![self.place.at()]);
        }
        let untaken = state.untaken.first.iter().take(TRACED_MAX);
        let mut turns: Vec<Sequence> = untaken.map(|untaken| untaken.turn).collect();
        if state.exit.is_some_and(|code| code > 0) || self.is_session(state) {
            turns.extend(end_of_main(self.store, self.place, state)?);
        }
        Ok(turns)
    }

    /// The failures near the place that the program reported and took, such as those of assertions.
    fn reported(&self) -> Result<Vec<Other>, CommandError> {
        let mut turns = Vec::new();
        for record in Records::newest_first(self.store, self.place).take(LOOKED_BACK) {
            let record = record?;
            let Body::Turn(turn) = turn::body(&record)? else {
                break;
            };
            let done = turn.actions.iter().flat_map(Action::done);
            let reported = done.filter_map(|action| {
                let Action::ReportFailure(report) = action else {
                    return None;
                };
                report.is_taken.then_some(&report.failed)
            });
            let at = record.header().sequence.number();
            turns.push(reported.map(|failed| Other::of(failed, at)).collect::<Vec<_>>());
        }
        Ok(turns.into_iter().rev().flatten().take(REPORTED_MAX).collect())
    }
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(self)
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let columns = view.columns.filter(|_| !self.extent.is_whole);
        let text = self.text();
        let lines = text.lines().enumerate().map(|(at, line)| {
            let style = self.style().filter(|_| at == 0 && view.is_styled);
            styled_line(&cut(line, columns), style)
        });
        let mut told = Told::data(Text::styled(&lines.collect::<String>()));
        told.messages = self.advice.iter().map(Advice::saying).collect();
        let failure = self.failure.as_ref();
        let is_cut = failure.is_some_and(|failure| failure.is_longer_than(self.extent.steps_max));
        if is_cut || self.others.len().max(self.waits.len()) > self.extent.rows_max {
            told = told.say("more is left out; `--all` shows it");
        }
        told
    }

    /// The colour of the sentence.
    fn style(&self) -> Option<&'static str> {
        match self.status {
            Status::Failed | Status::Stuck | Status::Broken => Some(RED),
            Status::Waiting => Some(BOLD),
            Status::Running | Status::Finished | Status::Sleeping | Status::Queued | Status::Left => None,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", duet_drivers::text::line(&self.summary));
        if let Some(call) = &self.failed_call {
            text.push_str(&row("failed", &call.line(&self.name)));
        }
        if let Some(failure) = &self.failure {
            text.push_str(&failure.text(&self.name, self.extent.steps_max));
        }
        let title = if self.failure.is_some() { "also" } else { "reported" };
        let others: Vec<String> = self.others.iter().map(Other::line).collect();
        add_rows(&mut text, title, &others, self.extent.rows_max);
        let waits: Vec<String> = self.waits.iter().map(Wait::line).collect();
        add_rows(&mut text, "waits", &waits, self.extent.rows_max);
        text
    }

    /// The explanation in three lines, for the end of a run that failed: the failure, its inputs,
    /// and what helps, unless a way on has been named already. Nothing if there was none.
    pub(crate) fn brief(&self, has_way: bool) -> Vec<Saying> {
        let Some(failure) = &self.failure else {
            return Vec::new();
        };
        let first = format!("first failure: {}", duet_drivers::text::line(&self.summary));
        let call = self.failed_call.as_ref();
        let call = call.map_or_else(String::new, |call| {
            format!("failed before: {}; ", call.line(&self.name))
        });
        let inputs = format!("  {call}inputs: {}", duet_drivers::text::line(&failure.inputs()));
        let mut brief = vec![Saying::from(first), Saying::from(inputs)];
        brief.push(advice::brief(&self.name, self.advice.first().filter(|_| !has_way)));
        brief
    }
}

/// Adds rows with one title, and how many there are beyond those that are shown.
fn add_rows(text: &mut String, title: &str, rows: &[String], most: usize) {
    text.extend(rows.iter().take(most).map(|line| row(title, line)));
    if let Some(more) = rows.len().checked_sub(most).filter(|more| *more > 0) {
        text.push_str(&row(title, &format!("… {more} more")));
    }
}

/// A row of the report.
fn row(name: &str, text: &str) -> String {
    format!("  {name:<8} {}\n", duet_drivers::text::line(text))
}
