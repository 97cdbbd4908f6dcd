//! Failures: why a turn was undone, for records and for people.
//!
//! INVARIANT: a failure holds data only, so it can be recorded and sent to another actor.
//! It does not undo anything; `run/turn.rs` does.
//! Read next: `model/limits.rs`.

use std::fmt;
use std::sync::Arc;

use preserves::{IOValue, ValueImpl};

use crate::codec_struct;
use crate::model::codec::{Codec, DecodeError, Fields, label_of, record};

/// Why a turn was undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of condition, a stable symbol's name.
    pub kind: String,
    /// What went wrong, for people.
    pub message: String,
    /// The objects concerned, printed if they are no data.
    pub irritants: Arc<[IOValue]>,
    /// Where in the program, if known.
    pub origin: Option<Box<Origin>>,
    /// The procedures that were active, innermost first.
    pub backtrace: Arc<[Frame]>,
}
codec_struct!(Failure "failure" { kind, message, irritants, origin, backtrace });

/// A procedure that was active when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; `?` if it has none.
    pub procedure: String,
    /// Where it was.
    pub at: FramePlace,
}

/// Where a procedure was when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FramePlace {
    /// In no text that people have: in a library of Duet's own.
    Unknown,
    /// At the call that it had made.
    Text {
        /// The text's name, such as a path.
        source: String,
        /// The call's first byte.
        start: u64,
    },
    /// It had called the one before by tail calls, which leave no place.
    Gone,
}

impl Codec for Frame {
    fn encode(&self) -> IOValue {
        let procedure = self.procedure.encode();
        match &self.at {
            FramePlace::Unknown => procedure,
            FramePlace::Text { source, start } => record("frame", vec![procedure, source.encode(), start.encode()]),
            FramePlace::Gone => record("gone", vec![procedure]),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let (procedure, at) = match label_of(value).as_deref() {
            Some("frame") => {
                let mut fields = Fields::of(value, "frame", 3)?;
                let procedure = fields.read("procedure")?;
                let (source, start) = (fields.read("source")?, fields.read("start")?);
                (procedure, FramePlace::Text { source, start })
            }
            Some("gone") => (Fields::of(value, "gone", 1)?.read("procedure")?, FramePlace::Gone),
            Some(_) | None => (String::decode(value)?, FramePlace::Unknown),
        };
        Ok(Self { procedure, at })
    }
}

impl Failure {
    /// The kind of failure of a turn in which looking for memory took longer than computing. When that happens depends on the garbage that a heap
    /// holds, so a replay takes it from the record.
    const EXHAUSTED: &str = "memory-exhausted";

    /// The kind of the failure of a turn that used a name without a value; the name is its first irritant.
    pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

    /// Makes the failure of such a turn.
    pub(crate) fn exhausted(heap_bytes_max: u64) -> Self {
        let message = format!(
            "of the {heap_bytes_max} bytes of memory so few are free that looking for them takes longer than computing"
        );
        Self::new(Self::EXHAUSTED, message)
    }

    /// Says whether it is the failure of such a turn.
    pub(crate) fn is_exhaustion(&self) -> bool {
        self.kind == Self::EXHAUSTED
    }

    /// Makes the failure of a condition that a program raised. A replay takes nothing from the record because a program says that its memory is exhausted.
    pub(crate) fn raised(kind: &str, message: impl Into<String>) -> Self {
        if kind == Self::EXHAUSTED {
            Self::new("raised-memory-exhausted", message)
        } else {
            Self::new(kind, message)
        }
    }

    /// Makes a failure of a kind and a message.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.to_owned(), message.into());
        Self {
            kind,
            message,
            irritants: Arc::default(),
            origin: None,
            backtrace: Arc::default(),
        }
    }

    /// The message, and after it those irritants that it does not name itself, each as `show` writes it.
    pub fn told(&self, show: impl Fn(&IOValue) -> String) -> String {
        let mut told = self.message.clone();
        let mut separator = if told.ends_with(':') { " " } else { ": " };
        for irritant in self.irritants.iter().filter(|irritant| !self.is_said(irritant)) {
            told.push_str(separator);
            told.push_str(&show(irritant));
            separator = " ";
        }
        told
    }

    /// Says whether the message names an irritant already, as that of a name that is not defined does.
    fn is_said(&self, irritant: &IOValue) -> bool {
        let is_quoted = |text: &str| self.message.contains(&format!("`{text}`"));
        match (irritant.as_symbol(), irritant.as_string()) {
            (Some(name), _) => self.kind == Self::UNDEFINED_VARIABLE || is_quoted(&name),
            (None, Some(text)) => is_quoted(&text),
            (None, None) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.told(|irritant| format!("{irritant:?}")))
    }
}

/// A range of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text's name, such as a path.
    pub source: String,
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}
codec_struct!(Origin "origin" { source, start, end });
