//! The two shapes of workspace tools: one reads, the other plans replacements and describes them.
//!
//! INVARIANT: a reading tool changes no file.
//! It does not know what a tool does; each tool's file does.
//! Read next: `apply.rs`.

use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::apply::apply;
use super::change::{Change, Replacement};
use crate::tool::description::Description;
use crate::tool::interface::{Call, Context, Outcome, Tool, blocking};
use crate::tool::secret::Secrets;
use crate::tool::undo_log::UndoNote;

/// A tool that reads the workspace.
pub struct ReadingTool {
    pub(super) description: &'static Description,
    pub(super) workspace: Arc<Workspace>,
    pub(super) read: fn(&Workspace, &IOValue, &Secrets) -> Outcome,
}

impl Tool for ReadingTool {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let (workspace, read) = (Arc::clone(&self.workspace), self.read);
        blocking(move || read(&workspace, &payload, &context.secrets))
    }
}

/// A tool that replaces files of the workspace.
pub struct WritingTool {
    pub(super) description: &'static Description,
    pub(super) workspace: Arc<Workspace>,
    pub(super) plan: fn(&Workspace, &IOValue) -> Result<Vec<Replacement>, ToolFailure>,
    pub(super) describe: fn(&[Change], &UndoNote) -> Outcome,
}

impl Tool for WritingTool {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let plan = self.plan;
        let plan = move |workspace: &Workspace| plan(workspace, &payload);
        apply(&self.workspace, context.undo_log, plan, self.describe)
    }
}
