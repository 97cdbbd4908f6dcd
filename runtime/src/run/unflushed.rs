//! The part of a run that is not durable yet.
//!
//! INVARIANT: the records are one chain, each the parent of the next; effects wait until the newest
//! of them is durable. It does not write to a store. Read next: `letting_go.rs`.

use duet_journal::{Blob, Record, RecordHash, Sequence, Taken, Tip};

use crate::driver::{Effect, EffectKind};
use crate::model::identity::RequestId;

/// The maximum number of turns that run before the run makes requested effects durable.
const TURNS_AHEAD_MAX: usize = 64;
/// The maximum of bytes in the records of such turns, because they wait in memory.
const BYTES_AHEAD_MAX: usize = 8 << 20;
/// The same maximum when the turns requested only console output and the program goes on. A commit
/// takes as long as many lines of output, and nobody sees a delay of some hundredths of a second.
const WRITING_TURNS_AHEAD_MAX: usize = 4;

/// The records that wait for the store, the blobs and letters that go with them, and the effects
/// that wait for them.
#[derive(Default)]
pub(super) struct Unflushed {
    records: Vec<Record>,
    /// The bytes of these records' bodies.
    body_bytes: usize,
    blobs: Vec<Blob>,
    letters: Vec<Taken>,
    effects: Vec<Effect>,
}

impl Unflushed {
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    pub(super) fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// The letters that the records have heard.
    pub(super) fn letters(&self) -> &[Taken] {
        &self.letters
    }

    /// The effects that nobody performs before the records are durable.
    pub(super) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The same effects, to say who asks.
    pub(super) fn effects_mut(&mut self) -> &mut [Effect] {
        &mut self.effects
    }

    /// Whether neither a record nor a blob waits for the store.
    pub(super) fn is_stored(&self) -> bool {
        self.records.is_empty() && self.blobs.is_empty()
    }

    /// Adds the next record of the chain, and returns its hash.
    pub(super) fn push(&mut self, record: Record, body_bytes: usize) -> RecordHash {
        debug_assert!(
            self.records
                .last()
                .is_none_or(|newest| Some(newest.hash()) == record.header().parent),
            "records that wait for the store are one chain"
        );
        let hash = record.hash();
        self.body_bytes += body_bytes;
        self.records.push(record);
        hash
    }

    /// Adds blobs, which become durable with the next records.
    pub(super) fn add_blobs(&mut self, blobs: impl IntoIterator<Item = Blob>) {
        self.blobs.extend(blobs);
    }

    /// The bytes of the blobs.
    pub(super) fn blob_bytes(&self) -> u64 {
        self.blobs.iter().map(|blob| blob.as_bytes().len() as u64).sum()
    }

    /// Adds a letter that the records have heard.
    pub(super) fn hear(&mut self, letter: Taken) {
        self.letters.push(letter);
    }

    /// Holds effects until the newest record is durable.
    pub(super) fn hold(&mut self, effects: Vec<Effect>) {
        self.effects.extend(effects);
    }

    /// Drops the effects of a request.
    pub(super) fn withdraw(&mut self, request: RequestId) {
        self.effects.retain(|effect| effect.request != request);
    }

    /// Drops all effects.
    pub(super) fn withdraw_all(&mut self) {
        self.effects.clear();
    }

    /// Hands out the effects while records wait, if nobody outside notices them: timers, and
    /// readings of clocks and of chance.
    pub(super) fn take_unnoticed(&mut self) -> Option<Vec<Effect>> {
        let is_noticed = |effect: &Effect| effect.kind.leaves_process();
        let is_due = !self.effects.is_empty() && !self.effects.iter().any(is_noticed);
        (!self.records.is_empty() && is_due).then(|| std::mem::take(&mut self.effects))
    }

    /// Forgets all that the store has now, and hands out the effects that waited for it.
    pub(super) fn confirm_durable(&mut self) -> Vec<Effect> {
        self.records.clear();
        self.letters.clear();
        self.body_bytes = 0;
        self.blobs.clear();
        std::mem::take(&mut self.effects)
    }

    /// Whether so much waits that it has to become durable.
    pub(super) fn is_much(&self) -> bool {
        self.records.len() >= TURNS_AHEAD_MAX || self.body_bytes >= BYTES_AHEAD_MAX
    }

    /// Whether a few turns wait that have asked for nothing but output.
    pub(super) fn is_little_output(&self) -> bool {
        let is_output = |effect: &Effect| matches!(effect.kind, EffectKind::Write { .. });
        self.records.len() < WRITING_TURNS_AHEAD_MAX && self.effects.iter().all(is_output)
    }

    /// The newest record that the store has while others wait; the first record if it has none.
    pub(super) fn newest_flushed(&self) -> Option<Tip> {
        let first = self.records.first()?;
        let header = first.header();
        let earlier = header.parent.zip(header.sequence.number().checked_sub(1));
        let earlier = earlier.and_then(|(hash, number)| Some((hash, Sequence::new(number).ok()?)));
        let (hash, sequence) = earlier.unwrap_or_else(|| (first.hash(), header.sequence));
        Some(Tip { hash, sequence })
    }
}
