//! How tools say that they failed.
//!
//! INVARIANT: every failure's kind is one of [`Kind`], spelled as programs match it.
//! It does not raise anything: the runtime makes a condition of it.
//! Read next: `tool/arguments.rs`.

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

/// The kinds of failure a program can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No tool has the name.
    NoSuchTool,
    /// The payload is not what the tool takes, or names the wrong sort of thing.
    BadArgument,
    /// A path leads out of the root directory.
    OutsideRoot,
    /// What the payload names does not exist.
    NotFound,
    /// The operating system refuses.
    Denied,
    /// The time was up.
    Timeout,
    /// There is more to return than may be returned.
    OutputLimit,
    /// Somebody else has changed what the call is about.
    Conflict,
    /// Nobody waits for the call any more.
    Withdrawn,
    /// What the call needs cannot be reached just now; trying again may help.
    Unavailable,
    /// What came back is not what the tool promises.
    BadResult,
    /// Anything else.
    Failed,
}

impl Kind {
    /// The symbol programs see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchTool => "no-such-tool",
            Self::BadArgument => "bad-argument",
            Self::OutsideRoot => "outside-root",
            Self::NotFound => "not-found",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::OutputLimit => "output-limit",
            Self::Conflict => "conflict",
            Self::Withdrawn => "withdrawn",
            Self::Unavailable => "unavailable",
            Self::BadResult => "bad-result",
            Self::Failed => "failed",
        }
    }

    /// Makes a failure without details.
    pub fn because(self, message: impl Into<String>) -> ToolFailure {
        self.with(message, [])
    }

    /// Makes a failure whose details are records such as `<limit-bytes 10>`.
    pub fn with<const N: usize>(
        self,
        message: impl Into<String>,
        details: [(&'static str, IOValue); N],
    ) -> ToolFailure {
        ToolFailure {
            kind: self.as_str().to_owned(),
            message: message.into(),
            details: details
                .into_iter()
                .map(|(label, value)| IOValue::record(IOValue::symbol(label), vec![value]))
                .collect(),
        }
    }
}
