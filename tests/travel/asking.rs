//! The index beside the journal, and what a turn did to memory.
//!
//! INVARIANT: an index, however old or damaged, agrees with the records, or `duet fsck` reports the
//! difference.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::Desk;
use crate::{json, parted};

const INDEX: &str = ".duet/journal.sqlite.index";

#[test]
fn an_index_is_made_when_it_is_asked_and_brought_up_to_date() {
    let desk = parted();
    let index = desk.path(INDEX);
    assert!(!index.exists(), "nothing was asked yet");
    desk.check("when greeted greeter/main@3", 1, "");
    assert!(index.exists());
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Ada\">\n",
    );
    let older = fs::read(&index).expect("the index");
    desk.check(
        "when greeted what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    // A rewind and another way from there: the index of the abandoned turns does not count any
    // more.
    desk.check("goto greeter/main@2", 0, "");
    desk.check("when greeted greeter/main", 1, "");
    desk.check("answer greeter/main Eve", 4, "Hello, Eve\n");
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Eve\">\n",
    );
    // An older copy of the index is one that covers less.
    fs::write(&index, older).expect("it can be written");
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Eve\">\n",
    );
    desk.check(
        "when greeted what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    let all = json(&desk, "when greeted greeter/main --all");
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
    let checked = desk.duet("fsck");
    assert_eq!((checked.code, checked.errors.as_str()), (0, ""), "{}", checked.output);
}

#[test]
fn a_damaged_index_is_found_removed_and_made_again() {
    let desk = parted();
    let first = "greeter@4 main     + <greeted \"Ada\">\n";
    desk.check("when greeted greeter/main", 0, first);
    let index = desk.path(INDEX);
    let sound = fs::read(&index).expect("the index");
    let mut damaged = sound.clone();
    for byte in &mut damaged[4096..] {
        *byte ^= 0x5a;
    }
    fs::write(&index, &damaged).expect("it can be written");
    let said = desk.check("when greeted greeter/main", 1, "");
    assert!(said.errors.contains("duet fsck --repair"), "{}", said.errors);
    let said = desk.duet("fsck");
    assert_eq!(said.code, 1);
    assert!(said.output.contains("the index of facts: "), "{}", said.output);
    assert!(index.exists(), "looking repairs nothing");
    let said = desk.duet("fsck --repair");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(!index.exists());
    desk.check("when greeted greeter/main", 0, first);
    // The next question replaces a file that is no index.
    fs::write(&index, b"nonsense").expect("it can be written");
    desk.check("when greeted greeter/main", 0, first);
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_the_index_is_made_in_memory() {
    use std::os::unix::fs::PermissionsExt;
    let desk = parted();
    let folder = desk.path(".duet");
    fs::write(desk.path("probe"), b"").expect("it can be written");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("it is ours");
    // A privileged user can write all the same.
    let is_writable = fs::write(folder.join("probe"), b"").is_ok();
    let said = desk.duet("when greeted greeter/main");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
    if is_writable {
        return;
    }
    assert_eq!(
        said.output, "greeter@4 main     + <greeted \"Ada\">\n",
        "{}",
        said.errors
    );
    assert!(!desk.path(INDEX).exists());
}

/// A program whose turns change all kinds of things that memory holds.
const KEEPER: &[(&str, &str)] = &[(
    "keeper.scm",
    r#"(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define count 0)
(define names (list "a" "b" (vector 1 2 3)))
(define table (dictionary 'kept 1 'gone 2))
(define origin (make-point 0 0))
(define said (record 'said "old" (list 'untyped)))
(define next (let ((hidden 0)) (lambda () (set! hidden (+ hidden 1)) hidden)))
(yield)
(set! count 7)
(vector-set! (list-ref names 2) 1 'two)
(dictionary-set! table 'new "n")
(dictionary-delete! table 'gone)
(set-point-x! origin 5)
(set! said (record 'said "new" (list 'untyped)))
(next)
(yield)
(define late '(1 2))
(assert! (record 'done))
"#,
)];

#[test]
fn a_turn_is_shown_with_what_it_changed_in_memory() {
    let desk = Desk::new(KEEPER);
    let ran = desk.duet("run keeper.scm");
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let memory = |turn: u64| {
        let shown = json(&desk, &format!("show keeper@{turn}"));
        let places = shown["memory"]["places"].as_array().expect("an array").clone();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
        places
            .iter()
            .map(|place| {
                format!(
                    "{}: {} → {}",
                    text(&place["place"]),
                    text(&place["before"]),
                    text(&place["after"])
                )
            })
            .collect::<Vec<_>>()
    };
    let first = memory(1);
    assert!(first.contains(&"count: - → 0".to_owned()), "{first:?}");
    let mut second = memory(2);
    second.sort();
    assert_eq!(
        second,
        [
            "count: 0 → 7",
            "names[2][1]: 2 → two",
            "next captured 1: 0 → 1",
            "origin.x: 0 → 5",
            "said.0: \"old\" → \"new\"",
            "table[gone]: 2 → -",
            "table[new]: - → \"n\"",
        ]
    );
    assert_eq!(memory(3), ["late: - → (1 2)"]);
    let text = desk.duet("show keeper@3").output;
    assert!(text.ends_with("  memory    late: - → (1 2)\n"), "{text}");
}
