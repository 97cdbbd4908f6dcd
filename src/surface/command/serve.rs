//! `duet serve`: hosts runs, which clients reach by Syndicate's protocol.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use duet_drivers::serve::{Address, Server, ServerError};
use duet_journal::owner::now_ms;
use duet_journal::{RunId, Store};

use crate::history::journal::{Journal, OpenJournal, Place};
use crate::owner::detach::{self, DetachArguments};
use crate::owner::gatekeeper::Gatekeeper;
use crate::owner::mail::Recipient;
use crate::owner::owned_run::{self, Beginning, OwnedRun, Prepared};
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::act::run::{claim_name, read_name};
use crate::world::launch::{Launch, Program};
use crate::world::preload::PreloadArgument;
use crate::world::world_options::{WorldArguments, WorldOptions};

/// Hosts runs; any client of the Syndicate protocol reaches them.
///
/// Each run is named, or a program: then the run with the program's name begins, or goes on if
/// there is one. A client asserts, observes and sends messages in the run's dataspace. What it does
/// becomes inputs of the run, turns like all others, which a replay repeats without the client.
///
/// A client needs a sturdy reference, which `duet grant RUN` makes.
///
///   duet serve chat.scm
///   duet serve chat desk --listen tcp:127.0.0.1:8001 --listen ws:127.0.0.1:8002
///
/// Without `--listen` clients come to the socket `journal.sqlite.sock` beside the journal, which
/// only you can open. A worker that executes one of the runs lets go of it.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The runs or programs.
    #[arg(required = true, value_name = "RUN|PROGRAM")]
    runs: Vec<String>,
    /// Listens there: unix:PATH, tcp:127.0.0.1:PORT, or ws:127.0.0.1:PORT for WebSocket; may be
    /// given several times.
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<String>,
    /// Lets web pages of this origin, such as http://localhost:8080, connect by WebSocket; may be
    /// given several times. Without it no page can.
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
    #[command(flatten)]
    preload: PreloadArgument,
    #[command(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    detach: DetachArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    if arguments.detach.is_wanted() {
        return detach::detach(&arguments.journal, terminal);
    }
    arguments.journal.make_folder()?;
    let gatekeeper = Arc::new(Gatekeeper::new(&arguments.journal)?);
    // Names of clients of different servers differ, so that nobody takes one for another.
    let prefix = format!("client-{:x}-", now_ms());
    let mut server =
        Server::new(Arc::clone(&gatekeeper) as _, prefix, &arguments.origin).map_err(|error| refused(&error))?;
    for address in arguments.addresses()? {
        let bound = server.listen(&address).map_err(|error| refused(&error))?;
        terminal.message(say![
            format!("clients come to {bound}; "),
            Way::of("grant").with("RUN"),
            " lets one in",
        ]);
    }
    if arguments.runs.len() > 1 {
        owned_run::share_memory();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "each run has one thread; these share the journal's file and nothing else"
    )]
    let codes: Vec<ExitCode> = thread::scope(|scope| {
        let (ready, begun) = channel();
        let host = |run: &'_ String| {
            let (ready, run, gatekeeper) = (ready.clone(), run.clone(), Arc::clone(&gatekeeper));
            scope.spawn(move || hosted(&run, arguments, &gatekeeper, ready))
        };
        let threads: Vec<_> = arguments.runs.iter().map(host).collect();
        drop(ready);
        // It ends when each run has begun, or cannot.
        let begun: Vec<RunId> = begun.into_iter().collect();
        server.open();
        if let Some(run) = begun.first() {
            arguments.detach.announce(run);
        }
        let codes = threads.into_iter().map(|thread| thread.join());
        codes.map(|code| code.unwrap_or(ExitCode::FAILED)).collect()
    });
    Ok(codes.into_iter().max_by_key(|code| code.0).unwrap_or(ExitCode::OK))
}

impl Arguments {
    fn addresses(&self) -> Result<Vec<Address>, CommandError> {
        if self.listen.is_empty() {
            return Ok(vec![Address::Unix(self.journal.beside(".sock"))]);
        }
        let read = |text: &String| text.parse().map_err(|error| refused(&error).with_code(ExitCode::USAGE));
        self.listen.iter().map(read).collect()
    }
}

fn refused(error: &ServerError) -> CommandError {
    let problem = CommandError::caused("clients cannot come", error);
    match error {
        ServerError::NoAddress(_) => problem,
        ServerError::NotHere(_) => problem.advise(
            "a reference would pass the network unencrypted; listen at 127.0.0.1 and use a tunnel, such as ssh -L",
        ),
        ServerError::Taken(_) => problem.advise("name another address with `--listen`, or stop that process"),
        ServerError::NoSocket(_) => problem.advise("name another path with `--listen`"),
        ServerError::System(_) => problem.advise("`--listen` names another address"),
    }
}

/// Hosts a run until it stops, on a thread of its own.
fn hosted(run: &str, arguments: &Arguments, gatekeeper: &Arc<Gatekeeper>, ready: Sender<RunId>) -> ExitCode {
    let mut terminal = Terminal::standard();
    let opened = arguments.journal.open_or_create("serve");
    let hosted = opened.and_then(|mut store| {
        let mut owned = begin(run, arguments, &mut store, &mut terminal)?;
        gatekeeper.add(owned.id().to_string(), owned.host());
        gatekeeper.add(owned.address(), owned.host());
        let branches = Arc::clone(gatekeeper);
        owned.announce_branches(Arc::new(move |address, host| branches.add(address, host)));
        // Where this fails, the main thread has ended, and the process with it.
        let _gone = ready.send(owned.id().clone());
        drop(ready);
        owned.drive(&mut store, false, &mut terminal)
    });
    hosted.unwrap_or_else(|error| terminal.tell_error(error))
}

/// Begins a run of a program, or goes on with a run.
fn begin(
    run: &str,
    arguments: &Arguments,
    store: &mut dyn Store,
    terminal: &mut Terminal,
) -> Result<OwnedRun, CommandError> {
    let journal = &arguments.journal;
    let mut options = arguments.world.read(false)?.beside(journal);
    options.is_detached = arguments.detach.is_done();
    if !Path::new(run).exists() {
        let place = journal.resolve(store, Some(run))?;
        return resume(&place, journal.opened(store), options, terminal);
    }
    let mut launch = Launch::read(Program::at(Path::new(run)), None, Vec::new())?;
    launch
        .warnings
        .iter()
        .for_each(|warning| terminal.message(warning.clone()));
    let id = read_name(&launch.stem)?;
    if store.has_run(&id)? {
        let place = journal.resolve(store, Some(id.as_str()))?;
        return resume(&place, journal.opened(store), options, terminal);
    }
    launch.preloaded = arguments.preload.libraries();
    launch.grant(&options)?;
    launch.cache = Some(journal.cache());
    let prepared = Prepared::new(&launch, options, terminal)?;
    let id = claim_name(store, Some(&id), &launch.stem, "serve")?;
    OwnedRun::start(prepared, Beginning::kept_in(journal, id, "serve"), store)
}

fn resume(
    place: &Place,
    OpenJournal { store, journal }: OpenJournal<'_>,
    options: WorldOptions,
    terminal: &mut Terminal,
) -> Result<OwnedRun, CommandError> {
    let given = options.clone();
    let mut recipient = Recipient { store, journal, place };
    let place = if recipient.make_worker_let_go()? {
        terminal.message(format!("a worker has let go of {}", place.name()));
        &journal.resolve(store, Some(&place.name()))?
    } else {
        place
    };
    let mut owned = OwnedRun::resume(place, journal.opened(store), options, "serve")?;
    if let Some(code) = owned.exit() {
        return Err(CommandError::problem(crate::verb::act::resume::ended(place, code)));
    }
    owned.widen(store, &given, terminal)?;
    Ok(owned)
}
