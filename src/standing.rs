//! How a run stands: whether a process executes it, and if none does, why not.
//!
//! The state of a run at a head never changes, so what was found once is kept in a file beside the
//! journal, by the name of the head's record.
//! INVARIANT: the file is derived: what it says is what a restored run says, and it may be removed
//! at any time.
//! It does not decide who may take a run. Read next: `command/runs.rs`.

use std::collections::BTreeMap;
use std::io::Write;

use duet_journal::beside::{append_beside, beside, text_beside};
use duet_journal::owner::now_ms;
use duet_journal::{Head, Owner, RecordHash, RunId, Store};
use duet_runtime::run::DriveOutcome;

use crate::error::CommandError;
use crate::journal::{Journal, Place};
use crate::session;

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A process executes it, and it has asked a person this many questions.
    Running(Box<Owner>, u64),
    /// No process does.
    Resting(Rest),
}

/// Why nothing happens in a run that no process executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has ended, with this code.
    Ended(u64),
    /// It has asked a person this many questions.
    Asking(u64),
    /// It waits for a fact or a message of somebody else.
    Waiting,
    /// Its process was stopped, or has died; it can go on.
    Left,
    /// It cannot be restored.
    Broken,
}

impl Rest {
    fn write(self) -> String {
        match self {
            Self::Ended(code) => format!("ended {code}"),
            Self::Asking(questions) => format!("asking {questions}"),
            Self::Waiting => "waiting 0".to_owned(),
            Self::Left => "left 0".to_owned(),
            Self::Broken => "broken 0".to_owned(),
        }
    }

    fn read(word: &str, number: u64) -> Option<Self> {
        match word {
            "ended" => Some(Self::Ended(number)),
            "asking" => Some(Self::Asking(number)),
            "waiting" => Some(Self::Waiting),
            "left" => Some(Self::Left),
            _ => None,
        }
    }

    /// In words.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Ended(0) => "finished".to_owned(),
            Self::Ended(code) => format!("failed with code {code}"),
            Self::Asking(1) => "waiting for a person, 1 question".to_owned(),
            Self::Asking(questions) => format!("waiting for a person, {questions} questions"),
            Self::Waiting => "waiting for a signal".to_owned(),
            Self::Left => "left".to_owned(),
            Self::Broken => "cannot be restored".to_owned(),
        }
    }
}

/// The findings about runs that stand still.
pub(crate) struct Standings<'a> {
    journal: &'a Journal,
    known: BTreeMap<RecordHash, Rest>,
    /// New findings, as they are kept.
    found: String,
}

impl<'a> Standings<'a> {
    /// Reads what was found earlier.
    pub(crate) fn of(journal: &'a Journal) -> Self {
        let text = text_beside(&beside(journal.path(), ".standing"));
        let line = |line: &str| {
            let [hash, word, number] = line.split(' ').collect::<Vec<_>>()[..] else {
                return None;
            };
            Some((hash.parse().ok()?, Rest::read(word, number.parse().ok()?)?))
        };
        Self {
            journal,
            known: text.lines().filter_map(line).collect(),
            found: String::new(),
        }
    }

    /// Says how a run stands at a head, and when its process was last heard of, in milliseconds
    /// since 1970.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn standing(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        head: &Head,
    ) -> Result<(Standing, Option<u64>), CommandError> {
        let claim = store.claimed(run)?;
        if let Some(owner) = claim.as_ref().and_then(|claim| claim.living()) {
            let since = owner.claimed_ms;
            let questions = match self
                .known
                .get(&head.hash)
                .copied()
                .unwrap_or_else(|| find(store, run, head))
            {
                Rest::Asking(questions) => questions,
                Rest::Ended(_) | Rest::Waiting | Rest::Left | Rest::Broken => 0,
            };
            return Ok((Standing::Running(Box::new(owner), questions), Some(since)));
        }
        let seen = claim.and_then(|claim| claim.owner.parse::<Owner>().ok());
        let rest = match self.known.get(&head.hash) {
            Some(known) => *known,
            None => {
                let rest = find(store, run, head);
                if rest != Rest::Broken {
                    self.found.push_str(&format!("{} {}\n", head.hash, rest.write()));
                }
                rest
            }
        };
        Ok((Standing::Resting(rest), seen.map(|owner| owner.seen_ms)))
    }

    /// Keeps what was found. Where that fails, it is found again the next time.
    pub(crate) fn keep(self) {
        if !self.found.is_empty() {
            // One write, so that lines of several processes do not mix.
            let _lost = append_beside(&beside(self.journal.path(), ".standing"))
                .and_then(|mut file| file.write_all(self.found.as_bytes()));
        }
    }
}

/// Restores a run to see how it stands at a head.
fn find(store: &dyn Store, run: &RunId, head: &Head) -> Rest {
    let place = Place {
        run: run.clone(),
        branch: head.branch.clone(),
        head: head.clone(),
        turn: None,
    };
    let Ok(restored) = session::restore(store, &place) else {
        return Rest::Broken;
    };
    let state = restored.state();
    let has_clients = state.actors.values().any(|actor| actor.is_peer());
    let is_waiting = !state.queue.is_empty() || state.requests.values().any(|request| request.answer.is_none());
    let is_active = is_waiting || has_clients;
    match (state.exit, restored.outcome()) {
        (Some(code), _) => Rest::Ended(state.exit_code(code)),
        (None, DriveOutcome::Asking { questions }) => Rest::Asking(questions.len() as u64),
        (None, DriveOutcome::Ended { code }) if !is_active => Rest::Ended(code),
        (None, DriveOutcome::Waiting { .. }) if !is_active => Rest::Waiting,
        (None, _) => Rest::Left,
    }
}

/// How long ago a moment was, in words; empty if that is less than a minute.
pub(crate) fn age(since_ms: u64) -> String {
    duration(now_ms().saturating_sub(since_ms))
}

/// When a moment is or was, in words: `in 5 min`, `3 h ago`, or `now` within a minute.
pub(crate) fn when(moment_ms: u64) -> String {
    let now_ms = now_ms();
    match (duration(moment_ms.abs_diff(now_ms)), moment_ms > now_ms) {
        (length, _) if length.is_empty() => "now".to_owned(),
        (length, true) => format!("in {length}"),
        (length, false) => format!("{length} ago"),
    }
}

/// A duration in whole minutes, hours or days; empty if it is less than a minute.
fn duration(duration_ms: u64) -> String {
    let minutes = duration_ms / 60_000;
    match minutes {
        0 => String::new(),
        1..60 => format!("{minutes} min"),
        60..2880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}
