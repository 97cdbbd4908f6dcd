//! How a run stands: whether a process executes it, and if none does, why not.
//!
//! The state of a run at a head never changes, so what was found once is kept in a file beside the
//! journal, by the name of the head's record.
//! INVARIANT: the file is derived: what it says is what a restored run says, and it may be removed
//! at any time.
//! It does not decide who may take a run. Read next: `verb/runs.rs`.

use std::collections::BTreeMap;
use std::io::Write;

use duet_drivers::ask::Question;
use duet_drivers::text::line;
use duet_journal::beside::{append_beside, text_beside};
use duet_journal::owner::now_ms;
use duet_journal::{Head, Owner, RecordHash, RunId, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::DriveOutcome;
use duet_runtime::state::event::Event;
use duet_runtime::state::request::Request;

use crate::error::CommandError;
use crate::exchange::{self, Usage};
use crate::journal::{Journal, Place};
use crate::origins::{Origin, Origins};
use crate::owned_run::{self, compiled};
use crate::records::{Records, hash_at};
use crate::turn;
use crate::verb::waits::{Waiting, waits};

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
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
    /// It waits for requests over HTTP, which workers receive.
    Listening,
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
            Self::Listening => "listening 0".to_owned(),
            Self::Left => "left 0".to_owned(),
            Self::Broken => "broken 0".to_owned(),
        }
    }

    fn read(word: &str, number: u64) -> Option<Self> {
        match word {
            "ended" => Some(Self::Ended(number)),
            "asking" => Some(Self::Asking(number)),
            "waiting" => Some(Self::Waiting),
            "listening" => Some(Self::Listening),
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
            Self::Listening => "waiting for a webhook".to_owned(),
            Self::Left => "left".to_owned(),
            Self::Broken => "cannot be restored".to_owned(),
        }
    }
}

/// How a run stands, with the reason, and what its language models cost so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) standing: RunStatus,
    /// The first open question, the awaited fact, or why the run failed; otherwise empty.
    pub(crate) words: String,
    pub(crate) usage: Usage,
}

/// The finding about a run that stands still.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    turn: u64,
    rest: Rest,
    usage: Usage,
    words: String,
}

/// The findings about runs that stand still.
pub(crate) struct Standings<'a> {
    journal: &'a Journal,
    known: BTreeMap<RecordHash, Finding>,
    /// The heads at which each run stood, oldest first.
    by_run: BTreeMap<String, Vec<RecordHash>>,
    /// New findings, as they are kept.
    found: String,
}

impl<'a> Standings<'a> {
    /// Reads what was found earlier.
    pub(crate) fn of(journal: &'a Journal) -> Self {
        let mut standings = Self {
            journal,
            known: BTreeMap::new(),
            by_run: BTreeMap::new(),
            found: String::new(),
        };
        for line in text_beside(&journal.beside(".standing")).lines() {
            if let Some((run, hash, known)) = Finding::read(line) {
                standings.by_run.entry(run).or_default().push(hash);
                standings.known.insert(hash, known);
            }
        }
        standings
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
    ) -> Result<(RunStatus, Option<u64>), CommandError> {
        let (found, since) = self.found(store, run, head)?;
        Ok((found.standing, since))
    }

    /// As [`standing`](Self::standing), with the reason and the cost.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn found(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        head: &Head,
    ) -> Result<(Found, Option<u64>), CommandError> {
        let place = Place {
            run: run.clone(),
            branch: head.branch.clone(),
            head: head.clone(),
            turn: None,
        };
        let claim = store.claimed(run)?;
        let known = match self.known.get(&head.hash) {
            Some(known) => known.clone(),
            None => self.find(store, &place)?,
        };
        if let Some(owner) = claim.as_ref().and_then(|claim| claim.living()) {
            let since = owner.claimed_ms;
            let questions = match known.rest {
                Rest::Asking(questions) => questions,
                Rest::Ended(_) | Rest::Waiting | Rest::Listening | Rest::Left | Rest::Broken => 0,
            };
            let found = Found {
                standing: RunStatus::Running(Box::new(owner), questions),
                words: known.words,
                usage: known.usage,
            };
            return Ok((found, Some(since)));
        }
        if known.rest != Rest::Broken && !self.known.contains_key(&head.hash) {
            self.found.push_str(&known.line(run, head));
        }
        let seen = claim.and_then(|claim| claim.owner.parse::<Owner>().ok());
        let found = Found {
            standing: RunStatus::Resting(known.rest),
            words: known.words,
            usage: known.usage,
        };
        Ok((found, seen.map(|owner| owner.seen_ms)))
    }

    fn find(&self, store: &dyn Store, place: &Place) -> Result<Finding, CommandError> {
        let (rest, words) = find(store, place);
        let usage = if rest == Rest::Broken {
            Usage::default()
        } else {
            self.usage(store, place)?
        };
        Ok(Finding {
            turn: place.head.sequence.number(),
            rest,
            usage,
            words,
        })
    }

    /// Adds up what the language models of a branch cost, from the last finding on.
    fn usage(&self, store: &dyn Store, place: &Place) -> Result<Usage, CommandError> {
        let (mut usage, mut first) = (Usage::default(), Sequence::FIRST);
        for hash in self.by_run.get(place.run.as_str()).into_iter().flatten().rev() {
            let Some(known) = self.known.get(hash) else { continue };
            let at = Sequence::new(known.turn).map_err(|error| CommandError::problem(error.to_string()))?;
            if at < place.head.sequence && hash_at(place.source(store), at)? == Some(*hash) {
                (usage, first) = (known.usage, at.next().unwrap_or(at));
                break;
            }
        }
        let mut origins = Origins::of(place.source(store));
        for record in Records::oldest_first(place.source(store), first..=place.head.sequence) {
            let record = record?;
            if !may_concern_models(record.body_view().as_bytes()) {
                continue;
            }
            let Body::Turn(turn) = turn::body(&record)? else {
                continue;
            };
            let at = record.header().sequence;
            origins.learn(&turn, at);
            for event in &turn.events {
                if let Event::Answered {
                    request,
                    outcome: Ok(result),
                } = event
                    && let Some(heard) = exchange::heard(result)
                    && matches!(origins.request(*request, at)?, Origin::Tool { tool, .. } if tool == exchange::TOOL)
                {
                    usage.add(&heard.usage);
                }
            }
        }
        Ok(usage)
    }

    /// Keeps what was found. Where that fails, it is found again the next time.
    pub(crate) fn keep(self) {
        if !self.found.is_empty() {
            // One write, so that lines of several processes do not mix.
            let _lost = append_beside(&self.journal.beside(".standing"))
                .and_then(|mut file| file.write_all(self.found.as_bytes()));
        }
    }
}

/// Whether a turn may call a language model or receive an answer, by the bytes of its body, which
/// has names as they are spelled: decoding every turn of a long run takes as long as reading it.
fn may_concern_models(body: &[u8]) -> bool {
    let has = |name: &[u8]| body.windows(name.len()).any(|part| part == name);
    has(b"answered") || has(exchange::TOOL.as_bytes())
}

impl Finding {
    /// Reads a line; `None` if another version wrote it.
    fn read(line: &str) -> Option<(String, RecordHash, Self)> {
        let parts: Vec<&str> = line.splitn(9, ' ').collect();
        let [run, hash, turn, word, number, input, output, usd, words] = parts[..] else {
            return None;
        };
        let known = Self {
            turn: turn.parse().ok()?,
            rest: Rest::read(word, number.parse().ok()?)?,
            usage: Usage {
                input_tokens: input.parse().ok()?,
                output_tokens: output.parse().ok()?,
                usd: usd.parse().ok(),
            },
            words: words.to_owned(),
        };
        Some((run.to_owned(), hash.parse().ok()?, known))
    }

    fn line(&self, run: &RunId, head: &Head) -> String {
        let Usage {
            input_tokens,
            output_tokens,
            usd,
        } = self.usage;
        let usd = usd.map_or_else(|| "-".to_owned(), |usd| usd.to_string());
        let (hash, turn, rest) = (head.hash, self.turn, self.rest.write());
        format!(
            "{run} {hash} {turn} {rest} {input_tokens} {output_tokens} {usd} {}\n",
            self.words
        )
    }
}

/// Restores a run to see how it stands at a head, and why.
fn find(store: &dyn Store, place: &Place) -> (Rest, String) {
    let Ok(restored) = compiled::sight(store, place) else {
        return (Rest::Broken, String::new());
    };
    let state = restored.state();
    let has_clients = state.actors.values().any(|actor| actor.is_peer());
    let inboxes: Vec<String> = state.requests.values().filter_map(Request::inbox_name).collect();
    let needs_owner = |request: &Request| request.answer.is_none() && request.inbox_name().is_none();
    let is_waiting = !state.queue.is_empty() || state.requests.values().any(needs_owner);
    let is_active = is_waiting || has_clients;
    let rest = match (state.exit, restored.outcome()) {
        (Some(code), _) => Rest::Ended(state.exit_code(code)),
        (None, DriveOutcome::Asking { questions }) => Rest::Asking(questions.len() as u64),
        (None, DriveOutcome::Ended { code }) if !is_active => Rest::Ended(code),
        (None, DriveOutcome::Waiting { .. }) if !is_active && !inboxes.is_empty() => Rest::Listening,
        (None, DriveOutcome::Waiting { .. }) if !is_active => Rest::Waiting,
        (None, _) => Rest::Left,
    };
    let words = match rest {
        Rest::Asking(_) => restored.questions().first().map(|(_, prompt)| {
            let shown = Question::read(prompt).shown();
            shown.as_str().lines().next().unwrap_or_default().trim_end().to_owned()
        }),
        Rest::Waiting => waits(state).first().map(Waiting::conditions),
        Rest::Listening => Some(inboxes.join(", ")),
        Rest::Ended(1..) => failure(store, place),
        Rest::Ended(0) | Rest::Left | Rest::Broken => None,
    };
    (rest, line(&words.unwrap_or_default()).into_owned())
}

/// Why the last turn of a run failed, if it did.
#[expect(clippy::wildcard_enum_match_arm, reason = "two kinds of actions tell of failures")]
fn failure(store: &dyn Store, place: &Place) -> Option<String> {
    let record = owned_run::record_at(store, place, place.at()).ok()?;
    let Body::Turn(turn) = turn::body(&record).ok()? else {
        return None;
    };
    if let Outcome::Failed { failure } = &turn.outcome {
        return Some(turn::describe(failure));
    }
    turn.actions.iter().find_map(|action| match action {
        Action::Exit(exit) => exit.failure.as_ref().map(turn::describe),
        Action::ReportFailure(report) => Some(turn::describe(&report.failed.failure)),
        _ => None,
    })
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
