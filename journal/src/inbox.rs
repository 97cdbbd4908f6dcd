//! What a run needs next, and what others want it to hear.
//!
//! Owns the values beside the records: a need is part of the commit that leads to it, a letter
//! waits in the run's inbox until an owner turns it into a record.
//! INVARIANT: a letter is taken in the commit that has its record, or not at all; so each one is
//! heard once, whoever owns the run then.
//!
//! A need is a hint about when to look at a run: whoever opens it finds the same in its records.
//! It does not know what a letter says. Read next: `store.rs`.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::identity::{BranchName, RunId};
use crate::owner::Owner;

/// What a branch needs before it can go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it has ended, or a person has stopped it.
    #[default]
    Nothing,
    /// That this moment comes, in milliseconds since 1970; one that has passed means: an owner.
    Moment(u64),
    /// That somebody outside says something.
    Input,
}

impl Need {
    /// An owner, at once.
    pub const OWNER: Self = Self::Moment(0);

    /// Returns it as stores keep it: a moment, or -1 for an input; `None` for nothing.
    pub fn encode(self) -> Option<i64> {
        match self {
            Self::Nothing => None,
            Self::Moment(at_ms) => Some(i64::try_from(at_ms).unwrap_or(i64::MAX)),
            Self::Input => Some(-1),
        }
    }

    /// Reads what [`encode`](Self::encode) has made.
    pub fn decode(stored: Option<i64>) -> Self {
        match stored {
            None => Self::Nothing,
            Some(at_ms) => u64::try_from(at_ms).map_or(Self::Input, Self::Moment),
        }
    }
}

/// Names a letter. The sender chooses it, so sending again after an unclear failure is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LetterId(pub [u8; 16]);

/// The number of letters that this process has named.
static NAMED: AtomicU64 = AtomicU64::new(0);

impl LetterId {
    /// Makes a name that no other letter has.
    pub fn fresh() -> Self {
        let count = NAMED.fetch_add(1, Ordering::Relaxed);
        let this = Owner::this("");
        let text = format!("{this} {count}");
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        Self(id)
    }

    /// Reads the bytes of a name.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for LetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Something for the next owner of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its name.
    pub id: LetterId,
    /// The branch that is to hear it.
    pub branch: BranchName,
    /// When it was sent, in milliseconds since 1970, by the sender's clock.
    pub sent_ms: u64,
    /// What it says; stores do not look into it.
    pub body: Vec<u8>,
}

/// A letter that an owner has heard, with the reply to its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The letter.
    pub letter: LetterId,
    /// The reply.
    pub reply: Vec<u8>,
}

/// How long a reply waits for its sender, in milliseconds.
pub const REPLY_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// A branch whose moment has come, or that has letters, and whose run no process owns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready {
    /// The run.
    pub run: RunId,
    /// The branch.
    pub branch: BranchName,
}

impl Ready {
    /// Joins branches whose moments have come, by their moments, with those that have letters, to
    /// at most `max`. Letters may take half of the places, so that an answer never waits until no
    /// moment is overdue.
    #[must_use]
    pub fn join(mut due: Vec<Self>, written: Vec<Self>, max: usize) -> Vec<Self> {
        let kept = written.len().min(max / 2);
        let rest = due.split_off(due.len().min(max - kept));
        for ready in written.into_iter().chain(rest) {
            if due.len() < max && !due.contains(&ready) {
                due.push(ready);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_what_was_stored() {
        for need in [Need::Nothing, Need::OWNER, Need::Moment(1_795_000_000_000), Need::Input] {
            assert_eq!(Need::decode(need.encode()), need);
        }
    }

    #[test]
    fn no_two_letters_have_one_name() {
        let (one, other) = (LetterId::fresh(), LetterId::fresh());
        assert_ne!(one, other);
        assert_eq!(LetterId::from_slice(&one.0), Some(one));
        assert_eq!(LetterId::from_slice(&one.0[1..]), None);
    }
}
