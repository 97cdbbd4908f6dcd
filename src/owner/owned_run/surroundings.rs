//! The world of a run that goes on: what its first record notes, the grants since, and the options
//! of this process; or what whoever imported the run gives it.
//!
//! INVARIANT: a grant counts as long as the turn that has it is on the branch; a grant that an
//! imported run had elsewhere counts nowhere else.
//! It grants nothing; `widening.rs` does.
//! Read next: `settings/reach.rs`, `world/imported.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use duet_drivers::guard;
use duet_drivers::tool::description::{Description, EffectClass};
use duet_drivers::tool::mcp::LOOKING;
use duet_drivers::world::World;
use duet_journal::{Epoch, Store};
use duet_runtime::action::Action;
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::grant::Grant;
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::run::Run;
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::state::request::{Question, Request};

use super::notes::{granted_for_doubles, launch_note};
use crate::history::journal::Place;
use crate::history::records::newest_turns;
use crate::settings::configuration;
use crate::settings::reach::Reach;
use crate::text::error::CommandError;
use crate::world::imported::{self, WantedGrants};
use crate::world::launch::{LaunchNote, implied};
use crate::world::world_options::WorldOptions;

/// The claim on a run by a command of this process.
pub(super) struct Claim<'a> {
    epoch: Epoch,
    command: &'a str,
}

impl<'a> Claim<'a> {
    pub(super) fn of(epoch: Epoch, command: &'a str) -> Self {
        Self { epoch, command }
    }

    /// Makes a restored run ready to go on, in its world.
    ///
    /// # Errors
    /// If the world cannot be made, or nobody has granted an imported run anything.
    pub(super) fn take_up(
        &self,
        restored: Run,
        store: &dyn Store,
        place: &Place,
        mut options: WorldOptions,
    ) -> Result<(Run, World), CommandError> {
        options.run = Some(place.run.clone());
        let (world, mut recovery) = surroundings(store, place, &restored, options)?;
        recovery.deadlines = deadlines(store, place, &restored)?;
        let policy = snapshots(self.command, true);
        let run = restored.take_up(&place.source(store), self.epoch, policy, &recovery)?;
        Ok((run, world))
    }
}

/// When snapshots are taken. The prompt and servers stay with a run that waits for others; other
/// commands let it go. Nobody goes on with a run that is in no journal.
pub(crate) fn snapshots(command: &str, is_in_journal: bool) -> SnapshotPolicy {
    let policy = SnapshotPolicy::default();
    SnapshotPolicy {
        lets_go: !matches!(command, "repl" | "serve"),
        rest_share: if is_in_journal { policy.rest_share } else { 0 },
        ..policy
    }
}

/// The turns among which the start of a short timer is looked for.
const TURNS_OF_SHORT_TIMERS: u64 = 256;

/// The deadlines of timers that are too short to have one on record: they began when the turns that
/// asked for them were committed.
fn deadlines(store: &dyn Store, place: &Place, run: &Run) -> Result<BTreeMap<RequestId, u64>, CommandError> {
    let mut found = BTreeMap::new();
    let is_short = |request: &Request| {
        request.answer.is_none() && matches!(request.question, Question::Timer { .. } | Question::Limit { .. })
    };
    let requests = &run.state().requests;
    if !requests.values().any(is_short) {
        return Ok(found);
    }
    for (turn, committed_ms) in newest_turns(store, place, TURNS_OF_SHORT_TIMERS)? {
        for action in turn.actions.iter().flat_map(Action::done) {
            let timer = if let Action::Timer(timer) = action {
                Some((timer.request, timer.delay_ms))
            } else if let Action::Limit(limit) = action {
                Some((limit.request, limit.delay_ms))
            } else {
                None
            };
            if let Some(((request, delay_ms), committed_ms)) = timer.zip(committed_ms)
                && requests.get(&request).is_some_and(is_short)
            {
                found.insert(request, committed_ms.saturating_add(delay_ms));
            }
        }
    }
    Ok(found)
}

/// The world, and the tools whose calls can be repeated or reversed.
pub(super) fn surroundings(
    store: &dyn Store,
    place: &Place,
    run: &Run,
    mut options: WorldOptions,
) -> Result<(World, Recovery), CommandError> {
    let (genesis, grants) = (run.genesis(), &run.state().granted.grants);
    let note = launch_note(store, genesis);
    let workspace = match (imported::terms(store, &place.run)?, note) {
        (None, None) => PathBuf::from("."),
        (None, Some(note)) => {
            options.withheld = withheld(store, run, &options);
            options = reach(&note, grants).fit(options);
            match &options.worked_in {
                Some(declared) => declared.of_run(note.workspace_name.as_deref(), &note.workspace)?,
                None => configuration::workspaces::of_run(note.workspace_name.as_deref(), &note.workspace)?,
            }
        }
        (Some(terms), note) => {
            // To mask more harms nobody.
            let secrets = note.iter().flat_map(|note| reach(note, grants).secrets);
            options.secrets.extend(secrets);
            let wanted = WantedGrants::of(genesis, grants, note);
            if !terms.is_settled && !wanted.is_empty() {
                return Err(wanted.refusal(&place.name()));
            }
            options.hosts.extend(terms.hosts.iter().cloned());
            let workspace = terms.directory().to_owned();
            options.terms = Some(terms);
            workspace
        }
    };
    let afresh = std::mem::take(&mut options.afresh);
    let is_calling = |request: &Request| request.answer.is_none() && matches!(request.question, Question::Tool { .. });
    if run.state().requests.values().any(is_calling) {
        // A program of the process before may be about to end.
        guard::left::wait();
    }
    let world = options.world(&workspace)?;
    let mut repeatable = world.tools().named(|tool| tool.idempotent);
    repeatable.extend(looking_tools(genesis.tools.iter().chain(cards(grants))));
    let recovery = Recovery {
        repeatable,
        declaring: world.tools().named(Description::lets_calls_repeat),
        afresh,
        deadlines: BTreeMap::new(),
        reversible: world.tools().named(|tool| tool.effect == EffectClass::Reversible),
    };
    Ok((world, recovery))
}

/// The tools that the run was granted only for doubles, and not since. To call one without its
/// double would do what nobody has granted.
pub(super) fn withheld(store: &dyn Store, run: &Run, given: &WorldOptions) -> Vec<String> {
    let mut since = Manifest::default();
    let grants = run.state().granted.grants.iter();
    grants.for_each(|grant| since.add(&grant.manifest));
    since.extend(implied(given).into_iter().chain(given.granted.iter().cloned()));
    let mut names = granted_for_doubles(store, run.genesis());
    names.retain(|name| !since.grants(name));
    names
}

/// Names the secrets of a run.
pub(crate) fn secrets(store: &dyn Store, run: &Run) -> Vec<String> {
    let note = launch_note(store, run.genesis());
    let of_note = |note| reach(&note, &run.state().granted.grants).secrets;
    note.map(of_note).unwrap_or_default()
}

/// Returns all that a run reaches, from its start and by later grants.
pub(super) fn reach(note: &LaunchNote, grants: &[Grant]) -> Reach {
    let mut reach = note.reach.clone();
    grants.iter().for_each(|grant| reach.add(Reach::of_note(&grant.note)));
    reach
}

/// The cards of the tools that grants describe.
pub(crate) fn cards(grants: &[Grant]) -> impl Iterator<Item = &ToolCard> {
    grants.iter().flat_map(|grant| &grant.tools)
}

/// Names the tools of servers that only look: those whose cards say so, and the lists and readings
/// that every server has. The servers need not run to say this again.
pub(crate) fn looking_tools<'a>(cards: impl Iterator<Item = &'a ToolCard>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for card in cards {
        if card.capabilities == ["mcp.read"] {
            names.insert(card.name.clone());
        }
        let is_of_server = card.capabilities.iter().any(|need| need.starts_with("mcp."));
        if let Some((server, _)) = card.name.split_once('/').filter(|_| is_of_server) {
            names.extend(LOOKING.map(|own| format!("{server}/mcp:{own}")));
        }
    }
    names
}
