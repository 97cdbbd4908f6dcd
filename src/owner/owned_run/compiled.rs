//! The program of a stored run: compiled from the texts that the run has pinned, or taken over from
//! another run that had the same texts and has come to rest.
//!
//! INVARIANT: a compiled program belongs to one run, or waits for one; never both.
//! It does not compile files; `owner/owned_run.rs` does.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use duet_journal::{Sequence, Store};
use duet_runtime::record::Genesis;
use duet_runtime::run::Run;
use duet_runtime::run::sight::Sight;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::SchemePrograms;
use preserves::IOValue;

use super::{ahead, measure, record_at};
use crate::history::journal::Place;
use crate::settings::native;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::version;
use crate::world::imported;

/// A program as its run's first record describes it.
pub(crate) struct Pinned {
    pub(crate) programs: SchemePrograms,
    pub(crate) texts: SourceTexts,
}

/// Reads a run's first record and compiles the program that it pins.
///
/// # Errors
/// If the record is none of a run, or the texts are missing.
pub(crate) fn pinned(store: &dyn Store, place: &Place) -> Result<Pinned, CommandError> {
    let genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
    pinned_or_kept(store, place, &genesis, &CompiledPrograms::default())
}

/// Brings a branch back as it was at a turn, to look at its state and at few of its actors: the
/// heaps of the others are not read.
///
/// # Errors
/// If the run cannot be replayed.
pub(crate) fn sight<'a>(store: &'a dyn Store, place: &'a Place) -> Result<Sight<'a>, CommandError> {
    let pinned = pinned(store, place)?;
    Ok(place.source(store).sight(place.turn, pinned.programs)?)
}

/// Takes the program of a run's first record from `kept`, or compiles it.
///
/// # Errors
/// As [`pinned`].
pub(super) fn pinned_or_kept(
    store: &dyn Store,
    place: &Place,
    genesis: &Genesis,
    kept: &CompiledPrograms,
) -> Result<Pinned, CommandError> {
    let mut pinned = match kept.take(&genesis.program) {
        Some(pinned) => pinned,
        None => compiled_again(store, genesis)?,
    };
    let mut bytes_max = genesis.limits.run_bytes_max;
    if let Some(terms) = imported::terms(store, &place.run)? {
        pinned.programs.cap_memory(terms.memory_bytes);
        bytes_max = bytes_max.min(terms.memory_bytes);
    }
    measure::begin(&mut pinned.programs, bytes_max);
    Ok(pinned)
}

fn compiled_again(store: &dyn Store, genesis: &Genesis) -> Result<Pinned, CommandError> {
    let mut fetch = |hash: &_| store.blob(hash).ok();
    let mut programs = SchemePrograms::pinned(&genesis.program, &mut fetch, &ahead::find)
        .map_err(|error| CommandError::caused("the run's program cannot be compiled again", &error))?;
    native::choose(&mut programs);
    programs.set_version(version::name());
    programs.find_ahead(ahead::find);
    let texts = SourceTexts::of(programs.expander());
    Ok(Pinned { programs, texts })
}

/// The programs of runs that have come to rest, the newest last.
pub(crate) struct CompiledPrograms {
    kept: Mutex<VecDeque<Pinned>>,
    /// The maximum number of programs that are kept.
    max: usize,
}

impl Default for CompiledPrograms {
    /// Keeps no program.
    fn default() -> Self {
        Self::of_at_most(0)
    }
}

impl CompiledPrograms {
    /// Keeps at most this many programs.
    pub(crate) fn of_at_most(max: usize) -> Self {
        Self {
            kept: Mutex::default(),
            max,
        }
    }

    /// Takes a program by its description.
    pub(super) fn take(&self, description: &IOValue) -> Option<Pinned> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept
            .iter()
            .rposition(|pinned| pinned.programs.description() == description)?;
        kept.remove(found)
    }

    /// Keeps the program of a run that has come to rest, if another run can go on with it.
    pub(super) fn keep(&self, run: Run, texts: SourceTexts) {
        if self.max == 0 {
            return;
        }
        let Some(programs) = run.into_programs::<SchemePrograms>().for_another_run() else {
            return;
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Pinned { programs, texts });
        let surplus = kept.len().saturating_sub(self.max);
        let dropped: Vec<Pinned> = kept.drain(..surplus).collect();
        drop(kept);
        drop(dropped);
    }
}
