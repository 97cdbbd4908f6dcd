//! `workspace/patch`: changes files by a unified diff.
//!
//! INVARIANT: a patch applies as a whole or not at all, also after a crash; a hunk applies only
//! where its context matches exactly, at the match nearest to its line number.
//! It supports no binary patches, renames or modes, and refuses them by name.
//! Read next: `tool/workspace/delete.rs`.
//!
//! Source: POSIX.1-2024, "diff", unified format.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::change::{Change, Replacement, State};
use super::shape::WritingTool;
use super::write::target;
use crate::tool::arguments::{Arguments, dictionary, integer, path_value, string};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::undo_log::UndoNote;

mod diff;
mod name;

use diff::FilePatch;

/// The maximum length of a file that can be patched, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/patch"),
    summary: Cow::Borrowed(
        "changes, makes and deletes files of the workspace as a unified diff says, all of them or none",
    ),
    payload: Cow::Borrowed(&[Field::required(
        "patch",
        Shape::Text,
        "a unified diff as `diff -u` and `git diff` write it, with paths relative to the root; `/dev/null` \
         makes or deletes a file",
    )]),
    result: Cow::Borrowed("a list of {path: string, change: made | changed | deleted, size_bytes: integer}"),
    needs: &["fs.write"],
    effect: EffectClass::Reversible,
    // A repeated call gets the undo note of its first attempt from the journal.
    idempotent: true,
    timeout_ms: Some(60_000),
    retry: Retry::NEVER,
    returns: Returns::List(&Returns::Fields(&[
        ("path", Returns::Bytes),
        ("change", Returns::Symbol(&["made", "changed", "deleted"])),
        ("size_bytes", Returns::Integer),
    ])),
    takes_secrets: false,
};

/// Makes the tool for a workspace.
pub(crate) fn tool(workspace: Arc<Workspace>) -> WritingTool {
    WritingTool {
        description: &DESCRIPTION,
        workspace,
        plan,
        describe,
    }
}

fn plan(workspace: &Workspace, payload: &IOValue) -> Result<Vec<Replacement>, ToolFailure> {
    let text = Arguments::read(&DESCRIPTION, payload)?.required("patch", string)?;
    let refuse = |problem: String| {
        let message = format!("field `patch` of {}: {problem}", DESCRIPTION.name);
        Kind::BadArgument.with(message, [("field", IOValue::symbol("patch"))])
    };
    let patches = diff::parse(&text).map_err(refuse)?;
    let mut resolved: Vec<PathBuf> = Vec::new();
    let mut replacements = Vec::new();
    for patch in &patches {
        let path = target(workspace, &workspace.inside(PathBuf::from(&patch.path)))?;
        if resolved.contains(&path) {
            return Err(refuse(format!("`{}` is patched twice", patch.path)));
        }
        replacements.push(workspace.replacement(&path, patched(workspace, patch, &path)?)?);
        resolved.push(path);
    }
    Ok(replacements)
}

/// Returns the new content of a file; nothing if the patch deletes it.
fn patched(workspace: &Workspace, patch: &FilePatch, path: &Path) -> Result<Option<Vec<u8>>, ToolFailure> {
    let conflict = |problem: String| {
        let message = format!("`{}`: {problem}; nothing was changed", patch.path);
        Kind::Conflict.with(message, [("path", path_value(path))])
    };
    let before = match workspace.tree().metadata(path) {
        Ok(_) if patch.is_made => return Err(conflict("the patch makes it, and it is there".to_owned())),
        Ok(metadata) if metadata.len() > FILE_BYTES_MAX => {
            return Err(conflict(format!("it has more than {FILE_BYTES_MAX} bytes")));
        }
        Ok(_) => workspace
            .tree()
            .open(path)
            .and_then(|mut file| {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            })
            .map_err(|error| workspace.explain(path, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && patch.is_made => Vec::new(),
        Err(error) => return Err(workspace.explain(path, &error)),
    };
    let after = patch.apply(&before).map_err(conflict)?;
    match (patch.is_deleted, after.is_empty()) {
        (true, true) => Ok(None),
        (true, false) => Err(conflict("the patch deletes it, and it has more lines".to_owned())),
        (false, _) => Ok(Some(after)),
    }
}

fn describe(changes: &[Change], _: &UndoNote) -> Outcome {
    let described = changes.iter().map(|change| {
        let (word, size_bytes) = match (&change.before, &change.after) {
            (_, State::Absent) => ("deleted", 0),
            (State::Absent, State::File { size_bytes, .. }) => ("made", *size_bytes),
            (_, State::File { size_bytes, .. }) => ("changed", *size_bytes),
            (_, State::Link { .. } | State::Other) => ("changed", 0),
        };
        dictionary([
            ("path", path_value(&change.path)),
            ("change", IOValue::symbol(word)),
            ("size_bytes", integer(size_bytes)),
        ])
    });
    Ok(IOValue::new(described.collect::<Vec<_>>()))
}
