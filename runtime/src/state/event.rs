//! Events, the batches that carry them, and the queue.
//!
//! Owns the order of delivery. INVARIANT: all events from one turn to one actor form one batch, in
//! program order; actors handle batches in the order of the sending turns, and those of one turn in
//! the order in which it first addressed the recipients.
//! It does not know how a recipient handles an event; `../turn/activation.rs` does.
//! Read next: `actor.rs`.

use std::collections::BTreeMap;

use duet_journal::{BlobHash, Sequence};
use im::Vector;
use preserves::IOValue;
use smallvec::SmallVec;

use crate::dataspace::{Captures, Notice, NoticeKind};
use crate::driver::Attached;
use crate::model::changed_text::ChangedText;
use crate::model::failure::{ActorFailure, Failure};
use crate::model::grant::Grant;
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, ObserverId, RequestId, WaitId};
use crate::model::manifest::Manifest;
use crate::model::peer::PeerEvent;
use crate::model::value::Fact;
use crate::{codec_enum, codec_struct};

/// Something that an actor reacts to.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The actor must run its program.
    Boot {},
    /// A match appeared.
    Added {
        /// The observer.
        observer: ObserverId,
        /// The captured parts.
        captures: Captures,
        /// The handle of the match until its removal.
        handle: Handle,
    },
    /// A match disappeared.
    Removed {
        /// The observer.
        observer: ObserverId,
        /// The captured parts.
        captures: Captures,
        /// The handle of the match.
        handle: Handle,
    },
    /// A message matched.
    Message {
        /// The observer whose pattern matched.
        observer: ObserverId,
        /// The captured parts.
        captures: Captures,
    },
    /// An observer that has ended receives no more events.
    Closed {
        /// The observer.
        observer: ObserverId,
    },
    /// A message for a named facet.
    Direct {
        /// The facet.
        facet: FacetId,
        /// The message.
        payload: Fact,
    },
    /// A fiber that yielded continues.
    Resume {
        /// The fiber.
        fiber: FiberId,
    },
    /// The request of a new wait has an answer already.
    Settled {
        /// The wait.
        wait: WaitId,
        /// The request.
        request: RequestId,
    },
    /// The world answered a request.
    Answered {
        /// The request.
        request: RequestId,
        /// The answer: a value, or a condition record.
        outcome: Result<IOValue, IOValue>,
    },
    /// The answer of the same batch was prepared before the request came.
    Prepared {
        /// The request.
        request: RequestId,
        /// Where the person prepared it.
        by: String,
    },
    /// Another actor asks whether this one has handled everything that it sent.
    Sync {
        /// The other actor.
        from: ActorId,
        /// Its fiber that waits for the reply.
        fiber: FiberId,
    },
    /// A monitored actor ended.
    Ended {
        /// The actor.
        actor: ActorId,
        /// Its exit code.
        code: u64,
        /// The failure, if it failed.
        failed: Option<ActorFailure>,
    },
    /// A turn of a guarded fiber failed and was undone.
    Failed {
        /// The fiber, which has ended.
        fiber: FiberId,
        /// Why it failed.
        failure: Failure,
    },
    /// A tool call reported what it is about to replace.
    Kept {
        /// The request.
        request: RequestId,
        /// The tool's description of the replacement.
        note: IOValue,
        /// The contents that the note names.
        contents: Vec<BlobHash>,
    },
    /// A timer reported when it will run out.
    Due {
        /// The request.
        request: RequestId,
        /// The moment in milliseconds since 1970.
        at_ms: u64,
    },
    /// Policy must judge a postponed request again.
    Reconsider {
        /// The request.
        request: RequestId,
    },
    /// A tool returned for a request that nobody waits for.
    Orphaned {
        /// The key of the call's effect.
        key: String,
        /// The tool's answer: a value, or a condition record.
        outcome: Result<IOValue, IOValue>,
    },
    /// The facet that the actor is linked to stopped.
    Terminate {},
    /// The person asks for the evaluation of a text.
    Evaluate {
        /// The text.
        text: String,
        /// The source texts that it may need and the run does not have.
        sources: Vec<Attached>,
    },
    /// The person cancelled the evaluations.
    Abandon {},
    /// The actor must take over facts of another branch.
    Merged {
        /// The facts to assert.
        asserted: Vec<IOValue>,
        /// The facts to retract.
        retracted: Vec<IOValue>,
    },
    /// The person tells the dataspace something, through the main program.
    Told {
        /// The value.
        value: Fact,
        /// Whether the value becomes a fact; otherwise it is a message.
        stays: bool,
    },
    /// A peer wants to come in.
    Joined {
        /// The name under which it comes.
        name: String,
        /// Its rights.
        manifest: Manifest,
        /// The caveats of its capability for the dataspace, the newest last.
        caveats: Vec<IOValue>,
    },
    /// The person grants the run more than it has.
    Granted {
        /// The grant.
        grant: Grant,
    },
    /// The person puts a changed text in the place of the one that the run executes.
    Patched {
        /// The text.
        text: ChangedText,
    },
    /// The person wants the actor to begin anew.
    Restart {},
    /// A monitored actor has begun anew.
    Restarted {
        /// The actor.
        actor: ActorId,
    },
    /// An object of the peer that the actor stands for receives a value.
    Given {
        /// The facet that stands for the object.
        facet: FacetId,
        /// The handle of the assertion.
        handle: Handle,
        /// The value.
        value: Fact,
    },
    /// A given value is taken back.
    Taken {
        /// The handle of the assertion.
        handle: Handle,
    },
    /// The peer that the actor stands for says something.
    Said {
        /// The event.
        what: PeerEvent,
    },
}
codec_enum!(Event "an event" {
    Boot "boot" {}
    Added "added" { observer, captures, handle }
    Removed "removed" { observer, captures, handle }
    Message "message" { observer, captures }
    Closed "closed" { observer }
    Direct "direct" { facet, payload }
    Resume "resume" { fiber }
    Settled "settled" { wait, request }
    Answered "answered" { request, outcome }
    Prepared "prepared" { request, by }
    Sync "sync" { from, fiber }
    Ended "ended" { actor, code, failed }
    Failed "failed" { fiber, failure }
    Kept "kept" { request, note, contents }
    Due "due" { request, at_ms }
    Reconsider "reconsider" { request }
    Orphaned "orphaned" { key, outcome }
    Terminate "terminate" {}
    Evaluate "evaluate" { text, sources }
    Abandon "abandon" {}
    Merged "merged" { asserted, retracted }
    Told "told" { value, stays }
    Joined "joined" { name, manifest, caveats }
    Granted "granted" { grant }
    Patched "patched" { text }
    Restart "restart" {}
    Restarted "restarted" { actor }
    Given "given" { facet, handle, value }
    Taken "taken" { handle }
    Said "said" { what }
});

impl Event {
    /// Says whether the event tells an observer of a fact or a message.
    pub(crate) fn is_of_dataspace(&self) -> bool {
        matches!(self.subject(), Subject::Match(_) | Subject::Observer(_))
    }

    /// Returns the observer that receives the event, if it is about a match.
    pub fn observer(&self) -> Option<ObserverId> {
        if let Subject::Match(observer) = self.subject() {
            Some(observer)
        } else {
            None
        }
    }

    /// Returns the object of the run that the event is about.
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Self::Added { observer, .. } | Self::Removed { observer, .. } | Self::Message { observer, .. } => {
                Subject::Match(*observer)
            }
            Self::Closed { observer } => Subject::Observer(*observer),
            Self::Direct { facet, .. } | Self::Given { facet, .. } => Subject::Facet(*facet),
            Self::Resume { fiber } | Self::Sync { fiber, .. } | Self::Failed { fiber, .. } => Subject::Fiber(*fiber),
            Self::Settled { wait, .. } => Subject::Wait(*wait),
            Self::Answered { request, .. }
            | Self::Prepared { request, .. }
            | Self::Kept { request, .. }
            | Self::Due { request, .. }
            | Self::Reconsider { request } => Subject::Request(*request),
            Self::Ended { actor, .. } | Self::Restarted { actor } => Subject::Actor(*actor),
            Self::Boot {}
            | Self::Orphaned { .. }
            | Self::Terminate {}
            | Self::Evaluate { .. }
            | Self::Abandon {}
            | Self::Merged { .. }
            | Self::Told { .. }
            | Self::Joined { .. }
            | Self::Granted { .. }
            | Self::Patched { .. }
            | Self::Restart {}
            | Self::Taken { .. }
            | Self::Said { .. } => Subject::Nothing,
        }
    }
}

/// The object of a run that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A match of an observer, or a message to it.
    Match(ObserverId),
    /// An observer itself.
    Observer(ObserverId),
    /// A facet.
    Facet(FacetId),
    /// A fiber, perhaps of another actor.
    Fiber(FiberId),
    /// A wait.
    Wait(WaitId),
    /// A request.
    Request(RequestId),
    /// Another actor.
    Actor(ActorId),
    /// No object that has a number.
    Nothing,
}

impl From<Notice> for Event {
    fn from(notice: Notice) -> Self {
        let (observer, captures) = (notice.to.observer, notice.captures);
        match notice.kind {
            NoticeKind::Added(handle) => Self::Added {
                observer,
                captures,
                handle,
            },
            NoticeKind::Removed(handle) => Self::Removed {
                observer,
                captures,
                handle,
            },
            NoticeKind::Message => Self::Message { observer, captures },
        }
    }
}

/// The cause of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The run begins.
    Start {},
    /// A turn sent the events.
    Turn {
        /// The position of the turn's record.
        sequence: Sequence,
    },
    /// The world sent an input.
    Input {},
}
codec_enum!(Cause "a cause" { Start "start" {} Turn "turn" { sequence } Input "input" {} });

/// Events for one actor with one cause, handled in one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The recipient.
    pub to: ActorId,
    /// The actor whose turn sent them; none if the world did.
    pub from: Option<ActorId>,
    /// The cause.
    pub cause: Cause,
    /// The events, in order.
    pub events: Vec<Event>,
}
codec_struct!(Batch "batch" { to, from, cause, events });

/// The batches that wait for their recipients, first in, first out.
pub type Queue = Vector<Batch>;

/// The events that a turn sends, until it commits.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    batches: SmallVec<[(ActorId, Vec<Event>); 2]>,
    /// The position of each recipient's batch, if there are more than [`FEW_BATCHES`].
    position: BTreeMap<ActorId, usize>,
    /// Procedures and continuations that the state no longer refers to.
    pub released: Vec<Callable>,
    /// Requests whose answers nobody waits for any more.
    pub withdrawn: Vec<RequestId>,
    /// The notices since [`take_notified`](Self::take_notified).
    notified: u64,
}

/// A linear search finds a recipient among at most this many batches.
const FEW_BATCHES: usize = 8;

impl Outbox {
    /// Appends an event to the recipient's batch.
    pub fn push(&mut self, to: ActorId, event: Event) {
        let position = self.position(to).unwrap_or_else(|| self.open(to));
        self.batches[position].1.push(event);
    }

    /// Appends notices, each to its observer's actor.
    pub(crate) fn notify(&mut self, notices: impl IntoIterator<Item = Notice>) {
        for notice in notices {
            self.push(notice.to.actor, notice.into());
            self.notified += 1;
        }
    }

    /// Returns the number of notices since the last call.
    pub(crate) fn take_notified(&mut self) -> u64 {
        std::mem::take(&mut self.notified)
    }

    /// Returns the number of events for `actor`.
    pub fn count(&self, actor: ActorId) -> usize {
        self.position(actor)
            .map_or(0, |position| self.batches[position].1.len())
    }

    /// Removes the events for `observer` of `actor` after the first `kept` events.
    pub fn forget(&mut self, actor: ActorId, observer: ObserverId, kept: usize) {
        if let Some(position) = self.position(actor) {
            let events = &mut self.batches[position].1;
            let later = events.split_off(kept.min(events.len()));
            events.extend(later.into_iter().filter(|event| event.observer() != Some(observer)));
        }
    }

    /// Returns the position of the recipient's batch.
    fn position(&self, to: ActorId) -> Option<usize> {
        if self.batches.len() <= FEW_BATCHES {
            self.batches.iter().rposition(|(other, _)| *other == to)
        } else {
            self.position.get(&to).copied()
        }
    }

    /// Adds an empty batch for the recipient.
    fn open(&mut self, to: ActorId) -> usize {
        let position = self.batches.len();
        debug_assert!(self.position(to).is_none(), "an actor has one batch of a turn");
        // Most batches have one event.
        self.batches.push((to, Vec::with_capacity(1)));
        if position == FEW_BATCHES {
            self.position = self.batches.iter().map(|(actor, _)| *actor).zip(0..).collect();
        } else if position > FEW_BATCHES {
            self.position.insert(to, position);
        }
        position
    }

    /// Appends the batches to the queue, with the turn of an actor at `sequence` as their cause.
    pub fn post(&mut self, from: ActorId, sequence: Sequence, queue: &mut Queue) {
        for (to, events) in self.batches.drain(..) {
            if !events.is_empty() {
                queue.push_back(Batch {
                    to,
                    from: Some(from),
                    cause: Cause::Turn { sequence },
                    events,
                });
            }
        }
    }

    /// Clears the outbox and frees the room beyond that of an empty one.
    pub(crate) fn clear(&mut self) {
        let Self {
            batches,
            position,
            released,
            withdrawn,
            notified,
        } = self;
        *notified = 0;
        batches.clear();
        batches.shrink_to_fit();
        if !position.is_empty() {
            position.clear();
        }
        (*released, *withdrawn) = (Vec::new(), Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::codec::Codec;

    #[test]
    fn a_turn_sends_one_batch_per_recipient_in_the_order_of_first_address() {
        let mut outbox = Outbox::default();
        check_order(&mut outbox);
        // A cleared outbox serves the next turn.
        outbox.clear();
        assert_eq!(outbox.count(ActorId(40)), 0);
        check_order(&mut outbox);
    }

    #[track_caller]
    fn check_order(outbox: &mut Outbox) {
        let direct = |number: u64| Event::Direct {
            facet: FacetId(0),
            payload: Fact::new(number.encode()).expect("a small value"),
        };
        for (to, number) in [(5, 0), (2, 1), (5, 2), (9, 3), (2, 4)] {
            outbox.push(ActorId(to), direct(number));
        }
        // More recipients than a linear search handles.
        (20..60).for_each(|to| outbox.push(ActorId(to), direct(to)));
        outbox.push(ActorId(5), direct(60));
        outbox.push(ActorId(40), direct(61));
        assert_eq!([5, 2, 40, 41, 60].map(|to| outbox.count(ActorId(to))), [3, 2, 2, 1, 0]);
        let mut queue = Queue::new();
        outbox.post(ActorId(7), Sequence::FIRST, &mut queue);
        let cause = Cause::Turn {
            sequence: Sequence::FIRST,
        };
        let batch = |to, numbers: &[u64]| Batch {
            to: ActorId(to),
            from: Some(ActorId(7)),
            cause: cause.clone(),
            events: numbers.iter().copied().map(direct).collect(),
        };
        let mut expected = vec![batch(5, &[0, 2, 60]), batch(2, &[1, 4]), batch(9, &[3])];
        expected.extend((20..60).map(|to| match to {
            40 => batch(to, &[to, 61]),
            _ => batch(to, &[to]),
        }));
        assert_eq!(queue, Queue::from(expected));
    }
}
