//! `duet fsck`: finds the damage in a journal, and moves damaged branches back to their last sound
//! turns.

use std::error::Error;

use duet_journal::index::Index;
use duet_journal::store::sqlite::{SqliteStore, has_damaged_header, missing_bytes};
use duet_journal::verify::{Report, repair, verify};
use duet_journal::{BranchName, RunId, Sequence, Store, StoreError};
use duet_runtime::model::counted::counted;
use duet_runtime::run::error::RunError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::history::changes;
use crate::history::damage;
use crate::history::journal::{Journal, Place, name, owner, what_is_lost};
use crate::owner::doors;
use crate::owner::owned_run::{self, ProofError};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;

/// Checks the journal, and repairs damaged branches.
///
/// Duet reads every record of every branch, checks the hashes and the chain, and looks for the
/// blobs that records refer to. With an address it checks that branch only. It compares the index
/// of facts beside the journal with the records of sound branches. The exit code is 1 if something
/// is damaged.
///
/// Duet also says if the journal has lost turns that were durable, because its write-ahead log is
/// damaged or was taken away, and if the file's header is damaged while the log has a copy.
///
/// Of a journal on a server it checks the same but the server's own files.
///
/// `--repair` moves the head of each damaged branch to its last sound turn and deletes no record.
/// It removes a damaged index, which Duet builds again when it needs one, and takes a journal that
/// has lost turns as it is.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a run or a branch.
    address: Option<String>,
    /// Moves damaged branches back to their last sound turns.
    #[arg(long)]
    repair: bool,
    /// Replays each sound branch and compares its snapshots with what the records lead to.
    #[arg(long)]
    deep: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

/// Checks a journal, and repairs nothing.
///
/// # Errors
/// If it is missing, or cannot be read at all.
pub(crate) fn check(journal: Journal, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let arguments = Arguments {
        address: None,
        repair: false,
        deep: false,
        json: false,
        journal,
    };
    execute(&arguments, terminal)
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let mut check = Check {
        arguments,
        terminal,
        is_sound: true,
        sound: Vec::new(),
        found: Vec::new(),
    };
    if journal.is_on_server() {
        check.server()?;
    } else {
        check.file()?;
    }
    if arguments.json {
        check.terminal.json(&as_json(&check.found))?;
    }
    Ok(if check.is_sound { ExitCode::OK } else { ExitCode::FAILED })
}

/// A check of a journal, with what it has found so far.
struct Check<'a> {
    arguments: &'a Arguments,
    terminal: &'a mut Terminal,
    /// Whether all is sound, or was repaired.
    is_sound: bool,
    /// The branches that were sound before any repair.
    sound: Vec<(RunId, BranchName)>,
    /// One JSON object for each branch and for the index.
    found: Form,
}

impl Check<'_> {
    /// Checks a journal in a file.
    fn file(&mut self) -> Result<(), CommandError> {
        let journal = &self.arguments.journal;
        journal.require()?;
        let has_damaged_header = has_damaged_header(journal.path()).is_ok_and(|is_damaged| is_damaged);
        let opened = if self.arguments.repair {
            SqliteStore::open(journal.path(), &owner("fsck"))
        } else {
            SqliteStore::open_to_read(journal.path())
        };
        let mut store = opened.map_err(|error| unreadable(journal, error))?;
        self.header(has_damaged_header)?;
        self.lost(&mut store)?;
        // Another process may remove branches meanwhile; so all of them are read as they are now.
        store.hold().map_err(|error| unreadable(journal, error))?;
        self.all(&mut store)?;
        store.release()?;
        self.index(&store)
    }

    /// Checks a journal on a server, whose files the server looks after.
    fn server(&mut self) -> Result<(), CommandError> {
        let journal = &self.arguments.journal;
        let mut store = if self.arguments.repair {
            journal.open_to_write("fsck")?
        } else {
            journal.open_to_read()?
        };
        self.all(&mut *store)?;
        self.index(&*store)
    }

    /// Checks the branches.
    fn all(&mut self, store: &mut dyn Store) -> Result<(), CommandError> {
        for (run, branch) in self.branches(store)? {
            self.branch(store, &run, &branch)?;
        }
        self.snapshots(store)
    }

    /// Lists the branches to check.
    fn branches(&self, store: &dyn Store) -> Result<Vec<(RunId, BranchName)>, CommandError> {
        let journal = &self.arguments.journal;
        match self.arguments.address.as_deref() {
            Some(address) => {
                let place = journal.resolve(store, Some(address))?;
                Ok(vec![(place.run, place.branch)])
            }
            None => all_branches(store).map_err(|error| unreadable(journal, error)),
        }
    }

    /// Verifies a branch, repairs it if that is asked for, and says what it found.
    fn branch(&mut self, store: &mut dyn Store, run: &RunId, branch: &BranchName) -> Result<(), CommandError> {
        let name = name(run, branch);
        let report = match verify(store, run, branch) {
            Ok(report) => report,
            // On a server others may remove a branch meanwhile.
            Err(StoreError::NoSuchBranch { .. } | StoreError::NoSuchRun { .. }) => return Ok(()),
            Err(error) => {
                self.is_sound = false;
                let why = causes(&error).join(": ");
                self.found.push(Found::Unreadable {
                    run: run.to_string(),
                    branch: branch.to_string(),
                    sound: false,
                    error: why.clone(),
                });
                if !self.arguments.json {
                    self.terminal.data(format!("{name}: cannot be read: {why}\n"))?;
                }
                return Ok(());
            }
        };
        let mut lost = None;
        if report.is_sound() {
            self.sound.push((run.clone(), branch.clone()));
        } else if self.arguments.repair {
            let epoch = store.claim(run, &doors::successor(store, run, "fsck")?)?;
            lost = repair(store, &report, epoch)?;
        }
        self.is_sound &= report.is_sound() || lost.is_some();
        self.found.push(found(&report, branch, lost.is_some()));
        if self.arguments.json {
            return Ok(());
        }
        self.terminal.data(describe(&report, branch))?;
        if let Some(lost) = lost {
            let (first, last) = (lost.positions.start(), lost.positions.end());
            self.terminal
                .data(format!("  repaired: {name} no longer has turns {first} to {last}\n"))?;
        } else if !report.is_sound() {
            self.terminal
                .message("  `duet fsck --repair` takes it back to its last sound turn");
        }
        Ok(())
    }

    /// Says that the header of the file is damaged, which any writer repairs from the log.
    fn header(&mut self, is_damaged: bool) -> Result<(), CommandError> {
        if !is_damaged {
            return Ok(());
        }
        let is_repaired = self.arguments.repair;
        self.is_sound &= is_repaired;
        self.found.push(Found::Header {
            header: "damaged".to_owned(),
            repaired: is_repaired,
        });
        if !self.arguments.json {
            self.terminal
                .data("the file's header is damaged; its write-ahead log has it whole\n")?;
            self.terminal.message(if is_repaired {
                "  repaired: it is written again when this command ends"
            } else {
                "  `duet fsck --repair` writes it again, as does every command that writes the journal"
            });
        }
        Ok(())
    }

    /// Says which turns the journal has lost that were durable; a repair takes it as it is.
    fn lost(&mut self, store: &mut SqliteStore) -> Result<(), CommandError> {
        let lost = store.lost()?;
        self.is_sound &= lost.is_empty() || self.arguments.repair;
        for one in &lost {
            self.found.push(Found::Lost {
                run: one.run.to_string(),
                branch: one.branch.to_string(),
                lost: LostForm {
                    durable: one.durable.number(),
                    found: one.found.map(Sequence::number),
                },
                repaired: self.arguments.repair,
            });
            if !self.arguments.json {
                self.terminal.data(format!("{}\n", what_is_lost(one)))?;
            }
        }
        if self.arguments.repair && !lost.is_empty() {
            store.accept_loss();
        }
        if !self.arguments.json && !lost.is_empty() {
            self.terminal.message(if self.arguments.repair {
                "  repaired: the journal goes on from what it has"
            } else {
                "  put back a copy of the journal, or let `duet fsck --repair` take it as it is"
            });
        }
        Ok(())
    }

    /// Replays the sound branches and proves their snapshots, if that is asked for.
    fn snapshots(&mut self, store: &dyn Store) -> Result<(), CommandError> {
        if !self.arguments.deep {
            return Ok(());
        }
        for (run, branch) in self.sound.clone() {
            let head = store.heads(&run)?.into_iter().find(|head| head.branch == branch);
            let Some(head) = head else { continue };
            let name = name(&run, &branch);
            let place = Place {
                run: run.clone(),
                branch: branch.clone(),
                head,
                turn: None,
            };
            let proved = owned_run::prove(store, &place, None);
            let is_others = proved.as_ref().is_err_and(is_of_another_version);
            let proved = proved.map_err(|error| match error {
                ProofError::Program(error) => error.first_line(),
                ProofError::Run(error) => error.to_string(),
            });
            self.is_sound &= proved.is_ok() || is_others;
            let (count, why) = (proved.as_ref().ok(), proved.as_ref().err());
            self.found.push(Found::Replayed {
                run: run.to_string(),
                branch: branch.to_string(),
                snapshots: count.copied(),
                wrong: why.filter(|_| !is_others).cloned(),
                unproved: why.filter(|_| is_others).cloned(),
            });
            if self.arguments.json {
                continue;
            }
            match &proved {
                Ok(count) => self.terminal.data(format!("{name}: replayed, {}\n", right(*count)))?,
                Err(why) if is_others => self.terminal.data(format!("{name}: not proved: {why}\n"))?,
                Err(wrong) => {
                    self.terminal.data(format!("{name}: {wrong}\n"))?;
                    self.terminal.message(
                        "  the records stand: `duet export`, then `duet import --drop-snapshots` into another journal",
                    );
                }
            }
        }
        Ok(())
    }

    /// Compares the index of facts with the sound branches, and removes it if it is wrong and a
    /// repair is asked for.
    fn index(&mut self, store: &dyn Store) -> Result<(), CommandError> {
        let journal = &self.arguments.journal;
        let mut there = Vec::new();
        for (run, branch) in &self.sound {
            if store.has_run(run)? && store.head(run, branch)?.is_some() {
                there.push((run.clone(), branch.clone()));
            }
        }
        let Some(wrong) = changes::check(journal, store, &there)? else {
            return Ok(());
        };
        let is_removed = self.arguments.repair && Index::remove(journal.path())?;
        self.is_sound &= is_removed;
        self.found.push(Found::Index {
            index: wrong.to_string(),
            repaired: is_removed,
        });
        if !self.arguments.json {
            self.terminal.data(format!("the index of facts: {wrong}\n"))?;
            self.terminal.message(if is_removed {
                "  repaired: it is removed, and Duet builds it again when it is needed"
            } else {
                "  `duet fsck --repair` removes it; Duet builds it again when it is needed"
            });
        }
        Ok(())
    }
}

/// Says what is wrong with a file in which not even the runs can be told apart.
fn unreadable(journal: &Journal, error: StoreError) -> CommandError {
    if journal.is_on_server() || !matches!(error, StoreError::Database { .. } | StoreError::Inconsistent { .. }) {
        return error.into();
    }
    let path = journal.path().display();
    let mut problem = CommandError::problem(format!("`{path}` is damaged so far that its runs cannot be listed"));
    for cause in causes(&error) {
        problem = problem.because(cause);
    }
    if let Ok(Some((has, says))) = missing_bytes(journal.path()) {
        problem = problem.because(format!("the file has {has} bytes, and its header says {says}"));
    }
    problem
        .because("it was left as it was")
        .advise("put back a copy of the file; `duet import` takes the runs that were exported")
}

/// The messages of an error and of its causes, outermost first.
fn causes(error: &StoreError) -> Vec<String> {
    let mut causes = Vec::new();
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        causes.push(error.to_string());
        next = error.source();
    }
    causes
}

fn all_branches(store: &dyn Store) -> Result<Vec<(RunId, BranchName)>, StoreError> {
    let mut branches = Vec::new();
    for run in store.runs()? {
        let heads = store.heads(&run)?;
        branches.extend(heads.into_iter().map(|head| (run.clone(), head.branch)));
    }
    Ok(branches)
}

/// Says that so many snapshots are right.
fn right(count: u64) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb} right", counted(count, "snapshot"))
}

fn describe(report: &Report, branch: &BranchName) -> String {
    let name = name(&report.run, branch);
    match &report.damage {
        None => {
            let parts = match report.parts {
                0 => String::new(),
                parts => format!(" with {}", counted(parts, "part")),
            };
            format!("{name}: sound, {}{parts}\n", counted(report.sound_records, "record"))
        }
        Some(damage) => format!(
            "{name}: {}; sound before that: {}\n",
            damage::in_words(damage),
            counted(report.sound_records, "record")
        ),
    }
}

/// The report as JSON.
pub(crate) type Form = Vec<Found>;

/// A finding.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Found {
    /// What a branch has.
    Branch {
        run: String,
        branch: String,
        sound: bool,
        /// The number of its sound records, from the first on.
        sound_records: u64,
        /// The number of parts of large records.
        parts: u64,
        /// The fault of the next record; null if it has none.
        damage: Option<String>,
        /// Whether the branch was taken back to its last sound turn.
        repaired: bool,
    },
    /// A branch that cannot be read.
    Unreadable {
        run: String,
        branch: String,
        sound: bool,
        error: String,
    },
    /// Turns that were durable and are gone.
    Lost {
        run: String,
        branch: String,
        lost: LostForm,
        repaired: bool,
    },
    /// A branch that was replayed.
    Replayed {
        run: String,
        branch: String,
        /// How many snapshots are right; null if they are not all.
        snapshots: Option<u64>,
        /// The fault, if there is one.
        wrong: Option<String>,
        /// Why nothing was proved: another version has to.
        unproved: Option<String>,
    },
    /// The header of the file.
    Header { header: String, repaired: bool },
    /// The index of facts has a fault.
    Index { index: String, repaired: bool },
}

/// Turns that were durable and are gone.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LostForm {
    /// The newest turn that was durable.
    durable: u64,
    /// The newest that is there, if there is one.
    found: Option<u64>,
}

fn found(report: &Report, branch: &BranchName, repaired: bool) -> Found {
    Found::Branch {
        run: report.run.to_string(),
        branch: branch.to_string(),
        sound: report.is_sound(),
        sound_records: report.sound_records,
        parts: report.parts,
        damage: report.damage.as_ref().map(damage::in_words),
        repaired,
    }
}

/// Whether only the version that took the turns can prove a branch.
fn is_of_another_version(error: &ProofError) -> bool {
    match error {
        ProofError::Run(RunError::Divergence(divergence)) => !divergence.versions.is_empty(),
        ProofError::Run(error) => matches!(error, RunError::OtherCode { .. }),
        ProofError::Program(_) => false,
    }
}
