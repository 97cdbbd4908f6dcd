//! How a command ends: its exit code, and why it could not do what was asked.
//!
//! INVARIANT: a failure says what is wrong, names the thing concerned, and has a line of advice wherever something can be done.
//! It is not laid out here; `render.rs` does that.
//! Read next: `render.rs`.

use std::error::Error;
use std::io;

use duet_journal::StoreError;
use duet_runtime::run::error::RunError;

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u8);

impl Code {
    /// All is well.
    pub(crate) const OK: Self = Self(0);
    /// The program, or what was asked, failed.
    pub(crate) const FAILED: Self = Self(1);
    /// The command was not understood.
    pub(crate) const USAGE: Self = Self(2);
    /// Replay found a difference.
    pub(crate) const DIVERGED: Self = Self(3);
    /// The run waits for a person.
    pub(crate) const WAITING: Self = Self(4);
    /// The person interrupted the run.
    pub(crate) const INTERRUPTED: Self = Self(130);

    /// The code of a run that ended with `code`; what does not fit becomes 255.
    pub(crate) fn of_run(code: u64) -> Self {
        Self(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong; shown as one message.
    Problem(Problem),
    /// The texts of a program are wrong; laid out already.
    Shown(String),
    /// Nobody reads standard output any more.
    OutputClosed,
}

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What is wrong: one lower-case clause.
    pub(crate) what: String,
    /// The causes beneath it, outermost first.
    pub(crate) because: Vec<String>,
    /// What the person can do.
    pub(crate) advice: Vec<String>,
    pub(crate) code: Code,
}

impl Failure {
    /// Something is wrong, for which the exit code is 1.
    pub(crate) fn problem(what: impl Into<String>) -> Self {
        Self::Problem(Problem {
            what: what.into(),
            because: Vec::new(),
            advice: Vec::new(),
            code: Code::FAILED,
        })
    }

    /// The command was not understood.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::problem(what).with_code(Code::USAGE)
    }

    /// Something is wrong because of an error beneath.
    pub(crate) fn caused(what: impl Into<String>, error: &(dyn Error + 'static)) -> Self {
        let mut failure = Self::problem(what);
        if let Self::Problem(problem) = &mut failure {
            let mut next = Some(error);
            while let Some(error) = next {
                problem.because.push(error.to_string());
                next = error.source();
            }
        }
        failure
    }

    /// Adds a line of advice.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.advice.push(advice.into());
        }
        self
    }

    pub(crate) fn with_code(mut self, code: Code) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.code = code;
        }
        self
    }
}

impl From<StoreError> for Failure {
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
            StoreError::UnsupportedVersion { .. } => {
                Self::problem(error.to_string()).advise("it was left as it was; use the version of duet that wrote it")
            }
            StoreError::Locked { .. } => Self::problem(error.to_string()).advise(
                "wait until it is done, or give this run a journal of its own with `--journal FILE` or `--memory`",
            ),
            StoreError::NoSuchRun { .. } => Self::problem(error.to_string()).advise("`duet runs` lists the runs"),
            StoreError::NoSuchBranch { run, .. } => {
                Self::problem(error.to_string()).advise(format!("`duet branches {run}` lists the branches"))
            }
            StoreError::EpochFenced { .. } => Self::problem(error.to_string())
                .advise("what this process had made durable stands; the other one goes on from there"),
            _ => Self::caused("the journal cannot be used", &error)
                .advise("`duet fsck` says what is sound and what is not"),
        }
    }
}

impl From<RunError> for Failure {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only what a person can do something about is worded here"
    )]
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            RunError::Divergence(divergence) => Self::Problem(crate::render::parting(&divergence)),
            RunError::NoTurn { .. } | RunError::NoRecord { .. } => {
                Self::problem(error.to_string()).advise("`duet log` lists the turns")
            }
            RunError::NotARun { .. } => {
                Self::problem(error.to_string()).advise("use the version of duet that wrote the run")
            }
            _ => Self::caused("the run cannot go on", &error)
                .advise("what was made durable stands: `duet resume` goes on from there"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::problem(format!("cannot write to standard output: {error}"))
        }
    }
}
