//! A turn of a trace, as it is announced and as it is noted.
//!
//! Read next: `tracing.rs`.

use std::ops::Range;

use duet_journal::Sequence;
use duet_kernel::machine::OriginId;

use crate::model::identity::ActorId;

/// The actions that a call of the host has added to its turn.
#[derive(Clone, Debug)]
pub(super) struct TracedCall {
    pub(super) actions: Range<usize>,
    /// The number of the call in the trace.
    pub(super) call: usize,
}

/// The computation that an event set off.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedTask {
    /// The first origin that belongs to it.
    pub(super) first: OriginId,
    /// The position of the event.
    pub(super) event: u64,
}

/// The action from which the values in an event came.
#[derive(Clone, Debug)]
pub struct EventSource {
    /// The position of the event in its turn.
    pub event: u64,
    /// The turn of the action.
    pub turn: Sequence,
    /// The position of the action in that turn.
    pub action: usize,
    /// The value that the action passed on, empty if it is the one that the event brings; `None` if
    /// the event is the answer to a request, whose value came from elsewhere.
    pub value: Option<String>,
}

/// A turn that is to be traced.
#[derive(Clone, Debug)]
pub struct TurnToTrace {
    /// Its position.
    pub sequence: Sequence,
    /// Who takes it.
    pub actor: ActorId,
    /// Whether the actor begins anew in it, with another heap.
    pub is_restart: bool,
    /// Where the values in its events came from, as far as that is known.
    pub sources: Vec<EventSource>,
}

/// A turn of a trace.
#[derive(Clone, Debug)]
pub(super) struct TracedTurn {
    pub(super) turn: TurnToTrace,
    /// The first origin that belongs to it.
    pub(super) first: OriginId,
    /// The number of the first piece of output that belongs to it.
    pub(super) written: usize,
    pub(super) calls: Vec<TracedCall>,
    pub(super) tasks: Vec<TracedTask>,
}
