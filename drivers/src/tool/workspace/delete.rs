//! `workspace/delete`: deletes a file.
//!
//! INVARIANT: when the call has returned, the name is gone, also after a crash; only a file or a
//! link is deleted.
//! It does not delete directories.
//! Read next: `tool/process.rs`.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::apply::apply;
use super::change::{Change, Replacement, State};
use super::write::previous;
use crate::tool::arguments::{Arguments, dictionary, path};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::interface::{Call, Context, Outcome, Tool};
use crate::tool::returns::Returns;
use crate::tool::undo_log::UndoNote;

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/delete"),
    summary: Cow::Borrowed("deletes a file of the workspace"),
    payload: Cow::Borrowed(&[Field::required("path", Shape::Path, "the file; of a link, the link")]),
    result: Cow::Borrowed(
        "{previous: what was in it, a string or bytevector, or false if it had more than 1 MiB or was a link}",
    ),
    effect: EffectClass::Reversible,
    // A repeated call gets the undo note of its first attempt from the journal.
    idempotent: true,
    timeout_ms: Some(60_000),
    needs: &["fs.write"],
    retry: Retry::NEVER,
    returns: Returns::Fields(&[("previous", Returns::Optional(&Returns::Bytes))]),
    takes_secrets: false,
};

/// The tool.
pub(crate) struct Delete {
    workspace: Arc<Workspace>,
}

impl Delete {
    /// Makes the tool for a workspace.
    pub(crate) fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for Delete {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let named = Arguments::read(&DESCRIPTION, &payload).and_then(|mut read| read.required("path", path));
        let named = match named {
            Ok(named) => self.workspace.inside(named),
            Err(failure) => return Box::pin(async move { Err(failure) }),
        };
        let shown = named.clone();
        let workspace = Arc::clone(&self.workspace);
        let plan = move |workspace: &Workspace| plan(workspace, &named);
        let describe = move |changes: &[Change], recorded: &UndoNote| describe(&workspace, &shown, changes, recorded);
        apply(&self.workspace, context.undo_log, plan, describe)
    }
}

/// Plans nothing if the path does not exist; the journal knows whether an earlier attempt of the
/// call deleted it.
fn plan(workspace: &Workspace, named: &Path) -> Result<Vec<Replacement>, ToolFailure> {
    let resolved = workspace.resolve(named)?;
    match workspace.tree().symlink_metadata(&resolved) {
        Ok(metadata) if !metadata.is_symlink() => workspace.require_file(named, &metadata)?,
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(workspace.explain(named, &error)),
    }
    Ok(vec![workspace.replacement(&resolved, None)?])
}

fn describe(workspace: &Workspace, named: &Path, changes: &[Change], recorded: &UndoNote) -> Outcome {
    let change = changes.first().filter(|change| change.before != State::Absent);
    let change = change.ok_or_else(|| workspace.explain(named, &io::ErrorKind::NotFound.into()))?;
    Ok(dictionary([("previous", previous(change, recorded))]))
}
