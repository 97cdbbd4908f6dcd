//! `duet resume`: continues a run from its last durable turn.

use std::path::{Path, PathBuf};

use duet_journal::Store;
use serde::{Deserialize, Serialize};

use crate::history::journal::{Journal, Place, owner};
use crate::history::silence;
use crate::owner::detach;
use crate::owner::owned_run::{self, OwnedRun, compiled, notes};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::project::Project;
use crate::verb::rerun::{self, Rerun, RerunRequest};
use crate::world::imported;
use crate::world::imported::{GrantArguments, WantedGrants};
use crate::world::launch::Program;
use crate::world::world_options::{WorldArguments, WorldOptions};

pub(crate) use crate::text::view::Driven as Report;

/// Continues a run after a crash, an interrupt, a question or a goto.
///
/// The run continues from its last durable turn. Duet repeats the requests that were in flight if
/// that does no harm; a tool call that may or may not have happened fails with the kind
/// `interrupted`, which the program can handle.
///
/// A run that was taken back may make the same call once more. Unless its tool may be repeated,
/// Duet does not make that call again and gives the run the recorded result.
///
/// A run that was begun here can be granted more. `--grant` names capabilities; hosts, secrets,
/// servers, a provider and a model are added to what the run reaches, and a single file is granted
/// the capabilities to use them, as when it begins. The journal records the grant as a turn, so it
/// holds from then on, also in forks, until the run goes back to before it. `--double` grants
/// nothing and has to be given again.
///
///   duet resume review --provider ollama
///   duet resume review --grant workspace/write
///
/// A run that another process executes stays with it, unless that process has died. `--take-over`
/// takes it from one that lives and does not answer.
///
/// A run that was imported has none of what it was granted elsewhere. `--grant` names what it may
/// do here, as far as it asks for it, and `--workspace` where; the journal keeps both. Without
/// `--grant`, Duet lists what the run asks for.
///
///   duet resume review --grant workspace/read,process/run --workspace .
///
/// With `--with PROGRAM` the run goes on with changed code, on a new branch. The program runs from
/// its start and receives the recorded answers by what it asks: the actor, the definition around
/// the question, the tool, the arguments, and how often it was asked. As long as it asks the same,
/// Duet calls nothing and shows nothing again; from the first request that nobody has made before,
/// the branch goes on in the world. The branch of the run does not change. `--dry-run` only shows
/// what would be the same, moved, new and no longer asked. If the manifest of PROGRAM asks for more
/// than the run was granted, `--grant` has to name it.
///
///   duet resume review --with review-2.scm --dry-run
///   duet resume review --with review-2.scm --retry-errors timeout
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Arguments {
    /// The address of a run or a branch.
    address: Option<String>,
    /// Makes calls again that the run made before it was taken back.
    #[arg(long)]
    again: bool,
    /// Takes the run from another process that executes it. That one stops before its next effect.
    #[arg(long)]
    take_over: bool,
    /// Shows output again that may not have been shown, because the process ended while it wrote.
    #[arg(long)]
    replay_output: bool,
    #[command(flatten)]
    #[serde(flatten)]
    changed: ChangedArguments,
    #[command(flatten)]
    #[serde(flatten)]
    grants: GrantArguments,
    #[command(flatten)]
    #[serde(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    #[serde(flatten)]
    detach: detach::DetachArguments,
    #[command(flatten)]
    #[serde(skip)]
    journal: Journal,
}

impl Arguments {
    /// The request of a client, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &WorldArguments, may_change_code: bool) -> Result<Self, String> {
        if self.changed.with.is_some() {
            require_code(may_change_code)?;
        }
        if !self.grants.names().is_empty() {
            return Err("only the person grants a run more than it has".to_owned());
        }
        let world = self.world.within(granted)?;
        Ok(Self { world, ..self })
    }
}

pub(crate) use Arguments as Request;

impl Request {
    /// The request to go on with changed code.
    pub(crate) fn with_code(address: String, program: PathBuf) -> Self {
        let changed = ChangedArguments {
            with: Some(program),
            ..ChangedArguments::default()
        };
        Self {
            address: Some(address),
            changed,
            ..Self::default()
        }
    }
}

/// Refuses a client that wants to change the code of a run, or what runs of it, and may not.
///
/// # Errors
/// That it is not granted.
pub(crate) fn require_code(may_change_code: bool) -> Result<(), String> {
    if may_change_code {
        return Ok(());
    }
    let refused = "only the person changes the code of a run and makes actors begin anew; \
                   `duet mcp --allow-code` lets clients do it";
    Err(refused.to_owned())
}

/// Goes on with a run.
///
/// # Errors
/// If another process executes it, or it cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let arguments = Arguments {
        journal,
        ..request.clone()
    };
    Ok(execute(&arguments, project.stage()?)?.into())
}

/// The options of a run with changed code.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ChangedArguments {
    /// Runs this program from its start instead, on a new branch, with the recorded answers.
    #[arg(long, value_name = "PROGRAM")]
    with: Option<PathBuf>,
    /// Its text, if a server has read it for a client.
    #[arg(skip)]
    with_text: Option<String>,
    /// The folder in which the server found it, without links.
    #[arg(skip)]
    within: Option<PathBuf>,
    /// Only shows what the program asks, compared with what was recorded.
    #[arg(long, requires = "with")]
    dry_run: bool,
    /// Gives the answers up to this turn, by default all of the run's branch.
    #[arg(long, value_name = "RUN@N", requires = "with")]
    from: Option<String>,
    /// Makes calls again that failed with this kind of failure; `interrupted` also stands for calls
    /// whose result nobody knows.
    #[arg(long, value_name = "KIND", requires = "with")]
    retry_errors: Vec<String>,
    /// Refuses to go on if any recorded answer is left, or a question is asked less often than
    /// before.
    #[arg(long, requires = "with")]
    strict: bool,
    /// Names the new branch; without it the name is that of the run's branch, as in main-new.
    #[arg(long, value_name = "NAME", requires = "with")]
    branch: Option<String>,
    /// Prints the report of `--dry-run` as JSON.
    #[arg(long, requires = "dry_run")]
    json: bool,
}

pub(crate) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    if arguments.detach.is_wanted() {
        return detach::detach(journal, terminal);
    }
    if let Some(program) = &arguments.changed.with {
        return go_on_with(arguments, program, terminal);
    }
    let mut store = journal.open_to_write("resume")?;
    let place = journal.resolve(&store, arguments.address.as_deref())?;
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        let address = place.address(turn);
        return Err(CommandError::usage(format!(
            "{} goes on from its newest turn, {}",
            place.name(),
            place.head.sequence
        ))
        .advise(format!(
            "`duet goto {address}` takes it back there first, `duet fork {address} BRANCH` begins a branch there"
        )));
    }
    if arguments.take_over
        && let Some(claim) = store.claimed(&place.run)?
    {
        store.note_owner(&place.run, claim.epoch, "")?;
        if journal.is_on_server() && claim.living().is_some() {
            silence::outlast_trust();
        }
    }
    let mut options = arguments.world.read(false)?;
    options.is_detached = arguments.detach.is_done();
    let wanted = |store: &dyn Store| {
        let restored = compiled::sight(store, &place)?;
        let (genesis, grants) = (restored.genesis(), &restored.state().granted.grants);
        Ok(WantedGrants::of(genesis, grants, notes::launch_note(store, genesis)))
    };
    let grants = &arguments.grants;
    grants.settle(&mut store, &place.run, wanted, &options)?;
    options.granted = grants.names().to_vec();
    let given = options.clone();
    let mut owned = OwnedRun::resume(&place, journal.opened(&mut *store), options, "resume")?;
    if arguments.again {
        owned.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    if arguments.replay_output {
        owned.replay_unshown(&store, terminal)?;
    }
    if let Some(code) = owned.exit() {
        owned.tell_unshown(&store, terminal)?;
        terminal.message(ended(&place, code));
        return Ok(ExitCode::of_run(code));
    }
    owned.widen(&store, &given, terminal)?;
    owned.tell_code(terminal);
    arguments.detach.announce(&place.run);
    owned.drive(&mut store, true, terminal)
}

/// Goes on with changed code, or shows what it would do.
fn go_on_with(arguments: &Arguments, program: &Path, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let (journal, changed) = (&arguments.journal, &arguments.changed);
    let program = Program {
        path: program,
        text: changed.with_text.as_deref(),
        within: changed.within.as_deref(),
    };
    let rerun_request = RerunRequest {
        program,
        from: changed.from.as_deref(),
        retried: &changed.retry_errors,
        branch: changed.branch.as_deref(),
        saved: None,
        granted: arguments.grants.names(),
        is_kept: !changed.dry_run,
    };
    let looking = journal.open_to_read()?;
    let rerun = rerun::perform(&looking, journal, arguments.address.as_deref(), rerun_request, terminal)?;
    let refused = rerun.report.strict_refusal().filter(|_| changed.strict);
    if changed.dry_run {
        let code = show_changed(&rerun, changed.json, terminal)?;
        return refused.map_or(Ok(code), Err);
    }
    if let Some(refused) = refused {
        terminal.message(rerun.report.tell());
        return Err(refused);
    }
    drop(looking);
    let mut store = journal.open_to_write("resume")?;
    let mut options = arguments.world.read(false)?;
    options.is_detached = arguments.detach.is_done();
    let run = rerun.place.run.clone();
    let onward = RerunTarget {
        journal,
        grants: &arguments.grants,
        options,
    };
    let owned = begin_changed(onward, rerun, &mut store, terminal)?;
    if let Some(code) = owned.exit() {
        return Ok(ExitCode::of_run(code));
    }
    arguments.detach.announce(&run);
    owned.drive(&mut store, true, terminal)
}

/// Shows what changed code would do.
pub(crate) fn show_changed(rerun: &Rerun, is_json: bool, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    if is_json {
        terminal.json(&rerun.report.json())?;
    } else {
        terminal.data(rerun.report.tell().ended())?;
        rerun.report.ways().into_iter().for_each(|ways| terminal.message(ways));
    }
    Ok(rerun.report.code())
}

/// Where a changed program goes on, and what it reaches there.
pub(crate) struct RerunTarget<'a> {
    pub(crate) journal: &'a Journal,
    /// What the person grants the run in addition.
    pub(crate) grants: &'a GrantArguments,
    pub(crate) options: WorldOptions,
}

/// Writes the new branch and opens it to go on in the world.
///
/// # Errors
/// If the person has to grant it something first, another process executes the run, or the journal
/// cannot be written.
pub(crate) fn begin_changed(
    onward: RerunTarget<'_>,
    rerun: Rerun,
    store: &mut dyn Store,
    terminal: &mut Terminal,
) -> Result<OwnedRun, CommandError> {
    let RerunTarget {
        journal,
        grants,
        mut options,
    } = onward;
    let run = rerun.place.run.clone();
    let wanted = |store: &dyn Store| {
        let restored = compiled::sight(store, &rerun.place)?;
        let (genesis, grants) = (restored.genesis(), &restored.state().granted.grants);
        Ok(WantedGrants::of(genesis, grants, notes::launch_note(store, genesis)))
    };
    grants.settle(store, &run, wanted, &options)?;
    options.granted = grants.names().to_vec();
    owned_run::require_grants(store, &rerun.place, &options)?;
    if imported::terms(store, &run)?.is_some_and(|terms| !terms.is_settled) {
        let wanted = wanted(store)?;
        if !wanted.is_empty() {
            return Err(wanted.refusal(&rerun.place.name()));
        }
    }
    let silent = crate::history::silence::require_silence(store, &run)?;
    silent.into_iter().for_each(|told| terminal.message(told));
    let epoch = store.claim(&run, &owner("resume"))?;
    let address = format!("{run}/{}", rerun.branch);
    let (told, begins) = (rerun.report.tell(), rerun.report.beginning());
    let (output, afresh) = rerun.append(store, epoch)?;
    terminal.message(told);
    terminal.message(format!("{address} {begins}"));
    let place = journal.resolve(store, Some(&address))?;
    let given = options.clone();
    options.afresh = afresh;
    let mut owned = OwnedRun::resume(&place, journal.opened(store), options, "resume")?;
    journal.set_current(&place.run, &place.branch);
    owned.show(output);
    if owned.exit().is_none() {
        owned.widen(store, &given, terminal)?;
    }
    Ok(owned)
}

/// The message about a run that has ended. One that failed would fail again after going back, so a
/// mended program helps.
pub(crate) fn ended(place: &Place, code: u64) -> String {
    let (turn, name) = (place.head.sequence, place.name());
    let before = turn.number().saturating_sub(1);
    let help = if code == 0 {
        format!(
            "to try again from an earlier turn: `duet goto {name}@{before}` or `duet fork {name}@{before} BRANCH`, \
             then `duet resume`"
        )
    } else {
        format!(
            "`duet explain {name}` says what led to it; `duet resume {name} --with FILE` goes on with a mended \
             program; `duet goto {name}@TURN` goes back to a turn before the cause"
        )
    };
    format!("{name} ended at turn {turn} with code {code}\n{help}")
}
