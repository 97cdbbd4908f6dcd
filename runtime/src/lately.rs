//! Which actors have run of late; the others rest.
//!
//! An actor at rest costs what it differs by from others of its class (the kernel's `heap/rest.rs`) and no room for notes. Few run at a time, so
//! what is kept ready for the next turn is kept for a few.
//! INVARIANT: resting changes nothing that a turn, a record or a snapshot's reader could tell.
//! It does not make anything smaller; bodies and the state do.
//! Read next: `tracked.rs`.

use std::collections::VecDeque;

use crate::action::exit::MAIN;
use crate::body::Programs;
use crate::event::{Batch, Event};
use crate::identity::ActorId;
use crate::run::Run;

/// So many actors are kept ready.
const READY_MAX: usize = 64;

/// The actors that are ready, in the order in which they came to be.
#[derive(Default)]
pub(crate) struct Lately(VecDeque<Ready>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ready {
    actor: ActorId,
    /// Whether a turn has changed what the state has of it, so that there is room for notes to be given back. Who only heard something is not looked
    /// at again: it would have to be read from far away.
    has_changed: bool,
}

impl Lately {
    /// Finds an actor. The main actor, which people look into, is always ready.
    fn find(&self, actor: ActorId) -> Found {
        if actor == MAIN {
            return Found::Main;
        }
        let place = self.0.iter().position(|ready| ready.actor == actor);
        place.map_or(Found::Nowhere, Found::At)
    }

    /// Takes note that an actor, which was found before, has run, and returns the one that may rest for it.
    fn note(&mut self, found: Found, ready: Ready) -> Option<Ready> {
        match found {
            Found::Main => None,
            Found::At(place) => {
                self.0[place].has_changed |= ready.has_changed;
                None
            }
            Found::Nowhere => {
                self.0.push_back(ready);
                (self.0.len() > READY_MAX).then(|| self.0.pop_front())?
            }
        }
    }
}

/// Where an actor is among those that are ready.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    Main,
    At(usize),
    Nowhere,
}

impl<P: Programs> Run<P> {
    /// Looks at all that the turn of an actor which has not run of late is going to read, so that what is far away in memory comes at the same time and
    /// not piece after piece. Says whether the actor has run of late, for [`note_run`](Self::note_run).
    pub(crate) fn look_ahead(&self, batch: &Batch) -> Found {
        let found = self.lately.find(batch.to);
        if !matches!(found, Found::Nowhere) {
            return found;
        }
        if let Some(body) = self.bodies.get(batch.to) {
            self.programs.look_at(body);
        }
        if let Some(actor) = self.state.actor(batch.to) {
            actor.look_at(batch.events.first().and_then(Event::observer));
        }
        found
    }

    /// Takes note that an actor has run, and whether that has changed what the state has of it, and lets another rest if too many are ready.
    pub(crate) fn note_run(&mut self, found: Found, (actor, has_changed): (ActorId, bool)) {
        let Some(idle) = self.lately.note(found, Ready { actor, has_changed }) else {
            return;
        };
        if let Some(body) = self.bodies.get_mut(idle.actor) {
            self.programs.rest(body);
        }
        if idle.has_changed {
            self.state.rest(idle.actor);
        }
    }
}
