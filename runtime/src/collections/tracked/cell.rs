//! Tracked single values.
//!
//! INVARIANT: `before`, if set, holds the value from the start of the turn.
//! It does not know what the value means.
//! Read next: `../../state/actor.rs`.

use std::collections::VecDeque;
use std::ops::Deref;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::tracking::Tracking;
use crate::model::codec::{Codec, DecodeError};

/// A value that can undo its changes since the last commit; its clone has no savepoints.
///
/// A turn that changes the value clones it once, so `T` should be cheap to clone.
#[derive(Debug, Default)]
pub struct TrackedCell<T> {
    now: T,
    before: Option<T>,
    /// The value at each savepoint, oldest first.
    savepoints: VecDeque<(u64, T)>,
}

impl<T: Clone> Clone for TrackedCell<T> {
    fn clone(&self) -> Self {
        Self {
            now: self.now.clone(),
            before: self.before.clone(),
            savepoints: VecDeque::new(),
        }
    }
}

impl<T> Deref for TrackedCell<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.now
    }
}

impl<T: Clone> TrackedCell<T> {
    /// Returns the value, to change it.
    pub fn get_mut(&mut self) -> &mut T {
        if self.before.is_none() {
            self.before = Some(self.now.clone());
        }
        &mut self.now
    }
}

impl<T: Clone> Tracking for TrackedCell<T> {
    fn commit_turn(&mut self) {
        self.before = None;
    }

    fn abort_turn(&mut self) {
        if let Some(before) = self.before.take() {
            self.now = before;
        }
    }

    fn compact(&mut self) {}

    fn is_compacted(&self) -> bool {
        true
    }

    fn make_savepoint(&mut self, number: u64) {
        self.savepoints.push_back((number, self.now.clone()));
    }

    fn restore_savepoint(&mut self, number: u64) -> bool {
        let mut reached = None;
        while let Some((found, value)) = self.savepoints.pop_back_if(|(found, _)| *found >= number) {
            (reached, self.now) = (Some(found), value);
        }
        reached == Some(number)
    }

    fn drop_savepoints(&mut self, oldest: u64) {
        while self.savepoints.pop_front_if(|(found, _)| *found < oldest).is_some() {}
    }
}

impl<T: PartialEq> PartialEq for TrackedCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.now == other.now
    }
}

impl<T: Codec> Codec for TrackedCell<T> {
    fn write(&self, out: &mut PackedWriter) {
        self.now.write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        T::decode(value).map(|now| Self {
            now,
            before: None,
            savepoints: VecDeque::new(),
        })
    }
}
