//! `workspace/patch`: changes files by a unified diff.
//!
//! INVARIANT: a patch applies as a whole or not at all, also after a crash; a hunk applies only
//! where its context matches exactly, at the match nearest to its line number.
//! It supports no binary patches, links or submodules, and refuses them by name.
//! Read next: `tool/workspace/delete.rs`.
//!
//! Source: POSIX.1-2024, "diff", unified format; git, `diff-generate-patch`, for renames, copies
//! and modes.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::MetadataExt as _;
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::change::{Change, MODE_NEW, Replacement, State};
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

/// The permission bits of a file that can be executed and of others that cannot differ in these.
const MODE_EXECUTABLE: u32 = 0o111;

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/patch"),
    summary: Cow::Borrowed(
        "changes, makes and deletes files of the workspace as a unified diff says, all of them or none",
    ),
    payload: Cow::Borrowed(&[Field::required(
        "patch",
        Shape::Text,
        "a unified diff as `diff -u` and `git diff` write it, with paths relative to the root; `/dev/null` \
         makes or deletes a file; git's renames, copies and modes are understood",
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
    let resolve = |path: &str| target(workspace, &workspace.inside(PathBuf::from(path)));
    let renamed = patches
        .iter()
        .filter_map(|patch| patch.source.as_ref())
        .filter(|source| !source.is_kept);
    let mut leaving = Vec::new();
    for source in renamed {
        let path = resolve(&source.path)?;
        if leaving.contains(&path) {
            return Err(refuse(format!("`{}` is renamed twice", source.path)));
        }
        leaving.push(path);
    }
    let mut resolved: Vec<PathBuf> = Vec::new();
    let mut replacements = Vec::new();
    for patch in &patches {
        let path = resolve(&patch.path)?;
        if resolved.contains(&path) {
            return Err(refuse(format!("`{}` is patched twice", patch.path)));
        }
        let origin = match &patch.source {
            Some(source) => Origin::Other(resolve(&source.path)?),
            None if patch.is_made => Origin::Nothing,
            None if leaving.contains(&path) => {
                return Err(refuse(format!("`{}` is renamed and changed", patch.path)));
            }
            None => Origin::Itself,
        };
        let must_be_new = origin != Origin::Itself && !leaving.contains(&path);
        if must_be_new && workspace.tree().metadata(&path).is_ok() {
            return Err(conflict(patch, &path, "the patch makes it, and it is there"));
        }
        let Patched { content, mode } = patched(workspace, patch, &path, &origin)?;
        replacements.push(workspace.replacement_with_mode(&path, content, mode)?);
        resolved.push(path);
    }
    for path in leaving.iter().filter(|path| !resolved.contains(path)) {
        replacements.push(workspace.replacement(path, None)?);
    }
    Ok(replacements)
}

/// Where the lines come from to which a patch applies.
#[derive(PartialEq, Eq)]
enum Origin {
    /// The file is made.
    Nothing,
    /// The file is changed or deleted.
    Itself,
    /// The file is what another becomes, or a copy of it.
    Other(PathBuf),
}

/// A file after a patch.
struct Patched {
    /// Its content; nothing if the patch deletes it.
    content: Option<Vec<u8>>,
    /// Its permission bits, if they are not those that it has.
    mode: Option<u32>,
}

fn conflict(patch: &FilePatch, path: &Path, problem: &str) -> ToolFailure {
    let message = format!("`{}`: {problem}; nothing was changed", patch.path);
    Kind::Conflict.with(message, [("path", path_value(path))])
}

fn patched(workspace: &Workspace, patch: &FilePatch, path: &Path, origin: &Origin) -> Result<Patched, ToolFailure> {
    let conflict = |problem: &str| conflict(patch, path, problem);
    let (before, mode) = match origin {
        Origin::Nothing => (Vec::new(), None),
        Origin::Itself => read(workspace, path, &conflict)?,
        Origin::Other(source) => read(workspace, source, &conflict)?,
    };
    let after = patch.apply(&before).map_err(|problem| conflict(&problem))?;
    let content = match (patch.is_deleted, after.is_empty()) {
        (true, true) => None,
        (true, false) => return Err(conflict("the patch deletes it, and it has more lines")),
        (false, _) => Some(after),
    };
    let wanted = match patch.is_executable {
        Some(true) => Some(mode.unwrap_or(MODE_NEW) | MODE_EXECUTABLE),
        Some(false) => mode.map(|mode| mode & !MODE_EXECUTABLE),
        None => mode,
    };
    Ok(Patched { content, mode: wanted })
}

/// Reads a file to which a patch applies, and its permission bits.
fn read(
    workspace: &Workspace,
    path: &Path,
    conflict: &dyn Fn(&str) -> ToolFailure,
) -> Result<(Vec<u8>, Option<u32>), ToolFailure> {
    let explain = |error: io::Error| workspace.explain(path, &error);
    let metadata = workspace.tree().metadata(path).map_err(explain)?;
    if metadata.len() > FILE_BYTES_MAX {
        return Err(conflict(&format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    let mut bytes = Vec::new();
    let opened = workspace.tree().open(path);
    opened
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(explain)?;
    Ok((bytes, Some(metadata.mode() & 0o7777)))
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
