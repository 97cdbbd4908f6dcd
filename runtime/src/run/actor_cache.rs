//! The actors that ran most recently; all others are compacted.
//!
//! A compacted actor stores only its differences from other actors of its class (the kernel's heap
//! owns the format) and no spare capacity. Few actors run at a time, so the cache keeps few ready
//! for their next turn.
//! INVARIANT: compacting changes nothing that a turn, a record or a reader of a snapshot can
//! observe.
//! It chooses what to compact; instances and the state do the compacting.
//! Read next: `housekeeping.rs`.

use std::collections::VecDeque;

use crate::action::exit::MAIN;
use crate::model::identity::ActorId;

/// The maximum number of actors that are kept ready.
const READY_MAX: usize = 64;

/// The ready actors, least recently run first.
#[derive(Default)]
pub(crate) struct ActorCache(VecDeque<Ready>);

/// An actor that is ready for its next turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) actor: ActorId,
    /// Whether one of its turns has changed its part of the state, so that this part has memory to
    /// give back. The part of any other actor is in distant memory and need not be read.
    pub(super) has_changed: bool,
}

impl ActorCache {
    /// Notes that an actor has run, and returns the actor to compact if too many are ready. The
    /// main actor is always ready, because people inspect it.
    pub(super) fn note(&mut self, mut ready: Ready) -> Option<Ready> {
        if ready.actor == MAIN {
            return None;
        }
        if let Some(place) = self.0.iter().rposition(|other| other.actor == ready.actor) {
            let before = self.0.remove(place);
            ready.has_changed |= before.is_some_and(|before| before.has_changed);
        }
        self.0.push_back(ready);
        if self.0.len() > READY_MAX {
            self.0.pop_front()
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the actors in order and returns those that the cache gave out for compacting.
    fn compacted(cache: &mut ActorCache, actors: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let ready = |number| Ready {
            actor: ActorId(number),
            has_changed: false,
        };
        let actors = actors.into_iter();
        actors
            .filter_map(|number| cache.note(ready(number)).map(|idle| idle.actor.0))
            .collect()
    }

    #[test]
    fn the_actor_that_ran_least_recently_is_compacted() {
        let mut cache = ActorCache::default();
        let ready = READY_MAX as u64;
        assert!(compacted(&mut cache, 1..=ready).is_empty());
        assert!(compacted(&mut cache, [1, 2, 1]).is_empty());
        assert_eq!(compacted(&mut cache, [1_000, 1_001]), [3, 4]);
        assert!(compacted(&mut cache, [2, 5]).is_empty());
    }

    #[test]
    fn few_are_ready_whatever_runs() {
        let mut cache = ActorCache::default();
        let mut ready = std::collections::BTreeSet::new();
        for step in 0_u64..100_000 {
            // The range of actors grows, and the steps within it vary in size and direction.
            let actor = 1 + step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << (step / 8_192 + 1));
            ready.insert(actor);
            for idle in compacted(&mut cache, [actor]) {
                assert!(idle != actor && ready.remove(&idle), "{idle} was ready");
            }
            assert!(ready.len() <= READY_MAX);
        }
    }

    #[test]
    fn the_main_actor_is_never_compacted() {
        let mut cache = ActorCache::default();
        let actors = (0..1_000).flat_map(|number| [MAIN.0, 1 + number]);
        assert!(!compacted(&mut cache, actors).contains(&MAIN.0));
    }
}
