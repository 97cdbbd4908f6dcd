//! Grants to a run that has begun.
//!
//! Whoever owns the journal may grant a run of it more, by the options with which it goes on. The
//! grant is an input of the run, so its turn is recorded, replayed, forked and taken back like any
//! other. A program has no such input.
//! INVARIANT: nothing is granted that the options do not name; an imported run is granted nothing
//! here, because its importer's terms hold.
//! It does not say what a manifest grants; the gate does.
//! Read next: `settings/reach.rs`, `duet_runtime::action::widen`.

use duet_journal::Store;
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Input;
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::fixed::FixedEntry;
use duet_runtime::model::grant::Grant;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::run::Run;

use super::notes::launch_note;
use super::surroundings::{reach, surroundings, withheld};
use super::{OwnedRun, restore};
use crate::history::journal::Place;
use crate::settings::policy;
use crate::settings::reach::Reach;
use crate::text::error::CommandError;
use crate::text::terminal::Terminal;
use crate::world::imported;
use crate::world::launch::{implied, uses_server};
use crate::world::world_options::WorldOptions;
use crate::world::world_options::known::KnownNames;

/// The capabilities and the reach that a run gains.
struct Widening {
    /// The capabilities.
    manifest: Manifest,
    /// What its options reach.
    reached: Reach,
}

impl Widening {
    fn is_empty(&self) -> bool {
        self.manifest.names().next().is_none() && self.reached.is_empty()
    }

    /// Lists it for a person.
    fn shown(&self) -> String {
        let shown: Vec<String> = self.manifest.grants_shown().chain(self.reached.shown()).collect();
        shown.join(", ")
    }

    /// Whether a server becomes reachable, or its tools are granted.
    fn has_server(&self, server: &str, given: &WorldOptions) -> bool {
        let mut servers = self.reached.servers.iter();
        servers.any(|words| words.first().is_some_and(|name| name == server))
            || uses_server(&self.manifest, server, given)
    }
}

impl OwnedRun {
    /// Grants the run what its owner names beyond what it has: capabilities by name, and what
    /// options reach. The grant is the next turn, which is taken here; says whether there was any.
    ///
    /// # Errors
    /// If the journal cannot be read, or a name is no capability; then nothing is granted.
    pub(crate) fn widen(
        &mut self,
        store: &dyn Store,
        given: &WorldOptions,
        terminal: &mut Terminal,
    ) -> Result<bool, CommandError> {
        if self.exit().is_some() {
            return Ok(false);
        }
        let policy = self.further_policy(given)?;
        if imported::terms(store, self.id())?.is_some() {
            return self.lay_down(policy, terminal);
        }
        require_known(&given.granted, &self.world.cards())?;
        let note = launch_note(store, self.run.genesis()).unwrap_or_default();
        let reached = reach(&note, &self.run.state().granted.grants).excess(given);
        // The manifest of a folder says what its program may do; only a name adds to it.
        let implied = if note.is_folder { Vec::new() } else { implied(given) };
        let main = main_manifest(&self.run);
        let withheld = withheld(store, &self.run, &WorldOptions::default());
        let is_lacking = |name: &&String| {
            let named = Manifest::of(&[name]);
            !main.grants(name) || withheld.iter().any(|tool| named.grants(tool))
        };
        let names = given.granted.iter().chain(&implied).filter(is_lacking);
        let widening = Widening {
            manifest: names.cloned().collect(),
            reached,
        };
        if widening.is_empty() {
            return self.lay_down(policy, terminal);
        }
        let tools = self.introduce(&widening, given, terminal);
        let shown = widening.shown();
        let laid_down: Vec<String> = policy.iter().map(|entry| entry.key.clone()).collect();
        let grant = Grant {
            manifest: widening.manifest,
            tools,
            policy,
            note: widening.reached.note(),
        };
        self.run.deliver_first(Input::Grant { grant });
        self.run.step()?;
        let (name, at) = (&self.place.name, self.head());
        terminal.message(format!("{name}@{at} grants the run: {shown}"));
        if !laid_down.is_empty() {
            terminal.message(format!("{name}@{at} lays down: {}", laid_down.join(", ")));
        }
        Ok(true)
    }

    /// Lays down entries of policy, in the next turn, which is taken here.
    fn lay_down(&mut self, policy: Vec<FixedEntry>, terminal: &mut Terminal) -> Result<bool, CommandError> {
        if policy.is_empty() {
            return Ok(false);
        }
        let keys: Vec<String> = policy.iter().map(|entry| entry.key.clone()).collect();
        let grant = Grant {
            manifest: Manifest::default(),
            tools: Vec::new(),
            policy,
            note: Reach::default().note(),
        };
        self.run.deliver_first(Input::Grant { grant });
        self.run.step()?;
        let (name, at) = (&self.place.name, self.head());
        terminal.message(format!("{name}@{at} lays down: {}", keys.join(", ")));
        Ok(true)
    }

    /// Returns the entries of policy that the options name and the run does not have yet.
    fn further_policy(&self, given: &WorldOptions) -> Result<Vec<FixedEntry>, CommandError> {
        let grants = &self.run.state().granted.grants;
        let known = grants.iter().flat_map(|grant| &grant.policy);
        let known: Vec<FixedEntry> = self.run.genesis().policy.iter().chain(known).cloned().collect();
        let all = policy::joined(&known, &given.policy)?;
        Ok(all.into_iter().skip(known.len()).collect())
    }

    /// Starts the servers that become reachable or whose tools are granted, and returns the cards
    /// of the tools that the run does not know yet.
    fn introduce(&mut self, widening: &Widening, given: &WorldOptions, terminal: &mut Terminal) -> Vec<ToolCard> {
        let is_new = |server: &str| widening.has_server(server, given);
        let mut all = main_manifest(&self.run);
        all.add(&widening.manifest);
        for problem in self
            .world
            .introduce(|server| is_new(server) && uses_server(&all, server, given))
        {
            terminal.message(format!("warning: {problem}"));
        }
        let known = &self.run.state().granted.tools.known;
        let cards = self.world.cards().into_iter();
        let is_of_new = |card: &ToolCard| card.name.split_once('/').is_some_and(|(server, _)| is_new(server));
        cards
            .filter(|card| !known.contains_key(&card.name) && is_of_new(card))
            .collect()
    }
}

/// The grants of the main program of a run.
pub(super) fn main_manifest(run: &Run) -> Manifest {
    let main = run.state().actor(MAIN);
    main.map(|main| main.manifest.clone()).unwrap_or_default()
}

/// Requires that options grant a stored run only what there is in its world. The terms of an
/// imported run name what it is granted, and were looked at before.
///
/// # Errors
/// A usage failure that names the first that is none; if the run cannot be restored.
pub(crate) fn require_grants(store: &dyn Store, place: &Place, options: &WorldOptions) -> Result<(), CommandError> {
    if options.granted.is_empty() || imported::terms(store, &place.run)?.is_some() {
        return Ok(());
    }
    let restored = restore(store, place)?;
    let (world, _) = surroundings(store, place, &restored, options.clone())?;
    require_known(&options.granted, &world.tools().cards().collect::<Vec<ToolCard>>())
}

/// Requires that names are those of capabilities: rights in the dataspace, or tools of these cards.
///
/// # Errors
/// A usage failure that names the first that is none.
pub(super) fn require_known(names: &[String], cards: &[ToolCard]) -> Result<(), CommandError> {
    let known = KnownNames::of(cards.iter().cloned());
    for name in names {
        let granted = Manifest::default().grant(name.to_owned());
        granted.map_err(|unknown| CommandError::usage(unknown.to_string()))?;
        if !known.has(name) {
            let refused = CommandError::usage(format!("there is no tool `{name}` to grant"));
            let meant = known.nearest(name).map(|near| format!("did you mean `{near}`?"));
            let refused = meant.into_iter().fold(refused, CommandError::advise);
            return Err(refused.advise("`duet tools` lists the tools, and `duet servers` those that have others"));
        }
    }
    Ok(())
}
