//! When records were committed: what every store gives back of it.

use duet_journal::copy::{Task, copy};
use duet_journal::{Append, CommitTime};

use super::{Medium, Store, Writer, at, branch, run};
use crate::common::script::{observe, set_head};

/// Appends records one by one, each at its time.
fn write_at(store: &mut dyn Store, writer: &mut Writer, times: &[CommitTime]) {
    for time in times {
        let records = writer.chain(&["turn"]);
        let append = Append {
            times: Some(std::slice::from_ref(time)),
            need: duet_journal::Need::Nothing,
            taken: &[],
            ..writer.append(&records, &[])
        };
        store.append(append).unwrap();
        writer.move_to(&records[0]);
    }
}

/// Times that stand still, go on, go back, are not known, and are far away.
fn times() -> Vec<CommitTime> {
    let mut ms = 1_795_000_000_000_u64;
    let mut next = |number: u64| {
        ms = match number % 7 {
            0 | 1 => ms,
            2 => ms + 1,
            3 => ms + 86_400_000,
            4 => ms - 3_600_000,
            5 => ms + number,
            _ => return 0,
        };
        ms
    };
    let mut times: Vec<_> = (0..200).map(|number| CommitTime::from_ms(next(number))).collect();
    times[150] = CommitTime::from_ms(u64::MAX);
    times
}

pub(crate) fn times_stand_beside_the_records<M: Medium>() {
    let (medium, mut store) = M::create();
    let times = times();
    let mut main = Writer::claim(&mut store, "r", "main");
    let mut other = Writer::claim(&mut store, "other", "main");
    for some in times.chunks(10) {
        write_at(&mut store, &mut main, some);
        other.write(&mut store, &["between"; 11]).unwrap();
    }
    let store = medium.reopen(store);
    let read = |from, to| store.times(&main.run, &main.branch, at(from)..at(to)).unwrap();
    assert_eq!(read(0, 1 << 40), times);
    for (from, to) in [(0, 1), (63, 64), (64, 65), (5, 190), (128, 128), (199, 300)] {
        let end = usize::try_from(to).unwrap().min(times.len());
        assert_eq!(
            read(from, to),
            times[usize::try_from(from).unwrap()..end],
            "{from}..{to}"
        );
    }
    assert!(store.times(&main.run, &branch("no"), at(0)..at(9)).is_err());
    assert!(store.times(&run("no"), &main.branch, at(0)..at(9)).is_err());
}

pub(crate) fn a_record_that_is_made_again_keeps_its_time<M: Medium>() {
    let (_medium, mut store) = M::create();
    let [first, second, third] = [10, 20, 30].map(CommitTime::from_ms);
    let mut main = Writer::claim(&mut store, "r", "main");
    write_at(&mut store, &mut main, &[first]);
    let begun = main.clone();
    write_at(&mut store, &mut main, &[second]);
    let hash = |writer: &Writer| writer.head.unwrap().1;
    set_head(&mut store, &main, Some(hash(&main)), hash(&begun)).unwrap();
    write_at(&mut store, &mut begun.clone(), &[third]);
    let read = store.times(&main.run, &main.branch, at(0)..at(9)).unwrap();
    assert_eq!(read, [first, second]);
}

pub(crate) fn a_copy_takes_the_times_along<M: Medium>() {
    let (_from, mut from) = M::create();
    let (_to, mut to) = M::create();
    let mut main = Writer::claim(&mut from, "r", "main");
    write_at(&mut from, &mut main, &times());
    let mut fork = Writer {
        branch: branch("fork"),
        ..main.clone()
    };
    set_head(&mut from, &fork, None, main.head.unwrap().1).unwrap();
    write_at(&mut from, &mut fork, &[CommitTime::from_ms(7)]);
    let heads = from.heads(&main.run).unwrap();
    let task = Task {
        run: &main.run,
        heads: &heads,
        owner: "copy",
        note: None,
    };
    copy(&from, &mut to, task, None).unwrap();
    assert!(observe(&from).unwrap() == observe(&to).unwrap());
}
