//! Snapshots: a run between two turns as blobs, and back.
//!
//! Owns the layout of a snapshot: one root blob with the state and, for each actor, the root of its
//! body's image; the image's chunks are blobs of their own, so that a chunk that two snapshots
//! share is stored once. A snapshot freezes only instances that have run since the one before. A
//! blob that a snapshot needs is named by its own record or by an earlier one on the same chain.
//! INVARIANT: a run restored from a snapshot and one that has never stopped go on alike, turn for
//! turn; only which of their records have snapshots may differ. It does not know what is in an
//! image.
//! Read next: `freezing.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use duet_journal::{BlobHash, ClosedRecord, Sequence, StoreError, parts};
use preserves::IOValue;

use crate::action::exit::MAIN;
use crate::codec_struct;
use crate::model::codec::{Codec, DecodeError};
use crate::model::identity::ActorId;
use crate::model::limits::Limits;
use crate::record::Genesis;
use crate::run::error::RunError;
use crate::run::instances::Instances;
use crate::run::source::Source;
use crate::state::RunState;
use crate::turn::erased::{AnyInstance, ErasedPrograms};
use crate::turn::image::{Stored, ThawError};

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
}

impl SnapshotPolicy {
    /// No snapshot is ever taken.
    pub const NEVER: Self = Self {
        turns: u64::MAX,
        record_bytes: u64::MAX,
        cost: u64::MAX,
        records_share: 0,
        cost_max: u64::MAX,
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

/// How much more may have to be replayed, in units of fuel, for each byte of the newest root before
/// a snapshot is taken that is not made up for: about a hundred times the cost to write it, because
/// all others wait meanwhile;
const ROOT_BYTE_COST: u64 = 100;

/// but no more than this for all of it: a third of a second of machine code, three seconds
/// interpreted.
const ROOT_COST_MAX: u64 = 300_000_000;

/// The fuel that replaying must cost for each byte that a snapshot is expected to write. Machine
/// code uses this much in the time that writing the byte takes; the interpreter needs four times as
/// long. Without this bound, a program that computes for a moment on a large heap would spend as
/// much time on its snapshot.
const BODY_BYTE_COST: u64 = 16;

impl Since {
    /// Counts a turn with the bytes of its record's body and its fuel.
    pub(crate) fn count(&mut self, body: &[u8], fuel: u64) {
        self.turns += 1;
        self.record_bytes += body.len() as u64 + ENVELOPE_BYTES;
        let cost = fuel.saturating_add(TURN_COST + body_cost(body.len()));
        self.cost = self.cost.saturating_add(cost);
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
        let cost_max = policy.cost_max.max(root_cost.max(body_cost).min(ROOT_COST_MAX));
        let is_only_costly = self.turns < policy.turns && self.record_bytes < policy.record_bytes;
        let is_cheap = is_only_costly && self.cost < body_cost.min(policy.cost_max);
        self.cost >= cost_max || self.paid_bytes() >= 0 && !is_cheap
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
}
codec_struct!(Snapshot "snapshot" { state, actors });

/// What the store has of the actors' instances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    /// The images of instances that have not run since they were frozen.
    pub(super) current: BTreeMap<ActorId, ActorImage>,
    /// Blobs that were made for snapshots that came to nothing: the next one counts on them, so its
    /// record names them.
    pub(super) unnamed: Vec<BlobHash>,
}

impl Images {
    /// Forgets the image of a body that runs.
    pub(crate) fn outdate(&mut self, actor: ActorId) {
        if !self.current.is_empty() {
            self.current.remove(&actor);
        }
    }
}

/// What a snapshot describes.
pub(crate) struct Thawed {
    pub(super) state: RunState,
    pub(super) instances: Instances<AnyInstance>,
    pub(super) images: Images,
    /// The length of the snapshot's root.
    pub(super) root_bytes: u64,
}

/// Reads what a record's snapshot describes.
///
/// # Errors
/// [`RunError::Snapshot`], [`RunError::Thaw`], [`RunError::Store`].
pub(crate) fn thaw(
    source: &Source<'_>,
    record: &ClosedRecord,
    genesis: &Genesis,
    programs: &mut dyn ErasedPrograms,
) -> Result<Thawed, RunError> {
    let sequence = record.header().sequence;
    let Some(root) = record.header().snapshot else {
        return Err(RunError::NoTurn {
            branch: source.branch.clone(),
            sequence,
        });
    };
    let (Snapshot { state, actors }, root_bytes) = decode(source, &root, sequence)?;
    let followed = programs.follow(&state.patches);
    followed.map_err(|failure| RunError::Thaw {
        sequence,
        source: ThawError::damaged(failure.to_string()),
    })?;
    let mut instances = Instances::default();
    let mut images = Images::default();
    for stored in actors {
        let absent = DecodeError::Inconsistent {
            what: "every body has an actor",
        };
        let actor = state.actor(stored.actor).ok_or(RunError::Snapshot {
            sequence,
            source: absent,
        })?;
        let program = actor.program.value();
        let limits = genesis.limits.of_actor(actor.heap_bytes_max);
        let body = thaw_body(source, programs, &program, &limits, &stored)?;
        let mut body = body.map_err(|source| RunError::Thaw { sequence, source })?;
        if stored.actor != MAIN {
            programs.compact(&mut body);
        }
        instances.insert(stored.actor, body);
        images.current.insert(stored.actor, stored);
    }
    Ok(Thawed {
        state,
        instances,
        images,
        root_bytes,
    })
}

fn thaw_body(
    source: &Source<'_>,
    programs: &mut dyn ErasedPrograms,
    program: &IOValue,
    limits: &Limits,
    stored: &ActorImage,
) -> Result<Result<AnyInstance, ThawError>, StoreError> {
    let failed = RefCell::new(None);
    let fetch = |name: &BlobHash| match source.store.blob(name) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            failed.replace(Some(error));
            None
        }
    };
    let image = Stored {
        root: &stored.root,
        chunk_names: &stored.chunks,
        fetch: &fetch,
    };
    let body = programs.thaw(program, limits, image);
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(body),
    }
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
fn decode(source: &Source<'_>, root: &BlobHash, sequence: Sequence) -> Result<(Snapshot, u64), RunError> {
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
        let with_facts = policy.cost + 1_000 * THING_COST;
        assert!(asks(since(with_facts, 0, 0), 1_000));
        assert!(!asks(since(with_facts - 1, 0, 0), 1_000));
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
