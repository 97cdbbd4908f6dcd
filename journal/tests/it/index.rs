//! The index beside a journal, against the records: it finds the records' facts, whatever happens
//! to branches, to the file and between the two.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::common::writer::{Writer, at, branch, run};
use duet_journal::index::{Coverage, FiledEntry, Index, MARK_EVERY, Order, Portion, Term};
use duet_journal::store::memory::MemoryStore;
use duet_journal::{BranchName, HeadMove, Record, Sequence, Store, StoreError};
use proptest::prelude::*;

/// A turn files its number under what it leaves divided by 3, and twice if it can be divided by 5.
fn filed(record: &Record) -> Vec<FiledEntry> {
    let number = record
        .body_view()
        .items()
        .next()
        .and_then(|item| item.unsigned())
        .unwrap();
    let entry = |sort: u64| FiledEntry {
        sequence: record.header().sequence,
        terms: vec![term(sort), term(100 + number)],
        bytes: vec![number as u8, sort as u8],
    };
    let mut entries = vec![entry(number % 3)];
    if number.is_multiple_of(5) {
        entries.push(entry(number % 3 + 10));
    }
    entries
}

fn term(number: u64) -> Term {
    Term::of(&[b"test", &number.to_le_bytes()])
}

/// Covers a branch as a question does.
fn cover(index: &mut Index, store: &dyn Store, name: &BranchName, to: Sequence) -> Result<Coverage, StoreError> {
    let run = run("r");
    let mut coverage = index.coverage(store, &run, name, to)?;
    while coverage.sequence() < to {
        let mut portions = Vec::new();
        let mut from = coverage.sequence().number();
        while from < to.number() && portions.len() < 2 {
            let end = ((from / MARK_EVERY + 1) * MARK_EVERY).min(to.number());
            let records = store.read(&run, name, at(from + 1)..at(end + 1))?;
            portions.push(Portion {
                entries: records.iter().flat_map(filed).collect(),
                end: (at(end), records.last().unwrap().hash()),
            });
            from = end;
        }
        index.extend(&mut coverage, &portions)?;
    }
    Ok(coverage)
}

type Found = Vec<(u64, u64, Vec<u8>)>;

fn look(index: &Index, coverage: &Coverage, sought: Option<Term>, order: Order) -> Found {
    let mut found = Found::new();
    let tell = |(sequence, place): (Sequence, u64), bytes: &[u8]| {
        found.push((sequence.number(), place, bytes.to_vec()));
        ControlFlow::Continue(())
    };
    match sought {
        Some(term) => index.find(coverage, term, order, tell).unwrap(),
        None => index.walk(coverage, at(0)..=coverage.sequence(), order, tell).unwrap(),
    }
    found
}

/// Requires an index to find the facts of a branch's records up to a position.
#[track_caller]
fn check(index: &mut Index, store: &dyn Store, name: &BranchName, to: Sequence) {
    let coverage = cover(index, store, name, to).unwrap();
    assert_eq!(coverage.sequence(), to);
    let records = store.read(&run("r"), name, at(1)..at(to.number() + 1)).unwrap();
    let mut expected = Vec::new();
    for entries in records.iter().map(filed) {
        expected.extend((0..).zip(entries));
    }
    let shown = |sought: Option<Term>| -> Found {
        let is_sought = |entry: &FiledEntry| sought.is_none_or(|term| entry.terms.contains(&term));
        let kept = expected.iter().filter(|(_, entry)| is_sought(entry));
        kept.map(|(place, entry)| (entry.sequence.number(), *place, entry.bytes.clone()))
            .collect()
    };
    for sought in [None, Some(term(0)), Some(term(11)), Some(term(107)), Some(term(99))] {
        let mut all = shown(sought);
        assert_eq!(look(index, &coverage, sought, Order::OldestFirst), all);
        if let Some(term) = sought {
            assert!(index.count(&coverage, term, usize::MAX).unwrap() >= all.len());
        }
        all.reverse();
        assert_eq!(look(index, &coverage, sought, Order::NewestFirst), all);
    }
    let terms = index.terms(&coverage, at(1)..=to.max(at(1))).unwrap();
    let places: Vec<(u64, u64)> = terms
        .keys()
        .map(|(sequence, place)| (sequence.number(), *place))
        .collect();
    let all: Vec<(u64, u64)> = shown(None)
        .into_iter()
        .map(|(sequence, place, _)| (sequence, place))
        .collect();
    assert_eq!(places, all);
}

#[derive(Clone, Debug)]
enum Operation {
    /// A branch grows by this number of turns.
    Grow(usize, u64),
    /// Another branch begins in the middle of one; the second number says where, in thousandths.
    Fork(usize, u64),
    /// A branch goes back.
    Back(usize, u64),
    /// Something is asked about a branch.
    Ask(usize, u64),
    /// The file of the index is what it was when it was kept last: a crash took the newest commits,
    /// or somebody put a copy back.
    Forget,
    /// The file is kept for that.
    Keep,
    /// The file is removed.
    Remove,
}

fn operation() -> impl Strategy<Value = Operation> {
    let some = || (0_usize..4, 0_u64..=1000);
    prop_oneof![
        4 => (0_usize..4, 1_u64..1800).prop_map(|(branch, turns)| Operation::Grow(branch, turns)),
        2 => some().prop_map(|(branch, at)| Operation::Fork(branch, at)),
        2 => some().prop_map(|(branch, at)| Operation::Back(branch, at)),
        5 => some().prop_map(|(branch, at)| Operation::Ask(branch, at)),
        1 => Just(Operation::Forget),
        2 => Just(Operation::Keep),
        1 => Just(Operation::Remove),
    ]
}

/// A journal with its index.
struct Pair {
    store: MemoryStore,
    writers: Vec<Writer>,
    number: u64,
    folder: tempfile::TempDir,
}

impl Pair {
    fn new() -> Self {
        let mut store = MemoryStore::default();
        let mut main = Writer::claim(&mut store, "r", "branch-0");
        main.write(&mut store, &["<run 0>"]).unwrap();
        Self {
            store,
            writers: vec![main],
            number: 0,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn writer(&mut self, number: usize) -> &mut Writer {
        let count = self.writers.len();
        &mut self.writers[number % count]
    }

    fn position(&mut self, number: usize, thousandths: u64) -> Sequence {
        let head = self.writer(number).head.unwrap().0;
        at(head.number() * thousandths / 1000)
    }

    fn go(&mut self, number: usize, thousandths: u64, name: &str) {
        let to = self.position(number, thousandths);
        let writer = self.writer(number).clone();
        let record = self.store.record_at(&writer.run, &writer.branch, to).unwrap().unwrap();
        let is_new = writer.branch != branch(name);
        let moved = writer.on(name, Some(&record));
        let head_move = HeadMove {
            run: &moved.run,
            branch: &moved.branch,
            epoch: moved.epoch,
            expected_head: if is_new {
                None
            } else {
                writer.head.map(|(_, hash)| hash)
            },
            to: record.hash(),
        };
        self.store.set_head(&head_move).unwrap();
        if is_new {
            self.writers.push(moved);
        } else {
            *self.writer(number) = moved;
        }
    }

    fn perform(&mut self, operation: &Operation) {
        let journal = self.journal();
        match *operation {
            Operation::Grow(number, turns) => {
                let texts: Vec<String> = (0..turns)
                    .map(|turn| format!("<turn {}>", self.number + turn))
                    .collect();
                self.number += turns;
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let mut writer = self.writer(number).clone();
                writer.write(&mut self.store, &texts).unwrap();
                *self.writer(number) = writer;
            }
            Operation::Fork(number, thousandths) => {
                let name = format!("branch-{}", self.writers.len());
                self.go(number, thousandths, &name);
            }
            Operation::Back(number, thousandths) => {
                let name = self.writer(number).branch.to_string();
                self.go(number, thousandths, &name);
            }
            Operation::Ask(number, thousandths) => {
                let to = self.position(number, thousandths);
                let name = self.writer(number).branch.clone();
                check(&mut Index::open(&journal).unwrap(), &self.store, &name, to);
            }
            Operation::Keep => drop(fs::copy(file(&journal), kept(&journal))),
            Operation::Forget => drop(fs::copy(kept(&journal), file(&journal))),
            Operation::Remove => drop(Index::remove(&journal).unwrap()),
        }
    }
}

fn file(journal: &Path) -> PathBuf {
    {
        let mut name = journal.as_os_str().to_owned();
        name.push(".index");
        name.into()
    }
}

fn kept(journal: &Path) -> PathBuf {
    journal.with_extension("kept")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_index_finds_what_the_records_say_whatever_happens(operations in prop::collection::vec(operation(), 1..14)) {
        let mut pair = Pair::new();
        for operation in &operations {
            pair.perform(operation);
        }
        let heads: Vec<_> = pair.writers.iter().map(|writer| (writer.branch.clone(), writer.head.unwrap().0)).collect();
        for (name, head) in heads {
            check(&mut Index::open(&pair.journal()).unwrap(), &pair.store, &name, head);
        }
    }
}

#[test]
fn what_an_index_says_of_another_journal_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let mut one = Pair::new();
    one.perform(&Operation::Grow(0, 3000));
    check(
        &mut Index::open(&journal).unwrap(),
        &one.store,
        &branch("branch-0"),
        at(3000),
    );
    let mut other = Pair::new();
    other.number = 1;
    other.perform(&Operation::Grow(0, 3000));
    check(
        &mut Index::open(&journal).unwrap(),
        &other.store,
        &branch("branch-0"),
        at(3000),
    );
    check(
        &mut Index::open(&journal).unwrap(),
        &one.store,
        &branch("branch-0"),
        at(2999),
    );
}

#[test]
fn two_who_extend_at_once_both_find_everything() {
    let mut pair = Pair::new();
    pair.perform(&Operation::Grow(0, 700));
    let (name, journal) = (branch("branch-0"), pair.journal());
    let mut one = Index::open(&journal).unwrap();
    let mut other = Index::open(&journal).unwrap();
    check(&mut one, &pair.store, &name, at(500));
    let mut held = other.coverage(&pair.store, &run("r"), &name, at(500)).unwrap();
    check(&mut one, &pair.store, &name, at(600));
    // It knows nothing yet of the turns that the first has covered meanwhile.
    let records = pair.store.read(&run("r"), &name, at(501)..at(651)).unwrap();
    let portion = Portion {
        entries: records.iter().flat_map(filed).collect(),
        end: (at(650), records.last().unwrap().hash()),
    };
    other.extend(&mut held, &[portion]).unwrap();
    for to in [at(550), at(600), at(650), at(700)] {
        check(&mut one, &pair.store, &name, to);
        check(&mut other, &pair.store, &name, to);
    }
}

#[test]
fn an_index_in_use_is_not_removed_and_a_strange_file_is_replaced_or_left() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    assert!(Index::open_existing(&journal).unwrap().is_none());
    let index = Index::open(&journal).unwrap();
    assert!(matches!(Index::remove(&journal), Err(StoreError::Locked)));
    drop(index);
    assert!(Index::remove(&journal).unwrap());
    assert!(!Index::remove(&journal).unwrap());
    for nothing in [&b""[..], b"no database", &[0; 4096]] {
        fs::write(file(&journal), nothing).unwrap();
        assert!(Index::open_existing(&journal).unwrap().is_none());
        drop(Index::open(&journal).unwrap());
        assert!(Index::open_existing(&journal).unwrap().is_some());
    }
    let foreign = rusqlite::Connection::open(folder.path().join("foreign")).unwrap();
    foreign.execute_batch("CREATE TABLE t (x)").unwrap();
    foreign.close().unwrap();
    fs::copy(folder.path().join("foreign"), file(&journal)).unwrap();
    let before = fs::read(file(&journal)).unwrap();
    assert!(matches!(Index::open(&journal), Err(StoreError::NotAJournal { .. })));
    assert_eq!(fs::read(file(&journal)).unwrap(), before);
}

#[test]
fn a_write_ahead_log_that_is_cut_anywhere_loses_turns_and_tells_no_lies() {
    let mut pair = Pair::new();
    pair.perform(&Operation::Grow(0, 300));
    let (name, journal) = (branch("branch-0"), pair.journal());
    let mut index = Index::open(&journal).unwrap();
    for to in [40, 90, 300] {
        cover(&mut index, &pair.store, &name, at(to)).unwrap();
    }
    let log = |journal: &Path| {
        let mut name = file(journal).into_os_string();
        name.push("-wal");
        PathBuf::from(name)
    };
    let (whole, written) = (fs::read(file(&journal)).unwrap(), fs::read(log(&journal)).unwrap());
    let mut lost = Vec::new();
    for length in (0..=written.len()).step_by(written.len() / 60) {
        let crashed = pair.folder.path().join(format!("crashed-{length}"));
        fs::write(file(&crashed), &whole).unwrap();
        fs::write(log(&crashed), &written[..length]).unwrap();
        let mut index = Index::open(&crashed).unwrap();
        let coverage = index.coverage(&pair.store, &run("r"), &name, at(300)).unwrap();
        lost.push(coverage.sequence().number());
        check(&mut index, &pair.store, &name, at(300));
        index.check_structure().unwrap();
    }
    lost.dedup();
    assert_eq!(lost, [0, 40, 90], "each commit is there whole or not at all");
}

#[test]
fn no_changed_byte_of_an_index_tells_a_lie_and_listing_it_shows_what_is_hidden() {
    let mut pair = Pair::new();
    pair.perform(&Operation::Grow(0, 60));
    let (name, journal) = (branch("branch-0"), pair.journal());
    let mut index = Index::open(&journal).unwrap();
    let coverage = cover(&mut index, &pair.store, &name, at(60)).unwrap();
    let sought = [term(0), term(1), term(11), term(107), term(130)];
    let truth = sought.map(|term| look(&index, &coverage, Some(term), Order::OldestFirst));
    let terms = index.terms(&coverage, at(1)..=at(60)).unwrap();
    drop(index);
    let sound = fs::read(file(&journal)).unwrap();
    // A stride that is no divisor of a page's length meets every kind of byte; the variable takes
    // them all.
    #[expect(
        clippy::disallowed_methods,
        reason = "the long form is asked for by whoever runs the test"
    )]
    let stride = if std::env::var_os("DUET_EVERY_BYTE").is_some() {
        1
    } else {
        29
    };
    let mut hidden = 0;
    for byte in (0..sound.len()).step_by(stride) {
        let mut damaged = sound.clone();
        damaged[byte] ^= 0x15;
        fs::write(file(&journal), &damaged).unwrap();
        let Ok(Some(index)) = Index::open_existing(&journal) else {
            continue;
        };
        let Ok(coverage) = index.coverage(&pair.store, &run("r"), &name, at(60)) else {
            continue;
        };
        if coverage.sequence() < at(60) {
            continue;
        }
        let is_hidden = sought.iter().zip(&truth).any(|(term, truth)| {
            let mut found = Found::new();
            let searched = index.find(&coverage, *term, Order::OldestFirst, |(sequence, place), bytes| {
                found.push((sequence.number(), place, bytes.to_vec()));
                ControlFlow::Continue(())
            });
            // A term that has changed into another may lead to an entry that is not filed under it:
            // a search compares what it finds.
            found.retain(|found| truth.contains(found));
            searched.is_ok() && found.len() < truth.len()
        });
        if is_hidden {
            hidden += 1;
            let listed = index.terms(&coverage, at(1)..=at(60));
            let is_found = index.check_structure().is_err() || !listed.is_ok_and(|listed| listed == terms);
            assert!(
                is_found,
                "byte {byte}: something is hidden, and listing the index does not show it"
            );
        }
    }
    assert!(hidden > 0, "some byte of a term was changed");
}
