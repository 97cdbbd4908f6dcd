//! `duet pick`: what the world said on one branch is said again on another.

use duet_journal::Sequence;
use duet_runtime::history::input::recorded;
use duet_runtime::run::source::Source;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::outfit::Outfit;
use crate::redeliver::Redelivery;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The inputs recorded in turns A to B of one branch are delivered again at the head of another: answers of the person, results of
tools, texts to evaluate. An answer goes to the question that it once answered, wherever the branch asks it again; the tool is
then not called. Inputs that nothing asks for are named. The branch goes on until it has to ask for something else.

    duet pick review/what-if@4..9 --onto main
    duet pick @3 --onto review/second-try";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let range = arguments.word(0).unwrap_or_default();
    let onto = arguments
        .one("onto")
        .ok_or_else(|| Failure::usage("onto which branch?").advise(format!("`duet pick {range} --onto BRANCH`")))?;
    let (from, last) = range
        .split_once("..")
        .map_or((range, None), |(from, last)| (from, Some(last)));
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("pick")?;
    let source = journal.resolve_turn(&store, Some(from))?;
    let Some(first) = source.turn else {
        return Err(Failure::usage("which turns?").advise(format!("`duet pick {from}@A..B --onto {onto}`")));
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
            Failure::usage(format!(
                "`{range}`: after `..` comes a turn from {first} to {}",
                source.head.sequence
            ))
        })
    })?;
    let of = Source {
        store: &store,
        run: &source.run,
        branch: &source.branch,
    };
    let inputs = recorded(&of, (first, last))?;
    if inputs.is_empty() {
        return Err(Failure::problem(format!(
            "the world said nothing in turns {first} to {last} of {}",
            source.name()
        ))
        .advise(format!("`duet log {}` shows which turns had an input", source.name())));
    }
    let target = journal.resolve(&store, Some(onto))?;
    let mut session = Session::resume(&target, (&mut store, journal.path()), Outfit::default(), "pick")?;
    journal.set_current(&target.run, &target.branch);
    let count = inputs.len();
    let (run, world) = session.parts();
    let mut drivers = Redelivery::new(world, inputs);
    let rest = run.drive(&mut store, &mut drivers)?;
    let (delivered, left) = drivers.outcome();
    terminal.message(&format!(
        "{} was told {delivered} of {count} inputs of {}",
        target.name(),
        source.name()
    ));
    for turn in left {
        terminal.message(&format!("nothing asked for the input of {}", source.address(turn)));
    }
    session.conclude(rest, &store, true, terminal)
}
