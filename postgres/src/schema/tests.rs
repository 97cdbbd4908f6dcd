//! Journals of one version under programs of another, on a real server.
//!
//! The second and third version are those of this file.

#![expect(clippy::disallowed_methods, reason = "several processes upgrade at once")]

use std::thread;

use duet_journal::{Epoch, Owner, Store as _};

use super::*;
use crate::{Address, PostgresStore};

#[path = "../../tests/it/server.rs"]
mod server;

/// A version that older programs can use, and one that they cannot: the function with which they
/// write is another.
const LATER: [Step; 2] = [
    Step {
        version: 2,
        oldest: 1,
        sql: &["CREATE TABLE duet_schema.tags (run text COLLATE \"C\" PRIMARY KEY, tag text NOT NULL);"],
    },
    Step {
        version: 3,
        oldest: 3,
        sql: &[
            "ALTER TABLE duet_schema.tags ADD COLUMN color text;",
            "DO $drop$ DECLARE signature text; BEGIN
                 SELECT oid::regprocedure::text INTO signature FROM pg_proc
                 WHERE proname = 'append' AND pronamespace = to_regnamespace('duet_schema');
                 EXECUTE 'DROP FUNCTION ' || signature;
             END $drop$;",
        ],
    },
];

/// The versions that a program of a version knows.
fn steps(version: i64) -> Vec<Step> {
    let copy = |step: &Step| Step { ..*step };
    let all = STEPS.iter().chain(&LATER).map(copy);
    all.filter(|step| step.version <= version).collect()
}

fn linked(address: &Address) -> Link {
    Link::connect(address).expect("the server is there")
}

/// Opens a journal as a program of a version; the words of a refusal.
fn open_as(address: &Address, version: i64, wanted: Use) -> Result<(), String> {
    open(&linked(address), address.schema(), &steps(version), wanted).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", cause.unwrap_or_default())
    })
}

/// The version of a journal, and the oldest one that may use it.
fn versions(address: &Address) -> (i64, i64) {
    let found = look(&linked(address), address.schema()).expect("it is readable");
    found.map_or((0, 0), |found| (found.version, found.oldest))
}

/// A run that a process on another host executes.
fn claimed(store: &mut PostgresStore) -> (RunId, Epoch) {
    let run = RunId::new("r").expect("a name");
    let owner = Owner {
        host: "elsewhere".to_owned(),
        ..Owner::this("work")
    };
    let epoch = store.claim(&run, &owner.to_string()).expect("it is free");
    (run, epoch)
}

#[test]
fn two_versions_share_a_journal_while_the_later_one_allows_it() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let (run, epoch) = claimed(&mut store);
    assert_eq!(versions(&address), (1, 1));
    let refused = open_as(&address, 2, Use::Read).expect_err("it is older");
    assert!(
        refused.contains("has version 1, this program needs version 2"),
        "{refused}"
    );

    open_as(&address, 2, Use::Write).expect("it is upgraded");
    assert_eq!(versions(&address), (2, 1));
    // The older version goes on, and begins.
    store.check_claim(&run, epoch).expect("its claim is the newest");
    store
        .note_owner(&run, epoch, &Owner::this("work").to_string())
        .expect("it writes");
    for wanted in [Use::Read, Use::Write, Use::Make] {
        open_as(&address, 1, wanted).expect("it may");
    }
    assert_eq!(versions(&address), (2, 1), "nobody takes it back");

    let refused = open_as(&address, 3, Use::Write).expect_err("a run is executed");
    assert!(
        refused.contains("a process executes r, and programs before version 3"),
        "{refused}"
    );
    assert_eq!(versions(&address), (2, 1));
    store.note_owner(&run, epoch, "").expect("it writes");
    open_as(&address, 3, Use::Write).expect("nobody executes a run");
    assert_eq!(versions(&address), (3, 3));
    for version in [1, 2] {
        let refused = open_as(&address, version, Use::Write).expect_err("it is older than 3");
        let expected = format!("the journal has version 3, this program reads version {version}");
        assert!(refused.contains(&expected), "{refused}");
    }
}

#[test]
fn a_journal_is_made_of_the_latest_version_and_upgraded_over_several() {
    let Some(server) = server::shared() else { return };
    let address = server.address(&server::schema());
    open_as(&address, 3, Use::Make).expect("it is made");
    assert_eq!(versions(&address), (3, 3));
    let (older, store) = server::store(server);
    drop(store);
    open_as(&older, 3, Use::Write).expect("nobody executes a run");
    assert_eq!(versions(&older), (3, 3));
}

#[test]
fn of_many_that_upgrade_at_once_each_finds_the_step_done_once() {
    let Some(server) = server::shared() else { return };
    let (address, store) = server::store(server);
    drop(store);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| open_as(&address, 2, Use::Write).expect("one of them has done it"));
        }
    });
    assert_eq!(versions(&address), (2, 1));
}

#[test]
fn a_step_that_fails_leaves_the_journal_as_it_was() {
    let Some(server) = server::shared() else { return };
    let (address, store) = server::store(server);
    drop(store);
    let broken = Step {
        version: 3,
        oldest: 1,
        sql: &["CREATE TABLE duet_schema.more (id int); SELECT 1 / 0;"],
    };
    let mut all = steps(2);
    all.push(broken);
    let link = linked(&address);
    let error = open(&link, address.schema(), &all, Use::Write).expect_err("it fails");
    assert!(error.to_string().contains("upgrading the tables"), "{error}");
    assert_eq!(versions(&address), (1, 1));
    let left = "SELECT count(*) FROM pg_tables WHERE tablename IN ('more', 'tags') AND schemaname = ";
    assert_eq!(server.sql(&format!("{left}'{}'", address.schema())), "0");
    // The same connection goes on.
    open(&link, address.schema(), &steps(2), Use::Write).expect("it is upgraded");
    assert_eq!(versions(&address), (2, 1));
}

#[test]
fn a_role_that_does_not_own_the_tables_cannot_upgrade_them_and_says_so() {
    let Some(server) = server::shared() else { return };
    let (address, store) = server::store(server);
    drop(store);
    let schema = address.schema();
    server.sql(&format!(
        "CREATE ROLE guest_of_{schema} LOGIN; GRANT USAGE ON SCHEMA {schema} TO guest_of_{schema};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO guest_of_{schema};"
    ));
    let text = server.text(&format!("schema={schema}"));
    let guest: Address = text
        .replace("postgres://duet@", &format!("postgres://guest_of_{schema}@"))
        .parse()
        .expect("an address");
    let refused = open_as(&guest, 2, Use::Write).expect_err("it may not");
    assert!(refused.contains("denies it"), "{refused}");
    assert_eq!(versions(&address), (1, 1));
}
