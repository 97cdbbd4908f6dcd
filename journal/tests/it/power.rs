//! Power cuts and failing disks under the SQLite store: acknowledged commits are there, any other
//! is there whole or not at all, and the store says when it cannot tell.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod disk;
mod vfs;

use std::fs;
use std::path::PathBuf;

use crate::common::script::{Observation, Step, World, everything, observe};
use disk::{Fault, Loss, disk};
use duet_journal::StoreError;
use duet_journal::store::sqlite::SqliteStore;

/// After how many steps each process ends, and another goes on.
const STEPS_OF_PROCESS: usize = 5;

/// A journal on a simulated disk.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        vfs::register();
        disk(disk::Disk::restart);
        // Nothing of the file system's own speed or faults is wanted.
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        Self {
            folder: folder.unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn open(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.path(), "power")
    }

    /// Counts the records and the blobs in the file, whether or not anything names them. No store
    /// is open then, because SQLite's locks belong to the process.
    fn rows(&self) -> (i64, i64) {
        let counted = rusqlite::Connection::open(self.path()).unwrap().query_row(
            "SELECT (SELECT count(*) FROM records), (SELECT count(*) FROM blobs)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        match counted {
            // The tables come with the first commit.
            Err(rusqlite::Error::SqliteFailure(_, Some(message))) if message.starts_with("no such table") => (0, 0),
            counted => counted.unwrap(),
        }
    }

    /// Ends the power cut. The library's shared memory goes with the machine.
    fn restart(&self) {
        disk(disk::Disk::restart);
        let _absent = fs::remove_file(self.folder.path().join("journal-shm"));
    }

    /// Takes steps, each few in a process of its own, until one fails; returns how many were
    /// acknowledged.
    fn run(&self, script: &[Step], mut note: impl FnMut(&SqliteStore, &World)) -> usize {
        let (mut world, mut acknowledged) = (World::default(), 0);
        for steps in script.chunks(STEPS_OF_PROCESS) {
            let Ok(mut store) = self.open() else {
                return acknowledged;
            };
            if acknowledged > 0 && world.claim_again(&mut store).is_err() {
                return acknowledged;
            }
            for step in steps {
                if world.take(step, &mut store).is_err() {
                    return acknowledged;
                }
                acknowledged += 1;
                note(&store, &world);
            }
        }
        acknowledged
    }
}

/// The contents of a journal without faults, before the first step and after each.
struct Course {
    script: Vec<Step>,
    seen: Vec<Observation>,
    worlds: Vec<World>,
    /// How many records and blobs the file has.
    rows: Vec<(i64, i64)>,
    operations: u64,
    reads: u64,
}

impl Course {
    fn of(script: Vec<Step>) -> Self {
        let machine = Machine::new();
        let (mut seen, mut worlds) = (vec![Observation::default()], vec![World::default()]);
        let acknowledged = machine.run(&script, |store, world| {
            seen.push(observe(store).unwrap());
            worlds.push(world.clone());
        });
        assert_eq!(acknowledged, script.len());
        let (operations, reads) = disk(|disk| (disk.operations, disk.reads));
        let rows = (0..=script.len()).map(|steps| {
            let machine = Machine::new();
            machine.run(&script[..steps], |_, _| {});
            machine.rows()
        });
        let rows = rows.collect();
        Self {
            script,
            seen,
            worlds,
            rows,
            operations,
            reads,
        }
    }

    /// Checks the effect of a fault at an operation, and says why it is wrong.
    fn check(&self, operation: u64, fault: Fault) -> Result<(), String> {
        self.check_plan(|disk| disk.plan = Some((operation, fault)))
            .map_err(|wrong| format!("{fault:?} at {operation}: {wrong}"))
    }

    /// Checks the effect of planned faults, and says why it is wrong.
    fn check_plan(&self, plan: impl FnOnce(&mut disk::Disk)) -> Result<(), String> {
        let machine = Machine::new();
        disk(plan);
        let acknowledged = machine.run(&self.script, |_, _| {});
        machine.restart();
        let wrong = |what: &str| format!("{acknowledged} steps acknowledged: {what}");
        let store = machine.open().map_err(|error| wrong(&error.to_string()))?;
        let seen = observe(&store).map_err(|error| wrong(&error.to_string()))?;
        let lost = store.lost().map_err(|error| wrong(&error.to_string()))?;
        if !lost.is_empty() {
            return Err(wrong(&format!("{lost:?}")));
        }
        let last = self.script.len().min(acknowledged + 1);
        let done = (acknowledged..=last).rev().find(|steps| self.seen[*steps] == seen);
        let done = done.ok_or_else(|| wrong("another state"))?;
        drop(store);
        let (found, expected) = (machine.rows(), self.rows[done]);
        if found != expected {
            return Err(wrong(&format!("{found:?} records and blobs in place of {expected:?}")));
        }
        let mut store = machine.open().map_err(|error| wrong(&error.to_string()))?;
        let mut world = self.worlds[done].clone();
        world.claim_again(&mut store).unwrap();
        let mut rest = self.script[done..].iter();
        rest.try_for_each(|step| world.take(step, &mut store))
            .map_err(|error| wrong(&error.to_string()))?;
        drop(store);
        let end = observe(&SqliteStore::open_to_read(&machine.path()).unwrap()).unwrap();
        if Some(&end) == self.seen.last() {
            Ok(())
        } else {
            Err(wrong("another end"))
        }
    }
}

/// A script for several processes, each of which moves the log into the file when it ends.
fn script() -> Vec<Step> {
    let mut script = everything();
    script.push(Step::Claim(1));
    script.extend((0..4).map(|number| Step::Write {
        run: number % 2,
        branch: 0,
        records: 3,
        blob: Some(number),
    }));
    script
}

/// The number of cuts of the long form; the short form has 2,000.
fn wanted_cuts() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    let wanted = std::env::var("DUET_CRASH_POINTS").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(0).max(2000)
}

#[test]
fn a_power_cut_anywhere_loses_nothing_that_was_acknowledged() {
    let course = Course::of(script());
    assert!(course.operations > 100, "{} operations", course.operations);
    let mut cuts = 0;
    let all = [
        Loss::Nothing,
        Loss::Everything,
        Loss::Torn(12),
        Loss::Torn(1024),
        Loss::Torn(3000),
    ];
    let reordered = (0_u64..).map(Loss::Reordered);
    for loss in all.into_iter().chain(reordered) {
        for operation in 0..course.operations {
            course.check(operation, Fault::Cut(loss)).unwrap();
            cuts += 1;
        }
        if cuts >= wanted_cuts() {
            break;
        }
    }
    assert!(cuts >= 2000, "{cuts} cuts");
}

#[test]
fn a_failing_disk_loses_nothing_that_was_acknowledged() {
    let course = Course::of(script());
    for fault in [Fault::Error, Fault::Full, Fault::Forgets] {
        for operation in 0..course.operations {
            course.check(operation, fault).unwrap();
        }
    }
    for read in 0..course.reads {
        let checked = course.check_plan(|disk| disk.failing_read = Some(read));
        checked.map_err(|wrong| format!("read {read}: {wrong}")).unwrap();
    }
}

/// A disk that reports syncs and does not make them loses acknowledged commits, which this suite
/// notices.
#[test]
fn a_disk_that_lies_about_syncs_is_noticed() {
    let course = Course::of(script());
    let noticed = (0..course.operations)
        .filter(|operation| {
            let cut = Some((*operation, Fault::Cut(Loss::Everything)));
            let checked = course.check_plan(|disk| (disk.plan, disk.is_lying) = (cut, true));
            checked.is_err()
        })
        .count();
    assert!(noticed > 10, "{noticed} of {}", course.operations);
}
