//! `duet goto`: moves the head of a branch to another turn, and keeps the turns that the branch
//! leaves.

mod files;

use std::collections::BTreeSet;
use std::path::Path;

use duet_drivers::tool::description::EffectClass;
use duet_journal::{BranchName, HeadMove, RecordHash, Sequence, Store};
use duet_runtime::run::heads::{kept_names, kept_up_to, move_head};
use duet_runtime::run::source::{self, BranchClaim, Source};
use files::{Files, Restoration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::{self, Journal, OpenJournal, Place};
use crate::history::moves::{self, Move, MoveKind};
use crate::history::records::{Records, called_tools, hash_at};
use crate::owner::doors;
use crate::owner::owned_run;
use crate::text::error::CommandError;
use crate::text::saying::{Saying, Speaker, Way, say};
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::world_options::WorldOptions;

/// Moves the head of a branch to another turn, and restores files.
///
/// The address needs a turn: `duet goto review@12`, or `duet goto @-1` for the one before the
/// newest. Duet deletes nothing: it keeps the turns that the branch leaves behind as a branch of
/// their own, such as review/main.17. `duet goto` with a turn after the newest goes forward to them
/// again, `duet undo` takes the move back, and `duet resume` continues from the turn. If another
/// process executes the run, that process is stopped first.
///
/// With `--workspace` Duet also restores the files that the run's tools wrote or deleted to their
/// contents at the turn, and removes the folders that other turns made for files, if they are
/// empty. It does not overwrite a file that was changed outside Duet since, and then does nothing
/// at all, unless `--force` is given.
///
///   duet goto --workspace --dry-run review@12
///   duet goto --workspace review@12
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the turn.
    pub(crate) address: String,
    /// Restores the files of the workspace, too.
    #[arg(long)]
    workspace: bool,
    /// Lists the files that would change, and changes nothing.
    #[arg(long, requires = "workspace")]
    dry_run: bool,
    /// Overwrites files that were changed outside Duet.
    #[arg(long, requires = "workspace")]
    force: bool,
}

impl Request {
    /// The move of a head to a turn, alone.
    pub(crate) fn to(address: String) -> Self {
        Self {
            address,
            ..Self::default()
        }
    }
}

/// Where a head has gone.
pub(crate) struct Report {
    /// The branch.
    name: String,
    /// Where it was.
    before: Sequence,
    /// Where it is.
    at: Sequence,
    /// Whether a process that executed the run was stopped for it.
    was_stopped: bool,
    /// The files that were put back, or would be.
    files: Option<Files>,
    way: HeadChange,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// The head of the branch has moved, or was there.
    Moved(MoveForm),
    /// It was only asked which files would change.
    Files(Vec<files::FileForm>),
}

/// A move of a head.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MoveForm {
    branch: String,
    /// Where it is.
    turn: u64,
    /// Where it was.
    before: u64,
    way: WayForm,
    /// Whether a process that executed the run was stopped for it.
    was_stopped: bool,
    /// The files that were put back; null if none were to be.
    files: Option<Vec<files::FileForm>>,
    /// The branch that keeps the turns that were left, if some were.
    kept_as: Option<String>,
    /// Whether files that these turns have written stay as they are.
    written_files_stay: bool,
    /// The tools whose effects stay, if turns were left.
    effects_stay_of: Option<Vec<String>>,
}

/// How a head has moved.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WayForm {
    Already,
    Forward,
    Back,
}

/// The way of a head.
enum HeadChange {
    /// It was only asked which files would change.
    Nowhere,
    /// It was there already.
    Already,
    Forward,
    Back(LeftBehind),
}

/// A turn ahead of a branch, to which another branch leads.
struct Ahead {
    /// The branch that leads to it.
    branch: BranchName,
    record: RecordHash,
}

/// What a head leaves behind that goes back.
struct LeftBehind {
    /// The branch that keeps the turns.
    kept: String,
    /// Whether the number of the newest of them leads to them; another line may have as many.
    is_addressed: bool,
    /// The effects of those turns.
    effects: OutsideEffects,
}

/// Moves the head of a branch.
///
/// # Errors
/// If there is no such turn, the owner of the run does not stop, or files would be lost.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let mut store = project.change("goto")?;
    let journal = project.journal();
    let (mut place, marked) = aim(journal, &*store, Some(&request.address))?;
    let was_stopped = !request.dry_run && project.recipient(&mut *store, &place).make_let_go()?.is_some();
    if was_stopped {
        place.head = store.head(&place.run, &place.branch)?.unwrap_or(place.head);
    }
    let gone = go(journal.opened(&mut *store), &place, marked, request);
    let mut report = gone.map_err(|error| {
        if was_stopped {
            error.advise(stopped(&place.name()))
        } else {
            error
        }
    })?;
    report.was_stopped = was_stopped;
    if !matches!(report.way, HeadChange::Nowhere) {
        project.set_current(&place);
    }
    Ok(report)
}

fn go(
    OpenJournal { store, journal }: OpenJournal<'_>,
    place: &Place,
    marked: Option<Ahead>,
    request: &Request,
) -> Result<Report, CommandError> {
    let Some(turn) = place.turn else {
        return Err(CommandError::usage("to which turn?").advise(say![
            Way::turn("goto", place.name(), "N"),
            "; ",
            Way::at("log", place.name()),
            " lists the turns",
        ]));
    };
    let ahead = match marked {
        None if turn > place.head.sequence => Some(ahead(store, place, turn)?),
        marked => marked,
    };
    let branch = ahead.as_ref().map_or(&place.branch, |ahead| &ahead.branch);
    let plan = request
        .workspace
        .then(|| Restoration::make(journal.opened(&mut *store), place, branch, turn));
    let mut report = Report {
        name: place.name(),
        before: place.head.sequence,
        at: turn,
        was_stopped: false,
        files: None,
        way: HeadChange::Nowhere,
    };
    if let Some(plan) = plan.transpose()? {
        if !request.dry_run {
            if !request.force {
                plan.require_known(&place.address(turn))?;
            }
            // Before the head moves: if this is cut short, the same command does it again.
            plan.carry_out(store)?;
        }
        report.files = Some(plan.files);
    }
    if request.dry_run {
        return Ok(report);
    }
    report.way = match (ahead, turn == place.head.sequence) {
        (Some(ahead), _) => forward(store, place, ahead.record)?,
        (None, true) => HeadChange::Already,
        (None, false) => back(store, place, turn)?,
    };
    let moved = store.head(&place.run, &place.branch)?;
    if let Some(head) = moved.filter(|head| head.hash != place.head.hash) {
        let (from, to) = (place.head.hash, head.hash);
        moves::note(journal, place, MoveKind::Move, Move { from, to });
    }
    Ok(report)
}

fn stopped(name: &str) -> Saying {
    say![
        format!("{name} was stopped first; "),
        Way::of("resume"),
        " goes on with it"
    ]
}

/// Finds the branch to move and the turn. A marked turn may lie ahead of the branch, where only
/// another one leads.
fn aim(journal: &Journal, store: &dyn Store, address: Option<&str>) -> Result<(Place, Option<Ahead>), CommandError> {
    let there = journal.resolve(store, address)?;
    let without_turn = address.map(|address| address.split('@').next().unwrap_or_default());
    let meant = journal.resolve(store, without_turn.filter(|address| !address.is_empty()))?;
    let (Some(turn), true) = (there.turn, there.branch != meant.branch) else {
        return Ok((there, None));
    };
    if hash_at(there.source(store), meant.head.sequence)? != Some(meant.head.hash) {
        return Err(
            CommandError::problem(format!("{} has gone another way since that turn", meant.name())).advise(say![
                Way::turn("goto", there.name(), turn),
                " moves the branch that leads to it",
            ]),
        );
    }
    let record = hash_at(there.source(store), turn)?.ok_or_else(|| journal::beyond(&there, turn))?;
    let place = Place {
        turn: Some(turn),
        ..meant
    };
    let branch = there.branch;
    Ok((place, Some(Ahead { branch, record })))
}

fn back(store: &mut dyn Store, place: &Place, turn: Sequence) -> Result<HeadChange, CommandError> {
    let effects = outside_effects(store, place, turn)?;
    let kept = keep(store, place, turn)?;
    let owner = doors::successor(store, &place.run, "goto")?;
    move_head(store, BranchClaim::new(&place.run, &place.branch, &owner), turn, None)?;
    let mut there = place.clone();
    there.head = store.head(&place.run, &place.branch)?.unwrap_or(there.head);
    let way = ahead(store, &there, place.head.sequence);
    Ok(HeadChange::Back(LeftBehind {
        kept: journal::name(&place.run, &kept),
        is_addressed: way.is_ok_and(|ahead| ahead.record == place.head.hash),
        effects,
    }))
}

/// Makes sure that another branch keeps the turns of this one after a turn, and returns it.
///
/// A branch that only leads to the head keeps them if this branch has written them itself. Of turns
/// that it had from the branch that it began on, nobody could tell later that they were its past.
pub(crate) fn keep(store: &mut dyn Store, place: &Place, after: Sequence) -> Result<BranchName, CommandError> {
    let heads = store.heads(&place.run)?;
    let mut leading = Vec::new();
    for head in heads.iter().filter(|head| head.branch != place.branch) {
        let source = Source::new(store, &place.run, &head.branch);
        if hash_at(source, place.head.sequence)? == Some(place.head.hash) {
            leading.push(&head.branch);
        }
    }
    let is_kept = |branch: &&&BranchName| {
        kept_up_to(branch.as_str(), &place.branch).is_some_and(|last| last >= place.head.sequence)
    };
    if let Some(kept) = leading.iter().find(is_kept) {
        return Ok((*kept).clone());
    }
    if let Some(first) = leading.first()
        && has_written(store, place, after)?
    {
        return Ok((*first).clone());
    }
    let first = format!("{}.{}", place.branch, place.head.sequence);
    let names = kept_names(&place.branch, place.head.sequence);
    let free = names.map(BranchName::new).find(|name| {
        name.as_ref()
            .map_or(true, |name| heads.iter().all(|head| head.branch != *name))
    });
    let kept = free.unwrap_or_else(|| BranchName::new(first)).map_err(|error| {
        CommandError::caused("the branch's name is too long to keep what it leaves behind", &error).advise(say![
            Way::turn("fork", place.name(), place.head.sequence).with("BRANCH"),
            " under a shorter name first",
        ])
    })?;
    let owner = doors::successor(store, &place.run, "goto")?;
    move_head(
        store,
        BranchClaim::new(&place.run, &place.branch, &owner),
        place.head.sequence,
        Some(&kept),
    )?;
    Ok(kept)
}

/// Says whether a branch has written all its turns after one itself.
fn has_written(store: &dyn Store, place: &Place, after: Sequence) -> Result<bool, CommandError> {
    let first = after.next().unwrap_or(after);
    let mut records = Records::oldest_first(place.source(store), first..=place.head.sequence);
    while let Some(record) = records.next_closed()? {
        if record.header().branch != place.branch {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds the turn after the head that another branch has on the same line.
fn ahead(store: &dyn Store, place: &Place, turn: Sequence) -> Result<Ahead, CommandError> {
    let mut found: Vec<Ahead> = Vec::new();
    for head in store
        .heads(&place.run)?
        .into_iter()
        .filter(|head| head.sequence >= turn)
    {
        let source = Source::new(store, &place.run, &head.branch);
        if hash_at(source, place.head.sequence)? == Some(place.head.hash)
            && let Some(record) = hash_at(source, turn)?
            && found.iter().all(|known| known.record != record)
        {
            let branch = head.branch;
            found.push(Ahead { branch, record });
        }
    }
    // What this branch left behind itself comes before what forks made of it.
    let own = |ahead: &Ahead| kept_up_to(ahead.branch.as_str(), &place.branch).is_some();
    if found.iter().any(own) {
        found.retain(own);
    }
    if found.len() > 1 {
        let mut choice = Saying::from("choose: ");
        for (number, Ahead { branch, .. }) in found.iter().enumerate() {
            let before = if number == 0 { "" } else { ", " };
            choice = choice
                .and(before)
                .and(Way::at("resume", format!("{}/{branch}", place.run)));
        }
        return Err(CommandError::usage(format!("several branches go on to turn {turn}")).advise(choice));
    }
    found.pop().ok_or_else(|| journal::beyond(place, turn))
}

fn forward(store: &mut dyn Store, place: &Place, to: RecordHash) -> Result<HeadChange, CommandError> {
    let epoch = store.claim(&place.run, &doors::successor(store, &place.run, "goto")?)?;
    store.set_head(&HeadMove {
        run: &place.run,
        branch: &place.branch,
        epoch,
        expected_head: Some(place.head.hash),
        to,
    })?;
    Ok(HeadChange::Forward)
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let files = self.files.as_ref().map(Files::form);
        let (way, left) = match &self.way {
            HeadChange::Nowhere => return as_json(&Form::Files(files.unwrap_or_default())),
            HeadChange::Already => (WayForm::Already, None),
            HeadChange::Forward => (WayForm::Forward, None),
            HeadChange::Back(left) => (WayForm::Back, Some(left)),
        };
        as_json(&Form::Moved(MoveForm {
            branch: self.name.clone(),
            turn: self.at.number(),
            before: self.before.number(),
            way,
            was_stopped: self.was_stopped,
            files,
            kept_as: left.map(|left| left.kept.to_string()),
            written_files_stay: left.is_some_and(|left| left.effects.is_files) && self.files.is_none(),
            effects_stay_of: left.map(|left| left.effects.tools.iter().cloned().collect()),
        }))
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let Self { name, at, before, .. } = self;
        let mut told = Told::data("");
        if self.was_stopped {
            told = told.say(stopped(name));
        }
        if let Some(files) = &self.files {
            if let HeadChange::Nowhere = self.way {
                return Told::data(files.lines());
            }
            told = told.say(files.restored());
        }
        let moved = format!("{name} is at turn {at}; it was at turn {before}");
        match &self.way {
            HeadChange::Nowhere => told,
            HeadChange::Already => told.say(format!("{name} is at turn {at} already")),
            HeadChange::Forward => told.say(moved).say(self.advice(view, "back")),
            HeadChange::Back(left) => {
                let kept = format!("the turns after {at} are kept as {}; ", left.kept).into();
                let kept = Saying::joined([kept, self.advice(view, "back to them")]);
                left.tell(told.say(moved).say(kept), self)
            }
        }
    }

    /// The advice on how to move the head back, and how to continue.
    fn advice(&self, view: &View, back: &str) -> Saying {
        let Self { name, before, .. } = self;
        let way = match &self.way {
            HeadChange::Back(left) if !left.is_addressed => Way::at("undo", name),
            HeadChange::Back(_) | HeadChange::Forward | HeadChange::Already | HeadChange::Nowhere => {
                Way::turn("goto", name, before)
            }
        };
        match view.speaker {
            Speaker::Prompt => say![Way::at("undo", name), format!(" goes {back}")],
            Speaker::Command => say![
                way,
                format!(" goes {back}, "),
                Way::at("resume", name),
                " goes on from here",
            ],
        }
    }
}

impl LeftBehind {
    /// Says which effects stay.
    fn tell(&self, mut told: Told, report: &Report) -> Told {
        if self.effects.is_files && report.files.is_none() {
            told = told.say(say![
                "files that were written in those turns stay as they are; ",
                Way::turn("goto --workspace", &report.name, report.at),
                " restores them",
            ]);
        }
        let tools = self.effects.tools.iter();
        tools.fold(told, |told, tool| {
            told.say(format!(
                "the effects of {tool} in those turns stay; a run that repeats a call receives the recorded result"
            ))
        })
    }
}

/// The effects in the world of turns that are left behind.
#[derive(Default)]
pub(super) struct OutsideEffects {
    /// Whether files were replaced that can be restored.
    pub(super) is_files: bool,
    /// The tools whose effects cannot be undone.
    tools: BTreeSet<String>,
}

/// Finds the effects of the turns of a branch after one.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn outside_effects(
    store: &dyn Store,
    place: &Place,
    turn: Sequence,
) -> Result<OutsideEffects, CommandError> {
    let registry = WorldOptions::default().tools(Path::new("."))?;
    let genesis = source::genesis(&owned_run::record_at(store, place, Sequence::FIRST)?)?;
    let harmless = owned_run::looking_tools(genesis.tools.iter());
    let mut effects = OutsideEffects::default();
    let first = turn.next().unwrap_or(turn);
    for tool in called_tools(place.source(store), first..=place.head.sequence)? {
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
