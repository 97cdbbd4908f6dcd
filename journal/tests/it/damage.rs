//! Damage is noticed: a changed byte gives an error or changes nothing, and never another answer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crate::common::script::{Observation, World, observe, sample};
use crate::common::writer::{Writer, at, read_all};
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::{Damage, Lost, repair, verify};
use duet_journal::{Blob, BlobHash, RecordHash, Store, StoreError};

fn write_sample(store: &mut dyn Store) {
    let mut world = World::default();
    sample().iter().for_each(|step| world.take(step, store).unwrap());
}

#[test]
fn every_changed_byte_of_a_log_is_noticed() {
    flip_everywhere(|changed| changed);
}

/// Corrects the checksums of all frames, so that a reader meets the damage behind them.
///
/// Source: `FORMAT.md`, "Log".
fn resealed(mut log: Vec<u8>) -> Vec<u8> {
    const HEADER: usize = 12;
    const FRAME: usize = 4 + 8 + 8 + 8;
    let (mut at, mut previous) = (HEADER, [0; 8]);
    while at + FRAME <= log.len() {
        let length =
            usize::try_from(u64::from_le_bytes(log[at + 12..at + 20].try_into().unwrap())).unwrap_or(usize::MAX);
        let Some(end) = (at + FRAME).checked_add(length).filter(|end| *end <= log.len()) else {
            break;
        };
        log[at + 20..at + FRAME].copy_from_slice(&previous);
        previous = twox_hash::XxHash3_64::oneshot(&log[at + 12..end]).to_le_bytes();
        log[at + 4..at + 12].copy_from_slice(&previous);
        at = end;
    }
    log
}

#[test]
fn a_log_that_is_whole_is_sealed_as_the_format_says() {
    let mut store = MemoryStore::default();
    write_sample(&mut store);
    let bytes = store.disk().bytes().to_vec();
    assert_eq!(resealed(bytes.clone()), bytes);
}

#[test]
#[should_panic(expected = "went unnoticed")]
fn a_skipped_checksum_is_noticed() {
    flip_everywhere(resealed);
}

/// Flips every byte of a log and requires that the reader notices; `read` reads the changed log.
fn flip_everywhere(read: fn(Vec<u8>) -> Vec<u8>) {
    let mut store = MemoryStore::default();
    let mut prefixes = vec![observe(&store).unwrap()];
    let mut world = World::default();
    for step in sample() {
        world.take(&step, &mut store).unwrap();
        prefixes.push(observe(&store).unwrap());
    }
    let bytes = store.disk().bytes().to_vec();
    let mut cut_off = 0;
    for offset in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[offset] ^= flip;
            let Ok(store) = MemoryStore::open(SimulatedDisk::new(read(changed), FaultPlan::default())) else {
                continue;
            };
            // Only the last commit can pass for one that a crash interrupted.
            assert!(store.dropped_bytes() > 0, "a change at {offset} went unnoticed");
            assert_eq!(observe(&store).unwrap(), prefixes[prefixes.len() - 2], "at {offset}");
            cut_off += 1;
        }
    }
    assert!(cut_off > 0 && cut_off < bytes.len());
}

#[test]
fn a_log_that_is_cut_short_shows_a_prefix() {
    let mut store = MemoryStore::default();
    let mut prefixes = vec![(store.disk().bytes().len(), observe(&store).unwrap())];
    let mut world = World::default();
    for step in sample() {
        world.take(&step, &mut store).unwrap();
        prefixes.push((store.disk().bytes().len(), observe(&store).unwrap()));
    }
    let bytes = store.disk().bytes().to_vec();
    for length in 0..bytes.len() {
        let disk = SimulatedDisk::new(bytes[..length].to_vec(), FaultPlan::default());
        let store = MemoryStore::open(disk).unwrap();
        let whole = prefixes
            .iter()
            .rev()
            .find(|(end, _)| *end <= length)
            .unwrap_or(&prefixes[0]);
        assert_eq!(observe(&store).unwrap(), whole.1, "{length}");
    }
}

/// Everything that a reader sees: the branches, and by name the records that no branch has.
fn inspect(path: &Path, (records, blobs): &(Vec<RecordHash>, Vec<BlobHash>)) -> Result<Observation, StoreError> {
    let store = SqliteStore::open_to_read(path)?;
    let seen = observe(&store)?;
    for run in store.runs()? {
        for head in store.heads(&run)? {
            assert!(
                verify(&store, &run, &head.branch)?.is_sound(),
                "what can be read is sound"
            );
        }
    }
    records.iter().try_for_each(|record| store.record(record).map(drop))?;
    blobs.iter().try_for_each(|blob| store.blob(blob).map(drop))?;
    Ok(seen)
}

/// The names of all records and blobs in a database.
fn names(path: &Path) -> (Vec<RecordHash>, Vec<BlobHash>) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let read = |sql: &str| -> Vec<Vec<u8>> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let records = read("SELECT hash FROM records").into_iter();
    let blobs = read("SELECT hash FROM blobs").into_iter();
    (
        records.map(|hash| RecordHash::from_slice(&hash).unwrap()).collect(),
        blobs.map(|hash| BlobHash::from_slice(&hash).unwrap()).collect(),
    )
}

/// Where changes have no effect on what is read.
///
/// Source: `FORMAT.md`, "SQLite", "Damage".
const UNREAD: [&str; 14] = [
    "free blocks",
    "header: application",
    "header: change counter",
    "header: encoding",
    "header: free pages",
    "header: page cache and vacuum",
    "header: reserved",
    "header: schema cookie and format",
    "header: version for writers",
    "header: who wrote",
    "pages: room",
    "rows: what is null",
    "schema",
    "workspace: its key",
];

#[test]
fn every_changed_byte_of_a_database_is_noticed_but_where_nothing_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    write_sample(&mut SqliteStore::open(&path, "damage").unwrap());
    let (bytes, names) = (std::fs::read(&path).unwrap(), names(&path));
    let expected = inspect(&path, &names).unwrap();
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let mut write = |offset: usize, byte: u8| {
        file.seek(SeekFrom::Start(offset as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    // A blob is found by the index on its hash, which stands in its row too.
    let copies: Vec<_> = (0..bytes.len() - 32)
        .filter(|at| names.1.iter().any(|name| bytes[*at..].starts_with(name.as_bytes())))
        .map(|at| at..at + 32)
        .collect();
    let mut noticed = 0;
    for (offset, &byte) in bytes.iter().enumerate() {
        let area = area(&bytes, offset);
        // A few bytes of unwritten space stand for all.
        if area == "pages: room" && byte == 0 && offset % 64 != 0 {
            continue;
        }
        write(offset, byte ^ (1 << (offset % 8)));
        match inspect(&path, &names) {
            Ok(seen) => {
                assert_eq!(seen, expected, "a change at {offset} gave another answer");
                let is_repeated = copies.iter().any(|copy| copy.contains(&offset));
                assert!(
                    UNREAD.contains(&area) || is_repeated,
                    "a change at {offset}, {area}, went unnoticed"
                );
            }
            Err(_) => noticed += 1,
        }
        write(offset, byte);
    }
    assert!(noticed > 1000, "{noticed}");
    assert_eq!(inspect(&path, &names).unwrap(), expected);
}

/// The part of a database to which a byte belongs, as far as SQLite's format says so without its
/// tables.
///
/// Source: SQLite, "Database File Format", 1.3 and 1.6.
fn area(bytes: &[u8], offset: usize) -> &'static str {
    const PAGE: usize = 4096;
    let number = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    let page = offset / PAGE * PAGE;
    let header = page.max(100);
    if offset < header {
        return match offset {
            18 => "header: version for writers",
            24..28 => "header: change counter",
            32..40 => "header: free pages",
            40..48 => "header: schema cookie and format",
            56..60 => "header: encoding",
            48..56 | 64..68 => "header: page cache and vacuum",
            68..72 => "header: application",
            72..92 => "header: reserved",
            92..100 => "header: who wrote",
            _ => "header",
        };
    }
    if page == 0 {
        return "schema";
    }
    let pointers = header + if matches!(bytes[header], 10 | 13) { 8 } else { 12 };
    let content = page + number(header + 5);
    // Only a writer asks where room is, and how much of it is scattered.
    let is_about_room = matches!(offset - header, 1..3 | 5..8);
    if is_about_room || (pointers + 2 * number(header + 3)..content).contains(&offset) {
        return "pages: room";
    }
    let mut block = number(header + 1);
    while block != 0 {
        // Up to 3 bytes of room beside a block are too few for one.
        if (page + block..page + block + number(page + block + 2) + 3).contains(&offset) {
            return "free blocks";
        }
        block = number(page + block);
    }
    // The first table is `workspace`, whose one row is read whatever its key.
    if page == PAGE && offset == page + number(pointers) + 1 {
        return "workspace: its key";
    }
    // The type of a key is such a byte: the key is not in its row, so any type without content will
    // do.
    if bytes[offset] == 0 {
        "rows: what is null"
    } else {
        "rows"
    }
}

#[test]
fn a_seal_of_another_length_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    write_sample(&mut SqliteStore::open(&path, "damage").unwrap());
    let names = names(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    for table in ["workspace", "runs", "heads", "records"] {
        for length in (0..=32).filter(|length| *length != 8) {
            let lengthen = format!(
                "BEGIN; CREATE TEMP TABLE right AS SELECT * FROM {table};
                 UPDATE {table} SET seal = substr(unhex(replace('ssss', 's', hex(seal))), 1, {length}); COMMIT"
            );
            connection.execute_batch(&lengthen).unwrap();
            let error = inspect(&path, &names).err().unwrap();
            assert!(
                matches!(error, StoreError::Inconsistent { .. }),
                "{table}, {length}: {error:?}"
            );
            let put_back = format!(
                "BEGIN; DELETE FROM {table}; INSERT INTO {table} SELECT * FROM right; DROP TABLE right; COMMIT"
            );
            connection.execute_batch(&put_back).unwrap();
        }
    }
    inspect(&path, &names).unwrap();
}

/// Ten records on `r/main`, the fifth and the eighth with a blob, then `sql` done to the file.
fn damaged(sql: &str) -> (tempfile::TempDir, SqliteStore, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "damage").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    for number in 0..10u8 {
        let blobs = if matches!(number, 4 | 7) {
            vec![Blob::new(vec![number]).unwrap()]
        } else {
            Vec::new()
        };
        let record = main.next_with(&format!("<turn {number}>"), &blobs);
        store
            .append(main.append(std::slice::from_ref(&record), &blobs))
            .unwrap();
        main.move_to(&record);
    }
    drop(store);
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let store = SqliteStore::open(&path, "damage").unwrap();
    (folder, store, main)
}

#[track_caller]
fn check_repair(sql: &str, sound_records: u64, kind: fn(&Damage) -> bool) {
    let (_folder, mut store, mut main) = damaged(sql);
    let report = verify(&store, &main.run, &main.branch).unwrap();
    assert!(kind(report.damage.as_ref().unwrap()), "{sql}: {report:?}");
    assert_eq!(report.sound_records, sound_records, "{sql}");
    let head = report.head.hash;
    assert_eq!(
        verify(&store, &main.run, &main.branch).unwrap().head.hash,
        head,
        "verifying changes nothing"
    );
    let lost = repair(&mut store, &report, main.epoch).unwrap();
    assert_eq!(
        lost,
        Some(Lost {
            positions: sound_records..=9,
            head
        }),
        "{sql}"
    );
    assert!(verify(&store, &main.run, &main.branch).unwrap().is_sound(), "{sql}");
    let left = read_all(&store, &main).unwrap();
    assert_eq!(left.len() as u64, sound_records);
    main.move_to(left.last().unwrap());
    main.write(&mut store, &["<turn again>"]).unwrap();
    let report = verify(&store, &main.run, &main.branch).unwrap();
    assert!(report.is_sound() && report.sound_records == sound_records + 1);
    assert_eq!(repair(&mut store, &report, main.epoch).unwrap(), None);
}

#[test]
fn repair_goes_back_to_the_last_sound_record() {
    let unreadable = |damage: &Damage| matches!(damage, Damage::Unreadable { .. });
    let blob = |damage: &Damage| matches!(damage, Damage::Blob { .. });
    check_repair(
        "UPDATE records SET bytes = zeroblob(10) WHERE sequence = 6",
        6,
        unreadable,
    );
    check_repair(
        "UPDATE records SET bytes = CAST(bytes || x'80' AS BLOB) WHERE sequence = 9",
        9,
        unreadable,
    );
    check_repair(
        "UPDATE records SET bytes = (SELECT bytes FROM records WHERE sequence = 2) WHERE sequence = 3",
        3,
        unreadable,
    );
    check_repair("DELETE FROM blobs WHERE bytes = x'04'", 4, blob);
    check_repair("UPDATE blobs SET bytes = x'99' WHERE bytes = x'07'", 7, blob);
}

#[test]
fn a_lost_row_costs_no_more_than_what_only_it_leads_to() {
    for lost in 1..9 {
        let (_folder, store, main) = damaged(&format!("DELETE FROM records WHERE sequence = {lost}"));
        let report = verify(&store, &main.run, &main.branch).unwrap();
        assert!(matches!(report.damage, Some(Damage::Unreadable { .. })), "{report:?}");
        assert!(report.sound_records <= lost, "{lost}: {report:?}");
        for number in 0..report.sound_records {
            assert!(store.record_at(&main.run, &main.branch, at(number)).unwrap().is_some());
        }
    }
}

#[test]
fn what_cannot_be_repaired_says_so() {
    let (_folder, mut store, main) = damaged("UPDATE records SET bytes = x'80' WHERE sequence = 0");
    let report = verify(&store, &main.run, &main.branch).unwrap();
    assert_eq!((report.sound_records, &report.last_sound), (0, &None));
    let error = repair(&mut store, &report, main.epoch).unwrap_err();
    assert!(matches!(error, StoreError::NoSuchRecord { .. }), "{error:?}");
}

#[test]
fn vanished_rows_are_noticed() {
    for sql in [
        "DELETE FROM heads",
        "UPDATE heads SET branch = 'mian'",
        "UPDATE heads SET sequence = 3",
    ] {
        let (_folder, store, main) = damaged(sql);
        let error = store.head(&main.run, &main.branch).unwrap_err();
        assert!(matches!(error, StoreError::Inconsistent { .. }), "{sql}: {error:?}");
    }
    let (_folder, store, _) = damaged("DELETE FROM runs");
    assert!(matches!(store.runs().unwrap_err(), StoreError::Inconsistent { .. }));
}

#[test]
fn a_head_that_vanishes_under_its_writer_is_not_written_anew() {
    let (folder, mut store, mut main) = damaged("");
    main.write(&mut store, &["<turn known>"]).unwrap();
    let other = rusqlite::Connection::open(folder.path().join("journal")).unwrap();
    other.execute_batch("DELETE FROM heads").unwrap();
    let error = main.write(&mut store, &["<turn more>"]).unwrap_err();
    assert!(matches!(error, StoreError::Inconsistent { .. }), "{error:?}");
    let heads: i64 = other
        .query_one("SELECT count(*) FROM heads", [], |row| row.get(0))
        .unwrap();
    assert_eq!(heads, 0);
}
