//! `workspace/write`: replaces the whole content of a file.
//!
//! INVARIANT: every reader, also after a crash, sees the old content or the new one, never a
//! mixture; when the call has returned, the new content is on disk and the old one in the journal.
//! It does not append or change parts; `workspace/patch` does.
//! Read next: `tool/workspace/apply.rs`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::change::{Change, Replacement, content_of};
use super::shape::WritingTool;
use crate::tool::arguments::{Arguments, bytes, content, dictionary, integer, path, path_value};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::undo_log::UndoNote;

/// The maximum length of previous content that a result contains, in bytes.
pub(crate) const PREVIOUS_BYTES_MAX: u64 = 1 << 20;

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/write"),
    summary: Cow::Borrowed("replaces a file of the workspace, or makes it and the directories above it, in one step"),
    payload: Cow::Borrowed(&[
        Field::required("path", Shape::Path, "the file"),
        Field::required(
            "content",
            Shape::Bytes,
            "all that will be in it; a string is written as UTF-8",
        ),
    ]),
    result: Cow::Borrowed(
        "{size_bytes: integer; changed: false if the file already had this content; \
         previous: what was in it, a string or bytevector, or false if it did not exist or had more than 1 MiB}",
    ),
    effect: EffectClass::Reversible,
    idempotent: true,
    timeout_ms: Some(60_000),
    needs: &["fs.write"],
    retry: Retry::NEVER,
    returns: Returns::Fields(&[
        ("size_bytes", Returns::Integer),
        ("changed", Returns::Flag),
        ("previous", Returns::Optional(&Returns::Bytes)),
    ]),
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
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let named = workspace.inside(arguments.required("path", path)?);
    let new = arguments.required("content", bytes)?;
    Ok(vec![workspace.replacement(&target(workspace, &named)?, Some(new))?])
}

/// Finds the file to write: if the path ends in a link, the file that the link names.
///
/// # Errors
/// If it is no regular file or is read-only, or leads outside the root.
pub(crate) fn target(workspace: &Workspace, named: &Path) -> Result<PathBuf, ToolFailure> {
    let explain = |error: io::Error| workspace.explain(named, &error);
    let mut resolved = workspace.resolve(named)?;
    if resolved.file_name().is_none() {
        return Err(Kind::BadArgument.with(
            format!("`{}` does not name a file", named.display()),
            [("path", path_value(named))],
        ));
    }
    let metadata = match workspace.tree().symlink_metadata(&resolved) {
        Ok(metadata) if metadata.is_symlink() => {
            resolved = workspace.tree().canonicalize(&resolved).map_err(explain)?;
            workspace.tree().metadata(&resolved).map_err(explain)?
        }
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(resolved),
        Err(error) => return Err(explain(error)),
    };
    workspace.require_file(named, &metadata)?;
    if metadata.permissions().readonly() {
        return Err(Kind::Denied.with(
            format!("`{}` is read-only", named.display()),
            [("path", path_value(named))],
        ));
    }
    Ok(resolved)
}

fn describe(changes: &[Change], recorded: &UndoNote) -> Outcome {
    let change = changes
        .first()
        .ok_or_else(|| Kind::Failed.because("the journal has lost what was written"))?;
    let size_bytes = content_of(&change.after, recorded).map_or(0, <[u8]>::len);
    Ok(dictionary([
        ("size_bytes", integer(size_bytes as u64)),
        ("changed", IOValue::new(!change.before.is_like(&change.after))),
        ("previous", previous(change, recorded)),
    ]))
}

/// Returns a file's previous content, or false if that is too long for a result.
pub(crate) fn previous(change: &Change, recorded: &UndoNote) -> IOValue {
    let bytes = content_of(&change.before, recorded).filter(|bytes| bytes.len() as u64 <= PREVIOUS_BYTES_MAX);
    bytes.map_or_else(|| IOValue::new(false), |bytes| content(bytes.to_vec(), false).0)
}
