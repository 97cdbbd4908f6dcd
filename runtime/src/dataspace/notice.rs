//! Notices: messages to observers about a change.
//!
//! INVARIANT: no two observers have the same id, so the id alone decides the order of notices.
//! It does not know which notices a change causes; `index.rs` does.
//! Read next: `pattern.rs`.

use duet_journal::packed::PackedValues;
use smallvec::SmallVec;

use crate::codec_struct;
use crate::model::identity::{ActorId, Handle, ObserverId};

/// The recipient of an observer's notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObserverRef {
    /// The observer. No two have the same id, whatever their actors, so the id alone decides the
    /// order.
    pub observer: ObserverId,
    /// Its actor.
    pub actor: ActorId,
}
codec_struct!(ObserverRef "observer" { actor, observer });

/// The captured parts of a match.
pub type Captures = PackedValues;

/// A message to one observer about a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The recipient.
    pub to: ObserverRef,
    /// The kind of change.
    pub kind: NoticeKind,
    /// The captured parts.
    pub captures: Captures,
}

/// The notices of one change; mostly one or none.
pub type Notices = SmallVec<[Notice; 2]>;

/// The kind of change of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The match appeared; its handle identifies it from now on.
    Added(Handle),
    /// The match disappeared.
    Removed(Handle),
    /// The match is a message.
    Message,
}
