//! The power is cut at every operation of the disk while a run takes a changed text on.
//!
//! INVARIANT: the patch has happened whole, with its snapshot, or not at all; whichever it is, the
//! run goes on, and is the same from its turns as from its snapshots.
//! Which code moves is `../patch.rs`'s. Read next: `power.rs`.

use duet_journal::store::memory::{DiskFault, FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::{Blob, StoreError};
use duet_runtime::driver::Input;
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::run::error::RunError;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{DriveOutcome, Run};

use super::power::Extent;
use crate::support::scenario::{Life, Scenario, at, every};
use crate::support::witness::{Plant, Witness, records};
use crate::support::world::{Files, Pace, World};

const WAITING: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (say what) (display (list 'old what)))
(define held (list (lambda () (say 'held))))
(define name (await (user-input :prompt "name?")))
((car held))
(say name)
"#;

const GRANTED: &[&str] = &["console", "person"];

/// A run that waits for its person, on a disk.
struct Waiting {
    scenario: Scenario,
    policy: SnapshotPolicy,
    text: ChangedText,
    world: World,
    bytes: Vec<u8>,
    /// The number of its records.
    count: usize,
}

impl Waiting {
    fn new(policy: SnapshotPolicy) -> Self {
        let scenario = Scenario::new("steps.scm", WAITING, GRANTED);
        let changed = Scenario::new("steps.scm", &WAITING.replace("'old", "'new"), GRANTED).program;
        let is_new = |blob: &&Blob| {
            let known = &scenario.program.pinned;
            known.iter().all(|known| known.hash() != blob.hash())
        };
        let texts = changed.pinned.iter().filter(is_new);
        let text = ChangedText {
            texts: texts
                .map(|blob| String::from_utf8(blob.as_bytes().to_vec()).unwrap())
                .collect(),
            program: changed.value,
            run: Vec::new(),
            values: Vec::new(),
        };
        let mut world = World::new(Files::new(), None, Pace::Eager);
        let life = scenario.live(SimulatedDisk::default(), policy, &mut world);
        assert!(
            matches!(life.rest, Some(DriveOutcome::Asking { .. })),
            "{:?}",
            life.rest
        );
        Self {
            count: life.acknowledged.len(),
            bytes: life.restart().bytes().to_vec(),
            scenario,
            policy,
            text,
            world,
        }
    }

    /// One process that takes the text on, on a disk that may fail.
    fn patch(&self, plan: FaultPlan) -> Option<Life> {
        let store = MemoryStore::open(SimulatedDisk::new(self.bytes.clone(), plan)).ok()?;
        let mut witness = Witness::new(store, &self.scenario.run, &self.scenario.main, Plant::Nothing);
        let mut world = self.world.clone();
        world.meet(witness.ledger());
        let opened = self.scenario.open(&mut witness, &self.scenario.main, self.policy);
        let patched = opened.and_then(|mut run: Run| {
            run.deliver_first(Input::Patch {
                text: self.text.clone(),
            });
            run.step()?;
            run.flush(&mut witness).map(drop)
        });
        let rest = match patched {
            Ok(()) => Some(DriveOutcome::Interrupted),
            Err(RunError::Store(StoreError::Io { .. })) => None,
            Err(error) => panic!("that is not the disk: {error:?}"),
        };
        let acknowledged = witness.ledger().records();
        Some(Life {
            rest,
            acknowledged,
            disk: witness.into_disk(),
        })
    }

    /// Requires that a branch is the same from its turns as from its snapshots, at each turn, and
    /// has the changed text from its turn on.
    fn require_sound(&self, store: &MemoryStore) {
        let count = records(store, &self.scenario.run, &self.scenario.main).len();
        for number in 0..count {
            let restored = |from| {
                let source = self.scenario.source(store, &self.scenario.main);
                let turn = at(number as u64);
                source
                    .restore(Some(turn), self.scenario.programs.clone(), from)
                    .unwrap()
            };
            let [whole, short] = [Snapshots::Ignore, Snapshots::Use].map(restored);
            assert_eq!(whole.state().patches, short.state().patches);
            assert_eq!(whole.state().dataspace.facts(), short.state().dataspace.facts());
            assert_eq!(whole.state().patches.len(), usize::from(number >= self.count));
        }
    }

    /// Lets the next process answer and end the run; returns what it shows.
    fn finish(&self, store: MemoryStore) -> (String, MemoryStore) {
        let mut world = World::new(Files::new(), Some("Ada"), Pace::Eager);
        let life = self.scenario.live(store.into_disk(), self.policy, &mut world);
        assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
        (world.console, MemoryStore::open(life.restart()).unwrap())
    }
}

#[test]
fn a_patch_that_the_power_cuts_off_has_happened_with_its_snapshot_or_not_at_all() {
    for policy in [SnapshotPolicy::NEVER, every(1)] {
        let waiting = Waiting::new(policy);
        let whole = waiting.patch(FaultPlan::default()).unwrap();
        let (all, operations) = (whole.acknowledged.clone(), whole.disk.operations());
        assert_eq!(all.len(), waiting.count + 1, "a patch is one turn");
        let mut counts = [0, 0];
        for operation in 0..operations {
            for fault in Extent::from_environment().faults() {
                let Some(life) = waiting.patch(FaultPlan::at(operation, *fault)) else {
                    continue;
                };
                assert_eq!(life.rest, None, "{fault:?} at {operation}: the disk fails");
                let acknowledged = life.acknowledged.len();
                let store = MemoryStore::open(life.restart()).unwrap();
                let found = records(&store, &waiting.scenario.run, &waiting.scenario.main);
                assert!(all.starts_with(&found), "{fault:?} at {operation}: turns nobody took");
                assert!((waiting.count.max(acknowledged)..=all.len()).contains(&found.len()));
                let is_patched = found.len() == all.len();
                counts[usize::from(is_patched)] += 1;
                let (shown, store) = waiting.finish(store);
                let expected = ["(old held)(old Ada)", "(new held)(new Ada)"][usize::from(is_patched)];
                assert_eq!(shown, expected, "{fault:?} at {operation}");
                if is_patched && matches!(fault, DiskFault::Crash(_)) {
                    waiting.require_sound(&store);
                }
            }
        }
        assert!(
            counts.iter().all(|count| *count > 0),
            "both outcomes are seen: {counts:?}"
        );
    }
}

#[test]
fn a_snapshot_says_which_text_wrote_it() {
    let waiting = Waiting::new(every(1));
    let patched = waiting.patch(FaultPlan::default()).unwrap();
    let (shown, store) = waiting.finish(MemoryStore::open(patched.restart()).unwrap());
    assert_eq!(shown, "(new held)(new Ada)");
    waiting.require_sound(&store);
}
