//! Tracked single values.
//!
//! INVARIANT: the note, if there is one, holds the value from when the turn began.
//! It does not know what the value is.
//! Read next: `actor.rs`.

use std::ops::Deref;

use preserves::IOValue;

use super::Tracking;
use crate::codec::{Codec, DecodeError};

/// A value whose changes since the last commit can be taken back; its clone should be cheap.
#[derive(Clone, Debug, Default)]
pub struct TrackedCell<T> {
    now: T,
    before: Option<T>,
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

impl<T> Tracking for TrackedCell<T> {
    fn commit_turn(&mut self) {
        self.before = None;
    }

    fn abort_turn(&mut self) {
        if let Some(before) = self.before.take() {
            self.now = before;
        }
    }

    fn rest(&mut self) {}

    fn is_resting(&self) -> bool {
        true
    }
}

impl<T: PartialEq> PartialEq for TrackedCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.now == other.now
    }
}

impl<T: Codec> Codec for TrackedCell<T> {
    fn encode(&self) -> IOValue {
        self.now.encode()
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        T::decode(value).map(|now| Self { now, before: None })
    }
}
