//! The failures of tools.
//!
//! INVARIANT: every failure's kind is one of [`Kind`], spelled as programs match it.
//! It raises no condition; the runtime makes one of a failure.
//! Read next: `tool/arguments.rs`.

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

/// The kinds of failure that a program can distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No tool has the name.
    NoSuchTool,
    /// The payload does not fit the tool's description, or names the wrong kind of file.
    BadArgument,
    /// A path leads out of the root directory.
    OutsideRoot,
    /// A file or program that the payload names does not exist.
    NotFound,
    /// The operating system refuses.
    Denied,
    /// The time limit was reached.
    Timeout,
    /// The result exceeds its limit.
    OutputLimit,
    /// Another process has changed the file meanwhile.
    Conflict,
    /// No fiber waits for the call any more.
    Withdrawn,
    /// A server cannot be reached at the moment; another attempt may help.
    Unavailable,
    /// A server wants fewer requests at the moment.
    RateLimited,
    /// The result does not fit the tool's description.
    BadResult,
    /// A double stands in for the tool, and has no answer to the call.
    NoAnswer,
    /// Any other failure.
    Failed,
}

impl Kind {
    /// Returns the symbol that programs see.
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
            Self::RateLimited => "rate-limited",
            Self::BadResult => "bad-result",
            Self::NoAnswer => "no-answer",
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
