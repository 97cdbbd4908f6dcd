//! Lines that commands leave about a run: the names of turns, and the moves of heads.
//!
//! Owns where they are: in a small file beside a journal's file, which whoever has the file has
//! too; for a journal on a server, in a table there, so that each host knows them.
//! INVARIANT: lines are only added, each whole; whoever reads them passes over what is none.
//! It does not know what they say; `history/marks.rs` and `history/moves.rs` do.
//! Read next: `site.rs`.

use std::io::Write;

use duet_journal::RunId;
use duet_journal::beside::{append_beside, text_beside};
use duet_postgres::PostgresStore;

use super::Journal;
use crate::text::error::CommandError;

/// A kind of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// The names of turns.
    Marks,
    /// The moves of heads.
    Moves,
}

impl LineKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Marks => "marks",
            Self::Moves => "moves",
        }
    }
}

impl Journal {
    /// The lines of a kind, oldest first: all that are about a run, and maybe those about others.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub(crate) fn lines(&self, kind: LineKind, run: &RunId) -> Result<String, CommandError> {
        let Some(address) = self.server_address()? else {
            return Ok(text_beside(&self.beside(&format!(".{}", kind.name()))));
        };
        Ok(PostgresStore::open_to_read(address)?.lines(kind.name(), run)?)
    }

    /// Adds a line, which ends with its newline, durably.
    ///
    /// # Errors
    /// If the file or the server cannot be written.
    pub(crate) fn add_line(&self, kind: LineKind, run: &RunId, line: &str) -> Result<(), CommandError> {
        if let Some(address) = self.server_address()? {
            return Ok(PostgresStore::open(address)?.add_line(kind.name(), run, line)?);
        }
        // One write, so that lines of several processes do not mix.
        let written = append_beside(&self.beside(&format!(".{}", kind.name())))
            .and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_all()));
        written.map_err(|error| CommandError::caused(format!("the {} cannot be written", kind.name()), &error))
    }
}
