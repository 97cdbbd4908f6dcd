//! Tests of undo notes and of withdrawn calls.

use super::*;

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
