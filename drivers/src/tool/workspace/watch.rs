//! `workspace/watch`: waits until a directory differs from what the program has seen of it.
//!
//! The program says what it has seen, so that nothing is kept between calls: a run that goes on in
//! another process asks again and learns what changed meanwhile.
//! (Rejected: the events of the operating system. They differ between systems, get lost when a
//! queue is full or nobody runs, and would have to be compared with a listing all the same.)
//! INVARIANT: a result differs from `seen`; a change is noticed within a second or so, unless
//! another one undoes it.
//! It does not read contents. Read next: `tool/workspace/list.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use preserves::{IOValue, ValueImpl};
use tokio::time::sleep;

use super::Workspace;
use super::list::{Entry, ListOptions, entries};
use crate::tool::arguments::{Arguments, boolean, dictionary, integer, path, path_value};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::interface::{Call, Context, Outcome, Tool, off_thread};
use crate::tool::returns::Returns;

/// The time between two looks, by default.
const PERIOD: Duration = Duration::from_millis(500);

/// The maximum number of entries, which is also how much a look costs.
const ENTRIES_MAX: u64 = 2_000;

const PAYLOAD: &[Field] = &[
    Field::required("seen", Shape::Values, "the last result, or an empty list"),
    Field::optional("path", Shape::Path, "the directory; without it the root"),
    Field::optional(
        "recursive",
        Shape::Flag,
        "whether directories in it are watched too; without it they are not",
    ),
];

static DESCRIPTION: Description = Description::pure(
    "workspace/watch",
    "waits until the files of a directory in the workspace are others than a program has seen",
    PAYLOAD,
    Answer::new(
        "a list of {path: string, kind: file | directory | symlink | other, size_bytes: integer, modified_ms: when \
         it was last changed, milliseconds since 1970}, without hidden entries and those of `.gitignore`",
        Returns::List(&Returns::Fields(&[
            ("path", Returns::Bytes),
            ("kind", Returns::Symbol(&["file", "directory", "symlink", "other"])),
            ("size_bytes", Returns::Integer),
            ("modified_ms", Returns::Integer),
        ])),
    ),
)
.needing(&["fs.read"]);

/// The tool.
pub(crate) struct Watch {
    workspace: Arc<Workspace>,
}

impl Watch {
    /// Makes the tool for a workspace.
    pub(crate) fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for Watch {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn waits(&self) -> bool {
        true
    }

    fn call(&self, payload: IOValue, _: Context) -> Call {
        let workspace = Arc::clone(&self.workspace);
        Box::pin(async move {
            let mut arguments = Arguments::read(&DESCRIPTION, &payload)?;
            let seen = arguments.required("seen", |seen| seen.is_sequence().then(|| seen.clone()))?;
            let start = arguments.optional("path", path)?;
            let start = start.map_or_else(|| PathBuf::from("."), |start| workspace.inside(start));
            let is_recursive = arguments.optional("recursive", boolean)?.unwrap_or(false);
            loop {
                let (workspace, start) = (Arc::clone(&workspace), start.clone());
                let found = off_thread(move || look(&workspace, &start, is_recursive)).await?;
                if found != seen {
                    return Ok(found);
                }
                sleep(PERIOD).await;
            }
        })
    }
}

fn look(workspace: &Workspace, start: &Path, is_recursive: bool) -> Outcome {
    let options = ListOptions {
        is_recursive,
        is_all: false,
        limit: ENTRIES_MAX,
    };
    let entries = entries(workspace, start, &options)?;
    Ok(IOValue::new(entries.iter().map(value).collect::<Vec<_>>()))
}

fn value(entry: &Entry) -> IOValue {
    dictionary([
        ("path", path_value(&entry.path)),
        ("kind", IOValue::symbol(entry.kind)),
        ("size_bytes", integer(entry.size_bytes)),
        // The age of a directory says no more than its entries.
        (
            "modified_ms",
            integer(if entry.kind == "file" { entry.modified_ms } else { 0 }),
        ),
    ])
}
