//! Looks at a run from outside: expressions at past turns, exports, and forged snapshots.
//!
//! INVARIANT: nothing here changes the run or its journal.
//! It compares no states; `../course.rs` does after each operation.
//! Read next: `../course.rs`.

use duet_journal::copy::{Change, Task, copy};
use duet_journal::parts::NamedParts;
use duet_journal::record::RecordError;
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::{BlobHash, Header, PackedValue, Record, RecordHash, Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Input;
use duet_runtime::run::error::RunError;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::Source;
use duet_runtime::run::{Run, Step};
use duet_runtime::state::event::{Batch, Event};

use super::super::edits::is_broken;
use super::super::programs::Shared;
use super::comparison::parts;
use super::{Course, Difference, OWNER, Outcome};

/// The library of the simulated programs.
const REPERTOIRE: &str = "(simulation repertoire)";

/// The maximum number of turns of an expression.
const TURNS_MAX: u64 = 40;

impl Course {
    /// Evaluates an expression at a turn, given in thousandths of the branch's length, on a run
    /// that goes no further; a plain sum must have its value whatever is in the queue, unless the
    /// library that each evaluation imports fails.
    pub(super) fn ask(&mut self, thousandths: u64, text: &str) -> Outcome {
        self.settle()?;
        let newest = self.run.head().map_or(0, |tip| tip.sequence.number());
        let turn = Sequence::new(newest * thousandths / 1000).map_err(|_| RunError::Full)?;
        let before = (self.store.heads(&self.name)?, self.store.runs()?);
        for (text, is_sum) in [(text, false), ("(+ 40 2)", true)] {
            // An observing program never records again, so it is compiled for this alone.
            let programs = self.cast.again()?;
            let source = Source {
                store: &*self.store,
                run: &self.name,
                branch: &self.branch,
            };
            let mut run = source
                .restore(Some(turn), programs.clone(), Snapshots::Use)
                .map_err(|error| Difference::Replay {
                    from: Snapshots::Use,
                    error,
                })?;
            // Before its program has begun, the main actor knows no names.
            let begins = |batch: &Batch| batch.to == MAIN && batch.events.contains(&Event::Boot {});
            if run.state().exit.is_some() || run.state().queue.iter().any(begins) {
                continue;
            }
            // Every evaluation imports the library, and fails as it does, unless the actor has
            // evaluated it before the text that fails came.
            let is_broken = run
                .state()
                .patches
                .last()
                .is_some_and(|patched| is_broken(&patched.text));
            let main = run.instance::<Shared>(MAIN);
            let has_library = main.is_some_and(|main| programs.borrow().has_library(main, REPERTOIRE));
            let expected = (has_library || !is_broken).then_some("42");
            let shown = observed(&mut run, &programs, text)?;
            if is_sum && shown.as_deref() != expected {
                let what = format!("at turn {turn} the sum is {shown:?}");
                return Err(Difference::Unreadable(what));
            }
        }
        self.counts.asked += 1;
        if before == (self.store.heads(&self.name)?, self.store.runs()?) {
            Ok(())
        } else {
            Err(Difference::Unreadable(
                "an expression has changed the journal".to_owned(),
            ))
        }
    }

    /// Exports the run, imports it elsewhere and proves it there; a copy whose records name each
    /// other's snapshots must be refused, and so must one with a changed byte.
    pub(super) fn send(&mut self, which: u64) -> Outcome {
        self.settle()?;
        let sent = self.copied(None)?;
        self.prove(&sent).map_err(|error| Difference::Replay {
            from: Snapshots::Use,
            error,
        })?;
        self.counts.sent += 1;
        self.forge(which)?;
        self.damage(sent, which)
    }

    /// Copies the branch to a store of its own, each record as it is or changed.
    fn copied(&self, change: Option<Change<'_>>) -> Outcome<MemoryStore> {
        let heads = self.store.heads(&self.name)?;
        let heads: Vec<_> = heads.into_iter().filter(|head| head.branch == self.branch).collect();
        let mut target = MemoryStore::default();
        let task = Task {
            run: &self.name,
            heads: &heads,
            owner: OWNER,
            note: None,
        };
        copy(&*self.store, &mut target, task, change)?;
        Ok(target)
    }

    /// Proves every branch of a copy, as an importer does.
    fn prove(&self, store: &MemoryStore) -> Result<(), RunError> {
        for head in store.heads(&self.name)? {
            let source = Source {
                store,
                run: &self.name,
                branch: &head.branch,
            };
            source.prove(self.cast.live.clone(), self.cast.replayed.clone())?;
        }
        Ok(())
    }

    /// Gives one snapshot's record the snapshot of an earlier turn.
    fn forge(&mut self, which: u64) -> Outcome {
        let mut known: Vec<(BlobHash, Sequence)> = Vec::new();
        let mut forged = None;
        let mut forge = |record: &Record, parent: Option<RecordHash>| {
            let header = record.header();
            let mut snapshot = header.snapshot;
            if let Some(own) = snapshot {
                let back = usize::try_from(which).unwrap_or(0) % known.len().max(1);
                let other = known.iter().rev().nth(back);
                if let Some((other, there)) = other.filter(|(other, _)| *other != own && forged.is_none()) {
                    snapshot = Some(*other);
                    forged = Some((header.sequence, *there));
                }
                known.push((own, header.sequence));
            }
            again(record, snapshot, parent)
        };
        let store = self.copied(Some(&mut forge))?;
        let Some((place, there)) = forged else { return Ok(()) };
        self.counts.forged += 1;
        match self.prove(&store) {
            Err(RunError::WrongSnapshot { .. } | RunError::Thaw { .. } | RunError::Snapshot { .. }) => Ok(()),
            Err(error) => Err(Difference::Replay {
                from: Snapshots::Ignore,
                error,
            }),
            // A turn that changes nothing has the state of the one before.
            Ok(()) if self.state_at(place)? == self.state_at(there)? => Ok(()),
            Ok(()) => Err(Difference::Unreadable("a forged snapshot was believed".to_owned())),
        }
    }

    /// Names the parts of a run at a turn of the present branch, apart from its position. The
    /// branch on which an older record was made may have other records by now.
    fn state_at(&self, at: Sequence) -> Outcome<Vec<(String, BlobHash)>> {
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        let mut run = source.restore(Some(at), self.cast.replayed.clone(), Snapshots::Ignore)?;
        let mut parts = parts(&mut run)?;
        parts.remove(0);
        Ok(parts)
    }

    /// Changes one byte of a copy. Its reader may refuse it or find less; a panic is a finding.
    fn damage(&self, sent: MemoryStore, which: u64) -> Outcome {
        let mut bytes = sent.into_disk().bytes().to_vec();
        let place = usize::try_from(which.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16).unwrap_or(0) % bytes.len();
        bytes[place] ^= 1 << (which % 8);
        let Ok(damaged) = MemoryStore::open(SimulatedDisk::new(bytes, FaultPlan::default())) else {
            return Ok(());
        };
        let Ok(Some(head)) = damaged.head(&self.name, &self.branch) else {
            return Ok(());
        };
        let own = self.store.record_at(&self.name, &self.branch, head.sequence)?;
        if self.prove(&damaged).is_ok() && own.is_none_or(|own| own.hash() != head.hash) {
            return Err(Difference::Unreadable(
                "a damaged export leads to another turn".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Makes a record that names a snapshot and a parent.
fn again(record: &Record, snapshot: Option<BlobHash>, parent: Option<RecordHash>) -> Result<Record, RecordError> {
    let header = Header {
        parent,
        snapshot,
        ..record.header().clone()
    };
    let body = PackedValue::from_value(&record.body())?;
    let outline = || record.clone().close().outline().unwrap_or_default().to_vec();
    Record::following(header, body, outline, &mut NamedParts::default())
}

/// Evaluates a text; returns its value as `write` shows it, if it has one.
fn observed(run: &mut Run, programs: &Shared, text: &str) -> Outcome<Option<String>> {
    programs.borrow_mut().observe();
    let since = run.state().counters.clone();
    run.hold_still(&since);
    run.deliver(Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    });
    for _ in 0..TURNS_MAX {
        let step = run.step()?;
        run.hold_still(&since);
        run.confirm_durable();
        if let Some(shown) = programs.borrow_mut().observed() {
            return Ok(Some(shown));
        }
        if step != Step::Turn {
            break;
        }
    }
    Ok(None)
}
