//! Tests of reading, writing and listing files, and of every path that leads outside the root.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step of a test is its failure"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use preserves::ValueImpl;
use tempfile::TempDir;

use super::*;
use crate::tool::interface::{Context, Outcome, Tool};

mod finding;
mod journal;

/// A root directory inside a directory with a secret beside it.
struct Place {
    around: TempDir,
}

impl Place {
    fn new() -> Self {
        let around = TempDir::new().expect("a directory");
        fs::create_dir(around.path().join("root")).expect("root");
        fs::write(around.path().join("secret"), "secret").expect("secret");
        Self { around }
    }

    fn root(&self) -> PathBuf {
        self.around.path().join("root").canonicalize().expect("root")
    }

    fn file(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("parent");
        fs::write(path, bytes).expect("file");
        self
    }

    fn call(&self, tool: &str, payload: &str) -> Outcome {
        self.call_with(tool, payload.parse().expect("a value"))
    }

    fn call_with(&self, tool: &str, payload: IOValue) -> Outcome {
        let root = self.root();
        let workspace = Workspace::open(&root).and_then(|opened| opened.keep_out_of(&root.join("named.sqlite")));
        let workspace = Arc::new(workspace.expect("workspace"));
        let tool: Box<dyn Tool> = match tool {
            "list" => Box::new(list::tool(workspace)),
            "read" => Box::new(read::tool(workspace)),
            "exists" => Box::new(exists::tool(workspace)),
            "delete" => Box::new(delete::Delete::new(workspace)),
            "patch" => Box::new(patch::tool(workspace)),
            "search" => Box::new(search::tool(workspace)),
            "stat" => Box::new(stat::tool(workspace)),
            "watch" => Box::new(watch::Watch::new(workspace)),
            _ => Box::new(write::tool(workspace)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("runtime");
        let returns = tool.description().returns;
        let outcome = runtime.block_on(async move {
            tool.call(
                payload,
                Context {
                    key: "k".to_owned(),
                    tool: String::new(),
                    ..Context::default()
                },
            )
            .await
        });
        let complaint = outcome.as_ref().ok().and_then(|value| returns.check(value).err());
        assert_eq!(complaint, None, "a result fits the tool's description");
        outcome
    }

    #[track_caller]
    fn check(&self, tool: &str, payload: &str, expected: &str) {
        let outcome = self
            .call(tool, payload)
            .unwrap_or_else(|failure| panic!("{payload}: {failure:?}"));
        assert_eq!(outcome, expected.parse().expect("a value"), "{tool} {payload}");
    }

    /// Checks kind and message; `ROOT` stands for the root's path.
    #[track_caller]
    fn check_refused(&self, tool: &str, payload: &str, kind: &str, message: &str) {
        let failure = self.call(tool, payload).expect_err(payload);
        let message = message.replace("ROOT", &self.root().display().to_string());
        assert_eq!(
            (failure.kind.as_str(), failure.message),
            (kind, message),
            "{tool} {payload}"
        );
    }
}

#[test]
fn a_file_is_read_whole_or_in_part() {
    let place = Place::new();
    place
        .file("a.txt", "häuser\n")
        .file("d/b", b"\xff\x00")
        .file("empty", "");
    place.check(
        "read",
        r#"{path: "a.txt"}"#,
        r#"{content: "häuser\n", size_bytes: 8, next: #f}"#,
    );
    place.check(
        "read",
        r#"{path: "./d/../a.txt"}"#,
        r#"{content: "häuser\n", size_bytes: 8, next: #f}"#,
    );
    place.check(
        "read",
        r#"{path: "d/b"}"#,
        r#"{content: #x"ff00", size_bytes: 2, next: #f}"#,
    );
    place.check(
        "read",
        r#"{path: "empty"}"#,
        r#"{content: "", size_bytes: 0, next: #f}"#,
    );
    place.check(
        "read",
        r#"{path: "a.txt", offset: 3, length: 3}"#,
        r#"{content: "use", size_bytes: 8, next: 6}"#,
    );
    place.check(
        "read",
        r#"{path: "a.txt", length: 2}"#,
        r#"{content: "h", size_bytes: 8, next: 1}"#,
    );
    place.check(
        "read",
        r#"{path: "a.txt", offset: 2, length: 1}"#,
        r#"{content: #x"a4", size_bytes: 8, next: 3}"#,
    );
    place.check(
        "read",
        r#"{path: "a.txt", offset: 8}"#,
        r#"{content: "", size_bytes: 8, next: #f}"#,
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    let place = Place::new();
    place.file("d/b", "12345");
    let fifo = std::process::Command::new("mkfifo")
        .arg(place.root().join("pipe"))
        .status();
    assert!(fifo.expect("mkfifo").success());
    place.check_refused("read", r#"{path: "x"}"#, "not-found", "there is no `x` in `ROOT`");
    place.check_refused(
        "read",
        r#"{path: "d"}"#,
        "bad-argument",
        "`d` is a directory; name a file",
    );
    place.check_refused(
        "read",
        r#"{path: "pipe"}"#,
        "bad-argument",
        "`pipe` is not a regular file; name a file",
    );
    place.check_refused(
        "read",
        r#"{path: "d/b/c"}"#,
        "bad-argument",
        "`d/b/c` is not, or goes through what is not, a directory",
    );
    let beyond = "offset 6 is beyond the end of `d/b`, which has 5 bytes";
    place.check_refused("read", r#"{path: "d/b", offset: 6}"#, "bad-argument", beyond);
}

#[test]
fn a_huge_file_is_read_in_pieces_only() {
    let place = Place::new();
    let file = fs::File::create(place.root().join("huge")).expect("file");
    file.set_len(1 << 40).expect("a sparse file");
    let message = "`huge`: 1099511627776 bytes are more than the 8388608 one call returns; \
                   read it in pieces, with `offset` and `length`";
    place.check_refused("read", r#"{path: "huge"}"#, "output-limit", message);
    place.check(
        "read",
        r#"{path: "huge", offset: 1099511627775}"#,
        r#"{content: "\u0000", size_bytes: 1099511627776, next: #f}"#,
    );
}

#[test]
fn an_absolute_path_below_the_root_is_one_inside() {
    let place = Place::new();
    fs::create_dir(place.root().join("d")).expect("directory");
    let around = place.around.path().canonicalize().expect("path");
    let link = around.join("link");
    symlink(place.root(), &link).expect("link");
    let workspace = Workspace::open(&link).expect("workspace");
    let root = place.root().canonicalize().expect("path");
    for (path, expected) in [
        (root.join("d/f"), "d/f"),
        (link.join("d/f"), "d/f"),
        (root.clone(), "."),
        (link, "."),
        (root.join("../secret"), "../secret"),
        (PathBuf::from("d/f"), "d/f"),
        (PathBuf::from("/d"), "/d"),
    ] {
        assert_eq!(workspace.inside(path), PathBuf::from(expected));
    }
}

#[test]
fn no_path_leads_out_of_the_root() {
    let place = Place::new();
    let secret = place.around.path().join("secret");
    symlink("../secret", place.root().join("link")).expect("link");
    symlink(place.around.path(), place.root().join("up")).expect("link");
    symlink(place.around.path().join("new"), place.root().join("dangling")).expect("link");
    fs::create_dir(place.root().join("d")).expect("directory");
    let absolute = secret.display().to_string();
    for path in [absolute.as_str(), "../secret", "d/../../secret", "link", "up/secret"] {
        let message = format!("`{path}` leads outside the root `ROOT`; name a path inside it, relative to it");
        place.check_refused("read", &format!(r#"{{path: "{path}"}}"#), "outside-root", &message);
        place.check_refused(
            "write",
            &format!(r#"{{path: "{path}", content: "x"}}"#),
            "outside-root",
            &message,
        );
    }
    for path in ["..", "up", "/"] {
        let message = format!("`{path}` leads outside the root `ROOT`; name a path inside it, relative to it");
        place.check_refused("list", &format!(r#"{{path: "{path}"}}"#), "outside-root", &message);
    }
    for path in ["dangling", "../new", "up/new", "up/d/new"] {
        let message = format!("`{path}` leads outside the root `ROOT`; name a path inside it, relative to it");
        place.check_refused(
            "write",
            &format!(r#"{{path: "{path}", content: "x"}}"#),
            "outside-root",
            &message,
        );
    }
    assert_eq!(fs::read_to_string(&secret).expect("secret"), "secret");
    assert!(!place.around.path().join("new").exists());
}

#[test]
fn a_link_swapped_meanwhile_does_not_lead_out() {
    let place = Place::new();
    place.file("d/secret", "harmless");
    let root = place.root();
    let stop = std::sync::atomic::AtomicBool::new(false);
    #[allow(clippy::disallowed_methods, reason = "the race needs a second thread")]
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(root.join("d"), root.join("kept")).expect("rename");
                symlink("..", root.join("d")).expect("link");
                fs::remove_file(root.join("d")).expect("remove");
                fs::rename(root.join("kept"), root.join("d")).expect("rename");
            }
        });
        let contents: Vec<_> = (0..500).map(|_| place.call("read", r#"{path: "d/secret"}"#)).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for outcome in contents {
            match outcome {
                Ok(value) => assert_eq!(
                    format!("{value:?}"),
                    r#"{content: "harmless", next: #f, size_bytes: 8}"#
                ),
                Err(failure) => assert!(
                    ["not-found", "outside-root"].contains(&failure.kind.as_str()),
                    "{failure:?}"
                ),
            }
        }
    });
}

#[test]
fn a_file_is_written_whole() {
    let place = Place::new();
    place.check(
        "write",
        r#"{path: "a/b/c", content: "one"}"#,
        "{size_bytes: 3, changed: #t, previous: #f}",
    );
    place.check(
        "write",
        r#"{path: "a/b/c", content: "one"}"#,
        r#"{size_bytes: 3, changed: #f, previous: "one"}"#,
    );
    place.check(
        "write",
        r#"{path: "a/b/c", content: #x"ff"}"#,
        r#"{size_bytes: 1, changed: #t, previous: "one"}"#,
    );
    assert_eq!(fs::read(place.root().join("a/b/c")).expect("file"), b"\xff");
    let names: Vec<_> = fs::read_dir(place.root().join("a/b"))
        .expect("directory")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(names, ["c"], "nothing else is left");
}

#[test]
fn writing_keeps_what_is_not_content() {
    let place = Place::new();
    place.file("script", "old").file("real", "old");
    fs::set_permissions(place.root().join("script"), fs::Permissions::from_mode(0o750)).expect("mode");
    symlink("real", place.root().join("link")).expect("link");
    place.check(
        "write",
        r#"{path: "script", content: "new"}"#,
        r#"{size_bytes: 3, changed: #t, previous: "old"}"#,
    );
    place.check(
        "write",
        r#"{path: "link", content: "new"}"#,
        r#"{size_bytes: 3, changed: #t, previous: "old"}"#,
    );
    assert_eq!(
        fs::metadata(place.root().join("script"))
            .expect("metadata")
            .permissions()
            .mode()
            & 0o777,
        0o750
    );
    assert!(
        fs::symlink_metadata(place.root().join("link"))
            .expect("metadata")
            .is_symlink()
    );
    assert_eq!(fs::read_to_string(place.root().join("real")).expect("file"), "new");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let place = Place::new();
    place.file("d/b", "x").file("fixed", "x");
    fs::set_permissions(place.root().join("fixed"), fs::Permissions::from_mode(0o444)).expect("mode");
    place.check_refused(
        "write",
        r#"{path: "d", content: ""}"#,
        "bad-argument",
        "`d` is a directory; name a file",
    );
    place.check_refused(
        "write",
        r#"{path: ".", content: ""}"#,
        "bad-argument",
        "`.` does not name a file",
    );
    place.check_refused(
        "write",
        r#"{path: "fixed", content: ""}"#,
        "denied",
        "`fixed` is read-only",
    );
    let message = "`d/b/c` is not, or goes through what is not, a directory";
    place.check_refused("write", r#"{path: "d/b/c", content: ""}"#, "bad-argument", message);
    let message = "field `content` of workspace/write: expected a string or a bytevector, found `1`";
    place.check_refused("write", r#"{path: "x", content: 1}"#, "bad-argument", message);
}

#[test]
fn a_large_previous_content_is_left_out() {
    let place = Place::new();
    place.file(
        "big",
        vec![b'x'; usize::try_from(write::PREVIOUS_BYTES_MAX).expect("small") + 1],
    );
    place.check(
        "write",
        r#"{path: "big", content: "new"}"#,
        "{size_bytes: 3, changed: #t, previous: #f}",
    );
}

#[test]
fn a_directory_is_listed_in_order() {
    let place = Place::new();
    place
        .file("b.txt", "12")
        .file("a/z", "")
        .file("a/y/x", "1")
        .file(".hidden", "")
        .file("target/t", "")
        .file("a-b", "");
    symlink("../secret", place.root().join("link")).expect("link");
    let top = r#"[{path: "a", kind: directory, size_bytes: 0}, {path: "a-b", kind: file, size_bytes: 0},
        {path: "b.txt", kind: file, size_bytes: 2}, {path: "link", kind: symlink, size_bytes: 0}]"#;
    place.check("list", "{}", top);
    place.check(
        "list",
        r#"{path: "a/y"}"#,
        r#"[{path: "a/y/x", kind: file, size_bytes: 1}]"#,
    );
    let paths = |payload: &str| {
        let listed = place.call("list", payload).expect("a list");
        let path = |entry: preserves::Value<IOValue>| {
            entry
                .get(&preserves::Value::symbol("path"))
                .expect("path")
                .as_string()
                .expect("text")
                .into_owned()
        };
        listed.iter().map(path).collect::<Vec<_>>()
    };
    assert_eq!(
        paths("{recursive: #t}"),
        ["a", "a-b", "a/y", "a/y/x", "a/z", "b.txt", "link"]
    );
    let all = [
        ".hidden", "a", "a-b", "a/y", "a/y/x", "a/z", "b.txt", "link", "target", "target/t",
    ];
    assert_eq!(paths("{recursive: #t, all: #t}"), all);
}

#[test]
fn a_listing_has_its_limits() {
    let place = Place::new();
    place.file("a", "").file("b", "").file("c", "");
    assert_eq!(place.call("list", "{limit: 3}").expect("a list").len(), 3);
    let message = "there are more than 2 entries in `.`; list a directory below it, or raise `limit`";
    place.check_refused("list", "{limit: 2}", "output-limit", message);
    place.check_refused("list", r#"{path: "x"}"#, "not-found", "there is no `x` in `ROOT`");
    place.check_refused(
        "list",
        r#"{path: "a"}"#,
        "bad-argument",
        "`a` is not, or goes through what is not, a directory",
    );
}

#[test]
fn names_that_are_not_text_go_both_ways() {
    let place = Place::new();
    let name = IOValue::bytes(b"x\xff".to_vec());
    let payload = crate::tool::arguments::dictionary([("path", name), ("content", IOValue::new("in".to_owned()))]);
    place.call_with("write", payload).expect("written");
    place.check("list", "{}", r#"[{path: #x"78ff", kind: file, size_bytes: 2}]"#);
    place.check(
        "read",
        r#"{path: #x"78ff"}"#,
        r#"{content: "in", size_bytes: 2, next: #f}"#,
    );
}

#[test]
fn existence_is_told_without_opening() {
    let place = Place::new();
    place.file("a.txt", "a");
    symlink("nowhere", place.root().join("dangling")).expect("link");
    for (path, expected) in [
        ("a.txt", "#t"),
        (".", "#t"),
        ("b", "#f"),
        ("a.txt/b", "#f"),
        ("dangling", "#f"),
    ] {
        place.check("exists", &format!(r#"{{path: "{path}"}}"#), expected);
    }
    let message = "`../secret` leads outside the root `ROOT`; name a path inside it, relative to it";
    place.check_refused("exists", r#"{path: "../secret"}"#, "outside-root", message);
}

#[test]
fn a_deleted_file_comes_back_in_the_result() {
    let place = Place::new();
    place.file("d/a.txt", "old").file("big", vec![b'x'; (1 << 20) + 1]);
    symlink("../secret", place.root().join("link")).expect("link");
    place.check("delete", r#"{path: "d/a.txt"}"#, r#"{previous: "old"}"#);
    assert!(!place.root().join("d/a.txt").exists());
    place.check("delete", r#"{path: "big"}"#, "{previous: #f}");
    place.check("delete", r#"{path: "link"}"#, "{previous: #f}");
    assert!(
        place.around.path().join("secret").exists(),
        "the link is deleted, not what it names"
    );
    place.check_refused(
        "delete",
        r#"{path: "d/a.txt"}"#,
        "not-found",
        "there is no `d/a.txt` in `ROOT`",
    );
    place.check_refused(
        "delete",
        r#"{path: "d"}"#,
        "bad-argument",
        "`d` is a directory; name a file",
    );
    let message = "`../secret` leads outside the root `ROOT`; name a path inside it, relative to it";
    place.check_refused("delete", r#"{path: "../secret"}"#, "outside-root", message);
}
