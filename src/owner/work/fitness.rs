//! Whether a worker has what a run needs: its workspace, its secrets, and tools that can be made.
//!
//! INVARIANT: a worker finds it out before it claims the run, and says why it leaves the run.
//! It does not make the run's world. Read next: `owner/work.rs`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use duet_journal::owner::now_ms;
use duet_journal::{BlobHash, Store};
use duet_runtime::record::Genesis;

use crate::history::journal::Place;
use crate::history::prompts::is_prompt;
use crate::owner::owned_run::notes::launch_note;
use crate::settings::environment::environment;
use crate::settings::workspaces::Workspaces;
use crate::text::error::CommandError;
use crate::world::world_options::WorldOptions;

/// How long a worker takes for granted that it has what a run needs, in milliseconds: longer than
/// it takes to wake a thousand runs that were started alike.
const FIT_MS: u64 = 1_000;

/// For which runs the process had what they need, by what their first records pin, and when, in
/// milliseconds since 1970.
#[derive(Default)]
pub(super) struct Fitness(Mutex<BTreeMap<Vec<BlobHash>, u64>>);

impl Fitness {
    /// Requires that this process has what a run needs; what it had a moment ago for a run that was
    /// started alike, it has.
    pub(super) fn require(
        &self,
        store: &dyn Store,
        place: &Place,
        genesis: &Genesis,
        given: &WorldOptions,
    ) -> Result<(), CommandError> {
        if is_prompt(&genesis.program) {
            return Err(CommandError::problem(
                "it is a run of the prompt, where a person goes on with it",
            ));
        }
        let now = now_ms();
        let was_fit = self.lock().get(&genesis.pinned).copied();
        if was_fit.is_some_and(|since_ms| now.saturating_sub(since_ms) < FIT_MS) {
            return Ok(());
        }
        let Some(note) = launch_note(store, genesis) else {
            return Ok(());
        };
        if crate::world::imported::terms(store, &place.run)?.is_some() {
            // Its world is that of whoever imported it.
            return Ok(());
        }
        let declared = given.worked_in.as_ref();
        let workspace = declared
            .unwrap_or(&Workspaces::default())
            .of_run(note.workspace_name.as_deref(), &note.workspace)?;
        let environment = environment();
        let is_there = |secret: &&String| environment.iter().any(|(name, _)| name.to_str() == Some(secret));
        if let Some(secret) = note.reach.secrets.iter().find(|secret| !is_there(secret)) {
            return Err(CommandError::problem(format!(
                "it needs the secret {secret}, which this worker lacks"
            )));
        }
        let options = note.reach.fit(given.clone());
        options.tools(&workspace)?;
        let mut fit = self.lock();
        fit.retain(|_, since_ms| now.saturating_sub(*since_ms) < FIT_MS);
        fit.insert(genesis.pinned.clone(), now);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<BlobHash>, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
