//! The three lines at the end of a run that failed: what failed first, from what, and what helps.
//!
//! INVARIANT: they name commands, so only a run that has a journal ends with them.
//! It finds and words nothing. Read next: `verb/explain.rs`.

use duet_journal::Store;
use duet_runtime::run::DriveOutcome;
use duet_runtime::scheme::SchemePrograms;

use super::OwnedRun;
use crate::history::journal::Place;
use crate::history::prompts::is_of_prompt;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::saying::Saying;
use crate::verb::explain::Explaining;

impl OwnedRun {
    /// Tells of the failure that came first; nothing if none did. `has_way` is whether a way on has
    /// been named already.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn first_failure(
        &self,
        store: &dyn Store,
        rest: &DriveOutcome,
        has_way: bool,
    ) -> Result<Vec<Saying>, CommandError> {
        let is_failed = matches!(rest, DriveOutcome::Ended { code: 1.. } | DriveOutcome::Stuck { .. });
        let head = store.head(self.run.id(), self.run.branch())?;
        let (Some(head), Some(journal)) = (head.filter(|_| is_failed), &self.place.journal) else {
            return Ok(Vec::new());
        };
        let place = Place {
            run: self.run.id().clone(),
            branch: self.run.branch().clone(),
            head,
            turn: None,
        };
        let texts = SourceTexts::of(self.run.programs::<SchemePrograms>().expander());
        let explaining = Explaining {
            store,
            place: &place,
            texts: &texts,
            now_ms: journal.now_ms(),
            is_prompt: is_of_prompt(store, &place)?,
        };
        Ok(explaining.report(&self.run)?.brief(has_way))
    }
}
