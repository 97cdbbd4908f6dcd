//! The mark of a run's output that is on its way to the terminal.
//!
//! Owns a file beside the journal for each run with such output. Before a commit that has output,
//! the file names the newest record before it; once the output is written, it says so. If the
//! process ends in between, the file names the turns whose output may be lost.
//! INVARIANT: output that was never shown is behind a mark, unless the machine itself stopped: then
//! the terminal is gone too, and nobody syncs the mark.
//! It knows no output; `unshown.rs` finds it in the records.
//! Read next: `unshown.rs`.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use duet_journal::beside::{open_beside, text_beside};
use duet_journal::{RunId, Tip};

use crate::history::journal::Journal;

/// The beginning of the file while no output is on its way.
const CLEAR: &[u8] = b"-";

/// The mark of one run.
pub(super) struct OutputMark {
    path: PathBuf,
    /// The file, once it was needed.
    file: Option<File>,
    /// The newest record before output that another process may not have shown, until a person
    /// knows of it.
    untold: Option<Tip>,
}

impl OutputMark {
    /// Reads the mark of a run.
    pub(super) fn of(journal: &Journal, run: &RunId) -> Self {
        let path = journal.beside(&format!(".output.{run}"));
        Self {
            untold: parse(&text_beside(&path)),
            path,
            file: None,
        }
    }

    /// The newest record before output that may be lost.
    pub(super) fn untold(&self) -> Option<Tip> {
        self.untold
    }

    /// Notes that the person knows of the output that may be lost.
    pub(super) fn note_told(&mut self) {
        if self.untold.take().is_some() {
            self.clear();
        }
    }

    /// Marks the output of turns after `before`.
    pub(super) fn set(&mut self, before: Tip) {
        if self.untold.is_none() {
            self.write(format!("{:020} {}\n", before.sequence.number(), before.hash).as_bytes());
        }
    }

    /// Notes that the marked output has been written.
    pub(super) fn clear(&mut self) {
        if self.untold.is_none() {
            self.write(CLEAR);
        }
    }

    /// Writes the beginning of the file. A failure is ignored: a disk that takes no mark takes no
    /// commit either.
    fn write(&mut self, text: &[u8]) {
        let written = self.open().and_then(|file| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(text)
        });
        if written.is_err() {
            self.file = None;
        }
    }

    fn open(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => open_beside(&self.path)?,
        };
        Ok(self.file.insert(file))
    }
}

impl Drop for OutputMark {
    /// Removes a file that says nothing.
    fn drop(&mut self) {
        if self.file.is_some() && self.untold.is_none() && parse(&text_beside(&self.path)).is_none() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads the position and the hash of a record; `None` if the text is something else.
fn parse(text: &str) -> Option<Tip> {
    let (number, hash) = text.lines().next()?.split_once(' ')?;
    Some(Tip {
        sequence: duet_journal::Sequence::new(number.parse().ok()?).ok()?,
        hash: hash.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use duet_journal::{RecordHash, Sequence};

    use super::*;

    #[test]
    fn a_mark_is_found_until_it_is_cleared_or_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("j").display().to_string();
        let (journal, run) = (
            Journal::named(&path).expect("a path"),
            RunId::new("..").expect("a name"),
        );
        let tip = Tip {
            hash: RecordHash::of(b"record"),
            sequence: Sequence::new(7).expect("a position"),
        };
        let mut mark = OutputMark::of(&journal, &run);
        mark.set(tip);
        assert_eq!(OutputMark::of(&journal, &run).untold(), Some(tip));
        mark.clear();
        assert_eq!(OutputMark::of(&journal, &run).untold(), None);
        mark.set(tip);
        drop(mark);
        let mut later = OutputMark::of(&journal, &run);
        later.set(Tip {
            sequence: Sequence::FIRST,
            ..tip
        });
        later.clear();
        assert_eq!(OutputMark::of(&journal, &run).untold(), Some(tip), "nobody was told");
        later.note_told();
        drop(later);
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }

    #[test]
    fn a_file_that_is_none_marks_nothing() {
        for text in ["", "-", "-0000000000000000007 x\n", "7", "x y", "-1 00"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
