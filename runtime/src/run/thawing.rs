//! Thawing: what a record's snapshot describes, and the instances of actors from their images.
//!
//! INVARIANT: a snapshot that is damaged, in its state, its code or an image that was asked for, is
//! an error and gives no instance.
//! It does not choose the actors that stay frozen for long; `frozen.rs` does.
//! Read next: `frozen.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem;

use duet_journal::{BlobHash, ClosedRecord, Sequence, StoreError};

use crate::action::exit::MAIN;
use crate::model::codec::DecodeError;
use crate::record::Genesis;
use crate::run::error::RunError;
use crate::run::frozen::Frozen;
use crate::run::instances::Instances;
use crate::run::snapshot::{ActorImage, Images, Snapshot, code_of, decode};
use crate::run::source::Source;
use crate::state::RunState;
use crate::state::actor::Actor;
use crate::turn::erased::{AnyInstance, ErasedPrograms};
use crate::turn::image::{Stored, StoredUnits, ThawError};

/// What a snapshot describes.
pub(crate) struct Thawed {
    pub(super) state: RunState,
    pub(super) instances: Instances<AnyInstance>,
    /// The actors that have no instance yet.
    pub(super) frozen: Frozen,
    pub(super) images: Images,
    /// The length of the snapshot's root.
    pub(super) root_bytes: u64,
    /// The versions that made the code of the instances, if this one makes other code of the same
    /// texts.
    pub(super) code_from: Option<Vec<String>>,
}

/// Which actors a restored run has instances of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// Those whose images stand for more than their heaps; all, if some code is not loaded.
    Needed,
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
    extent: Extent,
) -> Result<Thawed, RunError> {
    let sequence = record.header().sequence;
    let Some(root) = record.header().snapshot else {
        return Err(RunError::NoTurn {
            branch: source.branch.clone(),
            sequence,
        });
    };
    let added: Vec<BlobHash> = record.blobs().collect();
    source.store.read_blobs_ahead(&added)?;
    let (Snapshot { state, actors, code }, root_bytes) = decode(source, &root, sequence)?;
    let list = code;
    let chunks = actors.iter().flat_map(|stored| &stored.chunks);
    let needed: Vec<BlobHash> = chunks.chain([&list]).copied().collect();
    source.store.read_blobs_ahead(&needed)?;
    let code = code_of(source, &list, sequence)?;
    let followed = programs.follow(&state.patches);
    followed.map_err(|failure| RunError::Thaw {
        sequence,
        source: ThawError::damaged(failure.to_string()),
    })?;
    let mut thawing = Thawing {
        source,
        frost: Frost {
            state: &state,
            genesis,
            at: sequence,
        },
        programs,
        instances: Instances::default(),
        late: Vec::new(),
    };
    let units: StoredUnits = code.units.iter().map(|name| (name.unit, name.blob)).collect();
    // An image with texts brings their units.
    let stays = |stored: &&ActorImage| extent == Extent::Needed && stored.actor != MAIN && stored.chunks.is_empty();
    let (mut staying, first): (Vec<&ActorImage>, Vec<_>) = actors.iter().partition(stays);
    thawing.try_all(first)?;
    if !thawing.late.is_empty() || !thawing.programs.has_units(&units) {
        thawing.try_all(mem::take(&mut staying))?;
    }
    let has_late = thawing.thaw_late(&units)?;
    let mut frozen = BTreeMap::new();
    for stored in staying {
        thawing.frost.actor(stored)?;
        frozen.insert(stored.actor, stored.clone());
    }
    let instances = thawing.instances;
    let images = Images {
        current: actors.into_iter().map(|stored| (stored.actor, stored)).collect(),
        unnamed: Vec::new(),
        code: (code.versions.last() == Some(&programs.version())).then_some(list),
        units,
        versions: code.versions.clone(),
    };
    Ok(Thawed {
        state,
        instances,
        frozen: Frozen::new(sequence, frozen),
        images,
        root_bytes,
        code_from: has_late.then_some(code.versions),
    })
}

/// What an actor's image belongs to.
#[derive(Clone, Copy)]
pub(super) struct Frost<'a> {
    pub(super) state: &'a RunState,
    pub(super) genesis: &'a Genesis,
    /// The turn of the snapshot.
    pub(super) at: Sequence,
}

impl Frost<'_> {
    /// Returns the actor to which an image belongs.
    fn actor(&self, stored: &ActorImage) -> Result<&Actor, RunError> {
        let absent = DecodeError::Inconsistent {
            what: "every body has an actor",
        };
        self.state.actor(stored.actor).ok_or(RunError::Snapshot {
            sequence: self.at,
            source: absent,
        })
    }
}

/// Makes an actor's instance from its image, whose chunks `read` finds.
///
/// # Errors
/// [`RunError::Snapshot`], [`RunError::Thaw`], [`RunError::Store`].
pub(super) fn thaw_actor(
    frost: &Frost<'_>,
    programs: &mut dyn ErasedPrograms,
    stored: &ActorImage,
    read: &dyn Fn(&BlobHash) -> Result<Vec<u8>, StoreError>,
) -> Result<AnyInstance, RunError> {
    let actor = frost.actor(stored)?;
    let program = actor.program_in(&frost.genesis.program);
    let limits = frost.genesis.limits.of_actor(actor.heap_bytes_max);
    let failed = RefCell::new(None);
    let fetch = fetching(read, &failed);
    let image = Stored {
        root: &stored.root,
        chunk_names: &stored.chunks,
        fetch: &fetch,
    };
    let body = programs.thaw(&program, &limits, image);
    if let Some(error) = failed.take() {
        return Err(error.into());
    }
    let sequence = frost.at;
    body.map_err(|source| RunError::Thaw { sequence, source })
}

/// A snapshot whose instances are being made.
struct Thawing<'a> {
    source: &'a Source<'a>,
    frost: Frost<'a>,
    programs: &'a mut dyn ErasedPrograms,
    instances: Instances<AnyInstance>,
    /// The images whose code is missing.
    late: Vec<&'a ActorImage>,
}

impl<'a> Thawing<'a> {
    /// Makes instances, except of actors whose code is missing. A stored unit may have places in a
    /// text that only another actor has, so all of them are tried before any unit is loaded.
    fn try_all(&mut self, images: Vec<&'a ActorImage>) -> Result<(), RunError> {
        for stored in images {
            match self.thaw(stored) {
                Err(RunError::Thaw { source, .. }) if source.is_code_missing => self.late.push(stored),
                thawed => thawed?,
            }
        }
        Ok(())
    }

    /// Loads the stored units and makes the instances that need them; returns whether there are
    /// any.
    fn thaw_late(&mut self, units: &StoredUnits) -> Result<bool, RunError> {
        let late = mem::take(&mut self.late);
        if !late.is_empty() {
            self.load_units(units)?;
        }
        late.iter().try_for_each(|stored| self.thaw(stored))?;
        Ok(!late.is_empty())
    }

    /// Makes an actor's instance.
    fn thaw(&mut self, stored: &ActorImage) -> Result<(), RunError> {
        let read = |name: &BlobHash| self.source.store.blob(name);
        let mut body = thaw_actor(&self.frost, self.programs, stored, &read)?;
        if stored.actor != MAIN {
            self.programs.compact(&mut body);
        }
        self.instances.insert(stored.actor, body);
        Ok(())
    }

    /// Loads the stored units that are missing. Of texts that no blob has, such as those of
    /// evaluations that came to nothing, a unit loses only its places.
    fn load_units(&mut self, units: &StoredUnits) -> Result<(), StoreError> {
        let failed = RefCell::new(None);
        let read = |name: &BlobHash| self.source.store.blob(name);
        self.programs.load_units(units, &fetching(&read, &failed));
        match failed.take() {
            None | Some(StoreError::NoSuchBlob { .. }) => Ok(()),
            Some(error) => Err(error),
        }
    }
}

/// Reads blobs, and keeps the error of one that cannot be read.
fn fetching<'a>(
    read: &'a dyn Fn(&BlobHash) -> Result<Vec<u8>, StoreError>,
    failed: &'a RefCell<Option<StoreError>>,
) -> impl Fn(&BlobHash) -> Option<Vec<u8>> + 'a {
    move |name| match read(name) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            // A failure of the store counts more than a blob that is not there.
            let before = failed
                .take()
                .filter(|before| !matches!(before, StoreError::NoSuchBlob { .. }));
            failed.replace(Some(before.unwrap_or(error)));
            None
        }
    }
}
