//! The journal is out of the reach of tools, by whatever path, link, name or race.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const SECRET: &str = "the journal's own";

/// A root with the files of two journals, and other ways to their files.
fn place() -> Place {
    let place = Place::new();
    for own in [
        ".duet/journal.sqlite",
        ".duet/journal.sqlite-wal",
        ".duet/journal.sqlite.cache/ab/unit",
        "named.sqlite",
        "named.sqlite-wal",
        "named.sqlite.cache/unit",
        "sub/mine.txt",
    ] {
        place.file(own, SECRET);
    }
    let root = place.root();
    symlink(".duet", root.join("folder")).unwrap();
    symlink(".duet/journal.sqlite", root.join("link")).unwrap();
    symlink("../named.sqlite", root.join("sub/link")).unwrap();
    fs::hard_link(root.join(".duet/journal.sqlite-wal"), root.join("hard")).unwrap();
    fs::hard_link(root.join("named.sqlite"), root.join("sub/hard")).unwrap();
    fs::hard_link(root.join(".duet/journal.sqlite.cache/ab/unit"), root.join("sub/unit")).unwrap();
    place
}

/// All files below a folder with their contents.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else if entry.file_type().unwrap().is_file() {
            found.push((entry.path(), fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn no_tool_reaches_a_file_of_a_journal_by_any_path() {
    let place = place();
    let root = place.root();
    let before = files(&root);
    let absolute = root.join(".duet/journal.sqlite").display().to_string();
    for path in [
        ".duet/journal.sqlite",
        ".duet/journal.sqlite-wal",
        ".duet/journal.sqlite-shm",
        ".duet/new",
        ".DUET/journal.sqlite",
        "./sub/../.duet/journal.sqlite",
        "folder/journal.sqlite",
        "folder/new",
        "folder/journal.sqlite.cache/ab/unit",
        "hard",
        "sub/hard",
        "sub/unit",
        "named.sqlite",
        "named.sqlite-wal",
        "named.sqlite-journal",
        "named.sqlite.cache/unit",
        "sub/.duet/journal.sqlite",
        &absolute,
    ] {
        for (tool, payload) in [
            ("read", format!("{{path: {path:?}}}")),
            ("stat", format!("{{path: {path:?}}}")),
            ("search", format!("{{path: {path:?}, pattern: \"own\", all: #t}}")),
            ("write", format!("{{path: {path:?}, content: \"forged\"}}")),
            ("delete", format!("{{path: {path:?}}}")),
            (
                "patch",
                format!("{{patch: \"--- a/{path}\\n+++ b/{path}\\n@@ -1 +1 @@\\n-{SECRET}\\n+forged\\n\"}}"),
            ),
            ("list", format!("{{path: {path:?}, all: #t}}")),
        ] {
            let outcome = place.call(tool, &payload);
            let failure = outcome.expect_err(&payload);
            let may_miss = matches!(failure.kind.as_str(), "not-found" | "bad-argument" | "conflict");
            assert!(failure.kind == "denied" || may_miss, "{tool} {payload}: {failure:?}");
        }
        assert_ne!(
            place.call("exists", &format!("{{path: {path:?}}}")).ok(),
            Some(IOValue::new(true)),
            "{path}"
        );
    }
    assert_eq!(files(&root), before);
    place.check_refused(
        "delete",
        r#"{path: ".duet/journal.sqlite"}"#,
        "denied",
        "`.duet/journal.sqlite` belongs to the journal, which no tool reaches",
    );
    for path in ["link", "sub/link", "folder/journal.sqlite"] {
        assert!(place.call("read", &format!("{{path: {path:?}}}")).is_err(), "{path}");
        assert!(
            place
                .call("write", &format!("{{path: {path:?}, content: \"forged\"}}"))
                .is_err(),
            "{path}"
        );
    }
    assert_eq!(files(&root), before);
}

#[test]
fn listings_and_searches_leave_the_journal_out() {
    let place = place();
    let listed = format!("{:?}", place.call("list", "{all: #t, recursive: #t}").expect("a list"));
    for own in [".duet", "named", "hard", "unit"] {
        assert!(!listed.contains(own), "{own}: {listed}");
    }
    let found = format!(
        "{:?}",
        place.call("search", r#"{pattern: "journal", all: #t}"#).expect("lines")
    );
    assert_eq!(found.matches(SECRET).count(), 1, "{found}");
    assert!(found.contains("sub/mine.txt"), "{found}");
}

#[test]
fn a_link_to_the_journal_can_itself_be_deleted() {
    let place = place();
    place.check("delete", r#"{path: "link"}"#, "{previous: #f}");
    assert!(place.root().join(".duet/journal.sqlite").exists());
}

#[test]
fn a_folder_that_is_swapped_meanwhile_leads_no_tool_to_the_journal() {
    let place = place();
    let root = place.root();
    let kept = files(&root.join(".duet"));
    fs::create_dir(root.join("real")).unwrap();
    let is_over = AtomicBool::new(false);
    let swap = || {
        let at = root.join("swap");
        while !is_over.load(Ordering::Relaxed) {
            // Renaming a link over a link leaves no moment without one.
            for target in ["real", ".duet"] {
                let _ = symlink(target, root.join("next"));
                let _ = fs::rename(root.join("next"), &at);
            }
        }
    };
    #[expect(clippy::disallowed_methods, reason = "somebody else changes the files meanwhile")]
    std::thread::scope(|scope| {
        scope.spawn(swap);
        for _ in 0..300 {
            let read = place.call("read", r#"{path: "swap/journal.sqlite"}"#);
            assert!(!format!("{read:?}").contains(SECRET), "{read:?}");
            let _ = place.call("write", r#"{path: "swap/journal.sqlite", content: "forged"}"#);
            let _ = place.call("delete", r#"{path: "swap/journal.sqlite-wal"}"#);
            let listed = format!("{:?}", place.call("list", r#"{path: "swap", all: #t}"#));
            assert!(!listed.contains("wal"), "{listed}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(files(&root.join(".duet")), kept);
}

#[test]
fn a_workspace_inside_the_journals_folder_is_refused() {
    let place = place();
    let journal = place.root().join(".duet/journal.sqlite");
    for inside in [".duet", ".duet/journal.sqlite.cache/ab", "folder"] {
        let opened = Workspace::open(&place.root().join(inside)).and_then(|opened| opened.keep_out_of(&journal));
        assert!(opened.is_err(), "{inside}");
    }
}
