//! `duet pick`: delivers recorded inputs again on another branch.

use duet_journal::Sequence;
use duet_runtime::history::input::recorded;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::redeliver::Redelivery;
use crate::saying::{Way, say};
use crate::session::Session;
use crate::terminal::Terminal;
use crate::world_options::WorldOptions;

/// Delivers recorded inputs again on another branch.
///
/// Duet delivers the inputs recorded in turns A to B of one branch again at the head of another:
/// answers of the person, results of tools, texts to evaluate. An answer goes to the question that
/// it once answered, wherever the branch asks it again; the tool is then not called. Duet names the
/// inputs that nothing asks for. The branch continues until it has to ask for something else.
///
///   duet pick review/what-if@4..9 --onto main
///   duet pick @3 --onto review/second-try
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The turns: an address with a turn, and with `..TURN` for more than one.
    range: String,
    /// The branch on which they are delivered.
    #[arg(long, value_name = "BRANCH")]
    onto: String,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let range = &arguments.range;
    let onto = &arguments.onto;
    let (from, last) = range
        .split_once("..")
        .map_or((range.as_str(), None), |(from, last)| (from, Some(last)));
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("pick")?;
    let source = journal.resolve_turn(&store, Some(from))?;
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
    let of = source.source(&store);
    let inputs = recorded(&of, first, last)?;
    if inputs.is_empty() {
        return Err(
            CommandError::problem(format!("turns {first} to {last} of {} have no input", source.name()))
                .advise(say![Way::at("log", source.name()), " shows which turns had an input"]),
        );
    }
    let target = journal.resolve(&store, Some(onto))?;
    let mut session = Session::resume(&target, (&mut store, journal.path()), WorldOptions::default(), "pick")?;
    journal.set_current(&target.run, &target.branch);
    let count = inputs.len();
    let (run, world) = session.parts();
    let mut drivers = Redelivery::new(world, inputs);
    let rest = run.drive(&mut store, &mut drivers)?;
    let (delivered, left) = drivers.outcome();
    terminal.message(format!(
        "{} received {delivered} of {count} inputs of {}",
        target.name(),
        source.name()
    ));
    for turn in left {
        terminal.message(format!("nothing asked for the input of {}", source.address(turn)));
    }
    session.conclude(rest, true, terminal)
}
