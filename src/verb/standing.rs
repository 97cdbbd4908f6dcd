//! How a run stands: whether a process executes it, and if none does, why not.
//!
//! The state of a run at a head never changes, so what was found once is kept in a file beside the
//! journal, by the name of the head's record.
//! INVARIANT: the file is derived: what it says is what a restored run says, and it may be removed
//! at any time.
//! It does not decide who may take a run. Read next: `standing/rest.rs`.

pub(crate) mod deadline;
mod rest;

use std::collections::BTreeMap;
use std::io::Write;

use duet_drivers::ask::Question;
use duet_drivers::text::line;
use duet_journal::beside::{append_beside, text_beside};
use duet_journal::{Head, Need, Owner, RecordHash, RunId, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure::Failure;
use duet_runtime::model::moment::Moment;
use duet_runtime::record::{Body, Outcome, TurnRecord};
use duet_runtime::run::Run;
use duet_runtime::state::RunState;
use duet_runtime::state::actor::{Condition, Wait};
use duet_runtime::state::event::Event;
use duet_runtime::state::request::{Question as Asked, Request};

use self::rest::is_inbox;
pub(crate) use self::rest::{Rest, Status};
use crate::history::asked::asked_words;
use crate::history::journal::{Journal, Place};
use crate::history::origins::{Origin, Origins};
use crate::history::records::{Records, hash_at};
use crate::history::turn;
use crate::history::waiting::{Waiting, facts, waits};
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::exchange::{self, Usage};

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// A process executes it, and it has asked a person this many questions.
    Running(Box<Owner>, u64),
    /// No process does.
    Resting(Rest),
}

impl RunStatus {
    /// In a word.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Running(..) => Status::Running,
            Self::Resting(rest) => rest.status(),
        }
    }
}

/// How a run stands, with the reason, and what its language models cost so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunStanding {
    pub(crate) standing: RunStatus,
    /// The first open question, the awaited fact, why the run failed or was left; otherwise empty.
    pub(crate) words: String,
    /// Until when it waits at most, by the clock of the journal, in milliseconds since 1970.
    pub(crate) until_ms: Option<u64>,
    pub(crate) usage: Usage,
}

/// The finding about a run that stands still.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    turn: u64,
    rest: Rest,
    usage: Usage,
    words: String,
    until_ms: Option<u64>,
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
    ) -> Result<(RunStanding, Option<u64>), CommandError> {
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
            let questions = if let Rest::Asking(questions) = known.rest {
                questions
            } else {
                0
            };
            let found = RunStanding {
                standing: RunStatus::Running(Box::new(owner), questions),
                words: known.words,
                until_ms: known.until_ms,
                usage: known.usage,
            };
            return Ok((found, Some(since)));
        }
        if known.rest.kept().is_some() && !self.known.contains_key(&head.hash) {
            self.found.push_str(&known.line(run, head));
        }
        let need = store.need(run, &head.branch)?;
        let now_ms = store.now_ms()?;
        let rest = known.rest.known(need, claim.as_ref(), now_ms);
        let seen = claim.and_then(|claim| claim.owner.parse::<Owner>().ok());
        let found = RunStanding {
            standing: RunStatus::Resting(rest),
            // One that a person has stopped needs nobody.
            words: why_left(rest, seen.is_some() && need != Need::Nothing, known.words),
            // A moment that has passed holds no run that was left, and one of a virtual clock never
            // did.
            until_ms: known
                .until_ms
                .filter(|at_ms| rest != Rest::Queued && (rest != Rest::Left || *at_ms > now_ms)),
            usage: known.usage,
        };
        Ok((found, seen.map(|owner| owner.seen_ms)))
    }

    fn find(&self, store: &dyn Store, place: &Place) -> Result<Finding, CommandError> {
        let (rest, words, until_ms) = find(store, place);
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
            until_ms,
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

/// Whether a turn may call a language model or receive an answer.
fn may_concern_models(body: &[u8]) -> bool {
    turn::may_have(body, "answered") || turn::may_have(body, exchange::TOOL)
}

impl Finding {
    /// Reads a line; `None` if another version wrote it.
    fn read(line: &str) -> Option<(String, RecordHash, Self)> {
        let parts: Vec<&str> = line.splitn(9, ' ').collect();
        let [run, hash, turn, word, number, input, output, usd, words] = parts[..] else {
            return None;
        };
        let (number, until) = number.split_once('@')?;
        let known = Self {
            turn: turn.parse().ok()?,
            rest: Rest::read(word, number.parse().ok()?)?,
            until_ms: until.parse().ok(),
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
        let until = self.until_ms.map_or_else(|| "-".to_owned(), |at_ms| at_ms.to_string());
        let (hash, turn, number) = (head.hash, self.turn, self.rest.number());
        let word = self.rest.kept().unwrap_or_default();
        format!(
            "{run} {hash} {turn} {word} {number}@{until} {input_tokens} {output_tokens} {usd} {}\n",
            self.words
        )
    }
}

/// The words of a run that rests: of one that was left, first whether its process has died.
fn why_left(rest: Rest, has_died: bool, words: String) -> String {
    match (rest, has_died) {
        (Rest::Left, true) if words.is_empty() => "its process has died".to_owned(),
        (Rest::Left, true) => format!("its process has died; it waits for {words}"),
        (Rest::Left, false) if !words.is_empty() => format!("it waits for {words}"),
        (Rest::Queued, _) => String::new(),
        _ => words,
    }
}

/// Restores a run to see how it stands at a head, why, and until when.
fn find(store: &dyn Store, place: &Place) -> (Rest, String, Option<u64>) {
    let Ok(restored) = compiled::sight(store, place) else {
        return (Rest::Broken, String::new(), None);
    };
    let rest = Rest::of(&restored);
    let words = if matches!(rest, Rest::Ended(1..)) {
        failure(store, place, restored.state()).ok().flatten()
    } else {
        waited_for(&restored, rest)
    };
    let until_ms = until_ms(&restored, rest);
    (rest, line(&words.unwrap_or_default()).into_owned(), until_ms)
}

/// What a run waits for, in words.
fn waited_for(run: &Run, rest: Rest) -> Option<String> {
    let state = run.state();
    match rest {
        Rest::Asking(_) => run.open_questions().first().map(|open| {
            let shown = Question::read(&open.prompt).shown();
            shown.as_str().lines().next().unwrap_or_default().trim_end().to_owned()
        }),
        Rest::Waiting => waiting_for_facts(state).and_then(facts),
        Rest::Listening => {
            let inboxes: Vec<String> = state.requests.values().filter_map(Request::inbox_name).collect();
            Some(inboxes.join(", "))
        }
        Rest::Stuck => waits(state).first().map(Waiting::conditions),
        Rest::Left => state
            .requests
            .values()
            .find(|request| is_call(request))
            .map(asked_words),
        Rest::Ended(_) | Rest::Sleeping | Rest::Queued | Rest::Reading | Rest::Broken => None,
    }
}

/// Until when a run waits for that at most.
fn until_ms(run: &Run, rest: Rest) -> Option<u64> {
    let state = run.state();
    match (rest, run.need()) {
        (Rest::Asking(_), _) => {
            let question = run.open_questions().into_iter().next()?;
            deadline::of_question(state, question.request)
        }
        (Rest::Waiting, _) => deadline::of_wait(state, waiting_for_facts(state)?),
        (Rest::Sleeping, Need::Moment(at_ms)) => Some(at_ms),
        _ => None,
    }
}

fn is_fact(condition: &Condition) -> bool {
    !matches!(condition, Condition::Answer { .. })
}

/// The first wait for a fact or a message.
fn waiting_for_facts(state: &RunState) -> Option<&Wait> {
    let mut waits = state.actors.values().flat_map(|actor| actor.waits.values());
    waits.find(|wait| wait.conditions.iter().any(is_fact))
}

/// Whether a request is the call of a tool that only the process which executes the run can make.
fn is_call(request: &Request) -> bool {
    matches!(request.question, Asked::Tool { .. }) && request.answer.is_none() && !is_inbox(request)
}

/// Why a run failed: the failure with which its main program ended, or else the first that no actor
/// took.
fn failure(store: &dyn Store, place: &Place, state: &RunState) -> Result<Option<String>, CommandError> {
    let untaken = state.untaken.first.first().map(|untaken| untaken.turn);
    let at = match end_of_main(store, place, state)? {
        Some(at) => at,
        None => untaken.unwrap_or(place.at()),
    };
    let record = owned_run::record_at(store, place, at)?;
    Ok(match turn::body(&record)? {
        Body::Turn(turn) => told_failure(&turn).map(turn::describe),
        Body::Genesis(_) => None,
    })
}

/// The failure with which a turn ended, or which it reported.
#[expect(clippy::wildcard_enum_match_arm, reason = "two kinds of actions tell of failures")]
fn told_failure(turn: &TurnRecord) -> Option<&Failure> {
    if let Outcome::Failed { failure } = &turn.outcome {
        return Some(failure);
    }
    turn.actions.iter().find_map(|action| match action {
        Action::Exit(exit) => exit.failure.as_ref(),
        Action::ReportFailure(report) => Some(&report.failed.failure),
        _ => None,
    })
}

/// How long ago a moment was, in words; empty if that is less than a minute. Both are by the clock
/// of the journal, in milliseconds since 1970.
pub(crate) fn age(since_ms: u64, now_ms: u64) -> String {
    duration(now_ms.saturating_sub(since_ms))
}

/// When a moment is or was, in words: `in 5 min`, `40 s ago`, or `now` within a second. Both are by
/// the clock of the journal, in milliseconds since 1970.
pub(crate) fn when(moment_ms: u64, now_ms: u64) -> String {
    let distance_ms = moment_ms.abs_diff(now_ms);
    let length = match distance_ms {
        0..1_000 => return "now".to_owned(),
        1_000..60_000 => format!("{} s", distance_ms / 1_000),
        _ => duration(distance_ms),
    };
    if moment_ms > now_ms {
        format!("in {length}")
    } else {
        format!("{length} ago")
    }
}

/// Until when a run waits, in words.
pub(crate) fn until(moment_ms: u64, now_ms: u64) -> String {
    let whole_seconds = Moment(moment_ms / 1000 * 1000);
    format!("until {whole_seconds}, {}", when(moment_ms, now_ms))
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

/// The turns before a place among which its last failure is looked for.
pub(crate) const LOOKED_BACK: usize = 256;

/// The turn with whose failure the main program ended; before its end, its last turn that failed,
/// if that is near.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn end_of_main(
    store: &dyn Store,
    place: &Place,
    state: &RunState,
) -> Result<Option<Sequence>, CommandError> {
    // Any number of turns of other actors may follow the end.
    let looked_back = if state.exit.is_some() { usize::MAX } else { LOOKED_BACK };
    for record in Records::newest_first(store, place).take(looked_back) {
        let record = record?;
        let Body::Turn(turn) = turn::body(&record)? else {
            break;
        };
        if turn.actor == MAIN && turn::is_failed_turn(&turn) {
            return Ok(Some(record.header().sequence));
        }
        if ends(&turn) {
            break;
        }
    }
    Ok(None)
}

/// Whether the main program ended in a turn.
fn ends(turn: &TurnRecord) -> bool {
    turn.actor == MAIN && turn.actions.iter().any(|action| matches!(action, Action::Exit(_)))
}
