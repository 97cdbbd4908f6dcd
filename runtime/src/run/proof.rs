//! Proving snapshots: a replay from the first record meets each snapshot of a branch and compares.
//!
//! A snapshot saves a replay, and nothing else vouches for it: whoever writes a record can name any
//! blob as its snapshot.
//! INVARIANT: a branch passes only if opening it from any of its snapshots gives the run that its
//! records give.
//! It does not repair; a branch whose snapshot is wrong has sound records.
//! Read next: `replay.rs`.

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, PackedValue, Sequence};

use crate::model::codec::Codec;
use crate::run::Run;
use crate::run::error::{RunError, SnapshotPart};
use crate::run::source::{PORTION, Source};
use crate::run::thawing::{self, Extent, Thawed};
use crate::turn::erased::ErasedPrograms;
use crate::turn::program::Programs;

impl Source<'_> {
    /// Replays the whole branch from the beginning, requires every turn to equal its record and
    /// every snapshot to hold the run at its turn, and returns the number of snapshots.
    ///
    /// `apart` are the same programs once more: they load what a snapshot brings, which the replay
    /// does not trust.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first turn that differs, [`RunError::WrongSnapshot`] the
    /// first snapshot, [`RunError::OtherCode`] one that this version cannot prove;
    /// [`RunError::Thaw`] and [`RunError::Snapshot`] one that cannot be loaded.
    pub fn prove(&self, programs: impl Programs, mut apart: impl Programs) -> Result<u64, RunError> {
        let last = self.position(None)?;
        let mut run = self.begin(Box::new(programs))?;
        self.prove_after(&mut run, last, &mut apart)
            .map_err(|error| self.with_versions(error, &run))
    }

    fn prove_after(&self, run: &mut Run, last: Sequence, apart: &mut dyn ErasedPrograms) -> Result<u64, RunError> {
        let mut opener = Opener::new(self.store);
        let mut count = 0;
        while let Some(from) = run.next_sequence().ok().filter(|from| *from <= last) {
            let end = last.number().min(from.number() + PORTION - 1) + 1;
            for record in self.read_closed(from, end)? {
                let record = opener.join(record)?;
                run.replay(&record, self.store)?;
                if record.header().snapshot.is_some() {
                    self.compare(run, &record, apart)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// Requires a record's snapshot to hold what a run at that record holds.
    fn compare(&self, run: &Run, record: &ClosedRecord, apart: &mut dyn ErasedPrograms) -> Result<(), RunError> {
        let thawed = thawing::thaw(self, record, &run.genesis, apart, Extent::Whole)?;
        if let Some(versions) = thawed.code_from {
            // Equal computations have other code here.
            return Err(RunError::OtherCode {
                sequence: record.header().sequence,
                versions,
            });
        }
        match difference(run, &thawed, apart)? {
            None => Ok(()),
            Some(part) => Err(RunError::WrongSnapshot {
                sequence: record.header().sequence,
                part,
            }),
        }
    }
}

/// Finds the first part of a snapshot that differs from a run.
fn difference(run: &Run, thawed: &Thawed, apart: &dyn ErasedPrograms) -> Result<Option<SnapshotPart>, RunError> {
    let bytes = |state: &crate::state::RunState| PackedValue::write(|out| state.write(out));
    // A snapshot has no facts besides the assertions, from which they are restored.
    let facts = |state: &crate::state::RunState| state.dataspace.facts();
    if bytes(&run.state)? != bytes(&thawed.state)? || facts(&run.state) != facts(&thawed.state) {
        return Ok(Some(SnapshotPart::State));
    }
    if !run.instances.actors().eq(thawed.instances.actors()) {
        return Ok(Some(SnapshotPart::Actors));
    }
    for actor in run.instances.actors() {
        let (Some(ours), Some(theirs)) = (run.instances.get(actor), thawed.instances.get(actor)) else {
            return Ok(Some(SnapshotPart::Actors));
        };
        // Whatever cannot be compared was not proved.
        let (ours, theirs) = (run.programs.digest(ours), apart.digest(theirs));
        if ours.is_err() || ours != theirs {
            return Ok(Some(SnapshotPart::Instance(actor)));
        }
    }
    Ok(None)
}

#[cfg(test)]
pub(super) mod tests;
