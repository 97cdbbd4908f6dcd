//! Compiled programs that wait for another run of the same text.
//!
//! INVARIANT: a program is either here or in one run, never in both.
//! It does not compile; `../session.rs` does.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use duet_runtime::run::Run;
use duet_runtime::scheme::SchemePrograms;
use preserves::IOValue;

use super::Pinned;
use crate::render::SourceTexts;

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
