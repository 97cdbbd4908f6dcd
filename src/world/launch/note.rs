//! The notes about a launch in a run's first record, as they are read.
//!
//! It does not make them; `world/launch.rs` does.

use std::path::PathBuf;

use duet_runtime::model::codec::{Codec, Fields, is_labelled};
use preserves::IOValue;

use crate::settings::reach::Reach;

/// The label of the note about a single file, and of that about a folder.
pub(super) const NOTE: &str = "launch";
pub(super) const FOLDER_NOTE: &str = "launch-folder";

/// The label of a workspace that has a name, in a note.
pub(super) const NAMED_WORKSPACE: &str = "named";

/// The label of the note about tools that were granted for their doubles.
pub(super) const DOUBLES_NOTE: &str = "launch-doubles";

/// The note about a launch in a run's first record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchNote {
    /// The workspace of the process that began the run.
    pub(crate) workspace: PathBuf,
    /// The name under which workers declare their copies of it, if it has one.
    pub(crate) workspace_name: Option<String>,
    /// Whether the program is a folder, whose manifest alone says what options grant it.
    pub(crate) is_folder: bool,
    /// What the run reaches.
    pub(crate) reach: Reach,
}

/// Reads a note; `None` if the bytes are something else, such as a source text: packed records do
/// not begin like UTF-8.
pub(crate) fn read_note(bytes: &[u8]) -> Option<LaunchNote> {
    let value = duet_journal::packed::read_value(bytes).ok()?;
    let is_folder = is_labelled(&value, FOLDER_NOTE);
    let mut fields = Fields::of(&value, if is_folder { FOLDER_NOTE } else { NOTE }, 5).ok()?;
    let workspace: IOValue = fields.read("workspace").ok()?;
    let (workspace_name, workspace) = if is_labelled(&workspace, NAMED_WORKSPACE) {
        let mut fields = Fields::of(&workspace, NAMED_WORKSPACE, 2).ok()?;
        (Some(fields.read("name").ok()?), fields.read("directory").ok()?)
    } else {
        (None, String::decode(&workspace).ok()?)
    };
    Some(LaunchNote {
        workspace: workspace.into(),
        workspace_name,
        is_folder,
        reach: Reach::read(&mut fields).ok()?,
    })
}

/// Reads a note about tools that were granted for their doubles; `None` if the bytes are something
/// else.
pub(crate) fn read_note_of_doubles(bytes: &[u8]) -> Option<Vec<String>> {
    let value = duet_journal::packed::read_value(bytes).ok()?;
    Fields::of(&value, DOUBLES_NOTE, 1).ok()?.read("names").ok()
}
