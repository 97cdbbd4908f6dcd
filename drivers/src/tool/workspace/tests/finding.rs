//! Tests of stat, search, `.gitignore` and patch.

use super::*;

#[test]
fn stat_describes_a_path() {
    let place = Place::new();
    place.file("a.txt", "12345");
    fs::set_permissions(place.root().join("a.txt"), fs::Permissions::from_mode(0o640)).expect("mode");
    symlink("../secret", place.root().join("link")).expect("link");
    let stat = |path: &str| {
        place
            .call("stat", &format!("{{path: \"{path}\"}}"))
            .expect("there is something")
    };
    let field = |value: &IOValue, name: &'static str| IOValue::from(value.get(&IOValue::symbol(name)).expect(name));
    let file = stat("a.txt");
    assert_eq!(field(&file, "kind"), IOValue::symbol("file"));
    assert_eq!(field(&file, "size_bytes"), "5".parse().expect("a value"));
    assert_eq!(field(&file, "mode"), "416".parse().expect("a value"));
    assert!(field(&file, "modified_ms").as_u64().expect("a number").expect("small") > 1_700_000_000_000);
    let link = stat("link");
    assert_eq!(field(&link, "kind"), IOValue::symbol("symlink"));
    assert_eq!(field(&link, "target"), IOValue::new("../secret".to_owned()));
    assert_eq!(field(&stat("."), "kind"), IOValue::symbol("directory"));
    place.check_refused("stat", r#"{path: "none"}"#, "not-found", "there is no `none` in `ROOT`");
    let outside = "`../secret` leads outside the root `ROOT`; name a path inside it, relative to it";
    place.check_refused("stat", r#"{path: "../secret"}"#, "outside-root", outside);
}

#[test]
fn lines_are_found_in_order() {
    let place = Place::new();
    place
        .file("b.txt", "one\r\nTwo\ntwo two\n")
        .file("a/x.txt", "two")
        .file("binary", b"two\0")
        .file(".hidden", "two")
        .file("log/run.log", "two")
        .file(".gitignore", "*.log\n");
    place.check(
        "search",
        r#"{pattern: "two$"}"#,
        r#"{matches: [{path: "a/x.txt" line: 1 column: 1 text: "two"}
                      {path: "b.txt" line: 3 column: 5 text: "two two"}],
            truncated: #f, skipped: 1}"#,
    );
    place.check(
        "search",
        r#"{pattern: "TWO", ignore_case: #t, path: "b.txt", limit: 1}"#,
        r#"{matches: [{path: "b.txt" line: 2 column: 1 text: "Two"}], truncated: #t, skipped: 0}"#,
    );
    place.check(
        "search",
        r#"{pattern: "t.o", literal: #t}"#,
        "{matches: [], truncated: #f, skipped: 1}",
    );
    place.check(
        "search",
        r#"{pattern: "two", all: #t, path: "log"}"#,
        r#"{matches: [{path: "log/run.log" line: 1 column: 1 text: "two"}], truncated: #f, skipped: 0}"#,
    );
    let failure = place.call("search", r#"{pattern: "(("}"#).expect_err("no pattern");
    assert!(failure.kind == "bad-argument" && failure.message.ends_with("with `literal` it is searched for as it is"));
    // A backtracking matcher would take exponential time.
    place.file("a/long", "a".repeat(100_000));
    place.check(
        "search",
        r#"{pattern: "(a*)*b", path: "a/long"}"#,
        "{matches: [], truncated: #f, skipped: 0}",
    );
}

#[test]
fn ignored_files_are_not_listed() {
    let place = Place::new();
    place
        .file(".gitignore", "/out/\n*.tmp\n!keep.tmp\n")
        .file("out/a", "")
        .file("src/out/b", "")
        .file("src/x.tmp", "")
        .file("src/keep.tmp", "")
        .file("src/.gitignore", "local\n")
        .file("src/local", "")
        .file("local", "");
    let listed = |payload: &str| {
        let entries = place.call("list", payload).expect("entries");
        let path = |entry: IOValue| {
            entry
                .get(&IOValue::symbol("path"))
                .and_then(|path| path.as_string().map(|path| path.into_owned()))
        };
        entries
            .iter()
            .filter_map(|entry| path(entry.into()))
            .collect::<Vec<String>>()
    };
    assert_eq!(
        listed("{recursive: #t}"),
        ["local", "src", "src/keep.tmp", "src/out", "src/out/b"]
    );
    assert_eq!(listed("{path: \"src\"}"), ["src/keep.tmp", "src/out"]);
    assert_eq!(listed("{recursive: #t, all: #t}").len(), 11);
}

#[test]
fn a_patch_applies_whole_or_not_at_all() {
    let place = Place::new();
    place.file("a.txt", "one\ntwo\nthree\n").file("old.txt", "gone\n");
    let patch = |text: &str| crate::tool::arguments::dictionary([("patch", IOValue::new(text.to_owned()))]);
    let change = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    let make = "--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1 @@\n+new\n";
    let delete = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let broken = "--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-no\n+yes\n";
    let failure = place
        .call_with("patch", patch(&format!("{change}{make}{broken}")))
        .expect_err("it does not fit");
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        (
            "conflict",
            "`old.txt`: hunk 1, at line 1, does not fit: there is no `no` with the lines that follow it; \
             nothing was changed"
        )
    );
    assert_eq!(
        fs::read_to_string(place.root().join("a.txt")).expect("file"),
        "one\ntwo\nthree\n"
    );
    assert!(!place.root().join("new").exists());
    let told = place
        .call_with("patch", patch(&format!("{change}{make}{delete}")))
        .expect("it fits");
    let expected = r#"[{path: "a.txt" change: changed size_bytes: 12}
        {path: "new/n.txt" change: made size_bytes: 4} {path: "old.txt" change: deleted size_bytes: 0}]"#;
    assert_eq!(told, expected.parse().expect("a value"));
    assert_eq!(
        fs::read_to_string(place.root().join("a.txt")).expect("file"),
        "one\n2\nthree\n"
    );
    assert_eq!(
        fs::read_to_string(place.root().join("new/n.txt")).expect("file"),
        "new\n"
    );
    assert!(!place.root().join("old.txt").exists());
    let again = place.call_with("patch", patch(make)).expect_err("it is there");
    assert_eq!(
        again.message,
        "`new/n.txt`: the patch makes it, and it is there; nothing was changed"
    );
    let twice = place
        .call_with("patch", patch(&format!("{change}{change}")))
        .expect_err("twice");
    assert!(
        twice.message.ends_with("`a.txt` is patched twice") || twice.kind == "conflict",
        "{twice:?}"
    );
    let outside = place.call_with(
        "patch",
        patch("--- a/../secret\n+++ b/../secret\n@@ -1 +1 @@\n-secret\n+x\n"),
    );
    assert_eq!(outside.expect_err("outside").kind, "outside-root");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "two calls wait at once")]
fn a_directory_is_watched_until_it_differs_from_what_was_seen() {
    let place = Place::new();
    place.file("in/a", "1").file("in/b/c", "2").file("in/.hidden", "3");
    let call_at = |path: &str, seen: &IOValue, options: &str| {
        let payload = format!("{{seen: {seen:?} path: {path:?} {options}}}");
        place.call("watch", &payload).unwrap()
    };
    let call = |seen: &IOValue, options: &str| call_at("in", seen, options);
    let nothing = IOValue::new(Vec::<IOValue>::new());
    let seen = call(&nothing, "");
    assert_eq!(seen.len(), 2, "a file and a directory");
    // Entries further down count only on demand.
    assert_eq!(call(&seen, "recursive: #t").len(), 3);
    place.file("other/a", "1");
    let other = call_at("other", &nothing, "");
    let later = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| call(&seen, ""));
        place.file("in/b/d", "4");
        // Another call begins to watch after this change and looks twice.
        let second = scope.spawn(|| call_at("other", &other, ""));
        place.file("other/a", "longer");
        second.join().unwrap();
        assert!(!waiting.is_finished());
        place.file("in/a", "longer");
        waiting.join().unwrap()
    });
    assert_ne!(later, seen);
    assert_eq!(later.len(), 2);
    let missing = place.call("watch", "{seen: [] path: \"none\"}").unwrap_err();
    assert_eq!(missing.kind, "not-found");
}
