//! A project: the journal that requests are about.
//!
//! INVARIANT: a verb sees a store and addresses, never the path of a file or the kind of the store.
//! The store is opened when it is first needed.
//! Read next: `history/journal.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_journal::index::Index;
use duet_journal::{BranchName, Owner, RunId, Sequence, Store};
use duet_runtime::history::changes::{FactChange, Sought};

use crate::history::changes::{self, Searched};
use crate::history::grants::Grants;
use crate::history::journal::{Journal, Place};
use crate::history::marks;
use crate::owner::mail::{Delivery, MailArguments, Recipient};
use crate::owner::owned_run::OwnedRun;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::query::Query;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::standing::Standings;
use crate::world::world_options::WorldOptions;

/// A journal, opened when it is needed.
pub(crate) struct Project<'a> {
    journal: Journal,
    store: Option<Box<dyn Store>>,
    /// Whether nobody waits for the answer any more.
    stop: Arc<AtomicBool>,
    /// Where runs show what they do while they go on.
    stage: Option<&'a mut Terminal>,
}

/// A project that is open to be read.
pub(crate) struct ProjectReader<'a> {
    pub(crate) store: &'a dyn Store,
    journal: &'a Journal,
    stop: &'a AtomicBool,
    /// Whether a person at a terminal sees how far a long search is.
    is_watched: bool,
}

impl<'a> Project<'a> {
    /// The project of a journal.
    pub(crate) fn of(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            store: None,
            stop: Arc::default(),
            stage: None,
        }
    }

    /// A project whose runs show what they do at a terminal.
    pub(crate) fn on(self, stage: &'a mut Terminal) -> Self {
        let stage = Some(stage);
        Self { stage, ..self }
    }

    /// Where runs show what they do while they go on.
    ///
    /// # Errors
    /// If the process has no such place: then it executes no programs.
    pub(crate) fn stage(&mut self) -> Result<&mut Terminal, CommandError> {
        let nowhere = || CommandError::problem("this process executes no programs");
        self.stage.as_deref_mut().ok_or_else(nowhere)
    }

    /// The journal, for what stands beside it.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// A project whose long answers end when `stop` is set.
    pub(crate) fn until(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// Opens it to look.
    ///
    /// # Errors
    /// If there is no journal, or the file is something else.
    pub(crate) fn look(&mut self) -> Result<ProjectReader<'_>, CommandError> {
        if self.store.is_none() {
            self.store = Some(self.journal.open_to_read()?);
        }
        let store = self.store.as_deref();
        let store = store.ok_or_else(|| CommandError::problem("the journal is not open"))?;
        Ok(ProjectReader {
            store,
            journal: &self.journal,
            stop: &self.stop,
            is_watched: self.stage.as_ref().is_some_and(|stage| stage.has_line()),
        })
    }
}

impl Project<'_> {
    /// Opens it to write.
    ///
    /// # Errors
    /// If there is no journal, or the file is something else.
    pub(crate) fn change(&mut self, command: &str) -> Result<Box<dyn Store>, CommandError> {
        self.store = None;
        self.journal.open_to_write(command)
    }

    /// Opens it to write, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be made, or the file is something else.
    pub(crate) fn create(&self, command: &str) -> Result<Box<dyn Store>, CommandError> {
        self.journal.open_or_create(command)
    }

    /// Opens a stored run to go on with it.
    ///
    /// # Errors
    /// If another process executes it, or it cannot be restored.
    pub(crate) fn resume(
        &self,
        place: &Place,
        store: &mut dyn Store,
        options: WorldOptions,
        command: &str,
    ) -> Result<OwnedRun, CommandError> {
        OwnedRun::resume(place, self.journal.opened(store), options, command)
    }

    /// A branch of the journal that something may be handed to.
    pub(crate) fn recipient<'a>(&'a self, store: &'a mut dyn Store, place: &'a Place) -> Recipient<'a> {
        Recipient {
            store,
            journal: &self.journal,
            place,
        }
    }

    /// Has a worker let go of a run that this process is to act on, and says so.
    ///
    /// # Errors
    /// If the worker does not, or the journal fails.
    pub(crate) fn take_from_worker(&mut self, store: &mut dyn Store, place: &Place) -> Result<(), CommandError> {
        if self.recipient(store, place).make_worker_let_go()? {
            let told = say![
                format!("a worker has let go of {}; ", place.name()),
                Way::at("resume", place.name()),
                " goes on with it"
            ];
            let stage = self.stage()?;
            stage.message(told.spelled(stage.speaker));
        }
        Ok(())
    }

    /// Hands something to whoever executes a run, or will.
    ///
    /// # Errors
    /// If it is refused, or nobody answers in time.
    pub(crate) fn send(
        &self,
        store: &mut dyn Store,
        place: &Place,
        owner_request: &OwnerRequest,
        how: MailArguments,
    ) -> Result<Delivery, CommandError> {
        self.recipient(store, place).hand_over(owner_request, how)
    }

    /// Makes a branch the one that an address without a branch means.
    pub(crate) fn set_current(&self, place: &Place) {
        self.journal.set_current(&place.run, &place.branch);
    }

    /// Forgets what stands beside the journal about a run that is deleted: its marks and the
    /// references to it, which would hold for another run of the name.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn forget(&self, run: &RunId) -> Result<(), CommandError> {
        for mark in marks::of(&self.journal, run)?.keys() {
            marks::set(&self.journal, run, mark, None)?;
        }
        let grants = Grants::read(&self.journal);
        for (id, grant) in grants.iter() {
            if grant.run.split('/').next() == Some(run.as_str()) {
                Grants::revoke(&self.journal, id)?;
            }
        }
        Ok(())
    }

    /// Gives the space of what was removed back, unless other processes write; whether it did.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn compact(&mut self, command: &str) -> Result<bool, CommandError> {
        if self.journal.is_on_server() {
            // The server uses the space again by itself.
            let _ = Index::remove(self.journal.path());
            return Ok(true);
        }
        let mut store = self.journal.open_file(command)?;
        let is_alone = is_alone(&store)?;
        if is_alone {
            store.compact()?;
        }
        // It may say much of what is gone; while somebody uses it, it stays, and what it says of
        // the rest is true.
        let _ = Index::remove(self.journal.path());
        Ok(is_alone)
    }
}

/// Whether no other process owns a run of the journal. Giving space back takes as long as copying
/// the journal, and nobody can write meanwhile.
fn is_alone(store: &dyn Store) -> Result<bool, CommandError> {
    let here = Owner::this("");
    for run in store.runs()? {
        let owner = store.claimed(&run)?.and_then(|claim| claim.living());
        if owner.is_some_and(|owner| !owner.is_same(&here)) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<'a> ProjectReader<'a> {
    /// Finds the place that an address names, whose turn need not exist yet.
    ///
    /// # Errors
    /// If the address is malformed, or there is no such place.
    pub(crate) fn resolve(&self, address: Option<&str>) -> Result<Place, CommandError> {
        self.journal.resolve(self.store, address)
    }

    /// Finds the place that an address names.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve), and if the branch has no such turn.
    pub(crate) fn resolve_turn(&self, address: Option<&str>) -> Result<Place, CommandError> {
        self.journal.resolve_turn(self.store, address)
    }

    /// The branch of each run that was used last, as far as that is known; it may exist no more.
    pub(crate) fn used(&self) -> BTreeMap<RunId, BranchName> {
        self.journal.used()
    }

    fn searched<'b>(&'b self, place: &'b Place) -> Searched<'b> {
        Searched {
            journal: self.journal,
            store: self.store,
            place,
            stop: self.stop,
            is_watched: self.is_watched,
        }
    }

    /// Finds changes of facts that a query finds, up to a place; with what a person should know
    /// about the search.
    ///
    /// # Errors
    /// If the journal or the index is damaged.
    pub(crate) fn changes(
        &self,
        place: &Place,
        query: &Query,
        sought: Sought,
    ) -> Result<(Vec<FactChange>, Vec<String>), CommandError> {
        let mut notes = Vec::new();
        let found = changes::find(self.searched(place), query, sought, &mut notes)?;
        Ok((found, notes))
    }

    /// Lists the turns up to a place that call a tool or may receive an answer of it; with what a
    /// person should know about the search.
    ///
    /// # Errors
    /// If the journal or the index is damaged.
    pub(crate) fn turns_of_tool(
        &self,
        place: &Place,
        tool: &str,
    ) -> Result<(BTreeSet<Sequence>, Vec<String>), CommandError> {
        let mut notes = Vec::new();
        let found = changes::turns_of_tool(self.searched(place), tool, &mut notes)?;
        Ok((found, notes))
    }

    /// The time by the clock of the journal, which dates what the journal has, in milliseconds
    /// since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        self.journal.now_ms()
    }

    /// The findings about runs that stand still.
    pub(crate) fn standings(&self) -> Standings<'a> {
        Standings::of(self.journal)
    }

    /// Ends a long search that nobody waits for any more.
    ///
    /// # Errors
    /// If that is so.
    pub(crate) fn go_on(&self) -> Result<(), CommandError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(CommandError::problem("nobody waits for the answer any more"));
        }
        Ok(())
    }
}
