//! The places in the program from which the actions of a turn come.
//!
//! INVARIANT: looking for places changes nothing in the turn.
//! It finds no place; the instance notes them. Read next: `../activation.rs`.

use super::Activation;
use crate::model::failure::Origin;
use crate::record::key::Place;
use crate::turn::action_places::{Search, Trace};

impl Activation {
    /// Starts the search for the source position of the action at this index.
    pub(crate) fn seek(&mut self, action: usize) {
        self.search = Some(Search {
            action,
            now: None,
            found: None,
        });
    }

    /// Returns the source position of the sought action, if it is known.
    pub(crate) fn found(&self) -> Option<Origin> {
        self.search.as_ref()?.found.clone()
    }

    /// Keeps the places of the actions of the turn.
    pub(crate) fn keep_places(&mut self) {
        self.trace = Some(Trace::default());
    }

    /// Returns the places of the actions so far; none unless they are kept.
    pub(crate) fn places(&self) -> &[Place] {
        self.trace.as_ref().map_or(&[], |trace| &trace.places)
    }

    /// Returns whether the instance should note places with [`note_place`](Self::note_place);
    /// finding them takes time.
    pub fn is_sought(&self) -> bool {
        self.search.is_some() || self.trace.is_some()
    }

    /// Notes the place in the program from which the next actions come.
    pub fn note_place(&mut self, place: Place) {
        if let Some(search) = &mut self.search {
            search.now.clone_from(&place.origin);
        }
        if let Some(trace) = &mut self.trace {
            trace.now = place;
        }
    }
}
