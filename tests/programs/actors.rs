//! Programs of actors as whole runs: what each logs, and the journal it leaves.
//!
//! Every `tests/actors/*.scm` is one test, and a snapshot in `tests/journals` is its answer.
//! INVARIANT: each test also replays its run from the records, and resumes it from each snapshot,
//! and reaches the same state.
//! It knows nothing of the subjects; a program is added by writing its file.
//! Read next: `../it/support/scenario.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_kernel::machine::NativeMode;
use duet_runtime::model::codec::Codec;
use duet_runtime::run::replay::Snapshots;

use crate::support::readable::readable;
use crate::support::scenario::{Life, Scenario, every};
use crate::support::world::{Files, Pace, World};

/// Grants everything; `../it/policy.rs` tests refusals.
const EVERYTHING: &[&str] = &["*"];

fn live(scenario: &Scenario, turns: u64) -> (Life, World) {
    let mut world = World::new(Files::new(), Some("yes"), Pace::Lazy);
    let life = scenario.live(
        SimulatedDisk::new(Vec::new(), FaultPlan::default()),
        every(turns),
        &mut world,
    );
    (life, world)
}

/// Replays the run from its beginning and from its newest snapshot; both must reach the same state.
fn check_replay(scenario: &Scenario, life: Life) {
    let store = MemoryStore::open(life.restart()).unwrap();
    let source = scenario.source(&store, &scenario.main);
    let restore = |snapshots, native| {
        scenario.programs.borrow_mut().set_native(native);
        let restored = source.restore(None, scenario.programs.clone(), snapshots);
        restored.unwrap().state().encode()
    };
    let expected = restore(Snapshots::Ignore, NativeMode::Never);
    for (snapshots, native) in [
        (Snapshots::Use, NativeMode::Never),
        (Snapshots::Ignore, NativeMode::Always),
        (Snapshots::Use, NativeMode::Always),
    ] {
        assert_eq!(
            restore(snapshots, native),
            expected,
            "a snapshot and the turns after it lead where all turns lead, however they run"
        );
    }
}

/// Runs a program of actors to its end, and compares its log and its journal with the snapshot.
pub(crate) fn actor(path: &Path, text: String) -> datatest_stable::Result<()> {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let scenario = Scenario::new(&name, &text, EVERYTHING);
    let (life, world) = live(&scenario, u64::MAX);
    let told = format!(
        "{}\n\n{:?}\n\n{}",
        world.logged.join("\n"),
        life.rest,
        readable(&life.acknowledged)
    );
    check_replay(&scenario, life);
    let (again, same_world) = live(&scenario, 2);
    assert_eq!(same_world.logged, world.logged, "snapshots change nothing");
    check_replay(&scenario, again);
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/journals"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, told);
    });
    Ok(())
}
