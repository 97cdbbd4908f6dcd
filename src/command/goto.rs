//! `duet goto`: moves the head of a branch to another turn, and keeps the turns that the branch
//! leaves.

mod files;

use std::collections::BTreeSet;
use std::path::Path;

use duet_drivers::tool::description::EffectClass;
use duet_journal::{BranchName, HeadMove, RecordHash, Sequence, Store};
use duet_runtime::run::heads::move_head;
use duet_runtime::run::source;
use files::Plan;

use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::{self, Journal, Place, owner};
use crate::moves::{self, Move, MoveKind};
use crate::records::{called_tools, hash_at};
use crate::saying::{Saying, Speaker, Way, say};
use crate::session;
use crate::terminal::Terminal;
use crate::world_options::WorldOptions;

/// Moves the head of a branch to another turn, and restores files.
///
/// The address needs a turn: `duet goto review@12`, or `duet goto @-1` for the one before the
/// newest. Duet deletes nothing: it keeps the turns that the branch leaves behind as a branch of
/// their own, such as review/main.17. `duet goto` with a turn after the newest goes forward to them
/// again, `duet undo` takes the move back, and `duet resume` continues from the turn. If another
/// process executes the run, that process is stopped first.
///
/// With `--workspace` Duet also restores the files that the run's tools wrote or deleted to their
/// contents at the turn. It does not overwrite a file that was changed outside Duet since, and then
/// does nothing at all, unless `--force` is given.
///
///   duet goto --workspace --dry-run review@12
///   duet goto --workspace review@12
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the turn.
    address: String,
    /// Restores the files of the workspace, too.
    #[arg(long)]
    workspace: bool,
    /// Lists the files that would change, and changes nothing.
    #[arg(long, requires = "workspace")]
    dry_run: bool,
    /// Overwrites files that were changed outside Duet.
    #[arg(long, requires = "workspace")]
    force: bool,
    /// Prints the list of a dry run as JSON.
    #[arg(long, requires = "dry_run")]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("goto")?;
    let (mut place, marked) = aim(journal, &store, Some(&arguments.address))?;
    if !arguments.dry_run && doors::stop((&store, journal), &place)?.is_some() {
        terminal.message(format!(
            "{} was stopped first; `duet resume` goes on with it",
            place.name()
        ));
        place.head = store.head(&place.run, &place.branch)?.unwrap_or(place.head);
    }
    let Some(turn) = place.turn else {
        return Err(CommandError::usage("to which turn?").advise(say![
            Way::turn("goto", place.name(), "N"),
            "; ",
            Way::at("log", place.name()),
            " lists the turns",
        ]));
    };
    let ahead = match marked {
        None if turn > place.head.sequence => Some(ahead(&store, &place, turn)?),
        marked => marked,
    };
    let branch = ahead.as_ref().map_or(&place.branch, |(branch, _)| branch);
    let files = if arguments.workspace {
        Some(Plan::make(&store, (&place, journal.path()), branch, turn)?)
    } else {
        None
    };
    if let Some(files) = &files {
        if arguments.dry_run {
            files.list(arguments.json, terminal)?;
            return Ok(ExitCode::OK);
        }
        if !arguments.force {
            files.require_known(&place.address(turn))?;
        }
        // Before the head moves: if this is cut short, the same command does it again.
        files.carry_out(&store, terminal)?;
    }
    match (ahead, turn == place.head.sequence) {
        (Some((_, hash)), _) => forward(&mut store, &place, (turn, hash), terminal)?,
        (None, true) => terminal.message(format!("{} is at turn {turn} already", place.name())),
        (None, false) => back(&mut store, &place, turn, arguments, terminal)?,
    }
    if let Some(head) = store
        .head(&place.run, &place.branch)?
        .filter(|head| head.hash != place.head.hash)
    {
        moves::note(
            journal,
            &place,
            MoveKind::Move,
            Move {
                from: place.head.hash,
                to: head.hash,
            },
        );
    }
    journal.set_current(&place.run, &place.branch);
    Ok(ExitCode::OK)
}

/// Finds the branch to move and the turn. A marked turn may lie ahead of the branch, where only
/// another one leads to; then that one and the turn's record are returned too.
fn aim(
    journal: &Journal,
    store: &dyn Store,
    address: Option<&str>,
) -> Result<(Place, Option<(BranchName, RecordHash)>), CommandError> {
    let there = journal.resolve(store, address)?;
    let without_turn = address.map(|address| address.split('@').next().unwrap_or_default());
    let meant = journal.resolve(store, without_turn.filter(|address| !address.is_empty()))?;
    let (Some(turn), true) = (there.turn, there.branch != meant.branch) else {
        return Ok((there, None));
    };
    if hash_at(store, (&there.run, &there.branch), meant.head.sequence)? != Some(meant.head.hash) {
        return Err(
            CommandError::problem(format!("{} has gone another way since that turn", meant.name())).advise(say![
                Way::turn("goto", there.name(), turn),
                " moves the branch that leads to it",
            ]),
        );
    }
    let hash = hash_at(store, (&there.run, &there.branch), turn)?.ok_or_else(|| journal::beyond(&there, turn))?;
    let place = Place {
        turn: Some(turn),
        ..meant
    };
    Ok((place, Some((there.branch, hash))))
}

fn back(
    store: &mut dyn Store,
    place: &Place,
    turn: Sequence,
    arguments: &Arguments,
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let effects = outside_effects(store, place, turn)?;
    let kept = keep(store, place)?;
    let at = (&place.run, &place.branch, owner("goto"));
    move_head(store, (at.0, at.1, &at.2), turn, None)?;
    let (name, from) = (place.name(), place.head.sequence);
    terminal.message(format!("{name} is at turn {turn}; it was at turn {from}"));
    let advice = advice(place, terminal, "back to them");
    let kept = journal::name(&place.run, &kept);
    let kept = format!("the turns after {turn} are kept as {kept}; ").into();
    terminal.message(Saying::joined([kept, advice]));
    if effects.is_files && !arguments.workspace {
        let address = place.address(turn);
        terminal.message(format!(
            "files that were written in those turns stay as they are; `duet goto --workspace {address}` restores them"
        ));
    }
    for tool in effects.tools {
        terminal.message(format!(
            "the effects of {tool} in those turns stay; a run that repeats a call receives the recorded result"
        ));
    }
    Ok(())
}

/// Makes sure that a branch other than this one leads to its head, and returns it.
pub(super) fn keep(store: &mut dyn Store, place: &Place) -> Result<BranchName, CommandError> {
    let heads = store.heads(&place.run)?;
    for head in heads.iter().filter(|head| head.branch != place.branch) {
        if hash_at(store, (&place.run, &head.branch), place.head.sequence)? == Some(place.head.hash) {
            return Ok(head.branch.clone());
        }
    }
    let first = format!("{}.{}", place.branch, place.head.sequence);
    let names = std::iter::once(first.clone()).chain((2..).map(|number: u64| format!("{first}.{number}")));
    let free = names.map(BranchName::new).find(|name| {
        name.as_ref()
            .map_or(true, |name| heads.iter().all(|head| head.branch != *name))
    });
    let kept = free.unwrap_or_else(|| BranchName::new(first)).map_err(|error| {
        CommandError::caused("the branch's name is too long to keep what it leaves behind", &error).advise(format!(
            "`duet fork {} BRANCH` under a shorter name first",
            place.address(place.head.sequence)
        ))
    })?;
    let owner = owner("goto");
    move_head(
        store,
        (&place.run, &place.branch, &owner),
        place.head.sequence,
        Some(&kept),
    )?;
    Ok(kept)
}

/// Finds the turn after the head that another branch has on the same line.
fn ahead(store: &dyn Store, place: &Place, turn: Sequence) -> Result<(BranchName, RecordHash), CommandError> {
    let mut found: Vec<(BranchName, RecordHash)> = Vec::new();
    for head in store
        .heads(&place.run)?
        .into_iter()
        .filter(|head| head.sequence >= turn)
    {
        if hash_at(store, (&place.run, &head.branch), place.head.sequence)? == Some(place.head.hash)
            && let Some(hash) = hash_at(store, (&place.run, &head.branch), turn)?
            && found.iter().all(|(_, known)| *known != hash)
        {
            found.push((head.branch, hash));
        }
    }
    // What this branch left behind itself comes before what forks made of it.
    let kept = format!("{}.", place.branch);
    let own = |(branch, _): &(BranchName, RecordHash)| branch.as_str().starts_with(&kept);
    if found.iter().any(own) {
        found.retain(own);
    }
    if found.len() > 1 {
        let names: Vec<String> = found
            .iter()
            .map(|(branch, _)| format!("`duet resume {}/{branch}`", place.run))
            .collect();
        return Err(CommandError::usage(format!("several branches go on to turn {turn}"))
            .advise(format!("choose: {}", names.join(", "))));
    }
    found.pop().ok_or_else(|| journal::beyond(place, turn))
}

fn forward(
    store: &mut dyn Store,
    place: &Place,
    (turn, hash): (Sequence, RecordHash),
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let epoch = store.claim(&place.run, &owner("goto"))?;
    store.set_head(&HeadMove {
        run: &place.run,
        branch: &place.branch,
        epoch,
        expected_head: Some(place.head.hash),
        to: hash,
    })?;
    let name = place.name();
    terminal.message(format!(
        "{name} is at turn {turn}; it was at turn {}",
        place.head.sequence
    ));
    terminal.message(advice(place, terminal, "back"));
    Ok(())
}

/// The advice on how to move the head back, and how to continue.
fn advice(place: &Place, terminal: &Terminal, back: &str) -> Saying {
    let (name, from) = (place.name(), place.head.sequence);
    let (goto, resume) = (Way::turn("goto", &name, from), Way::at("resume", &name));
    match terminal.speaker {
        Speaker::Prompt => say![Way::at("undo", &name), format!(" goes {back}")],
        Speaker::Command => say![goto, format!(" goes {back}, "), resume, " goes on from here"],
    }
}

/// The effects in the world of turns that are left behind.
#[derive(Default)]
struct OutsideEffects {
    /// Whether files were replaced that can be restored.
    is_files: bool,
    /// The tools whose effects cannot be undone.
    tools: BTreeSet<String>,
}

fn outside_effects(store: &dyn Store, place: &Place, turn: Sequence) -> Result<OutsideEffects, CommandError> {
    let registry = WorldOptions::default().tools(Path::new("."))?;
    let genesis = source::genesis(&session::record_at(store, place, Sequence::FIRST)?)?;
    let harmless = session::looking_tools(genesis.tools.iter());
    let mut effects = OutsideEffects::default();
    let first = turn.next().unwrap_or(turn);
    for tool in called_tools(store, (&place.run, &place.branch), (first, place.head.sequence))? {
        match registry.find(&tool).map(|tool| tool.description().effect) {
            _ if harmless.contains(&tool) => {}
            Ok(EffectClass::Pure) => {}
            Ok(EffectClass::Reversible) => effects.is_files = true,
            Ok(EffectClass::Compensable | EffectClass::Irreversible) | Err(_) => {
                effects.tools.insert(tool);
            }
        }
    }
    Ok(effects)
}
