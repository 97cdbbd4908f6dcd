//! The past that a branch left when it went back, and the calls that it repeats.
//!
//! A call is repeated if the branch makes the same call of the same tool, for the same time since
//! it parted from its past; among equal ones an actor repeats its own first. The order in which
//! parallel calls returned does not matter, nor which numbers actors have because of that, nor when
//! timers ran out, nor what clocks, drawn numbers and tools said: a call that has the same
//! arguments in spite of that is the same, and its effect is there. A person, a peer or a text that
//! said something else leads elsewhere.
//! INVARIANT: a past that the branch has contradicted is dropped for good, and each call of a past
//! is repeated at most once.
//! It does not find results; `inflight.rs` does. Read next: `inflight.rs`.

use std::collections::{BTreeMap, VecDeque};

use duet_journal::{Head, Sequence, Tip};
use preserves::IOValue;

use super::heads::kept_up_to;
use super::inflight::{Outcome, portion, request_before, turn};
use super::source::{PORTION, Source};
use crate::driver::EffectKind;
use crate::model::codec::Codec;
use crate::model::identity::{ActorId, RequestId};
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::state::event::{Cause, Event};

/// The tool and the packed arguments of a call.
type Call = (String, Vec<u8>);

/// A call on a past.
#[derive(Clone, Copy, Debug)]
pub(super) struct PastCall {
    pub(super) turn: Sequence,
    pub(super) request: RequestId,
    actor: ActorId,
}

/// Words from outside that a turn received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    /// The answer to a question.
    Answer(IOValue, Outcome),
    Other(IOValue),
}

/// The inputs and the calls of a turn.
struct Happened {
    given: Vec<Given>,
    calls: Vec<(Call, RequestId)>,
}

/// Reads turns for their calls and for the words that they receive.
#[derive(Clone, Debug)]
struct Reader {
    /// The first record that is not shared; requests before it have the same numbers on both sides.
    parted: u64,
    /// The requests so far: the question to a person, or nothing for others.
    asked: BTreeMap<RequestId, Option<IOValue>>,
}

impl Reader {
    fn new(parted: u64) -> Self {
        Self {
            parted,
            asked: BTreeMap::new(),
        }
    }

    fn read(&mut self, source: &Source<'_>, turn: &TurnRecord) -> Result<Happened, RunError> {
        let mut given = Vec::new();
        if turn.cause == (Cause::Input {}) {
            for event in &turn.events {
                given.extend(self.given(source, event)?);
            }
        }
        let mut calls = Vec::new();
        for (request, kind) in turn.actions.iter().flat_map(|action| action.effects()) {
            if kind.is_request() {
                self.asked.insert(request, question(&kind));
            }
            if let EffectKind::Tool { name, payload } = kind {
                calls.push(((name, payload.bytes().to_vec()), request));
            }
        }
        Ok(Happened { given, calls })
    }

    /// Returns the words of an event that came from outside; nothing for events that a program
    /// meets by itself, such as the time, for a grant, which changes no program, and for a changed
    /// text and a restart, after which the calls tell by themselves what has changed.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every other event comes from a person, a peer or a text"
    )]
    fn given(&mut self, source: &Source<'_>, event: &Event) -> Result<Option<Given>, RunError> {
        Ok(match event {
            Event::Answered { request, outcome } => {
                let question = self.question(source, *request)?;
                question.map(|question| Given::Answer(question, outcome.clone()))
            }
            Event::Prepared { .. }
            | Event::Settled { .. }
            | Event::Kept { .. }
            | Event::Due { .. }
            | Event::Reconsider { .. }
            | Event::Orphaned { .. }
            | Event::Granted { .. }
            | Event::Patched { .. }
            | Event::Restart {} => None,
            Event::Evaluate { text, .. } => Some(Given::Other(IOValue::new(text.clone()))),
            other => Some(Given::Other(other.encode())),
        })
    }

    /// The question to a person that a request is, if it is one.
    fn question(&mut self, source: &Source<'_>, request: RequestId) -> Result<Option<IOValue>, RunError> {
        if let Some(known) = self.asked.get(&request) {
            return Ok(known.clone());
        }
        let made = request_before(source, request, self.parted)?;
        let question = made.and_then(|made| question(&made.kind));
        self.asked.insert(request, question.clone());
        Ok(question)
    }
}

fn question(kind: &EffectKind) -> Option<IOValue> {
    if let EffectKind::Ask { prompt, .. } = kind {
        Some(prompt.clone())
    } else {
        None
    }
}

/// A past of a branch, as far as the branch has repeated it.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) head: Head,
    /// The first record of the branch that is not shared, or not read yet.
    next: u64,
    own: Reader,
    /// The calls that were not repeated yet, each in order.
    calls: BTreeMap<Call, VecDeque<PastCall>>,
    /// The words from outside that came there and not yet here, each with its number.
    given: BTreeMap<Given, usize>,
    /// The calls that were repeated, by their requests here.
    repeated: BTreeMap<RequestId, PastCall>,
}

impl Past {
    /// Reads the past that a branch keeps beyond the records that it shares; nothing if it has no
    /// call that the branch `source` has made.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`].
    pub(super) fn of(source: &Source<'_>, head: Head, shared: u64) -> Result<Option<Past>, RunError> {
        let mut past = Past {
            next: shared,
            own: Reader::new(shared),
            calls: BTreeMap::new(),
            given: BTreeMap::new(),
            repeated: BTreeMap::new(),
            head,
        };
        past.read(source, shared)?;
        Ok((!past.calls.is_empty()).then_some(past))
    }

    /// Takes the turns from a position on that the branch `source` has made.
    fn read(&mut self, source: &Source<'_>, shared: u64) -> Result<(), RunError> {
        let kept = kept_up_to(self.head.branch.as_str(), source.branch);
        let mut reader = Reader::new(shared);
        let (mut start, end) = (shared, self.head.sequence.number() + 1);
        while start < end {
            let stop = end.min(start + PORTION);
            for record in portion(source, &self.head.branch, start..stop)? {
                let record = record?;
                let at = record.header().sequence;
                if record.header().branch != *source.branch && kept.is_none_or(|last| at > last) {
                    return Ok(());
                }
                if let Some(turn) = turn(&record)? {
                    let happened = reader.read(source, &turn)?;
                    self.add(at, turn.actor, happened);
                }
            }
            start = stop;
        }
        Ok(())
    }

    fn add(&mut self, turn: Sequence, actor: ActorId, happened: Happened) {
        for given in happened.given {
            *self.given.entry(given).or_default() += 1;
        }
        for (call, request) in happened.calls {
            let call = self.calls.entry(call).or_default();
            call.push_back(PastCall { turn, request, actor });
        }
    }

    /// Takes the turns of the branch up to one; says whether they repeat this past.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`].
    pub(super) fn follow(&mut self, source: &Source<'_>, last: Sequence) -> Result<bool, RunError> {
        // Nothing is left to repeat where all calls were.
        while self.next <= last.number() && !self.calls.is_empty() {
            let stop = (last.number() + 1).min(self.next + PORTION);
            for record in portion(source, source.branch, self.next..stop)? {
                if let Some(turn) = turn(&record?)? {
                    let happened = self.own.read(source, &turn)?;
                    if !self.repeat(turn.actor, happened) {
                        return Ok(false);
                    }
                }
            }
            self.next = stop;
        }
        Ok(true)
    }

    fn repeat(&mut self, actor: ActorId, happened: Happened) -> bool {
        let is_given = happened.given.iter().all(|given| match self.given.get_mut(given) {
            Some(left @ 1..) => {
                *left -= 1;
                true
            }
            Some(0) | None => false,
        });
        for (call, request) in happened.calls {
            let Some(left) = self.calls.get_mut(&call) else {
                continue;
            };
            let own = left.iter().position(|made| made.actor == actor).unwrap_or(0);
            self.repeated.extend(left.remove(own).map(|made| (request, made)));
            if left.is_empty() {
                self.calls.remove(&call);
            }
        }
        is_given
    }

    /// Returns the call that a request of the branch repeats.
    pub(super) fn repeated(&self, request: RequestId) -> Option<PastCall> {
        self.repeated.get(&request).copied()
    }
}

/// The pasts of a branch at a record of it: those that other branches keep for it, and the branches
/// that lead on from the record with turns that this branch wrote.
///
/// # Errors
/// [`RunError::Store`], [`RunError::Decode`].
pub(super) fn pasts(source: &Source<'_>, tip: Tip) -> Result<Vec<Past>, RunError> {
    let end = tip.sequence.number() + 1;
    let mut pasts = Vec::new();
    for head in source.store.heads(source.run)? {
        if head.branch == *source.branch {
            continue;
        }
        let there = source.store.closed_at(source.run, &head.branch, tip.sequence)?;
        if there.is_some_and(|record| record.hash() == tip.hash) {
            if head.sequence > tip.sequence {
                pasts.extend(Past::of(source, head, end)?);
            }
        } else if kept_up_to(head.branch.as_str(), source.branch).is_some() {
            let other = Source {
                branch: &head.branch,
                ..*source
            };
            let shared = source.count_shared(&other, end.min(head.sequence.number() + 1))?;
            // Without the first record it is another program.
            if shared > 0 {
                pasts.extend(Past::of(source, head, shared)?);
            }
        }
    }
    Ok(pasts)
}
