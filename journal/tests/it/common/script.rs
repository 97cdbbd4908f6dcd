//! Scripts of writes, for tests that compare what a store holds after each step.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use duet_journal::collect::Garbage;
use duet_journal::parts::NamedParts;
use duet_journal::{
    Blob, BlobHash, CommitTime, Head, HeadMove, Letter, Need, PackedValue, Ready, Record, RecordHash, RunId, Store,
    StoreError,
};
use preserves::IOValue;

use super::writer::{Writer, at, branch, run};

/// One step; runs and branches are small numbers.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Claims a run.
    Claim(u8),
    /// Appends records to a branch, the first with a blob if `blob` is set.
    Write {
        run: u8,
        branch: u8,
        records: u8,
        blob: Option<u8>,
    },
    /// Appends a record whose body is stored in parts, most of which the ones before it have.
    Talk { run: u8, branch: u8 },
    /// Appends one record to each of two runs' branches.
    Group(u8, u8),
    /// Moves a head back by a number of records.
    Rewind { run: u8, branch: u8, by: u8 },
    /// Creates a branch at another one's head.
    Fork { run: u8, from: u8, to: u8 },
    /// Gives a branch up, with what only it leads to.
    GiveUp { run: u8, branch: u8 },
}

/// The knowledge of the writers.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    writers: BTreeMap<(u8, u8), Writer>,
    claims: BTreeMap<u8, Writer>,
    named: BTreeMap<(u8, u8), NamedParts>,
    steps: u32,
}

impl World {
    fn writer(&self, run: u8, branch: u8) -> Option<Writer> {
        let claimed = self.claims.get(&run)?;
        let found = self.writers.get(&(run, branch)).and_then(|writer| writer.head);
        Some(Writer {
            head: found,
            ..claimed.on(&format!("b{branch}"), None)
        })
    }

    /// Takes a step; a step that makes no sense in this world does nothing.
    pub(crate) fn take(&mut self, step: &Step, store: &mut dyn Store) -> Result<(), StoreError> {
        let mut next = self.clone();
        next.steps += 1;
        next.try_take(step, store)?;
        *self = next;
        Ok(())
    }

    /// Becomes the owner of the runs once more, as a process does that starts after a crash.
    pub(crate) fn claim_again(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        for writer in self.claims.values_mut() {
            writer.epoch = store.claim(&writer.run, "script")?;
        }
        Ok(())
    }

    fn try_take(&mut self, step: &Step, store: &mut dyn Store) -> Result<(), StoreError> {
        match *step {
            Step::Claim(number) => {
                let name = run(&format!("r{number}"));
                let epoch = store.claim(&name, "script")?;
                self.claims.insert(
                    number,
                    Writer {
                        run: name,
                        branch: branch("b0"),
                        epoch,
                        head: None,
                    },
                );
            }
            Step::Write {
                run,
                branch,
                records,
                blob,
            } => {
                let Some(writer) = self.writer(run, branch) else {
                    return Ok(());
                };
                let (records, blobs) = self.records(&writer, records, blob);
                store.append(writer.append(&records, &blobs))?;
                self.move_to((run, branch), writer, records.last().unwrap());
            }
            Step::Talk { run, branch } => return self.talk((run, branch), store),
            Step::Group(a, b) => return self.group((a, b), store),
            Step::Rewind { run, branch, by } => {
                let Some(writer) = self.writer(run, branch).filter(|writer| writer.head.is_some()) else {
                    return Ok(());
                };
                let (sequence, head) = writer.head.unwrap();
                let target = at(sequence.number().saturating_sub(by.into()));
                let target = store.record_at(&writer.run, &writer.branch, target)?.unwrap();
                set_head(store, &writer, Some(head), target.hash())?;
                self.move_to((run, branch), writer, &target);
            }
            Step::Fork { run, from, to } => {
                let (Some(source), Some(fork)) = (self.writer(run, from), self.writer(run, to)) else {
                    return Ok(());
                };
                let (Some((_, hash)), None) = (source.head, fork.head) else {
                    return Ok(());
                };
                set_head(store, &fork, None, hash)?;
                self.writers.insert(
                    (run, to),
                    Writer {
                        head: source.head,
                        ..fork
                    },
                );
            }
            Step::GiveUp { run, branch } => return self.give_up((run, branch), store),
        }
        Ok(())
    }

    /// Writes a record whose body is in parts.
    fn talk(&mut self, place: (u8, u8), store: &mut dyn Store) -> Result<(), StoreError> {
        let Some(writer) = self.writer(place.0, place.1) else {
            return Ok(());
        };
        let header = writer.next_with("<talk>", &[]).header().clone();
        let named = self.named.entry(place).or_default();
        let record = Record::following(header, talk(self.steps), Vec::new, named).unwrap();
        assert!(
            record.as_bytes().len() < record.body_bytes().len(),
            "the body is in parts"
        );
        store.append(writer.append(std::slice::from_ref(&record), &[]))?;
        self.move_to(place, writer, &record);
        Ok(())
    }

    /// Writes a record of each of two runs in one commit.
    fn group(&mut self, (a, b): (u8, u8), store: &mut dyn Store) -> Result<(), StoreError> {
        let (Some(first), Some(second)) = (self.writer(a, 0), self.writer(b, 1)) else {
            return Ok(());
        };
        let (of_first, of_second) = (self.records(&first, 1, None).0, self.records(&second, 1, None).0);
        store.append_group(&[first.append(&of_first, &[]), second.append(&of_second, &[])])?;
        self.move_to((a, 0), first, &of_first[0]);
        self.move_to((b, 1), second, &of_second[0]);
        Ok(())
    }

    fn give_up(&mut self, place: (u8, u8), store: &mut dyn Store) -> Result<(), StoreError> {
        let Some(writer) = self.writer(place.0, place.1).filter(|writer| writer.head.is_some()) else {
            return Ok(());
        };
        let garbage = Garbage::find(store, &writer.run, |head| head.branch == writer.branch)?;
        store.remove(&garbage.removal(&writer.run, writer.epoch))?;
        self.writers.remove(&place);
        Ok(())
    }

    fn records(&self, writer: &Writer, count: u8, blob: Option<u8>) -> (Vec<Record>, Vec<Blob>) {
        let blobs: Vec<Blob> = blob
            .into_iter()
            .map(|byte| Blob::new(vec![byte; 700]).unwrap())
            .collect();
        let first = writer.next_with(&format!("<turn {} first>", self.steps), &blobs);
        let mut after = writer.clone();
        after.move_to(&first);
        let texts: Vec<String> = (1..count)
            .map(|number| format!("<turn {} {number}>", self.steps))
            .collect();
        let rest = after.chain(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        ([vec![first], rest].concat(), blobs)
    }

    fn move_to(&mut self, place: (u8, u8), mut writer: Writer, record: &Record) {
        writer.move_to(record);
        self.writers.insert(place, writer);
    }
}

/// A text that has what one of fewer steps has.
fn talk(steps: u32) -> PackedValue {
    let mut state = 1_u32;
    let letters = (0..16_500 + 1_500 * steps).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    });
    PackedValue::from_value(&IOValue::new(letters.collect::<String>())).unwrap()
}

/// Creates a branch, or moves its head.
pub(crate) fn set_head(
    store: &mut dyn Store,
    writer: &Writer,
    expected_head: Option<RecordHash>,
    to: RecordHash,
) -> Result<(), StoreError> {
    let (run, branch, epoch) = (&writer.run, &writer.branch, writer.epoch);
    store.set_head(&HeadMove {
        run,
        branch,
        epoch,
        expected_head,
        to,
    })
}

/// Everything that a reader sees of a store through its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observation {
    runs: Vec<RunId>,
    heads: Vec<Head>,
    records: Vec<Record>,
    times: Vec<CommitTime>,
    blobs: BTreeMap<BlobHash, Vec<u8>>,
    needs: Vec<Need>,
    letters: Vec<Letter>,
    ready: Vec<Ready>,
    workers: Vec<String>,
}

/// Reads everything.
pub(crate) fn observe(store: &dyn Store) -> Result<Observation, StoreError> {
    let mut seen = Observation {
        runs: store.runs()?,
        ..Observation::default()
    };
    for run in &seen.runs {
        for head in store.heads(run)? {
            let records = store.read(run, &head.branch, at(0)..at(1 << 40))?;
            for blob in records.iter().flat_map(|record| record.blobs()) {
                seen.blobs.insert(blob, store.blob(&blob)?);
            }
            seen.records.extend(records);
            seen.times.extend(store.times(run, &head.branch, at(0)..at(1 << 40))?);
            seen.needs.push(store.need(run, &head.branch)?);
            seen.letters.extend(store.letters(run, &head.branch)?);
            seen.heads.push(head);
        }
    }
    seen.ready = store.ready(u64::MAX, usize::MAX)?;
    seen.workers = store.workers()?;
    Ok(seen)
}

/// A script that writes, forks, rewinds and claims.
pub(crate) fn sample() -> Vec<Step> {
    vec![
        Step::Claim(0),
        Step::Write {
            run: 0,
            branch: 0,
            records: 3,
            blob: Some(7),
        },
        Step::Fork { run: 0, from: 0, to: 1 },
        Step::Claim(1),
        Step::Group(0, 1),
        Step::Write {
            run: 0,
            branch: 1,
            records: 1,
            blob: None,
        },
        Step::Rewind {
            run: 0,
            branch: 0,
            by: 2,
        },
        Step::Write {
            run: 0,
            branch: 0,
            records: 2,
            blob: Some(9),
        },
        Step::Claim(0),
        Step::Write {
            run: 0,
            branch: 1,
            records: 1,
            blob: Some(7),
        },
    ]
}

/// A script that uses everything once, and then gives branches up.
pub(crate) fn everything() -> Vec<Step> {
    let more = [
        Step::GiveUp { run: 0, branch: 0 },
        Step::Write {
            run: 0,
            branch: 1,
            records: 2,
            blob: Some(9),
        },
        Step::GiveUp { run: 1, branch: 1 },
        Step::Talk { run: 0, branch: 1 },
        Step::Talk { run: 0, branch: 1 },
        Step::Rewind {
            run: 0,
            branch: 1,
            by: 1,
        },
        Step::Talk { run: 0, branch: 1 },
    ];
    sample().into_iter().chain(more).collect()
}
