//! A run of an earlier text of the program that is about to run.
//!
//! INVARIANT: a person who edits a program and runs it hears that a run of the earlier text is
//! there, and how it goes on with the text of now.
//! It begins no run. Read next: `name.rs`.

use std::path::Path;

use duet_journal::{BlobHash, Need, RunId, Sequence, Store};
use duet_runtime::run::source::genesis;

use super::name::taken_before;
use crate::history::journal::Journal;
use crate::owner::owned_run::record_at;
use crate::text::error::CommandError;
use crate::text::saying::{Saying, Way, quoted, say};
use crate::world::launch::Launch;

/// A run that has begun under the first free name of its program.
pub(super) struct Begun<'a> {
    pub(super) id: &'a RunId,
    /// The program as the person has named it.
    pub(super) program: &'a Path,
    pub(super) launch: &'a Launch,
}

impl Begun<'_> {
    /// Says that the run before has another text, if that is so.
    ///
    /// # Errors
    /// If that run cannot be read.
    pub(super) fn tell(&self, store: &dyn Store, journal: &Journal) -> Result<Option<Saying>, CommandError> {
        let Some(earlier) = taken_before(self.id, &self.launch.stem).filter(|earlier| *earlier != *self.id) else {
            return Ok(None);
        };
        if !store.has_run(&earlier)? {
            return Ok(None);
        }
        let place = journal.resolve(store, Some(earlier.as_str()))?;
        let pinned = genesis(&record_at(store, &place, Sequence::FIRST)?)?.pinned;
        if pinned.contains(&BlobHash::of(self.launch.text.as_bytes())) {
            return Ok(None);
        }
        let program = quoted(&self.program.display().to_string());
        let told = say![
            format!("{earlier} is a run of another text, so {} begins; ", self.id),
            Way::at("resume", &earlier).with(format!("--with {program}")),
            format!(" runs this one on what {earlier} has received"),
        ];
        // A run that has ended takes no other text.
        Ok(Some(match store.need(&place.run, &place.branch)? {
            Need::Nothing => told,
            Need::Moment(_) | Need::Input => told
                .and(", ")
                .and(Way::at("patch", &earlier).with(program))
                .and(format!(" puts it in the place of the one that {earlier} executes")),
        }))
    }
}
