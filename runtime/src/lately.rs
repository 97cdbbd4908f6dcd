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
use crate::identity::ActorId;
use crate::run::Run;

/// So many actors are kept ready.
const READY_MAX: usize = 64;

/// The actors that are ready, in the order in which they came to be.
#[derive(Default)]
pub(crate) struct Lately(VecDeque<ActorId>);

impl Lately {
    /// Takes note that an actor has run, and returns the one that may rest for it. The main actor, which people look into, is always ready.
    fn note(&mut self, actor: ActorId) -> Option<ActorId> {
        if actor == MAIN || self.0.contains(&actor) {
            return None;
        }
        self.0.push_back(actor);
        if self.0.len() > READY_MAX {
            self.0.pop_front()
        } else {
            None
        }
    }
}

impl<P: Programs> Run<P> {
    /// Takes note that an actor has run, and lets another rest if too many are ready.
    pub(crate) fn note_run(&mut self, actor: ActorId) {
        let Some(idle) = self.lately.note(actor) else { return };
        if let Some(body) = self.bodies.get_mut(idle) {
            self.programs.rest(body);
        }
        self.state.rest(idle);
    }
}
