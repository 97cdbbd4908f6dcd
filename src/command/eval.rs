//! `duet eval`: what an expression says at a turn of the past.

use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::{EffectKind, Input, Stream};
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::Step;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::render;
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
The run is brought back as it was after the turn, in memory, and the expression is evaluated there by the main program's actor:
it sees what the program imports and defines, or in a session of `duet repl` what was typed. Nothing is recorded, and nothing is
asked of the world: an expression that calls a tool or waits is given up.

    duet eval plan@3 '(length tasks)'";

/// So many turns an expression may take.
const TURNS_MAX: usize = 10_000;

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let text = arguments.word(1).unwrap_or_default();
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let mut run = session::restore(&store, &place)?;
    if run.state().exit.is_some() {
        let before = place.at().number().saturating_sub(1);
        return Err(
            Failure::problem(format!("the run is over at {}", place.address(place.at()))).advise(format!(
                "`duet eval {}@{before} EXPR` asks before its end",
                place.name()
            )),
        );
    }
    if let Some((programs, _)) = run.lend(MAIN) {
        programs.observe();
    }
    run.deliver(Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    });
    let mut shown = String::new();
    for _ in 0..TURNS_MAX {
        let step = run.step()?;
        let newest = run.unflushed().and_then(|append| append.records.last().cloned());
        for effect in run.confirm_durable() {
            match effect.kind {
                EffectKind::Write {
                    stream: Stream::Output,
                    bytes,
                } => shown.push_str(&String::from_utf8_lossy(&bytes)),
                EffectKind::Tool { name, .. } => return Err(refused(&format!("it calls {name}"))),
                EffectKind::Timer { .. } | EffectKind::Alarm { .. } => {
                    return Err(refused("it waits for time to pass"));
                }
                EffectKind::Read { .. } | EffectKind::Ask { .. } => return Err(refused("it asks a person")),
                EffectKind::Write { .. }
                | EffectKind::Proceed { .. }
                | EffectKind::Withdraw
                | EffectKind::Log { .. }
                | EffectKind::Progress { .. } => {}
            }
        }
        if let Some(Body::Turn(turn)) = newest.as_ref().map(turn::body).transpose()?
            && let Outcome::Failed { failure } = turn.outcome
        {
            let texts = render::Texts::of(run.programs().expander());
            terminal.message(&render::uncaught(&failure, &texts, &[], terminal.is_styled));
            return Ok(Code::FAILED);
        }
        match step {
            Step::Turn => {}
            Step::Idle | Step::Ended { .. } => {
                let value = run.lend(MAIN).and_then(|(programs, _)| programs.observed());
                shown.extend(value.map(|value| format!("{value}\n")));
                if arguments.has("json") {
                    terminal.json(&json!({ "address": place.address(place.at()), "shown": shown }))?;
                } else {
                    terminal.data(&shown)?;
                }
                return Ok(Code::OK);
            }
        }
    }
    Err(refused(&format!("it takes more than {TURNS_MAX} turns")))
}

fn refused(why: &str) -> Failure {
    Failure::problem(format!("the expression is given up: {why}"))
        .advise("to let it act, begin a branch with `duet fork` and evaluate it there with `duet repl`")
}
