//! Several processes at one journal: each writes its own runs, and a run belongs to one of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::common::writer::{Writer, branch, read_all, run};
use duet_journal::collect::Garbage;
use duet_journal::store::sqlite::{SqliteStore, has_damaged_header, missing_bytes};
use duet_journal::verify::verify;
use duet_journal::{Blob, Epoch, HeadMove, Owner, Store, StoreError};

/// Tells a child process, which runs the same test, what to write to, and which run.
const JOURNAL: &str = "DUET_OWNERS_TEST_FILE";
const RUN: &str = "DUET_OWNERS_TEST_RUN";

struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _result = self.child.wait();
    }
}

impl Process {
    /// Starts a test once more in a process of its own.
    fn start(test: &str, journal: &Path, run: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(JOURNAL, journal)
            .env(RUN, run)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits until the process says something, and returns what follows on the line.
    fn expect(&mut self, word: &str) -> String {
        loop {
            let line = self.lines.next().expect("the process says it").unwrap();
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &number]).status().unwrap().success());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment says that this process is one of several"
)]
fn given() -> Option<(PathBuf, String)> {
    Some((std::env::var_os(JOURNAL)?.into(), std::env::var(RUN).ok()?))
}

/// Appends a number of turns to a run of its own, then waits to be killed.
#[expect(clippy::print_stdout, reason = "it talks to its parent process")]
#[expect(clippy::disallowed_methods, reason = "it is to be stopped between two commits")]
fn append(journal: &Path, name: &str, (turns, pause): (u64, Duration)) -> ! {
    let (mut store, mut writer) = claimed(journal, name);
    for number in 0..turns {
        if let Err(error) = writer.write(&mut store, &[&format!("<turn {number}>")]) {
            println!("refused: {error}");
            std::process::abort();
        }
        println!("acknowledged {number}");
        std::thread::sleep(pause);
    }
    println!("done");
    loop {
        std::thread::park();
    }
}

#[test]
fn processes_append_to_their_own_runs_at_once() {
    const TURNS: u64 = 60;
    if let Some((journal, name)) = given() {
        append(&journal, &name, (TURNS, Duration::ZERO));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let names: Vec<String> = (0..8).map(|number| format!("r{number}")).collect();
    let start = |name: &String| Process::start("owners::processes_append_to_their_own_runs_at_once", &path, name);
    let mut processes: Vec<Process> = names.iter().map(start).collect();
    // A reader never waits for them.
    processes[0].expect("acknowledged 0");
    let reader = SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(reader.lost().unwrap(), []);
    for process in &mut processes {
        process.expect("done");
    }
    for name in &names {
        let report = verify(&reader, &run(name), &branch("main")).unwrap();
        assert!(report.is_sound(), "{name}");
        let newest = reader.head(&run(name), &branch("main")).unwrap().unwrap();
        assert_eq!(newest.sequence.number(), TURNS - 1);
    }
    assert_eq!(reader.runs().unwrap().len(), 8);
    assert_eq!(reader.lost().unwrap(), []);
}

#[test]
fn a_run_of_a_living_process_is_left_to_it_and_one_of_a_dead_process_is_not() {
    if let Some((journal, name)) = given() {
        append(&journal, &name, (5, Duration::ZERO));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let test = "owners::a_run_of_a_living_process_is_left_to_it_and_one_of_a_dead_process_is_not";
    let mut process = Process::start(test, &path, "r");
    process.expect("done");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let me = Owner::this("test").to_string();
    let refused = store.claim(&run("r"), &me).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Owned { by, .. } if by.process == process.child.id()),
        "{refused:?}"
    );
    // To be stopped is not to be dead.
    process.signal("-STOP");
    assert!(matches!(store.claim(&run("r"), &me), Err(StoreError::Owned { .. })));
    process.signal("-KILL");
    process.child.wait().unwrap();
    let epoch = store.claim(&run("r"), &me).unwrap();
    assert_eq!(epoch, Epoch(2));
    let mut writer = Writer {
        run: run("r"),
        branch: branch("main"),
        epoch,
        head: None,
    };
    let found = read_all(&store, &writer).unwrap();
    assert_eq!(found.len(), 5);
    writer.move_to(found.last().unwrap());
    writer.write(&mut store, &["<turn after>"]).unwrap();
}

#[test]
fn a_stopped_owner_that_wakes_after_its_run_was_taken_writes_nothing() {
    if let Some((journal, name)) = given() {
        append(&journal, &name, (1_000_000, Duration::from_millis(10)));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let test = "owners::a_stopped_owner_that_wakes_after_its_run_was_taken_writes_nothing";
    let mut process = Process::start(test, &path, "r");
    process.expect("acknowledged 20");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let me = Owner::this("test").to_string();
    // A process that is stopped in the middle of a commit holds the database; let it go on then.
    let taken = loop {
        process.signal("-STOP");
        let seen = store.claimed(&run("r")).unwrap().unwrap();
        let reader = rusqlite::Connection::open(&path).unwrap();
        reader.busy_timeout(Duration::from_millis(20)).unwrap();
        let is_free = reader.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok();
        drop(reader);
        if is_free {
            store.note_owner(&run("r"), seen.epoch, "").unwrap();
            break store.claim(&run("r"), &me).unwrap();
        }
        process.signal("-CONT");
        process.expect("acknowledged");
    };
    let mut writer = Writer {
        run: run("r"),
        branch: branch("main"),
        epoch: taken,
        head: None,
    };
    let before = read_all(&store, &writer).unwrap();
    writer.move_to(before.last().unwrap());
    process.signal("-CONT");
    let why = process.expect("refused:");
    assert!(
        why.contains("has been claimed by another owner (epoch 2, ours is 1)"),
        "{why}"
    );
    assert_eq!(read_all(&store, &writer).unwrap(), before);
    writer.write(&mut store, &["<mine>"]).unwrap();
}

#[test]
fn two_claims_of_one_run_leave_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut first = SqliteStore::open(&path, "first").unwrap();
    let mut main = Writer::claim(&mut first, "r", "main");
    main.write(&mut first, &["0", "1"]).unwrap();
    main.write(&mut first, &["2"]).unwrap();
    let mut second = SqliteStore::open(&path, "second").unwrap();
    assert!(first.check_claim(&main.run, main.epoch).is_ok());
    let epoch = second.claim(&main.run, "second").unwrap();
    let mut theirs = Writer { epoch, ..main.clone() };
    // The cache of the first still says that it owns the run.
    for _ in 0..2 {
        let refused = main.write(&mut first, &["<lost>"]).unwrap_err();
        assert!(matches!(refused, StoreError::EpochFenced { .. }), "{refused:?}");
    }
    assert!(matches!(
        first.check_claim(&main.run, main.epoch),
        Err(StoreError::EpochFenced { .. })
    ));
    let next = theirs.write(&mut second, &["3", "4"]).unwrap();
    main.epoch = first.claim(&main.run, "first again").unwrap();
    main.move_to(next.last().unwrap());
    main.write(&mut first, &["5"]).unwrap();
    assert_eq!(read_all(&second, &main).unwrap().len(), 6);
    assert!(verify(&first, &main.run, &main.branch).unwrap().is_sound());
}

#[test]
fn stores_take_turns_and_each_knows_what_the_other_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut stores: Vec<SqliteStore> = (0..3).map(|_| SqliteStore::open(&path, "store").unwrap()).collect();
    let mut writers: Vec<Writer> = (0..3)
        .map(|number| Writer::claim(&mut stores[number], &format!("r{number}"), "main"))
        .collect();
    for round in 0..200 {
        let number = (round * 7 + round / 5) % 3;
        writers[number]
            .write(&mut stores[number], &[&format!("<turn {round}>")])
            .unwrap();
        if round % 50 == 49 {
            // A fork needs the name of a record that may not be indexed.
            let (writer, store) = (&writers[number], &mut stores[number]);
            let to = read_all(store, writer).unwrap()[3].hash();
            let side = branch(&format!("side{round}"));
            let side_move = HeadMove {
                run: &writer.run,
                branch: &side,
                epoch: writer.epoch,
                expected_head: None,
                to,
            };
            store.set_head(&side_move).unwrap();
        }
    }
    for writer in &writers {
        for head in stores[0].heads(&writer.run).unwrap() {
            assert!(verify(&stores[0], &writer.run, &head.branch).unwrap().is_sound());
        }
    }
    assert_eq!(stores[1].lost().unwrap(), []);
}

#[test]
fn a_name_that_was_claimed_in_a_journal_made_meanwhile_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut late = SqliteStore::open(&path, "late").unwrap();
    let mut lost = Writer::claim(&mut late, "r", "main");
    let mut early = SqliteStore::open(&path, "early").unwrap();
    let mut kept = Writer::claim(&mut early, "r", "main");
    kept.write(&mut early, &["0"]).unwrap();
    let refused = lost.write(&mut late, &["0"]).unwrap_err();
    assert!(matches!(refused, StoreError::EpochFenced { .. }), "{refused:?}");
    let mut other = SqliteStore::open(&path, "other").unwrap();
    Writer::claim(&mut other, "s", "main")
        .write(&mut other, &["0"])
        .unwrap();
    kept.write(&mut early, &["1"]).unwrap();
    assert_eq!(read_all(&other, &kept).unwrap().len(), 2);
    assert!(early.runs().unwrap().len() == 2 && early.lost().unwrap().is_empty());
}

#[test]
fn a_journal_made_meanwhile_takes_up_what_was_begun_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut stores: Vec<SqliteStore> = (0..4).map(|_| SqliteStore::open(&path, "store").unwrap()).collect();
    let mut writers: Vec<Writer> = (0..4)
        .map(|number| Writer::claim(&mut stores[number], &format!("r{number}"), "main"))
        .collect();
    for round in ["0", "1"] {
        for (writer, store) in writers.iter_mut().zip(&mut stores) {
            writer.write(store, &[round]).unwrap();
        }
    }
    for writer in &writers {
        assert_eq!(read_all(&stores[0], writer).unwrap().len(), 2);
    }
}

#[test]
fn a_blob_that_a_run_named_meanwhile_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "collector").unwrap();
    let blob = Blob::new(b"shared".to_vec()).unwrap();
    let mut old = Writer::claim(&mut store, "old", "main");
    let first = old.write(&mut store, &["0"]).unwrap();
    let mut side = old.on("side", None);
    side.move_to(&first[0]);
    let making = HeadMove {
        run: &old.run,
        branch: &side.branch,
        epoch: old.epoch,
        expected_head: None,
        to: first[0].hash(),
    };
    store.set_head(&making).unwrap();
    let named = side.next_with("<turn>", std::slice::from_ref(&blob));
    store
        .append(side.append(std::slice::from_ref(&named), std::slice::from_ref(&blob)))
        .unwrap();
    let garbage = Garbage::find(&store, &old.run, |head| head.branch == side.branch).unwrap();
    assert_eq!(garbage.blobs, [blob.hash()]);
    // Another process names the blob, which it sees in the journal.
    let mut other = SqliteStore::open(&path, "other").unwrap();
    let new = Writer::claim(&mut other, "new", "main");
    let records = [new.next_with("<turn>", std::slice::from_ref(&blob))];
    other.append(new.append(&records, &[])).unwrap();
    store.remove(&garbage.removal(&old.run, old.epoch)).unwrap();
    assert_eq!(other.blob(&blob.hash()).unwrap(), blob.as_bytes());
    assert!(verify(&other, &new.run, &new.branch).unwrap().is_sound());
    assert!(matches!(
        store.remove(&garbage.removal(&old.run, old.epoch)),
        Err(StoreError::Overtaken) | Ok(())
    ));
    assert_eq!(store.lost().unwrap(), []);
}

#[test]
fn other_processes_that_move_the_log_into_the_file_are_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "first").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let text = format!("\"{}\"", "x".repeat(9_000));
    for round in 0..30 {
        main.write(&mut store, &[&text]).unwrap();
        let mut other = SqliteStore::open(&path, "other").unwrap();
        let mut side = Writer::claim(&mut other, &format!("s{round}"), "main");
        side.write(&mut other, &[&text, &text]).unwrap();
        if round % 7 == 6 {
            other.compact().unwrap();
        }
        if round % 5 == 4 {
            let tool = rusqlite::Connection::open(&path).unwrap();
            tool.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
        }
    }
    assert_eq!(read_all(&store, &main).unwrap().len(), 30);
}

#[test]
fn looking_at_a_journal_leaves_it_open_for_the_process_that_writes_it() {
    let test = "owners::looking_at_a_journal_leaves_it_open_for_the_process_that_writes_it";
    if let Some((journal, name)) = given() {
        let (mut store, mut writer) = claimed(&journal, &name);
        writer.write(&mut store, &["<turn 0>"]).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (mut store, mut main) = claimed(&path, "r");
    // The second commit finds the file that the first one made.
    main.write(&mut store, &["<turn 0>"]).unwrap();
    main.write(&mut store, &["<turn 1>"]).unwrap();
    // The same process looks at the file again and again, as a prompt does for its commands.
    drop(SqliteStore::open_to_read(&path).unwrap());
    assert!(!has_damaged_header(&path).unwrap());
    assert_eq!(missing_bytes(&path).unwrap(), None);
    #[cfg(target_os = "linux")]
    assert!(holds_a_lock_on(&path), "looking has released the locks");
    // Another process comes and goes: whoever believes to be the last one removes the log.
    let mut other = Process::start(test, &path, "other");
    assert!(other.child.wait().unwrap().success());
    main.write(&mut store, &["<turn 2>"]).unwrap();
    let reader = SqliteStore::open_to_read(&path).unwrap();
    let newest = reader.head(&run("r"), &branch("main")).unwrap().unwrap();
    assert_eq!(newest.sequence.number(), 2);
}

/// Opens a journal, and takes a run for this process.
fn claimed(journal: &Path, name: &str) -> (SqliteStore, Writer) {
    let mut store = SqliteStore::open(journal, "test").unwrap();
    let epoch = store.claim(&run(name), &Owner::this("test").to_string()).unwrap();
    let writer = Writer {
        run: run(name),
        branch: branch("main"),
        epoch,
        head: None,
    };
    (store, writer)
}

/// Says whether this process holds a lock on a file.
#[cfg(target_os = "linux")]
fn holds_a_lock_on(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    let this = std::fs::read_link("/proc/self").unwrap();
    let process = format!(" {} ", this.display());
    // The system gives the list out in pieces; a lock is missed while others come and go.
    (0..10).any(|_| {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks
            .lines()
            .any(|lock| lock.contains(&file) && lock.contains(&process))
    })
}
