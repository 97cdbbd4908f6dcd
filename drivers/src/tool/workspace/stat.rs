//! `workspace/stat`: the kind, size and permissions of a file.
//!
//! INVARIANT: it describes a link itself, never the file that the link names.
//! It does not read contents.
//! Read next: `tool/workspace/search.rs`.

use std::io;
use std::sync::Arc;

use cap_std::fs::{Metadata, PermissionsExt as _};
use cap_std::time::SystemTime;
use preserves::IOValue;

use super::Workspace;
use super::list::kind;
use super::shape::ReadingTool;
use crate::tool::arguments::{Arguments, dictionary, integer, path, path_value};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

/// The permission bits.
const MODE_MASK: u32 = 0o7777;

const PAYLOAD: &[Field] = &[Field::required(
    "path",
    Shape::Path,
    "where to look; of a link, the link",
)];

static DESCRIPTION: Description = Description::pure(
    "workspace/stat",
    "says what is at a path of the workspace: its kind, size, permissions and age",
    PAYLOAD,
    Answer::new(
        "{kind: file | directory | symlink | other; size_bytes: integer; mode: the permission bits, an integer; \
         modified_ms: when it was last changed, milliseconds since 1970; target: what a link names, else false}",
        Returns::Fields(&[
            ("kind", Returns::Symbol(&["file", "directory", "symlink", "other"])),
            ("size_bytes", Returns::Integer),
            ("mode", Returns::Integer),
            ("modified_ms", Returns::Integer),
            ("target", Returns::Optional(&Returns::Bytes)),
        ]),
    ),
)
.needing(&["fs.read"])
.within_ms(60_000);

/// Makes the tool for a workspace.
pub(crate) fn tool(workspace: Arc<Workspace>) -> ReadingTool {
    ReadingTool {
        description: &DESCRIPTION,
        workspace,
        read: stat,
    }
}

fn stat(workspace: &Workspace, payload: &IOValue, _: &Secrets) -> Outcome {
    let named = workspace.inside(Arguments::read(&DESCRIPTION, payload)?.required("path", path)?);
    let explain = |error: io::Error| workspace.explain(&named, &error);
    let metadata = workspace.tree().symlink_metadata(&named).map_err(explain)?;
    let target = match metadata.is_symlink() {
        true => path_value(&workspace.tree().read_link(&named).map_err(explain)?),
        false => IOValue::new(false),
    };
    let kind = kind(metadata.file_type());
    Ok(dictionary([
        ("kind", IOValue::symbol(kind)),
        ("size_bytes", integer(if kind == "file" { metadata.len() } else { 0 })),
        ("mode", integer(u64::from(metadata.permissions().mode() & MODE_MASK))),
        ("modified_ms", integer(modified_ms(&metadata).map_err(explain)?)),
        ("target", target),
    ]))
}

/// Returns the time of the last change, in milliseconds since 1970; 0 for an earlier one.
pub(super) fn modified_ms(metadata: &Metadata) -> io::Result<u64> {
    let since = metadata
        .modified()?
        .duration_since(SystemTime::from_std(std::time::UNIX_EPOCH));
    Ok(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}
