//! Damage in a write-ahead log takes commits away in silence; the tail beside the journal says so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::writer::{Writer, at, branch, read_all, run};
use duet_journal::store::sqlite::{LostCommits, SqliteStore, has_damaged_header};
use duet_journal::{Head, HeadMove, Removal, Store, StoreError};

const TURNS: u64 = 60;

/// A journal as a crash leaves it: the files of one that is being written.
struct Crashed {
    folder: tempfile::TempDir,
    main: Writer,
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

impl Crashed {
    /// Writes turns, then does `more`, and copies the files.
    fn after(more: impl FnOnce(&mut SqliteStore, &mut Writer)) -> Self {
        let (from, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = from.path().join("journal");
        let mut store = SqliteStore::open(&path, "test").unwrap();
        let mut main = Writer::claim(&mut store, "r", "main");
        for number in 0..=TURNS {
            main.write(&mut store, &[&format!("<turn {number}>")]).unwrap();
        }
        more(&mut store, &mut main);
        for suffix in ["", "-wal", ".tail"] {
            fs::copy(beside(&path, suffix), beside(&folder.path().join("journal"), suffix)).unwrap();
        }
        Self { folder, main }
    }

    fn turns() -> Self {
        Self::after(|_, _| {})
    }

    fn file(&self, suffix: &str) -> PathBuf {
        beside(&self.folder.path().join("journal"), suffix)
    }

    fn change(&self, suffix: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.file(suffix)).unwrap();
        change(&mut bytes);
        fs::write(self.file(suffix), bytes).unwrap();
    }

    fn read(&self) -> SqliteStore {
        SqliteStore::open_to_read(&self.file("")).unwrap()
    }

    /// Requires that the journal lacks the newest turns, and says so.
    #[track_caller]
    fn check_lost(&self) {
        let store = self.read();
        let lost = store.lost().unwrap();
        let [
            LostCommits {
                run: of,
                branch: on,
                durable,
                found,
            },
        ] = &lost[..]
        else {
            panic!("one branch lost turns: {lost:?}");
        };
        assert_eq!((of.as_str(), on.as_str(), *durable), ("r", "main", at(TURNS)));
        let there = store
            .heads(&run("r"))
            .map_or(None, |heads| heads.first().map(|head| head.sequence));
        assert_eq!(*found, there);
        assert!(there < Some(at(TURNS)));
    }
}

#[test]
fn a_journal_after_a_crash_lacks_nothing() {
    let crashed = Crashed::turns();
    assert_eq!(crashed.read().lost().unwrap(), []);
    let store = SqliteStore::open(&crashed.file(""), "test").unwrap();
    assert_eq!(store.lost().unwrap(), []);
    assert_eq!(read_all(&store, &crashed.main).unwrap().len() as u64, TURNS + 1);
}

#[test]
fn a_changed_bit_anywhere_in_the_log_is_noticed() {
    let length = fs::metadata(Crashed::turns().file("-wal")).unwrap().len() as usize;
    for place in [16, 40, length / 4, length / 2, length - 10] {
        let crashed = Crashed::turns();
        crashed.change("-wal", |bytes| bytes[place] ^= 4);
        crashed.check_lost();
    }
}

#[test]
fn a_log_that_is_cut_or_gone_is_noticed() {
    let crashed = Crashed::turns();
    crashed.change("-wal", |bytes| bytes.truncate(bytes.len() / 2));
    crashed.check_lost();
    fs::remove_file(crashed.file("-wal")).unwrap();
    crashed.check_lost();
}

#[test]
fn a_move_of_a_head_that_is_lost_is_noticed() {
    let crashed = Crashed::after(|store, main| {
        let to = store.record_at(&main.run, &main.branch, at(5)).unwrap().unwrap().hash();
        store
            .set_head(&HeadMove {
                run: &main.run,
                branch: &main.branch,
                epoch: main.epoch,
                expected_head: main.head.map(|(_, hash)| hash),
                to,
            })
            .unwrap();
    });
    assert_eq!(crashed.read().lost().unwrap(), []);
    crashed.change("-wal", |bytes| {
        let last = bytes.len() - 10;
        bytes[last] ^= 1;
    });
    let lost = crashed.read().lost().unwrap();
    assert_eq!((lost[0].durable, lost[0].found), (at(5), Some(at(TURNS))));
}

#[test]
fn a_tail_that_is_old_torn_or_absent_accuses_nobody() {
    let crashed = Crashed::turns();
    let tail = fs::read(crashed.file(".tail")).unwrap();
    drop(SqliteStore::open(&crashed.file(""), "test").unwrap());
    let mut store = SqliteStore::open(&crashed.file(""), "test").unwrap();
    let mut main = crashed.main.clone();
    main.epoch = store.claim(&main.run, "test").unwrap();
    main.write(&mut store, &["<turn more>"]).unwrap();
    drop(store);
    for old in [
        &tail[..],
        &tail[..tail.len() - 7],
        b"",
        b"\xff",
        b"0123456789abcdef r main 1 1 1\n",
    ] {
        fs::write(crashed.file(".tail"), old).unwrap();
        assert_eq!(crashed.read().lost().unwrap(), []);
    }
    fs::remove_file(crashed.file(".tail")).unwrap();
    assert_eq!(crashed.read().lost().unwrap(), []);
}

#[test]
fn a_branch_that_is_given_up_is_not_missed() {
    let crashed = Crashed::after(|store, main| {
        let head = |number| store.record_at(&main.run, &main.branch, at(number)).unwrap().unwrap();
        let (to, side) = (head(3).hash(), branch("side"));
        let side_move = HeadMove {
            run: &main.run,
            branch: &side,
            epoch: main.epoch,
            expected_head: None,
            to,
        };
        store.set_head(&side_move).unwrap();
        let removal = Removal {
            run: &main.run,
            epoch: main.epoch,
            branches: &[side],
            records: &[],
            blobs: &[],
            since: store.mark().unwrap(),
        };
        store.remove(&removal).unwrap();
    });
    assert_eq!(crashed.read().lost().unwrap(), []);
}

#[test]
fn a_loss_that_somebody_accepts_is_not_told_again() {
    let crashed = Crashed::turns();
    crashed.change("-wal", |bytes| bytes.truncate(bytes.len() / 2));
    let mut store = SqliteStore::open(&crashed.file(""), "test").unwrap();
    assert_eq!(store.lost().unwrap().len(), 1);
    store.accept_loss();
    assert_eq!(store.lost().unwrap(), []);
    drop(store);
    assert_eq!(crashed.read().lost().unwrap(), []);
}

#[test]
fn a_tail_of_a_journal_that_was_removed_says_nothing_about_the_next() {
    let crashed = Crashed::turns();
    fs::remove_file(crashed.file("")).unwrap();
    fs::remove_file(crashed.file("-wal")).unwrap();
    let mut store = SqliteStore::open(&crashed.file(""), "test").unwrap();
    assert_eq!(store.lost().unwrap(), []);
    Writer::claim(&mut store, "other", "main")
        .write(&mut store, &["<turn>"])
        .unwrap();
    drop(store);
    assert_eq!(crashed.read().lost().unwrap(), []);
}

/// Makes a journal whose log has a copy of its first page, and damages the header of the file.
fn with_damaged_header() -> Crashed {
    // A blob of many pages makes the file grow, which its first page says.
    let crashed = Crashed::after(|store, main| {
        let blob = duet_journal::Blob::new(vec![7; 100_000]).unwrap();
        let record = main.next_with("<turn large>", std::slice::from_ref(&blob));
        let (records, blobs) = ([record], [blob]);
        store.append(main.append(&records, &blobs)).unwrap();
        main.move_to(&records[0]);
    });
    crashed.change("", |bytes| bytes[..16].fill(0xaa));
    crashed
}

#[test]
fn a_damaged_header_beside_a_good_log_is_repaired_from_the_log() {
    let crashed = with_damaged_header();
    assert!(has_damaged_header(&crashed.file("")).unwrap());
    let records = read_all(&crashed.read(), &crashed.main).unwrap();
    assert_eq!(records.len() as u64, TURNS + 2);
    assert!(
        has_damaged_header(&crashed.file("")).unwrap(),
        "a reader changes nothing"
    );
    drop(SqliteStore::open(&crashed.file(""), "test").unwrap());
    assert!(!has_damaged_header(&crashed.file("")).unwrap());
    let head: Head = crashed.read().heads(&run("r")).unwrap().remove(0);
    assert_eq!(Some((head.sequence, head.hash)), crashed.main.head);
}

#[test]
fn a_damaged_header_without_a_copy_is_named_as_what_it_is() {
    let crashed = with_damaged_header();
    crashed.change("-wal", |bytes| bytes.truncate(32 + 100));
    for opened in [
        SqliteStore::open_to_read(&crashed.file("")),
        SqliteStore::open(&crashed.file(""), "t"),
    ] {
        let error = opened.err().unwrap();
        assert!(
            matches!(&error, StoreError::NotAJournal { why, .. } if why.contains("header is damaged")),
            "{error}"
        );
    }
}
