//! The rescue of a journal that somebody takes away under a run.
//!
//! INVARIANT: the copy is a journal with every run of the lost one, as far as this process could
//! still read it, and with the turns that were not durable; none of their effects has left.
//! It decides nothing about the lost file, which stays as it is. Read next: `stop_report.rs`.

use std::path::{Path, PathBuf};

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{Store, StoreError};
use duet_postgres::Failure;
use duet_runtime::run::Run;
use duet_runtime::run::error::RunError;

use super::{RunPlace, RunView};
use crate::history::journal;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// Explains why a run stopped; saves the journal first if its files are gone.
pub(super) fn explained(error: RunError, run: &Run, store: &dyn Store, place: &RunPlace) -> CommandError {
    let RunError::Store(StoreError::Displaced { journal, .. }) = &error else {
        return stopped(error, run, place);
    };
    let problem = CommandError::problem(error_text(&error)).because(format!(
        "{} stopped after turn {}; no effect has left since the file was last seen",
        place.name,
        run.head().map_or(0, |tip| tip.sequence.number())
    ));
    match save(run, store, journal) {
        Ok(copy) => problem
            .because(format!("all runs of the journal are saved in {}", copy.display()))
            .advise(say![
                Way::at("resume", &place.name).with(format!("--journal {}", copy.display())),
                " goes on there",
            ]),
        Err(why) => problem
            .because(format!("what was in it could not be saved: {why}"))
            .advise(say![
                Way::of("fsck"),
                " says what is left in the file; ",
                Way::of("run").with("PROGRAM --journal OTHER"),
                " begins again in another one",
            ]),
    }
}

/// Says why a run stopped whose journal was not taken away.
fn stopped(error: RunError, run: &Run, place: &RunPlace) -> CommandError {
    if let RunError::Store(lost @ StoreError::Server { .. }) = &error
        && place.journal.is_some()
        && run.is_begun()
    {
        let (name, turn) = (&place.name, RunView::of(run).newest_durable());
        let when = if Failure::is_away(lost) {
            ", once the server is there again"
        } else {
            ""
        };
        return CommandError::from(error)
            .because(format!("{name} stopped, and is durable up to turn {turn}"))
            .advise(say![Way::at("resume", name), format!(" goes on from there{when}")]);
    }
    if !is_fenced(&error) {
        return error.into();
    }
    if !run.is_begun() {
        return CommandError::NameLost(run.id().clone());
    }
    CommandError::problem(format!(
        "{} was taken over by another process, so this one stopped",
        place.name
    ))
    .because(error_text(&error))
    .because("no effect has left since; the journal keeps what this process had made durable")
    .advise(say![Way::of("runs"), " shows who goes on with it"])
}

/// Says whether another process has claimed the run.
pub(super) fn is_fenced(error: &RunError) -> bool {
    matches!(error, RunError::Store(StoreError::EpochFenced { .. }))
}

fn error_text(error: &RunError) -> String {
    if let RunError::Store(error) = error {
        error.to_string()
    } else {
        error.to_string()
    }
}

/// Copies the journal to a file beside it, and adds the turns that it does not have.
fn save(run: &Run, store: &dyn Store, lost: &Path) -> Result<PathBuf, String> {
    let shown = |error: StoreError| error.to_string();
    let copy = free_path(lost);
    if let Some(folder) = copy.parent() {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    store.save_copy(&copy).map_err(shown)?;
    let saved = complete(run, &copy).map_err(shown);
    let is_sound = saved.as_ref().is_ok_and(|is_sound| *is_sound);
    if !is_sound {
        // Nobody should take it for the journal.
        let _ = std::fs::remove_file(&copy);
        return Err(saved
            .err()
            .unwrap_or_else(|| "its earlier turns cannot be read".to_owned()));
    }
    Ok(copy)
}

/// Adds the turns that the copy does not have; says whether the run is whole in it.
fn complete(run: &Run, copy: &Path) -> Result<bool, StoreError> {
    let mut store = SqliteStore::open(copy, &journal::owner("rescue"))?;
    let head = if store.has_run(run.id())? {
        store.head(run.id(), run.branch())?.map(|head| head.hash)
    } else {
        None
    };
    if let Some(append) = run.unflushed().filter(|append| append.expected_head == head) {
        store.append(append)?;
    }
    let report = verify(&store, run.id(), run.branch())?;
    let newest = store.head(run.id(), run.branch())?.map(|head| head.hash);
    Ok(report.is_sound() && newest == run.head().map(|tip| tip.hash))
}

/// The first free name beside the lost file: `journal.rescued.sqlite`, then with a number.
fn free_path(lost: &Path) -> PathBuf {
    let stem = lost.file_stem().unwrap_or_default().to_string_lossy();
    let named = |number: u32| {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        lost.with_file_name(format!("{stem}.rescued{number}.sqlite"))
    };
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}
