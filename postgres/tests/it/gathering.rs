//! Commits of several connections of one process: they share statements, and each has its own
//! verdict.

use std::thread;

use duet_journal::{Blob, Store, StoreError};
use duet_postgres::PostgresStore;

use crate::common::writer::{Writer, read_all};
use crate::server;

/// More than there are statements under way at a time.
const RUNS: usize = 24;
const TURNS: usize = 12;

#[test]
fn commits_of_one_process_share_transactions_and_one_that_is_refused_spoils_no_other() {
    let Some(server) = server::shared() else { return };
    let (address, mut first) = server::store(server);
    let mut writers: Vec<Writer> = (0..RUNS)
        .map(|number| Writer::claim(&mut first, &format!("r{number}"), "main"))
        .collect();
    for writer in &mut writers {
        writer.write(&mut first, &["0"]).unwrap();
    }
    // Somebody else has every sixth run; one blob is of all runs, and one that is missing of one.
    let is_fenced = |number: usize| number % 6 == 5;
    for number in (0..RUNS).filter(|number| is_fenced(*number)) {
        first.claim(&writers[number].run, "somebody else").unwrap();
    }
    let common = [Blob::new(vec![7; 999]).unwrap()];
    let missing = [Blob::new(vec![8; 999]).unwrap()];
    let write = |number: usize, writer: &mut Writer| {
        let mut store = PostgresStore::open(&address).unwrap();
        for turn in 0..TURNS {
            if is_fenced(number) {
                let refused = writer.clone().write(&mut store, &["1"]);
                assert!(matches!(refused, Err(StoreError::EpochFenced { .. })), "{refused:?}");
                continue;
            }
            if number == 0 {
                let record = [writer.next_with("1", &missing)];
                let refused = store.append(writer.append(&record, &[]));
                assert!(matches!(refused, Err(StoreError::MissingBlob { .. })), "{refused:?}");
            }
            let record = [writer.next_with(&turn.to_string(), &common)];
            store.append(writer.append(&record, &common)).unwrap();
            writer.move_to(&record[0]);
        }
    };
    thread::scope(|scope| {
        for (number, writer) in writers.iter_mut().enumerate() {
            let write = &write;
            scope.spawn(move || write(number, writer));
        }
    });
    let mut commits = 0;
    for (number, writer) in writers.iter().enumerate() {
        let written = read_all(&first, writer).unwrap();
        let wanted = if is_fenced(number) { 1 } else { 1 + TURNS };
        assert_eq!(written.len(), wanted, "r{number}");
        commits += written.len();
    }
    let schema = address.schema();
    let transactions = server.sql(&format!("SELECT count(DISTINCT xmin::text) FROM {schema}.records"));
    let transactions: usize = transactions.parse().unwrap();
    assert!(
        transactions < commits,
        "{transactions} transactions of {commits} commits"
    );
}
