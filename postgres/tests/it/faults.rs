//! Servers that die, and connections that break: nothing acknowledged is lost, and nothing is there
//! twice.

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use duet_journal::verify::verify;
use duet_journal::{Blob, HeadMove, Owner, Record, Store, StoreError};
use duet_postgres::PostgresStore;

use crate::common::writer::{Writer, read_all, run};
use crate::proxy::{Cut, Pace, Proxy};
use crate::server::{self, Server};

/// Rows of records, so that one that is there twice is seen.
fn records_of(server: &Server, schema: &str) -> usize {
    server
        .sql(&format!("SELECT count(*) FROM {schema}.records"))
        .parse()
        .unwrap()
}

#[test]
fn a_server_that_dies_between_commits_keeps_what_it_acknowledged() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (address, mut store) = server::store(&server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = main.write(&mut store, &["0", "1"]).unwrap();
    server.crash();
    server.wait();
    written.extend(main.write(&mut store, &["2"]).unwrap());
    server.crash();
    // The server is not waited for here: the commit does.
    written.extend(main.write(&mut store, &["3"]).unwrap());
    let store = PostgresStore::open(&address).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), written);
    assert_eq!(records_of(&server, address.schema()), written.len());
    assert!(verify(&store, &main.run, &main.branch).unwrap().is_sound());
}

#[test]
fn a_server_that_dies_during_commits_keeps_a_prefix_with_all_that_it_acknowledged() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (address, mut store) = server::store(&server);
    let (tell, told) = channel();
    let writing = thread::spawn(move || {
        let mut main = Writer::claim(&mut store, "r", "main");
        let mut written: Vec<Record> = Vec::new();
        for number in 0..600 {
            written.extend(main.write(&mut store, &[&format!("<turn {number}>")]).unwrap());
            tell.send(number).unwrap();
        }
        (main, written)
    });
    for at in [50, 200, 350] {
        // Each crash is at another moment of a commit, since nothing makes the writer wait.
        told.iter().find(|number| *number >= at).unwrap();
        server.crash();
        server.wait();
    }
    told.iter().for_each(drop);
    let (main, written) = writing.join().unwrap();
    let store = PostgresStore::open(&address).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), written);
    assert_eq!(records_of(&server, address.schema()), written.len());
}

#[test]
fn a_connection_that_breaks_around_a_commit_loses_and_doubles_nothing() {
    let Some(server) = server::shared() else { return };
    let (proxy, address, mut store) = Proxy::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = Vec::new();
    for cut in [
        Cut::None,
        Cut::Before,
        Cut::Within,
        Cut::After,
        Cut::None,
        Cut::After,
        Cut::Before,
    ] {
        proxy.cut(cut);
        written.extend(main.write(&mut store, &["<turn one>", "<turn two>"]).unwrap());
        assert!(proxy.has_cut(), "{cut:?}");
        assert_eq!(read_all(&store, &main).unwrap(), written, "{cut:?}");
        assert_eq!(records_of(server, address.schema()), written.len(), "{cut:?}");
    }
    let fork = main.on("fork", None);
    proxy.cut(Cut::After);
    let head_move = HeadMove {
        run: &fork.run,
        branch: &fork.branch,
        epoch: fork.epoch,
        expected_head: None,
        to: written[3].hash(),
    };
    store.set_head(&head_move).unwrap();
    assert_eq!(read_all(&store, &fork).unwrap(), written[..4]);
}

/// A server that goes on executes what it has received, and the same comes to it once more.
#[test]
fn a_server_that_hangs_around_a_commit_loses_and_doubles_nothing() {
    let Some(server) = server::shared() else { return };
    let (proxy, address, store) = Proxy::store(server);
    drop(store);
    let mut store = PostgresStore::open(&proxy.address(&address, "&connect_timeout=3")).unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = main.write(&mut store, &["0"]).unwrap();
    proxy.hang();
    let writing = thread::spawn(move || {
        let more = main.write(&mut store, &["<turn one>", "<turn two>"]).unwrap();
        (main, more)
    });
    // The statement has no answer, and whoever asks whether the server is there has none either.
    proxy.wait_for_another();
    proxy.go_on();
    let (main, more) = writing.join().unwrap();
    written.extend(more);
    let store = PostgresStore::open(&address).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), written);
    assert_eq!(records_of(server, address.schema()), written.len());
    assert!(verify(&store, &main.run, &main.branch).unwrap().is_sound());
}

#[test]
fn a_server_that_is_stopped_and_goes_on_loses_and_doubles_nothing() {
    let Some(server) = Server::start(&["fsync=off"]) else {
        return;
    };
    let (address, mut store) = server::store(&server);
    let (tell, told) = channel();
    let writing = thread::spawn(move || {
        let mut main = Writer::claim(&mut store, "r", "main");
        let mut written: Vec<Record> = Vec::new();
        for number in 0..200 {
            written.extend(main.write(&mut store, &[&format!("<turn {number}>")]).unwrap());
            tell.send(number).unwrap();
        }
        (main, written)
    });
    let impatient = server.text(&format!("schema={}&connect_timeout=1", address.schema()));
    for at in [20, 100] {
        told.iter().find(|number| *number >= at).unwrap();
        server.signal("-STOP");
        let error = PostgresStore::open(&impatient.parse().unwrap()).err().unwrap();
        let why = std::error::Error::source(&error).unwrap().to_string();
        server.signal("-CONT");
        assert!(why.contains("it has not answered for 1 s"), "{why}");
    }
    let (main, written) = writing.join().unwrap();
    let store = PostgresStore::open(&address).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), written);
    assert_eq!(records_of(&server, address.schema()), written.len());
}

#[test]
fn a_way_that_is_slow_or_late_changes_nothing() {
    let Some(server) = server::shared() else { return };
    let (proxy, address, mut store) = Proxy::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = Vec::new();
    let blob = [Blob::new((0..200_000_u32).flat_map(u32::to_le_bytes).collect()).unwrap()];
    for pace in [Pace::Late, Pace::Slow] {
        proxy.set_pace(pace);
        let record = main.next_with("0", &blob);
        store.append(main.append(std::slice::from_ref(&record), &blob)).unwrap();
        main.move_to(&record);
        written.push(record);
        written.extend(main.write(&mut store, &["<turn one>", "<turn two>"]).unwrap());
        // Another process, which has read nothing yet.
        let reader = PostgresStore::open_to_read(&proxy.address(&address, "")).unwrap();
        assert_eq!(read_all(&reader, &main).unwrap(), written);
        assert_eq!(reader.blob(&blob[0].hash()).unwrap(), blob[0].as_bytes());
    }
    assert_eq!(records_of(server, address.schema()), written.len());
}

#[test]
fn a_host_that_accepts_and_does_not_answer_is_passed_over() {
    let Some(server) = server::shared() else { return };
    let (hanging, address, store) = Proxy::store(server);
    drop(store);
    let (answering, _, _) = Proxy::store(server);
    hanging.hang();
    let both = format!(
        "postgres://duet@127.0.0.1:{},127.0.0.1:{}/postgres?schema={}&sslmode=disable&connect_timeout=3",
        hanging.port(),
        answering.port(),
        address.schema()
    );
    let store = PostgresStore::open(&both.parse().unwrap()).unwrap();
    assert!(store.runs().unwrap().is_empty());
    let alone = hanging.address(&address, "&connect_timeout=1");
    let error = PostgresStore::open(&alone).err().unwrap();
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.contains("it has not answered for 1 s"), "{why}");
    hanging.go_on();
}

/// Waits until a commit waits for a standby; it must not have been acknowledged.
fn until_it_waits(server: &Server, told: &Receiver<()>) {
    while server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "0" {
        assert!(told.try_recv().is_err(), "it was acknowledged, and no standby has it");
    }
}

#[test]
fn a_commit_whose_answer_was_lost_waits_for_the_standby_all_the_same() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (address, mut store) = server::store(&server);
    let mut main = Writer::claim(&mut store, "r", "main");
    // A standby that never comes.
    server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    server.crash();
    server.wait();
    let (tell, told) = channel();
    let writing = thread::spawn(move || {
        let written = main.write(&mut store, &["0"]).unwrap();
        tell.send(()).unwrap();
        (main, written)
    });
    until_it_waits(&server, &told);
    let before = PostgresStore::open_to_read(&address).unwrap();
    assert!(before.runs().unwrap().is_empty(), "nobody sees the commit yet");
    drop(before);
    server.crash();
    server.wait();
    // The server that has restarted shows the commit, which is on no other machine.
    until_it_waits(&server, &told);
    server.sql("ALTER SYSTEM RESET synchronous_standby_names");
    server.sql("SELECT pg_reload_conf()");
    let (main, written) = writing.join().unwrap();
    let store = PostgresStore::open(&address).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), written);
}

#[test]
fn an_owner_whose_claim_was_taken_over_writes_nothing() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let mut first = Writer::claim(&mut store, "r", "main");
    let written = first.write(&mut store, &["0"]).unwrap();
    let mut other = PostgresStore::open(&address).unwrap();
    let epoch = other.claim(&first.run, "another owner").unwrap();
    // The first owner remembers the state before the claim.
    let late = first.chain(&["late"]);
    let fenced = store.append(first.append(&late, &[]));
    assert!(
        matches!(fenced, Err(StoreError::EpochFenced { current, .. }) if current == epoch),
        "{fenced:?}"
    );
    assert!(store.note_owner(&first.run, first.epoch, "").is_err());
    assert!(store.check_claim(&first.run, first.epoch).is_err());
    assert!(store.set_note(&first.run, first.epoch, b"late").is_err());
    assert_eq!(read_all(&other, &first).unwrap(), written);
    assert_eq!(other.note(&first.run).unwrap(), None);
}

#[test]
fn a_living_owner_keeps_its_run_and_a_commit_renews_its_lease() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let elsewhere = Owner {
        host: "elsewhere".into(),
        seen_ms: 1,
        ..Owner::this("run")
    };
    let epoch = store.claim(&run("r"), &elsewhere.to_string()).unwrap();
    let mut main = Writer {
        run: run("r"),
        branch: crate::common::writer::branch("main"),
        epoch,
        head: None,
    };
    let mut other = PostgresStore::open(&address).unwrap();
    assert!(
        other.claimed(&main.run).unwrap().unwrap().living().is_none(),
        "its lease has run out"
    );
    main.write(&mut store, &["0"]).unwrap();
    assert!(other.claimed(&main.run).unwrap().unwrap().living().is_some());
    let owned = other.claim(&main.run, &Owner::this("resume").to_string());
    assert!(matches!(owned, Err(StoreError::Owned { .. })), "{owned:?}");
}

#[test]
fn stores_that_write_one_run_at_once_under_one_epoch_lose_nothing() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let main = Writer::claim(&mut store, "r", "main");
    let write = |name: &str| {
        let (mut writer, address, name) = (main.on(name, None), address.clone(), name.to_owned());
        thread::spawn(move || {
            let mut store = PostgresStore::open(&address).unwrap();
            let one = |number| format!("<turn {name} {number}>");
            let written: Vec<Record> = (0..40)
                .flat_map(|number| writer.write(&mut store, &[&one(number)]).unwrap())
                .collect();
            (writer, written)
        })
    };
    let threads = ["a", "b", "c"].map(write);
    for thread in threads {
        let (writer, written) = thread.join().unwrap();
        assert_eq!(read_all(&store, &writer).unwrap(), written);
    }
}
