//! Letting a run go that only waits, and the timers for which it waits.
//!
//! A process that lets go of runs commits the turns before each rest together with the end of its
//! claim, and the start of a timer with the turn that asked for it: one commit instead of three.
//! INVARIANT: the turns that are kept for that commit have asked for no effect that leaves the
//! process.
//! It does not decide whether a run is let go. Read next: `resting.rs`.

use duet_journal::{Append, Need, Store};

use super::Run;
use crate::driver::Drivers;
use crate::run::error::RunError;

impl Run {
    /// Leaves the turns before the run has nothing to do to [`let_go`](Self::let_go), or to a
    /// flush, unless they have asked for effects.
    pub fn keep_last_turns(&mut self) {
        self.leaving.keeps_last_turns = true;
    }

    pub(super) fn keeps_last_turns(&self) -> bool {
        self.leaving.keeps_last_turns && self.unflushed.effects().is_empty()
    }

    /// Gives the run up: makes its turns durable, and says that nobody owns it any more. With
    /// `is_to_rest` nobody is to take it.
    ///
    /// Turns whose effects nobody has performed are not made durable: the next owner takes them
    /// again.
    ///
    /// # Errors
    /// [`RunError::Store`], also if another process has claimed the run.
    pub fn let_go(&mut self, store: &mut dyn Store, is_to_rest: bool) -> Result<(), RunError> {
        match self.unflushed().filter(|_| self.unflushed.effects().is_empty()) {
            Some(append) => {
                let need = if is_to_rest { Need::Nothing } else { append.need };
                store.append_last(Append { need, ..append })?;
                self.confirm_durable();
            }
            None => {
                if is_to_rest {
                    store.set_need(&self.run, &self.branch, self.epoch, Need::Nothing)?;
                }
                store.note_owner(&self.run, self.epoch, "")?;
            }
        }
        Ok(())
    }

    /// Performs the effects of turns that wait for the disk if nobody outside notices any of them;
    /// returns whether it has. Reports that come at once can become durable with the turns.
    pub(super) fn perform_unnoticed(&mut self, drivers: &mut dyn Drivers) -> bool {
        let Some(effects) = self.unflushed.take_unnoticed() else {
            return false;
        };
        drivers.perform(effects);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use duet_journal::store::memory::MemoryStore;
    use preserves::IOValue;

    use super::*;
    use crate::driver::{Effect, EffectKind, Input};
    use crate::run::Advance;
    use crate::run::snapshot::SnapshotPolicy;
    use crate::tests::script::world::{World, branch, run_id};

    /// Reports of each timer when it is due, as timers that last for some time do; answers calls.
    #[derive(Default)]
    struct Timing {
        performed: usize,
        inputs: VecDeque<Input>,
    }

    impl Drivers for Timing {
        fn perform(&mut self, effects: Vec<Effect>) {
            self.performed += effects.len();
            let timers = effects
                .iter()
                .filter(|effect| matches!(effect.kind, EffectKind::Timer { .. }));
            self.inputs.extend(timers.map(|effect| Input::Due {
                request: effect.request,
                at_ms: 7,
            }));
            let calls = effects.iter().filter(|effect| effect.kind.is_of_tool());
            self.inputs.extend(calls.map(|effect| Input::ToolResult {
                request: effect.request,
                outcome: Ok(IOValue::new(7)),
            }));
        }

        fn next_input(&mut self) -> Option<Input> {
            None
        }

        fn poll_input(&mut self) -> Option<Input> {
            self.inputs.pop_front()
        }
    }

    /// The position of the newest durable turn.
    fn durable(store: &MemoryStore) -> Option<u64> {
        let head = store.head(&run_id(), &branch("main")).expect("the run is claimed");
        head.map(|head| head.sequence.number())
    }

    #[test]
    fn a_turn_the_start_of_its_timer_and_the_end_of_the_claim_are_one_commit() {
        let mut world = World::script("main:\n    sleep 5000\n    log late", &["*"], SnapshotPolicy::NEVER);
        let mut drivers = Timing::default();
        let World { store, run, .. } = &mut world;
        run.keep_last_turns();
        while run.advance(store, &mut drivers).expect("it goes on") != Advance::Idle {
            assert_eq!(durable(store), None);
        }
        assert_eq!((drivers.performed, durable(store)), (1, None));
        assert_eq!(run.need(), Need::Moment(7));
        run.let_go(store, false).expect("it is let go");
        assert_eq!(durable(store), Some(2));
        let claim = store.claimed(&run_id()).expect("the store is read");
        assert_eq!(claim.map(|claim| claim.owner), Some(String::new()));
        assert_eq!(
            store.need(&run_id(), &branch("main")).expect("the run is there"),
            Need::Moment(7)
        );
    }

    #[test]
    fn many_readings_of_a_clock_are_one_commit() {
        let lines: String = (0..20)
            .map(|tag| format!("    tool clock/jiffy t{tag} #f\n    await-tool t{tag}\n"))
            .collect();
        let program = format!("main:\n{lines}    log late");
        let mut world = World::script(&program, &["*"], SnapshotPolicy::NEVER);
        let mut drivers = Timing::default();
        let World { store, run, .. } = &mut world;
        while drivers.performed < 20 {
            run.advance(store, &mut drivers).expect("it goes on");
            assert_eq!(durable(store), None, "after {} readings", drivers.performed);
        }
        while run.advance(store, &mut drivers).expect("it goes on") != Advance::Idle {}
        assert_eq!((drivers.performed, durable(store)), (21, Some(21)));
    }

    #[test]
    fn a_timer_waits_for_the_disk_with_effects_that_were_asked_for_before_it() {
        let mut world = World::script("main:\n    log first\n    sleep 5000", &["*"], SnapshotPolicy::NEVER);
        let mut drivers = Timing::default();
        let World { store, run, .. } = &mut world;
        run.keep_last_turns();
        while drivers.performed == 0 {
            run.advance(store, &mut drivers).expect("it goes on");
        }
        assert_eq!((drivers.performed, durable(store)), (2, Some(1)));
    }
}
