//! The names of actors that do not depend on numbers: the path of names from the main program.
//!
//! INVARIANT: a path names one actor of a branch, living or not; equal programs with equal inputs
//! give their actors equal paths.
//! It does not know what an actor does. Read next: `key.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::TurnRecord;
use crate::action::Action;
use crate::action::exit::MAIN;
use crate::model::identity::ActorId;

/// The path of the main program.
pub(super) const ROOT: &str = "main";

/// The path of names of each actor of a branch: `main`, `main/worker`, `main/worker 2`.
#[derive(Clone, Debug)]
pub struct ActorPaths {
    paths: BTreeMap<ActorId, Arc<str>>,
    /// The actors by their paths.
    actors: BTreeMap<Arc<str>, ActorId>,
    /// The number up to which the numbers behind a path are taken.
    born: BTreeMap<String, u64>,
}

impl Default for ActorPaths {
    /// Those of a run that has taken no turn.
    fn default() -> Self {
        let root: Arc<str> = ROOT.into();
        Self {
            paths: BTreeMap::from([(MAIN, Arc::clone(&root))]),
            actors: BTreeMap::from([(root, MAIN)]),
            born: BTreeMap::new(),
        }
    }
}

impl ActorPaths {
    /// Returns the path of an actor; an empty one if it is not known.
    pub fn path(&self, actor: ActorId) -> &str {
        self.paths.get(&actor).map_or("", |path| path)
    }

    /// Finds the actor with a path.
    pub fn actor(&self, path: &str) -> Option<ActorId> {
        self.actors.get(path).copied()
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

    /// Names an actor that another one makes, and returns its path. A role may itself look like a
    /// path with a number; then the next number that is free counts.
    pub(super) fn name(&mut self, parent: ActorId, role: &str, actor: ActorId) -> String {
        let role = if role.is_empty() { "actor" } else { role };
        let first = format!("{}/{role}", self.path(parent));
        let count = self.born.entry(first.clone()).or_default();
        let path = loop {
            *count += 1;
            let path = match *count {
                1 => first.clone(),
                number => format!("{first} {number}"),
            };
            if !self.actors.contains_key(path.as_str()) {
                break path;
            }
        };
        let shared: Arc<str> = path.as_str().into();
        self.paths.insert(actor, Arc::clone(&shared));
        self.actors.insert(shared, actor);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_role_takes_the_path_of_another_actor() {
        let mut paths = ActorPaths::default();
        let named = [
            (MAIN, "worker", 1),
            (MAIN, "worker 2", 2),
            (MAIN, "worker", 3),
            (MAIN, "worker", 4),
            (MAIN, "worker/part", 5),
            (ActorId(1), "part", 6),
            (ActorId(1), "part", 7),
        ];
        let found = named.map(|(parent, role, actor)| paths.name(parent, role, ActorId(actor)));
        let expected = [
            "main/worker",
            "main/worker 2",
            "main/worker 3",
            "main/worker 4",
            "main/worker/part",
            "main/worker/part 2",
            "main/worker/part 3",
        ];
        assert_eq!(found, expected);
        for ((_, _, actor), path) in named.iter().zip(expected) {
            assert_eq!(paths.actor(path), Some(ActorId(*actor)));
            assert_eq!(paths.path(ActorId(*actor)), path);
        }
    }
}
