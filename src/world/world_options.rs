//! The options of a run's world: hosts, secrets, models, servers, doubles, and answers.
//!
//! INVARIANT: a resumed run has the hosts, the secrets, the servers and the provider of models that
//! it began with or was granted since, and those that are given in addition.
//! It grants nothing; `launch.rs` and `owner/owned_run/widening.rs` do.
//! Read next: `settings/reach.rs`, `owner/owned_run.rs`.

mod doubles;
pub(crate) mod known;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use duet_drivers::clock::WorldClock;
use duet_drivers::console::Console;
use duet_drivers::prepared::Prepared;
use duet_drivers::timers::CountedTimers;
use duet_drivers::tool::double::Doubles;
use duet_drivers::tool::environment::Environment;
use duet_drivers::tool::failure::Kind;
use duet_drivers::tool::http::{Hosts, Http};
use duet_drivers::tool::line::Lines;
use duet_drivers::tool::model::Model;
use duet_drivers::tool::secret::Secrets;
use duet_drivers::tool::syndicate::Links;
use duet_drivers::tool::webhook::{Webhooks, WorkerLink};
use duet_drivers::tool::workspace::Workspace;
use duet_drivers::tool::{Registry, double};
use duet_drivers::world::{Person, Settings, World};
use duet_journal::RunId;
use duet_runtime::model::fixed::FixedEntry;
use duet_runtime::model::identity::RequestId;
use serde::{Deserialize, Serialize};

use crate::history::journal::Journal;
use crate::settings::configuration::servers::{self, ServerChoice};
use crate::settings::configuration::{Choice, Configuration};
use crate::settings::environment::environment;
use crate::settings::native::NativeArgument;
use crate::settings::policy;
use crate::settings::workspaces::Workspaces;
use crate::text::error::CommandError;
use crate::text::screen::Screen;
use crate::world::answers::is_recorded;
use crate::world::imported::Terms;
use crate::world::streams::{self, PromptStreams};
use crate::world::watch::Typed;
use crate::world::webhooks::WayBack;
use doubles::DoubleArgument;
pub(crate) use doubles::DoubleScript;

/// The options of a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorldOptions {
    /// The hosts that may be spoken to.
    pub(crate) hosts: Vec<String>,
    /// The names of variables that are secrets, whatever their names say.
    pub(crate) secrets: Vec<String>,
    /// The provider of models that the person chose.
    pub(crate) models: Choice,
    /// The servers of the Model Context Protocol.
    pub(crate) servers: ServerChoice,
    /// The script of doubles.
    pub(crate) double: Option<DoubleScript>,
    /// The doubles of that script, if somebody looks at them afterwards.
    pub(crate) doubles: Option<Doubles>,
    /// Answers and approvals that are given ahead.
    pub(crate) prepared: Prepared,
    /// The journal that the tools are kept out of.
    pub(crate) journal: Option<Journal>,
    /// The run of that journal which goes on.
    pub(crate) run: Option<RunId>,
    /// The port at which this process takes webhooks in for all runs of that journal.
    pub(crate) webhooks: Option<u16>,
    /// Whether nobody will ever approve anything.
    pub(crate) is_headless: bool,
    /// Whether the run leaves no journal, so that nobody can answer later.
    pub(crate) is_fleeting: bool,
    /// Whether nobody sees what the program prints, or types for it.
    pub(crate) is_detached: bool,
    /// The workspaces of the worker that executes the run: one of several, without a person.
    pub(crate) worked_in: Option<Workspaces>,
    /// The tools that may be called without a double, if nearly no other may: the doubles have the
    /// recorded answers.
    pub(crate) live: Option<Vec<String>>,
    /// Where all output goes, in place of the streams of this process; then there is no input.
    pub(crate) captured: Option<Captured>,
    /// Whether scripts of the program may answer the calls of tools, and questions.
    pub(crate) is_scriptable: bool,
    /// The clock that the run sees.
    pub(crate) clock: WorldClock,
    /// The counts of its timers, as far as this process has begun them.
    pub(crate) counted: CountedTimers,
    /// Where the program's input comes from, if somebody else reads standard input.
    pub(crate) typed: Option<TypedUntil>,
    /// The streams of the person at a prompt.
    pub(crate) streams: Option<PromptStreams>,
    /// The screen of the prompt at which the command was given, without its streams.
    pub(crate) screen: Option<Arc<Screen>>,
    /// Calls in flight that are made, although another branch has their answers, or as they would
    /// have been if the run had not stopped.
    pub(crate) afresh: BTreeSet<RequestId>,
    /// The terms of the person who imported the run.
    pub(crate) terms: Option<Terms>,
    /// Capabilities that the person grants by name to a run that has begun.
    pub(crate) granted: Vec<String>,
    /// Tools that the run may call only where doubles stand in for them.
    pub(crate) withheld: Vec<String>,
    /// The entries of policy that the person lays down.
    pub(crate) policy: Vec<FixedEntry>,
}

/// The lines that come on standard input, until a flag is set.
#[derive(Clone, Debug)]
pub(crate) struct TypedUntil {
    pub(crate) typed: Typed,
    pub(crate) is_stopped: Arc<AtomicBool>,
}

/// The beginning of the output of a run, in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// The maximum number of bytes that are kept.
    const BYTES_MAX: usize = 64 << 10;

    /// Takes the output so far.
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let is_cut = bytes.len() >= Self::BYTES_MAX;
        let text = String::from_utf8_lossy(&bytes);
        format!("{text}{}", if is_cut { "…\n" } else { "" })
    }
}

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = Self::BYTES_MAX.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..room]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The options of a command that drives a run.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorldArguments {
    /// Answers the next question of the program; may be given several times. It approves nothing.
    #[arg(long = "answer", value_name = "TEXT", allow_hyphen_values = true)]
    answers: Vec<String>,
    /// Approves calls of this tool, or changes of this entry; a `*` at the end stands for any rest;
    /// may be given several times.
    #[arg(long, value_name = "PATTERN")]
    approve: Vec<String>,
    /// Refuses everything that needs approval, because nobody will ever answer.
    #[arg(long)]
    headless: bool,
    /// Lays down the policy in this file, which the program cannot change: a JSON object from keys
    /// to entries; may be given several times.
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    reach: ReachArguments,
    #[command(flatten)]
    #[serde(flatten)]
    native: NativeArgument,
}

/// The options that say what a run reaches in the world.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReachArguments {
    #[command(flatten)]
    #[serde(flatten)]
    double: DoubleArgument,
    /// Makes this variable a secret; may be given several times.
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Allows connections to this host; may be given several times.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Lets the program use this MCP server, and lets it start if the workspace's `duet.toml`
    /// describes it; may be given several times; see `duet servers`.
    #[arg(long, value_name = "NAME")]
    allow_server: Vec<String>,
    /// Lets the program call language models, of this provider if it names no other; see
    /// `duet providers`.
    #[arg(long, value_name = "NAME[=PROTOCOL:URL]")]
    provider: Option<String>,
    /// Chooses the model of that provider for a program that names none.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

impl ReachArguments {
    /// The names of the options. A conflict with their group would name all of them to the person.
    pub(crate) const NAMES: [&'static str; 6] = ["double", "secret", "allow_host", "allow_server", "provider", "model"];

    /// Whether any is given.
    pub(crate) fn is_any(&self) -> bool {
        let lists = [&self.secret, &self.allow_host, &self.allow_server];
        let choices = [&self.provider, &self.model];
        self.double.is_given()
            || lists.into_iter().any(|list| !list.is_empty())
            || choices.into_iter().any(Option::is_some)
    }

    /// Reads the files that the options name.
    ///
    /// # Errors
    /// If the script of doubles cannot be read.
    pub(crate) fn read(&self) -> Result<WorldOptions, CommandError> {
        Ok(WorldOptions {
            hosts: self.allow_host.clone(),
            secrets: self.secret.clone(),
            models: Choice {
                provider: self.provider.clone(),
                model: self.model.clone(),
            },
            servers: ServerChoice {
                allowed: self.allow_server.clone(),
                described: Vec::new(),
            },
            double: self.double.read()?,
            ..WorldOptions::default()
        })
    }
}

/// The options of a command that goes on with a run after it has changed something.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GoOnArguments {
    /// Approves calls of this tool, or changes of this entry; a `*` at the end stands for any rest;
    /// may be given several times.
    #[arg(long, value_name = "PATTERN")]
    approve: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    double: DoubleArgument,
}

impl GoOnArguments {
    /// What a client of a server has chosen, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &WorldArguments) -> Result<Self, String> {
        Ok(Self {
            approve: granted.approve.clone(),
            double: self.double.within(&granted.reach.double)?,
        })
    }

    /// Names what is given, for a process that cannot take it.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (self.double.is_given(), self.approve.is_empty()) {
            (false, true) => None,
            (true, true) => Some("doubles"),
            (false, false) => Some("approvals"),
            (true, false) => Some("doubles and approvals"),
        }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&self) -> Result<WorldOptions, CommandError> {
        Ok(WorldOptions {
            double: self.double.read()?,
            prepared: Prepared {
                approvals: self.approve.clone(),
                ..Prepared::default()
            },
            ..WorldOptions::default()
        })
    }
}

impl WorldArguments {
    /// The first option given that no journal has, so that it ends with the process.
    pub(crate) fn of_the_process(&self) -> Option<&'static str> {
        let given = [
            ("--double", self.reach.double.is_given()),
            ("--answer", !self.answers.is_empty()),
            ("--approve", !self.approve.is_empty()),
            ("--headless", self.headless),
        ];
        given
            .into_iter()
            .find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// What a client of a server has chosen, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &Self) -> Result<Self, String> {
        let reach = ReachArguments {
            double: self.reach.double.within(&granted.reach.double)?,
            ..granted.reach.clone()
        };
        Ok(Self {
            answers: granted.answers.iter().cloned().chain(self.answers).collect(),
            reach,
            ..granted.clone()
        })
    }

    /// Reads the files that the options name.
    ///
    /// # Errors
    /// If the script of doubles cannot be read.
    pub(crate) fn read(&self, is_fleeting: bool) -> Result<WorldOptions, CommandError> {
        self.native.apply();
        let mut policy = Vec::new();
        for path in &self.policy {
            policy = policy::joined(&policy, &policy::read(path)?)?;
        }
        Ok(WorldOptions {
            policy,
            prepared: Prepared {
                answers: self.answers.iter().cloned().collect(),
                approvals: self.approve.clone(),
            },
            is_headless: self.headless,
            is_fleeting,
            ..self.reach.read()?
        })
    }
}

impl WorldOptions {
    /// The options of a world whose tools are kept out of a journal.
    #[must_use]
    pub(crate) fn beside(self, journal: &Journal) -> Self {
        Self {
            journal: Some(journal.clone()),
            ..self
        }
    }

    /// The options without what they reach, for a run whose turns say what it reaches.
    #[must_use]
    pub(crate) fn without_reach(self) -> Self {
        Self {
            hosts: Vec::new(),
            models: Choice::default(),
            servers: ServerChoice::default(),
            ..self
        }
    }

    /// Replaces secrets in the words that a program gets.
    pub(crate) fn mask_words(&self, words: &mut [String]) {
        if words.is_empty() {
            return;
        }
        let secrets = self.own_secrets();
        for word in words {
            *word = secrets.mask_text(word);
        }
    }

    /// The tools for a workspace.
    ///
    /// # Errors
    /// If something else than a journal is in its place, the workspace cannot be opened, or the
    /// script of doubles cannot be understood.
    pub(crate) fn tools(&self, workspace: &Path) -> Result<Registry, CommandError> {
        let environment = environment();
        let secrets = self.own_secrets();
        let told = environment.iter().map(|(name, value)| {
            let stand_in = name.to_str().and_then(|name| secrets.stand_in(name));
            (name.clone(), stand_in.map_or_else(|| value.clone(), OsString::from))
        });
        let told = Environment::new(told.collect::<Vec<_>>());
        self.journal.as_ref().map_or(Ok(()), Journal::require_kind)?;
        let opened = Workspace::open(workspace).and_then(|opened| match &self.journal {
            Some(journal) => opened.keep_out_of(journal.path()),
            None => Ok(opened),
        });
        let opened = opened.map_err(|error| {
            CommandError::caused(format!("cannot use `{}` as the workspace", workspace.display()), &error)
        })?;
        let allowed = &self.servers.allowed;
        let mut configuration = Configuration::read(workspace, &self.models, allowed, &environment)?;
        let described = std::mem::take(&mut configuration.servers);
        let servers = servers::settings(described, &self.servers, workspace, &environment)?;
        let tools = Registry::built_in(opened, environment).reading(&self.seen_clock());
        let hosts = Hosts::of(&self.hosts).map_err(|entry| {
            CommandError::usage(format!("the port of the host `{entry}` is no number from 1 to 65535"))
        })?;
        let tools = tools
            .with(told)
            .with(Http::get(hosts.clone()))
            .with(Http::request(hosts.clone()))
            .with_all(Lines::new(hosts.clone()).tools())
            .with_all(Links::new(hosts).tools())
            .with_all(Webhooks::with_workers(self.worker_link()).tools())
            .with(Model::new(configuration.into_providers()));
        let tools = servers.into_iter().fold(tools, Registry::with_server);
        let tools = match (&self.doubles, &self.double) {
            (Some(doubles), _) => doubles.stand_in(tools),
            (None, None) => tools,
            (None, Some(DoubleScript { path, text, .. })) => double::stand_in(tools, text)
                .map_err(|error| CommandError::usage(format!("`{path}` is no script of doubles: {error}")))?,
        };
        // Nothing happens outside when a double is called.
        let doubled: Vec<String> = self.double.iter().flat_map(DoubleScript::names).collect();
        let tools = match &self.live {
            Some(live) => unrecorded_withheld(tools, &doubled, live),
            None => tools,
        };
        let Some(terms) = &self.terms else {
            let withheld = self.withheld.iter().filter(|name| !doubled.contains(name));
            return Ok(withheld.fold(tools, |tools, name| {
                let why = format!(
                    "`{name}` is not granted: a double stood in for it when the run began; \
                     `duet resume --grant {name}` grants it"
                );
                tools.withholding(name.clone(), Kind::Denied.because(why))
            }));
        };
        let mut granted = terms.manifest();
        granted.extend(doubled);
        let why = "the run was imported; `duet resume --grant` grants it more";
        Ok(tools.restricted(granted, why.to_owned()))
    }

    /// The names of the tools that recorded answers leave without one, if such answers serve.
    ///
    /// # Errors
    /// As [`tools`](Self::tools).
    pub(crate) fn unrecorded(&self, workspace: &Path) -> Result<Vec<String>, CommandError> {
        let Some(live) = &self.live else {
            return Ok(Vec::new());
        };
        let doubled: Vec<String> = self.double.iter().flat_map(DoubleScript::names).collect();
        Ok(unrecorded(&self.tools(workspace)?, &doubled, live).collect())
    }

    /// The clock that the run sees: a virtual one, or that of its journal.
    fn seen_clock(&self) -> WorldClock {
        match &self.journal {
            Some(journal) if !self.clock.is_virtual() => journal.clock(),
            Some(_) | None => self.clock.clone(),
        }
    }

    /// How the run speaks with workers that take webhooks in.
    fn worker_link(&self) -> Option<WorkerLink> {
        let replies = WayBack::of(self.journal.as_ref()?, self.run.clone()?);
        Some(WorkerLink {
            replies: Arc::new(replies),
            port: self.webhooks,
        })
    }

    /// The world of a run that works in a workspace.
    ///
    /// # Errors
    /// As [`tools`](Self::tools); or if the system cannot start a thread.
    pub(crate) fn world(self, workspace: &Path) -> Result<World, CommandError> {
        let tools = self.tools(workspace)?;
        let settings = Settings::standard(tools, self.prepared.clone());
        let is_alone = self.is_headless || (self.is_fleeting && matches!(settings.person, Person::Away));
        let settings = Settings {
            person: if is_alone { Person::Never } else { settings.person },
            secrets: self.own_secrets(),
            clock: self.seen_clock(),
            counted: self.counted.clone(),
            is_scriptable: self.is_scriptable,
            ..settings
        };
        let settings = if let Some(captured) = &self.captured {
            Settings {
                console: Console::without_progress(Box::new(captured.clone()), Box::new(captured.clone())),
                input: Box::new(io::empty()),
                person: Person::Never,
                is_interruptible: false,
                ..settings
            }
        } else if self.worked_in.is_some() {
            Settings {
                console: Console::without_progress(Box::new(io::sink()), Box::new(io::sink())),
                input: Box::new(io::empty()),
                person: if is_alone { Person::Never } else { Person::Away },
                is_interruptible: false,
                ..settings
            }
        } else if self.is_detached {
            Settings {
                console: Console::without_progress(Box::new(io::sink()), Box::new(io::sink())),
                input: Box::new(io::empty()),
                ..settings
            }
        } else if let Some(TypedUntil { typed, is_stopped }) = &self.typed {
            Settings {
                input: Box::new(typed.until(is_stopped)),
                ..settings
            }
        } else {
            settings
        };
        let settings = match &self.streams {
            Some(streams) => streams.furnish(settings),
            None => match &self.screen {
                Some(screen) => Settings {
                    console: streams::console_on(screen),
                    ..settings
                },
                None => settings,
            },
        };
        let world =
            World::new(settings).map_err(|error| CommandError::caused("the system cannot start a thread", &error))?;
        if let Some(streams) = &self.streams {
            streams.listen(&world);
        }
        Ok(world)
    }

    /// The secrets among the variables of this process.
    pub(crate) fn own_secrets(&self) -> Secrets {
        /// Those that their names mark: a worker asks for each run that it wakes.
        static MARKED: OnceLock<Secrets> = OnceLock::new();
        if self.secrets.is_empty() {
            return MARKED.get_or_init(|| secrets_among(&environment(), &[])).clone();
        }
        secrets_among(&environment(), &self.secrets)
    }
}

fn secrets_among(environment: &[(OsString, OsString)], named: &[String]) -> Secrets {
    let texts = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    Secrets::of(texts, named)
}

/// Names the tools whose answers would be recorded, unless they have doubles or are live.
fn unrecorded<'a>(tools: &Registry, doubled: &'a [String], live: &'a [String]) -> impl Iterator<Item = String> + 'a {
    let names = tools.named(|tool| is_recorded(&tool.name));
    let is_free = |name: &String| doubled.contains(name) || live.contains(name);
    names.into_iter().filter(move |name| !is_free(name))
}

/// Refuses these tools.
fn unrecorded_withheld(tools: Registry, doubled: &[String], live: &[String]) -> Registry {
    unrecorded(&tools, doubled, live).fold(tools, |tools, name| {
        let why = format!("no answer of `{name}` is recorded");
        tools.withholding(name, Kind::NoAnswer.because(why))
    })
}
