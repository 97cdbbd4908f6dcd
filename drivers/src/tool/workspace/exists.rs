//! `workspace/exists`: whether a path exists.
//!
//! INVARIANT: the answer is false only if the path does not exist; a missing permission or a path
//! outside the root is a failure.
//! It does not say what kind of file it is; `stat.rs` does.
//! Read next: `tool/workspace/delete.rs`.

use std::io;
use std::sync::Arc;

use preserves::IOValue;

use super::Workspace;
use super::shape::ReadingTool;
use crate::tool::arguments::{Arguments, path};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

const PAYLOAD: &[Field] = &[Field::required(
    "path",
    Shape::Path,
    "where to look; a link is followed",
)];

static DESCRIPTION: Description = Description::pure(
    "workspace/exists",
    "says whether there is a file or directory at a path of the workspace",
    PAYLOAD,
    Answer::new("true or false", Returns::Flag),
)
.needing(&["fs.read"])
.within_ms(60_000);

/// Makes the tool for a workspace.
pub(crate) fn tool(workspace: Arc<Workspace>) -> ReadingTool {
    ReadingTool {
        description: &DESCRIPTION,
        workspace,
        read: exists,
    }
}

fn exists(workspace: &Workspace, payload: &IOValue, _: &Secrets) -> Outcome {
    let path = workspace.inside(Arguments::read(&DESCRIPTION, payload)?.required("path", path)?);
    match workspace.tree().metadata(&path) {
        Ok(_) => Ok(IOValue::new(true)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(IOValue::new(false))
        }
        Err(error) => Err(workspace.explain(&path, &error)),
    }
}
