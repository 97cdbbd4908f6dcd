//! `duet pick`: delivers recorded inputs again on another branch.

use duet_journal::Sequence;
use duet_runtime::history::input::recorded;
use duet_runtime::model::counted::counted;
use serde::{Deserialize, Serialize};

use crate::error::CommandError;
use crate::redeliver::Redelivery;
use crate::saying::{Way, say};
use crate::verb::project::Project;
use crate::world_options::WorldOptions;

pub(crate) use crate::verb::view::Driven as Report;

/// Delivers recorded inputs again on another branch.
///
/// Duet delivers the inputs recorded in turns A to B of one branch again at the head of another:
/// answers of the person, results of tools, texts to evaluate. An answer goes to the question that
/// it once answered, wherever the branch asks it again; the tool is then not called. Duet names the
/// inputs that nothing asks for. The branch continues until it has to ask for something else.
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
        let number = last
            .strip_prefix('@')
            .unwrap_or(last)
            .parse()
            .ok()
            .and_then(|number| Sequence::new(number).ok());
        let number = number.filter(|last| (first..=source.head.sequence).contains(last));
        number.ok_or_else(|| {
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
    let target = project.journal().resolve(&*store, Some(onto))?;
    let mut owned = project.resume(&target, &mut *store, WorldOptions::default(), "pick")?;
    project.set_current(&target);
    let count = inputs.len();
    let (run, world) = owned.parts();
    let mut drivers = Redelivery::new(world, inputs);
    let rest = run.drive(&mut *store, &mut drivers)?;
    let (delivered, left) = drivers.outcome();
    let terminal = project.stage()?;
    terminal.message(format!(
        "{} received {delivered} of {} of {}",
        target.name(),
        counted(count, "input"),
        source.name()
    ));
    for turn in left {
        terminal.message(format!("nothing asked for the input of {}", source.address(turn)));
    }
    Ok(owned.conclude(rest, true, terminal)?.into())
}
