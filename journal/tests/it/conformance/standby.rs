//! What stands beside the records: needs, letters and workers.

use super::{Medium, check_error, set_head};
use crate::common::writer::{Writer, branch, read_all, run};
use duet_journal::collect::Garbage;
use duet_journal::{Letter, LetterId, Need, Owner, Ready, Record, Store, StoreError, Taken};

/// Appends one record, after which the branch has a need, and which has heard letters.
fn append(store: &mut dyn Store, writer: &mut Writer, need: Need, taken: &[Taken]) -> Result<Record, StoreError> {
    let records = writer.chain(&["<turn>"]);
    let append = duet_journal::Append {
        need,
        taken,
        ..writer.append(&records, &[])
    };
    store.append(append)?;
    writer.move_to(&records[0]);
    Ok(records[0].clone())
}

fn letter(number: u8, to: &str, sent_ms: u64) -> Letter {
    Letter {
        id: LetterId([number; 16]),
        branch: branch(to),
        sent_ms,
        body: vec![number; 3],
    }
}

fn taken(letter: &Letter) -> Taken {
    Taken {
        letter: letter.id,
        reply: b"heard".to_vec(),
    }
}

fn ready(run_name: &str, branch_name: &str) -> Ready {
    Ready {
        run: run(run_name),
        branch: branch(branch_name),
    }
}

pub(crate) fn a_need_changes_with_the_commit_that_leads_to_it<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    for need in [
        Need::OWNER,
        Need::OWNER,
        Need::Moment(70),
        Need::Input,
        Need::Nothing,
        Need::Moment(9),
    ] {
        append(&mut store, &mut main, need, &[]).unwrap();
        assert_eq!(store.need(&main.run, &main.branch).unwrap(), need);
    }
    // A group has the need of its last part, a commit that fails changes none.
    let records = main.chain(&["0", "1"]);
    let first = duet_journal::Append {
        need: Need::Input,
        ..main.append(&records[..1], &[])
    };
    let mut after = main.clone();
    after.move_to(&records[0]);
    let second = duet_journal::Append {
        need: Need::Moment(5),
        ..after.append(&records[1..], &[])
    };
    store.append_group(&[first, second]).unwrap();
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Moment(5));
    append(&mut store, &mut main, Need::Input, &[]).unwrap_err();
    store = medium.reopen(store);
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Moment(5));
    let stale = Writer::claim(&mut store, "r", "main");
    store
        .set_need(&main.run, &main.branch, stale.epoch, Need::Nothing)
        .unwrap();
    let fenced = store.set_need(&main.run, &main.branch, main.epoch, Need::Input);
    assert!(matches!(fenced, Err(StoreError::EpochFenced { .. })));
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Nothing);
    check_error(
        store.need(&run("none"), &main.branch),
        &StoreError::NoSuchRun { run: run("none") },
    );
}

pub(crate) fn a_head_that_moves_needs_nothing<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let first = append(&mut store, &mut main, Need::OWNER, &[]).unwrap();
    let second = append(&mut store, &mut main, Need::Moment(3), &[]).unwrap();
    set_head(&mut store, &main, Some(&second), first.hash()).unwrap();
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Nothing);
    assert_eq!(store.ready(u64::MAX, 9).unwrap(), []);
    main.move_to(&first);
    append(&mut store, &mut main, Need::Moment(3), &[]).unwrap();
    assert_eq!(store.need(&main.run, &main.branch).unwrap(), Need::Moment(3));
}

pub(crate) fn those_that_can_go_on_are_listed_by_their_moments<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut epochs = Vec::new();
    for (name, need) in [
        ("late", Need::Moment(500)),
        ("asks", Need::Input),
        ("soon", Need::Moment(20)),
        ("now", Need::OWNER),
        ("over", Need::Nothing),
    ] {
        let mut writer = Writer::claim(&mut store, name, "main");
        append(&mut store, &mut writer, need, &[]).unwrap();
        epochs.push((writer.run.clone(), writer.epoch));
    }
    store.put(&run("asks"), &letter(1, "main", 4)).unwrap();
    store.put(&run("now"), &letter(2, "main", 4)).unwrap();
    store = medium.reopen(store);
    let found = |store: &M::Store, now, max| store.ready(now, max).unwrap();
    let [now, soon, late, asks] = ["now", "soon", "late", "asks"].map(|name| ready(name, "main"));
    assert_eq!(found(&store, 19, 9), [now.clone(), asks.clone()]);
    assert_eq!(found(&store, 20, 9), [now.clone(), soon.clone(), asks.clone()]);
    assert_eq!(
        found(&store, 500, 9),
        [now.clone(), soon.clone(), late.clone(), asks.clone()]
    );
    // Half of the places are for letters.
    assert_eq!(found(&store, 500, 2), [now.clone(), asks.clone()]);
    assert_eq!(found(&store, 500, 3), [now.clone(), soon.clone(), asks.clone()]);
    assert_eq!(found(&store, 500, 1), std::slice::from_ref(&now));
    // Who lives keeps its run; who has given it up does not.
    let (name, epoch) = &epochs[3];
    store
        .note_owner(name, *epoch, &Owner::this("test").to_string())
        .unwrap();
    assert_eq!(found(&store, 500, 2), [soon.clone(), asks.clone()]);
    assert_eq!(found(&store, 500, 3), [soon, late, asks.clone()]);
    store.note_owner(name, *epoch, "").unwrap();
    assert_eq!(found(&store, 0, 9), [now, asks]);
}

pub(crate) fn a_letter_is_taken_with_its_record_or_not_at_all<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    append(&mut store, &mut main, Need::Input, &[]).unwrap();
    let sent = letter(1, "main", 4);
    store.put(&main.run, &sent).unwrap();
    // A commit that does not happen leaves it.
    let behind = Writer {
        head: None,
        ..main.clone()
    };
    append(&mut store, &mut behind.clone(), Need::Input, &[taken(&sent)]).unwrap_err();
    let unread = store.letters(&main.run, &main.branch).unwrap();
    assert_eq!(unread, std::slice::from_ref(&sent));
    assert_eq!(store.reply(&main.run, sent.id).unwrap(), None);
    append(&mut store, &mut main, Need::Input, &[taken(&sent)]).unwrap();
    store = medium.reopen(store);
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), []);
    assert_eq!(store.reply(&main.run, sent.id).unwrap(), Some(b"heard".to_vec()));
    // It is heard once: a second commit with it does not happen.
    let mut again = Writer::claim(&mut store, "r", "main");
    again.head = main.head;
    let written = read_all(&store, &again).unwrap();
    let twice = append(&mut store, &mut again, Need::Input, &[taken(&sent)]);
    check_error(
        twice,
        &StoreError::NoSuchLetter {
            run: main.run.clone(),
            letter: sent.id,
        },
    );
    assert_eq!(read_all(&store, &again).unwrap(), written);
    // Nor does it come back when its sender repeats it.
    store.put(&main.run, &sent).unwrap();
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), []);
    let later = Taken {
        letter: sent.id,
        reply: b"done".to_vec(),
    };
    assert!(store.replace_reply(&main.run, &later).unwrap());
    store = medium.reopen(store);
    assert_eq!(store.reply(&main.run, sent.id).unwrap(), Some(b"done".to_vec()));
    store.forget_reply(&main.run, sent.id).unwrap();
    assert_eq!(store.reply(&main.run, sent.id).unwrap(), None);
    // Who waits for no reply gets none, nor does the sender of a letter that nobody has taken.
    assert!(!store.replace_reply(&main.run, &later).unwrap());
    let unread = letter(2, "main", 5);
    store.put(&main.run, &unread).unwrap();
    assert!(!store.replace_reply(&main.run, &taken(&unread)).unwrap());
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), [unread]);
}

pub(crate) fn letters_come_in_order_and_once<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    append(&mut store, &mut main, Need::Input, &[]).unwrap();
    let sent = [letter(3, "main", 4), letter(1, "main", 9), letter(2, "main", 4)];
    for letter in sent.iter().chain(&sent) {
        store.put(&main.run, letter).unwrap();
    }
    let in_order = [&sent[2], &sent[0], &sent[1]].map(Clone::clone);
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), in_order);
    assert_eq!(store.letters(&main.run, &branch("other")).unwrap(), []);
    store.forget_reply(&main.run, sent[0].id).unwrap();
    let fenced = store.refuse(&main.run, duet_journal::Epoch(77), &taken(&sent[0]));
    assert!(matches!(fenced, Err(StoreError::EpochFenced { .. })));
    store.refuse(&main.run, main.epoch, &taken(&sent[0])).unwrap();
    let left = [&sent[2], &sent[1]].map(Clone::clone);
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), left);
    assert_eq!(store.reply(&main.run, sent[0].id).unwrap(), Some(b"heard".to_vec()));
}

pub(crate) fn a_letter_to_nobody_is_refused<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    let no_run = |name: &str| StoreError::NoSuchRun { run: run(name) };
    check_error(store.put(&run("none"), &letter(1, "main", 0)), &no_run("none"));
    append(&mut store, &mut main, Need::Nothing, &[]).unwrap();
    check_error(store.put(&main.run, &letter(1, "other", 0)), &no_run("r"));
    assert_eq!(store.letters(&run("none"), &main.branch).unwrap(), []);
    assert_eq!(store.reply(&run("none"), LetterId([1; 16])).unwrap(), None);
    check_error(
        store.refuse(&main.run, main.epoch, &taken(&letter(1, "main", 0))),
        &StoreError::NoSuchLetter {
            run: main.run.clone(),
            letter: LetterId([1; 16]),
        },
    );
}

pub(crate) fn a_branch_that_is_given_up_takes_its_letters_along<M: Medium>() {
    let (_medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    append(&mut store, &mut main, Need::OWNER, &[]).unwrap();
    let sent = letter(1, "main", 0);
    store.put(&main.run, &sent).unwrap();
    let garbage = Garbage::find(&store, &main.run, |_| true).unwrap();
    store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
    assert_eq!(store.ready(u64::MAX, 9).unwrap(), []);
    assert_eq!(store.letters(&main.run, &main.branch).unwrap(), []);
}

pub(crate) fn workers_are_listed<M: Medium>() {
    let (medium, mut store) = M::create();
    let mut main = Writer::claim(&mut store, "r", "main");
    append(&mut store, &mut main, Need::Nothing, &[]).unwrap();
    for (name, told) in [
        ("b", "first"),
        ("c", "gone"),
        ("a", "other"),
        ("b", "second"),
        ("c", ""),
        ("d", ""),
    ] {
        store.note_worker(name, told).unwrap();
    }
    main.write(&mut store, &["0"]).unwrap();
    store = medium.reopen(store);
    assert_eq!(store.workers().unwrap(), ["other", "second"]);
}

pub(crate) fn a_last_append_gives_the_run_up<M: Medium>() {
    let (medium, mut store) = M::create();
    let owner = Owner::this("test").to_string();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.epoch = store.claim(&main.run, &owner).unwrap();
    append(&mut store, &mut main, Need::OWNER, &[]).unwrap();
    let records = main.chain(&["1"]);
    let last = duet_journal::Append {
        need: Need::Moment(7),
        ..main.append(&records, &[])
    };
    store.append_last(last).unwrap();
    main.move_to(&records[0]);
    store = medium.reopen(store);
    let given_up = store.claimed(&main.run).unwrap().unwrap();
    assert_eq!((given_up.epoch, &*given_up.owner), (main.epoch, ""));
    assert_eq!(store.ready(7, 9).unwrap(), [ready("r", "main")]);
    assert_eq!(read_all(&store, &main).unwrap().len(), 2);

    // Whoever has lost the run gives nothing up.
    store.claim(&main.run, &owner).unwrap();
    let records = main.chain(&["2"]);
    let fenced = store.append_last(main.append(&records, &[]));
    assert!(matches!(fenced, Err(StoreError::EpochFenced { .. })), "{fenced:?}");
    assert_eq!(store.claimed(&main.run).unwrap().unwrap().owner, owner);
    assert_eq!(read_all(&store, &main).unwrap().len(), 2);
}
