//! The notes that a run's first record pins about its launch, after the texts of its program.
//!
//! INVARIANT: the note about the launch comes before that about doubles, and both are the last that
//! are pinned.
//! It does not write them; the crate's `world/launch.rs` does.

use duet_journal::{Blob, Store};
use duet_runtime::record::Genesis;

use crate::text::error::CommandError;
use crate::world::launch::{self, LaunchNote};

/// The note about its launch that a run's first record names.
pub(crate) fn launch_note(store: &dyn Store, genesis: &Genesis) -> Option<LaunchNote> {
    // The notes are pinned after the program's texts.
    let mut pinned = genesis.pinned.iter().rev();
    pinned.find_map(|hash| launch::read_note(&store.blob(hash).ok()?))
}

/// The tools that a run was granted at its start because doubles stood in for them.
pub(super) fn granted_for_doubles(store: &dyn Store, genesis: &Genesis) -> Vec<String> {
    for hash in genesis.pinned.iter().rev() {
        let Ok(bytes) = store.blob(hash) else { continue };
        if let Some(names) = launch::read_note_of_doubles(&bytes) {
            return names;
        }
        // The note about the launch comes before that about doubles.
        if launch::read_note(&bytes).is_some() {
            break;
        }
    }
    Vec::new()
}

/// The notes about its launch that a run's first record pins, as they are.
pub(super) fn launch_notes(store: &dyn Store, genesis: &Genesis) -> Result<Vec<Blob>, CommandError> {
    let mut notes = Vec::new();
    for hash in &genesis.pinned {
        let bytes = store.blob(hash)?;
        if launch::read_note(&bytes).is_some() || launch::read_note_of_doubles(&bytes).is_some() {
            notes.push(Blob::new(bytes)?);
        }
    }
    Ok(notes)
}
