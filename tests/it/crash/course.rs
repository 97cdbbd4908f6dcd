//! The review example runs to its end; its report and its journal as snapshots.
//!
//! INVARIANT: a change of the example's behaviour, or of its journal, changes a snapshot.
//! Read next: `power.rs`.

use duet_journal::store::memory::SimulatedDisk;
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::snapshot::SnapshotPolicy;
use insta::{assert_snapshot, with_settings};

use crate::support::readable::readable;
use crate::support::scenario::review;
use crate::support::workspace::files;
use crate::support::world::{Pace, World};

#[test]
fn the_review_runs_to_its_end_and_reports() {
    let mut world = World::new(files(), Some("yes"), Pace::Lazy);
    let life = review().live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
    assert_eq!(
        world.console,
        "The report is in review-reports/accepted.md: accepted by a person.\n"
    );
    let report = String::from_utf8_lossy(&world.files["review-reports/accepted.md"]).into_owned();
    with_settings!({
        snapshot_path => "../../journals",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        assert_snapshot!("review-report", report);
        assert_snapshot!("review-journal", readable(&life.acknowledged));
    });
}

#[test]
fn few_findings_are_accepted_without_asking() {
    let mut files = files();
    files.remove("docs/old/notes.txt");
    let mut world = World::new(files, None, Pace::Eager);
    let life = review().live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
    let report = String::from_utf8_lossy(&world.files["review-reports/accepted.md"]).into_owned();
    assert!(report.contains("Verdict: accepted without asking."), "{report}");
}
