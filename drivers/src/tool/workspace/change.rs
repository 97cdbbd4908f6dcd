//! The changes of files that a call makes, with their states before and after, so that they can be
//! undone.
//!
//! INVARIANT: a change is made only while the file is still as the undo note says, so overwritten
//! content is always recorded content.
//! It does not choose what to write; the tools do.
//! Read next: `tool/workspace/apply.rs`.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_std::fs::MetadataExt as _;
use duet_runtime::driver::{Blob, BlobHash, ToolFailure};
use duet_runtime::model::counted::counted;
use preserves::{IOValue, Value, ValueImpl};

use super::Workspace;
use super::tree::Tree;
use crate::tool::arguments::{self, integer, path_value};
use crate::tool::failure::Kind;
use crate::tool::undo_log::{UndoLog, UndoNote};

/// The maximum length of a file that can be recorded, and so replaced, in bytes.
pub const KEPT_BYTES_MAX: u64 = 100_000_000;

/// The permission bits of a file that is made, but for those that the system takes away.
pub(crate) const MODE_NEW: u32 = 0o644;

/// The label of a change in an undo note.
const LABEL: &str = "workspace-change";

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The path does not exist.
    Absent,
    /// A file.
    File {
        /// The hash of its content.
        content: BlobHash,
        /// The content's length, in bytes.
        size_bytes: u64,
        /// The permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// The path that it names.
        target: PathBuf,
    },
    /// A directory or a special file, which no tool replaces.
    Other,
}

impl State {
    /// Says whether both have the same content, whatever their permissions.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { content, .. }, Self::File { content: other, .. }) => content == other,
            _ => self == other,
        }
    }

    fn encode(&self) -> IOValue {
        let record = |label, fields| IOValue::record(IOValue::symbol(label), fields);
        match self {
            Self::Absent => IOValue::new(false),
            Self::File {
                content,
                size_bytes,
                mode,
            } => record(
                "file",
                vec![
                    IOValue::bytes(content.as_bytes().to_vec()),
                    integer(*size_bytes),
                    integer(u64::from(*mode)),
                ],
            ),
            Self::Link { target } => record("link", vec![path_value(target)]),
            Self::Other => record("other", Vec::new()),
        }
    }

    fn decode(value: &IOValue) -> Option<Self> {
        if value.as_boolean() == Some(false) {
            return Some(Self::Absent);
        }
        let fields = fields(value)?;
        match (fields.0.as_str(), &fields.1[..]) {
            ("file", [content, size_bytes, mode]) => Some(Self::File {
                content: BlobHash::from_slice(&content.as_bytestring()?)?,
                size_bytes: arguments::count(size_bytes)?,
                mode: u32::try_from(arguments::count(mode)?).ok()?,
            }),
            ("link", [target]) => Some(Self::Link {
                target: arguments::path(target)?,
            }),
            ("other", []) => Some(Self::Other),
            _ => None,
        }
    }
}

/// Describes the state for people, without the content.
impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(formatter, "nothing"),
            Self::File { size_bytes, .. } => write!(formatter, "a file of {}", counted(*size_bytes, "byte")),
            Self::Link { target } => write!(formatter, "a link to `{}`", target.display()),
            Self::Other => write!(formatter, "something that is no file"),
        }
    }
}

fn fields(value: &IOValue) -> Option<(String, Vec<IOValue>)> {
    if !value.is_record() {
        return None;
    }
    let label: Value<IOValue> = value.value().label();
    Some((
        label.as_symbol()?.into_owned(),
        value.iter().map(IOValue::from).collect(),
    ))
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, relative to the root, without links.
    pub path: PathBuf,
    /// The state before.
    pub before: State,
    /// The state afterwards.
    pub after: State,
    /// The topmost directory that is made for the file, if any.
    pub made: Option<PathBuf>,
}

impl Change {
    fn encode(&self) -> IOValue {
        let made = self.made.as_deref().map_or_else(|| IOValue::new(false), path_value);
        let fields = vec![path_value(&self.path), self.before.encode(), self.after.encode(), made];
        IOValue::record(IOValue::symbol(LABEL), fields)
    }

    fn decode(value: &IOValue) -> Option<Self> {
        let (label, fields) = fields(value)?;
        let [path, before, after, made] = &fields[..] else {
            return None;
        };
        if label != LABEL {
            return None;
        }
        Some(Self {
            path: arguments::path(path)?,
            before: State::decode(before)?,
            after: State::decode(after)?,
            made: arguments::path(made),
        })
    }
}

/// Reads the changes in an undo note; none if it is of another kind.
pub fn changes(note: &IOValue) -> Vec<Change> {
    let Some(items) = note.as_sequence() else {
        return Vec::new();
    };
    items.filter_map(|item| Change::decode(&item.into())).collect()
}

/// The state of a path, with the content of a file.
#[derive(Debug)]
pub struct PathContent {
    /// The state.
    pub state: State,
    /// The content of a file.
    pub content: Option<Blob>,
}

/// A change with the contents before and after.
pub(crate) struct Replacement {
    pub(crate) change: Change,
    pub(crate) contents: Vec<Blob>,
}

impl Workspace {
    /// Reads the state of a path without links, and the content of a file.
    ///
    /// # Errors
    /// The system's error; `output-limit` for a file above [`KEPT_BYTES_MAX`].
    pub fn look(&self, path: &Path) -> Result<PathContent, ToolFailure> {
        let explain = |error: io::Error| self.explain(path, &error);
        let bare = |state| Ok(PathContent { state, content: None });
        let metadata = match self.tree().symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return bare(State::Absent);
            }
            Err(error) => return Err(explain(error)),
        };
        if metadata.is_symlink() {
            let target = self.tree().read_link(path).map_err(explain)?;
            return bare(State::Link { target });
        }
        if !metadata.is_file() {
            return bare(State::Other);
        }
        let bytes = read_within(self.tree(), path, KEPT_BYTES_MAX)
            .map_err(explain)?
            .ok_or_else(|| too_large(path))?;
        let content = Blob::new(bytes).map_err(|_| too_large(path))?;
        let state = State::File {
            content: content.hash(),
            size_bytes: content.as_bytes().len() as u64,
            mode: metadata.mode() & 0o7777,
        };
        Ok(PathContent {
            state,
            content: Some(content),
        })
    }

    /// Plans to replace the file at `path`, a path without links, by `after`; `None` deletes the
    /// file.
    ///
    /// # Errors
    /// Those of [`look`](Self::look).
    pub(crate) fn replacement(&self, path: &Path, after: Option<Vec<u8>>) -> Result<Replacement, ToolFailure> {
        self.replacement_with_mode(path, after, None)
    }

    /// Plans the same, and which permission bits the file has then.
    ///
    /// # Errors
    /// Those of [`look`](Self::look).
    pub(crate) fn replacement_with_mode(
        &self,
        path: &Path,
        after: Option<Vec<u8>>,
        mode: Option<u32>,
    ) -> Result<Replacement, ToolFailure> {
        let PathContent { state, content } = self.look(path)?;
        let after = after
            .map(|bytes| Blob::new(bytes).map_err(|_| too_large(path)))
            .transpose()?;
        let mode = mode.unwrap_or(match &state {
            State::File { mode, .. } => *mode,
            State::Absent | State::Link { .. } | State::Other => MODE_NEW,
        });
        let after_state = after.as_ref().map_or(State::Absent, |blob| State::File {
            content: blob.hash(),
            size_bytes: blob.as_bytes().len() as u64,
            mode,
        });
        Ok(Replacement {
            change: Change {
                path: path.to_owned(),
                made: self.missing_above(path),
                before: state,
                after: after_state,
            },
            contents: content.into_iter().chain(after).collect(),
        })
    }

    /// Finds the topmost directory above a path that does not exist.
    fn missing_above(&self, path: &Path) -> Option<PathBuf> {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let missing = above.take_while(|above| self.tree().symlink_metadata(above).is_err());
        missing.last().map(Path::to_owned)
    }

    /// Says whether a change is still to be made: true if the file is in its state before, false if
    /// it is in its state afterwards.
    ///
    /// # Errors
    /// `conflict` if another process has changed the file.
    pub(crate) fn is_pending(&self, change: &Change) -> Result<bool, ToolFailure> {
        let now = self.look(&change.path)?.state;
        if change.before.is_like(&change.after) && now.is_like(&change.after) {
            // Only the permissions change.
            return Ok(now != change.after);
        }
        if now.is_like(&change.after) {
            return Ok(false);
        }
        if now.is_like(&change.before) {
            return Ok(true);
        }
        let shown = change.path.display();
        let message =
            format!("`{shown}` was changed by somebody else while the call was made; it is left as it is now");
        Err(Kind::Conflict.with(message, [("path", path_value(&change.path))]))
    }
}

/// Records the replacements in the undo log; returns the undo note of the call's first attempt.
///
/// # Errors
/// Those of [`UndoLog::record`].
pub(crate) async fn record(undo_log: &UndoLog, replacements: Vec<Replacement>) -> Result<UndoNote, ToolFailure> {
    let (changes, contents): (Vec<_>, Vec<_>) = replacements.into_iter().map(|one| (one.change, one.contents)).unzip();
    let note = IOValue::new(changes.iter().map(Change::encode).collect::<Vec<_>>());
    let contents = contents.into_iter().flatten().collect();
    undo_log.record(UndoNote { note, contents }).await
}

/// Finds the content of a state in an undo note.
pub(crate) fn content_of<'a>(state: &State, note: &'a UndoNote) -> Option<&'a [u8]> {
    let State::File { content, .. } = state else {
        return None;
    };
    let blob = note.contents.iter().find(|blob| blob.hash() == *content);
    blob.map(Blob::as_bytes)
}

/// Reads a file; returns nothing if it is longer than `length_bytes_max`.
pub(crate) fn read_within(tree: &Tree, path: &Path, length_bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    tree.open(path)?.take(length_bytes_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= length_bytes_max).then_some(bytes))
}

fn too_large(path: &Path) -> ToolFailure {
    let message = format!(
        "`{}` has more than {KEPT_BYTES_MAX} bytes, which is too much to be kept and put back, so it is not replaced",
        path.display()
    );
    Kind::OutputLimit.with(
        message,
        [("path", path_value(path)), ("limit-bytes", integer(KEPT_BYTES_MAX))],
    )
}
