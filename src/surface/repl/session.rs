//! A session: a run whose program only evaluates the texts that a person types.
//!
//! Owns the start and the reopening of a session, and the way back through its texts.
//! INVARIANT: between two texts every evaluation is durable, so a session can be left, moved back
//! and reopened at any of them.
//! It evaluates nothing; `evaluation.rs` does. It makes no program of the texts; `script.rs` does.
//! Read next: `evaluation.rs`, then the crate's `owner/owned_run.rs`.

use duet_runtime::model::counted::counted;
use duet_runtime::model::failure;
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::path::Path;

use duet_journal::store::memory::MemoryStore;
use duet_journal::{BranchName, Record, RunId, Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Body;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::{Procedure, SchemePrograms};
use duet_runtime::state::event::Event;

use super::complete::{Candidate, Scope};
use super::editor_thread::EditorThread;
use super::pipe::Pipe;
use crate::history::journal::{Journal, Place};
use crate::history::prompts::{NAME, is_prompt};
use crate::history::records::turns;
use crate::history::turn;
use crate::owner::owned_run::{self, Beginning, Detached, OwnedRun, Prepared};
use crate::surface::command_line::Printed;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Speaker, Way, say};
use crate::text::terminal::Terminal;
use crate::verb::project::Project;
use crate::verb::{self, Answers, Request, show};
use crate::world::launch::Launch;
use crate::world::streams::PromptStreams;
use crate::world::world_options::WorldOptions;

/// The program of a session: it loads the evaluator.
const PROGRAM: &str = "(import (only (duet internal eval) %interact)) %interact";

/// The same for a session that begins at a terminal: it shows values with their names, and of long
/// ones only the beginning.
const PROGRAM_FOR_A_PERSON: &str =
    "(import (only (duet internal eval) %face-a-person! %interact)) (%face-a-person!) %interact";

/// A session that is open.
pub(crate) struct Live {
    /// The journal; none if it is kept in memory.
    pub(super) journal: Option<Journal>,
    pub(super) store: Box<dyn Store>,
    pub(super) owned: OwnedRun,
    pub(super) place: Place,
    pub(super) prompt_state: PromptState,
    /// The newest turn whose failure, if it failed, the person has seen.
    pub(super) reported: Sequence,
}

/// The work of a session.
#[derive(Default)]
pub(crate) struct Work {
    /// The number of turns.
    pub(crate) turns: u64,
    /// The units of fuel that they used.
    pub(crate) fuel: u64,
}

/// What stays when the session closes the journal for a command and opens it again.
#[derive(Default)]
pub(crate) struct PromptState {
    /// Where the person sits.
    pub(super) streams: PromptStreams,
    /// The world of the session besides what its run reaches.
    world: WorldOptions,
    /// The line editor; none if the texts come from a file or a pipe.
    pub(super) line_editor: Option<EditorThread>,
    /// The lines of the file or pipe, once one was read.
    pub(super) pipe: Option<Pipe>,
    /// The questions that the person has seen, so that they are not shown twice.
    pub(super) seen: BTreeSet<RequestId>,
    /// The names of the procedures whose calls are shown.
    pub(super) traced: BTreeSet<String>,
    /// Whether something failed in the background.
    pub(super) has_failed: bool,
}

impl PromptState {
    /// Makes the state of a prompt at a terminal.
    pub(crate) fn at(streams: PromptStreams, line_editor: EditorThread) -> Self {
        Self {
            streams,
            line_editor: Some(line_editor),
            ..Self::default()
        }
    }

    /// Lets the session reach more of the world.
    pub(crate) fn reaching(self, world: WorldOptions) -> Self {
        Self { world, ..self }
    }

    /// The state of a prompt that reaches what the turns of its run grant, and nothing else, so
    /// that going back takes a grant back.
    fn begun(self) -> Self {
        Self {
            world: self.world.without_reach(),
            ..self
        }
    }

    /// Compiles the program of a session and makes its world.
    ///
    /// # Errors
    /// If there is no workspace.
    pub(crate) fn prepare(
        &self,
        workspace: Option<&Path>,
        journal: Option<&Journal>,
        terminal: &mut Terminal,
    ) -> Result<Prepared, CommandError> {
        let program = match self.line_editor {
            Some(_) => PROGRAM_FOR_A_PERSON,
            None => PROGRAM,
        };
        let mut launch = Launch::of_text(NAME, program, workspace)?;
        let options = match journal {
            Some(journal) => self.options().beside(journal),
            None => self.options(),
        };
        launch.grant(&options)?;
        Prepared::new(&launch, options, terminal)
    }

    fn options(&self) -> WorldOptions {
        WorldOptions {
            streams: Some(self.streams.clone()),
            ..self.world.clone()
        }
    }
}

impl Live {
    /// Begins a session.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn begin(
        prepared: Prepared,
        beginning: Beginning<'_>,
        mut store: Box<dyn Store>,
        prompt_state: PromptState,
    ) -> Result<Self, CommandError> {
        let (id, journal) = (beginning.id.clone(), beginning.journal.cloned());
        let mut owned = OwnedRun::start(prepared, beginning, &mut *store)?;
        owned.run_on(&mut *store)?;
        owned.stop_when_interrupted();
        owned.advise_prompt();
        Ok(Self {
            journal,
            place: owned.place_of(&id)?,
            store,
            reported: owned.head(),
            owned,
            prompt_state: prompt_state.begun(),
        })
    }

    /// Begins a session whose journal is kept in memory.
    ///
    /// # Errors
    /// If there is no workspace.
    pub(crate) fn begin_in_memory(
        id: &RunId,
        workspace: Option<&Path>,
        prompt_state: PromptState,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        let prepared = prompt_state.prepare(workspace, None, terminal)?;
        let beginning = Beginning::in_memory(id.clone(), "repl");
        Self::begin(prepared, beginning, Box::new(MemoryStore::default()), prompt_state)
    }

    /// Opens a session where a branch ends, and grants its run what the prompt reaches beyond it.
    ///
    /// # Errors
    /// If the run cannot be opened.
    pub(crate) fn open(
        journal: &Journal,
        address: Option<&str>,
        prompt_state: PromptState,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        refuse_programs(journal, address)?;
        let given = prompt_state.world.clone();
        let mut live = Self::open_in_place_of(None, journal, address, prompt_state)?;
        live.owned.tell_versions(terminal);
        if live.owned.widen(&*live.store, &given, terminal)? {
            live.owned.settle(&mut *live.store)?;
        }
        live.prompt_state = live.prompt_state.begun();
        Ok(live)
    }

    fn open_in_place_of(
        detached: Option<Detached>,
        journal: &Journal,
        address: Option<&str>,
        prompt_state: PromptState,
    ) -> Result<Self, CommandError> {
        let mut store = journal.open_to_write("repl")?;
        let place = journal.resolve(&*store, address)?;
        let mut owned = OwnedRun::reopen(detached, &place, journal.opened(&mut *store), prompt_state.options())?;
        owned.stop_when_interrupted();
        // Whoever types a text once more wants what it says.
        owned.call_again();
        owned.advise_prompt();
        journal.set_current(&place.run, &place.branch);
        Ok(Self {
            journal: Some(journal.clone()),
            store,
            reported: owned.head(),
            owned,
            place,
            prompt_state,
        })
    }

    /// The newest turn.
    pub(crate) fn turn(&self) -> Sequence {
        self.owned.head()
    }

    /// The name of the session in the prompt.
    pub(crate) fn name(&self) -> String {
        self.place.name()
    }

    /// A text after expansion.
    ///
    /// # Errors
    /// Why it cannot be expanded.
    pub(crate) fn expanded(&mut self, text: &str) -> Result<String, failure::Failure> {
        self.owned.inspector().expanded(text)
    }

    /// The instructions of a named procedure, or of a text.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn disassembled(&mut self, text: &str) -> Result<String, failure::Failure> {
        self.owned.inspector().disassembled(text)
    }

    /// Shows why a text is refused.
    pub(crate) fn tell_failure(&self, failure: &failure::Failure, terminal: &mut Terminal) {
        self.owned.tell_failure(failure, &[], terminal);
    }

    /// Counts from here on where fuel is used.
    pub(crate) fn begin_profile(&mut self) {
        self.owned.inspector().begin_profile();
    }

    /// Ends counting; the procedures with the units of fuel that were used in them, those that used
    /// most first.
    pub(crate) fn end_profile(&mut self) -> Vec<(Procedure, u64)> {
        self.owned.inspector().end_profile()
    }

    /// The record of a turn of the session, which is made durable first.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn record_at(&mut self, at: Sequence) -> Result<Record, CommandError> {
        self.owned.settle(&mut *self.store)?;
        owned_run::record_at(&*self.store, &self.place, at)
    }

    /// The work after a turn.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn work_since(&mut self, before: Sequence) -> Result<Work, CommandError> {
        self.owned.settle(&mut *self.store)?;
        let mut work = Work::default();
        let first = before.next().unwrap_or(before);
        for turn in turns(self.place.source(&*self.store), first..=self.owned.head()) {
            work.turns += 1;
            work.fuel += turn?.fuel;
        }
        Ok(work)
    }

    /// The turn before the one that began to evaluate the last text, or the one before it, and so
    /// on.
    ///
    /// # Errors
    /// If there were fewer, or the journal fails.
    pub(crate) fn before(&mut self, count: u64) -> Result<Sequence, CommandError> {
        let mut left = count;
        let mut at = self.owned.head().number();
        while at > 0 {
            let sequence = Sequence::new(at).map_err(|error| CommandError::problem(error.to_string()))?;
            if !texts(&self.record_at(sequence)?)?.is_empty() {
                left -= 1;
            }
            at -= 1;
            if left == 0 {
                return Sequence::new(at).map_err(|error| CommandError::problem(error.to_string()));
            }
        }
        Err(CommandError::problem(format!(
            "the session has only {} to take back",
            counted(count - left, "text")
        )))
    }

    /// Says how the values of the names have changed since a turn.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn memory_since(&mut self, before: Sequence) -> Result<String, CommandError> {
        self.owned.settle(&mut *self.store)?;
        let turns = Some(before)..Some(self.owned.head());
        let found = show::memory_between(&*self.store, &self.place, turns, MAIN)?;
        Ok(found.as_ref().map_or_else(String::new, show::memory_as_text))
    }

    /// Has a request answered that only reads, while the session stays open.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn consult(mut self, request: &Request, terminal: &mut Terminal) -> Result<Self, CommandError> {
        self.owned.settle(&mut *self.store)?;
        match (&self.journal, request.row().answers) {
            (Some(journal), _) => drop(perform_lent(request, journal, terminal)),
            (None, Answers::Language) => drop(perform_lent(request, &Journal::default(), terminal)),
            (None, _) => terminal.message(NO_JOURNAL),
        }
        Ok(self)
    }

    /// Closes the journal for another command and opens it again afterwards, at the head of the
    /// session's branch.
    ///
    /// # Errors
    /// If the journal fails, or there is none.
    pub(crate) fn lend(
        mut self,
        request: &Request,
        after: &After,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        let Some(journal) = self.journal.clone() else {
            terminal.message(NO_JOURNAL);
            return Ok(self);
        };
        self.owned.settle(&mut *self.store)?;
        let Self {
            store,
            owned,
            place,
            mut prompt_state,
            ..
        } = self;
        drop(store);
        prompt_state.seen.clear();
        let detached = Some(owned.detach());
        let code = perform_lent(request, &journal, terminal);
        let here = format!("{}/{}", place.run, place.branch);
        match after {
            After::Branch(branch) if code == ExitCode::OK => {
                let there = format!("{}/{branch}", place.run);
                Self::open_in_place_of(detached, &journal, Some(&there), prompt_state)
            }
            After::Current => Self::open_in_place_of(detached, &journal, None, prompt_state),
            After::Here | After::Branch(_) => Self::open_in_place_of(detached, &journal, Some(&here), prompt_state),
        }
    }

    /// Goes to the head of another branch of the run.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn switch(mut self, branch: &str, terminal: &mut Terminal) -> Result<Self, CommandError> {
        let found = BranchName::new(branch).ok();
        let head = found.map(|name| self.store.head(&self.place.run, &name)).transpose()?;
        match (&self.journal, head.flatten()) {
            (Some(journal), Some(_)) => {
                let (journal, address) = (journal.clone(), format!("{}/{branch}", self.place.run));
                self.owned.settle(&mut *self.store)?;
                drop(self.store);
                let detached = Some(self.owned.detach());
                Self::open_in_place_of(detached, &journal, Some(&address), self.prompt_state)
            }
            (Some(_) | None, _) => {
                terminal.message(format!("there is no branch {branch}; `,branches` lists them"));
                Ok(self)
            }
        }
    }

    /// The names of the sessions that others have in the run.
    pub(crate) fn guests(&self) -> Vec<String> {
        self.owned.view().guests()
    }

    /// The run and the branch, as an address.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}", self.place.run, self.place.branch)
    }
}

impl Scope for Live {
    fn names(&self) -> Vec<Candidate> {
        let names = self.owned.view().names().into_iter();
        names
            .map(|(name, is_keyword)| Candidate {
                signature: verb::describe::signature(&name),
                name,
                is_keyword,
            })
            .collect()
    }
}

/// Refuses a run whose program takes no texts, before anything of it goes on.
fn refuse_programs(journal: &Journal, address: Option<&str>) -> Result<(), CommandError> {
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, address)?;
    let first = owned_run::record_at(&store, &place, Sequence::FIRST)?;
    if is_prompt(&genesis(&first)?.program) {
        return Ok(());
    }
    let mut run = owned_run::restore(&store, &place)?;
    let is_over = run.state().exit.is_some();
    let lent = run.lend::<SchemePrograms>(MAIN);
    if lent.is_some_and(|(programs, main)| programs.is_interactive(main)) {
        return Ok(());
    }
    let (name, head) = (place.name(), place.at().number());
    let refused = CommandError::usage(format!("the program of {name} takes no texts"));
    // The turn that ended the run is no longer asked anything.
    Err(match if is_over { head.saturating_sub(1) } else { head } {
        0 => refused.advise(say![Way::at("log", name), " lists its turns"]),
        turn => refused.advise(say![
            Way::turn("eval", name, turn).with("EXPR"),
            " evaluates an expression with its names, without a trace",
        ]),
    })
}

/// The message about a command that a session without a journal cannot execute.
const NO_JOURNAL: &str = "this needs a journal, and this session keeps none";

/// Performs a request on a session's journal.
pub(crate) fn perform_lent(request: &Request, journal: &Journal, terminal: &mut Terminal) -> ExitCode {
    terminal.speaker = Speaker::Prompt;
    let view = terminal.view();
    let mut project = Project::of(journal).on(terminal);
    let shown = super::super::command_line::show(request, &mut project, view, Printed::Words);
    let code = shown.unwrap_or_else(|error| terminal.tell_error(error));
    terminal.speaker = Speaker::Command;
    code
}

/// The branch on which a session continues after another command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// At the head of its branch.
    Here,
    /// At the head of this branch of the run, if the command succeeded.
    Branch(String),
    /// Where the command has left the journal's current address.
    Current,
}

/// The texts that a record gave to be evaluated, if they were and it did not fail.
pub(crate) fn texts(record: &duet_journal::Record) -> Result<Vec<String>, CommandError> {
    let Body::Turn(turn) = turn::body(record)? else {
        return Ok(Vec::new());
    };
    let given = turn.events.into_iter().filter_map(|event| {
        if let Event::Evaluate { text, .. } = event {
            // Nobody has typed the texts that let sessions begin and limit what is shown.
            (text != super::local::HOST && !text.starts_with(LIMIT)).then_some(text)
        } else {
            None
        }
    });
    Ok(given.collect())
}

/// The beginning of a text that limits how much of each value is shown.
const LIMIT: &str = "(eval '(%limit-shown! ";

/// The text that limits the characters that are shown of each value, or shows all.
pub(super) fn limiting_text(characters_max: Option<NonZeroU64>) -> String {
    let limit = characters_max.map_or_else(|| "#f".to_owned(), |limit| limit.to_string());
    format!("{LIMIT}{limit}) (environment '(duet internal eval)))")
}
