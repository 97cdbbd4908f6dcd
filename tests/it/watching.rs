//! A run whose program is watched while somebody edits it, by the real command.
//!
//! INVARIANT: a file that a tool appends to counts the calls; tests wait for lines that the command
//! shows, never for a time.
//! Read next: `rerun.rs`, `support/running.rs`.

use crate::support::desk::Desk;
use crate::support::running::Running;

/// A call that counts itself, a library, and a question.
const GREETING: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (words))
(define (note text)
  (call-tool 'shell 'process/run
    (dictionary 'arguments (list "sh" "-c" (string-append "echo " text " >> done.txt"))))
  (display text)
  (newline))
(note "one")
(display hello)
(newline)
(define name (await (user-input :prompt "Name?")))
(display (string-append "Hello, " name "\n"))
"#;

fn words(hello: &str) -> String {
    format!("(define-library (words) (export hello) (import (scheme base)) (begin (define hello \"{hello}\")))")
}

fn desk() -> Desk {
    let manifest = r#"((program "main.scm") (tools process/run))"#;
    Desk::new(&[
        ("steps/manifest.scm", manifest),
        ("steps/main.scm", GREETING),
        ("steps/words.sld", &words("hello")),
    ])
}

fn done(desk: &Desk) -> String {
    std::fs::read_to_string(desk.path("done.txt")).unwrap_or_default()
}

fn save(desk: &Desk, name: &str, text: &str) {
    std::fs::write(desk.path(name), text).expect("a file");
}

#[test]
fn a_save_shows_what_the_same_past_would_have_become_and_calls_nothing() {
    let desk = desk();
    let mut running = Running::start(&desk, "run --watch steps");
    running.until("hello");
    running.until_message("waits for an answer");
    save(&desk, "steps/words.sld", &words("welcome"));
    running.until("  - hello");
    running.until("  + welcome");
    save(&desk, "steps/main.scm", &GREETING.replace("\"one\"", "\"two\""));
    let report = running.until("echo two");
    assert!(report.contains("1 new"), "{report}");
    assert_eq!(done(&desk), "one\n");
    assert_eq!(desk.duet("branches steps").output.lines().count(), 1);
    running.type_line("l");
    running.until("welcome");
    assert_eq!(done(&desk), "one\ntwo\n");
    running.type_line("q");
    let (code, errors) = running.end();
    assert_eq!(code, Some(4), "it waits for an answer: {errors}");
    for told in [
        "steps waits for an answer: Name?",
        "steps/words.sld\n",
        "`l` goes on with the run, `q` or Ctrl-C ends it",
        "steps/main-new begins with steps and 0 recorded answers",
        "the watch of steps/main-new has ended",
    ] {
        assert!(errors.contains(told), "{told:?} is not in\n{errors}");
    }
    desk.check("answer steps/main-new Ada", 0, "Hello, Ada\n");
    desk.check("answer steps/main Bob", 0, "Hello, Bob\n");
}

#[test]
fn a_text_that_does_not_compile_is_told_and_watched_and_a_live_run_goes_on_at_each_save() {
    let desk = desk();
    save(
        &desk,
        "steps/main.scm",
        &GREETING.replace("(note \"one\")", "(note \"one\""),
    );
    let mut running = Running::start(&desk, "run --watch --live steps");
    running.until_message("this parenthesis is never closed");
    running.until_message("watches 3 files; `q` or Ctrl-C ends it");
    save(&desk, "steps/main.scm", GREETING);
    running.until("hello");
    running.until_message("steps waits for an answer");
    running.until_message("watches ");
    save(&desk, "steps/words.sld", &words("welcome"));
    running.until("welcome");
    running.until_message("steps/main-new begins with steps and 1 recorded answer");
    running.until_message("watches ");
    save(&desk, "steps/words.sld", "(define-library (words) (export hello");
    running.until_message("this parenthesis is never closed");
    save(&desk, "steps/words.sld", &words("good day"));
    running.until("good day");
    running.until_message("steps/main-new-2 begins with steps and 1 recorded answer");
    running.until_message("watches ");
    running.signal("-INT");
    running.until_message("the watch of steps/main-new-2 has ended; `duet log steps/main-new-2` lists its turns");
    assert_eq!(running.end().0, Some(4));
    assert_eq!(done(&desk), "one\n");
}

#[test]
fn a_library_that_is_missing_is_noticed_when_it_comes() {
    let desk = desk();
    std::fs::remove_file(desk.path("steps/words.sld")).expect("it is there");
    let mut running = Running::start(&desk, "run --watch steps");
    running.until_message("there is no library (words)");
    running.until_message("watches 2 files");
    save(&desk, "steps/words.sld", &words("hello"));
    running.until("hello");
    running.until_message("watches 3 files");
    // The program compiles, so other files in its folder do not concern it.
    save(&desk, "steps/other.txt", "");
    save(&desk, "steps/words.sld", &words("welcome"));
    running.until("  + welcome");
    running.type_line("q");
    let (_, errors) = running.end();
    let changed: Vec<&str> = errors.lines().filter(|line| line.starts_with("changed: ")).collect();
    assert!(
        matches!(&changed[..], [_, last] if last.ends_with(": steps/words.sld")),
        "{errors}"
    );
}

#[test]
fn a_run_that_is_under_way_stops_at_a_save_and_goes_on_if_nothing_has_changed() {
    let program = "(display \"begins\\n\")\n(await (signal 'go))\n(sleep 1)\n(display \"ends\\n\")\n";
    let desk = Desk::new(&[(
        "wait.scm",
        &program.replace("(await (signal 'go))", "(sleep 100000000)"),
    )]);
    let mut running = Running::start(&desk, "run --watch wait.scm");
    running.until("begins");
    save(
        &desk,
        "wait.scm",
        &program.replace("(await (signal 'go))", "(sleep 100000000) "),
    );
    save(&desk, "wait.scm", program);
    running.until("wait.scm on the answers of wait@");
    save(&desk, "wait.scm", &program.replace("ends", "stops"));
    running.until("wait.scm on the answers of wait@");
    running.type_line("l");
    running.type_line("q");
    let (code, errors) = running.end();
    assert_eq!(code, Some(4), "{errors}");
    desk.check("signal wait/main-new go", 0, "stops\n");
    let said = desk.duet("run --watch -");
    assert_eq!(said.code, 2);
    assert!(
        said.errors.contains("standard input cannot be watched"),
        "{}",
        said.errors
    );
}
