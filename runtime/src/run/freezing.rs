//! Taking snapshots of a living run, and making a run from a snapshot.
//!
//! INVARIANT: taking a snapshot changes nothing that a turn or a reader of records can observe.
//! It does not define the layout of a snapshot; `snapshot.rs` does.
//! Read next: `snapshot.rs`.

use std::collections::btree_map::Entry;
use std::mem;

use duet_journal::parts::cut;
use duet_journal::{Blob, BlobHash, ClosedRecord, Need, PackedValue};

use crate::model::codec::Codec;
use crate::record::Genesis;
use crate::run::Run;
use crate::run::snapshot::{ActorImage, Code, Snapshot, UnitName};
use crate::run::source::Source;
use crate::run::thawing::Thawed;
use crate::turn::erased::AnyPrograms;
use crate::turn::image::StoredUnit;

impl Run {
    /// Returns the versions that made the code with which the run goes on, the newest last; `None`
    /// if this version makes the same code of the run's texts, or has replayed the run from them.
    pub fn code_from(&self) -> Option<&[String]> {
        self.code_from.as_deref()
    }

    /// Takes a snapshot if the policy asks for one. Returns the hash of its root and the hashes of
    /// the chunks that no earlier record names; `None` also if an actor cannot be frozen at this
    /// point.
    pub(crate) fn take_snapshot_if_due(&mut self, body: &PackedValue, fuel: u64) -> Option<(BlobHash, Vec<BlobHash>)> {
        let quick = self.programs.take_quick_fuel();
        self.since_snapshot.count(body.as_bytes(), fuel, quick);
        let things = self.state.dataspace.len() + self.state.actors.len();
        let body_bytes = self.instances.size().bytes;
        let is_due = self.since_snapshot.asks_for_another(&self.policy, things, body_bytes);
        if !is_due && !self.rests_on_snapshot(body_bytes) {
            return None;
        }
        let paid_bytes = self.since_snapshot.paid_bytes();
        self.since_snapshot = self.since_snapshot.begin_anew();
        let bytes_before = self.unflushed.blob_bytes();
        let (code, code_bytes) = self.store_code()?;
        let (root, excused_bytes) = self.snapshot(code)?;
        let name = root.hash();
        self.unflushed.add_blobs([root]);
        let added_bytes = self.unflushed.blob_bytes() - bytes_before;
        self.since_snapshot.note_added(added_bytes.saturating_sub(code_bytes));
        let owed_bytes = added_bytes
            .cast_signed()
            .saturating_sub_unsigned(excused_bytes + code_bytes);
        let owed_bytes = owed_bytes.saturating_mul(self.policy.records_share.cast_signed());
        // A snapshot at rest does not put off the next one that is due.
        let owed_bytes = if is_due { owed_bytes } else { 0 };
        self.since_snapshot.balance_bytes = paid_bytes.saturating_sub(owed_bytes);
        // Savepoints made here show the next snapshot which words have changed.
        self.checkpoints.ask_for_checkpoint();
        Some((name, mem::take(&mut self.images.unnamed)))
    }

    /// Whether the run comes to rest and takes a snapshot for that.
    fn rests_on_snapshot(&self, body_bytes: u64) -> bool {
        let asks = |is_let_go| self.since_snapshot.asks_at_rest(&self.policy, body_bytes, is_let_go);
        if !asks(self.policy.lets_go) {
            return false;
        }
        match self.need() {
            Need::Input => true,
            need if need == Need::OWNER => false,
            Need::Moment(_) => asks(false),
            // A prompt waits for its person without a fiber; what has ended goes on with nothing.
            Need::Nothing => self.state.exit.is_none() && asks(false),
        }
    }

    /// Freezes every instance that has run since its last freezing. Returns the snapshot and the
    /// number of its bytes that later records need not make up for. The chunks of an instance count
    /// as stored from then on, whether or not the whole succeeds.
    fn snapshot(&mut self, code: BlobHash) -> Option<(Blob, u64)> {
        let mut excused_bytes = 0;
        for (actor, instance) in self.instances.iter_mut() {
            let Entry::Vacant(entry) = self.images.current.entry(actor) else {
                continue;
            };
            let image = self.programs.freeze(instance).ok()?;
            excused_bytes += image.excused_bytes;
            self.images.unnamed.extend(image.chunks.iter().map(Blob::hash));
            self.images.unnamed.extend(&image.chunk_names);
            self.unflushed.add_blobs(image.chunks);
            entry.insert(ActorImage {
                actor,
                root: image.root,
                chunks: image.chunk_names,
            });
        }
        // The state is moved out, because a clone would copy every actor and observer.
        let snapshot = Snapshot {
            state: mem::take(&mut *self.state),
            actors: self.images.current.values().cloned().collect(),
            code,
        };
        let packed = PackedValue::write(|out| snapshot.write(out));
        *self.state = snapshot.state;
        let packed = packed.ok()?;
        self.since_snapshot.root_bytes = packed.as_bytes().len() as u64;
        Some((self.root(packed)?, excused_bytes))
    }

    /// Stores the compiled units that no record on this chain names. Returns the blob that lists
    /// all units, and the number of bytes that were added: no record makes up for them, because
    /// all runs with the same libraries share them.
    fn store_code(&mut self) -> Option<(BlobHash, u64)> {
        let units = self.programs.store_units(&self.images.units).ok()?;
        if let Some(code) = self.images.code.filter(|_| units.is_empty()) {
            return Some((code, 0));
        }
        let mut blobs = Vec::new();
        for StoredUnit { unit, blob } in units {
            self.images.units.insert(unit, blob.hash());
            blobs.push(blob);
        }
        let names = self.images.units.iter();
        let version = self.programs.version();
        if self.images.versions.last() != Some(&version) {
            self.images.versions.push(version);
        }
        let code = Code {
            versions: self.images.versions.clone(),
            units: names
                .map(|(unit, blob)| UnitName {
                    unit: *unit,
                    blob: *blob,
                })
                .collect(),
        };
        let packed = PackedValue::write(|out| code.write(out)).ok()?;
        let list = Blob::new(packed.into_bytes()).ok()?;
        let name = list.hash();
        blobs.push(list);
        self.images.code = Some(name);
        self.images.unnamed.extend(blobs.iter().map(Blob::hash));
        let bytes = blobs.iter().map(|blob| blob.as_bytes().len() as u64).sum();
        self.unflushed.add_blobs(blobs);
        Some((name, bytes))
    }

    /// Makes the root of a snapshot. Most of a large one stands in earlier ones, or in the record
    /// to which it belongs, so it is stored in parts.
    fn root(&mut self, packed: PackedValue) -> Option<Blob> {
        self.named_parts.stand_on(self.head.map(|tip| tip.hash));
        let Some((root, added)) = cut(packed.as_bytes(), &mut self.named_parts) else {
            return Blob::new(packed.into_bytes()).ok();
        };
        self.images.unnamed.extend(added.iter().map(Blob::hash));
        self.unflushed.add_blobs(added);
        Blob::new(root.pack().ok()?.into_bytes()).ok()
    }
}

impl Thawed {
    /// Makes the run, which stands at the record of the snapshot.
    pub(crate) fn into_run(
        self,
        source: &Source<'_>,
        record: &ClosedRecord,
        genesis: Genesis,
        programs: AnyPrograms,
    ) -> Run {
        let (run, branch) = (source.run.clone(), source.branch.clone());
        let mut run = Run::with_state(run, branch, duet_journal::Epoch(0), genesis, programs, self.state);
        run.instances = self.instances;
        run.frozen = self.frozen;
        run.images = self.images;
        run.code_from = self.code_from;
        run.since_snapshot.root_bytes = self.root_bytes;
        run.stand_at(record);
        // The turn that took the snapshot asked for a checkpoint too.
        run.checkpoints.ask_for_checkpoint();
        run.keep_checkpoint_if_due(0);
        run
    }
}
