//! `duet import`: adds an exported run to a journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duet_journal::copy::{Task, copy};
use duet_journal::parts::NamedParts;
use duet_journal::record::RecordError;
use duet_journal::store::memory::MemoryStore;
use duet_journal::verify::verify;
use duet_journal::{Head, Header, PackedValue, Record, RecordHash, RunId, Sequence, Store, StoreError};
use duet_runtime::model::address::Mark;
use duet_runtime::model::counted::counted;
use duet_runtime::model::limits::Limits;
use duet_runtime::run::error::RunError;
use duet_runtime::run::source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::damage;
use crate::history::export_file::{self, ExportFile, damaged};
use crate::history::journal::{Journal, Place, owner};
use crate::history::marks::{self, CopiedRun, Marked};
use crate::owner::doors;
use crate::owner::owned_run::{self, ProofError};
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::imported::{Terms, own_limits};
use crate::world::launch::read_size;

/// Checks an exported run and adds it to the journal.
///
/// Before it writes anything, Duet checks that the file is whole, that the name and the parent of
/// each record are right, that every branch replays from its texts to the same records, and that
/// each snapshot holds what these records lead to. The replay stays within this machine's limits.
/// If the journal has a run of that name, Duet adds to it if the file knows all its branches, and
/// otherwise changes nothing. Marks are added, except names that the journal has already.
///
/// An imported run can be looked at, replayed and forked. It has none of the tools, hosts, secrets
/// and directories that it had elsewhere: `duet resume` lists what it asks for, and `duet resume
/// --grant` lets it go on.
///
///   duet import review.duet
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The exported file.
    file: PathBuf,
    /// Imports the records without their snapshots, which gives the records other hashes.
    #[arg(long)]
    drop_snapshots: bool,
    /// Lets the run take this much memory here, such as 512M; by default as much as one begun here.
    #[arg(long, value_name = "SIZE", value_parser = read_size)]
    memory_limit: Option<u64>,
}

/// The runs of a file that are in the journal now.
pub(crate) struct Report(Vec<Imported>);

/// One of them.
struct Imported {
    run: RunId,
    heads: Vec<Head>,
    /// How many records were not there.
    records: u64,
    marks: ImportedMarks,
    /// Whether a run that was there has no grants any more.
    has_lost_grants: bool,
}

/// The names of the marks of a run in a file.
#[derive(Default)]
struct ImportedMarks {
    /// Those that were set.
    given: Vec<String>,
    /// Those that the journal has for other turns, where they stay.
    taken: Vec<String>,
}

/// Checks a file and adds its runs.
///
/// # Errors
/// If something in it is not what it says; then nothing is written.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let limits = own_limits(request.memory_limit);
    let exported = export_file::read(&request.file, limits.run_bytes_max / FILES_OF_MEMORY)?;
    let mut imported = Vec::new();
    for run in exported.store.runs()? {
        if let Some(import) = Import::check(request, &exported, run, &limits)? {
            imported.push(import.write(project)?);
        }
    }
    Ok(Report(imported))
}

/// The report as JSON.
pub(crate) type Form = Vec<ImportForm>;

/// A run that was imported.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportForm {
    run: String,
    /// How many records were not there.
    records: u64,
    branches: Vec<BranchForm>,
    /// The marks that were set.
    marks: Vec<String>,
    /// Those that the journal has for other turns, where they stay.
    marks_left_out: Vec<String>,
    /// Whether a run that was there has no grants any more.
    has_lost_grants: bool,
}

/// A branch.
#[derive(Serialize, JsonSchema)]
struct BranchForm {
    branch: String,
    /// Its newest turn.
    turn: u64,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let runs = self.0.iter().map(|imported| {
            let heads = imported.heads.iter();
            let branches = heads.map(|head| BranchForm {
                branch: head.branch.to_string(),
                turn: head.sequence.number(),
            });
            ImportForm {
                run: imported.run.to_string(),
                records: imported.records,
                branches: branches.collect(),
                marks: imported.marks.given.clone(),
                marks_left_out: imported.marks.taken.clone(),
                has_lost_grants: imported.has_lost_grants,
            }
        });
        as_json(&runs.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        self.0.iter().fold(Told::data(""), |told, imported| imported.tell(told))
    }
}

impl Imported {
    fn tell(&self, told: Told) -> Told {
        let Self {
            run,
            marks: ImportedMarks { given, taken },
            ..
        } = self;
        let heads = self.heads.iter();
        let branches: Vec<String> = heads.map(|head| format!("{}@{}", head.branch, head.sequence)).collect();
        let mut told = told.say(format!(
            "{run}: {}, {} {}",
            counted(self.records, "record"),
            if branches.len() == 1 { "branch" } else { "branches" },
            branches.join(" ")
        ));
        if self.has_lost_grants {
            told = told.say(say![
                format!("{run}: turns of somebody else are in it now, so it has no grants until "),
                Way::of("resume").with("--grant"),
            ]);
        }
        if !given.is_empty() {
            told = told.say(format!("{run}: marks {}", given.join(" ")));
        }
        if !taken.is_empty() {
            told = told.say(format!(
                "{run}: left out, because the journal has another turn of that name: {}",
                taken.join(" ")
            ));
        }
        told
    }
}

/// How many times a file may have to fit into the memory of a run.
const FILES_OF_MEMORY: u64 = 4;

/// A run of a file that was found to be what it says.
struct Import<'a> {
    run: RunId,
    heads: Vec<Head>,
    file: &'a MemoryStore,
    /// The same records without their snapshots, if the person wants these.
    stripped: Option<MemoryStore>,
    marks: BTreeMap<Mark, Marked>,
    memory_bytes: u64,
}

impl<'a> Import<'a> {
    /// Checks everything that a file says about a run; `None` if that is nothing.
    fn check(
        request: &Request,
        exported: &'a ExportFile,
        run: RunId,
        limits: &Limits,
    ) -> Result<Option<Self>, CommandError> {
        let (path, file) = (&request.file, &exported.store);
        let heads = file.heads(&run)?;
        if heads.is_empty() {
            return Ok(None);
        }
        for head in &heads {
            let report = verify(file, &run, &head.branch)?;
            if let Some(damage) = &report.damage {
                let (branch, count, what) = (&head.branch, report.sound_records, damage::in_words(damage));
                let why = format!(
                    "{run}/{branch} is sound only in its first {}: {what}",
                    counted(count, "record")
                );
                return Err(damaged(path, &why));
            }
        }
        let mut import = Self {
            marks: marked(path, exported, &run)?,
            run,
            heads,
            file,
            stripped: None,
            memory_bytes: limits.run_bytes_max,
        };
        if request.drop_snapshots {
            import.drop_snapshots()?;
        }
        for head in &import.heads {
            import.prove(head, limits)?;
        }
        Ok(Some(import))
    }

    fn store(&self) -> &dyn Store {
        self.stripped.as_ref().unwrap_or(self.file)
    }

    /// Replays a branch, within this machine's limits, and proves its snapshots.
    fn prove(&self, head: &Head, limits: &Limits) -> Result<(), CommandError> {
        let place = Place {
            run: self.run.clone(),
            branch: head.branch.clone(),
            head: head.clone(),
            turn: None,
        };
        let store = self.store();
        let theirs = source::genesis(&owned_run::record_at(store, &place, Sequence::FIRST)?)?.limits;
        if theirs.slice_fuel > limits.slice_fuel
            || theirs.turn_fuel > limits.turn_fuel
            || theirs.predicate_fuel > limits.predicate_fuel
        {
            let (asks, here) = (theirs.turn_fuel.max(theirs.slice_fuel), limits.turn_fuel);
            return Err(
                CommandError::problem(format!("{} lets a turn take {asks} units of fuel", place.name()))
                    .because(format!("a turn may take {here} here"))
                    .advise("nothing was imported"),
            );
        }
        owned_run::prove(store, &place, Some(limits.run_bytes_max)).map_err(|error| match error {
            ProofError::Program(error) => error,
            ProofError::Run(error) => self.unproved(error, &place, &theirs),
        })?;
        Ok(())
    }

    /// Says why a branch was not proved, and what a person can do.
    fn unproved(&self, error: RunError, place: &Place, theirs: &Limits) -> CommandError {
        let (name, memory_bytes) = (place.name(), self.memory_bytes);
        let is_smaller = memory_bytes < theirs.run_bytes_max;
        let more = format!(
            "{name} may take {} bytes of memory by its own account, and {memory_bytes} here; `--memory-limit SIZE` \
             gives it more",
            theirs.run_bytes_max
        );
        if is_wrong_snapshot(&error) {
            return CommandError::caused(format!("{name} has a snapshot that its records do not lead to"), &error)
                .advise("nothing was imported")
                .advise("`--drop-snapshots` imports the records without snapshots; they get other hashes then");
        }
        if let RunError::OtherCode { .. } = error {
            return CommandError::caused(format!("{name} cannot be proved here"), &error)
                .advise("nothing was imported; that version can import it")
                .advise("`--drop-snapshots` imports the records without snapshots; they get other hashes then");
        }
        match (error, is_smaller) {
            (RunError::Divergence(divergence), true) => CommandError::Problem((&*divergence).into()).advise(more),
            (error @ RunError::Memory { .. }, _) => {
                CommandError::caused(format!("{name} cannot be replayed"), &error).advise(more)
            }
            (error, _) => error.into(),
        }
    }

    /// Makes records that name no snapshot, and the marks name these.
    fn drop_snapshots(&mut self) -> Result<(), CommandError> {
        let mut made = MemoryStore::default();
        let task = Task {
            run: &self.run,
            heads: &self.heads,
            owner: &owner("import"),
            note: None,
        };
        let mut named = NamedParts::default();
        let mut change = |record: &Record, parent| without_snapshot(record, parent, &mut named);
        copy(self.file, &mut made, task, Some(&mut change))?;
        let heads = made.heads(&self.run)?;
        let copied = CopiedRun {
            original: self.file,
            copy: &made,
            run: &self.run,
            heads: &heads,
        };
        for marked in self.marks.values_mut() {
            *marked = copied.find(*marked)?.unwrap_or(*marked);
        }
        (self.heads, self.stripped) = (heads, Some(made));
        Ok(())
    }

    /// Adds the run to the journal, where it has nothing until somebody grants it something.
    fn write(self, project: &Project) -> Result<Imported, CommandError> {
        let (run, heads) = (&self.run, &self.heads);
        let journal = project.journal();
        let mut store = project.create("import")?;
        let owner = doors::successor(&*store, run, "import")?;
        let is_new = |head: &Head| matches!(store.record(&head.hash), Err(StoreError::NoSuchRecord { .. }));
        let note = Terms::nothing(self.memory_bytes).pack()?;
        let has_news = heads.iter().any(is_new);
        let task = Task {
            run,
            heads,
            owner: &owner,
            note: has_news.then_some(&note),
        };
        let was_there = store.has_run(run)?;
        let records = match copy(self.store(), &mut *store, task, None) {
            Err(StoreError::HeadMoved { branch, .. }) => {
                return Err(CommandError::problem(format!(
                    "the journal has a run {run} with a branch {branch} that the file does not know"
                ))
                .advise("it was left as it was; `--journal FILE` imports into another journal"));
            }
            records => records?,
        };
        if let Some(first) = heads.first() {
            journal.set_current(run, &first.branch);
        }
        Ok(Imported {
            records,
            marks: ImportedMarks::add(journal, run, self.marks)?,
            has_lost_grants: has_news && was_there,
            heads: self.heads,
            run: self.run,
        })
    }
}

fn is_wrong_snapshot(error: &RunError) -> bool {
    matches!(
        error,
        RunError::WrongSnapshot { .. } | RunError::Snapshot { .. } | RunError::Thaw { .. } | RunError::Packed(_)
    )
}

/// Makes a record that has no snapshot; it follows the records whose parts are `named`.
fn without_snapshot(
    record: &Record,
    parent: Option<RecordHash>,
    named: &mut NamedParts,
) -> Result<Record, RecordError> {
    let header = Header {
        parent,
        snapshot: None,
        ..record.header().clone()
    };
    let outline = || record.outline().unwrap_or_default().to_vec();
    Record::following(header, PackedValue::from_value(&record.body())?, outline, named)
}

/// Finds the marks of a run in a file; each must name a turn that is there.
fn marked(path: &Path, file: &ExportFile, run: &RunId) -> Result<BTreeMap<Mark, Marked>, CommandError> {
    let marks = marks::parse(&file.marks, run);
    for (mark, marked) in &marks {
        let is_there = file.store.record(&marked.record).is_ok_and(|record| {
            let header = record.header();
            header.run == *run && header.sequence == marked.turn
        });
        if !is_there {
            return Err(damaged(path, &format!("it has no turn that is marked {mark}")));
        }
    }
    Ok(marks)
}

impl ImportedMarks {
    /// Adds the marks whose names the journal does not have.
    fn add(journal: &Journal, run: &RunId, marks: BTreeMap<Mark, Marked>) -> Result<Self, CommandError> {
        let known = marks::of(journal, run)?;
        let mut added = Self::default();
        for (mark, marked) in marks {
            match known.get(&mark) {
                None => {
                    marks::set(journal, run, &mark, Some(marked))?;
                    added.given.push(mark.to_string());
                }
                Some(known) if *known == marked => {}
                Some(_) => added.taken.push(mark.to_string()),
            }
        }
        Ok(added)
    }
}
