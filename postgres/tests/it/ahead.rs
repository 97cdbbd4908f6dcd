//! Reading ahead: what was read needs no further round trip, and is never older than the claim.

use duet_journal::inbox::{Letter, LetterId};
use duet_journal::{Blob, Need, Owner, Sequence, Store};
use duet_postgres::PostgresStore;

use crate::common::writer::{Writer, body, branch, read_all, run};
use crate::proxy::{Cut, Proxy};
use crate::server;

fn owner() -> String {
    Owner::this("work").to_string()
}

#[test]
fn a_branch_that_was_read_ahead_is_opened_without_the_server() {
    let Some(server) = server::shared() else { return };
    // The proxy counts nothing but notices a statement.
    let (proxy, _, mut store) = Proxy::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let blobs = [1, 2, 3].map(|byte| Blob::new(vec![byte; 9]).unwrap());
    let record = main.next_with("0", &blobs);
    store
        .append(main.append(std::slice::from_ref(&record), &blobs))
        .unwrap();
    main.move_to(&record);
    let written = main.write(&mut store, &["1", "2"]).unwrap();
    store.set_note(&main.run, main.epoch, b"note").unwrap();
    store
        .set_need(&main.run, &main.branch, main.epoch, Need::Moment(7))
        .unwrap();
    store.read_ahead(&main.run, &main.branch).unwrap();
    store.read_blobs_ahead(&blobs.each_ref().map(Blob::hash)).unwrap();
    let epoch = store.claim(&main.run, &owner()).unwrap();

    // A statement would take the connection away from it.
    proxy.cut(Cut::Before);
    assert_eq!(store.claimed(&main.run).unwrap().unwrap().epoch, epoch);
    let head = store.head(&main.run, &main.branch).unwrap().unwrap();
    assert_eq!(Some((head.sequence, head.hash)), main.head);
    assert_eq!(
        read_all(&store, &main).unwrap(),
        [&[record.clone()][..], &written].concat()
    );
    let first = store.record_at(&main.run, &main.branch, Sequence::FIRST).unwrap();
    assert_eq!(first, Some(record));
    assert_eq!(store.note(&main.run).unwrap().as_deref(), Some(&b"note"[..]));
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Moment(7));
    assert!(store.letters(&main.run, &main.branch).unwrap().is_empty());
    for blob in &blobs {
        assert_eq!(store.blob(&blob.hash()).unwrap(), blob.as_bytes());
    }
    assert!(!proxy.has_cut(), "a statement was sent");

    proxy.cut(Cut::None);
    main.epoch = epoch;
    main.write(&mut store, &["3"]).unwrap();
    assert_eq!(read_all(&store, &main).unwrap().len(), 4);
}

#[test]
fn a_claim_is_compared_with_that_of_the_server_also_right_after_a_commit() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    main.epoch = store.claim(&main.run, &owner()).unwrap();
    let mut other = PostgresStore::open(&address).unwrap();
    main.write(&mut store, &["0"]).unwrap();
    store.check_claim(&main.run, main.epoch).unwrap();
    // A host whose clock is ahead takes the lease for one that has run out.
    other.claim(&main.run, &owner()).unwrap();
    store.check_claim(&main.run, main.epoch).unwrap_err();
}

#[test]
fn a_claim_of_a_run_that_has_changed_since_it_was_read_ahead_forgets_what_was_read() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
    let mut other = PostgresStore::open(&address).unwrap();
    store.read_ahead(&main.run, &main.branch).unwrap();
    main.epoch = other.claim(&main.run, &owner()).unwrap();
    main.write(&mut other, &["1"]).unwrap();
    other.note_owner(&main.run, main.epoch, "").unwrap();
    let epoch = store.claim(&main.run, &owner()).unwrap();
    assert!(epoch > main.epoch);
    assert_eq!(read_all(&store, &main).unwrap().len(), 2);
    main.epoch = epoch;
    // One who writes under the same epoch, before it learns that the run is another's, counts too.
    store.read_ahead(&main.run, &main.branch).unwrap();
    main.write(&mut other, &["2"]).unwrap();
    main.epoch = store.claim(&main.run, &owner()).unwrap();
    assert_eq!(read_all(&store, &main).unwrap().len(), 3);
}

#[test]
fn letters_that_come_after_a_branch_was_read_ahead_are_heard() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
    store.read_ahead(&main.run, &main.branch).unwrap();
    let letter = Letter {
        id: LetterId::fresh(),
        branch: main.branch.clone(),
        sent_ms: 1,
        body: body("hello").into_bytes(),
    };
    let mut other = PostgresStore::open(&address).unwrap();
    other.put(&main.run, &letter).unwrap();
    assert!(
        store.letters(&main.run, &main.branch).unwrap().is_empty(),
        "as it was then"
    );
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), [letter]);
}

#[test]
fn a_long_branch_a_fork_and_one_that_is_not_there_are_read_as_ever() {
    let Some(server) = server::shared() else { return };
    let (_, mut store) = server::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let texts: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let written = main.write(&mut store, &texts).unwrap();
    let mut fork = main.on("fork", Some(&written[3]));
    let head_move = duet_journal::HeadMove {
        run: &fork.run,
        branch: &fork.branch,
        epoch: fork.epoch,
        expected_head: None,
        to: written[3].hash(),
    };
    store.set_head(&head_move).unwrap();
    let late = fork.write(&mut store, &["4", "5", "6", "7", "8", "9"]).unwrap();
    let whole = [&written[..4], &late].concat();
    for (writer, expected) in [(&main, &written), (&fork, &whole)] {
        store.read_ahead(&writer.run, &writer.branch).unwrap();
        assert_eq!(&read_all(&store, writer).unwrap(), expected);
        let newest = store.head(&writer.run, &writer.branch).unwrap().unwrap().sequence;
        let newest = store.record_at(&writer.run, &writer.branch, newest).unwrap();
        assert_eq!(newest.as_ref(), expected.last());
    }
    store.read_ahead(&run("r"), &branch("none")).unwrap();
    assert_eq!(store.head(&run("r"), &branch("none")).unwrap(), None);
    store.read_ahead(&run("none"), &branch("main")).unwrap();
    assert!(store.head(&run("none"), &branch("main")).is_err());
}
