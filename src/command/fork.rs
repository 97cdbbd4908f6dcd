//! `duet fork`: begins branches at a turn.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use duet_journal::{BranchName, Store};
use duet_runtime::run::heads;

use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::{self, Journal, owner};
use crate::saying::{Speaker, Way, say};
use crate::session::serve::Wish;
use crate::terminal::Terminal;
use crate::world_options::GoOnArguments;

mod sample;

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
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the turn.
    address: String,
    /// The names of the new branches.
    #[arg(required_unless_present = "sample", value_name = "BRANCH")]
    branches: Vec<String>,
    /// Begins this number of branches, each of which asks the tool at the turn again.
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroUsize>,
    #[command(flatten)]
    go_on: GoOnArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    if let Some(count) = arguments.sample {
        return execute_sample(arguments, count, terminal);
    }
    if let Some(given) = arguments.go_on.given() {
        return Err(CommandError::usage(format!(
            "{given} belong to `--sample`: a branch is not executed when it begins"
        )));
    }
    let mut branches = BTreeSet::new();
    for name in &arguments.branches {
        let branch = BranchName::new(name)
            .map_err(|error| CommandError::usage(format!("`{name}` cannot be a branch's name: {error}")))?;
        if !branches.insert(branch) {
            return Err(CommandError::usage(format!("the branch {name} is named twice")));
        }
    }
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("fork")?;
    let place = journal.resolve_turn(&store, Some(&arguments.address))?;
    let heads = store.heads(&place.run)?;
    if let Some(head) = heads.iter().find(|head| branches.contains(&head.branch)) {
        return Err(
            CommandError::usage(format!("{} has a branch {} already", place.run, head.branch))
                .advise(say![Way::at("branches", &place.run), " lists them"]),
        );
    }
    let owner = owner("fork");
    let branches: Vec<BranchName> = branches.into_iter().collect();
    let wish = Wish::Fork {
        turn: place.at().number(),
        branches: branches.iter().map(BranchName::to_string).collect(),
    };
    if doors::hand_over((&store, journal), &place, &wish.encode())?.is_none() {
        heads::fork(&mut store, (&place.run, &place.branch, &owner), place.at(), &branches)?;
    }
    for branch in &branches {
        let forked = journal::name(&place.run, branch);
        let turn = place.address(place.at());
        let advice = if terminal.speaker == Speaker::Prompt {
            String::new()
        } else {
            format!("; `duet resume {forked}` goes on with it")
        };
        terminal.message(format!("{forked} begins at {turn}{advice}"));
    }
    Ok(ExitCode::OK)
}

fn execute_sample(
    arguments: &Arguments,
    count: NonZeroUsize,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let name = match &arguments.branches[..] {
        [] => None,
        [name] => Some(name.as_str()),
        _ => return Err(CommandError::usage("samples have one name, to which numbers are added")),
    };
    let options = arguments.go_on.read()?;
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("fork")?;
    let place = journal.resolve_turn(&store, Some(&arguments.address))?;
    sample::sample((&mut store, journal), &place, (count, name), (&options, terminal))
}
