//! `duet resume`: continues a run from its last durable turn.

use duet_journal::Store;
use serde::{Deserialize, Serialize};

use crate::detach;
use crate::error::{CommandError, ExitCode};
use crate::imported::{GrantArguments, Wishes};
use crate::journal::{Journal, Place, owner};
use crate::session::{self, Session};
use crate::terminal::Terminal;
use crate::verb::project::Project;
use crate::world_options::WorldArguments;

pub(crate) use crate::verb::view::Driven as Report;

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
    pub(crate) fn within(self, granted: &WorldArguments) -> Result<Self, String> {
        let world = self.world.within(granted)?;
        Ok(Self { world, ..self })
    }
}

pub(crate) use Arguments as Request;

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

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    if arguments.detach.is_wanted() {
        return detach::detach(journal, terminal);
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
    }
    let mut options = arguments.world.read(false)?;
    options.is_detached = arguments.detach.is_done();
    let wishes = |store: &dyn Store| {
        let restored = session::restore(store, &place)?;
        let (genesis, grants) = (restored.genesis(), &restored.state().granted.grants);
        Ok(Wishes::of(genesis, grants, session::launch_note(store, genesis)))
    };
    let grants = &arguments.grants;
    grants.settle(&mut store, (&place.run, &owner("resume")), wishes, &options)?;
    options.granted = grants.names().to_vec();
    let given = options.clone();
    let mut session = Session::resume(&place, (&mut store, journal.path()), options, "resume")?;
    if arguments.again {
        session.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    if arguments.replay_output {
        session.replay_unshown(&store, terminal)?;
    }
    if let Some(code) = session.exit() {
        session.tell_unshown(&store, terminal)?;
        terminal.message(ended(&place, code));
        return Ok(ExitCode::of_run(code));
    }
    session.widen(&store, &given, terminal)?;
    session.tell_changed_texts(terminal);
    arguments.detach.announce(&place.run);
    session.drive(&mut store, true, terminal)
}

/// The message about a run that has ended.
pub(crate) fn ended(place: &Place, code: u64) -> String {
    let before = place.head.sequence.number().saturating_sub(1);
    let name = place.name();
    format!(
        "{name} ended at turn {} with code {code}\n\
         to try again from an earlier turn: `duet goto {name}@{before}` or \
         `duet fork {name}@{before} BRANCH`, then `duet resume`",
        place.head.sequence
    )
}
