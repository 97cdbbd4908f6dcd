//! A store that remembers its acknowledgements, so that a test knows which effects the world may
//! perform.
//!
//! INVARIANT: [`Ledger`] knows a turn only after the store below has said that it is durable.
//! It changes nothing on the way to that store.
//! Read next: `world.rs`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_journal::{
    Append, Blob, BlobHash, BranchName, Claim, CommitTime, Epoch, Head, HeadMove, Letter, LetterId, Mark, Need,
    PackedValue, Ready, Record, RecordHash, Removal, RunId, Sequence, Store, StoreError, Taken,
};
use duet_runtime::driver::{Effect, EffectKind};
use duet_runtime::model::codec::record;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::TurnRecord;
use duet_runtime::run::source::decode_turn;
use preserves::{IOValue, ValueImpl};

/// The durable part of one branch, shared between the store and the world; the store must be
/// `Send`, hence the lock.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Durable>>);

#[derive(Default)]
struct Durable {
    records: Vec<Record>,
    /// The turn that asked for each effect; of a repeated request, the last turn.
    asked: BTreeMap<RequestId, (Sequence, EffectKind)>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Durable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acknowledge(&self, records: &[Record]) {
        let mut durable = self.lock();
        for record in records {
            let asked = turn_of(record)
                .into_iter()
                .flat_map(|turn| turn.actions)
                .flat_map(|action| action.effects().collect::<Vec<_>>());
            let sequence = record.header().sequence;
            durable
                .asked
                .extend(asked.map(|(request, kind)| (request, (sequence, kind))));
            durable.records.push(record.clone());
        }
    }

    /// The records that the store has acknowledged, or held from the beginning.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.lock().records.clone()
    }

    /// The durable turn that asked for an effect.
    #[track_caller]
    pub(crate) fn turn_that_asked(&self, effect: &Effect) -> Sequence {
        let durable = self.lock();
        let head = durable.records.last().map(|record| record.header().sequence);
        let Some((turn, kind)) = durable.asked.get(&effect.request) else {
            panic!("no durable turn up to {head:?} has asked for {effect:?}")
        };
        let is_the_same = *kind == effect.kind
            || (effect.kind == EffectKind::Withdraw
                && matches!(
                    kind,
                    EffectKind::Ask { .. }
                        | EffectKind::Read { .. }
                        | EffectKind::Timer { .. }
                        | EffectKind::Alarm { .. }
                        | EffectKind::Tool { .. }
                ));
        assert!(
            is_the_same,
            "{effect:?} is performed, but turn {turn} has asked for {kind:?}"
        );
        *turn
    }
}

/// The turn in a record; none in the first.
pub(crate) fn turn_of(record: &Record) -> Option<TurnRecord> {
    (record.header().sequence != Sequence::FIRST).then(|| decode_turn(record).unwrap())
}

/// A fault that is built into the store, to see that the suite notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plant {
    /// None: the store is as it should be.
    Nothing,
    /// The store acknowledges a commit before it is durable, as if it skipped the sync: the commit
    /// reaches the disk with the next.
    SkippedSync,
    /// Snapshots come back without the batches that were in flight.
    LostBatches,
}

/// An append that was acknowledged and not made.
struct Late {
    run: RunId,
    branch: BranchName,
    epoch: Epoch,
    expected_head: Option<RecordHash>,
    records: Vec<Record>,
    blobs: Vec<Blob>,
}

impl Late {
    fn of(append: &Append<'_>) -> Self {
        Self {
            run: append.run.clone(),
            branch: append.branch.clone(),
            epoch: append.epoch,
            expected_head: append.expected_head,
            records: append.records.to_vec(),
            blobs: append.blobs.to_vec(),
        }
    }

    fn append(&self) -> Append<'_> {
        Append {
            run: &self.run,
            branch: &self.branch,
            epoch: self.epoch,
            expected_head: self.expected_head,
            records: &self.records,
            blobs: &self.blobs,
            times: None,
            need: duet_journal::Need::Nothing,
            taken: &[],
        }
    }
}

/// A memory store under observation.
pub(crate) struct Witness {
    store: MemoryStore,
    ledger: Ledger,
    plant: Plant,
    late: Vec<Late>,
    believed: Option<Record>,
}

impl Witness {
    /// Observes a store from here on, and notes the records that a branch already has.
    pub(crate) fn new(store: MemoryStore, run: &RunId, branch: &BranchName, plant: Plant) -> Self {
        let ledger = Ledger::default();
        ledger.acknowledge(&records(&store, run, branch));
        Self {
            store,
            ledger,
            plant,
            late: Vec::new(),
            believed: None,
        }
    }

    /// From here on, shows a record as it was before somebody altered it, so that a replay finds
    /// its actions.
    pub(crate) fn believing(self, record: Record) -> Self {
        Self {
            believed: Some(record),
            ..self
        }
    }

    /// The durable part, shared with others.
    pub(crate) fn ledger(&self) -> Ledger {
        self.ledger.clone()
    }

    /// Returns the disk.
    pub(crate) fn into_disk(self) -> SimulatedDisk {
        self.store.into_disk()
    }
}

/// All records of a branch; none if there is no such branch yet.
pub(crate) fn records(store: &dyn Store, run: &RunId, branch: &BranchName) -> Vec<Record> {
    let is_there = store.runs().unwrap().contains(run) && store.head(run, branch).unwrap().is_some();
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    if is_there {
        store.read(run, branch, all).unwrap()
    } else {
        Vec::new()
    }
}

/// A snapshot with an empty queue; other blobs as they are.
fn without_batches(bytes: Vec<u8>) -> Vec<u8> {
    const QUEUE: usize = 4;
    let Ok(value) = duet_journal::packed::read_value(&bytes) else {
        return bytes;
    };
    if !value.is_simple_record("snapshot", None) {
        return bytes;
    }
    let mut fields: Vec<IOValue> = value.iter().map(IOValue::from).collect();
    let mut state: Vec<IOValue> = fields[0].iter().map(IOValue::from).collect();
    state[QUEUE] = IOValue::new(Vec::<IOValue>::new());
    fields[0] = record("run-state", state);
    PackedValue::from_value(&record("snapshot", fields))
        .unwrap()
        .into_bytes()
}

impl Store for Witness {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        self.store.claim(run, owner)
    }

    fn claimed(&self, run: &RunId) -> Result<Option<Claim>, StoreError> {
        self.store.claimed(run)
    }

    fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        self.store.check_claim(run, epoch)
    }

    fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        self.store.note_owner(run, epoch, owner)
    }

    fn mark(&self) -> Result<Mark, StoreError> {
        self.store.mark()
    }

    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError> {
        for late in std::mem::take(&mut self.late) {
            self.store.append(late.append())?;
        }
        if self.plant == Plant::SkippedSync {
            self.late.extend(appends.iter().map(Late::of));
        } else {
            self.store.append_group(appends)?;
        }
        appends
            .iter()
            .for_each(|append| self.ledger.acknowledge(append.records));
        Ok(())
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        self.store.set_heads(moves)
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        self.store.remove(removal)
    }

    fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> Result<(), StoreError> {
        self.store.set_need(run, branch, epoch, need)
    }

    fn need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError> {
        self.store.need(run, branch)
    }

    fn ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
        self.store.ready(now_ms, max)
    }

    fn put(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
        self.store.put(run, letter)
    }

    fn letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
        self.store.letters(run, branch)
    }

    fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
        self.store.refuse(run, epoch, taken)
    }

    fn reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.reply(run, letter)
    }

    fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
        self.store.replace_reply(run, taken)
    }

    fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
        self.store.forget_reply(run, letter)
    }

    fn note_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError> {
        self.store.note_worker(name, told)
    }

    fn workers(&self) -> Result<Vec<String>, StoreError> {
        self.store.workers()
    }

    fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        self.store.runs()
    }

    fn has_run(&self, run: &RunId) -> Result<bool, StoreError> {
        self.store.has_run(run)
    }

    fn heads(&self, run: &RunId) -> Result<Vec<Head>, StoreError> {
        self.store.heads(run)
    }

    fn head(&self, run: &RunId, branch: &BranchName) -> Result<Option<Head>, StoreError> {
        self.store.head(run, branch)
    }

    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        let mut records = self.store.read(run, branch, range)?;
        if let Some(believed) = &self.believed {
            let mut shown = records.iter_mut();
            let altered = shown.find(|record| record.header().sequence == believed.header().sequence);
            altered.into_iter().for_each(|record| *record = believed.clone());
        }
        Ok(records)
    }

    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<CommitTime>, StoreError> {
        self.store.times(run, branch, range)
    }

    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError> {
        self.store.record(hash)
    }

    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
        let bytes = self.store.blob(hash)?;
        Ok(if self.plant == Plant::LostBatches {
            without_batches(bytes)
        } else {
            bytes
        })
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        self.store.has_blob(hash)
    }
}
