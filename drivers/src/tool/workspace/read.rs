//! `workspace/read`: the content of a file.
//!
//! INVARIANT: it returns at most [`READ_BYTES_MAX`] bytes; it refuses a longer range, and never
//! cuts one silently.
//! It does not guess encodings: UTF-8 becomes a string, other bytes a bytevector.
//! Read next: `tool/workspace/list.rs`.

use std::io::{self, Read as _, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use duet_runtime::model::counted::counted;
use preserves::IOValue;

use super::Workspace;
use super::shape::ReadingTool;
use crate::tool::arguments::{Arguments, content, count, dictionary, integer, path, path_value};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

/// The maximum length that one call may return, in bytes.
pub(crate) const READ_BYTES_MAX: u64 = 8 << 20;

const PAYLOAD: &[Field] = &[
    Field::required("path", Shape::Path, "the file"),
    Field::optional("offset", Shape::Count, "the byte to begin with; without it 0"),
    Field::optional(
        "length",
        Shape::Count,
        "how many bytes at most; without it all that follow",
    ),
];

static DESCRIPTION: Description = Description::pure(
    "workspace/read",
    "reads a file of the workspace, whole or a range of its bytes, at most 8 MiB",
    PAYLOAD,
    Answer::new(
        "{content: a string if the bytes are UTF-8, else a bytevector; size_bytes: the whole file's size; \
         next: the offset to read on from, or false at the end}; a range does not end inside a character",
        Returns::Fields(&[
            ("content", Returns::Bytes),
            ("size_bytes", Returns::Integer),
            ("next", Returns::Optional(&Returns::Integer)),
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
        read,
    }
}

fn read(workspace: &Workspace, payload: &IOValue, secrets: &Secrets) -> Outcome {
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let path = workspace.inside(arguments.required("path", path)?);
    let offset = arguments.optional("offset", count)?.unwrap_or(0);
    let length = arguments.optional("length", count)?;
    let explain = |error: io::Error| workspace.explain(&path, &error);

    // Checked before it is opened, because opening a named pipe waits for its other end.
    workspace.require_file(&path, &workspace.tree().metadata(&path).map_err(explain)?)?;
    let mut file = workspace.tree().open(&path).map_err(explain)?;
    let metadata = file.metadata().map_err(explain)?;
    workspace.require_file(&path, &metadata)?;

    let size_bytes = metadata.len();
    let wanted_bytes = range(&path, size_bytes, offset, length)?;
    // Bytes around the range show whether it cuts a secret.
    let margin = secrets.longest_bytes().saturating_sub(1) as u64;
    let before = margin.min(offset);
    file.seek(SeekFrom::Start(offset - before)).map_err(explain)?;
    let mut bytes = Vec::new();
    let around_bytes = before + wanted_bytes + margin;
    file.take(around_bytes).read_to_end(&mut bytes).map_err(explain)?;
    let bytes = within(&path, bytes, before..before + wanted_bytes, secrets)?;

    let is_cut = offset + (bytes.len() as u64) < size_bytes;
    let (content, taken_bytes) = content(bytes, is_cut);
    let end = offset + taken_bytes as u64;
    let next = if end < size_bytes {
        integer(end)
    } else {
        IOValue::new(false)
    };
    Ok(dictionary([
        ("content", content),
        ("size_bytes", integer(size_bytes)),
        ("next", next),
    ]))
}

/// Takes a range of bytes, unless a secret goes across an end.
fn within(
    path: &Path,
    mut bytes: Vec<u8>,
    range: Range<u64>,
    secrets: &Secrets,
) -> Result<Vec<u8>, duet_runtime::driver::ToolFailure> {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = (place(range.start), place(range.end));
    if let Some(name) = secrets.cut_by(&bytes, &[start, end]) {
        let message = format!(
            "the range of `{}` begins or ends inside {name}; read the file whole, or another range",
            path.display()
        );
        return Err(Kind::Denied.with(message, [("path", path_value(path))]));
    }
    bytes.truncate(end);
    Ok(bytes.split_off(start))
}

/// Returns how many bytes to read of a file of `size_bytes`.
fn range(
    path: &Path,
    size_bytes: u64,
    offset: u64,
    length: Option<u64>,
) -> Result<u64, duet_runtime::driver::ToolFailure> {
    let shown = path.display();
    let Some(left_bytes) = size_bytes.checked_sub(offset) else {
        let message = format!(
            "offset {offset} is beyond the end of `{shown}`, which has {}",
            counted(size_bytes, "byte")
        );
        return Err(Kind::BadArgument.with(
            message,
            [
                ("field", IOValue::symbol("offset")),
                ("size-bytes", integer(size_bytes)),
            ],
        ));
    };
    let wanted_bytes = length.map_or(left_bytes, |length| length.min(left_bytes));
    if wanted_bytes > READ_BYTES_MAX {
        let message = format!(
            "`{shown}`: {wanted_bytes} bytes are more than the {READ_BYTES_MAX} one call returns; \
             read it in pieces, with `offset` and `length`"
        );
        let details = [
            ("path", path_value(path)),
            ("size-bytes", integer(size_bytes)),
            ("limit-bytes", integer(READ_BYTES_MAX)),
        ];
        return Err(Kind::OutputLimit.with(message, details));
    }
    Ok(wanted_bytes)
}
