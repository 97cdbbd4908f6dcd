//! Runs with bodies of every released version are shown, replayed and continued by today's code, which goes on in the run's own version.
//!
//! Each journal in `golden/` has three runs of `golden/greet.scm`: `done`, which was told `Grace`, `failed`, which was told `nobody`, and `open`, which
//! still asks. Their workspace is `/`, which is everywhere.
//! INVARIANT: what people see of a run does not depend on the version.
//! Read next: `format.rs`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support {
    pub(crate) mod desk;
}

use std::fs;
use std::path::Path;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, Record, RunId, Sequence, Store};
use duet_runtime::record::{OLDEST, VERSION};
use duet_runtime::run::source::{decode_turn, genesis};
use support::desk::Desk;

/// A desk with the journal of a version.
fn desk(version: u64) -> Desk {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/bodies-{version}.sqlite"));
    let desk = Desk::new(&[]);
    fs::create_dir(desk.path(".duet")).unwrap();
    fs::copy(golden, desk.path(".duet/journal.sqlite")).unwrap();
    desk
}

/// The records of a run's branch `main`, or of that which the address names.
fn records(desk: &Desk, address: &str) -> Vec<Record> {
    let store = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let (run, branch) = address.split_once('/').unwrap_or((address, "main"));
    let (run, branch) = (RunId::new(run).unwrap(), BranchName::new(branch).unwrap());
    store.read(&run, &branch, all).unwrap()
}

/// Requires that a branch has so many turns, each of them as its version writes it.
#[track_caller]
fn check(desk: &Desk, address: &str, version: u64, turns: usize) {
    let records = records(desk, address);
    assert_eq!(genesis(&records[0]).unwrap().version, version);
    assert_eq!(records.len(), turns + 1);
    for record in &records[1..] {
        assert_eq!(
            record.body(),
            decode_turn(record).unwrap().encode(version),
            "{record:?}"
        );
    }
    let said = desk.duet(&format!("replay {address} --check"));
    assert_eq!((said.code, said.errors.as_str()), (0, ""));
    assert_eq!(said.output, format!("identical: {turns} turns\n"));
}

#[test]
fn runs_of_every_version_replay_and_go_on_as_they_began() {
    for version in OLDEST..=VERSION {
        let desk = desk(version);
        check(&desk, "done", version, 5);
        check(&desk, "failed", version, 5);
        check(&desk, "open", version, 3);
        desk.check("fork open@2 side", 0, "");
        desk.check("resume open/side", 4, "");
        desk.check("answer open/side Eve", 0, "Hello, Eve\n");
        desk.check("answer open Ada", 0, "Hello, Ada\n");
        check(&desk, "open/side", version, 5);
        check(&desk, "open", version, 5);
    }
}

#[test]
fn runs_of_every_version_are_exported_and_go_on_elsewhere() {
    for version in OLDEST..=VERSION {
        let (here, there) = (desk(version), Desk::new(&[]));
        let file = there.path("open.duet");
        here.check(&format!("export open {}", file.display()), 0, "");
        there.check("import open.duet", 0, "");
        there.check("answer open Ada", 0, "Hello, Ada\n");
        check(&there, "open", version, 5);
    }
}

#[test]
fn a_run_that_begins_has_the_newest_version_and_compares_with_any() {
    for version in OLDEST..=VERSION {
        let desk = desk(version);
        fs::write(desk.path("greet.scm"), include_str!("golden/greet.scm")).unwrap();
        desk.check(
            "run greet.scm --answer Grace --workspace /",
            0,
            "constraint_deny\nHello, Grace\n",
        );
        check(&desk, "greet", VERSION, 5);
        // A call's tag is made of the run's name.
        let said = desk.duet("diff done greet");
        assert!(said.output.contains("they did the same up to turn 1\n"), "{said:?}");
        assert!(
            said.output.contains("turn 2 of main differs in its actions 2\n"),
            "{said:?}"
        );
    }
}

#[test]
fn what_people_see_does_not_depend_on_the_version() {
    // Names of records, and ids that are made of them, are another matter.
    let is_name = |word: &&str| {
        let bare = word.trim_matches(['"', '\\', ',', '}', '>']);
        bare.len() > 30 && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
    };
    let tell = |version| {
        let desk = desk(version);
        let lines = ["log done", "log failed", "show done@2", "show done@3", "show failed@5"];
        let told = lines.map(|line| {
            let said = desk.duet(line);
            assert_eq!((said.code, said.errors.as_str()), (0, ""), "duet {line}");
            said.output
        });
        let words = told.iter().flat_map(|told| told.split_whitespace());
        words
            .filter(|word| !is_name(word))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let oldest = tell(OLDEST);
    assert!(oldest.iter().any(|word| word == "constraint_deny,"), "{oldest:?}");
    for version in OLDEST + 1..=VERSION {
        assert_eq!(tell(version), oldest);
    }
}
