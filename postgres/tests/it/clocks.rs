//! Hosts whose clocks differ from the server's, which decides when a lease has run out.

use duet_journal::owner::{self, LEASE_MS};
use duet_journal::{Owner, Sequence, Store};
use duet_postgres::{Address, PostgresStore};

use crate::common::writer::Writer;
use crate::proxy::{Cut, Proxy};
use crate::server;

const HOUR_MS: u64 = 3_600_000;

/// How far a time may be from the one that is expected, on a busy machine.
const NEAR_MS: u64 = 20_000;

/// An owner on a host that nobody can ask, as that host describes it.
fn elsewhere() -> Owner {
    Owner {
        host: "elsewhere".to_owned(),
        ..Owner::this("work")
    }
}

fn is_near(ms: u64, expected_ms: u64) -> bool {
    ms.abs_diff(expected_ms) < NEAR_MS
}

#[test]
fn what_is_stored_has_the_time_of_the_server() {
    let Some(server) = server::shared() else { return };
    for (seconds, server_ms) in [(3600, owner::now_ms() + HOUR_MS), (-3600, owner::now_ms() - HOUR_MS)] {
        let options = server.with_clock_ahead(&server::schema(), seconds);
        let address: Address = server.text(&options).parse().unwrap();
        let mut store = PostgresStore::open_or_create(&address).unwrap();
        assert!(is_near(store.now_ms().unwrap(), server_ms));
        assert!(is_near(address.now_ms(), server_ms));
        let mut main = Writer::claim(&mut store, "r", "main");
        main.epoch = store.claim(&main.run, &elsewhere().to_string()).unwrap();
        let claim = store.claimed(&main.run).unwrap().unwrap();
        let living = claim.living().unwrap();
        assert!(is_near(living.seen_ms, server_ms) && is_near(living.claimed_ms, server_ms));
        assert!(is_near(claim.read_ms, server_ms));
        let records = main.chain(&["0"]);
        let now = duet_journal::Append {
            times: None,
            ..main.append(&records, &[])
        };
        store.append(now).unwrap();
        let first = Sequence::FIRST;
        let times = store.times(&main.run, &main.branch, first..first.next().unwrap());
        assert!(is_near(times.unwrap()[0].ms().unwrap(), server_ms));
        // It says that it lives, some minutes later by its own clock.
        let later = Owner {
            seen_ms: owner::now_ms() + 5 * 60_000,
            ..living
        };
        store.note_owner(&main.run, main.epoch, &later.to_string()).unwrap();
        let noted: Owner = store.claimed(&main.run).unwrap().unwrap().owner.parse().unwrap();
        assert!(is_near(noted.seen_ms, server_ms + 5 * 60_000));
        assert_eq!(noted.claimed_ms, later.claimed_ms);
    }
}

#[test]
fn a_lease_runs_out_by_the_clock_of_the_server() {
    let Some(server) = server::shared() else { return };
    let options = server.with_clock_ahead(&server::schema(), 3600);
    let address: Address = server.text(&options).parse().unwrap();
    let mut store = PostgresStore::open_or_create(&address).unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.epoch = store.claim(&main.run, &elsewhere().to_string()).unwrap();
    main.write(&mut store, &["0"]).unwrap();
    let mut other = PostgresStore::open(&address).unwrap();
    assert!(other.claimed(&main.run).unwrap().unwrap().living().is_some());
    other.claim(&main.run, &Owner::this("work").to_string()).unwrap_err();
    // Silent for as long as a lease lasts, by this host's clock and so by the server's.
    let silent = Owner {
        seen_ms: owner::now_ms() - LEASE_MS - 1_000,
        ..elsewhere()
    };
    store.note_owner(&main.run, main.epoch, &silent.to_string()).unwrap();
    assert!(other.claimed(&main.run).unwrap().unwrap().living().is_none());
    other.claim(&main.run, &Owner::this("work").to_string()).unwrap();
    store.check_claim(&main.run, main.epoch).unwrap_err();
}

#[test]
fn right_after_a_commit_the_server_is_not_asked_about_the_claim() {
    let Some(server) = server::shared() else { return };
    if !cfg!(target_os = "linux") {
        return;
    }
    let (proxy, _, mut store) = Proxy::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    main.epoch = store.claim(&main.run, &Owner::this("run p.scm").to_string()).unwrap();
    main.write(&mut store, &["0"]).unwrap();
    // A statement would take the connection away from it.
    proxy.cut(Cut::Before);
    store.check_lease(&main.run, main.epoch).unwrap();
    assert!(!proxy.has_cut(), "a statement was sent");
    store.check_claim(&main.run, main.epoch).unwrap();
    assert!(proxy.has_cut());
}
