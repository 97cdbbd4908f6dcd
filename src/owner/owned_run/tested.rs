//! A run as a test: it is driven until it stops or its time is over, and its records tell what its
//! assertions found.
//!
//! INVARIANT: the findings are those of the records, so a replay of the run finds the same.
//! It judges nothing. Read next: the crate's `workbench/testing.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duet_drivers::ticker::Ticker;
use duet_drivers::tool::double::RecordedCall;
use duet_drivers::waker::Waker;
use duet_journal::Store;
use duet_journal::packed::View;
use duet_runtime::action::Action;
use duet_runtime::model::failure::{ActorFailure, Failure, Frame, FramePlace, Origin};
use duet_runtime::record::key::Ledger;
use duet_runtime::run::{DriveOutcome, Run};
use duet_runtime::scheme::{SchemePrograms, TextCounts};
use duet_runtime::state::RunState;

use super::OwnedRun;
use crate::history::asked::asked_words;
use crate::history::turn::line;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::world::answers::{recorded, unanswered};
use crate::world::watch::asked_file;

/// The kind of the condition that stands for an assertion that failed.
const TEST_FAILED: &str = "test-failed";

/// What the records of a test have.
#[derive(Debug)]
pub(crate) enum Finding {
    /// An assertion with an expected result: `pass`, `xfail` or `skip`.
    Expected { name: String, result: String },
    /// An assertion with an unexpected one.
    Unexpected { name: String, failure: Failure },
    /// A failure that no assertion expected.
    Failed { failed: ActorFailure },
    /// The outermost group of assertions has ended.
    Closed,
    /// The program was evaluated to its end.
    End,
}

/// A test that has stopped.
pub(crate) struct Tested {
    pub(crate) rest: DriveOutcome,
    pub(crate) findings: Vec<Finding>,
    pub(crate) texts: SourceTexts,
    /// Where the program called `(exit)`, if it did.
    pub(crate) exit: Option<Failure>,
    /// Whether its time was over.
    pub(crate) is_late: bool,
    /// The calls of tools that have an answer, in the order of the calls.
    pub(crate) calls: Vec<RecordedCall>,
    /// Why calls had no recorded answer.
    pub(crate) unanswered: Vec<String>,
    /// The paths of the files of the workspace that it asked for.
    pub(crate) files: Vec<String>,
    /// How often lines were executed, by text, if that is counted.
    pub(crate) counts: BTreeMap<String, TextCounts>,
    /// Where its computations wait, if any do.
    pub(crate) waits: Vec<Failure>,
    /// What it has asked for without an answer yet, such as the time of a timer, and which actor
    /// did.
    pub(crate) pending: Vec<String>,
}

impl OwnedRun {
    /// Drives the run until it stops, but no longer than `time_limit`; counts executed lines if
    /// that is wanted.
    ///
    /// # Errors
    /// If the run or the journal fails.
    pub(crate) fn test(
        mut self,
        store: &mut dyn Store,
        time_limit: Duration,
        is_counted: bool,
    ) -> Result<Tested, CommandError> {
        if is_counted {
            self.run.programs_mut::<SchemePrograms>().begin_coverage();
        }
        self.stop_when_interrupted();
        self.world.keep_failures();
        self.run.keep_ledger(|action| finding(action).is_some());
        let is_late = Arc::new(AtomicBool::new(false));
        let (waker, late) = (self.waker(), Arc::clone(&is_late));
        let stop = move || {
            late.store(true, Ordering::Relaxed);
            // Nobody listens any more if the run has just ended.
            let _heard = waker.as_ref().is_some_and(Waker::interrupt);
            false
        };
        let clock = Ticker::start(time_limit, stop)
            .map_err(|error| CommandError::caused("the system cannot start a thread", &error))?;
        let rest = self.run_on(store)?;
        drop(clock);
        let findings = self.run.ledger().map_or_else(Vec::new, findings);
        let calls = self.run.ledger().map_or_else(Vec::new, recorded);
        let unanswered = self.run.ledger().map_or_else(Vec::new, unanswered);
        let files = self.run.ledger().map_or_else(Vec::new, files);
        let (waits, pending) = if matches!(rest, DriveOutcome::Ended { .. }) {
            (Vec::new(), Vec::new())
        } else {
            (waits(&mut self.run), pending(self.run.state()))
        };
        Ok(Tested {
            rest,
            findings,
            calls,
            unanswered,
            files,
            texts: SourceTexts::of(self.run.programs::<SchemePrograms>().expander()),
            counts: self.run.programs::<SchemePrograms>().coverage(),
            exit: self.run.programs::<SchemePrograms>().exit_place().cloned(),
            is_late: is_late.load(Ordering::Relaxed),
            waits,
            pending,
        })
    }
}

/// Lists the paths in calls of tools of the workspace.
fn files(ledger: &Ledger) -> Vec<String> {
    let asked = ledger.asked.iter();
    asked.filter_map(|asked| asked_file(&asked.question)).collect()
}

/// Lists what the records have.
fn findings(ledger: &Ledger) -> Vec<Finding> {
    ledger.done.iter().filter_map(finding).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other action is a finding")]
fn finding(action: &Action) -> Option<Finding> {
    match action {
        Action::Message(message) => told(message.value.view()),
        Action::ReportFailure(report) if report.is_taken && report.failed.failure.kind == TEST_FAILED => {
            Some(Finding::Unexpected {
                name: report.failed.role.clone().unwrap_or_default(),
                failure: report.failed.failure.clone(),
            })
        }
        Action::ReportFailure(report) if !report.is_taken => Some(Finding::Failed {
            failed: report.failed.clone(),
        }),
        _ => None,
    }
}

/// Reads a message of `(srfi 64)`.
fn told(value: View<'_>) -> Option<Finding> {
    let mut fields = value.items();
    match (value.label()?.symbol()?, fields.next(), fields.next(), fields.next()) {
        ("test/closed", None, None, None) => Some(Finding::Closed),
        ("test/end", None, None, None) => Some(Finding::End),
        ("test/result", Some(result), Some(name), None) => Some(Finding::Expected {
            result: result.symbol()?.to_owned(),
            name: name.string()?.to_owned(),
        }),
        _ => None,
    }
}

/// What actors have asked for without an answer, in words.
fn pending(state: &RunState) -> Vec<String> {
    let open = state.requests.values().filter(|request| request.answer.is_none());
    open.map(|request| {
        let role = state.actor(request.actor).and_then(|actor| actor.role.as_deref());
        let actor = line::actor(request.actor, role);
        format!("{actor} waits for {}", asked_words(request))
    })
    .collect()
}

/// The places where the fibers of a run wait.
fn waits(run: &mut Run) -> Vec<Failure> {
    let actors = run.state().actors.iter();
    let fibers: Vec<_> = actors
        .flat_map(|(actor, state)| state.fibers.values().map(|fiber| (*actor, fiber.continuation)))
        .collect();
    let mut found = Vec::new();
    for (actor, parked) in fibers {
        let Some((programs, instance)) = run.lend::<SchemePrograms>(actor) else {
            continue;
        };
        let frames = programs.frames_of(instance, parked);
        let frames: Vec<Frame> = frames.into_iter().map(|shown| shown.frame).collect();
        if let Some(origin) = frames.iter().find_map(place) {
            found.push(Failure {
                kind: "waits".to_owned(),
                message: "it waits here".to_owned(),
                irritants: [].into(),
                origin: Some(Box::new(origin)),
                backtrace: frames.into(),
            });
        }
    }
    found
}

fn place(frame: &Frame) -> Option<Origin> {
    match &frame.at {
        FramePlace::Text { source, start } => Some(Origin {
            source: source.clone(),
            start: *start,
            end: start + 1,
        }),
        FramePlace::Unknown | FramePlace::Gone => None,
    }
}
