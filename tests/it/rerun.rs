//! Running a run again with changed code, by the real command.
//!
//! Owns what is called, shown and reported when changed code receives recorded answers.
//! INVARIANT: a file that tools append to counts the calls; a test looks into a journal through
//! commands only.
//! The runtime's own tests cover keys. Read next: `support/desk.rs`.

use serde_json::Value;

use crate::support::desk::Desk;

/// Three calls that count themselves, and a question.
const STEPS: &str = r#"(define (note text)
  (call-tool 'shell 'process/run
    (dictionary 'arguments (list "sh" "-c" (string-append "echo " text " >> done.txt"))))
  (display text)
  (newline))
(note "one")
(note "two")
(note "three")
(define name (await (user-input :prompt "Name?")))
(display (string-append "Hello, " name "\n"))
"#;

fn desk_of(text: &str) -> Desk {
    let manifest = r#"((program "main.scm") (tools process/run workspace/write workspace/read))"#;
    Desk::new(&[("steps/manifest.scm", manifest), ("steps/main.scm", text)])
}

fn done(desk: &Desk) -> String {
    std::fs::read_to_string(desk.path("done.txt")).unwrap_or_default()
}

fn write(desk: &Desk, name: &str, text: &str) {
    std::fs::write(desk.path(name), text).expect("a file");
}

fn steps() -> Desk {
    let desk = desk_of(STEPS);
    desk.check("run steps", 4, "one\ntwo\nthree\n");
    desk
}

fn count(report: &Value, list: &str) -> usize {
    report[list].as_array().map_or(usize::MAX, Vec::len)
}

/// Everything that commands tell of the journal.
fn journal(desk: &Desk) -> String {
    ["runs", "branches steps", "log steps", "stats steps"]
        .map(|line| desk.duet(line).output)
        .join("\n")
}

#[test]
fn code_that_asks_the_same_calls_nothing_and_shows_nothing_again() {
    let desk = steps();
    write(
        &desk,
        "new.scm",
        &format!(";; The same.\n{}", STEPS.replace("Hello", "Hi")),
    );
    let said = desk.duet("resume steps --with new.scm --dry-run");
    assert!(said.output.starts_with("identical: "), "{}{}", said.output, said.errors);
    assert_eq!((said.code, said.errors.as_str()), (0, ""));
    let said = desk.check("resume steps --with new.scm", 4, "");
    assert!(
        said.errors
            .contains("steps/main-new begins with new.scm and 3 recorded answers"),
        "{}",
        said.errors
    );
    desk.check("answer steps/main-new Ada", 0, "Hi, Ada\n");
    desk.check("answer steps/main Bob", 0, "Hello, Bob\n");
    assert_eq!(done(&desk), "one\ntwo\nthree\n");
    for branch in ["main", "main-new"] {
        desk.check(&format!("replay steps/{branch}"), 0, "identical: 5 turns\n");
    }
}

#[test]
fn a_changed_argument_is_told_with_both_values_and_nothing_changes_under_dry_run() {
    let desk = steps();
    write(&desk, "new.scm", &STEPS.replace("\"three\"", "\"drei\""));
    let before = journal(&desk);
    let said = desk.duet("resume steps --with new.scm --dry-run");
    insta::assert_snapshot!("a_changed_argument", format!("{}{}", said.output, said.errors));
    assert_eq!(said.code, 3);
    let found = desk.report("replay steps --with new.scm");
    assert_eq!(
        ["same", "moved", "new", "no_longer_asked"].map(|list| count(&found, list)),
        [2, 0, 1, 2]
    );
    assert_eq!(found["new"][0]["arguments"]["arguments"][2], "echo drei >> done.txt");
    assert_eq!(
        found["new"][0]["nearest"]["arguments"]["arguments"][2],
        "echo three >> done.txt"
    );
    assert_eq!(found["no_longer_asked"][0]["effect"], "irreversible");
    assert_eq!(journal(&desk), before);
    assert_eq!(done(&desk), "one\ntwo\nthree\n");
    desk.check("resume steps --with new.scm --branch mended", 4, "drei\n");
    assert_eq!(done(&desk), "one\ntwo\nthree\ndrei\n");
    desk.check("answer steps/mended Ada", 0, "Hello, Ada\n");
}

#[test]
fn calls_that_swap_places_keep_their_answers() {
    let text = r#"(define (ask prompt) (await (user-input :prompt prompt)))
(define first (ask "First?"))
(define second (ask "Second?"))
(display (list first second))
(ask "Enough?")
"#;
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    desk.check("answer steps one", 4, "");
    desk.check("answer steps two", 4, "(one two)");
    let (first, second) = (
        "(define first (ask \"First?\"))\n",
        "(define second (ask \"Second?\"))\n",
    );
    write(
        &desk,
        "new.scm",
        &text.replace(&format!("{first}{second}"), &format!("{second}{first}")),
    );
    let found = desk.report("resume steps --with new.scm --dry-run");
    assert_eq!(
        ["same", "moved", "new", "no_longer_asked"].map(|list| count(&found, list)),
        [2, 1, 0, 0],
        "{found}"
    );
    assert_eq!(found["output"]["now"].as_array().map(Vec::len), Some(0));
    desk.check("resume steps --with new.scm", 4, "");
}

/// Three calls at once, the last of which fails as the program sees it.
const PARALLEL: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (count name code)
  (define ended
    (call-tool 'shell 'process/run
      (dictionary 'arguments
        (list "sh" "-c" (string-append "echo " name " >> done.txt; exit " code)))))
  (unless (eqv? (dictionary-ref ended 'exit) 0) (error "it failed" name))
  name)
(display (par-map (lambda (item) (count (car item) (cadr item)))
           '(("one" "0") ("two" "0") ("three" "1")) :limit 1))
"#;

#[test]
fn a_parallel_map_calls_only_its_failed_item_again() {
    let desk = desk_of(PARALLEL);
    assert_eq!(desk.duet("run steps").code, 1);
    write(
        &desk,
        "new.scm",
        &PARALLEL.replace("(\"three\" \"1\")", "(\"three\" \"0\")"),
    );
    desk.check("resume steps --with new.scm", 0, "(one two three)");
    let done = done(&desk);
    let times = |name| done.lines().filter(|line| *line == name).count();
    assert_eq!(["one", "two", "three"].map(times), [1, 1, 2], "{done}");
}

/// A call whose failure ends the run.
const FAILING: &str = r#"(define (run . words) (call-tool 'shell 'process/run (dictionary 'arguments words)))
(run "sh" "-c" "echo one >> done.txt")
(define ended (run "./tool.sh"))
(display (dictionary-ref ended 'exit))
"#;

#[test]
fn a_recorded_failure_is_given_again_unless_it_is_to_be_retried() {
    let desk = desk_of(FAILING);
    let said = desk.duet("run steps");
    assert_eq!(said.code, 1, "{}", said.errors);
    let kind = "not-found";
    assert!(said.errors.contains(kind), "{}", said.errors);
    std::fs::write(desk.path("tool.sh"), "#!/bin/sh\necho done\n").expect("a file");
    let made = std::process::Command::new("chmod")
        .arg("+x")
        .arg(desk.path("tool.sh"))
        .status();
    assert!(made.expect("chmod").success());
    let said = desk.duet("resume steps --with steps/main.scm --branch again");
    assert_eq!(
        said.code, 1,
        "the failure is the answer of the same request: {}",
        said.errors
    );
    let line = format!("resume steps --with steps/main.scm --retry-errors {kind} --branch retried");
    desk.check(&line, 0, "0");
    assert_eq!(done(&desk), "one\n", "what succeeded is not called again");
}

#[test]
fn a_mended_call_is_made_and_earlier_ones_are_not_made_again() {
    let desk = desk_of(FAILING);
    assert_eq!(desk.duet("run steps").code, 1);
    let mended = FAILING.replace("(run \"./tool.sh\")", "(run \"echo\" \"mended\")");
    write(&desk, "new.scm", &mended);
    desk.check("resume steps --with new.scm", 0, "0");
    assert_eq!(done(&desk), "one\n");
    assert_eq!(desk.duet("fsck --deep").code, 0);
}

#[test]
fn files_that_were_replaced_keep_what_they_replaced_on_the_new_branch() {
    let text = r#"(define (put text)
  (call-tool 'files 'workspace/write (dictionary 'path "out.txt" 'content text)))
(put "first")
(put "second")
(display (await (user-input :prompt "Enough?")))
"#;
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    write(&desk, "out.txt", "by hand");
    write(&desk, "new.scm", &text.replace("Enough?", "Really?"));
    desk.check("resume steps --with new.scm", 4, "");
    let there = || std::fs::read_to_string(desk.path("out.txt")).expect("a file");
    assert_eq!(there(), "by hand", "no call was made again");
    desk.check("goto steps/main-new@1 --workspace", 1, "");
    write(&desk, "out.txt", "second");
    assert_eq!(desk.duet("goto steps/main-new@1 --workspace").code, 0);
    assert!(!desk.path("out.txt").exists() || there() == "first", "{}", there());
    assert_eq!(desk.duet("undo steps/main-new").code, 0);
    desk.check("answer steps/main-new yes", 0, "yes");
    assert_eq!(desk.duet("fsck --deep").code, 0);
    assert_eq!(desk.duet("export steps steps.duet").code, 0);
    assert_eq!(desk.duet("import steps.duet --journal other.sqlite").code, 0);
    let said = desk.duet("replay steps/main-new --journal other.sqlite");
    assert!(said.output.starts_with("identical: "), "{}{}", said.output, said.errors);
}

#[test]
fn a_text_that_is_replaced_while_a_question_is_open_changes_nothing_in_the_run() {
    let text = "(define (say answer) (display (string-append \"old \" answer)))\n\
                (say (await (user-input :prompt \"Name?\")))\n";
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    std::fs::remove_file(desk.path("steps/main.scm")).expect("it is there");
    write(&desk, "steps/main.scm", &text.replace("old", "new"));
    desk.check("answer steps Ada", 0, "old Ada");
    let said = desk.duet("resume steps --with steps/main.scm --dry-run");
    assert!(
        said.output.ends_with("output\n  - old Ada\n  + new Ada\n"),
        "{}",
        said.output
    );
}

#[test]
fn code_that_cannot_be_compiled_changes_nothing_and_shows_all_errors() {
    let desk = steps();
    write(&desk, "new.scm", "(display unbound-one)\n(if)\n(let ((x)) x)\n");
    let before = journal(&desk);
    let said = desk.check("resume steps --with new.scm", 1, "");
    assert!(said.errors.matches("error").count() > 1, "{}", said.errors);
    assert_eq!(journal(&desk), before);
    desk.check("answer steps Ada", 0, "Hello, Ada\n");
}

#[test]
fn code_that_loops_can_be_interrupted_and_changes_nothing() {
    let desk = steps();
    write(&desk, "new.scm", "(let loop () (loop))\n");
    let before = journal(&desk);
    let mut child = desk.spawn("resume steps --with new.scm");
    let stopped = std::process::Command::new("kill")
        .arg("-INT")
        .arg(child.id().to_string())
        .status();
    assert!(stopped.expect("kill").success());
    assert!(!child.wait().expect("it ends").success());
    assert_eq!(journal(&desk), before);
    desk.check("answer steps Ada", 0, "Hello, Ada\n");
}

#[test]
fn strict_refuses_to_leave_answers() {
    let desk = steps();
    write(&desk, "new.scm", &STEPS.replace("(note \"two\")\n", ""));
    let before = journal(&desk);
    let said = desk.check("resume steps --with new.scm --strict", 3, "");
    assert!(said.errors.contains("process/run in note"), "{}", said.errors);
    assert_eq!(journal(&desk), before);
    desk.check("resume steps --with new.scm", 4, "");
    assert_eq!(done(&desk), "one\ntwo\nthree\n");
}

#[test]
fn answers_up_to_a_turn_are_given_and_later_calls_are_made_again() {
    let desk = steps();
    desk.check("resume steps --with steps/main.scm --from steps@2", 4, "two\nthree\n");
    assert_eq!(
        done(&desk),
        "one\ntwo\nthree\nthree\n",
        "the second call was made in turn 2"
    );
    let said = desk.check("resume steps --with steps/main.scm --branch main", 2, "");
    assert!(said.errors.contains("has a branch main already"), "{}", said.errors);
}

#[test]
fn a_further_call_of_the_same_kind_is_made_and_the_shift_is_told() {
    let desk = desk_of(&STEPS.replace("\"two\"", "\"one\""));
    desk.check("run steps", 4, "one\none\nthree\n");
    write(
        &desk,
        "new.scm",
        &STEPS.replace("(note \"two\")", "(note \"one\") (note \"one\")"),
    );
    let found = desk.report("resume steps --with new.scm --dry-run");
    assert_eq!(
        ["same", "new", "asked_more_often"].map(|list| count(&found, list)),
        [2, 1, 1],
        "{found}"
    );
    let shifted = &found["asked_more_often"][0];
    assert_eq!(
        (&shifted["before"], &shifted["now"]),
        (&Value::from(2), &Value::from(3))
    );
}

#[test]
fn a_call_that_moves_to_another_definition_is_told_and_not_made_again() {
    let desk = steps();
    let moved = STEPS.replace("(note \"two\")", "(define (second) (note \"two\") 2)\n(second)");
    write(&desk, "same.scm", &moved);
    assert!(desk.report("replay steps --with same.scm")["identical"] == true);
    let renamed = STEPS.replace("note", "write-down");
    write(&desk, "new.scm", &renamed);
    let found = desk.report("resume steps --with new.scm --dry-run");
    assert_eq!(
        ["same", "moved", "new"].map(|list| count(&found, list)),
        [1, 3, 0],
        "{found}"
    );
    desk.check("resume steps --with new.scm", 4, "");
    assert_eq!(done(&desk), "one\ntwo\nthree\n");
}

#[test]
fn timers_and_lost_races_are_repeated() {
    let text = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(sleep 5)
(define fast (race (lambda () (sleep 1) 'fast)
                   (lambda () (await (user-input :prompt "Slow?")) 'slow)))
(display fast)
(display (await (user-input :prompt "Enough?")))
"#;
    let desk = desk_of(text);
    desk.check("run steps", 4, "fast");
    let found = desk.report("resume steps --with steps/main.scm --dry-run");
    assert!(found["identical"] == true, "{found}");
    desk.check("resume steps --with steps/main.scm", 4, "");
    desk.check("answer steps/main-new yes", 0, "yes");
    assert_eq!(desk.duet("replay steps/main-new").code, 0);
}

#[test]
fn a_session_of_the_prompt_has_no_program_to_change() {
    let desk = Desk::new(&[("new.scm", "")]);
    desk.feed("repl --name steps", "(define x 3)\n");
    let said = desk.check("resume steps --with new.scm", 1, "");
    assert!(said.errors.contains("steps is a run of the prompt"), "{}", said.errors);
}

#[test]
fn what_was_told_comes_where_it_stood() {
    let text = r#"(display (await (signal 'first)))
(display (await (user-input :prompt "Name?")))
(display (await (signal 'second)))
(await (user-input :prompt "Enough?"))
"#;
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    for line in ["signal steps first 1", "answer steps Ada", "signal steps second 2"] {
        assert_eq!(desk.duet(line).code, 4, "{line}");
    }
    write(&desk, "new.scm", &text.replace("Enough", "Really"));
    let found = desk.report("resume steps --with new.scm --dry-run");
    assert_eq!(
        ["same", "new", "inputs_left"].map(|list| count(&found, list)),
        [1, 1, 0],
        "{found}"
    );
    write(&desk, "other.scm", &text.replace("Name", "Your name"));
    let found = desk.report("resume steps --with other.scm --dry-run");
    assert_eq!(
        ["same", "new", "inputs_left"].map(|list| count(&found, list)),
        [0, 1, 1],
        "what was told after an answer that is missing is not given: {found}"
    );
}

/// A clerk that counts its orders.
const CLERK: &str = r#"(define (clerk name)
  (define count 0)
  (on-message (order)
    (set! count (+ count 1))
    (display (list name count))
    (newline)))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config "ada")
(define (wait)
  (await (user-input :prompt "next?"))
  (message! (record 'order))
  (wait))
(wait)
"#;

/// The turn in which it begins anew.
const RESTART: u64 = 5;

/// A run in which the clerk counted one order, began anew, and counted another.
fn restarted() -> Desk {
    let desk = desk_of(CLERK);
    desk.check("run steps", 4, "");
    desk.check("answer steps x", 4, "(ada 1)\n");
    assert_eq!(desk.duet("restart steps clerk").code, 0);
    desk.check("answer steps x", 4, "(ada 1)\n");
    desk
}

#[test]
fn an_actor_that_began_anew_does_so_again_with_changed_code() {
    let desk = restarted();
    write(&desk, "same.scm", &format!(";; The same.\n{CLERK}"));
    let said = desk.duet("resume steps --with same.scm --dry-run");
    assert!(said.output.starts_with("identical: "), "{}{}", said.output, said.errors);
    // The order of actors is another one, but the path of names is not.
    let other = "(define (guest x) (await (signal 'over)))\n(register-entity! 'guest guest)\n(spawn-entity! 'guest)\n";
    let moved = CLERK.replace("(spawn-entity! 'clerk", &format!("{other}(spawn-entity! 'clerk"));
    write(
        &desk,
        "new.scm",
        &moved.replace("(list name count)", "(list name count 'orders)"),
    );
    let found = desk.report("resume steps --with new.scm --dry-run");
    assert_eq!(
        found["output"]["now"],
        serde_json::json!(["(ada 1 orders)", "(ada 1 orders)"])
    );
    assert_eq!(count(&found, "inputs_left"), 0, "{found}");
    assert_eq!(desk.duet("resume steps --with new.scm").code, 4);
    desk.check("answer steps/main-new x", 4, "(ada 2 orders)\n");
    let replayed = desk.duet("replay steps/main-new");
    assert!(replayed.output.starts_with("identical: "), "{}", replayed.errors);
}

#[test]
fn a_restart_is_told_if_its_actor_is_missing_or_cannot_begin() {
    let desk = restarted();
    let turn = RESTART;
    write(&desk, "renamed.scm", &CLERK.replace("'clerk", "'seller"));
    let found = desk.report("replay steps --with renamed.scm");
    let left = serde_json::json!([{ "turn": turn, "kind": "restart", "text": "main/clerk", "failure": null }]);
    assert_eq!(found["inputs_left"], left);
    let said = desk.duet("replay steps --with renamed.scm");
    assert!(
        said.output
            .contains(&format!("not given: the restart of steps@{turn}: main/clerk\n")),
        "{}",
        said.output
    );
    // An id that is drawn tells the second beginning from the first.
    let closing = |id: &str| {
        let close = format!("(if (equal? (generate-request-id! 'clerk 'id) \"{id}\") (car '()))");
        CLERK.replace("(define count 0)", &format!("(define count 0)\n  {close}"))
    };
    write(&desk, "open.scm", &closing("none"));
    assert_eq!(desk.duet("resume steps --with open.scm --branch open").code, 4);
    let shown = desk.duet(&format!("show steps/open@{turn}")).output;
    let drawn = shown.split_once("generate-request-id \"").expect("an id").1;
    let drawn = drawn.split('"').next().expect("an end");
    write(&desk, "closing.scm", &closing(drawn));
    let said = desk.duet("replay steps/main --with closing.scm");
    assert!(
        said.output
            .contains(&format!("failed: the restart of steps@{turn}: main/clerk: ")),
        "{}",
        said.output
    );
    assert!(said.output.contains("(ada 2)"), "{}", said.output);
}

#[test]
fn patches_of_the_old_text_are_told_and_not_applied() {
    let text = "(define (greet name) (display (list 'hello name)) (newline))\n\
                (define (wait) (greet (await (user-input :prompt \"Name?\"))) (wait))\n(wait)\n";
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    desk.check("answer steps Ada", 4, "(hello Ada)\n");
    for (file, word, turns) in [
        ("a.scm", "hi", "was not"),
        ("b.scm", "hey", "s of the old text were not"),
    ] {
        write(&desk, file, &text.replace("hello", word));
        assert_eq!(desk.duet(&format!("patch steps {file}")).code, 0);
        let said = desk.duet("replay steps --with a.scm");
        assert!(said.output.contains(turns), "{}", said.output);
    }
    desk.check("answer steps Bob", 4, "(hey Bob)\n");
    let found = desk.report("resume steps --with a.scm --dry-run");
    assert_eq!(found["patches_left"], serde_json::json!([3, 4]));
    assert_eq!(found["output"]["now"], serde_json::json!(["(hi Ada)", "(hi Bob)"]));
    let said = desk.duet("resume steps --with a.scm");
    assert!(
        said.errors
            .contains("2 patches of the old text were not applied: steps@3, steps@4"),
        "{}",
        said.errors
    );
    desk.check("answer steps/main-new Eve", 4, "(hi Eve)\n");
}

#[test]
fn a_diff_aligns_what_two_branches_ask() {
    let text = r#"(define (ask prompt) (await (user-input :prompt prompt)))
(define first (ask "What is the first of all things to do here?"))
(define second (ask "Second?"))
(define third (ask "What shall we say to all of them in the end?"))
(display first)
(ask "Enough?")
"#;
    let desk = desk_of(text);
    desk.check("run steps", 4, "");
    for answer in ["one", "two", "three"] {
        desk.duet(&format!("answer steps {answer}"));
    }
    let (first, second) = (
        text.lines().nth(1).expect("a line"),
        text.lines().nth(2).expect("a line"),
    );
    let new = text
        .replace(&format!("{first}\n{second}\n"), &format!("{second}\n{first}\n"))
        .replace("in the end", "at last");
    write(&desk, "new.scm", &new);
    assert_eq!(desk.duet("resume steps --with new.scm").code, 4);
    assert_eq!(desk.duet("answer steps/main-new drei").code, 4);
    insta::assert_snapshot!(
        "a_diff_of_what_is_asked",
        desk.duet("diff steps/main steps/main-new").output
    );
    insta::assert_snapshot!(
        "a_diff_in_numbers",
        desk.duet("diff steps/main steps/main-new --stat").output
    );
    let found = desk.report("diff steps/main steps/main-new");
    let asked = &found["asked"];
    assert_eq!(
        ["moved", "changed", "left", "right"].map(|list| count(asked, list)),
        [1, 1, 0, 0],
        "{asked}"
    );
    assert_eq!(asked["changed"][0]["right"]["ok"], "drei");
    desk.check("fork steps/main@1 other", 0, "");
    desk.duet("answer steps/other uno");
    let found = desk.report("diff steps/main@2 steps/other");
    let otherwise = &found["asked"]["answered_otherwise"];
    assert_eq!(
        (&otherwise[0]["left"]["ok"], &otherwise[0]["right"]["ok"]),
        (&Value::from("one"), &Value::from("uno"))
    );
}

#[test]
fn the_list_of_runs_shows_the_branch_that_goes_on() {
    let waiting = |said: &str| format!("(display \"{said}\")\n(await (signal 'go))\n");
    let desk = Desk::new(&[
        ("p.scm", &waiting("one")),
        ("q.scm", &waiting("two")),
        ("other.scm", &waiting("other")),
    ]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    assert_eq!(desk.duet("resume p --with q.scm").code, 4);
    // Another run is the one that was used last.
    assert_eq!(desk.duet("run other.scm").code, 4);
    let names = |line: &str| {
        let output = desk.duet(line).output;
        let rows = output.lines().skip(1);
        rows.filter_map(|row| row.split_whitespace().next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(names("runs"), ["other", "p/main-new"]);
    assert_eq!(names("runs --branches"), ["other", "p", "p/main-new"]);
    let json = desk.report("runs");
    assert_eq!((&json[1]["run"], &json[1]["branch"]), (&"p".into(), &"main-new".into()));
}

#[test]
fn code_that_only_asserts_something_else_is_not_identical() {
    let desk = steps();
    write(&desk, "new.scm", &format!("(assert! (record 'price 4))\n{STEPS}"));
    let said = desk.duet("replay steps --with new.scm");
    assert!(said.output.contains("facts\n  + <price 4>"), "{said:?}");
}
