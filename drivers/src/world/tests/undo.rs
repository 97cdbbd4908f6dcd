//! Tests of undo notes and of withdrawn calls.

use super::*;
use crate::tool::undo_log::UndoNote;
use crate::tool::workspace::change::{changes, content_of};

fn write_one(root: &std::path::Path) -> (World, Effect) {
    let registry = Registry::built_in(Workspace::open(root).unwrap(), []);
    let payload = Fact::new(r#"{path: "a", content: "new"}"#.parse().unwrap()).unwrap();
    let name = "workspace/write".to_owned();
    (quiet(registry), effect(1, EffectKind::Tool { name, payload }))
}

fn proceed(note: IOValue, contents: Vec<duet_runtime::driver::Blob>) -> Effect {
    effect(1, EffectKind::Proceed { note, contents })
}

#[track_caller]
fn kept(input: Option<Input>) -> (IOValue, Vec<duet_runtime::driver::Blob>) {
    match input {
        Some(Input::Kept { note, contents, .. }) => (note, contents),
        other => panic!("expected what is kept, found {other:?}"),
    }
}

#[track_caller]
fn outcome(input: Option<Input>) -> String {
    match input {
        Some(Input::ToolResult { outcome, .. }) => format!("{:?}", outcome.unwrap()),
        other => panic!("expected a result, found {other:?}"),
    }
}

#[test]
fn nothing_is_overwritten_before_the_journal_has_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a");
    std::fs::write(&file, "old").unwrap();
    let (mut world, call) = write_one(place.path());
    world.perform(vec![call.clone()]);
    let (note, contents) = kept(world.next_input());
    let bytes: Vec<&[u8]> = contents.iter().map(duet_runtime::driver::Blob::as_bytes).collect();
    assert_eq!(bytes, [b"old", b"new"]);
    assert_eq!(std::fs::read(&file).unwrap(), b"old", "it waits for consent");
    world.perform(vec![proceed(note.clone(), Vec::new())]);
    let expected = r#"{changed: #t, previous: "old", size_bytes: 3}"#;
    assert_eq!(outcome(world.next_input()), expected);
    assert_eq!(std::fs::read(&file).unwrap(), b"new");

    // Another process repeats the call; it gets the undo note of the first, and records none.
    let (mut again, _) = write_one(place.path());
    again.perform(vec![call, proceed(note, contents)]);
    assert_eq!(outcome(again.next_input()), expected);
}

#[test]
fn a_call_that_is_withdrawn_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (mut world, call) = write_one(place.path());
    world.perform(vec![call]);
    let (note, _) = kept(world.next_input());
    world.perform(vec![effect(1, EffectKind::Withdraw)]);
    world.perform(vec![proceed(note, Vec::new())]);
    assert_eq!(world.next_input(), None);
    assert!(!place.path().join("a").exists());
}

#[test]
fn a_withdrawn_call_is_abandoned_wherever_it_is() {
    let slow = Scripted::new("slow").reply(60_000, Ok(text("late")));
    // Each call of the program has a reply of its own.
    let next = Scripted::new("next")
        .reply(0, Ok(text("first")))
        .reply(0, Ok(text("next")));
    let mut world = World::new(Settings {
        tools: Registry::default().with(slow).with(next.clone()),
        tool_calls_max: 1,
        ..settings(&Tape::default(), Person::Away)
    })
    .unwrap();
    world.perform(vec![call(1, "slow"), call(2, "next"), call(3, "next")]);
    world.perform(vec![effect(2, EffectKind::Withdraw), effect(1, EffectKind::Withdraw)]);
    assert_eq!(world.next_input(), result(3, "next"));
    assert_eq!(world.next_input(), None);
    assert_eq!(next.calls().len(), 1, "one that waited its turn was never made");
}

/// A call that makes two files by a patch.
fn patch_two(root: &std::path::Path) -> (World, Effect) {
    let registry = Registry::built_in(Workspace::open(root).unwrap(), []);
    let made = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{path}\n");
    let payload = format!("{{patch: {:?}}}", made("a") + &made("d/b"));
    let payload = Fact::new(payload.parse().unwrap()).unwrap();
    let name = "workspace/patch".to_owned();
    (quiet(registry), effect(1, EffectKind::Tool { name, payload }))
}

#[test]
fn a_patch_that_is_repeated_ends_what_its_first_attempt_began() {
    let place = tempfile::tempdir().unwrap();
    let (mut world, call) = patch_two(place.path());
    world.perform(vec![call.clone()]);
    let (note, contents) = kept(world.next_input());
    let both = r#"[{change: made, path: "a", size_bytes: 2}, {change: made, path: "d/b", size_bytes: 4}]"#;
    // The first attempt ends between the two files, then after both.
    std::fs::write(place.path().join("a"), "a\n").unwrap();
    for _ in 0..2 {
        let (mut again, _) = patch_two(place.path());
        again.perform(vec![call.clone(), proceed(note.clone(), contents.clone())]);
        assert_eq!(outcome(again.next_input()), both);
        assert_eq!(std::fs::read(place.path().join("d/b")).unwrap(), b"d/b\n");
    }
}

#[test]
fn a_patch_that_fails_in_the_middle_puts_back_what_it_has_replaced() {
    let place = tempfile::tempdir().unwrap();
    let (mut world, call) = patch_two(place.path());
    world.perform(vec![call]);
    let (note, _) = kept(world.next_input());
    // Somebody else makes a file where the patch needs a directory.
    std::fs::write(place.path().join("d"), "").unwrap();
    world.perform(vec![proceed(note, Vec::new())]);
    let Some(Input::ToolResult { outcome: Err(_), .. }) = world.next_input() else {
        panic!("it fails")
    };
    assert!(!place.path().join("a").exists());
    assert!(place.path().join("d").is_file());
}

/// A call that applies a patch.
fn patch(root: &std::path::Path, patch: &str) -> (World, Effect) {
    let registry = Registry::built_in(Workspace::open(root).unwrap(), []);
    let payload = Fact::new(format!("{{patch: {patch:?}}}").parse().unwrap()).unwrap();
    let name = "workspace/patch".to_owned();
    (quiet(registry), effect(1, EffectKind::Tool { name, payload }))
}

/// The names in a folder with their permission bits for the owner and their contents.
fn files(root: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut found: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() >> 6 & 7;
            let text = std::fs::read_to_string(entry.path()).unwrap();
            format!("{} {mode} {text:?}", entry.file_name().display())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_patch_renames_copies_and_makes_executable_and_all_is_put_back() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    for (name, text, mode) in [
        ("a", "a\n", 0o644),
        ("b", "b\n", 0o755),
        ("c", "c\n", 0o644),
        ("e", "e\n", 0o644),
    ] {
        std::fs::write(root.join(name), text).unwrap();
        std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = files(root);
    // Two files change places, one of them with a new line; one is copied, then executable.
    let all = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n\
               diff --git a/b b/a\nsimilarity index 50%\nrename from b\nrename to a\n\
               --- a/b\n+++ b/a\n@@ -1 +1,2 @@\n b\n+more\n\
               diff --git a/c b/d\nsimilarity index 100%\ncopy from c\ncopy to d\n\
               diff --git a/c b/c\nold mode 100644\nnew mode 100755\n\
               diff --git a/e b/f\nold mode 100644\nnew mode 100755\nsimilarity index 100%\n\
               rename from e\nrename to f\n\
               diff --git a/g b/g\nnew file mode 100755\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+g\n";
    let (mut world, call) = patch(root, all);
    world.perform(vec![call.clone()]);
    let (note, contents) = kept(world.next_input());
    let after = [
        r#"a 7 "b\nmore\n""#,
        r#"b 6 "a\n""#,
        r#"c 7 "c\n""#,
        r#"d 6 "c\n""#,
        r#"f 7 "e\n""#,
        r#"g 7 "g\n""#,
    ];
    for attempt in 0..2 {
        // The second attempt finds that all is done.
        let (mut again, _) = patch(root, all);
        again.perform(vec![call.clone(), proceed(note.clone(), contents.clone())]);
        let told = outcome(again.next_input());
        assert!(
            told.contains(r#"{change: deleted, path: "e", size_bytes: 0}"#),
            "{told}"
        );
        assert_eq!(files(root), after, "attempt {attempt}");
    }
    let recorded = UndoNote { note, contents };
    let workspace = Workspace::open(root).unwrap();
    for change in changes(&recorded.note).iter().rev() {
        let bytes = content_of(&change.before, &recorded);
        workspace.put(change, &change.before, bytes).unwrap();
    }
    assert_eq!(files(root), before);
}

#[test]
fn a_patch_that_renames_what_is_not_there_or_onto_another_file_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    for name in ["a", "b"] {
        std::fs::write(root.join(name), name).unwrap();
    }
    let rename = |from: &str, to: &str| format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    for (text, expected) in [
        (
            rename("a", "b"),
            "`b`: the patch makes it, and it is there; nothing was changed",
        ),
        (rename("x", "y"), "`x`"),
        (rename("a", "c") + &rename("a", "d"), "`a` is renamed twice"),
        (
            rename("a", "c") + "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n",
            "`a` is renamed and changed",
        ),
        (rename("../a", "c"), "outside the root"),
    ] {
        let (mut world, call) = patch(root, &text);
        world.perform(vec![call]);
        match world.next_input() {
            Some(Input::ToolResult {
                outcome: Err(failure), ..
            }) => {
                assert!(failure.message.contains(expected), "{text}: {failure:?}");
            }
            other => panic!("{text}: {other:?}"),
        }
        assert_eq!(files(root), [r#"a 6 "a""#, r#"b 6 "b""#], "{text}");
    }
}
