//! The proof of a branch: a replay from its first record that believes no snapshot.
//!
//! INVARIANT: a branch is proved only if every record and every snapshot is what the program makes.
//! It decides nothing about a branch that is not proved; `verb/act/import.rs`
//! and `surface/command/fsck.rs` do.
//! Read next: `owner/owned_run.rs`.

use duet_journal::Store;
use duet_runtime::run::error::RunError;
use duet_runtime::scheme::SchemePrograms;

use super::compiled::pinned;
use super::measure;
use crate::history::journal::Place;
use crate::text::error::CommandError;

/// Replays a branch from its beginning and proves its snapshots on the way; returns their number.
/// `memory_bytes` is the maximum that the run may take here.
///
/// # Errors
/// The turn or the snapshot that is not what the records say.
pub(crate) fn prove(store: &dyn Store, place: &Place, memory_bytes: Option<u64>) -> Result<u64, ProofError> {
    let make = || -> Result<SchemePrograms, CommandError> {
        let mut programs = pinned(store, place)?.programs;
        if let Some(bytes) = memory_bytes {
            programs.cap_memory(bytes);
            measure::begin(&mut programs, bytes);
        }
        Ok(programs)
    };
    let (programs, apart) = (make()?, make()?);
    let source = place.source(store);
    Ok(source.prove(programs, apart)?)
}

/// Why a branch is not proved.
pub(crate) enum ProofError {
    /// The program cannot be prepared.
    Program(CommandError),
    /// The replay, or a snapshot.
    Run(RunError),
}

impl From<CommandError> for ProofError {
    fn from(error: CommandError) -> Self {
        Self::Program(error)
    }
}

impl From<RunError> for ProofError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<ProofError> for CommandError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Program(error) => error,
            ProofError::Run(error) => error.into(),
        }
    }
}
