//! `duet import`: adds an exported run to a journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duet_journal::copy::copy;
use duet_journal::verify::verify;
use duet_journal::{RunId, Store, StoreError};
use duet_runtime::model::address::Mark;

use crate::command::export::check;
use crate::error::{CommandError, ExitCode};
use crate::export_file::{self, ExportFile, damaged};
use crate::journal::{Journal, Place, owner};
use crate::marks::{self, Marked};
use crate::terminal::Terminal;

/// Checks an exported run and adds it to the journal.
///
/// Before it writes anything, Duet checks that the file is whole, that the name and the parent of
/// each record are right, and that every branch replays from its texts to the same records. If the
/// journal has a run of that name, Duet adds to it if the file knows all its branches, and
/// otherwise changes nothing. Marks are added, except names that the journal has already.
///
///   duet import review.duet
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The exported file.
    file: PathBuf,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let path = &arguments.file;
    let exported = export_file::read(path)?;
    let file = &exported.store;
    let journal = &arguments.journal;
    for run in file.runs()? {
        let heads = file.heads(&run)?;
        let Some(first) = heads.first() else { continue };
        for head in &heads {
            let report = verify(file, &run, &head.branch)?;
            if !report.is_sound() {
                return Err(damaged(
                    path,
                    &format!(
                        "{run}/{} is sound only in its first {} records",
                        head.branch, report.sound_records
                    ),
                ));
            }
        }
        let place = Place {
            run: run.clone(),
            branch: first.branch.clone(),
            head: first.clone(),
            turn: None,
        };
        check(file, &place)?;
        let marks = marked(path, &exported, &run)?;
        let mut store = journal.open_or_create("import")?;
        let count = match copy(file, &mut store, (&run, &heads), &owner("import"), None) {
            Err(StoreError::HeadMoved { branch, .. }) => {
                return Err(CommandError::problem(format!(
                    "the journal has a run {run} with a branch {branch} that the file does not know"
                ))
                .advise("it was left as it was; `--journal FILE` imports into another journal"));
            }
            count => count?,
        };
        journal.set_current(&run, &first.branch);
        let branches: Vec<String> = heads
            .iter()
            .map(|head| format!("{}@{}", head.branch, head.sequence))
            .collect();
        terminal.message(&format!("{run}: {count} records, branches {}", branches.join(" ")));
        mark(journal, &run, marks, terminal)?;
    }
    Ok(ExitCode::OK)
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

/// Adds the marks of the imported turns, and reports them; a mark that the journal has already
/// stays at its turn.
fn mark(
    journal: &Journal,
    run: &RunId,
    marks: BTreeMap<Mark, Marked>,
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let known = marks::of(journal, run);
    let (mut given, mut taken) = (Vec::new(), Vec::new());
    for (mark, marked) in marks {
        match known.get(&mark) {
            None => {
                marks::set(journal, run, &mark, Some(marked))
                    .map_err(|error| CommandError::caused("the mark cannot be written", &error))?;
                given.push(mark.to_string());
            }
            Some(known) if *known == marked => {}
            Some(_) => taken.push(mark.to_string()),
        }
    }
    if !given.is_empty() {
        terminal.message(&format!("{run}: marks {}", given.join(" ")));
    }
    if !taken.is_empty() {
        terminal.message(&format!(
            "{run}: left out, because the journal has another turn of that name: {}",
            taken.join(" ")
        ));
    }
    Ok(())
}
