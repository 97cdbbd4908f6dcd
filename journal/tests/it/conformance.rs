//! The duties of every store; `stores.rs` tests them on those of this crate, and other crates on
//! theirs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

// Other crates include this file by its path, which moves the folder of its modules.
#[path = "conformance/parts.rs"]
mod parts;
#[path = "conformance/removal.rs"]
mod removal;
#[path = "conformance/standby.rs"]
mod standby;
#[path = "conformance/times.rs"]
mod times;

use crate::common::writer::{Writer, at, branch, read_all, run};
use duet_journal::{Blob, BlobHash, Epoch, Head, HeadMove, Record, RecordHash, Store, StoreError};
pub(crate) use parts::*;
pub(crate) use removal::{
    branches_are_given_up_with_what_only_they_lead_to, records_are_found_after_many_were_removed,
    what_hangs_on_a_removed_record_is_gone_until_it_is_done_again,
};
pub(crate) use standby::*;
pub(crate) use times::*;

/// A kind of store: how to make an empty one, and how to open it again after its process has ended.
pub(crate) trait Medium: Sized {
    type Store: Store;
    fn create() -> (Self, Self::Store);
    fn reopen(&self, store: Self::Store) -> Self::Store;
}

/// Gives the names of all duties to a macro, after what it is to be given before them.
macro_rules! every_duty {
    ($then:ident! $($given:tt)*) => {
        $then! { $($given)*
            appended_records_are_read_back_in_order
            a_range_gives_what_exists_of_it
            times_stand_beside_the_records
            a_record_that_is_made_again_keeps_its_time
            a_copy_takes_the_times_along
            records_that_others_lie_between_are_read_back
            an_append_needs_the_expected_head
            a_claim_fences_earlier_owners
            a_group_happens_whole_or_not_at_all
            a_group_may_go_on_where_its_own_part_ended
            malformed_batches_are_refused
            blobs_are_kept_once_and_must_be_there
            forks_share_history
            rewinding_keeps_what_is_left_behind
            repeating_a_turn_after_a_rewind_gives_the_same_record
            heads_move_only_within_a_run
            heads_move_together_or_not_at_all
            names_that_do_not_exist_are_errors
            runs_and_branches_are_listed_by_name
            long_chains_are_read_from_any_position
            bodies_of_every_size_survive
            bodies_share_their_parts_along_a_chain
            a_fork_names_the_parts_that_its_own_chain_lacks
            a_missing_part_is_named
            branches_are_given_up_with_what_only_they_lead_to
            records_are_found_after_many_were_removed
            what_hangs_on_a_removed_record_is_gone_until_it_is_done_again
            a_need_changes_with_the_commit_that_leads_to_it
            a_last_append_gives_the_run_up
            a_head_that_moves_needs_nothing
            those_that_can_go_on_are_listed_by_their_moments
            a_letter_is_taken_with_its_record_or_not_at_all
            letters_come_in_order_and_once
            a_letter_to_nobody_is_refused
            a_branch_that_is_given_up_takes_its_letters_along
            workers_are_listed
            records_are_found_by_name_however_many_there_are
        }
    };
}
pub(crate) use every_duty;

/// The error an operation gave, in its readable form.
#[track_caller]
fn check_error<T>(result: Result<T, StoreError>, expected: &StoreError) {
    let error = result.err().unwrap();
    assert_eq!(format!("{error:?}"), format!("{expected:?}"));
}

fn head_moved(writer: &Writer, expected: Option<&Record>, found: Option<&Record>) -> StoreError {
    StoreError::HeadMoved {
        run: writer.run.clone(),
        branch: writer.branch.clone(),
        expected: expected.map(|record| record.hash()),
        found: found.map(|record| record.hash()),
    }
}

fn set_head(
    store: &mut dyn Store,
    writer: &Writer,
    expected_head: Option<&Record>,
    to: RecordHash,
) -> Result<(), StoreError> {
    let expected_head = expected_head.map(|record| record.hash());
    let (run, branch, epoch) = (&writer.run, &writer.branch, writer.epoch);
    store.set_head(&HeadMove {
        run,
        branch,
        epoch,
        expected_head,
        to,
    })
}

fn head_of(branch_name: &str, record: &Record) -> Head {
    Head {
        branch: branch(branch_name),
        sequence: record.header().sequence,
        hash: record.hash(),
    }
}

pub(crate) fn appended_records_are_read_back_in_order<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = main.write(&mut store, &["<turn 0>", "<turn 1>"]).unwrap();
    written.extend(main.write(&mut store, &["<turn 2>"]).unwrap());
    for _ in 0..2 {
        assert_eq!(read_all(&store, &main).unwrap(), written);
        assert_eq!(store.heads(&main.run).unwrap(), [head_of("main", &written[2])]);
        assert_eq!(
            store.head(&main.run, &main.branch).unwrap(),
            Some(head_of("main", &written[2]))
        );
        for record in &written {
            assert_eq!(&store.record(&record.hash()).unwrap(), record);
            let found = store
                .record_at(&main.run, &main.branch, record.header().sequence)
                .unwrap();
            assert_eq!(found.as_ref(), Some(record));
        }
        store = medium.reopen(store);
    }
}

pub(crate) fn a_range_gives_what_exists_of_it<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = main.write(&mut store, &["0", "1", "2", "3"]).unwrap();
    for (from, to) in [(0, 4), (1, 3), (2, 2), (3, 9), (4, 9), (9, 1 << 39), (0, 0), (3, 1)] {
        let expected = &written[(from as usize).min(4).min(to as usize)..(to as usize).min(4)];
        assert_eq!(
            store.read(&main.run, &main.branch, at(from)..at(to)).unwrap(),
            expected,
            "{from}..{to}"
        );
        let closed = store.read_closed(&main.run, &main.branch, at(from)..at(to)).unwrap();
        let opened: Vec<Record> = closed.into_iter().map(|record| record.open().unwrap()).collect();
        assert_eq!(opened, expected, "{from}..{to}");
    }
    assert_eq!(store.record_at(&main.run, &main.branch, at(4)).unwrap(), None);
}

pub(crate) fn records_that_others_lie_between_are_read_back<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut one = Writer::claim(&mut store, "one", "main");
    let mut other = Writer::claim(&mut store, "other", "main");
    let mut written = Vec::new();
    for between in [1, 7, 8, 9, 40, 2] {
        written.extend(one.write(&mut store, &["a", "b"]).unwrap());
        other.write(&mut store, &vec!["c"; between]).unwrap();
    }
    assert_eq!(read_all(&store, &one).unwrap(), written);
}

pub(crate) fn an_append_needs_the_expected_head<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let stale = main.clone();
    let written = main.write(&mut store, &["0", "1"]).unwrap();
    let late = stale.chain(&["2"]);
    check_error(
        store.append(stale.append(&late, &[])),
        &head_moved(&main, None, Some(&written[1])),
    );
    let behind = Writer {
        head: Some((at(0), written[0].hash())),
        ..main.clone()
    };
    let late = behind.chain(&["2"]);
    check_error(
        store.append(behind.append(&late, &[])),
        &head_moved(&main, Some(&written[0]), Some(&written[1])),
    );
    let elsewhere = main.on("other", Some(&written[1]));
    let late = elsewhere.chain(&["2"]);
    check_error(
        store.append(elsewhere.append(&late, &[])),
        &head_moved(&elsewhere, Some(&written[1]), None),
    );
    assert_eq!(read_all(&store, &main).unwrap(), written);
    assert_eq!(store.heads(&main.run).unwrap().len(), 1);
}

pub(crate) fn a_claim_fences_earlier_owners<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut first = Writer::claim(&mut store, "r", "main");
    let other = Writer::claim(&mut store, "other", "main");
    first.write(&mut store, &["0"]).unwrap();
    let mut store = medium.reopen(store);
    let epoch = store.claim(&first.run, "somebody else").unwrap();
    assert_eq!((first.epoch, other.epoch, epoch), (Epoch(1), Epoch(1), Epoch(2)));
    let fenced = StoreError::EpochFenced {
        run: first.run.clone(),
        held: first.epoch,
        current: epoch,
    };
    let records = first.chain(&["1"]);
    check_error(store.append(first.append(&records, &[])), &fenced);
    let head = read_all(&store, &first).unwrap().remove(0);
    check_error(
        set_head(&mut store, &first.on("fork", None), None, head.hash()),
        &fenced,
    );
    let mut second = Writer { epoch, ..first };
    second.write(&mut store, &["1"]).unwrap();
    other.clone().write(&mut store, &["0"]).unwrap();
}

pub(crate) fn a_group_happens_whole_or_not_at_all<M: Medium>() {
    let (medium, mut store) = M::create();
    let [a, b] = ["a", "b"].map(|name| Writer::claim(&mut store, name, "main"));
    let (in_a, in_b) = (a.chain(&["0", "1"]), b.chain(&["0"]));
    let blob = [Blob::new(b"blob".to_vec()).unwrap()];
    let stale = Writer {
        head: Some((at(0), in_a[0].hash())),
        ..b.clone()
    };
    let late = stale.chain(&["1"]);
    let group = [a.append(&in_a, &blob), stale.append(&late, &[])];
    check_error(store.append_group(&group), &head_moved(&b, Some(&in_a[0]), None));
    let mut store = medium.reopen(store);
    // Behind the earlier claims nothing was written.
    let [a, b] = ["a", "b"].map(|name| Writer::claim(&mut store, name, "main"));
    assert_eq!(store.heads(&a.run).unwrap(), []);
    check_error(
        store.record(&in_a[0].hash()),
        &StoreError::NoSuchRecord { hash: in_a[0].hash() },
    );
    assert!(!store.has_blob(&blob[0].hash()).unwrap());
    store
        .append_group(&[a.append(&in_a, &blob), b.append(&in_b, &[])])
        .unwrap();
    let store = medium.reopen(store);
    assert_eq!(read_all(&store, &a).unwrap(), in_a);
    assert_eq!(read_all(&store, &b).unwrap(), in_b);
    assert!(store.has_blob(&blob[0].hash()).unwrap());
}

pub(crate) fn a_group_may_go_on_where_its_own_part_ended<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let records = main.chain(&["0", "1", "2", "3", "4"]);
    // A branch that begins in the group, and one that was there.
    for parts in [[0..1, 1..2], [2..3, 3..5]] {
        let [first, second] = parts.map(|part| &records[part]);
        let mut later = main.clone();
        later.move_to(&first[0]);
        store
            .append_group(&[main.append(first, &[]), later.append(second, &[])])
            .unwrap();
        main.move_to(second.last().unwrap());
        assert_eq!(
            store.head(&main.run, &main.branch).unwrap().unwrap().hash,
            second.last().unwrap().hash()
        );
    }
    assert_eq!(read_all(&medium.reopen(store), &main).unwrap(), records);
}

pub(crate) fn malformed_batches_are_refused<M: Medium>() {
    let (_medium, mut store) = M::create();
    let main = Writer::claim(&mut store, "r", "main");
    let other = Writer::claim(&mut store, "other", "main");
    let records = main.chain(&["0", "1", "2"]);
    let not_a_child = |record: &Record, before: Option<&Record>| StoreError::NotAChild {
        record: record.hash(),
        expected_parent: before.map(|record| record.hash()),
    };
    let no_records = StoreError::NoRecords {
        run: main.run.clone(),
        branch: main.branch.clone(),
    };
    check_error(store.append(main.append(&[], &[])), &no_records);
    let gap = [records[0].clone(), records[2].clone()];
    check_error(
        store.append(main.append(&gap, &[])),
        &not_a_child(&records[2], Some(&records[0])),
    );
    check_error(
        store.append(main.append(&records[1..], &[])),
        &not_a_child(&records[1], None),
    );
    check_error(
        store.append(other.append(&records, &[])),
        &not_a_child(&records[0], None),
    );
    let elsewhere = main.on("elsewhere", None);
    check_error(
        store.append(elsewhere.append(&records, &[])),
        &not_a_child(&records[0], None),
    );
    store.append(main.append(&records[..1], &[])).unwrap();
    let wrong_position = Writer {
        head: Some((at(7), records[0].hash())),
        ..main.clone()
    };
    let skipping = wrong_position.chain(&["8"]);
    check_error(
        store.append(wrong_position.append(&skipping, &[])),
        &not_a_child(&skipping[0], Some(&records[0])),
    );
    assert_eq!(read_all(&store, &main).unwrap(), records[..1]);
}

pub(crate) fn blobs_are_kept_once_and_must_be_there<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let blobs = [Blob::new(vec![7; 100_000]).unwrap(), Blob::new(Vec::new()).unwrap()];
    let record = main.next_with("0", &blobs);
    let missing = StoreError::MissingBlob {
        record: record.hash(),
        blob: blobs[1].hash(),
    };
    check_error(
        store.append(main.append(std::slice::from_ref(&record), &blobs[..1])),
        &missing,
    );
    assert!(!store.has_blob(&blobs[0].hash()).unwrap());
    store
        .append(main.append(std::slice::from_ref(&record), &blobs))
        .unwrap();
    main.move_to(&record);
    let again = main.next_with("1", &blobs);
    store.append(main.append(std::slice::from_ref(&again), &[])).unwrap();
    main.move_to(&again);
    let third = main.next_with("2", &blobs);
    store.append(main.append(std::slice::from_ref(&third), &blobs)).unwrap();
    let store = medium.reopen(store);
    for blob in &blobs {
        assert!(store.has_blob(&blob.hash()).unwrap());
        assert_eq!(store.blob(&blob.hash()).unwrap(), blob.as_bytes());
    }
}

pub(crate) fn forks_share_history<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let trunk = main.write(&mut store, &["0", "1", "2"]).unwrap();
    let mut fork = main.on("fork", None);
    set_head(&mut store, &fork, None, trunk[1].hash()).unwrap();
    assert_eq!(read_all(&store, &fork).unwrap(), trunk[..2]);
    fork.move_to(&trunk[1]);
    let mut forked = fork.write(&mut store, &["f2", "f3"]).unwrap();
    let mut twig = main.on("twig", None);
    set_head(&mut store, &twig, None, forked[0].hash()).unwrap();
    twig.move_to(&forked[0]);
    let twigs = twig.write(&mut store, &["t3"]).unwrap();
    let more = main.write(&mut store, &["3"]).unwrap();
    forked.extend(fork.write(&mut store, &["f4"]).unwrap());
    let store = medium.reopen(store);
    let chain = |parts: &[&[Record]]| parts.concat();
    assert_eq!(read_all(&store, &main).unwrap(), chain(&[&trunk, &more]));
    assert_eq!(read_all(&store, &fork).unwrap(), chain(&[&trunk[..2], &forked]));
    assert_eq!(
        read_all(&store, &twig).unwrap(),
        chain(&[&trunk[..2], &forked[..1], &twigs])
    );
    let middle = store.read(&twig.run, &twig.branch, at(1)..at(3)).unwrap();
    assert_eq!(middle, [trunk[1].clone(), forked[0].clone()]);
}

pub(crate) fn rewinding_keeps_what_is_left_behind<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let first = main.write(&mut store, &["0", "1", "2"]).unwrap();
    check_error(
        set_head(&mut store, &main, Some(&first[1]), first[0].hash()),
        &head_moved(&main, Some(&first[1]), Some(&first[2])),
    );
    check_error(
        set_head(&mut store, &main, None, first[0].hash()),
        &head_moved(&main, None, Some(&first[2])),
    );
    set_head(&mut store, &main, Some(&first[2]), first[0].hash()).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), first[..1]);
    main.move_to(&first[0]);
    let second = main.write(&mut store, &["1b", "2b"]).unwrap();
    let mut store = medium.reopen(store);
    assert_eq!(read_all(&store, &main).unwrap(), [&first[..1], &second].concat());
    assert_eq!(store.record(&first[2].hash()).unwrap(), first[2]);
    set_head(&mut store, &main, Some(&second[1]), first[2].hash()).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), first);
    main.move_to(&first[2]);
    let third = main.write(&mut store, &["3"]).unwrap();
    assert_eq!(read_all(&store, &main).unwrap(), [first, third].concat());
}

pub(crate) fn repeating_a_turn_after_a_rewind_gives_the_same_record<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let trunk = main.write(&mut store, &["0", "1", "2", "3"]).unwrap();
    // Once along the first way, once along another, each twice.
    for way in [["1", "2"], ["1b", "2b"], ["1", "2"], ["1b", "2b"]] {
        let head = store.head(&main.run, &main.branch).unwrap().unwrap().hash;
        let head = store.record(&head).unwrap();
        set_head(&mut store, &main, Some(&head), trunk[0].hash()).unwrap();
        main.move_to(&trunk[0]);
        let taken = main.write(&mut store, &way).unwrap();
        store = medium.reopen(store);
        assert_eq!(read_all(&store, &main).unwrap(), [&trunk[..1], &taken].concat());
    }
    let mut again = main.on("again", None);
    let root = again.write(&mut store, &["0"]).unwrap();
    let mut twice = again.on("again", None);
    check_error(
        twice.write(&mut store, &["0"]),
        &head_moved(&again, None, Some(&root[0])),
    );
}

pub(crate) fn heads_move_only_within_a_run<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let other = Writer::claim(&mut store, "other", "main");
    let written = main.write(&mut store, &["0"]).unwrap();
    let hash = written[0].hash();
    check_error(
        set_head(&mut store, &other, None, hash),
        &StoreError::NoSuchRecord { hash },
    );
    let hash = RecordHash([9; 32]);
    check_error(
        set_head(&mut store, &main, Some(&written[0]), hash),
        &StoreError::NoSuchRecord { hash },
    );
    assert_eq!(store.heads(&other.run).unwrap(), []);
}

pub(crate) fn heads_move_together_or_not_at_all<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = main.write(&mut store, &["0", "1"]).unwrap();
    let (one, other) = (branch("one"), branch("other"));
    let to_record = |branch, expected: Option<&Record>, to: &Record| HeadMove {
        run: &main.run,
        branch,
        epoch: main.epoch,
        expected_head: expected.map(|record| record.hash()),
        to: to.hash(),
    };
    let (first, second) = (&written[0], &written[1]);
    let taken = [to_record(&one, None, first), to_record(&main.branch, None, first)];
    check_error(store.set_heads(&taken), &head_moved(&main, None, Some(second)));
    assert_eq!(store.heads(&main.run).unwrap(), [head_of("main", second)]);
    let on_and_on = [
        to_record(&one, None, first),
        to_record(&other, None, second),
        to_record(&one, Some(first), second),
    ];
    store.set_heads(&on_and_on).unwrap();
    let heads = [
        head_of("main", second),
        head_of("one", second),
        head_of("other", second),
    ];
    for _ in 0..2 {
        assert_eq!(store.heads(&main.run).unwrap(), heads);
        store = medium.reopen(store);
    }
}

pub(crate) fn names_that_do_not_exist_are_errors<M: Medium>() {
    let (_medium, mut store) = M::create();
    let nobody = Writer {
        run: run("nobody"),
        branch: branch("main"),
        epoch: Epoch(1),
        head: None,
    };
    let no_run = StoreError::NoSuchRun { run: run("nobody") };
    check_error(store.heads(&nobody.run), &no_run);
    check_error(store.head(&nobody.run, &nobody.branch), &no_run);
    check_error(read_all(&store, &nobody), &no_run);
    let records = nobody.chain(&["0"]);
    check_error(store.append(nobody.append(&records, &[])), &no_run);
    check_error(set_head(&mut store, &nobody, None, records[0].hash()), &no_run);
    let main = Writer::claim(&mut store, "r", "main");
    assert_eq!(store.head(&main.run, &main.branch).unwrap(), None);
    let no_branch = StoreError::NoSuchBranch {
        run: main.run.clone(),
        branch: main.branch.clone(),
    };
    check_error(read_all(&store, &main), &no_branch);
    let (record, blob) = (RecordHash([0; 32]), BlobHash([0; 32]));
    check_error(store.record(&record), &StoreError::NoSuchRecord { hash: record });
    check_error(store.blob(&blob), &StoreError::NoSuchBlob { hash: blob });
    assert!(!store.has_blob(&blob).unwrap());
}

pub(crate) fn runs_and_branches_are_listed_by_name<M: Medium>() {
    let (medium, mut store) = M::create();
    assert_eq!(store.runs().unwrap(), []);
    for name in ["b", "a", "a.1", "B"] {
        let mut writer = Writer::claim(&mut store, name, "z");
        writer.write(&mut store, &["0"]).unwrap();
        writer.on("y", None).write(&mut store, &["0"]).unwrap();
    }
    Writer::claim(&mut store, "claimed-only", "z");
    let store = medium.reopen(store);
    assert_eq!(store.runs().unwrap(), ["B", "a", "a.1", "b"].map(run));
    let is_there = ["a", "a.1", "c", "claimed-only"].map(|name| store.has_run(&run(name)).unwrap());
    assert_eq!(is_there, [true, true, false, false]);
    let names: Vec<_> = store
        .heads(&run("a"))
        .unwrap()
        .into_iter()
        .map(|head| head.branch)
        .collect();
    assert_eq!(names, ["y", "z"].map(branch));
}

pub(crate) fn long_chains_are_read_from_any_position<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let texts: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut written = main.write(&mut store, &texts).unwrap();
    // Many short forks of forks: each record stands on another branch than the one before it.
    for number in 300..340 {
        let mut fork = main.on(&format!("fork-{number}"), None);
        set_head(&mut store, &fork, None, written[number - 1].hash()).unwrap();
        fork.move_to(&written[number - 1]);
        written.extend(fork.write(&mut store, &["leaf"]).unwrap());
        fork.write(&mut store, &["beyond"]).unwrap();
        main = fork;
    }
    for from in 0..340 {
        let found = store
            .read(&main.run, &main.branch, at(from as u64)..at(from as u64 + 3))
            .unwrap();
        let end = (from + 3).min(340);
        assert_eq!(found[..end - from], written[from..end]);
    }
}

pub(crate) fn records_are_found_by_name_however_many_there_are<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut written = Vec::new();
    // More than one batch of names, and a part of another.
    for _ in 0..3 {
        let texts: Vec<&str> = std::iter::repeat_n("<turn>", 3000).collect();
        written.extend(main.write(&mut store, &texts).unwrap());
    }
    let mut store = medium.reopen(store);
    for record in written.iter().step_by(501).chain(&written[8990..]) {
        assert_eq!(&store.record(&record.hash()).unwrap(), record);
        let fork = main.on(&format!("fork-{}", record.header().sequence), None);
        set_head(&mut store, &fork, None, record.hash()).unwrap();
    }
    set_head(&mut store, &main, written.last(), written[10].hash()).unwrap();
    main.move_to(&written[10]);
    let again = main.write(&mut store, &["<turn>", "<turn>"]).unwrap();
    assert_eq!(again, written[11..13]);
    assert_eq!(read_all(&store, &main).unwrap(), written[..13]);
}
