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

/// So many actors are kept ready that have run once of late: few, so that what is put away is still in the processor's caches.
const ONCE_MAX: usize = 4;
/// So many are that came back soon after they had been let rest. Were all kept ready alike, those that run once would drive out those that run often.
const OFTEN_MAX: usize = 64;
/// Soon is before so many others were let rest.
const LEFT_MAX: usize = 2 * OFTEN_MAX;

/// The actors that are ready, and those that were so just now, each in the order in which they came to be.
///
/// Source: Johnson and Shasha, "2Q: a low overhead high performance buffer management replacement algorithm" (1994).
#[derive(Default)]
pub(crate) struct Lately {
    once: VecDeque<Ready>,
    often: VecDeque<Ready>,
    left: VecDeque<ActorId>,
}

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
        let place = |ready: &VecDeque<Ready>| ready.iter().position(|ready| ready.actor == actor);
        if let Some(place) = place(&self.often) {
            Found::Often(place)
        } else if let Some(place) = place(&self.once) {
            Found::Once(place)
        } else {
            let left = self.left.iter().position(|left| *left == actor);
            left.map_or(Found::Nowhere, Found::Left)
        }
    }

    /// Takes note that an actor, which was found before, has run, and returns the one that may rest for it.
    fn note(&mut self, found: Found, ready: Ready) -> Option<Ready> {
        match found {
            Found::Main => None,
            Found::Often(place) => {
                self.often[place].has_changed |= ready.has_changed;
                None
            }
            Found::Once(place) => {
                self.once[place].has_changed |= ready.has_changed;
                None
            }
            Found::Left(place) => {
                self.left.remove(place);
                add(&mut self.often, ready, OFTEN_MAX)
            }
            Found::Nowhere => {
                let idle = add(&mut self.once, ready, ONCE_MAX)?;
                add(&mut self.left, idle.actor, LEFT_MAX);
                Some(idle)
            }
        }
    }
}

/// Adds something to a queue, and takes the first out if there are more than `most`.
fn add<T>(queue: &mut VecDeque<T>, thing: T, most: usize) -> Option<T> {
    queue.push_back(thing);
    if queue.len() > most { queue.pop_front() } else { None }
}

/// Where an actor is among those that are or were ready.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    Main,
    Often(usize),
    Once(usize),
    Left(usize),
    Nowhere,
}

impl<P: Programs> Run<P> {
    /// Looks at all that the turn of an actor which has not run of late is going to read, so that what is far away in memory comes at the same time and
    /// not piece after piece. Says whether the actor has run of late, for [`note_run`](Self::note_run).
    pub(crate) fn look_ahead(&self, batch: &Batch) -> Found {
        let found = self.lately.find(batch.to);
        match found {
            Found::Main | Found::Often(_) | Found::Once(_) => return found,
            Found::Left(_) | Found::Nowhere => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs actors in turn and returns which were let rest.
    fn rested(lately: &mut Lately, actors: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let rest = |number| {
            let actor = ActorId(number);
            let ready = Ready {
                actor,
                has_changed: false,
            };
            lately.note(lately.find(actor), ready).map(|idle| idle.actor.0)
        };
        actors.into_iter().filter_map(rest).collect()
    }

    #[test]
    fn who_runs_once_rests_soon_and_drives_out_nobody_who_runs_often() {
        let mut lately = Lately::default();
        let often: Vec<u64> = (1..=OFTEN_MAX as u64 - 4).collect();
        for round in 0..1_000 {
            let first = 1_000 + 10 * round;
            let idle = rested(&mut lately, often.iter().copied());
            assert!(round < 2 || idle.is_empty(), "round {round}: {idle:?}");
            let idle = rested(&mut lately, first..first + 10);
            assert!(round < 2 || idle.iter().all(|actor| actor + 10 >= first), "{idle:?}");
        }
    }

    #[test]
    fn few_are_ready_whatever_runs() {
        let mut lately = Lately::default();
        let mut ready = std::collections::BTreeSet::new();
        for step in 0_u64..100_000 {
            // Steps of any size, back and forth.
            let actor = 1 + step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << (step / 8_192 + 1));
            ready.insert(actor);
            for idle in rested(&mut lately, [actor]) {
                assert!(idle != actor && ready.remove(&idle), "{idle} was ready");
            }
            assert!(ready.len() <= ONCE_MAX + OFTEN_MAX);
            assert!(lately.left.len() <= LEFT_MAX);
        }
    }

    #[test]
    fn the_main_actor_never_rests() {
        let mut lately = Lately::default();
        let actors = (0..1_000).flat_map(|number| [MAIN.0, 1 + number]);
        assert!(!rested(&mut lately, actors).contains(&MAIN.0));
    }
}
