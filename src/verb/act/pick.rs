//! `duet pick`: delivers recorded inputs again on another branch.

use std::ops::RangeInclusive;

use duet_journal::{Sequence, Store};
use duet_runtime::history::input::{What, recorded};
use duet_runtime::model::counted::counted;
use duet_runtime::record::key::Ledger;
use serde::{Deserialize, Serialize};

use crate::history::journal::Place;
use crate::owner::owned_run::compiled;
use crate::owner::redeliver::{Elsewhere, Outcome, Redelivery};
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::project::Project;
use crate::world::world_options::WorldOptions;

pub(crate) use crate::text::view::Driven as Report;

/// Delivers recorded inputs again on another branch.
///
/// Duet delivers the inputs recorded in turns A to B of one branch again at the head of another:
/// answers of the person, results of tools, texts to evaluate, signals and messages. An answer goes
/// to the question that it once answered, wherever the branch asks it again: the same actor asks
/// the same in the same procedure, and for the same time. The tool is then not called. If the
/// branch does not ask that, the answer goes to another question of the same words, and Duet says
/// so; it names the answers that nothing asks for. The branch continues until it has to ask for
/// something else.
///
///   duet pick review/what-if@4..9 --onto main
///   duet pick @3 --onto review/second-try
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The turns: an address with a turn, and with `..TURN` for more than one.
    range: String,
    /// The branch on which they are delivered.
    #[arg(long, value_name = "BRANCH")]
    onto: String,
}

impl Request {
    /// The request for turns of one branch on another.
    pub(crate) fn of(range: String, onto: String) -> Self {
        Self { range, onto }
    }
}

/// Delivers recorded inputs again.
///
/// # Errors
/// If there are no such turns, they have no input, or the branch cannot go on.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let (range, onto) = (&request.range, &request.onto);
    let (from, last) = range
        .split_once("..")
        .map_or((range.as_str(), None), |(from, last)| (from, Some(last)));
    let mut store = project.change("pick")?;
    let source = project.journal().resolve_turn(&*store, Some(from))?;
    let Some(first) = source.turn else {
        return Err(
            CommandError::usage("which turns?").advise(Way::turn("pick", from, "A..B").with(format!("--onto {onto}")))
        );
    };
    let last = last.map_or(Ok(first), |last| {
        last_turn(last, first..=source.head.sequence).ok_or_else(|| {
            CommandError::usage(format!(
                "`{range}`: after `..` comes a turn from {first} to {}",
                source.head.sequence
            ))
        })
    })?;
    let of = source.source(&*store);
    let inputs = recorded(&of, first, last)?;
    if inputs.is_empty() {
        return Err(
            CommandError::problem(format!("turns {first} to {last} of {} have no input", source.name()))
                .advise(say![Way::at("log", source.name()), " shows which turns had an input"]),
        );
    }
    // Only answers go to requests.
    let has_answers = inputs.iter().any(|input| matches!(input.what, What::Answer { .. }));
    let ledger = |store: &dyn Store, place: &Place, at| {
        if has_answers {
            asked(store, place, at)
        } else {
            Ok(Ledger::new(place.run.as_str()))
        }
    };
    let there = ledger(&*store, &source, last)?;
    let target = project.journal().resolve(&*store, Some(onto))?;
    let mut owned = project.resume(&target, &mut *store, WorldOptions::default(), "pick")?;
    project.set_current(&target);
    owned.leave_when_interrupted();
    let (run, world) = owned.parts();
    let head = run.head().map_or(target.head.sequence, |head| head.sequence);
    let here = ledger(&*store, &target, head)?;
    let count = inputs.len();
    let mut drivers = Redelivery::new(world, inputs, &there, &here);
    run.continue_ledger(here);
    let rest = run.drive(&mut *store, &mut drivers)?;
    let outcome = drivers.outcome();
    let terminal = project.stage()?;
    terminal.message(format!(
        "{} received {} of {} of {}",
        target.name(),
        outcome.delivered,
        counted(count, "input"),
        source.name()
    ));
    tell(&outcome, &source, &target, terminal);
    owned.note_interruption(&mut *store, &rest)?;
    Ok(owned.conclude(rest, true, terminal)?.into())
}

/// Reads the last of some turns, if it is one of those that it may be.
fn last_turn(text: &str, turns: RangeInclusive<Sequence>) -> Option<Sequence> {
    let number = text.strip_prefix('@').unwrap_or(text).parse().ok()?;
    Sequence::new(number).ok().filter(|last| turns.contains(last))
}

/// Lists what a branch has asked up to a turn, with who asked; for that the turns are repeated.
fn asked(store: &dyn Store, place: &Place, at: Sequence) -> Result<Ledger, CommandError> {
    let pinned = compiled::pinned(store, place)?;
    Ok(place.source(store).ledger(Some(at), pinned.programs)?)
}

/// Names the inputs that did not go where they went before.
fn tell(outcome: &Outcome, source: &Place, target: &Place, terminal: &mut Terminal) {
    for Elsewhere { turn, there, here } in &outcome.elsewhere {
        let address = source.address(*turn);
        let instead = if here == there {
            String::new()
        } else {
            format!(", not {there}")
        };
        terminal.message(format!(
            "the input of {address} went to another request with the same words, by {here}{instead}"
        ));
    }
    for turn in &outcome.not_asked {
        terminal.message(format!("nothing asked for the input of {}", source.address(*turn)));
    }
    for turn in &outcome.not_reached {
        let address = source.address(*turn);
        terminal.message(format!("{} stopped before the input of {address}", target.name()));
    }
}
