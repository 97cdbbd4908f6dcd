//! The past that a branch left when it went back, and the calls that it repeats.
//!
//! A call is repeated if the same actor makes the same call of the same tool for the same time
//! since the branch parted from its past. The order in which parallel calls returned does not
//! matter, nor when timers ran out, nor what clocks, drawn numbers and tools said: a call that has
//! the same arguments in spite of that is the same, and its effect is there. A person, a peer or a
//! text that said something else leads elsewhere.
//! INVARIANT: a past that the branch has contradicted is dropped for good, and each call of a past
//! is repeated at most once.
//! It does not find results; `inflight.rs` does. Read next: `inflight.rs`.

use std::collections::{BTreeMap, VecDeque};

use duet_journal::{Head, Sequence, Tip};
use preserves::IOValue;

use super::heads::kept_up_to;
use super::inflight::{Outcome, portion, turn};
use super::source::{PORTION, Source};
use crate::driver::EffectKind;
use crate::model::codec::Codec;
use crate::model::identity::{ActorId, RequestId};
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::state::event::{Cause, Event};

/// A call, but for its number: who calls which tool with what.
type Call = (ActorId, String, Vec<u8>);

/// A call on a past.
#[derive(Clone, Copy, Debug)]
pub(super) struct PastCall {
    pub(super) turn: Sequence,
    pub(super) request: RequestId,
}

/// Words from outside that a turn received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    /// The answer to a question.
    Answer(ActorId, IOValue, Outcome),
    /// The answer to a request of which only the number is known.
    Unknown(RequestId, Outcome),
    Other(ActorId, IOValue),
}

/// Reads turns for the calls that they make and for what they receive.
#[derive(Clone, Debug, Default)]
struct Reader {
    /// The requests so far: the question of a person, or nothing for what answers by itself.
    asked: BTreeMap<RequestId, Option<IOValue>>,
}

/// The inputs and the calls of a turn.
struct Happened {
    given: Vec<Given>,
    calls: Vec<(Call, RequestId)>,
}

impl Reader {
    fn read(&mut self, turn: &TurnRecord) -> Happened {
        let is_from_outside = turn.cause == (Cause::Input {});
        let events = turn.events.iter().filter(|_| is_from_outside);
        let given = events.filter_map(|event| self.given(turn.actor, event)).collect();
        let mut calls = Vec::new();
        for (request, kind) in turn.actions.iter().flat_map(|action| action.effects()) {
            let question = match kind {
                EffectKind::Tool { name, payload } => {
                    calls.push(((turn.actor, name, payload.bytes().to_vec()), request));
                    None
                }
                EffectKind::Ask { prompt, .. } => Some(prompt),
                EffectKind::Timer { .. }
                | EffectKind::Alarm { .. }
                | EffectKind::Read { .. }
                | EffectKind::Proceed { .. }
                | EffectKind::Write { .. }
                | EffectKind::Log { .. }
                | EffectKind::Failure { .. }
                | EffectKind::Withdraw
                | EffectKind::Peer { .. }
                | EffectKind::Progress { .. } => None,
            };
            self.asked.insert(request, question);
        }
        Happened { given, calls }
    }

    /// Returns the words of an event that came from outside; nothing for events that a program
    /// meets by itself, such as the time, and for a grant, which changes no program.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not named here was said by somebody"
    )]
    fn given(&self, actor: ActorId, event: &Event) -> Option<Given> {
        match event {
            Event::Answered { request, outcome } => match self.asked.get(request) {
                Some(Some(prompt)) => Some(Given::Answer(actor, prompt.clone(), outcome.clone())),
                Some(None) => None,
                None => Some(Given::Unknown(*request, outcome.clone())),
            },
            Event::Prepared { .. }
            | Event::Settled { .. }
            | Event::Kept { .. }
            | Event::Due { .. }
            | Event::Reconsider { .. }
            | Event::Orphaned { .. }
            | Event::Granted { .. } => None,
            Event::Evaluate { text, .. } => Some(Given::Other(actor, IOValue::new(text.clone()))),
            other => Some(Given::Other(actor, other.encode())),
        }
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
    /// Reads the past that a branch keeps beyond the records that it shares; nothing if those are
    /// not of the branch `source`.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`].
    pub(super) fn of(source: &Source<'_>, head: Head, shared: u64) -> Result<Option<Past>, RunError> {
        let kept = kept_up_to(head.branch.as_str(), source.branch);
        let mut past = Past {
            next: shared,
            own: Reader::default(),
            calls: BTreeMap::new(),
            given: BTreeMap::new(),
            repeated: BTreeMap::new(),
            head,
        };
        let mut reader = Reader::default();
        let (mut start, end) = (shared, past.head.sequence.number() + 1);
        while start < end {
            let stop = end.min(start + PORTION);
            for record in portion(source, &past.head.branch, start..stop)? {
                let record = record?;
                let at = record.header().sequence;
                if record.header().branch != *source.branch && kept.is_none_or(|last| at > last) {
                    return Ok((at.number() > shared).then_some(past));
                }
                if let Some(turn) = turn(&record)? {
                    past.add(at, reader.read(&turn));
                }
            }
            start = stop;
        }
        Ok(Some(past))
    }

    fn add(&mut self, turn: Sequence, happened: Happened) {
        for given in happened.given {
            *self.given.entry(given).or_default() += 1;
        }
        for (call, request) in happened.calls {
            self.calls
                .entry(call)
                .or_default()
                .push_back(PastCall { turn, request });
        }
    }

    /// Takes the turns of the branch up to one; says whether they repeat this past.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`].
    pub(super) fn follow(&mut self, source: &Source<'_>, last: Sequence) -> Result<bool, RunError> {
        while self.next <= last.number() {
            let stop = (last.number() + 1).min(self.next + PORTION);
            for record in portion(source, source.branch, self.next..stop)? {
                if let Some(turn) = turn(&record?)? {
                    let happened = self.own.read(&turn);
                    if !self.repeat(happened) {
                        return Ok(false);
                    }
                }
            }
            self.next = stop;
        }
        Ok(true)
    }

    fn repeat(&mut self, happened: Happened) -> bool {
        let is_given = happened.given.iter().all(|given| match self.given.get_mut(given) {
            Some(left @ 1..) => {
                *left -= 1;
                true
            }
            Some(0) | None => false,
        });
        for (call, request) in happened.calls {
            let known = self.calls.get_mut(&call).and_then(VecDeque::pop_front);
            self.repeated.extend(known.map(|known| (request, known)));
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
