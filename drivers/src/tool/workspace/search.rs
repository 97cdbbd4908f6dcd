//! `workspace/search`: finds the lines of files that match a pattern.
//!
//! INVARIANT: matching takes time linear in the bytes read, whatever the pattern; matches are
//! sorted by path and line.
//! It does not search binary files: it skips and counts files that contain a zero byte or are too
//! large to be read whole.
//! Read next: `tool/workspace/write.rs`.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;
use regex::bytes::{Regex, RegexBuilder};

use super::Workspace;
use super::list::{Entry, ListOptions, entries};
use super::read::READ_BYTES_MAX;
use super::shape::ReadingTool;
use crate::tool::arguments::{Arguments, boolean, content, dictionary, integer, path, path_value, positive, string};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

const MATCHES_MAX: u64 = 1_000;

/// The maximum number of files in a search.
const FILES_MAX: u64 = 100_000;

/// The maximum length of a line in a result, in bytes.
const LINE_BYTES_MAX: usize = 1_000;

/// The maximum memory of a compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

const PAYLOAD: &[Field] = &[
    Field::required(
        "pattern",
        Shape::Text,
        "a regular expression, or with `literal` the text itself",
    ),
    Field::optional(
        "path",
        Shape::Path,
        "the file or directory to search; without it the root",
    ),
    Field::optional(
        "literal",
        Shape::Flag,
        "whether the pattern is text and no expression; without it it is not",
    ),
    Field::optional(
        "ignore_case",
        Shape::Flag,
        "whether case does not matter; without it it does",
    ),
    Field::optional(
        "all",
        Shape::Flag,
        "whether hidden files, what `.gitignore` files name, `target` and `node_modules` are searched; \
             without it they are not",
    ),
    Field::optional(
        "limit",
        Shape::Positive,
        "how many lines may be returned; without it 1,000",
    ),
];

static DESCRIPTION: Description = Description::pure(
    "workspace/search",
    "finds the lines of files in the workspace that match a pattern",
    PAYLOAD,
    Answer::new(
        "{matches: a list of {path: string, line: the number from 1, column: the first matching byte from 1, \
         text: the line}; truncated: whether there are more; skipped: how many files are no text or too large}",
        Returns::Fields(&[
            (
                "matches",
                Returns::List(&Returns::Fields(&[
                    ("path", Returns::Bytes),
                    ("line", Returns::Integer),
                    ("column", Returns::Integer),
                    ("text", Returns::Bytes),
                ])),
            ),
            ("truncated", Returns::Flag),
            ("skipped", Returns::Integer),
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
        read: search,
    }
}

/// The matches so far.
#[derive(Default)]
struct Matches {
    matches: Vec<IOValue>,
    is_truncated: bool,
    skipped: u64,
}

fn search(workspace: &Workspace, payload: &IOValue, secrets: &Secrets) -> Outcome {
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let pattern = arguments.required("pattern", string)?;
    let is_literal = arguments.optional("literal", boolean)?.unwrap_or(false);
    let is_caseless = arguments.optional("ignore_case", boolean)?.unwrap_or(false);
    let pattern = expression(&pattern, is_literal, is_caseless)?;
    let start = arguments.optional("path", path)?;
    let start = start.map_or_else(|| PathBuf::from("."), |start| workspace.inside(start));
    let options = ListOptions {
        is_recursive: true,
        is_all: arguments.optional("all", boolean)?.unwrap_or(false),
        limit: FILES_MAX,
    };
    let limit = arguments.optional("limit", positive)?.unwrap_or(MATCHES_MAX);
    let mut found = Matches::default();
    for path in files(workspace, &start, &options)? {
        if found.is_truncated {
            break;
        }
        match text(workspace, &path) {
            // A pattern must not find out about a secret, nor a line end in the middle of one.
            Ok(Some(bytes)) => found.look(&pattern, &path, &secrets.mask_bytes(&bytes), limit),
            Ok(None) => found.skipped += 1,
            // A file that vanishes during the search is left out.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path != start => {}
            Err(error) => return Err(workspace.explain(&path, &error)),
        }
    }
    Ok(dictionary([
        ("matches", IOValue::new(found.matches)),
        ("truncated", IOValue::new(found.is_truncated)),
        ("skipped", integer(found.skipped)),
    ]))
}

fn expression(pattern: &str, is_literal: bool, is_caseless: bool) -> Result<Regex, ToolFailure> {
    let source = if is_literal {
        regex::escape(pattern)
    } else {
        pattern.to_owned()
    };
    let built = RegexBuilder::new(&source)
        .case_insensitive(is_caseless)
        .size_limit(PATTERN_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let message = format!(
            "field `pattern` of {}: {error}; with `literal` it is searched for as it is",
            DESCRIPTION.name
        );
        Kind::BadArgument.with(message, [("field", IOValue::symbol("pattern"))])
    })
}

/// Lists the files to search, sorted by path.
fn files(workspace: &Workspace, start: &Path, options: &ListOptions) -> Result<Vec<PathBuf>, ToolFailure> {
    let metadata = workspace
        .tree()
        .metadata(start)
        .map_err(|error| workspace.explain(start, &error))?;
    if metadata.is_file() {
        return Ok(vec![start.to_owned()]);
    }
    let is_file = |entry: &Entry| entry.kind == "file";
    let entries = entries(workspace, start, options)?;
    Ok(entries.into_iter().filter(is_file).map(|entry| entry.path).collect())
}

/// Reads a file; returns nothing if it is not text or is too large.
fn text(workspace: &Workspace, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    workspace
        .tree()
        .open(path)?
        .take(READ_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    let is_text = bytes.len() as u64 <= READ_BYTES_MAX && !bytes.contains(&0);
    Ok(is_text.then_some(bytes))
}

impl Matches {
    /// Adds the matching lines of a file, one match for each.
    fn look(&mut self, pattern: &Regex, path: &Path, bytes: &[u8], limit: u64) {
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(first) = pattern.find(line) else { continue };
            if self.matches.len() as u64 >= limit {
                self.is_truncated = true;
                return;
            }
            let shown = line.get(..LINE_BYTES_MAX).unwrap_or(line).to_vec();
            self.matches.push(dictionary([
                ("path", path_value(path)),
                ("line", integer(number)),
                ("column", integer(first.start() as u64 + 1)),
                ("text", content(shown, line.len() > LINE_BYTES_MAX).0),
            ]));
        }
    }
}
