//! The actors that ran most recently; the others are compacted.
//!
//! A compact actor costs what it differs by from others of its class (the kernel's `heap/compact.rs`) and has no room for notes. Few actors run
//! at a time, so few are kept ready for their next turn.
//! INVARIANT: compacting changes nothing that a turn, a record or a reader of a snapshot could tell.
//! It does not compact anything; instances and the state do.
//! Read next: `housekeeping.rs`.

use std::collections::VecDeque;

use crate::action::exit::MAIN;
use crate::model::identity::ActorId;

/// At most this many actors are kept ready.
const READY_MAX: usize = 64;

/// The actors that are ready, the one that ran least recently first.
#[derive(Default)]
pub(crate) struct ActorCache(VecDeque<ActorId>);

impl ActorCache {
    /// Notes that an actor has run, and returns the one that is to be compacted for it, if there are too many. The main actor, which people look
    /// into, is always ready.
    pub(super) fn note(&mut self, actor: ActorId) -> Option<ActorId> {
        if actor == MAIN || self.0.back() == Some(&actor) {
            return None;
        }
        if let Some(place) = self.0.iter().rposition(|ready| *ready == actor) {
            self.0.remove(place);
        }
        self.0.push_back(actor);
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

    /// Runs actors in turn and returns which were compacted.
    fn compacted(cache: &mut ActorCache, actors: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let actors = actors.into_iter();
        actors
            .filter_map(|number| cache.note(ActorId(number)).map(|idle| idle.0))
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
            // Steps of any size, back and forth.
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
