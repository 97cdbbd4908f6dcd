//! Giving branches up.

use duet_journal::collect::Garbage;
use duet_journal::verify::verify;
use duet_journal::{Blob, Removal, Store, StoreError};

use crate::common::writer::{Writer, at, read_all};
use crate::conformance::{Medium, check_error, head_of, set_head};

pub(crate) fn branches_are_given_up_with_what_only_they_lead_to<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let blobs: Vec<Blob> = [1, 2, 3].map(|byte| Blob::new(vec![byte; 9]).unwrap()).into();
    let shared = main.next_with("<turn shared>", &blobs[..1]);
    store
        .append(main.append(std::slice::from_ref(&shared), &blobs[..1]))
        .unwrap();
    main.move_to(&shared);
    let mut side = main.on("side", None);
    set_head(&mut store, &side, None, shared.hash()).unwrap();
    side.head = main.head;
    let (left, stays) = (
        side.next_with("<turn left>", &blobs[1..2]),
        main.next_with("<turn stays>", &blobs[..2]),
    );
    let last = {
        let mut after = side.clone();
        after.move_to(&left);
        after.next_with("<turn last>", &blobs[2..])
    };
    store
        .append(side.append(&[left.clone(), last.clone()], &blobs))
        .unwrap();
    store.append(main.append(std::slice::from_ref(&stays), &[])).unwrap();
    let other = Writer::claim(&mut store, "other", "main");
    let elsewhere = other.next_with("<turn elsewhere>", &blobs[2..]);
    store
        .append(other.append(std::slice::from_ref(&elsewhere), &[]))
        .unwrap();

    let garbage = Garbage::find(&store, &main.run, |head| head.branch == side.branch).unwrap();
    assert_eq!(garbage.records, [last.hash(), left.hash()]);
    assert_eq!(
        garbage.blobs,
        [],
        "one is named on the branch that stays, one in another run"
    );
    store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
    let mut store = medium.reopen(store);
    assert_eq!(store.heads(&main.run).unwrap(), [head_of("main", &stays)]);
    check_error(
        store.record(&left.hash()),
        &StoreError::NoSuchRecord { hash: left.hash() },
    );
    assert_eq!(
        store.read(&main.run, &main.branch, at(0)..at(9)).unwrap(),
        [shared.clone(), stays.clone()]
    );
    assert!(verify(&store, &main.run, &main.branch).unwrap().is_sound());

    let everything = Garbage::find(&store, &other.run, |_| true).unwrap();
    assert_eq!(everything.blobs, [blobs[2].hash()]);
    store.remove(&everything.removal(&other.run, other.epoch)).unwrap();
    assert_eq!(store.runs().unwrap(), [main.run.clone()]);
    assert!(!store.has_blob(&blobs[2].hash()).unwrap());
    let removal = Removal {
        branches: &[],
        records: &[stays.hash()],
        ..everything.removal(&main.run, main.epoch)
    };
    let what = "a record that is to be removed is on the way to a branch that stays";
    check_error(store.remove(&removal), &StoreError::Inconsistent { what });
}

pub(crate) fn records_are_found_after_many_were_removed<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let first = main.next_with("<turn first>", &[]);
    store.append(main.append(std::slice::from_ref(&first), &[])).unwrap();
    main.move_to(&first);
    let mut side = main.on("side", None);
    set_head(&mut store, &side, None, first.hash()).unwrap();
    side.head = main.head;
    for round in 0..2 {
        // More than are named only by themselves.
        let texts: Vec<String> = (0..5000).map(|number| format!("<turn {round} {number}>")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let writer = if round == 0 { &side } else { &main };
        let many = writer.chain(&texts);
        store.append(writer.append(&many, &[])).unwrap();
        if round == 0 {
            let garbage = Garbage::find(&store, &main.run, |head| head.branch == side.branch).unwrap();
            assert_eq!(garbage.records.len(), 5000);
            store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
            check_error(
                store.record(&many[7].hash()),
                &StoreError::NoSuchRecord { hash: many[7].hash() },
            );
        } else {
            store = medium.reopen(store);
            for record in [&many[0], &many[4095], &many[4999]] {
                assert_eq!(&store.record(&record.hash()).unwrap(), record);
            }
        }
    }
}

pub(crate) fn what_hangs_on_a_removed_record_is_gone_until_it_is_done_again<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let records = main.chain(&["0", "1", "2", "3"]);
    store.append(main.append(&records, &[])).unwrap();
    main.move_to(&records[3]);
    let on_the_way = Removal {
        run: &main.run,
        epoch: main.epoch,
        branches: &[],
        records: &[records[1].hash()],
        blobs: &[],
        since: store.mark().unwrap(),
    };
    let what = "a record that is to be removed is on the way to a branch that stays";
    check_error(store.remove(&on_the_way), &StoreError::Inconsistent { what });
    let side = main.on("side", None);
    set_head(&mut store, &side, None, records[1].hash()).unwrap();
    // From here on, no branch has the third and the fourth.
    set_head(&mut store, &main, Some(&records[3]), records[0].hash()).unwrap();
    let garbage = Garbage::find(&store, &main.run, |head| head.branch == side.branch).unwrap();
    assert_eq!(garbage.records, [records[1].hash()]);
    store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
    let mut store = medium.reopen(store);
    for hash in records[1..].iter().map(|record| record.hash()) {
        check_error(store.record(&hash), &StoreError::NoSuchRecord { hash });
    }
    for place in 1..4 {
        main.move_to(&records[place - 1]);
        store.append(main.append(&records[place..=place], &[])).unwrap();
        if place == 1 {
            store = medium.reopen(store);
        }
    }
    assert_eq!(read_all(&store, &main).unwrap(), records);
    for record in &records {
        assert_eq!(&store.record(&record.hash()).unwrap(), record);
    }
    assert!(verify(&store, &main.run, &main.branch).unwrap().is_sound());
}
