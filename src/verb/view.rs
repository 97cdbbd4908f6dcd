//! How a report is shown, and what is shown.
//!
//! INVARIANT: whoever tells a report knows the width and the style, never the stream.
//! Read next: `log/line.rs`.

use duet_drivers::text::Text;

use crate::error::ExitCode;
use crate::saying::Saying;

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
    /// Whether data may have colours.
    pub(crate) is_styled: bool,
    /// Whether a person looks on.
    pub(crate) is_watched: bool,
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
