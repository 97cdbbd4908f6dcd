//! `workspace/delete`: a file's end.
//!
//! INVARIANT: when the call has returned, the name is gone, also after a crash; nothing but a file or a link is ever deleted.
//! It does not delete directories.
//! Read next: `tool/process.rs`.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use preserves::IOValue;

use super::Workspace;
use super::write::PREVIOUS_BYTES_MAX;
use crate::tool::arguments::{Arguments, content, dictionary, path};
use crate::tool::{Call, Context, Description, EffectClass, Field, Outcome, Tool, blocking};

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/delete"),
    summary: Cow::Borrowed("deletes a file of the workspace"),
    payload: Cow::Borrowed(&[Field::required(
        "path",
        "a path inside the workspace, a string",
        "the file; of a link, the link",
    )]),
    result: Cow::Borrowed(
        "{previous: what was in it, a string or bytevector, or false if it had more than 1 MiB or was a link}",
    ),
    effect: EffectClass::Compensable,
    // A second call finds nothing to delete.
    idempotent: false,
    timeout_ms: Some(60_000),
};

/// The tool.
pub struct Delete {
    workspace: Arc<Workspace>,
}

impl Delete {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for Delete {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        let workspace = Arc::clone(&self.workspace);
        blocking(move || delete(&workspace, &payload))
    }
}

fn delete(workspace: &Workspace, payload: &IOValue) -> Outcome {
    let named = Arguments::read(&DESCRIPTION, payload)?.required("path", path)?;
    let explain = |error: io::Error| workspace.explain(&named, &error);
    let dir = workspace.dir();
    let metadata = dir.symlink_metadata(&named).map_err(explain)?;
    let mut previous = None;
    if !metadata.is_symlink() {
        workspace.require_file(&named, &metadata)?;
        if metadata.len() <= PREVIOUS_BYTES_MAX {
            let mut bytes = Vec::new();
            let mut file = dir.open(&named).map_err(explain)?;
            file.read_to_end(&mut bytes).map_err(explain)?;
            previous = Some(content(bytes, false).0);
        }
    }
    dir.remove_file(&named).map_err(explain)?;
    let parent = named.parent().filter(|parent| !parent.as_os_str().is_empty());
    // The name is gone from the disk only when the directory that held it is there without it.
    dir.open(parent.unwrap_or(Path::new(".")))
        .and_then(|home| home.sync_all())
        .map_err(explain)?;
    Ok(dictionary([(
        "previous",
        previous.unwrap_or_else(|| IOValue::new(false)),
    )]))
}
