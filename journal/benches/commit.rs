//! How much slower is one durable append than a bare `INSERT` of the same bytes into an SQLite
//! table? (commits per second)
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark fails by panicking; criterion generates its entry point"
)]

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Append, BranchName, Epoch, Header, PackedValue, Record, RunId, Sequence, Store};
use rusqlite::{Connection, params};

/// A branch at its end.
struct Branch {
    run: RunId,
    branch: BranchName,
    epoch: Epoch,
    body: PackedValue,
    last: Option<Record>,
}

impl Branch {
    fn new(store: &mut SqliteStore, name: &str) -> Self {
        let (run, branch) = (RunId::new(name).unwrap(), BranchName::new("main").unwrap());
        let epoch = store.claim(&run, "bench").unwrap();
        let text = format!(
            "<turn 1 <cause> [<input \"{}\">] [<assert 7 <fact \"something\" 12>>] [] ok>",
            "x".repeat(250)
        );
        let body = PackedValue::from_value(&text.parse().unwrap()).unwrap();
        Self {
            run,
            branch,
            epoch,
            body,
            last: None,
        }
    }

    fn next(&self) -> Record {
        let header = Header {
            run: self.run.clone(),
            branch: self.branch.clone(),
            sequence: self
                .last
                .as_ref()
                .map_or(Sequence::FIRST, |last| last.header().sequence.next().unwrap()),
            parent: self.last.as_ref().map(|record| record.hash()),
            snapshot: None,
            blobs: Vec::new(),
        };
        Record::new(header, self.body.clone()).unwrap()
    }

    fn append<'a>(&'a self, records: &'a [Record]) -> Append<'a> {
        let expected_head = self.last.as_ref().map(|record| record.hash());
        Append {
            run: &self.run,
            branch: &self.branch,
            epoch: self.epoch,
            expected_head,
            records,
            blobs: &[],
            times: None,
            need: duet_journal::Need::Nothing,
            taken: &[],
        }
    }
}

fn bare(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    let setup =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB);";
    connection.execute_batch(setup).unwrap();
    connection
}

fn insert(connection: &Connection, record: &Record) {
    let mut statement = connection.prepare_cached("INSERT INTO t (bytes) VALUES (?1)").unwrap();
    assert_eq!(statement.execute(params![record.as_bytes()]).unwrap(), 1);
}

fn bare_insert(c: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let connection = bare(&folder.path().join("bare"));
    let mut store = SqliteStore::open(&folder.path().join("unused"), "bench").unwrap();
    let record = Branch::new(&mut store, "r").next();
    let mut group = c.benchmark_group("single commit");
    group.throughput(Throughput::Elements(1));
    group.bench_function("bare insert", |b| {
        b.iter(|| insert(&connection, &record));
    });
}

fn one_append(c: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = SqliteStore::open(&folder.path().join("journal"), "bench").unwrap();
    let mut branch = Branch::new(&mut store, "r");
    let mut group = c.benchmark_group("single commit");
    group.throughput(Throughput::Elements(1));
    group.bench_function("append", |b| {
        b.iter(|| {
            let record = branch.next();
            store.append(branch.append(std::slice::from_ref(&record))).unwrap();
            branch.last = Some(record);
        });
    });
}

fn group_append(c: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = SqliteStore::open(&folder.path().join("journal"), "bench").unwrap();
    let mut branches: Vec<Branch> = (0..64)
        .map(|number| Branch::new(&mut store, &format!("r{number}")))
        .collect();
    let mut group = c.benchmark_group("group commit");
    group.throughput(Throughput::Elements(64));
    let connection = bare(&folder.path().join("bare"));
    let record = branches[0].next();
    group.bench_function("bare insert of 64 rows", |b| {
        b.iter(|| {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            for _ in 0..64 {
                insert(&connection, &record);
            }
            connection.execute_batch("COMMIT").unwrap();
        });
    });
    group.bench_function("append of 64 runs", |b| {
        b.iter(|| {
            let records: Vec<Record> = branches.iter().map(Branch::next).collect();
            let appends: Vec<Append<'_>> = branches
                .iter()
                .zip(&records)
                .map(|(branch, record)| branch.append(std::slice::from_ref(record)))
                .collect();
            store.append_group(&appends).unwrap();
            branches
                .iter_mut()
                .zip(records)
                .for_each(|(branch, record)| branch.last = Some(record));
        });
    });
}

criterion_group!(benches, bare_insert, one_append, group_append);
criterion_main!(benches);
