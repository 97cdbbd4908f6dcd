//! `manifest.scm`: the program of a folder, its workspace, and its grants.
//!
//! INVARIANT: a manifest grants what it names and nothing else; a mistake in it names the file.
//! It opens no workspace; `world/launch.rs` does.
//! Read next: `world/launch.rs`.

use std::path::Path;

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Datum, Node, NodeId, SourceId};
use duet_kernel::diagnostic::Diagnostic;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::scheme::grants;

use super::{MANIFEST, read_text};
use crate::languages::datum::{list, symbol};
use crate::settings::configuration::servers::check_described;
use crate::text::error::CommandError;
use crate::text::render;

/// The entries of a manifest file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ManifestFile {
    pub(super) program: Option<String>,
    pub(super) workspace: Option<WorkspaceEntry>,
    pub(super) tools: Manifest,
    pub(super) hosts: Vec<String>,
    pub(super) secrets: Vec<String>,
    /// MCP servers: a name, and a URL or the words of a command.
    pub(super) servers: Vec<Vec<String>>,
    pub(super) memory_limit: Option<u64>,
    /// The file of the policy that the program cannot change.
    pub(super) policy: Option<String>,
}

/// What a manifest says about the workspace.
#[derive(Debug, PartialEq)]
pub(super) enum WorkspaceEntry {
    /// The argument at this position, from 1, names it.
    Argument(usize),
    /// This directory, relative to the manifest's folder.
    Directory(String),
}

/// Reads the manifest of a folder.
///
/// # Errors
/// If it cannot be read or has a wrong entry; the error names the file.
pub(super) fn read_manifest(path: &Path) -> Result<ManifestFile, CommandError> {
    if !path.exists() {
        let folder = path.parent().unwrap_or(path).display();
        return Err(
            CommandError::problem(format!("the folder `{folder}` has no `{MANIFEST}`"))
                .advise(FORM)
                .advise("or name a Scheme source file"),
        );
    }
    let text = read_text(path)?;
    let (reading, errors) = read_all(&text, SourceId(0));
    if !errors.is_empty() {
        let diagnostics: Vec<Diagnostic> = errors.into_iter().map(Diagnostic::from).collect();
        let name = path.display().to_string();
        return Err(CommandError::Shown(render::plain_diagnostics(
            &diagnostics,
            &name,
            &text,
        )));
    }
    let wrong = |what: &str| CommandError::problem(format!("`{}`: {what}", path.display())).advise(FORM);
    let [form] = reading.forms[..] else {
        return Err(wrong("a manifest is one datum"));
    };
    let datum = Datum {
        nodes: reading.nodes,
        root: form,
    };
    read_entries(&datum).map_err(|what| wrong(&what))
}

const FORM: &str = "a manifest is ((program \"main.scm\") (workspace \"data\") (tools workspace/read …) \
                    (hosts \"api.example.org\") (secrets API_KEY) (server files \"npx\" …) \
                    (memory-limit \"512M\") (policy \"policy.json\"))";

fn read_entries(datum: &Datum) -> Result<ManifestFile, String> {
    let mut grant = ManifestFile::default();
    for entry in list(datum, datum.root).ok_or("a manifest is a list of entries")? {
        let parts = list(datum, entry).ok_or("an entry is a list that begins with its name")?;
        let (key, rest) = parts
            .split_first()
            .ok_or("an entry is a list that begins with its name")?;
        match (symbol(datum, *key).unwrap_or_default(), rest) {
            ("program", [file]) => grant.program = Some(file_name(datum, *file, "the program")?),
            ("policy", [file]) => grant.policy = Some(file_name(datum, *file, "the policy")?),
            ("workspace", [from]) => grant.workspace = Some(workspace(datum, *from)?),
            ("tools", names) => {
                for name in names {
                    grants::add(&mut grant.tools, datum, *name).map_err(|error| error.to_string())?;
                }
            }
            ("hosts", names) => {
                for name in names {
                    let Node::String(name) = datum.node(*name) else {
                        return Err("a host is a string, such as \"api.example.org\" or \"127.0.0.1:8080\"".to_owned());
                    };
                    grant.hosts.push(name.to_string());
                }
            }
            ("secrets", names) => {
                for name in names {
                    let name = symbol(datum, *name).ok_or("a secret is named by a symbol, such as API_KEY")?;
                    grant.secrets.push(name.to_owned());
                }
            }
            ("server", words) => grant.servers.push(server(datum, words)?),
            ("memory-limit", [size]) => grant.memory_limit = Some(memory_limit(datum, *size)?),
            (key @ ("program" | "workspace" | "memory-limit" | "policy"), _) => {
                return Err(format!("`{key}` takes one thing"));
            }
            (key, _) => {
                return Err(format!(
                    "`{key}` is none of program, workspace, tools, hosts, secrets, server, memory-limit, policy"
                ));
            }
        }
    }
    if grant.program.is_none() {
        return Err("the program is missing".to_owned());
    }
    Ok(grant)
}

/// A file of the manifest's own folder, so that a folder can be moved whole.
fn file_name(datum: &Datum, id: NodeId, what: &str) -> Result<String, String> {
    if let Node::String(file) = datum.node(id)
        && Path::new(&**file).is_relative()
        && !file.split('/').any(|part| part == "..")
    {
        return Ok(file.to_string());
    }
    Err(format!("{what} is a string: the path of a file in this folder"))
}

/// An MCP server: its name, and strings.
fn server(datum: &Datum, words: &[NodeId]) -> Result<Vec<String>, String> {
    let (name, rest) = words.split_first().ok_or("a server has a name")?;
    let name = symbol(datum, *name).ok_or("a server is named by a symbol, such as files")?;
    let mut all = vec![name.to_owned()];
    for word in rest {
        let Node::String(word) = datum.node(*word) else {
            return Err(format!(
                "behind the name of the server `{name}` stand strings: its URL, or its command and the arguments"
            ));
        };
        all.push(word.to_string());
    }
    check_described(&all)?;
    Ok(all)
}

fn memory_limit(datum: &Datum, id: NodeId) -> Result<u64, String> {
    if let Node::String(size) = datum.node(id) {
        read_size(size)
    } else {
        Err("a memory limit is a string, such as \"512M\"".to_owned())
    }
}

/// The least memory of a run in bytes; its libraries alone take more than a hundredth of it.
const SIZE_MIN: u64 = 16 << 20;

/// Reads a size in bytes, such as `512M`, `2G` or `67108864`.
///
/// # Errors
/// Why it is none, or too small.
pub(crate) fn read_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write a number of bytes, or one with K, M or G, such as 512M");
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err(wrong()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match bytes.ok_or_else(wrong)? {
        bytes if bytes < SIZE_MIN => Err(format!("`{text}` is too little: a run needs at least 16M")),
        bytes => Ok(bytes),
    }
}

fn workspace(datum: &Datum, id: NodeId) -> Result<WorkspaceEntry, String> {
    let wrong = || "the workspace is (argument N), N from 1, or a string: the path of a directory".to_owned();
    if let Node::String(path) = datum.node(id) {
        let is_one = !path.is_empty();
        return is_one
            .then(|| WorkspaceEntry::Directory(path.to_string()))
            .ok_or_else(wrong);
    }
    let parts = list(datum, id).ok_or_else(wrong)?;
    if let [word, number] = parts[..]
        && symbol(datum, word) == Some("argument")
        && let Node::Number(number) = datum.node(number)
    {
        let position = number.to_string().parse().ok().filter(|number| *number > 0);
        return position.map(WorkspaceEntry::Argument).ok_or_else(wrong);
    }
    Err(wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<ManifestFile, &str>) {
        let (reading, errors) = read_all(text, SourceId(0));
        assert!(errors.is_empty(), "{text}: {errors:?}");
        let datum = Datum {
            nodes: reading.nodes,
            root: reading.forms[0],
        };
        assert_eq!(read_entries(&datum), expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn a_manifest_grants_what_it_names() {
        let grant = ManifestFile {
            program: Some("a.scm".to_owned()),
            workspace: Some(WorkspaceEntry::Argument(2)),
            tools: Manifest::of(&["workspace/read", "process/run"]),
            hosts: vec!["a.example:80".to_owned()],
            secrets: vec!["API_KEY".to_owned()],
            servers: vec![vec!["files".to_owned(), "serve".to_owned(), "-x".to_owned()]],
            memory_limit: Some(64 << 20),
            policy: Some("p.json".to_owned()),
        };
        check(
            r#"((program "a.scm") (workspace (argument 2)) (tools workspace/read process/run)
                (hosts "a.example:80") (secrets API_KEY) (server files "serve" "-x")
                (memory-limit "64M") (policy "p.json"))"#,
            Ok(grant),
        );
        check("((tools))", Err("the program is missing"));
        check(
            r#"((program "a.scm") (tools dataspace/asert))"#,
            Err("`dataspace/asert` is none of dataspace/observe, dataspace/assert, dataspace/message, dataspace/*"),
        );
        check(
            r#"((program "a.scm") (tools 7))"#,
            Err("a grant is a name, or a right with patterns such as (dataspace/observe (pattern (job $_)))"),
        );
        check(
            r#"((program "../a.scm"))"#,
            Err("the program is a string: the path of a file in this folder"),
        );
        check(
            r#"((program "/a.scm"))"#,
            Err("the program is a string: the path of a file in this folder"),
        );
        check(r#"((program "a" "b"))"#, Err("`program` takes one thing"));
        check(
            r#"((program "a") (workspace "../data"))"#,
            Ok(ManifestFile {
                program: Some("a".to_owned()),
                workspace: Some(WorkspaceEntry::Directory("../data".to_owned())),
                ..ManifestFile::default()
            }),
        );
        check(
            r#"((program "a") (workspace here))"#,
            Err("the workspace is (argument N), N from 1, or a string: the path of a directory"),
        );
        check(
            r#"((program "a") (workspace (argument 0)))"#,
            Err("the workspace is (argument N), N from 1, or a string: the path of a directory"),
        );
        check(
            r#"((programm "a"))"#,
            Err("`programm` is none of program, workspace, tools, hosts, secrets, server, memory-limit, policy"),
        );
        check("#0=((tools) . #0#)", Err("a manifest is a list of entries"));
        check("program", Err("a manifest is a list of entries"));
    }

    #[test]
    fn a_size_is_a_number_with_a_unit() {
        for (text, bytes) in [
            ("67108864", 64 << 20),
            ("64M", 64 << 20),
            ("64mb", 64 << 20),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(read_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "2X", "-2G", "1.5G", "99999999999G", "è"] {
            assert!(read_size(text).is_err_and(|why| why.contains("is no size")), "{text}");
        }
        assert!(read_size("1M").is_err_and(|why| why.contains("at least 16M")));
    }
}
