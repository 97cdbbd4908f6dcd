//! The prompt of a process that executes the run itself.
//!
//! Owns the comma commands of this prompt: those that move the head of a branch close the journal
//! and open it again, the others read beside the session.
//! INVARIANT: the session continues after every command, whatever becomes of it.
//! It does not know how a text is evaluated; `evaluation.rs` does.
//! Read next: `evaluation.rs`.

use std::num::NonZeroU64;
use std::time::Instant;

use duet_drivers::text::line;
use duet_journal::Sequence;
use duet_runtime::model::counted::counted;
use duet_runtime::model::failure;

use super::command::{self as comma, Command};
use super::prompt::{Evaluated, Prompt, tell};
use super::session::{After, Live, Work};
use crate::text::error::CommandError;
use crate::text::terminal::Terminal;
use crate::verb::Request;
use crate::verb::describe;

/// Executes a comma command.
///
/// # Errors
/// If the journal fails.
pub(super) fn obey(
    mut live: Live,
    command: Command,
    terminal: &mut Terminal,
) -> Result<(Live, Evaluated), CommandError> {
    let is_last_text = matches!(command, Command::Diff(None));
    let command = match absolute(command, &mut live) {
        Ok(command) => command,
        Err(failure) => {
            tell(failure, terminal)?;
            return Ok((live, Evaluated::Failed));
        }
    };
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the others make requests, or are the prompt's own"
    )]
    let evaluated = match &command {
        Command::Expand(text) => return look(live, |live| live.expanded(text), terminal),
        Command::Disassemble(text) => return look(live, |live| live.disassembled(text), terminal),
        Command::Answer(text) => {
            live.answer(text, terminal)?;
            Evaluated::Done
        }
        Command::Time(text) => return timed(live, text, terminal),
        Command::Profile(text) => return profiled(live, text, terminal),
        Command::Trace(name) => live.trace(name.as_deref(), terminal),
        Command::Untrace(name) => live.untrace(name.as_deref(), terminal),
        Command::Describe(name) => {
            match live.definition(name)? {
                Some(found) => terminal.data(describe::entry(name, &found.description))?,
                None => live = consulted(live, &command, terminal)?,
            }
            Evaluated::Done
        }
        Command::Switch(branch) => return Ok((live.switch(branch, terminal)?, Evaluated::Done)),
        command => {
            if let Some(request) = comma::request(command, &live.address()) {
                live = match after(command) {
                    Some(after) => moved(live, &request, &after, terminal)?,
                    None => live.consult(&request, terminal)?,
                };
            }
            if let (true, Command::Diff(Some(before))) = (is_last_text, command) {
                tell_memory(&mut live, before, terminal)?;
            }
            Evaluated::Done
        }
    };
    Ok((live, evaluated))
}

/// Has a command answered that only reads.
fn consulted(live: Live, command: &Command, terminal: &mut Terminal) -> Result<Live, CommandError> {
    match comma::request(command, &live.address()) {
        Some(request) => live.consult(&request, terminal),
        None => Ok(live),
    }
}

/// Names the turn that a command means by counting back from the newest text.
fn absolute(command: Command, live: &mut Live) -> Result<Command, CommandError> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others count nothing")]
    Ok(match command {
        Command::Back(count) => Command::Goto(live.before(count.map_or(1, NonZeroU64::get))?.to_string()),
        Command::Diff(None) => Command::Diff(Some(live.before(1)?.to_string())),
        command => command,
    })
}

/// Says how the last text has changed the values of names, of which the comparison of two places
/// knows nothing.
fn tell_memory(live: &mut Live, before: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
    let before = before.parse().ok().and_then(|number| Sequence::new(number).ok());
    match before.map(|before| live.memory_since(before)).transpose() {
        Ok(told) => terminal.data(told.unwrap_or_default()),
        Err(failure) => tell(failure, terminal),
    }
}

/// Moves the head of a branch, and says whom else that concerns.
fn moved(live: Live, request: &Request, after: &After, terminal: &mut Terminal) -> Result<Live, CommandError> {
    let (guests, before) = (live.guests().join(", "), live.address());
    let live = live.lend(request, after, terminal)?;
    if guests.is_empty() {
        return Ok(live);
    }
    terminal.message(if live.address() == before {
        format!("this moves others in the run, too: {guests}")
    } else {
        format!("others stay at {before}: {guests}; `,switch` at their prompts follows, or goes on there")
    });
    Ok(live)
}

/// Where the session goes on after a command that moves the head of a branch. Other commands only
/// read and leave the session open, so that what is under way goes on.
pub(super) fn after(command: &Command) -> Option<After> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others only read")]
    match command {
        Command::Back(_)
        | Command::Goto(_)
        | Command::Patch(_)
        | Command::Restart(_)
        | Command::Merge(_)
        | Command::Pick(_)
        | Command::Undo
        | Command::Redo => Some(After::Here),
        Command::Fork(name) => Some(After::Branch(name.clone())),
        Command::Amend(..) | Command::Rerun(_) => Some(After::Current),
        _ => None,
    }
}

/// Evaluates an expression, then reports its cost: the time, and the fuel, which is the same each
/// time on any computer.
fn timed(mut live: Live, text: &str, terminal: &mut Terminal) -> Result<(Live, Evaluated), CommandError> {
    let before = live.turn();
    #[expect(
        clippy::disallowed_methods,
        reason = "the time is shown to the person and is no input of the run"
    )]
    let start = Instant::now();
    let evaluated = live.evaluate(text, terminal)?;
    #[expect(clippy::disallowed_methods, reason = "as above")]
    let took_ms = start.elapsed().as_secs_f64() * 1000.0;
    let Work { turns, fuel } = live.work_since(before)?;
    terminal.message(format!(
        "{took_ms:.1} ms, turns: {turns}, units of fuel (calls, rounds of loops, long operations): {fuel}"
    ));
    Ok((live, evaluated))
}

/// Prints the answer to a question about a text, without evaluating the text.
fn look(
    mut live: Live,
    find: impl FnOnce(&mut Live) -> Result<String, failure::Failure>,
    terminal: &mut Terminal,
) -> Result<(Live, Evaluated), CommandError> {
    let evaluated = match find(&mut live) {
        Ok(text) => {
            terminal.data(&text)?;
            Evaluated::Done
        }
        Err(failure) => {
            live.tell_failure(&failure, terminal);
            Evaluated::Failed
        }
    };
    Ok((live, evaluated))
}

/// The maximum number of procedures that a profile shows.
const PROFILE_LINES: usize = 20;

/// Evaluates an expression, then reports the fuel of each procedure, which is the same each time on
/// any computer.
fn profiled(mut live: Live, text: &str, terminal: &mut Terminal) -> Result<(Live, Evaluated), CommandError> {
    live.begin_profile();
    let evaluated = live.evaluate(text, terminal);
    let counts = live.end_profile();
    let all: u64 = counts.iter().map(|(_, used)| used).sum();
    terminal.message("      fuel       %  procedure");
    for (procedure, used) in counts.iter().take(PROFILE_LINES) {
        let name = procedure
            .name
            .as_deref()
            .unwrap_or("an unnamed procedure or the text itself");
        let share = *used as f64 * 100.0 / all as f64;
        let told = format!("{used:>10}  {share:>6.1}  {name}, in {}", procedure.unit);
        terminal.message(line(&told).as_ref());
    }
    if let Some(rest @ 1..) = counts.len().checked_sub(PROFILE_LINES) {
        terminal.message(format!("and {} that used less", counted(rest, "procedure")));
    }
    Ok((live, evaluated?))
}
