//! Turns with names and branches in use stay.
//!
//! INVARIANT: whatever is removed, the branches that stay say what they said before.
//! Read next: `../travel.rs`.

use crate::support::desk::Desk;
use crate::travel::{json, parted};

#[test]
fn turns_are_addressed_by_their_marks() {
    let desk = parted();
    desk.check("mark greeter", 0, "");
    desk.check("mark greeter/main@2 asked", 0, "");
    desk.check("mark greeter/what-if greeted-bob", 0, "");
    desk.check(
        "mark greeter",
        0,
        "greeter@asked  turn 2\ngreeter@greeted-bob  turn 4\n",
    );
    assert_eq!(json(&desk, "mark greeter")[1]["mark"], "greeted-bob");
    let at_two = desk.duet("show greeter/main@2").output;
    desk.check("show greeter/main@asked", 0, &at_two);
    desk.check(
        "facts greeter@greeted-bob greeted",
        0,
        "handle 2   main     <greeted \"Bob\">\n",
    );
    let said = desk.check("show greeter/main@greeted-bob", 1, "");
    assert!(
        said.errors
            .contains("greeter does not lead to the turn that is marked greeted-bob"),
        "{}",
        said.errors
    );
    desk.check("mark greeter/main last", 0, "");
    desk.check("goto greeter/main@asked", 0, "");
    let said = desk.check("goto greeter@last", 0, "");
    assert!(
        said.errors.contains("greeter is at turn 4; it was at turn 2"),
        "{}",
        said.errors
    );
    let said = desk.check("goto greeter@greeted-bob", 1, "");
    assert!(said.errors.contains("has gone another way"), "{}", said.errors);
    let said = desk.check("mark greeter/main@1 asked", 0, "").errors;
    assert_eq!(said, "greeter@1 is marked asked; turn 2 was\n");
    desk.check(
        "mark greeter",
        0,
        "greeter@asked  turn 1\ngreeter@greeted-bob  turn 4\ngreeter@last  turn 4\n",
    );
    desk.check("mark greeter asked --delete", 0, "");
    let said = desk.check("show greeter@asked", 1, "");
    assert!(
        said.errors.contains("no turn of greeter is marked asked"),
        "{}",
        said.errors
    );
    desk.check("mark greeter asked --delete", 1, "");
    desk.check("mark greeter 7", 2, "");
}

#[test]
fn branches_left_behind_are_given_up_unless_something_keeps_them() {
    let desk = parted();
    // Leaves main.4, main.3 and, after another answer, main.5 behind.
    desk.check("goto greeter/main@3", 0, "");
    desk.check("fork greeter/main@3 third", 0, "");
    desk.check("goto greeter/main@2", 0, "");
    desk.check("answer greeter/main Eve", 4, "Hello, Eve\n");
    desk.check("mark greeter/main eve", 0, "");
    desk.check("goto greeter/main@1", 0, "");
    let branches = |desk: &Desk| {
        let listed = json(desk, "branches greeter");
        let names = listed
            .as_array()
            .expect("an array")
            .iter()
            .map(|row| row["branch"].as_str().expect("a name").to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(branches(&desk), ["main", "main.4", "main.4.2", "third", "what-if"]);
    desk.check("gc greeter --dry-run", 0, "greeter/main.4\n");
    desk.check("gc greeter --turns 3", 0, "");
    desk.check("gc greeter --age 1", 0, "");
    desk.check("gc greeter --keep main.4", 0, "");
    desk.check("gc greeter --keep main.9", 2, "");
    let told = json(&desk, "gc greeter --dry-run");
    assert_eq!(
        (&told["branches"][0], &told["turns"], &told["removed"]),
        (&"main.4".into(), &1.into(), &false.into())
    );
    assert_eq!(branches(&desk).len(), 5, "so far nothing is gone");
    let others = ["what-if", "third", "main.4.2"].map(|branch| desk.duet(&format!("log greeter/{branch}")).output);
    let said = desk.check("gc greeter", 0, "greeter/main.4\n");
    // The snapshot of the turn: its root, and the changes of its heap.
    assert!(
        said.errors.contains("1 branch, 1 turn and 2 blobs are gone"),
        "{}",
        said.errors
    );
    assert_eq!(
        branches(&desk),
        ["main", "main.4.2", "third", "what-if"],
        "what is marked stays"
    );
    let still = ["what-if", "third", "main.4.2"].map(|branch| desk.duet(&format!("log greeter/{branch}")).output);
    assert_eq!(still, others);
    assert_eq!(desk.duet("fsck").code, 0);
    for branch in ["main", "third", "what-if", "main.4.2"] {
        assert_eq!(
            desk.duet(&format!("replay greeter/{branch} --check")).code,
            0,
            "{branch}"
        );
    }
    desk.check("undo greeter/main", 0, "");
    let said = desk.check("undo greeter/main", 0, "");
    assert!(said.errors.contains("greeter is at turn 3"), "{}", said.errors);
    let said = desk.check("undo greeter/main", 1, "");
    assert!(
        said.errors.contains("is not in the journal any more"),
        "{}",
        said.errors
    );
    desk.check("gc greeter --forks --keep third", 0, "greeter/what-if\n");
    assert_eq!(desk.duet("fsck").code, 0);
}

#[test]
fn marks_travel_with_a_run() {
    let desk = parted();
    desk.check("mark greeter/main@2 asked", 0, "");
    desk.check("mark greeter/what-if bob", 0, "");
    desk.check("export greeter all.duet", 0, "");
    let said = desk.check("import all.duet --journal new", 0, "");
    assert_eq!(
        said.errors,
        "greeter: 7 records, branches main@4 what-if@4\ngreeter: marks asked bob\n"
    );
    assert_eq!(json(&desk, "mark greeter --journal new"), json(&desk, "mark greeter"));
    let said = desk.check("export greeter/main part.duet", 0, "");
    assert!(
        said.errors
            .starts_with("left out, because no exported branch leads there: bob\n"),
        "{}",
        said.errors
    );
    desk.check("import part.duet --journal part", 0, "");
    desk.check("mark greeter --journal part", 0, "greeter@asked  turn 2\n");
    desk.check("mark greeter/main@1 asked --journal new", 0, "");
    let said = desk.check("import all.duet --journal new", 0, "");
    assert!(
        said.errors
            .ends_with("greeter: left out, because the journal has another turn of that name: asked\n"),
        "{}",
        said.errors
    );
    desk.check(
        "mark greeter --journal new",
        0,
        "greeter@asked  turn 1\ngreeter@bob  turn 4\n",
    );
    // Its records have other names.
    desk.check("export greeter masked.duet --redact Ada", 0, "");
    desk.check("import masked.duet --journal masked", 0, "");
    desk.check(
        "facts greeter@bob greeted --journal masked",
        0,
        "handle 2   main     <greeted \"Bob\">\n",
    );
}

#[test]
fn the_way_back_that_is_named_leads_back_also_past_a_line_of_the_same_length() {
    let text = "(import (duet base) (duet dataspace))
(await (user-input :prompt \"a?\"))
(display (await (user-input :prompt \"b?\")))
(newline)
";
    let desk = Desk::new(&[("q.scm", text)]);
    desk.duet("run q.scm --name q --answer A --answer B");
    let said = desk.check("goto q@1", 0, "");
    assert!(
        said.errors.contains("`duet goto q@3` goes back to them"),
        "{}",
        said.errors
    );
    desk.check("resume q --answer C --answer D", 0, "D\n");
    let said = desk.check("goto q@1", 0, "");
    assert!(
        said.errors.contains("`duet undo q` goes back to them"),
        "{}",
        said.errors
    );
    desk.check("undo q", 0, "");
    assert!(desk.duet("log q").output.contains('D'));
}
