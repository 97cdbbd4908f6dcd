//! `workspace/exists`: whether there is something at a path.
//!
//! INVARIANT: the answer is no only if there is nothing; whoever may not look, or asks outside the root, is refused.
//! It does not say what is there.
//! Read next: `tool/workspace/delete.rs`.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use preserves::IOValue;

use super::Workspace;
use crate::tool::arguments::{Arguments, path};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::{Call, Context, Outcome, Tool, blocking};

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/exists"),
    summary: Cow::Borrowed("says whether there is a file or directory at a path of the workspace"),
    payload: Cow::Borrowed(&[Field::required(
        "path",
        Shape::Path,
        "where to look; a link is followed",
    )]),
    result: Cow::Borrowed("true or false"),
    effect: EffectClass::Pure,
    idempotent: true,
    timeout_ms: Some(60_000),
    needs: &["fs.read"],
    retry: Retry::NEVER,
    takes_secrets: false,
};

/// The tool.
pub struct Exists {
    workspace: Arc<Workspace>,
}

impl Exists {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for Exists {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        let workspace = Arc::clone(&self.workspace);
        blocking(move || exists(&workspace, &payload))
    }
}

fn exists(workspace: &Workspace, payload: &IOValue) -> Outcome {
    let path = workspace.inside(Arguments::read(&DESCRIPTION, payload)?.required("path", path)?);
    match workspace.dir().metadata(&path) {
        Ok(_) => Ok(IOValue::new(true)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(IOValue::new(false))
        }
        Err(error) => Err(workspace.explain(&path, &error)),
    }
}
