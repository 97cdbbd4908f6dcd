//! How a report is shown, and what is shown.
//!
//! INVARIANT: whoever tells a report knows the width and the style, never the stream.
//! Read next: `verb/log/line.rs`.

use duet_drivers::text::Text;
use serde_json::{Value as Json, json};

use crate::text::error::ExitCode;
use crate::text::saying::{Saying, Speaker};

/// How a surface shows reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    /// The columns of a line; nothing if lines may have any length.
    pub(crate) columns: Option<usize>,
    /// Whether parts are shown whole, however long.
    pub(crate) is_wide: bool,
    /// Whether actions are shown that only move a program along.
    pub(crate) is_verbose: bool,
    /// Whether each turn has its time.
    pub(crate) has_times: bool,
    /// Whether each request has its duration, however short.
    pub(crate) has_all_durations: bool,
    /// Whether data may have colours.
    pub(crate) is_styled: bool,
    /// Whether a person looks on.
    pub(crate) is_watched: bool,
    /// Who spells the ways on.
    pub(crate) speaker: Speaker,
}

/// A report in words.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) data: Text,
    pub(crate) messages: Vec<Saying>,
    pub(crate) code: ExitCode,
}

impl Told {
    /// Data.
    pub(crate) fn data(data: impl Into<Text>) -> Self {
        Self {
            data: data.into(),
            messages: Vec::new(),
            code: ExitCode::OK,
        }
    }

    /// Adds a message.
    pub(crate) fn say(mut self, message: impl Into<Saying>) -> Self {
        self.messages.push(message.into());
        self
    }
}

/// The report of a verb with which a run went on: what it did was shown as it came.
pub(crate) struct Driven {
    pub(crate) code: ExitCode,
}

impl Driven {
    pub(crate) fn json(&self) -> Json {
        json!({ "exit": self.code.0 })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        Told {
            code: self.code,
            ..Told::data("")
        }
    }
}

impl From<ExitCode> for Driven {
    fn from(code: ExitCode) -> Self {
        Self { code }
    }
}
