//! A world of real drivers: threads, timers, a console, a stream of input, a person who types, and
//! tools that take their time.
//!
//! INVARIANT: a tool that must not be repeated is entered at most once under a key, over all
//! processes and branches. The order of answers depends on the machine, so a seed that finds a
//! difference may need several runs to find it again.
//! It does not decide what the drivers do; `duet_drivers::world` does.
//! Read next: `simulated.rs`.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::time::Duration;

use duet_drivers::console::Console;
use duet_drivers::prepared::Prepared;
use duet_drivers::tool::Registry;
use duet_drivers::tool::description::{Description, EffectClass};
use duet_drivers::tool::failure::Kind;
use duet_drivers::tool::interface::{Call, Context, Tool};
use duet_drivers::tool::scripted::Scripted;
use duet_drivers::tool::secret::Secrets;
use duet_drivers::tool::undo_log::UndoNote;
use duet_drivers::tool::workspace::Workspace;
use duet_drivers::world::{Person, Settings, World};
use duet_runtime::driver::{Drivers, Effect, Input};
use duet_runtime::model::codec::Codec;
use duet_runtime::run::inflight::Recovery;
use preserves::IOValue;

use super::{Ledger, WorldError};

/// The longest wait for an answer, in milliseconds; timers that take longer stay in flight.
const PATIENCE_MS: u64 = 20;

/// Drivers that end with their process, and what the world remembers of all processes.
pub(crate) struct Driven {
    /// `None` until a process has an effect.
    drivers: Option<World>,
    ledger: Ledger,
    /// A tool that must not be repeated.
    counter: Noting,
    /// A tool that may be repeated after a crash.
    reader: Noting,
}

impl Default for Driven {
    fn default() -> Self {
        Self {
            drivers: None,
            ledger: Ledger::default(),
            counter: Noting::new("counter/add"),
            reader: Noting::new("workspace/read"),
        }
    }
}

impl Driven {
    /// Does what a durable turn has asked for.
    ///
    /// # Errors
    /// [`WorldError`].
    pub(crate) fn perform(&mut self, effects: Vec<Effect>, recovery: &Recovery) -> Result<(), WorldError> {
        for effect in &effects {
            self.ledger.enter(effect, recovery)?;
        }
        self.drivers()?.perform(effects);
        self.require_once()
    }

    /// Waits a moment for something that the drivers report.
    ///
    /// # Errors
    /// [`WorldError`].
    pub(crate) fn answer(&mut self) -> Result<Option<Input>, WorldError> {
        let drivers = self.drivers()?;
        let mut input = drivers.poll_input();
        for _ in 0..PATIENCE_MS {
            if input.is_some() || !drivers.is_expecting() {
                break;
            }
            #[expect(clippy::disallowed_methods, reason = "the drivers run in real time")]
            std::thread::sleep(Duration::from_millis(1));
            input = drivers.poll_input();
        }
        self.require_once()?;
        Ok(input)
    }

    /// Ends the process: its timers, reads and calls end with it.
    pub(crate) fn forget(&mut self) {
        self.drivers = None;
    }

    fn drivers(&mut self) -> Result<&mut World, WorldError> {
        let drivers = match self.drivers.take() {
            Some(drivers) => drivers,
            None => self.settings().and_then(World::new).map_err(WorldError::Drivers)?,
        };
        Ok(self.drivers.insert(drivers))
    }

    fn settings(&self) -> io::Result<Settings> {
        let built_in = Registry::built_in(Workspace::open(&std::env::temp_dir())?, []);
        Ok(Settings {
            tools: built_in.with(self.counter.clone()).with(self.reader.clone()),
            tool_calls_max: 3,
            console: Console::without_progress(Box::new(io::sink()), Box::new(io::sink())),
            input: Box::new(Typed::default()),
            person: Person::At(Box::new(Typed::default())),
            secrets: Secrets::default(),
            clock: duet_drivers::clock::WorldClock::default(),
            counted: duet_drivers::timers::CountedTimers::default(),
            prepared: Prepared::default(),
            is_scriptable: false,
            is_interruptible: false,
        })
    }

    /// Requires that the counter was entered at most once under each key.
    fn require_once(&self) -> Result<(), WorldError> {
        let mut keys = BTreeSet::new();
        let mut calls = self.counter.0.calls().into_iter().map(|(_, context)| context.key);
        let twice = calls.find(|key| !keys.insert(key.clone()));
        twice.map_or(Ok(()), |key| Err(WorldError::Repeated { key }))
    }
}

/// A stream of numbered lines, each of which arrives alone.
#[derive(Default)]
struct Typed(u64);

impl Read for Typed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0 += 1;
        let line = format!("line {}\n", self.0).into_bytes();
        let length = line.len().min(buffer.len());
        buffer[..length].copy_from_slice(&line[..length]);
        Ok(length)
    }
}

/// A tool whose replies take up to three milliseconds; one in four is a failure. Every fifth call
/// keeps a note before it acts.
#[derive(Clone)]
struct Noting(Scripted);

/// The number of replies that a tool has; when they are used up, its calls fail.
const REPLIES: u64 = 2_000;

impl Noting {
    fn new(name: &'static str) -> Self {
        let tool = Scripted::new(name).described(EffectClass::Irreversible, false, None);
        Self((0..REPLIES).fold(tool, |tool, number| {
            let failure = || Kind::Failed.because("as every fourth call does");
            let outcome = (number % 4 != 3).then(|| number.encode()).ok_or_else(failure);
            tool.reply(number % 4, outcome)
        }))
    }
}

impl Tool for Noting {
    fn description(&self) -> &Description {
        self.0.description()
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let (undo_log, answer) = (context.undo_log.clone(), self.0.call(payload, context));
        let note = (self.0.calls().len() % 5 == 4).then(|| UndoNote {
            note: "about to act".to_owned().encode(),
            contents: Vec::new(),
        });
        Box::pin(async move {
            if let Some(note) = note {
                undo_log.record(note).await?;
            }
            answer.await
        })
    }
}
