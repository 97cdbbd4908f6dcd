//! The review example runs to its end.

use duet_journal::store::memory::SimulatedDisk;
use duet_runtime::run::Rest;
use duet_runtime::snapshot::SnapshotPolicy;

use crate::support::readable::readable;
use crate::support::scenario::{review};

use crate::support::readable::readable;
use crate::support::scenario::{NEVER, review};
use crate::support::workspace::files;
use crate::support::world::{Pace, World};

#[test]
fn the_review_runs_to_its_end_and_reports() {
    let mut world = World::new(files(), Some("yes"), Pace::Lazy);
    let life = review().live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    let life = review().live(SimulatedDisk::default(), NEVER, &mut world);
    println!("{}", readable(&life.acknowledged));
    assert_eq!(life.rest, Some(Rest::Ended { code: 0 }));
    println!("{}", String::from_utf8_lossy(&world.files[".duet/review/accepted.md"]));
    println!("{} {} {}", world.console, life.acknowledged.len(), life.disk.operations());
}
