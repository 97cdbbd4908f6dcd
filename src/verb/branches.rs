//! `branches`: the branches of a run.
//!
//! INVARIANT: one of them is the current one.
//! Read next: `runs.rs`.

use duet_journal::{BranchName, Head, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form::as_json;
use super::project::Project;
use crate::text::error::CommandError;
use crate::text::view::{Told, View};

/// Lists the branches of a run.
///
/// One line is one branch: its address with its newest turn. `@` marks the current branch, which an
/// address without a branch means.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    pub(crate) address: Option<String>,
}

/// The branches of a run.
pub(crate) struct Report {
    run: RunId,
    /// The branch that an address without a branch means.
    current: BranchName,
    heads: Vec<Head>,
}

/// The report as JSON.
pub(crate) type Form = Vec<Branch>;

/// A branch.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Branch {
    branch: String,
    /// Its newest turn.
    turn: u64,
    /// The hash of that turn's record.
    record: String,
    /// Whether an address without a branch means it.
    current: bool,
}

/// Lists the branches.
///
/// # Errors
/// If there is no such run, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve(request.address.as_deref())?;
    let heads = look.store.heads(&place.run)?;
    Ok(Report {
        run: place.run,
        current: place.branch,
        heads,
    })
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        let branches = self.heads.iter().map(|head| Branch {
            branch: head.branch.to_string(),
            turn: head.sequence.number(),
            record: head.hash.to_string(),
            current: head.branch == self.current,
        });
        as_json(&branches.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let line = |head: &Head| {
            let mark = if head.branch == self.current { '@' } else { ' ' };
            format!("{mark} {}/{}@{}\n", self.run, head.branch, head.sequence)
        };
        Told::data(self.heads.iter().map(line).collect::<String>())
    }
}
