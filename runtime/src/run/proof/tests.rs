//! Snapshots that somebody made up, and those that runs make.

use duet_journal::store::memory::MemoryStore;
use duet_journal::{Append, Blob, BlobHash, Header, Record, Store};

use super::*;
use crate::run::snapshot::{Snapshot, SnapshotPolicy};
use crate::tests::script::world::{World, branch, run_id};
use crate::tests::script::{Scripts, parse};

/// A script whose state and memory change with every turn.
const COUNTING: &str = "main:
    actor other console
    assert a <p one>
    yield
    assert b <p two>
    yield
    assert c <p three>
    yield
    write done
    await <lit never>
  other:
    assert d <p other>
    yield
    show other
    await <lit never>
  mine:
    await <lit never>";

fn counted() -> World<Scripts> {
    let often = SnapshotPolicy {
        turns: 2,
        ..SnapshotPolicy::NEVER
    };
    let mut world = World::script(COUNTING, &["*"], often);
    world.drive();
    world
}

fn records(store: &MemoryStore) -> Vec<Record> {
    let end = Sequence::new(1 << 20).expect("small");
    store
        .read(&run_id(), &branch("main"), Sequence::FIRST..end)
        .expect("the branch exists")
}

fn prove(store: &dyn Store) -> Result<u64, RunError> {
    let (run, branch) = (run_id(), branch("main"));
    let source = Source {
        store,
        run: &run,
        branch: &branch,
    };
    source.prove(Scripts(parse(COUNTING)), Scripts(parse(COUNTING)))
}

/// A store with the records of another up to its last snapshot, which becomes `root`; the blobs
/// `others` are there too.
pub(in crate::run) fn forged(from: &MemoryStore, root: &Blob, others: &[Blob]) -> MemoryStore {
    let mut records = records(from);
    let last = records.iter().rposition(|record| record.header().snapshot.is_some());
    records.truncate(last.expect("there are snapshots") + 1);
    let last = records.pop().expect("there are snapshots");
    let mut named: Vec<BlobHash> = last.header().blobs.clone();
    named.extend(others.iter().map(Blob::hash));
    let header = Header {
        snapshot: Some(root.hash()),
        blobs: named,
        ..last.header().clone()
    };
    let body = PackedValue::from_value(&last.body()).expect("it was a record's");
    records.push(Record::new(header, body).expect("a record"));
    let mut blobs = vec![root.clone()];
    blobs.extend_from_slice(others);
    for hash in records.iter().flat_map(|record| record.blobs()) {
        if let Ok(bytes) = from.blob(&hash) {
            blobs.push(Blob::new(bytes).expect("it was one"));
        }
    }
    let mut store = MemoryStore::default();
    let epoch = store.claim(&run_id(), "test").expect("the store is empty");
    let (run, branch) = (run_id(), branch("main"));
    let append = Append {
        run: &run,
        branch: &branch,
        epoch,
        expected_head: None,
        records: &records,
        blobs: &blobs,
        times: None,
        need: duet_journal::Need::Nothing,
        taken: &[],
    };
    store.append(append).expect("a chain");
    store
}

pub(in crate::run) fn last_snapshot(store: &MemoryStore) -> Snapshot {
    let records = records(store);
    let root = records.iter().rev().find_map(|record| record.header().snapshot);
    let bytes = store.blob(&root.expect("there are snapshots")).expect("its blob");
    Snapshot::decode(&duet_journal::packed::read_value(&bytes).expect("packed")).expect("a snapshot")
}

pub(in crate::run) fn packed(snapshot: &Snapshot) -> Blob {
    let packed = PackedValue::write(|out| snapshot.write(out)).expect("small");
    Blob::new(packed.into_bytes()).expect("small")
}

#[test]
fn snapshots_that_a_run_makes_are_proved() {
    let world = counted();
    let snapshots = records(&world.store)
        .iter()
        .filter(|record| record.header().snapshot.is_some())
        .count();
    assert!(snapshots > 2, "{snapshots}");
    assert_eq!(prove(&world.store).expect("they are right"), snapshots as u64);
}

#[test]
fn a_snapshot_with_facts_that_no_record_asserts_is_refused() {
    let world = counted();
    let mut snapshot = last_snapshot(&world.store);
    snapshot.state = crate::run::initial_state(world.run.genesis());
    snapshot.actors.clear();
    let error = prove(&forged(&world.store, &packed(&snapshot), &[])).expect_err("it is forged");
    let part = SnapshotPart::State;
    assert!(
        matches!(error, RunError::WrongSnapshot { part: found, .. } if found == part),
        "{error}"
    );
}

#[test]
fn a_snapshot_with_an_actor_that_did_not_run_is_refused() {
    let world = counted();
    let mut snapshot = last_snapshot(&world.store);
    snapshot.actors.pop();
    let error = prove(&forged(&world.store, &packed(&snapshot), &[])).expect_err("it is forged");
    let part = SnapshotPart::Actors;
    assert!(
        matches!(error, RunError::WrongSnapshot { part: found, .. } if found == part),
        "{error}"
    );
}

#[test]
fn a_snapshot_with_a_memory_that_no_turn_made_is_refused() {
    let world = counted();
    let mut snapshot = last_snapshot(&world.store);
    let main = &mut snapshot.actors[0];
    let mut bytes = world.store.blob(&main.chunks[0]).expect("its chunk");
    let found = bytes.windows(4).position(|name| name == b"main");
    let place = found.expect("the procedure that runs");
    bytes[place..place + 4].copy_from_slice(b"mine");
    let chunk = Blob::new(bytes).expect("small");
    main.chunks[0] = chunk.hash();
    let error = prove(&forged(&world.store, &packed(&snapshot), &[chunk])).expect_err("it is forged");
    assert!(
        matches!(
            error,
            RunError::WrongSnapshot {
                part: SnapshotPart::Instance(_),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_snapshot_that_cannot_be_loaded_is_noticed() {
    let world = counted();
    let garbage = Blob::new(b"no snapshot".to_vec()).expect("small");
    prove(&forged(&world.store, &garbage, &[])).expect_err("it is none");
    let mut snapshot = last_snapshot(&world.store);
    for actor in &mut snapshot.actors {
        actor.chunks.clear();
    }
    let error = prove(&forged(&world.store, &packed(&snapshot), &[])).expect_err("a memory is missing");
    assert!(matches!(error, RunError::Thaw { .. }), "{error}");
}
