//! Notices: what observers are told of a change.
//!
//! INVARIANT: no two observers have the same id, so the id alone decides the order of notices.
//! It does not know which notices a change causes; `index.rs` does.
//! Read next: `pattern.rs`.

use duet_journal::packed::PackedValues;
use smallvec::SmallVec;

use crate::codec_struct;
use crate::model::identity::{ActorId, Handle, ObserverId};

/// Where the notices of an observer go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObserverRef {
    /// The observer. No two have the same id, whatever their actors, so it alone decides the order.
    pub observer: ObserverId,
    /// Its actor.
    pub actor: ActorId,
}
codec_struct!(ObserverRef "observer" { actor, observer });

/// What an observer is told of a match: the captured parts.
pub type Captures = PackedValues;

/// One observer's share of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Whom to tell.
    pub to: ObserverRef,
    /// What has happened.
    pub kind: NoticeKind,
    /// The captured parts.
    pub captures: Captures,
}

/// What observers are told of one change; mostly one of them or none.
pub type Notices = SmallVec<[Notice; 2]>;

/// What has happened to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// It has appeared and is known by the handle from now on.
    Added(Handle),
    /// It has disappeared.
    Removed(Handle),
    /// It was a message.
    Message,
}
