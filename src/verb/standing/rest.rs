//! The states in which a run rests that no process executes: one table, from which every report
//! takes its words.
//!
//! INVARIANT: a state follows from the state of the run at its newest turn, and from what the
//! journal says of its owner and of what it needs.
//! It restores no run. Read next: `deadline.rs`.

use std::borrow::Cow;

use duet_journal::{Claim, Need};
use duet_runtime::model::counted::counted;
use duet_runtime::run::{DriveOutcome, Run};
use duet_runtime::state::request::{Question, Request};
use schemars::JsonSchema;
use serde::Serialize;

/// Why nothing happens in a run that no process executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has ended, with this code.
    Ended(u64),
    /// It has asked a person this many questions.
    Asking(u64),
    /// It waits for a fact or a message of somebody else.
    Waiting,
    /// It waits for requests over HTTP, which workers receive.
    Listening,
    /// It waits for a timer only, and a worker goes on with it then.
    Sleeping,
    /// It can go on, and a worker may take it.
    Queued,
    /// It reads standard input, which only the process that executes it can give it.
    Reading,
    /// It waits for what can no longer happen.
    Stuck,
    /// Its process was stopped, or has died; it can go on.
    Left,
    /// It cannot be restored.
    Broken,
}

/// How a run stands, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    /// A process executes it.
    Running,
    /// It has ended with the code 0.
    Finished,
    /// It, or one of its turns, has failed.
    Failed,
    /// It waits for a person, for a fact or message from outside, for a webhook, or for standard
    /// input.
    Waiting,
    /// It waits for a timer only, and a worker goes on with it then.
    Sleeping,
    /// It can go on, and waits for a worker.
    Queued,
    /// It waits for what can no longer happen.
    Stuck,
    /// Its process was stopped or has died; it can go on.
    Left,
    /// It cannot be restored.
    Broken,
}

/// A row of the table of states.
struct Row {
    /// Its word in the file of findings; none for what is not kept there.
    kept: Option<&'static str>,
    status: Status,
    /// The state in words.
    words: Cow<'static, str>,
}

impl Rest {
    fn row(self) -> Row {
        let row = |kept, status, words| Row {
            kept,
            status,
            words: Cow::Borrowed(words),
        };
        match self {
            Self::Ended(0) => row(Some("ended"), Status::Finished, "finished"),
            Self::Ended(code) => Row {
                words: format!("failed with code {code}").into(),
                ..row(Some("ended"), Status::Failed, "")
            },
            Self::Asking(questions) => Row {
                words: format!("waiting for a person, {}", counted(questions, "question")).into(),
                ..row(Some("asking"), Status::Waiting, "")
            },
            Self::Waiting => row(Some("waiting"), Status::Waiting, "waiting for a signal"),
            Self::Listening => row(Some("listening"), Status::Waiting, "waiting for a webhook"),
            Self::Sleeping => row(Some("sleeping"), Status::Sleeping, "sleeping"),
            Self::Queued => row(None, Status::Queued, "waiting for a worker"),
            Self::Reading => row(Some("reading"), Status::Waiting, "waiting for standard input"),
            Self::Stuck => row(Some("stuck"), Status::Stuck, "stuck"),
            Self::Left => row(Some("left"), Status::Left, "left"),
            Self::Broken => row(None, Status::Broken, "cannot be restored"),
        }
    }

    /// Its word in the file of findings, if it is kept there.
    pub(super) fn kept(self) -> Option<&'static str> {
        self.row().kept
    }

    /// The number that belongs to it in that file.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Ended(number) | Self::Asking(number) => number,
            Self::Waiting
            | Self::Listening
            | Self::Sleeping
            | Self::Queued
            | Self::Reading
            | Self::Stuck
            | Self::Left
            | Self::Broken => 0,
        }
    }

    /// Reads what is kept.
    pub(super) fn read(word: &str, number: u64) -> Option<Self> {
        let all = [
            Self::Ended(number),
            Self::Asking(number),
            Self::Waiting,
            Self::Listening,
            Self::Sleeping,
            Self::Reading,
            Self::Stuck,
            Self::Left,
        ];
        all.into_iter().find(|rest| rest.row().kept == Some(word))
    }

    /// In a word.
    pub(crate) fn status(self) -> Status {
        self.row().status
    }

    /// In words.
    pub(crate) fn shown(self) -> String {
        self.row().words.into_owned()
    }

    /// The state of a restored run that no process executes, as far as the run alone shows it.
    pub(crate) fn of(run: &Run) -> Self {
        let state = run.state();
        let has_clients = state.actors.values().any(|actor| actor.is_peer());
        let need = run.need();
        match (state.exit, run.outcome()) {
            (Some(code), _) => Self::Ended(state.exit_code(code)),
            (None, DriveOutcome::Asking { questions }) => Self::Asking(questions.len() as u64),
            (None, _) if need == Need::OWNER || has_clients => Self::Left,
            (None, DriveOutcome::Ended { code }) if need == Need::Nothing => Self::Ended(code),
            (None, DriveOutcome::Waiting { .. }) if state.requests.values().any(is_inbox) => Self::Listening,
            (None, DriveOutcome::Waiting { .. }) => Self::Waiting,
            (None, _) if matches!(need, Need::Moment(_)) => Self::Sleeping,
            (None, DriveOutcome::Stuck { .. }) if state.requests.values().any(is_reading) => Self::Reading,
            (None, DriveOutcome::Stuck { .. }) => Self::Stuck,
            (None, DriveOutcome::Ended { .. } | DriveOutcome::Interrupted) => Self::Left,
        }
    }

    /// How it stands by what the journal says of its owner and of what it needs at a moment.
    pub(super) fn known(self, need: Need, claim: Option<&Claim>, now_ms: u64) -> Self {
        let is_let_go = claim.is_some_and(|claim| claim.owner.is_empty());
        let is_due = matches!(need, Need::Moment(at_ms) if at_ms <= now_ms);
        match self {
            Self::Left | Self::Sleeping | Self::Waiting | Self::Listening if is_let_go && is_due => Self::Queued,
            Self::Sleeping if !is_let_go || need == Need::Nothing => Self::Left,
            Self::Ended(_)
            | Self::Asking(_)
            | Self::Waiting
            | Self::Listening
            | Self::Sleeping
            | Self::Queued
            | Self::Reading
            | Self::Stuck
            | Self::Left
            | Self::Broken => self,
        }
    }
}

/// Whether a request waits for requests over HTTP that workers receive.
pub(super) fn is_inbox(request: &Request) -> bool {
    request.inbox_name().is_some()
}

/// Whether a request reads standard input.
fn is_reading(request: &Request) -> bool {
    request.answer.is_none() && matches!(request.question, Question::Read { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use duet_journal::{Epoch, Owner};

    #[test]
    fn what_a_run_rests_for_depends_on_its_owner_and_on_what_it_needs() {
        let dead = Owner {
            started: 0,
            ..Owner::this("run")
        };
        let claim = |owner: String| Claim {
            epoch: Epoch(1),
            owner,
            read_ms: 1_000,
        };
        let (let_go, dead) = (claim(String::new()), claim(dead.to_string()));
        let (later, over) = (Need::Moment(2_000), Need::Moment(500));
        for (rest, need, claim, known) in [
            (Rest::Sleeping, later, Some(&let_go), Rest::Sleeping),
            (Rest::Sleeping, over, Some(&let_go), Rest::Queued),
            (Rest::Sleeping, later, Some(&dead), Rest::Left),
            (Rest::Sleeping, Need::Nothing, Some(&let_go), Rest::Left),
            (Rest::Sleeping, Need::Nothing, None, Rest::Left),
            (Rest::Left, Need::OWNER, Some(&let_go), Rest::Queued),
            (Rest::Left, Need::OWNER, Some(&dead), Rest::Left),
            (Rest::Left, Need::Nothing, Some(&let_go), Rest::Left),
            (Rest::Waiting, over, Some(&let_go), Rest::Queued),
            (Rest::Waiting, later, Some(&let_go), Rest::Waiting),
            (Rest::Listening, Need::Input, Some(&let_go), Rest::Listening),
            (Rest::Asking(1), over, Some(&let_go), Rest::Asking(1)),
            (Rest::Ended(0), Need::Nothing, Some(&let_go), Rest::Ended(0)),
            (Rest::Stuck, Need::Input, Some(&dead), Rest::Stuck),
        ] {
            assert_eq!(rest.known(need, claim, 1_000), known, "{rest:?} {need:?} {claim:?}");
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        for rest in [
            Rest::Ended(0),
            Rest::Ended(3),
            Rest::Asking(2),
            Rest::Waiting,
            Rest::Listening,
            Rest::Sleeping,
            Rest::Reading,
            Rest::Stuck,
            Rest::Left,
        ] {
            let kept = rest.kept().expect("it is kept");
            assert_eq!(Rest::read(kept, rest.number()), Some(rest));
        }
        assert_eq!((Rest::Queued.kept(), Rest::Broken.kept()), (None, None));
    }
}
