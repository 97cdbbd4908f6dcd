//! The names by which a log is asked for an actor or a tool: an error names those of the run where
//! nothing in it is so called.
//!
//! INVARIANT: a name of any branch of the run is not refused, nor is a tool that was granted and
//! never called.
//! It is asked only when nothing was found, because it reads the whole run.
//! Read next: `filter.rs`.

use std::collections::BTreeSet;

use duet_journal::store::Opener;
use duet_journal::{Head, Sequence};
use duet_runtime::action::Action;
use duet_runtime::model::identity::ActorId;
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::state::event::Event;

use super::filter::wanted_calls;
use super::times::Times;
use super::{History, PORTION, Request, lines};
use crate::history::journal::Place;
use crate::history::origins::{Origin, Origins};
use crate::history::turn;
use crate::history::turn::line;
use crate::text::error::CommandError;
use crate::text::similar::{advice, nearest};
use crate::text::value_text::shown;
use crate::verb::project::ProjectReader;

/// The names of a run.
#[derive(Default)]
struct Names {
    /// The names of actors and fibers, and of agents that call tools.
    actors: BTreeSet<String>,
    /// Numbers, paths and other names that an advice does not list.
    others: BTreeSet<String>,
    /// The tools that are called or granted; one that ends with `*` stands for all that begin so.
    tools: BTreeSet<String>,
    /// The tools that are called.
    called: BTreeSet<String>,
}

/// Requires that the actor and the tool of a request are in a run.
///
/// # Errors
/// If one of them is not, or the journal cannot be read.
pub(super) fn require(
    request: &Request,
    look: &ProjectReader<'_>,
    place: &Place,
    heads: &[Head],
) -> Result<(), CommandError> {
    if request.actor.is_none() && request.tool.is_none() {
        return Ok(());
    }
    let newest = Place {
        turn: None,
        ..place.clone()
    };
    let lines = lines(&newest, heads, &Request::default())?;
    let mut history = History {
        look,
        ends: lines.iter().map(|line| line.at().number() + 1).collect(),
        first: 0,
        texts: None,
        origins: lines
            .iter()
            .map(|line| Origins::of(line.source(look.store)).thorough())
            .collect(),
        lines: &lines,
        heads,
        times: vec![Times::default(); lines.len()],
    };
    let has_paths = request.actor.as_ref().is_some_and(|actor| actor.contains('/'));
    let mut names = Names::default();
    let mut opener = Opener::new(look.store);
    while let Some(portion) = history.portion(PORTION)? {
        look.go_on()?;
        // The oldest first, because a turn that makes an actor comes before those of the actor.
        for row in portion.into_iter().rev() {
            let record = opener.open(row.record)?;
            let at = record.header().sequence;
            names.read(&turn::body(&record)?, at, &mut history.origins[row.at.1], has_paths)?;
        }
    }
    names.check(request, &place.run.to_string())
}

impl Names {
    fn read(
        &mut self,
        body: &Body,
        at: Sequence,
        origins: &mut Origins<'_>,
        has_paths: bool,
    ) -> Result<(), CommandError> {
        let turn = match body {
            Body::Genesis(genesis) => {
                self.tools.extend(genesis.manifest.names().cloned());
                return Ok(());
            }
            Body::Turn(turn) => turn,
        };
        origins.learn(turn, at);
        let role = origins.role(turn.actor, at)?;
        self.add_actor(turn.actor, role.as_deref());
        if has_paths {
            self.others.insert(origins.path(turn.actor)?.to_owned());
        }
        self.add_actions(turn, &line::actor(turn.actor, role.as_deref()));
        for event in &turn.events {
            if let Event::Answered { request, outcome } = event
                && let Origin::Tool { tool, .. } = origins.request(*request, at)?
            {
                let wanted = wanted_calls(&tool, outcome);
                self.called.extend(wanted.iter().cloned());
                self.tools.extend(wanted);
            }
        }
        Ok(())
    }

    fn add_actor(&mut self, actor: ActorId, role: Option<&str>) {
        self.others.insert(actor.0.to_string());
        self.others.insert(format!("actor {}", actor.0));
        self.others.insert(line::actor(actor, role));
        self.actors.insert(role.unwrap_or("main").to_owned());
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the table of actions is long, and few make names"
    )]
    fn add_actions(&mut self, turn: &TurnRecord, actor: &str) {
        let proposed = turn.actions.iter().flat_map(Action::parts).filter_map(Action::call);
        for call in turn.calls().chain(proposed) {
            self.tools.insert(call.tool.clone());
            self.called.insert(call.tool.clone());
            self.actors.insert(shown(&call.role));
        }
        for action in turn.actions.iter().flat_map(Action::done) {
            match action {
                Action::SpawnActor(spawned) => self.add_actor(spawned.actor, Some(&spawned.role)),
                Action::Welcome(peer) => self.add_actor(peer.actor, Some(&peer.name)),
                Action::SpawnFiber(spawned) => {
                    if let Some(name) = &spawned.name {
                        self.others.insert(line::strand(actor.to_owned(), Some(name)));
                        self.actors.insert(name.clone());
                    }
                }
                Action::Widen(widened) => self.tools.extend(widened.grant.manifest.names().cloned()),
                _ => {}
            }
        }
    }

    fn check(mut self, request: &Request, run: &str) -> Result<(), CommandError> {
        self.actors.retain(|name| !name.is_empty());
        if let Some(actor) = &request.actor
            && !self.actors.contains(actor)
            && !self.others.contains(actor)
        {
            return Err(unknown("actor", actor, run, &self.actors));
        }
        if let Some(tool) = &request.tool
            && !self.tools.iter().any(|known| is_same(known, tool))
        {
            // The granted ones would be a long list.
            let near = nearest(tool, self.tools.iter().map(String::as_str));
            let named = near.map_or(self.called, |near| BTreeSet::from([near.to_owned()]));
            return Err(unknown("tool", tool, run, &named));
        }
        Ok(())
    }
}

/// Whether two names of tools, each of which can end with `*` for all that begin so, have a tool in
/// common.
fn is_same(one: &str, other: &str) -> bool {
    match (one.strip_suffix('*'), other.strip_suffix('*')) {
        (None, None) => one == other,
        (Some(begin), None) => other.starts_with(begin),
        (None, Some(begin)) => one.starts_with(begin),
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
    }
}

fn unknown(what: &str, name: &str, run: &str, known: &BTreeSet<String>) -> CommandError {
    let known: Vec<String> = known.iter().cloned().collect();
    let error = CommandError::usage(format!("`--{what} {name}`: no {what} of {run} has this name"));
    if known.is_empty() {
        return error;
    }
    error.advise(advice(name, &known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_may_stand_for_several() {
        for (one, other, expected) in [
            ("process/run", "process/run", true),
            ("process/run", "process/*", true),
            ("process/*", "process/run", true),
            ("*", "process/*", true),
            ("process/run", "process", false),
            ("clock/*", "process/*", false),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} {other}");
            assert_eq!(is_same(other, one), expected, "{other} {one}");
        }
    }
}
