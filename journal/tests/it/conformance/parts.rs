//! Bodies of every size, whole and in parts.

use duet_journal::collect::Garbage;
use duet_journal::copy::{Task, copy};
use duet_journal::parts::NamedParts;
use duet_journal::store::memory::MemoryStore;
use duet_journal::verify::{Damage, verify};
use duet_journal::{Record, Removal, Store, StoreError};

use crate::common::writer::{Writer, at, body, read_all};
use crate::conformance::{Medium, check_error, head_of, set_head};

pub(crate) fn bodies_of_every_size_survive<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let texts: Vec<String> = (0..18).map(|power| format!("\"{}\"", "x".repeat(1 << power))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let written = main.write(&mut store, &texts).unwrap();
    assert_eq!(read_all(&medium.reopen(store), &main).unwrap(), written);
}

/// A body that repeats all that one with a smaller count has.
fn talk(count: u64) -> String {
    let messages: Vec<String> = (0..count).map(|n| format!("\"{}\"", n * n * 7919)).collect();
    format!("<turn [{}]>", messages.join(" "))
}

fn outline() -> Vec<String> {
    vec!["talk".to_owned()]
}

fn follow(writer: &Writer, text: &str, named: &mut NamedParts) -> Record {
    let header = writer.next_with("<turn>", &[]).header().clone();
    Record::following(header, body(text), outline, named).unwrap()
}

/// Appends three records, of which the later ones add little.
fn write(store: &mut dyn Store, main: &mut Writer) -> Vec<Record> {
    let mut named = NamedParts::default();
    let mut written = Vec::new();
    for count in [20_000, 20_500, 21_000] {
        let record = follow(main, &talk(count), &mut named);
        store.append(main.append(std::slice::from_ref(&record), &[])).unwrap();
        main.move_to(&record);
        written.push(record);
    }
    written
}

pub(crate) fn bodies_share_their_parts_along_a_chain<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = write(&mut store, &mut main);
    let added: Vec<usize> = written.iter().map(|record| record.blobs().count()).collect();
    assert!(
        added[0] > 50 && (1..15).contains(&added[1]) && (1..15).contains(&added[2]),
        "{added:?}"
    );
    assert!(written.iter().all(|record| record.as_bytes().len() < 16_000));
    let store = medium.reopen(store);
    let read = read_all(&store, &main).unwrap();
    assert_eq!(read, written);
    for (read, count) in read.iter().zip([20_000, 20_500, 21_000]) {
        assert_eq!(read.body_bytes(), body(&talk(count)).as_bytes());
        assert_eq!(read.outline(), Some(&*outline()));
    }
    let closed = store.read_closed(&main.run, &main.branch, at(2)..at(3)).unwrap();
    let joined = store.join(closed[0].clone()).unwrap();
    assert_eq!(joined.body_bytes(), written[2].body_bytes());

    let mut elsewhere = MemoryStore::default();
    let heads = store.heads(&main.run).unwrap();
    let task = Task {
        run: &main.run,
        heads: &heads,
        owner: "tests",
        note: None,
    };
    copy(&store, &mut elsewhere, task, None).unwrap();
    assert_eq!(read_all(&elsewhere, &main).unwrap(), written);
}

pub(crate) fn a_fork_names_the_parts_that_its_own_chain_lacks<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = write(&mut store, &mut main);
    let mut side = main.on("side", Some(&written[0]));
    set_head(&mut store, &side, None, written[0].hash()).unwrap();
    let mut named = NamedParts::default();
    written[0].add_named_parts(&mut named);
    let forked = follow(&side, &talk(21_000), &mut named);
    store.append(side.append(std::slice::from_ref(&forked), &[])).unwrap();
    side.move_to(&forked);

    let garbage = Garbage::find(&store, &main.run, |head| head.branch == main.branch).unwrap();
    assert_eq!(garbage.records.len(), 2);
    assert!(!garbage.blobs.is_empty());
    store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
    let store = medium.reopen(store);
    assert_eq!(store.heads(&main.run).unwrap(), [head_of("side", &forked)]);
    assert_eq!(read_all(&store, &side).unwrap(), [written[0].clone(), forked]);
    assert!(verify(&store, &side.run, &side.branch).unwrap().is_sound());
}

pub(crate) fn a_missing_part_is_named<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = write(&mut store, &mut main);
    let part = written[1].blobs().next().unwrap();
    let missing = StoreError::NoSuchBlob { hash: part };
    let removal = Removal {
        run: &main.run,
        epoch: main.epoch,
        branches: &[],
        records: &[],
        blobs: &[part],
        since: store.mark().unwrap(),
    };
    store.remove(&removal).unwrap();
    check_error(store.record(&written[1].hash()), &missing);
    let report = verify(&store, &main.run, &main.branch).unwrap();
    assert_eq!(report.sound_records, 1);
    let Some(Damage::Unreadable { at: place, error }) = report.damage else {
        panic!("{report:?}")
    };
    assert_eq!((place, error.to_string()), (at(1), missing.to_string()));

    let mut elsewhere = MemoryStore::default();
    let other = Writer::claim(&mut elsewhere, "r", "main");
    let first = store.record(&written[0].hash()).unwrap();
    let refused = elsewhere.append(other.append(std::slice::from_ref(&first), &[]));
    assert!(matches!(refused, Err(StoreError::MissingBlob { .. })), "{refused:?}");
}
