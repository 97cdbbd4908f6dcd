//! `duet repl`: evaluates typed texts in turns of a run.

mod guest;

use duet_runtime::model::failure;
use std::io::{self, IsTerminal};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use duet_drivers::serve::Address;
use duet_drivers::text::line;
use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::read_all;

use crate::command::{goto, run};
use crate::error::{CommandError, ExitCode};
use crate::exports::names_elsewhere;
use crate::journal::{Journal, first_branch};
use crate::native::NativeArgument;
use crate::render;
use crate::repl::command::{self as comma, Command};
use crate::repl::editor::Line;
use crate::repl::outline::is_incomplete;
use crate::repl::pace::Evaluated;
use crate::repl::screen::Screen;
use crate::repl::seat::Seat;
use crate::repl::session::{self, After, Desk, Live};
use crate::repl::typist::Typist;
use crate::state_folder;
use crate::terminal::Terminal;
use crate::verb::Request;
use crate::world_options::ReachArguments;

/// Evaluates what is typed, text by text, in a run of its own.
///
/// Each text is evaluated in a turn of a run, which the journal keeps like any other: a session can
/// be left and continued, and every text can be taken back. A text that fails leaves only the
/// record of its turn. `,help` lists the commands of the session.
///
/// If another process executes the run, the texts are evaluated there, in a session of its own: it
/// has its own definitions, and sees the same facts. `--session` names it, so that it stays when
/// you leave and can be entered again.
///
/// The options that name doubles, secrets, hosts, servers and models grant their use to a new
/// session. A session that is continued is granted them by a turn of its own, except the doubles;
/// going back to before that turn takes the grant back.
///
/// With `--connect` the run is one that `duet serve` hosts, and its journal can be out of your
/// reach: the file given with `--reference` holds the reference that `duet grant` has printed.
///
///   duet grant desk --session ada >ada.ref
///   duet repl --connect tcp:127.0.0.1:8001 --reference ada.ref --session ada
///
/// Without a terminal Duet reads the texts from standard input and writes their values and nothing
/// else. The exit code is 1 if a text could not be evaluated.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group = clap::ArgGroup::new("place").args(["address", "connect"]))]
pub(crate) struct Arguments {
    /// The address of the session to continue.
    address: Option<String>,
    /// Names a new session.
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
    /// Gives the tools this directory to work in, which they may then change.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Enters this session of a run that another process executes.
    #[arg(long, value_name = "NAME", requires = "place")]
    session: Option<String>,
    /// Enters a session of a run that `duet serve` hosts at this address, such as
    /// tcp:127.0.0.1:8001 or unix:/path/to/socket.
    #[arg(long, value_name = "ADDRESS", requires = "reference")]
    #[arg(conflicts_with_all = ["name", "workspace", "memory", "script", "journal"])]
    #[arg(conflicts_with_all = ReachArguments::NAMES)]
    connect: Option<Address>,
    /// Reads the sturdy reference from this file.
    #[arg(long, value_name = "FILE", requires = "connect")]
    reference: Option<PathBuf>,
    /// Keeps the journal in memory only.
    #[arg(long, conflicts_with_all = ["journal", "address"])]
    memory: bool,
    /// Prints the texts of a session that did not fail, for `duet run`, and evaluates nothing.
    #[arg(long)]
    script: bool,
    #[command(flatten)]
    reach: ReachArguments,
    #[command(flatten)]
    native: NativeArgument,
    #[command(flatten)]
    journal: Journal,
}

/// The name that sessions get.
const STEM: &str = "repl";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    arguments.native.apply();
    let address = arguments.address.as_deref();
    if arguments.script {
        let journal = &arguments.journal;
        let store = journal.open_to_read()?;
        let place = journal.resolve_turn(&store, address)?;
        terminal.data(&session::script(&store, &place)?)?;
        return Ok(ExitCode::OK);
    }
    if let Some(code) = guest::execute(arguments, terminal)? {
        return Ok(code);
    }
    let world = arguments.reach.read()?;
    if !io::stdin().is_terminal() {
        let live = open(arguments, address, Desk::default().reaching(world), terminal)?;
        return follow(live, terminal);
    }
    let desk = sit_down(terminal)?.reaching(world);
    let live = open(arguments, address, desk, terminal)?;
    converse(live, terminal)
}

fn sit_down(terminal: &mut Terminal) -> Result<Desk, CommandError> {
    let (seat, typist) = editor(terminal)?;
    Ok(Desk::at(seat, typist))
}

/// Starts the line editor.
fn editor(terminal: &mut Terminal) -> Result<(Seat, Typist), CommandError> {
    let screen = Arc::new(Screen::default());
    terminal.screen = Some(Arc::clone(&screen));
    let seat = Seat::at(Arc::clone(&screen));
    let (typist, printer) = Typist::start(state_folder::path("history"), terminal.is_styled, seat.bell())
        .map_err(|error| CommandError::caused("the prompt cannot be shown", &error))?;
    if let Some(printer) = printer {
        screen.print_with(printer);
    }
    Ok((seat, typist))
}

fn open(
    arguments: &Arguments,
    address: Option<&str>,
    desk: Desk,
    terminal: &mut Terminal,
) -> Result<Live, CommandError> {
    let workspace = arguments.workspace.as_deref();
    if arguments.memory {
        return Live::begin_in_memory(&run::read_name(STEM)?, workspace, desk, terminal);
    }
    let journal = &arguments.journal;
    if address.is_some() {
        return Live::open(journal, address, desk, terminal);
    }
    let mut store = journal.open_or_create("repl")?;
    let given = arguments.name.as_deref().map(run::read_name).transpose()?;
    let id = run::claim_name(&mut store, given.as_ref(), (STEM, "repl"))?;
    let live = Live::begin(&id, workspace, (Box::new(store), Some(journal)), desk, terminal)?;
    journal.set_current(&id, &first_branch()?);
    Ok(live)
}

/// Evaluates the texts of standard input.
fn follow(mut live: Live, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut code = ExitCode::OK;
    let mut text = String::new();
    loop {
        // The program may read lines, too.
        let line = live.read_piped(terminal)?;
        let is_over = line.is_empty();
        text.push_str(&line);
        if !is_over && (is_incomplete(&text) || text.trim().is_empty()) {
            continue;
        }
        let (again, evaluated) = answer(live, &std::mem::take(&mut text), terminal)?;
        live = again;
        match evaluated {
            Evaluated::Done => {}
            Evaluated::Failed | Evaluated::PartlyDone(_) => code = ExitCode::FAILED,
            Evaluated::Ended(code) => return Ok(code),
        }
        if is_over {
            let is_well = live.come_to_rest(terminal)?;
            return Ok(if is_well { code } else { ExitCode::FAILED });
        }
    }
}

/// Talks with a person.
fn converse(mut live: Live, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    terminal.message(format!(
        "duet {}, session {}; `,help` lists the commands",
        env!("CARGO_PKG_VERSION"),
        live.name()
    ));
    live.tell_end(terminal);
    loop {
        match live.read_input(terminal)? {
            Line::End => return Ok(ExitCode::OK),
            Line::Interrupted => {}
            Line::Input(text) => {
                if comma::read(&text) == Some(Ok(Command::Quit)) {
                    return Ok(ExitCode::OK);
                }
                let (again, evaluated) = answer(live, &text, terminal)?;
                live = again;
                if let (Evaluated::Ended(code), None) = (evaluated, comma::split(&text)) {
                    return Ok(code);
                }
            }
        }
    }
}

/// Executes a comma command, or evaluates the forms of a text one after the other up to the first
/// that fails. If a form fails after several turns, these turns are taken back.
fn answer(mut live: Live, text: &str, terminal: &mut Terminal) -> Result<(Live, Evaluated), CommandError> {
    let mut evaluated = Evaluated::Done;
    if let Some(command) = comma::read(text) {
        (live, evaluated) = obey(live, command, terminal)?;
    } else {
        let mut forms = forms(text).into_iter();
        while evaluated == Evaluated::Done
            && let Some(form) = forms.next()
        {
            evaluated = live.evaluate(form, terminal)?;
        }
        advise_comma(text, evaluated == Evaluated::Failed, terminal);
        if !matches!(evaluated, Evaluated::Ended(_)) {
            tell_left_out(forms.len(), terminal);
        }
    }
    let Evaluated::PartlyDone(before) = evaluated else {
        return Ok((live, evaluated));
    };
    terminal.message("this text had begun several turns; they are taken back:");
    let back = goto::Request::to(format!("{}@{before}", live.address())).into();
    Ok((live.lend(&back, &After::Here, terminal)?, Evaluated::Failed))
}

/// Says which comma command a text was meant for, if it is the bare name of one and means nothing
/// else; `exit` shows a procedure.
fn advise_comma(text: &str, has_failed: bool, terminal: &mut Terminal) {
    if let Some(advice) = comma::advice_for_bare(text).filter(|_| has_failed || text.trim() == "exit") {
        terminal.message(advice);
    }
}

/// Says that forms after the one that failed were not evaluated.
fn tell_left_out(count: usize, terminal: &mut Terminal) {
    match count {
        0 => {}
        1 => terminal.message("the form after it was not evaluated"),
        count => terminal.message(format!("the {count} forms after it were not evaluated")),
    }
}

/// The forms of a text; the text itself if it cannot be read, so that its evaluation reports the
/// error.
fn forms(text: &str) -> Vec<&str> {
    let (reading, errors) = read_all(text, SourceId(0));
    if !errors.is_empty() {
        return vec![text];
    }
    let spans = reading.forms.iter().map(|form| reading.spans[form.0 as usize]);
    spans
        .filter_map(|span| text.get(span.start as usize..span.end as usize))
        .collect()
}

fn obey(
    mut live: Live,
    command: Result<Command, comma::CommaError>,
    terminal: &mut Terminal,
) -> Result<(Live, Evaluated), CommandError> {
    let command = match command {
        Ok(command) => command,
        Err(error) => {
            terminal.message(format!("{error}\n{}", error.advice()));
            return Ok((live, Evaluated::Failed));
        }
    };
    let command = match absolute(command, &mut live) {
        Ok(command) => command,
        Err(failure) => {
            tell(failure, terminal)?;
            return Ok((live, Evaluated::Failed));
        }
    };
    let evaluated = match &command {
        Command::Quit => Evaluated::Ended(ExitCode::OK),
        Command::Help(name) => return help(live, name.as_deref(), terminal),
        Command::Apropos(text) => return apropos(live, text, terminal),
        Command::Expand(text) => return look(live, |live| live.expanded(text), terminal),
        Command::Disassemble(text) => return look(live, |live| live.disassembled(text), terminal),
        Command::Answer(text) => {
            live.answer(text, terminal);
            Evaluated::Done
        }
        Command::Time(text) => return timed(live, text, terminal),
        Command::Profile(text) => return profiled(live, text, terminal),
        Command::Switch(branch) => return Ok((live.switch(branch, terminal)?, Evaluated::Done)),
        Command::Describe(_)
        | Command::Back(_)
        | Command::Goto(_)
        | Command::Fork(_)
        | Command::Branches
        | Command::Log(_)
        | Command::Facts(_)
        | Command::Diff(_)
        | Command::At(..)
        | Command::Why(_)
        | Command::When(_)
        | Command::Amend(..)
        | Command::Merge(_)
        | Command::Undo
        | Command::Redo
        | Command::Replay
        | Command::Waits
        | Command::Explain(_)
        | Command::Show(_) => {
            if let Some(request) = comma::request(&command, &live.address()) {
                live = match after(&command) {
                    Some(after) => moved(live, &request, &after, terminal)?,
                    None => live.consult(&request, terminal)?,
                };
            }
            Evaluated::Done
        }
    };
    Ok((live, evaluated))
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
fn after(command: &Command) -> Option<After> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others only read")]
    match command {
        Command::Goto(_) | Command::Merge(_) | Command::Undo | Command::Redo => Some(After::Here),
        Command::Fork(name) => Some(After::Branch(name.clone())),
        Command::Amend(..) => Some(After::Current),
        _ => None,
    }
}

fn help(live: Live, name: Option<&str>, terminal: &mut Terminal) -> Result<(Live, Evaluated), CommandError> {
    match comma::help(name) {
        Ok(help) => terminal.data(&help)?,
        Err(error) => terminal.message(format!("{error}\n{}", error.advice())),
    }
    Ok((live, Evaluated::Done))
}

fn apropos(live: Live, text: &str, terminal: &mut Terminal) -> Result<(Live, Evaluated), CommandError> {
    show_names(&live.names_with(text), text, terminal)?;
    Ok((live, Evaluated::Done))
}

/// Lists names that contain a text, first those that are there, then those of libraries that have
/// to be imported.
fn show_names(names: &[String], text: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
    for name in names {
        terminal.data(format!("{name}\n"))?;
    }
    let elsewhere = names_elsewhere(text);
    let elsewhere = elsewhere.iter().filter(|(name, _)| !names.contains(name));
    let mut is_any = !names.is_empty();
    for (name, library) in elsewhere {
        terminal.data(format!("{name}, in {library}\n"))?;
        is_any = true;
    }
    if !is_any {
        terminal.message(format!("no name contains `{text}`"));
    }
    Ok(())
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
    let (turns, fuel) = live.cost_since(before)?;
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
        terminal.message(format!("and {rest} procedures that used less"));
    }
    Ok((live, evaluated?))
}

/// Shows an error, after which the session continues.
fn tell(failure: CommandError, terminal: &mut Terminal) -> Result<(), CommandError> {
    match failure {
        CommandError::Problem(problem) => {
            terminal.message(render::problem(&problem, terminal.speaker, terminal.is_styled));
        }
        CommandError::Shown(text) | CommandError::Usage(text) => terminal.message(text),
        error @ (CommandError::OutputClosed | CommandError::NameLost(_)) => return Err(error),
    }
    Ok(())
}
