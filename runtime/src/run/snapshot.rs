//! Snapshots: a run between two turns as blobs, and back.
//!
//! Owns the layout of a snapshot: one root blob with the state and, for each actor, the root of its
//! body's image; the image's chunks are blobs of their own, so that a chunk that two snapshots
//! share is stored once. A snapshot freezes only instances that have run since the one before. A
//! blob that a snapshot needs is named by its own record or by an earlier one on the same chain.
//! INVARIANT: a run restored from a snapshot and one that has never stopped go on alike, turn for
//! turn; only which of their records have snapshots may differ. It does not know what is in an
//! image.
//! Read next: `freezing.rs`, `thawing.rs`.

use std::collections::BTreeMap;

use duet_journal::{BlobHash, ClosedRecord, Sequence, parts};
use preserves::IOValue;

use crate::codec_struct;
use crate::model::codec::Codec;
use crate::model::identity::ActorId;
use crate::run::error::RunError;
use crate::run::source::Source;
use crate::state::RunState;
use crate::turn::image::StoredUnits;

/// When snapshots are taken; has no influence on what a run does.
///
/// The policy weighs the cost to replay the turns since the newest snapshot against the cost to
/// store another. A snapshot is due after some turns, fuel or bytes. It is put off until the one
/// before is a small part of the records that followed it, as long as replaying does not take too
/// long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPolicy {
    /// One is due after this many turns,
    pub turns: u64,
    /// or records of this many bytes,
    pub record_bytes: u64,
    /// or turns that cost this much to replay, in units of fuel.
    pub cost: u64,
    /// It is put off until the records have this many times the bytes that the snapshots before
    /// added to the store, without those that take the place of earlier ones,
    pub records_share: u64,
    /// but not beyond turns that cost this much to replay, or more if the state is large.
    pub cost_max: u64,
    /// Where the run waits for others or for a moment, and has no snapshot yet or has recorded this
    /// many times the bytes of the newest one since, a small snapshot is taken in any case: another
    /// version of the compiler may be the next to go on. 0 means never.
    pub rest_share: u64,
    /// Whether the process lets the run go when it waits for others: then each such rest takes a
    /// snapshot if the newest one is very small.
    pub lets_go: bool,
}

impl SnapshotPolicy {
    /// No snapshot is ever taken.
    pub const NEVER: Self = Self {
        turns: u64::MAX,
        record_bytes: u64::MAX,
        cost: u64::MAX,
        records_share: 0,
        cost_max: u64::MAX,
        rest_share: 0,
        lets_go: false,
    };
}

impl Default for SnapshotPolicy {
    fn default() -> Self {
        Self {
            turns: 4096,
            record_bytes: 16 << 20,
            // A unit of fuel takes about ten nanoseconds, or one where it is machine code: 3 and
            // 250 ms, or less.
            cost: 300_000,
            // Snapshots write each change twice, the second time with the whole body. In all they
            // take a ninth of the records' bytes.
            records_share: 18,
            cost_max: 25_000_000,
            // A snapshot of a small run takes about as many bytes as ten records.
            rest_share: 4,
            lets_go: false,
        }
    }
}

/// What has been recorded since the newest snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Since {
    turns: u64,
    record_bytes: u64,
    /// What replaying costs, in units of fuel.
    cost: u64,
    /// How much of it is fuel that machine code has used.
    quick: u64,
    /// How many bytes of records there were before beyond those that make up for snapshots, or how
    /// many are lacking.
    pub(super) balance_bytes: i64,
    /// The length of the root of the newest snapshot.
    pub(super) root_bytes: u64,
    /// The bytes that the newest snapshot added to the store, if there is one.
    added_bytes: Option<u64>,
}

/// About how many bytes a record takes in a journal besides its body: its header, and the other
/// columns of its row.
const ENVELOPE_BYTES: u64 = 128;

/// What a turn costs to replay besides its fuel, in units of fuel.
pub(crate) const TURN_COST: u64 = 600;

/// How many bytes of a body cost a unit of fuel to replay: the turn converts and packs them again.
const BYTES_OF_A_UNIT: u64 = 4;

/// Returns what a body of a turn costs to replay, in units of fuel.
pub(crate) fn body_cost(length_bytes: usize) -> u64 {
    length_bytes as u64 / BYTES_OF_A_UNIT
}

/// How much more must have to be replayed, in units of fuel, for each fact and actor of the state:
/// ten times what it costs to write one of them down, because a snapshot writes them all. Otherwise
/// a run that only asserts would spend as much time on its snapshots as on its turns.
const THING_COST: u64 = 400;

/// How much more may have to be replayed, in units of fuel of the interpreter, for each byte of
/// the newest root before a snapshot is taken that is not made up for: about a hundred times the
/// cost to write it, because all others wait meanwhile;
const ROOT_BYTE_COST: u64 = 100;

/// but no more than this for all of it: three seconds.
const ROOT_COST_MAX: u64 = 300_000_000;

/// Machine code uses this much fuel in the time in which the interpreter uses a unit.
const QUICK_UNITS: u64 = 8;

/// The fuel that replaying must cost for each byte that a snapshot is expected to write. Machine
/// code uses this much in the time that writing the byte takes; the interpreter needs four times as
/// long. Without this bound, a program that computes for a moment on a large heap would spend as
/// much time on its snapshot.
const BODY_BYTE_COST: u64 = 16;

/// The bytes that a snapshot may be expected to have which is taken because the run rests: writing
/// them takes a few milliseconds.
const REST_BYTES_MAX: u64 = 4 << 20;

/// The bytes of the newest snapshot up to which each rest of a run that is let go takes another:
/// people and days are slower.
const REST_BYTES_FREE: u64 = 64 << 10;

impl Since {
    /// Counts a turn with the bytes of its record's body and its fuel, and the part of it that
    /// machine code has used.
    pub(crate) fn count(&mut self, body: &[u8], fuel: u64, quick: u64) {
        self.turns += 1;
        self.record_bytes += body.len() as u64 + ENVELOPE_BYTES;
        let cost = fuel.saturating_add(TURN_COST + body_cost(body.len()));
        self.cost = self.cost.saturating_add(cost);
        self.quick = self.quick.saturating_add(quick.min(fuel));
    }

    /// Nothing has been recorded since the snapshot that is taken now.
    pub(super) fn begin_anew(self) -> Self {
        Self {
            root_bytes: self.root_bytes,
            added_bytes: self.added_bytes,
            ..Self::default()
        }
    }

    /// Whether a snapshot of a state with this number of facts and actors, and with bodies of this
    /// size in all, is due and may be stored.
    pub(super) fn asks_for_another(&self, policy: &SnapshotPolicy, things: usize, body_bytes: u64) -> bool {
        let cost = policy.cost.saturating_add(THING_COST.saturating_mul(things as u64));
        let is_due = self.turns >= policy.turns || self.record_bytes >= policy.record_bytes || self.cost >= cost;
        if !is_due {
            return false;
        }
        let root_cost = self.root_bytes.saturating_mul(ROOT_BYTE_COST);
        let body_cost = self.added_bytes.unwrap_or(body_bytes).saturating_mul(BODY_BYTE_COST);
        let cost_max = policy.cost_max.max(body_cost.min(ROOT_COST_MAX));
        let is_costly = self.cost >= cost_max && self.interpreted_cost() >= root_cost.min(ROOT_COST_MAX);
        let is_only_costly = self.turns < policy.turns && self.record_bytes < policy.record_bytes;
        let is_cheap = is_only_costly && self.cost < body_cost.min(policy.cost_max);
        is_costly || self.paid_bytes() >= 0 && !is_cheap
    }

    /// What replaying costs in the time of the interpreter, which takes about ten nanoseconds for a
    /// unit of fuel.
    fn interpreted_cost(&self) -> u64 {
        self.cost.saturating_sub(self.quick) + self.quick / QUICK_UNITS
    }

    /// Whether a run that comes to rest, with bodies of this size in all, takes a snapshot that is
    /// not due otherwise; `is_let_go` says that it waits for others and its process does not.
    pub(super) fn asks_at_rest(&self, policy: &SnapshotPolicy, body_bytes: u64, is_let_go: bool) -> bool {
        let newest = self.added_bytes.or((self.root_bytes > 0).then_some(self.root_bytes));
        let is_small = newest.unwrap_or(body_bytes) <= REST_BYTES_MAX;
        let is_paid = newest.is_none_or(|newest| self.record_bytes >= newest.saturating_mul(policy.rest_share));
        let is_free = is_let_go && newest.is_some_and(|newest| newest <= REST_BYTES_FREE);
        policy.rest_share > 0 && is_small && (is_paid || is_free)
    }

    /// Notes what a snapshot has added to the store.
    pub(super) fn note_added(&mut self, bytes: u64) {
        self.added_bytes = Some(bytes);
    }

    pub(super) fn paid_bytes(&self) -> i64 {
        self.balance_bytes.saturating_add_unsigned(self.record_bytes)
    }
}

#[derive(Clone, Debug)]
pub(super) struct ActorImage {
    pub(super) actor: ActorId,
    pub(super) root: IOValue,
    pub(super) chunks: Vec<BlobHash>,
}
codec_struct!(ActorImage "actor-image" { actor, root, chunks });

pub(super) struct Snapshot {
    pub(super) state: RunState,
    pub(super) actors: Vec<ActorImage>,
    /// The blob with the [`Code`].
    pub(super) code: BlobHash,
}
codec_struct!(Snapshot "snapshot" { state, actors, code });

/// The compiled units to which the images of a snapshot may refer, and those of earlier snapshots
/// on the same chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// The versions that compiled them, the newest last.
    pub(super) versions: Vec<String>,
    pub(super) units: Vec<UnitName>,
}
codec_struct!(Code "code" { versions, units });

/// A compiled unit, and the blob that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitName {
    pub(super) unit: BlobHash,
    pub(super) blob: BlobHash,
}
codec_struct!(UnitName "unit" { unit, blob });

/// What the store has of the actors' instances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    /// The images of instances that have not run since they were frozen.
    pub(super) current: BTreeMap<ActorId, ActorImage>,
    /// Blobs that were made for snapshots that came to nothing: the next one counts on them, so its
    /// record names them.
    pub(super) unnamed: Vec<BlobHash>,
    /// The compiled units that records on this chain name.
    pub(super) units: StoredUnits,
    /// The versions that compiled them, the newest last.
    pub(super) versions: Vec<String>,
    /// The blob that lists these units, if there is one.
    pub(super) code: Option<BlobHash>,
}

impl Images {
    /// Forgets the image of a body that runs.
    pub(crate) fn outdate(&mut self, actor: ActorId) {
        if !self.current.is_empty() {
            self.current.remove(&actor);
        }
    }
}

/// Returns the versions that have made code for the newest snapshot of a branch, the newest last.
///
/// # Errors
/// [`RunError::Snapshot`], [`RunError::Store`].
pub(crate) fn versions(source: &Source<'_>) -> Result<Vec<String>, RunError> {
    let nearest = source.nearest_snapshot(source.position(None)?)?;
    let Some(record) = nearest.snapshot else {
        return Ok(Vec::new());
    };
    let (sequence, root) = (record.header().sequence, record.header().snapshot);
    root.map_or(Ok(Vec::new()), |root| {
        let (snapshot, _) = decode(source, &root, sequence)?;
        Ok(code_of(source, &snapshot.code, sequence)?.versions)
    })
}

/// Reads which code a snapshot needs.
pub(super) fn code_of(source: &Source<'_>, code: &BlobHash, sequence: Sequence) -> Result<Code, RunError> {
    let value = duet_journal::packed::read_value(&source.store.blob(code)?)?;
    Code::decode(&value).map_err(|source| RunError::Snapshot { sequence, source })
}

/// Reads the state, without the actors' instances, of a record's snapshot.
///
/// # Errors
/// [`RunError::Snapshot`], [`RunError::Store`].
pub(crate) fn state_of(source: &Source<'_>, record: &ClosedRecord) -> Result<RunState, RunError> {
    let sequence = record.header().sequence;
    let root = record.header().snapshot.ok_or(RunError::NoTurn {
        branch: source.branch.clone(),
        sequence,
    })?;
    Ok(decode(source, &root, sequence)?.0.state)
}

/// Reads the root of a snapshot, and how many bytes it has.
pub(super) fn decode(source: &Source<'_>, root: &BlobHash, sequence: Sequence) -> Result<(Snapshot, u64), RunError> {
    let fetch = |name: &BlobHash| source.store.blob(name);
    let bytes = parts::whole(fetch(root)?, &mut parts::fetching(fetch))?;
    let value = duet_journal::packed::read_value(&bytes)?;
    let snapshot = Snapshot::decode(&value).map_err(|source| RunError::Snapshot { sequence, source })?;
    Ok((snapshot, bytes.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_a_large_state_that_is_not_made_up_for_is_put_off() {
        let policy = SnapshotPolicy::default();
        let since = |cost, balance_bytes, root_bytes| Since {
            cost,
            balance_bytes,
            root_bytes,
            ..Since::default()
        };
        let asks = |since: Since, things| since.asks_for_another(&policy, things, 0);
        let lacking = -1 << 40;
        for (root_bytes, cost) in [
            (1 << 10, policy.cost_max),
            (1_000_000, 100_000_000),
            (1 << 30, ROOT_COST_MAX),
        ] {
            assert!(asks(since(cost, lacking, root_bytes), 0), "{root_bytes}");
            assert!(!asks(since(cost - 1, lacking, root_bytes), 0), "{root_bytes}");
            assert!(asks(since(policy.cost, 0, root_bytes), 0), "{root_bytes}");
        }
        let of_machine_code = |cost| Since {
            quick: cost,
            ..since(cost, lacking, 1_000_000)
        };
        assert!(asks(of_machine_code(800_000_000), 0), "machine code is replayed sooner");
        assert!(!asks(of_machine_code(799_999_999), 0));
        let with_facts = policy.cost + 1_000 * THING_COST;
        assert!(asks(since(with_facts, 0, 0), 1_000));
        assert!(!asks(since(with_facts - 1, 0, 0), 1_000));
    }

    #[test]
    fn a_run_that_rests_has_a_small_snapshot() {
        let policy = SnapshotPolicy::default();
        let since = |record_bytes, added_bytes| Since {
            record_bytes,
            added_bytes,
            ..Since::default()
        };
        let asks = |since: Since, body_bytes| since.asks_at_rest(&policy, body_bytes, false);
        assert!(asks(since(1, None), REST_BYTES_MAX));
        assert!(!asks(since(1, None), REST_BYTES_MAX + 1));
        assert!(!since(1, None).asks_at_rest(&SnapshotPolicy::NEVER, 0, true));
        let share = policy.rest_share;
        assert!(asks(since(1_000 * share, Some(1_000)), 0));
        assert!(!asks(since(1_000 * share - 1, Some(1_000)), 0));
        let restored = Since {
            root_bytes: 1_000,
            ..since(1, None)
        };
        assert!(!asks(restored, 0), "it was opened from a snapshot");
        assert!(restored.asks_at_rest(&policy, 0, true), "its process ends");
        assert!(!since(1, Some(REST_BYTES_FREE + 1)).asks_at_rest(&policy, 0, true));
    }

    #[test]
    fn a_snapshot_waits_until_replaying_costs_as_much_as_writing_it() {
        let policy = SnapshotPolicy::default();
        let after = |turns, cost| Since {
            turns,
            cost,
            ..Since::default()
        };
        let asks = |since: Since, bytes| since.asks_for_another(&policy, 0, bytes);
        assert!(asks(after(1, 1_600_000), 100_000));
        assert!(!asks(after(1, 1_599_999), 100_000));
        assert!(asks(after(1, policy.cost_max), 1 << 40), "but not for ever");
        assert!(!asks(after(1, policy.cost_max - 1), 1 << 40));
        assert!(asks(after(policy.turns, 0), 1 << 40), "and not for many small turns");
    }

    #[test]
    fn a_snapshot_after_one_that_added_much_is_put_off_in_proportion() {
        let policy = SnapshotPolicy::default();
        let lacking = |cost| Since {
            cost,
            balance_bytes: -1 << 40,
            root_bytes: 1,
            added_bytes: Some(10_000_000),
            ..Since::default()
        };
        assert!(lacking(160_000_000).asks_for_another(&policy, 0, 0));
        assert!(!lacking(159_999_999).asks_for_another(&policy, 0, 0));
    }
}
