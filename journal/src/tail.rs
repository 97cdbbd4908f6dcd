//! Follows a branch as it grows, by asking.
//!
//! Owns the position of one follower.
//! INVARIANT: what a follower has been told is always a chain that was the branch's at some time; when the branch goes
//! back, it is told to which record before it is told what comes after.
//!
//! It does not wait; whoever polls decides how often.
//! Read next: `verify.rs`.

use crate::identity::{BranchName, RecordHash, RunId, Sequence};
use crate::record::Record;
use crate::store::{Head, Store, StoreError};

/// The most records that one poll returns.
const MAX_RECORDS: u64 = 256;

/// A follower of one branch.
#[derive(Clone, Debug)]
pub struct Tail {
    run: RunId,
    branch: BranchName,
    last: Option<(Sequence, RecordHash)>,
}

/// What happened since the last poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TailEvent {
    /// Nothing.
    Unchanged,
    /// The branch went on; oldest first, and perhaps there are more.
    Appended(Vec<Record>),
    /// The branch went back, or on along another way; this is the last record that still holds, `None` if none does.
    Rewound(Option<RecordHash>),
}

impl Tail {
    /// Starts before the first record.
    pub fn from_start(run: RunId, branch: BranchName) -> Self {
        Self {
            run,
            branch,
            last: None,
        }
    }

    /// Starts after `record`, which the follower knows.
    pub fn after(run: RunId, branch: BranchName, record: &Record) -> Self {
        Self {
            run,
            branch,
            last: Some((record.header().sequence, record.hash())),
        }
    }

    /// Looks what has happened; a branch that does not exist yet has no records.
    ///
    /// # Errors
    /// Those of [`Store::read`]; the position stays as it was.
    pub fn poll(&mut self, store: &dyn Store) -> Result<TailEvent, StoreError> {
        let head = match store.head(&self.run, &self.branch) {
            Err(StoreError::NoSuchRun { .. }) => None,
            found => found?,
        };
        let Some(head) = head else {
            return Ok(self.rewind_to(None));
        };
        if self.last == Some((head.sequence, head.hash)) {
            return Ok(TailEvent::Unchanged);
        }
        match self.last {
            Some(last) => self.poll_after(store, &head, last),
            None => self.advance(store, Sequence::FIRST, None),
        }
    }

    fn poll_after(
        &mut self,
        store: &dyn Store,
        head: &Head,
        last: (Sequence, RecordHash),
    ) -> Result<TailEvent, StoreError> {
        let mut ours = last;
        while ours.0 > head.sequence || !self.is_on_branch(store, ours)? {
            match store.record(&ours.1)?.header().parent {
                Some(parent) => ours = (store.record(&parent)?.header().sequence, parent),
                None => return Ok(self.rewind_to(None)),
            }
        }
        if ours != last {
            return Ok(self.rewind_to(Some(ours)));
        }
        match ours.0.next() {
            Some(next) => self.advance(store, next, Some(ours.1)),
            None => Ok(TailEvent::Unchanged),
        }
    }

    fn is_on_branch(&self, store: &dyn Store, (at, hash): (Sequence, RecordHash)) -> Result<bool, StoreError> {
        Ok(store
            .record_at(&self.run, &self.branch, at)?
            .is_some_and(|record| record.hash() == hash))
    }

    fn rewind_to(&mut self, last: Option<(Sequence, RecordHash)>) -> TailEvent {
        let was = std::mem::replace(&mut self.last, last);
        if was == last {
            TailEvent::Unchanged
        } else {
            TailEvent::Rewound(last.map(|(_, hash)| hash))
        }
    }

    /// Reads on from `next`, whose parent must be `parent`: the branch may have moved since that was found out.
    fn advance(
        &mut self,
        store: &dyn Store,
        next: Sequence,
        parent: Option<RecordHash>,
    ) -> Result<TailEvent, StoreError> {
        let end = Sequence::new(next.number() + MAX_RECORDS).or(Sequence::new(crate::identity::MAX_SEQUENCE));
        let records = store.read(&self.run, &self.branch, next..end.unwrap_or(next))?;
        let follows = records.first().is_some_and(|first| first.header().parent == parent);
        match records.last().filter(|_| follows) {
            Some(last) => {
                self.last = Some((last.header().sequence, last.hash()));
                Ok(TailEvent::Appended(records))
            }
            None => Ok(TailEvent::Unchanged),
        }
    }
}
