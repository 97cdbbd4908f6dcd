//! A standby takes over, or a server crashes, while many runs write and others read them.
//!
//! `DUET_WRITERS` is the number of runs, 8 if nothing is said.
//! INVARIANT: the histories are checked whole, and every chain is verified.
//! Read next: `history.rs`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use duet_journal::Store as _;
use duet_journal::verify::verify;
use duet_postgres::{Address, PostgresStore};

use crate::common::writer::{Writer, branch, read_all, run};
use crate::history::{self, Kind, Operation};
use crate::server::{self, Server};

/// How many records each run has before and after what happens to the server.
const RECORDS: usize = 30;

fn writers() -> usize {
    let set = std::env::var("DUET_WRITERS").ok();
    set.map_or(8, |count| count.parse().unwrap())
}

/// What the threads of a test share.
#[derive(Default)]
struct Scene {
    histories: Vec<Mutex<Vec<Operation>>>,
    /// The runs that have written half of their records.
    halfway: AtomicUsize,
    is_over: AtomicBool,
}

impl Scene {
    /// Performs an operation, and notes when.
    fn note(&self, run: usize, kind: Kind, operation: impl FnOnce() -> Option<usize>) {
        let begun = Instant::now();
        if let Some(count) = operation() {
            let ended = Some(Instant::now());
            let done = Operation {
                kind,
                count,
                begun,
                ended,
            };
            self.histories[run].lock().unwrap().push(done);
        }
    }

    fn write(&self, address: &Address, number: usize) {
        let mut store = PostgresStore::open(address).unwrap();
        let mut writer = Writer::claim(&mut store, &format!("r{number}"), "main");
        for count in 1..=2 * RECORDS {
            self.note(number, Kind::Append, || {
                writer.write(&mut store, &[&count.to_string()]).unwrap();
                Some(count)
            });
            if count == RECORDS {
                self.halfway.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// Reads the heads of all runs again and again; a server that is away is asked again.
    fn read(&self, address: &Address) {
        let mut store = None;
        while !self.is_over.load(Ordering::SeqCst) {
            let Some(open) = store.take().or_else(|| PostgresStore::open(address).ok()) else {
                continue;
            };
            for number in 0..self.histories.len() {
                self.note(number, Kind::Read, || {
                    let head = open.head(&run(&format!("r{number}")), &branch("main"));
                    let count = |head: duet_journal::Head| head.sequence.number() as usize + 1;
                    // A run that is not there yet has no records.
                    head.ok()?.map(count)
                });
            }
            store = Some(open);
        }
    }
}

/// Lets runs write and others read while something happens to the server, and checks all of it.
fn check(address: &Address, happening: impl FnOnce() + Send) {
    drop(PostgresStore::open_or_create(address).unwrap());
    let scene = Scene {
        histories: (0..writers()).map(|_| Mutex::default()).collect(),
        ..Scene::default()
    };
    thread::scope(|scope| {
        let scene = &scene;
        for _ in 0..2 {
            scope.spawn(|| scene.read(address));
        }
        let writing: Vec<_> = (0..writers())
            .map(|number| scope.spawn(move || scene.write(address, number)))
            .collect();
        while scene.halfway.load(Ordering::SeqCst) < writers() / 2 {
            thread::yield_now();
        }
        happening();
        for thread in writing {
            thread.join().unwrap();
        }
        scene.is_over.store(true, Ordering::SeqCst);
    });
    let store = PostgresStore::open(address).unwrap();
    for (number, history) in scene.histories.iter().enumerate() {
        let mut reader = PostgresStore::open(address).unwrap();
        let writer = Writer::claim(&mut reader, &format!("r{number}"), "main");
        let records = read_all(&store, &writer).unwrap();
        let history = history.lock().unwrap();
        assert!(
            history.iter().any(|operation| operation.kind == Kind::Read),
            "nobody read r{number}"
        );
        assert_eq!(history::check(&history, records.len()), Ok(()), "r{number}");
        assert!(verify(&store, &writer.run, &writer.branch).unwrap().is_sound());
    }
}

#[test]
fn a_standby_takes_over_while_runs_write_and_no_reader_sees_the_past() {
    let Some(server) = Server::start(&["synchronous_standby_names=walreceiver", "max_connections=400"]) else {
        return;
    };
    let standby = server.standby(&["max_connections=400"]);
    let both = format!("{},{}", server.host(), standby.host());
    let address = format!("postgres://duet@{both}/postgres?schema={}", server::schema());
    check(&address.parse().unwrap(), || {
        drop(server);
        standby.promote();
    });
}

#[test]
fn a_server_crashes_while_runs_write_and_no_reader_sees_what_is_lost() {
    let Some(mut server) = Server::start(&["max_connections=400"]) else {
        return;
    };
    let address = server.address(&server::schema());
    check(&address, || server.crash());
}
