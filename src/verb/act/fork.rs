//! `duet fork`: begins branches at a turn.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use duet_journal::{BranchName, RunId, Sequence};
use duet_runtime::run::heads;
use duet_runtime::run::source::BranchClaim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal;
use crate::owner::doors;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Speaker, Way, say};
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::world_options::GoOnArguments;

mod sample;

use sample::Samples;

/// Begins branches at a turn.
///
/// Each new branch shares the history up to and including the turn, with everything that was in
/// flight then. Without a turn in the address the branches begin at the newest. `duet resume
/// RUN/BRANCH` continues on such a branch; the branch that it was forked from does not change.
///
/// With `--sample N` the turn is one in which a model or another tool answers, or is asked. N
/// branches, sample-1 and so on, begin before the answer; each asks again and goes on until it
/// stops. A name replaces `sample`. Each branch begins with the first reply of the file of
/// `--double`, so doubles give every sample the same answers.
///
///   duet fork --sample 5 review@12
///   duet diff review/sample-1 review/sample-2
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the turn.
    pub(crate) address: String,
    /// The names of the new branches.
    #[arg(required_unless_present = "sample", value_name = "BRANCH")]
    pub(crate) branches: Vec<String>,
    /// Begins this number of branches, each of which asks the tool at the turn again.
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroUsize>,
    #[command(flatten)]
    #[serde(flatten)]
    go_on: GoOnArguments,
}

/// The branches that begin.
pub(crate) struct Report {
    run: RunId,
    /// The branch that they leave.
    from: BranchName,
    turn: Sequence,
    branches: Vec<BranchName>,
    /// The exit code of samples, each of which has gone on.
    code: ExitCode,
    is_sample: bool,
}

/// Begins branches.
///
/// # Errors
/// If there is no such turn, or the run has such a branch.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    if let Some(count) = request.sample {
        let samples = Samples::named(count, &request.branches)?;
        return samples.begin(project, &request.address, &request.go_on.read()?);
    }
    if let Some(given) = request.go_on.given() {
        return Err(CommandError::usage(format!(
            "{given} belong to `--sample`: a branch is not executed when it begins"
        )));
    }
    let branches = names(&request.branches)?;
    let mut store = project.change("fork")?;
    let place = project.journal().resolve_turn(&*store, Some(&request.address))?;
    let heads = store.heads(&place.run)?;
    if let Some(head) = heads.iter().find(|head| branches.contains(&head.branch)) {
        return Err(
            CommandError::usage(format!("{} has a branch {} already", place.run, head.branch))
                .advise(say![Way::at("branches", &place.run), " lists them"]),
        );
    }
    let branches: Vec<BranchName> = branches.into_iter().collect();
    let owner_request = OwnerRequest::Fork {
        turn: place.at().number(),
        branches: branches.iter().map(BranchName::to_string).collect(),
    };
    if project
        .recipient(&mut *store, &place)
        .ask_owner(&owner_request)?
        .is_none()
    {
        let owner = doors::successor(&*store, &place.run, "fork")?;
        heads::fork(
            &mut *store,
            BranchClaim::new(&place.run, &place.branch, &owner),
            place.at(),
            &branches,
        )?;
    }
    Ok(Report {
        turn: place.at(),
        run: place.run,
        from: place.branch,
        branches,
        code: ExitCode::OK,
        is_sample: false,
    })
}

fn names(given: &[String]) -> Result<BTreeSet<BranchName>, CommandError> {
    let mut branches = BTreeSet::new();
    for name in given {
        let branch = BranchName::new(name)
            .map_err(|error| CommandError::usage(format!("`{name}` cannot be a branch's name: {error}")))?;
        if !branches.insert(branch) {
            return Err(CommandError::usage(format!("the branch {name} is named twice")));
        }
    }
    Ok(branches)
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    run: String,
    /// The branch that they leave.
    branch: String,
    /// The turn at which they leave it.
    turn: u64,
    /// The new branches.
    branches: Vec<String>,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            run: self.run.to_string(),
            branch: self.from.to_string(),
            turn: self.turn.number(),
            branches: self.branches.iter().map(ToString::to_string).collect(),
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let told = Told {
            code: self.code,
            ..Told::data("")
        };
        let name = |branch| journal::name(&self.run, branch);
        if self.is_sample {
            return match &self.branches[..] {
                [first, second, ..] => told.say(say![
                    Way::at("diff", name(first)).with(name(second)),
                    " compares two of them",
                ]),
                [] | [_] => told,
            };
        }
        self.branches.iter().fold(told, |told, branch| {
            let begins = say![format!("{} begins at {}@{}", name(branch), name(&self.from), self.turn)];
            told.say(match view.speaker {
                Speaker::Prompt => begins,
                Speaker::Command => begins
                    .and("; ")
                    .and(Way::at("resume", name(branch)))
                    .and(" goes on with it"),
            })
        })
    }
}
