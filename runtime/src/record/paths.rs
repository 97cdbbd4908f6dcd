//! The names of actors that do not depend on numbers: the path of names from the main program.
//!
//! INVARIANT: a path names one actor of a branch, living or not; equal programs with equal inputs
//! give their actors equal paths.
//! It does not know what an actor does. Read next: `key.rs`.

use std::collections::BTreeMap;

use super::TurnRecord;
use crate::action::Action;
use crate::action::exit::MAIN;
use crate::model::identity::ActorId;

/// The path of the main program.
pub(super) const ROOT: &str = "main";

/// The path of names of each actor of a branch: `main`, `main/worker`, `main/worker 2`.
#[derive(Clone, Debug)]
pub struct ActorPaths {
    paths: BTreeMap<ActorId, String>,
    /// The number of actors with each path, without their numbers.
    born: BTreeMap<String, u64>,
}

impl Default for ActorPaths {
    /// Those of a run that has taken no turn.
    fn default() -> Self {
        Self {
            paths: BTreeMap::from([(MAIN, ROOT.to_owned())]),
            born: BTreeMap::new(),
        }
    }
}

impl ActorPaths {
    /// Returns the path of an actor; an empty one if it is not known.
    pub fn path(&self, actor: ActorId) -> &str {
        self.paths.get(&actor).map_or("", String::as_str)
    }

    /// Finds the actor with a path.
    pub fn actor(&self, path: &str) -> Option<ActorId> {
        let mut actors = self.paths.iter();
        actors.find(|(_, other)| *other == path).map(|(actor, _)| *actor)
    }

    /// Takes the actors that a turn makes.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other action makes an actor")]
    pub fn note(&mut self, turn: &TurnRecord) {
        for action in turn.actions.iter().flat_map(Action::done) {
            match action {
                Action::SpawnActor(made) => drop(self.name(turn.actor, &made.role, made.actor)),
                Action::Welcome(made) => drop(self.name(turn.actor, &made.name, made.actor)),
                _ => {}
            }
        }
    }

    /// Names an actor that another one makes, and returns its path.
    pub(super) fn name(&mut self, parent: ActorId, role: &str, actor: ActorId) -> String {
        let role = if role.is_empty() { "actor" } else { role };
        let first = format!("{}/{role}", self.path(parent));
        let count = self.born.entry(first.clone()).or_default();
        *count += 1;
        let path = match *count {
            1 => first,
            number => format!("{first} {number}"),
        };
        self.paths.insert(actor, path.clone());
        path
    }
}
