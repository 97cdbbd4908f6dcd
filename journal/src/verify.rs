//! Verifies a branch, and on request takes it back to its last sound record.
//!
//! Owns the walk over a chain and the report.
//! INVARIANT: it changes nothing unless [`repair`] is called, and then it moves one head and says
//! what is lost.
//!
//! It trusts nothing of a store but the head; it does not look at branches' bodies.
//! Read next: `FORMAT.md`.

use std::collections::BTreeSet;

use crate::identity::{BlobHash, BranchName, Epoch, MAX_SEQUENCE, RecordHash, RunId, Sequence};
use crate::record::Record;
use crate::store::{Head, HeadMove, Object, Store, StoreError, one_by_one};

/// How many records are read at once while all is well.
const STEP: u64 = 256;

/// A defect of a branch.
#[derive(Debug)]
pub enum Damage {
    /// A record cannot be read.
    Unreadable {
        /// Its position.
        at: Sequence,
        /// Why.
        error: StoreError,
    },
    /// A record belongs to another run, or does not follow the one before it.
    Misplaced {
        /// The position it was found at.
        at: Sequence,
        /// The record.
        found: RecordHash,
        /// The record before it.
        expected_parent: Option<RecordHash>,
    },
    /// The last record of the branch is not the head.
    WrongHead {
        /// The record found in the head's place.
        found: Option<RecordHash>,
    },
    /// A blob that a record refers to cannot be read.
    Blob {
        /// The record's position.
        at: Sequence,
        /// The blob.
        blob: BlobHash,
        /// Why.
        error: StoreError,
    },
}

/// What a walk over a branch found.
#[derive(Debug)]
pub struct Report {
    /// The run.
    pub run: RunId,
    /// The head that was found.
    pub head: Head,
    /// How many records, from the first, are sound.
    pub sound_records: u64,
    /// How many parts of their bodies are sound.
    pub parts: u64,
    /// The last of them; `None` if the first record is damaged.
    pub last_sound: Option<Head>,
    /// What ends the sound part; `None` if all is well.
    pub damage: Option<Damage>,
}

impl Report {
    /// Says whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.damage.is_none()
    }
}

/// Walks over a branch from its first record and checks each record, the chain, the head and the
/// blobs referred to.
///
/// # Errors
/// [`StoreError::NoSuchRun`], [`StoreError::NoSuchBranch`], and failures that say nothing about the
/// branch.
pub fn verify(store: &dyn Store, run: &RunId, branch: &BranchName) -> Result<Report, StoreError> {
    let no_branch = || StoreError::NoSuchBranch {
        run: run.clone(),
        branch: branch.clone(),
    };
    let head = store.head(run, branch)?.ok_or_else(no_branch)?;
    let mut chain = Walk {
        store,
        run,
        head: &head,
        last: None,
        blobs: BTreeSet::new(),
        parts: 0,
    };
    let damage = chain.walk()?;
    let parts = chain.parts;
    let last_sound = chain.last.map(|(sequence, hash)| Head {
        branch: branch.clone(),
        sequence,
        hash,
    });
    let sound_records = last_sound.as_ref().map_or(0, |head| head.sequence.number() + 1);
    Ok(Report {
        run: run.clone(),
        head,
        sound_records,
        parts,
        last_sound,
        damage,
    })
}

struct Walk<'a> {
    store: &'a dyn Store,
    run: &'a RunId,
    head: &'a Head,
    /// The last sound record.
    last: Option<(Sequence, RecordHash)>,
    /// The blobs that were found sound.
    blobs: BTreeSet<BlobHash>,
    /// How many parts of bodies are among them.
    parts: u64,
}

impl Walk<'_> {
    fn walk(&mut self) -> Result<Option<Damage>, StoreError> {
        let mut step = STEP;
        loop {
            let next = self.last.map_or(Some(Sequence::FIRST), |(sequence, _)| sequence.next());
            let Some(next) = next.filter(|next| *next <= self.head.sequence) else {
                break;
            };
            let end = (next.number() + step)
                .min(self.head.sequence.number() + 1)
                .min(MAX_SEQUENCE);
            let end = Sequence::new(end).unwrap_or(next);
            let records = match one_by_one(self.store, self.run, &self.head.branch, next..end) {
                Err(error) if !is_damage(&error) => return Err(error),
                // One unreadable record hides the others of its step: go on one by one.
                Err(_) if step > 1 => {
                    step = 1;
                    continue;
                }
                Err(error) => return Ok(Some(Damage::Unreadable { at: next, error })),
                Ok(records) => records,
            };
            let before = self.last;
            for record in records {
                let damage = match record {
                    Err(error) if !is_damage(&error) => return Err(error),
                    Err(error) => Some(Damage::Unreadable { at: self.next(), error }),
                    Ok(record) => self.check(&record)?,
                };
                if damage.is_some() {
                    return Ok(damage);
                }
            }
            if self.last == before {
                break;
            }
        }
        let found = self.last.map(|(_, hash)| hash);
        Ok((found != Some(self.head.hash)).then_some(Damage::WrongHead { found }))
    }

    /// The position behind the sound records.
    fn next(&self) -> Sequence {
        let next = self.last.and_then(|(sequence, _)| sequence.next());
        next.unwrap_or(Sequence::FIRST)
    }

    fn check(&mut self, record: &Record) -> Result<Option<Damage>, StoreError> {
        let header = record.header();
        let expected_parent = self.last.map(|(_, hash)| hash);
        let at = self.next();
        if header.run != *self.run || header.parent != expected_parent || header.sequence != at {
            return Ok(Some(Damage::Misplaced {
                at,
                found: record.hash(),
                expected_parent,
            }));
        }
        for blob in record.blobs() {
            if !self.blobs.contains(&blob) {
                match self.store.blob(&blob) {
                    Err(error) if is_damage(&error) => return Ok(Some(Damage::Blob { at, blob, error })),
                    found => drop(found?),
                }
                self.blobs.insert(blob);
            }
        }
        self.parts += record.parts().count() as u64;
        self.last = Some((at, record.hash()));
        Ok(None)
    }
}

/// Says whether an error is about what is stored, rather than about reaching it.
fn is_damage(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::ChecksumMismatch {
            object: Object::Record(_) | Object::Blob(_)
        } | StoreError::BadRecord { .. }
            | StoreError::Inconsistent { .. }
            | StoreError::NoSuchRecord { .. }
            | StoreError::NoSuchBlob { .. }
    )
}

/// What a repair gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The positions that the branch no longer has.
    pub positions: std::ops::RangeInclusive<u64>,
    /// The head it had.
    pub head: RecordHash,
}

/// Moves a damaged branch's head to its last sound record. Records are not deleted; `None` if there
/// was no damage.
///
/// # Errors
/// [`StoreError::HeadMoved`] if the branch has moved since the report, [`StoreError::EpochFenced`];
/// [`StoreError::NoSuchRecord`] if not even the first record is sound.
pub fn repair(store: &mut dyn Store, report: &Report, epoch: Epoch) -> Result<Option<Lost>, StoreError> {
    if report.is_sound() {
        return Ok(None);
    }
    let Some(to) = &report.last_sound else {
        return Err(StoreError::NoSuchRecord { hash: report.head.hash });
    };
    let (run, branch, expected_head) = (&report.run, &report.head.branch, Some(report.head.hash));
    store.set_head(&HeadMove {
        run,
        branch,
        epoch,
        expected_head,
        to: to.hash,
    })?;
    let positions = to.sequence.number() + 1..=report.head.sequence.number();
    Ok(Some(Lost {
        positions,
        head: report.head.hash,
    }))
}
