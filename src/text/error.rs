//! The errors and exit codes of commands.
//!
//! INVARIANT: an error states the problem, names the thing concerned, and has a line of advice
//! wherever the person can act.
//! It does not lay out the message; `render.rs` does.
//! Read next: `render.rs`.

use std::error::Error;
use std::io;

use duet_drivers::text::Text;
use duet_journal::{RunId, StoreError};
use duet_postgres::Failure;
use duet_runtime::record::divergence::Divergence;
use duet_runtime::run::error::RunError;

use crate::text::saying::{Saying, Way, say};
use crate::text::{value_text, version};

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    /// Success.
    pub(crate) const OK: Self = Self(0);
    /// The program or the command failed.
    pub(crate) const FAILED: Self = Self(1);
    /// The command line is wrong.
    pub(crate) const USAGE: Self = Self(2);
    /// Replay found a difference.
    pub(crate) const DIVERGED: Self = Self(3);
    /// The run waits for a person, or for a signal from outside.
    pub(crate) const WAITING: Self = Self(4);
    /// The person interrupted the run.
    pub(crate) const INTERRUPTED: Self = Self(130);
    /// The process was asked to end (SIGTERM), and has left the run as after an interruption.
    pub(crate) const TERMINATED: Self = Self(143);

    /// The code of a run that ended with `code`; a larger one becomes 255.
    pub(crate) fn of_run(code: u64) -> Self {
        Self(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

/// An error of a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// One message.
    Problem(Problem),
    /// Errors in the texts of a program, laid out already.
    Shown(Text),
    /// A wrong command line, laid out already.
    Usage(Text),
    /// The reader of standard output has closed it.
    OutputClosed,
    /// Another process has begun a run of this name; nothing of this process's run is durable, and
    /// none of its effects has left.
    NameLost(RunId),
}

/// A problem, its causes, and advice.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The problem: one lower-case clause.
    pub(crate) what: String,
    /// The causes beneath it, outermost first.
    pub(crate) because: Vec<String>,
    /// What the person can do, one line each.
    pub(crate) advice: Vec<Saying>,
    pub(crate) code: ExitCode,
}

impl CommandError {
    /// A problem with the exit code 1.
    pub(crate) fn problem(what: impl Into<String>) -> Self {
        Self::Problem(Problem {
            what: what.into(),
            because: Vec::new(),
            advice: Vec::new(),
            code: ExitCode::FAILED,
        })
    }

    /// The command line is wrong.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::problem(what).with_code(ExitCode::USAGE)
    }

    /// A problem with an underlying error.
    pub(crate) fn caused(what: impl Into<String>, error: &(dyn Error + 'static)) -> Self {
        let mut caused = Self::problem(what);
        if let Self::Problem(problem) = &mut caused {
            let mut next = Some(error);
            while let Some(error) = next {
                problem.because.push(error.to_string());
                next = error.source();
            }
        }
        caused
    }

    /// Adds a cause.
    pub(crate) fn because(mut self, cause: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.because.push(cause.into());
        }
        self
    }

    /// Adds a line of advice.
    pub(crate) fn advise(mut self, advice: impl Into<Saying>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.advice.push(advice.into());
        }
        self
    }

    /// The problem with its causes.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Problem(Problem { what, because, .. }) if !because.is_empty() => {
                format!("{what}: {}", because.join(": "))
            }
            error @ (Self::Problem(_) | Self::Usage(_) | Self::Shown(_) | Self::OutputClosed | Self::NameLost(_)) => {
                error.first_line()
            }
        }
    }

    /// The problem itself, without its causes and advice.
    pub(crate) fn first_line(&self) -> String {
        match self {
            Self::Problem(problem) => problem.what.clone(),
            Self::Usage(text) | Self::Shown(text) => text.as_str().lines().next().unwrap_or_default().to_owned(),
            Self::OutputClosed => String::new(),
            Self::NameLost(run) => name_lost(run),
        }
    }

    pub(crate) fn with_code(mut self, code: ExitCode) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.code = code;
        }
        self
    }
}

impl From<&Divergence> for Problem {
    /// Describes the difference between a program and its journal.
    fn from(divergence: &Divergence) -> Self {
        let sides = [divergence.journal_says.as_ref(), divergence.program_did.as_ref()];
        let [journal_says, program_did] = value_text::apart(sides);
        let mut because = vec![
            format!("the journal says {journal_says}"),
            format!("the program did {program_did}"),
        ];
        if !divergence.versions.is_empty() {
            let versions = divergence.versions.join(" and ");
            because.push(format!(
                "{versions} took turns of this run, and this is {}: a turn is proved by the version that took it",
                version::name()
            ));
        }
        Self {
            what: format!(
                "turn {} of {} differs in its {}",
                divergence.sequence, divergence.actor, divergence.part
            ),
            because,
            advice: vec!["the turns before it are identical; nothing was executed outside".into()],
            code: ExitCode::DIVERGED,
        }
    }
}

/// What to do about a failure of a server.
fn help_with(failure: &Failure) -> Saying {
    match failure {
        Failure::NoJournal { .. } => say![Way::of("run").with("PROGRAM"), " makes one"],
        Failure::Outdated { .. } => say![
            "a command that writes upgrades it, such as ",
            Way::of("work").with("--idle-exit 1"),
        ],
        Failure::InUse { .. } => say![
            "end the workers and runs of the older version first; ",
            Way::of("runs"),
            " of that version lists them",
        ],
        Failure::Unreachable { .. } => say![
            "durable turns stay; once the server is there, give the command again, or go on with ",
            Way::of("resume").with("RUN"),
        ],
        Failure::Denied { .. } => "check the role, its password and the database in the address; the chapter on \
                                   operating lists the privileges that a role needs"
            .into(),
        Failure::OnlyReads { .. } => "name the server that takes writes, or all hosts of the database, as in \
                                      postgres://role@one,two/database"
            .into(),
        Failure::Foreign { .. } => "it was left as it was; `?schema=NAME` in the address names another one".into(),
        Failure::Certificates { .. } | Failure::Address { .. } => {
            "`--journal` or the variable DUET_JOURNAL has the address".into()
        }
        Failure::TooLarge { .. } => "let the program make less in one turn".into(),
        Failure::Contended => "give the command again".into(),
        Failure::Refused { .. } => say![
            "durable turns stay; once the server takes writes, ",
            Way::of("resume").with("RUN"),
            " goes on",
        ],
    }
}

impl From<StoreError> for CommandError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only what a person can do something about is worded here"
    )]
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotAJournal { path, why } => {
                Self::problem(format!("`{}` is not a journal: {why}", path.display()))
                    .advise("it was left as it was; name another file with `--journal FILE`")
            }
            StoreError::UnsupportedVersion { .. } | StoreError::OtherTables { .. } => {
                Self::problem(error.to_string()).advise("it was left as it was; use the version of duet that wrote it")
            }
            StoreError::Displaced { .. } => {
                Self::problem(error.to_string()).advise("what was durable before stands in the file that was there")
            }
            StoreError::Server { source, .. } => {
                let problem = Self::caused("the journal cannot be used", &error);
                match source.downcast_ref::<Failure>() {
                    Some(failure) => problem.advise(help_with(failure)),
                    None => problem,
                }
            }
            StoreError::Locked => Self::problem(error.to_string()).advise(say![
                "one that was stopped (Ctrl-Z) goes on after `fg`; ",
                Way::of("runs"),
                " lists the processes at work",
            ]),
            StoreError::Owned { run, .. } => Self::problem(error.to_string())
                .advise(say![
                    Way::at("stop", run),
                    " stops it, and ",
                    Way::at("attach", run),
                    " shows what it does",
                ])
                .advise(say![
                    Way::at("resume", run).with("--take-over"),
                    " takes the run from a process that does not answer",
                ]),
            StoreError::Overtaken => Self::problem(error.to_string()).advise("give the command again"),
            StoreError::NoSuchRun { .. } => {
                Self::problem(error.to_string()).advise(say![Way::of("runs"), " lists the runs"])
            }
            StoreError::NoSuchBranch { run, .. } => {
                Self::problem(error.to_string()).advise(say![Way::at("branches", run), " lists the branches"])
            }
            StoreError::EpochFenced { .. } => Self::problem(error.to_string())
                .advise("the journal keeps what this process had made durable; the other process goes on from there"),
            _ => Self::caused("the journal cannot be used", &error)
                .advise(say![Way::of("fsck"), " says what is sound and what is not"]),
        }
    }
}

impl From<RunError> for CommandError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only what a person can do something about is worded here"
    )]
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            RunError::Divergence(divergence) => Self::Problem(Problem::from(&*divergence)),
            RunError::NoTurn { .. } | RunError::NoRecord { .. } => {
                Self::problem(error.to_string()).advise(say![Way::of("log"), " lists the turns"])
            }
            RunError::NotARun { .. } => {
                Self::problem(error.to_string()).advise("use the version of duet that wrote the run")
            }
            _ => Self::caused("the run cannot go on", &error).advise(say![
                "what was made durable stands: ",
                Way::of("resume"),
                " goes on from there",
            ]),
        }
    }
}

/// Says that the name of a run was taken at the last moment.
pub(crate) fn name_lost(run: &RunId) -> String {
    format!("another process began a run {run} at the same moment; give the command again")
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::problem(format!("cannot write to standard output: {error}"))
        }
    }
}
