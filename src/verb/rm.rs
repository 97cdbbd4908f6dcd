//! `rm`: deletes a run with all its branches.
//!
//! The whole verb is in this file: its request, its report, its function and its words. Its row in
//! `../verb.rs` says that only the command line has it.
//! INVARIANT: nothing is deleted before a person has agreed, nor while a process executes the run;
//! then everything is, or nothing. Blobs that other runs name stay.
//! Read next: `../verb.rs`.

use duet_journal::collect::Garbage;
use duet_journal::{BranchName, RunId, StoreError};
use duet_runtime::model::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use crate::owner::doors;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::view::{Told, View};
use crate::verb::act::gc::space_later;

/// Deletes a run with all its branches.
///
/// The turns of the run are lost, with the blobs that only they name, its marks and the references
/// to it. Duet asks first; `--yes` agrees in advance. A run that a process executes is not deleted.
///
///   duet rm review
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The run.
    pub(crate) run: String,
    /// Agrees to the deletion.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The run that was deleted, or will be when a person agrees.
pub(crate) struct Report {
    run: RunId,
    branches: Vec<BranchName>,
    turns: usize,
    bytes: u64,
    /// Whether it is deleted; otherwise a person has to agree.
    is_done: bool,
    /// Whether the file became smaller.
    is_compact: bool,
}

/// Deletes a run, if a person has agreed.
///
/// # Errors
/// If there is no such run, a process executes it, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let run = RunId::new(&request.run).map_err(|error| {
        CommandError::usage(format!("`{}` is no run: {error}", request.run)).advise(say![
            Way::of("rm"),
            " deletes a whole run; ",
            Way::of("gc"),
            " removes branches",
        ])
    })?;
    let mut store = project.change("rm")?;
    if !store.has_run(&run)? {
        return Err(StoreError::NoSuchRun { run }.into());
    }
    let epoch = store.claim(&run, &doors::successor(&*store, &run, "rm")?)?;
    let mut garbage = Garbage::find(&*store, &run, |_| true)?;
    if request.yes {
        while let Err(error) = store.remove(&garbage.removal(&run, epoch)) {
            let StoreError::Overtaken = error else {
                return Err(error.into());
            };
            garbage = Garbage::find(&*store, &run, |_| true)?;
        }
    }
    drop(store);
    let is_compact = if request.yes {
        project.forget(&run)?;
        project.compact("rm")?
    } else {
        false
    };
    Ok(Report {
        run,
        turns: garbage.records.len(),
        bytes: garbage.record_bytes + garbage.blob_bytes,
        branches: garbage.branches,
        is_done: request.yes,
        is_compact,
    })
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    run: String,
    branches: Vec<String>,
    /// The number of records that only this run has.
    records: usize,
    bytes: u64,
    /// Whether it is deleted; otherwise a person still has to agree.
    is_deleted: bool,
}

impl Report {
    /// The question to a person, if one has to agree.
    pub(crate) fn question(&self) -> Option<String> {
        let Self { run, turns, .. } = self;
        let branches = match self.branches.len() {
            1 => "one branch".to_owned(),
            count => counted(count, "branch"),
        };
        let records = counted(*turns, "record");
        (!self.is_done).then(|| format!("delete {run}, {branches} with {records}, for ever?"))
    }

    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            run: self.run.to_string(),
            branches: self.branches.iter().map(ToString::to_string).collect(),
            records: self.turns,
            bytes: self.bytes,
            is_deleted: self.is_done,
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Self { run, turns, bytes, .. } = self;
        if let Some(question) = self.question() {
            return Told::data("").say(question);
        }
        let (records, bytes) = (counted(*turns, "record"), counted(*bytes, "byte"));
        let told = Told::data("").say(format!("{run} is deleted: {records}, {bytes}"));
        if self.is_compact {
            return told;
        }
        told.say(space_later())
    }
}
