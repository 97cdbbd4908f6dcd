//! `duet work`: executes the runs of a journal that can go on.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;

use duet_drivers::interrupts;
use duet_drivers::tool::webhook::shared_listener::SharedListener;
use duet_journal::{RunId, Store};

use crate::history::journal::{self, Journal};
use crate::owner::owned_run;
use crate::owner::work::form::Form;
use crate::owner::work::member::Member;
use crate::owner::work::webhook_inboxes;
use crate::owner::work::{Worker, WorkerOptions};
use crate::settings::configuration;
use crate::settings::environment::environment;
use crate::settings::workspaces::{Declared, Workspaces};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;
use crate::world::world_options::{WorldArguments, WorldOptions};

/// Executes the runs of a journal that can go on, each until it only waits.
///
/// A run can go on when its next timer has run out, when there is something in its inbox, or when
/// the process that executed it has died. A worker takes such runs, drives each until it has
/// nothing to do but wait, and lets it go: a run that waits needs no process. Any number of workers
/// share a journal; on a server they may be on many hosts. `duet answer`, `message` and `signal`
/// reach a run that sleeps by its inbox.
///
/// A worker takes a run only if it has what the run needs: its workspace, the secrets that it
/// names, its provider of models. A run that began with `--workspace-name shop` goes to workers
/// that declare a directory under this name, wherever they have it. A worker says why it leaves a
/// run to others. ~/.config/duet/config.toml may declare such directories too, for workers and for
/// `duet resume` and `duet answer`; the options of a worker go before it:
///
///   workspaces.shop = "/srv/shop"
///
/// Runs of the prompt, and those that a person has stopped, are nobody's.
///
///   duet work --concurrency 8
///   duet work --run 'review-*' --journal postgres://team@db.example.org/duet
///   duet work --idle-exit 0
///   duet work --health 0.0.0.0:8080
///   duet work --workspace shop=/srv/shop
///   duet work --webhooks 8090
///
/// With `--webhooks`, a run that calls `serve-webhooks!` opens no port: requests for the webhook
/// `hook` of the run `shop` come to `/shop/hook` of this address and go into the run's inbox. Give
/// it to all workers of a journal or to none.
///
/// After SIGTERM, a worker takes no more runs, and those that it has may go on until they sleep,
/// for 30 seconds or what `--drain` says; then it interrupts them, and another worker goes on with
/// them.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Executes at most this many runs at once.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// Takes runs of this name; a `*` at the end stands for any rest; may be given several times.
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    run: Vec<String>,
    /// Declares a directory under the name that runs give their workspace; may be given several
    /// times.
    #[arg(long, value_name = "NAME=DIR")]
    workspace: Vec<Declared>,
    /// Ends when there was nothing to do for this many seconds.
    #[arg(long, value_name = "SECONDS")]
    idle_exit: Option<u32>,
    /// Lets runs go on for this many seconds when the process is asked to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u32,
    /// Answers `GET /healthz` at this address, or at this port of this machine.
    #[arg(long, value_name = "ADDRESS", value_parser = own_address)]
    health: Option<SocketAddr>,
    /// Takes webhooks in at this address, or at this port of this machine, for all runs of the
    /// journal.
    #[arg(long, value_name = "ADDRESS", value_parser = own_address)]
    webhooks: Option<SocketAddr>,
    /// Lists the workers of the journal, and the runs that wait for one.
    #[arg(long)]
    status: bool,
    /// Prints the list as JSON.
    #[arg(long, requires = "status")]
    json: bool,
    #[command(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    if arguments.status {
        let store = arguments.journal.open_to_read()?;
        return status(&*store, arguments.json, terminal);
    }
    let is_ending =
        interrupts::watch_ending().map_err(|error| CommandError::caused("the system gives no signals", &error))?;
    owned_run::share_memory();
    let mut options = WorldOptions {
        worked_in: Some(Workspaces::of(&arguments.workspace)?.or(configuration::workspaces::all(&environment())?)),
        ..arguments.world.read(false)?
    };
    let begin = |address| webhook_inboxes::begin(address, &arguments.journal, &options);
    // It takes requests in as long as this worker executes runs: others hear what these do not.
    let listener = arguments.webhooks.map(begin).transpose()?;
    let webhooks = listener.as_ref().map(SharedListener::address);
    options.webhooks = webhooks.map(|address| address.port());
    if let Some(address) = webhooks {
        terminal.message(format!("http://{address}/RUN/WEBHOOK takes webhooks in"));
    }
    let worker = Worker::new(WorkerOptions {
        journal: &arguments.journal,
        patterns: arguments.run.clone(),
        concurrency: usize::from(arguments.concurrency),
        idle_ms: arguments.idle_exit.map(|seconds| u64::from(seconds) * 1000),
        drain_ms: u64::from(arguments.drain) * 1000,
        health: arguments.health,
        webhooks,
        world: options,
        is_ending: &is_ending,
    });
    worker.work(terminal)?;
    let is_ended = is_ending.load(Ordering::Relaxed);
    Ok(if is_ended { ExitCode::TERMINATED } else { ExitCode::OK })
}

/// Reads a pattern of names, which some name can match.
fn pattern(text: &str) -> Result<String, String> {
    let beginning = text.strip_suffix('*');
    if beginning != Some("") {
        RunId::new(beginning.unwrap_or(text))
            .map_err(|error| format!("no run can have such a name: {error}; a `*` at the end stands for any rest"))?;
    }
    Ok(text.to_owned())
}

/// Reads an address, or a port of this machine; port 0 lets the system choose one.
fn own_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "give an address with a port, as 0.0.0.0:8080, or a port".to_owned())
}

/// The maximum number of runs that the status lists.
const LISTED_MAX: usize = 100;

fn status(store: &dyn Store, is_json: bool, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let members = Member::living(store)?;
    let ready = store.ready(store.now_ms()?, LISTED_MAX)?;
    let ready: Vec<String> = ready
        .iter()
        .map(|ready| journal::name(&ready.run, &ready.branch))
        .collect();
    if is_json {
        terminal.json(&as_json(&Form::of(&members, ready)))?;
        return Ok(ExitCode::OK);
    }
    for member in &members {
        let process = member.process().map_or(0, |owner| owner.process);
        let runs = match &member.running[..] {
            [] => "nothing".to_owned(),
            running => running.join(", "),
        };
        terminal.data(format!(
            "worker {process}, {} at once: executes {runs}\n",
            member.concurrency
        ))?;
        if !member.workspaces.is_empty() {
            terminal.data(format!("  declares {}\n", member.workspaces.join(", ")))?;
        }
        if let Some(address) = &member.webhooks {
            terminal.data(format!("  takes webhooks in at {address}\n"))?;
        }
        // One that it tries again stays among those that it leaves until it has come to rest.
        for (run, why) in member.left.iter().filter(|(run, _)| !member.running.contains(*run)) {
            terminal.data(format!("  leaves {run} to others: {why}\n"))?;
        }
    }
    if members.is_empty() {
        terminal.data("no worker\n".to_owned())?;
    }
    if !ready.is_empty() {
        terminal.data(format!("waiting for a worker: {}\n", ready.join(", ")))?;
    }
    Ok(ExitCode::OK)
}
