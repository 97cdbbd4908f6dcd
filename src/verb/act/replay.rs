//! `duet replay`: runs again from the records and compares every turn.

use std::path::PathBuf;

use duet_runtime::model::counted::counted;
use duet_runtime::record::divergence::Divergence;
use duet_runtime::run::error::RunError;
use duet_runtime::run::replay::Snapshots;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::history::journal::Journal;
use crate::owner::owned_run::compiled;
use crate::settings::native::NativeArgument;
use crate::text::error::{CommandError, ExitCode};
use crate::text::render;
use crate::text::terminal::Terminal;
use crate::text::value_text::shown;
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::verb::rerun::{self, RerunRequest};
use crate::world::launch::Program;

pub(crate) use crate::text::view::Driven as Report;

/// Runs again from the records and requires every turn to be the same.
///
/// The program, as the run's first record pins it, receives the inputs of the journal and must do
/// the same, byte for byte, in every turn up to the addressed one. Duet executes nothing outside.
/// It reports the first difference, and the exit code is then 3.
///
/// With `--with`, another program runs instead and receives the recorded answers by what it asks;
/// Duet shows what is the same, moved, new and no longer asked, as `duet resume --with --dry-run`.
///
///   duet replay review@40
///   duet replay review --with review-2.scm
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Says explicitly that turns are compared, which is always so.
    #[arg(long)]
    check: bool,
    /// Gives the answers to this program instead, and shows what it asks otherwise.
    #[arg(long, value_name = "PROGRAM")]
    with: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    #[serde(flatten)]
    native: NativeArgument,
    #[command(flatten)]
    #[serde(skip)]
    journal: Journal,
}

impl Arguments {
    /// The proof of a branch.
    pub(crate) fn of(address: String) -> Self {
        Self {
            address: Some(address),
            ..Self::default()
        }
    }
}

pub(crate) use Arguments as Request;

/// Executes a run again.
///
/// # Errors
/// If there is no such run, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let arguments = Arguments {
        journal,
        ..request.clone()
    };
    Ok(execute(&arguments, project.stage()?)?.into())
}

pub(crate) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    arguments.native.apply();
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    if let Some(program) = arguments.with.as_deref() {
        let rerun_request = RerunRequest {
            program: Program::at(program),
            from: None,
            retried: &[],
            branch: None,
            saved: None,
            granted: &[],
            is_kept: false,
        };
        let rerun = rerun::perform(&store, journal, arguments.address.as_deref(), rerun_request, terminal)?;
        return super::resume::show_changed(&rerun, arguments.json, terminal);
    }
    let pinned = compiled::pinned(&store, &place)?;
    let source = place.source(&store);
    let run = match source.restore(Some(place.at()), pinned.programs, Snapshots::Ignore) {
        Err(RunError::Divergence(divergence)) => {
            if arguments.json {
                terminal.json(&as_json(&Form::from(&*divergence)))?;
            }
            terminal.message(render::divergence(&divergence, &pinned.texts, terminal.is_styled));
            return Ok(ExitCode::DIVERGED);
        }
        run => run?,
    };
    let turns = run.head().map_or(0, |tip| tip.sequence.number());
    if arguments.json {
        terminal.json(&as_json(&Form::Identical { identical: true, turns }))?;
    } else {
        terminal.data(format!("identical: {}\n", counted(turns, "turn")))?;
    }
    Ok(ExitCode::OK)
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// Every turn is the same.
    Identical {
        /// True.
        identical: bool,
        /// The number of turns.
        turns: u64,
    },
    /// A turn differs.
    Diverged(Box<DivergedForm>),
    /// What another program asks, with `--with`.
    #[expect(dead_code, reason = "the rerun prints its report itself; the schema has it too")]
    Rerun(Box<rerun::Form>),
}

/// The first difference.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DivergedForm {
    /// False.
    identical: bool,
    turn: u64,
    /// The number of the actor whose turn it is.
    actor: u64,
    /// The part of the record that differs.
    part: String,
    /// The element of that part, from 0, if it is one of several.
    element: Option<usize>,
    /// What the journal has there, if anything.
    journal_says: Option<String>,
    /// What the program did there, if anything.
    program_did: Option<String>,
    /// The other versions of this command whose code the run has.
    versions: Vec<String>,
    /// The text that the program executed, and its bytes, if they are known.
    source: Option<String>,
    start: Option<u64>,
    end: Option<u64>,
}

impl From<&Divergence> for Form {
    fn from(divergence: &Divergence) -> Self {
        let span = divergence.span.as_ref();
        Self::Diverged(Box::new(DivergedForm {
            identical: false,
            turn: divergence.sequence.number(),
            actor: divergence.actor.0,
            part: divergence.part.to_string(),
            element: divergence.element,
            journal_says: divergence.journal_says.as_ref().map(shown),
            program_did: divergence.program_did.as_ref().map(shown),
            versions: divergence.versions.clone(),
            source: span.map(|origin| origin.source.clone()),
            start: span.map(|origin| origin.start),
            end: span.map(|origin| origin.end),
        }))
    }
}
