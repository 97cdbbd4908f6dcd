//! The parts that make a world: tools, console, input, and the person who answers.
//!
//! INVARIANT: standard settings take the streams of this process and read nothing.
//! It starts nothing; `world.rs` does. Read next: `tool.rs`.

use std::fs::File;
use std::io::{self, IsTerminal, Read};

use crate::clock::WorldClock;
use crate::console::Console;
use crate::prepared::Prepared;
use crate::timers::CountedTimers;
use crate::tool::Registry;
use crate::tool::secret::Secrets;

/// The parts of a `World`.
pub struct Settings {
    /// The tools that can be called.
    pub tools: Registry,
    /// The maximum number of calls of tools that work on this machine at the same time, at least 1.
    pub tool_calls_max: usize,
    /// Where output goes.
    pub console: Console,
    /// Where the program's input comes from.
    pub input: Box<dyn Read + Send>,
    /// Who answers questions.
    pub person: Person,
    /// The secrets that tools receive and the journal does not.
    pub secrets: Secrets,
    /// Answers and approvals that are given ahead; the person is asked for all others.
    pub prepared: Prepared,
    /// The clock of timers and reports.
    pub clock: WorldClock,
    /// The counts of timers that go on, as far as this process has begun them.
    pub counted: CountedTimers,
    /// Whether scripts of the program may answer calls and questions.
    pub is_scriptable: bool,
    /// Whether Ctrl-C becomes `Input::Interrupt` instead of ending the process.
    pub is_interruptible: bool,
}

/// Where the person's answers come from.
pub enum Person {
    /// The person types on the program's input, which is a terminal.
    AtInput,
    /// The person types elsewhere: on a terminal while the input is a file or a pipe.
    At(Box<dyn Read + Send>),
    /// The person is away and may come back: questions stay open.
    Away,
    /// No person will come: requests for approval are refused, other questions stay open.
    Never,
}

impl Person {
    /// Finds the person of this process: at standard input, else at the controlling terminal, else
    /// nowhere.
    pub fn find() -> Self {
        if io::stdin().is_terminal() {
            return Self::AtInput;
        }
        match File::open("/dev/tty") {
            Ok(terminal) if io::stderr().is_terminal() => Self::At(Box::new(terminal)),
            Ok(_) | Err(_) => Self::Away,
        }
    }
}

impl Settings {
    /// Settings for this process: its standard streams, its person, Ctrl-C as input, eight tool
    /// calls at a time.
    pub fn standard(tools: Registry, prepared: Prepared) -> Self {
        Self {
            tools,
            tool_calls_max: 8,
            console: Console::standard(),
            input: Box::new(io::stdin()),
            person: Person::find(),
            secrets: Secrets::default(),
            prepared,
            clock: WorldClock::default(),
            counted: CountedTimers::default(),
            is_scriptable: false,
            is_interruptible: true,
        }
    }
}
