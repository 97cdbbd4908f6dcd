//! Failures that nobody took, as a person sees them.
//!
//! Owns the proof that a failure of an actor is shown once, by every command that runs turns,
//! unless something in the program takes it.
//! INVARIANT: every test looks at standard error and the exit code of the command.
//! It does not test what a failure undoes; `../programs/actors.rs` and the runtime's tests do.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::support::desk::{CommandOutput, Desk};

/// Entities that fail in different ways.
const FARM: &str = r#"(define-library (farm)
  (export worker slow spinner tidy boss reader filler holder)
  (import (scheme base) (duet base) (duet dataspace) (duet supervision))
  (begin
    (define (worker c)
      (sleep 10)
      (error "agent broke" c))
    (define (slow c)
      (sleep 200)
      (error "agent broke" c))
    (define (spinner c)
      (spawn (lambda () (sleep 5) (vector-ref (vector) c))))
    (define (tidy c)
      (on-exit (lambda (reason) (log! "tidied")))
      (worker c))
    (define (boss c)
      (spawn-linked-entity! 'worker :config c))
    (define (filler c) (let fill ((held '())) (fill (cons c held))))
    (define held #f)
    (define (holder c) (set! held (make-vector 1000000 c)))
    (define (reader c)
      (invoke-tool! 'reader "workspace/read" (dictionary 'path "a.txt"))
      (assert! (record 'read c)))))
"#;

const ROLES: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet supervision) (farm))
(register-entity! 'worker worker)
(register-entity! 'slow slow)
(register-entity! 'spinner spinner)
(register-entity! 'tidy tidy)
(register-entity! 'boss boss)
(register-entity! 'reader reader)
(register-entity! 'filler filler)
(register-entity! 'holder holder)
";

fn desk(program: &str) -> Desk {
    Desk::new(&[("farm.sld", FARM), ("farm.scm", &format!("{ROLES}{program}"))])
}

fn run(program: &str) -> (Desk, CommandOutput) {
    let desk = desk(program);
    let said = desk.duet("run farm.scm");
    (desk, said)
}

#[track_caller]
fn check_times(said: &CommandOutput, text: &str, times: usize) {
    // The last lines name the failure that came first once more.
    let told = said.errors.split("first failure: ").next().unwrap();
    assert_eq!(told.matches(text).count(), times, "{text:?} in {}", said.errors);
}

#[test]
fn a_failure_that_nobody_takes_is_shown_with_its_actor_place_and_turn() {
    let (desk, said) = run("(spawn-entity! 'worker ':config 7)\n(display \"well\")\n");
    assert_eq!((said.output.as_str(), said.code), ("well", 1), "{}", said.errors);
    insta::assert_snapshot!("a_failure_that_nobody_takes", said.errors);
    desk.check("replay --check farm", 0, "identical: 3 turns\n");
    let again = desk.duet("resume farm");
    check_times(&again, "agent broke", 0);
    check_times(
        &again,
        "an actor failed, and nothing took its failure: worker in turn",
        1,
    );
    assert_eq!(again.code, 1, "{}", again.errors);
}

#[test]
fn a_failing_fiber_ends_its_actor_and_is_shown() {
    let (_, said) = run("(spawn-entity! 'spinner ':config 3)");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "error[out-of-range]", 1);
    check_times(&said, "spinner (actor 1) failed in turn", 1);
    check_times(&said, "farm.sld:12", 1);
}

#[test]
fn what_the_spawner_is_told_of_is_not_shown() {
    for taker in [
        "(spawn-entity! 'worker ':on-exit (lambda (reason) (log! (condition-message reason))))",
        "(supervise 'one-for-one (list (child 'worker :config 1 :restart 'temporary)))",
        // It fails once, is started again, and is stopped long before it can fail again.
        "(define s (supervise 'one-for-one (list (child 'slow :config 1 :restart 'transient))))
         (sleep 300)
         (stop-supervisor! s)",
    ] {
        let (_, said) = run(taker);
        assert_eq!(said.code, 0, "{taker}: {}", said.errors);
        check_times(&said, "error", 0);
    }
}

#[test]
fn a_failure_that_goes_up_a_link_is_shown_where_it_ends() {
    let (_, said) = run("(spawn-entity! 'boss ':config 7)");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "agent broke", 1);
    check_times(&said, "boss (actor 1) failed in turn", 1);
    check_times(&said, "worker (actor 2) failed in turn", 0);
    let (_, said) = run("(spawn-linked-entity! 'worker :config 7)");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "agent broke", 1);
    check_times(&said, "actors failed", 0);
    let (_, said) = run("(spawn-entity! 'boss ':config 7 ':on-exit (lambda (reason) 'taken))");
    assert_eq!((said.errors.as_str(), said.code), ("", 0));
}

#[test]
fn a_supervisor_that_gives_up_fails_in_place_of_its_children() {
    let (_, said) = run("(supervise 'one-for-one (list (child 'worker :config 1)) ':intensity 1 ':period 5000)");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "agent broke", 1);
    check_times(&said, "worker (actor", 0);
}

#[test]
fn an_actors_own_exit_hook_takes_no_failure() {
    let (_, said) = run("(spawn-entity! 'tidy ':config 7)");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "tidied", 1);
    check_times(&said, "tidy (actor 1) failed in turn", 1);
}

#[test]
fn a_failure_whose_taker_is_gone_or_fails_too_is_shown() {
    let stopped = "(define here (spawn-facet!))
(spawn (lambda () (spawn-entity! 'worker ':config 7 ':link #f ':on-exit (lambda (reason) 'taken))) here)
(sleep 1)
(stop-facet! here)";
    let (_, said) = run(stopped);
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "error[error]: agent broke", 1);
    let failing = "(spawn-entity! 'worker ':config 7 ':on-exit (lambda (reason) (car reason)))";
    let (_, said) = run(failing);
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "error[error]", 0);
    check_times(&said, "argument 1 of car must be a pair", 1);
}

#[test]
fn denied_agents_are_named_where_the_program_waits_for_them() {
    let program = "(for-each (lambda (n) (spawn-entity! 'reader ':config n)) '(1 2 3 4))
(for-each (lambda (n) (await (record 'read ':field 0 ':equals n))) '(1 2 3 4))";
    let desk = desk(program);
    fs::write(desk.path("manifest.scm"), "((program \"farm.scm\") (tools spawn))").unwrap();
    let said = desk.duet("run .");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "error[capability-denied]", 4);
    check_times(
        &said,
        "4 actors failed, and nothing took their failures: reader in turn",
        1,
    );
}

#[test]
fn the_prompt_shows_failures_of_actors_too() {
    let desk = Desk::new(&[("listed/farm.sld", FARM)]);
    let said = desk.feed(
        "repl",
        "(import (farm))\n(register-entity! 'worker worker)\n(define a (spawn-entity! 'worker ':config 7))\n(+ 1 2)\n",
    );
    check_times(&said, "error[error]: agent broke", 1);
    check_times(&said, "worker (actor 1) failed in turn", 1);
    check_times(&said, "`,show ", 1);
    assert!(said.output.ends_with("3\n"), "{}", said.output);
    assert_eq!(said.code, 1);
}

#[test]
fn answering_shows_failures_too() {
    let program = "(define name (await (user-input :prompt \"Name?\")))
(spawn-entity! 'worker ':config name)";
    let (desk, said) = run(program);
    assert_eq!(said.code, 4, "{}", said.errors);
    let said = desk.duet("answer farm Ada");
    assert_eq!(said.code, 1, "{}", said.errors);
    check_times(&said, "agent broke: \"Ada\"", 1);
}

/// What somebody does to a journal.
type Harm = fn(&Path);

/// A program that writes a line every few milliseconds.
const TICKER: &str = "(let loop ((n 0))
  (display n)
  (newline)
  (sleep 20)
  (if (< n 500) (loop (+ n 1))))
";

/// Starts the ticker, does something after its fifth line, and returns what it said.
fn ticking(desk: &Desk, harm: impl FnOnce()) -> CommandOutput {
    let mut child = desk.spawn("run ticker.scm");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut output: Vec<String> = lines.by_ref().take(5).map(Result::unwrap).collect();
    harm();
    output.extend(lines.map(Result::unwrap));
    let done = child.wait_with_output().unwrap();
    CommandOutput {
        output: output.join("\n"),
        errors: String::from_utf8(done.stderr).unwrap(),
        code: done.status.code().unwrap(),
    }
}

#[test]
fn a_run_whose_journal_is_taken_away_stops_and_saves_it() {
    let harms: [(&str, Harm); 4] = [
        ("was deleted or moved away", |path| fs::remove_file(path).unwrap()),
        ("was deleted or moved away", |path| {
            fs::remove_dir_all(path.parent().unwrap()).unwrap()
        }),
        ("was replaced by another file", |path| {
            let other = path.with_file_name("other");
            fs::write(&other, "another file").unwrap();
            fs::rename(other, path).unwrap();
        }),
        ("to 0 bytes", |path| {
            fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let desk = Desk::new(&[("ticker.scm", TICKER)]);
        let said = ticking(&desk, || harm(&desk.path(".duet/journal.sqlite")));
        assert_eq!(said.code, 1, "{what}: {}", said.errors);
        check_times(&said, what, 1);
        if what == "to 0 bytes" {
            // The bytes were only in the file.
            check_times(&said, "what was in it could not be saved", 1);
            check_times(&said, "--journal OTHER", 1);
            continue;
        }
        check_times(&said, "`duet resume ticker --journal ", 1);
        let shown = said.output.lines().count();
        let copy = ".duet/journal.rescued.sqlite";
        let kept = desk.duet(&format!("replay --check ticker --journal {copy}"));
        assert_eq!(kept.code, 0, "{what}: {}", kept.errors);
        let log = desk.duet(&format!("log ticker --json --journal {copy}")).output;
        assert!(log.matches("\"turn\":").count() > shown, "{what}: {shown} lines, {log}");
    }
}

#[test]
fn fsck_says_what_it_finds_and_does_not_send_to_itself() {
    let desk = Desk::new(&[("ticker.scm", "(display 1) (newline) (display 2) (newline)")]);
    desk.check("run ticker.scm", 0, "1\n2\n");
    desk.check("run ticker.scm", 0, "1\n2\n");
    let path = desk.path(".duet/journal.sqlite");
    let whole = fs::read(&path).unwrap();
    for length in [whole.len() / 2, 5000, 120] {
        fs::write(&path, &whole[..length]).unwrap();
        for line in ["fsck", "fsck --repair"] {
            let said = desk.duet(line);
            let all = format!("{}{}", said.output, said.errors);
            assert_eq!(said.code, 1, "{length}: {all}");
            assert!(!all.contains("`duet fsck` says"), "{length}: {all}");
            assert!(all.contains("cannot be") || all.contains("damaged"), "{length}: {all}");
        }
    }
    let desk = Desk::new(&[(".duet/journal.sqlite-wal", "")]);
    let said = desk.duet("fsck");
    assert!(said.errors.contains("its write-ahead log is there"), "{}", said.errors);
}

#[test]
fn memory_is_limited_by_the_person_the_manifest_and_the_spawner() {
    let deep = "(define (deep n) (+ 1 (deep (+ n 1))))\n(display (guard (e (#t (condition-kind e))) (deep 0)))";
    let desk = Desk::new(&[
        ("deep.scm", deep),
        ("folder/deep.scm", deep),
        ("folder/manifest.scm", "((program \"deep.scm\") (memory-limit \"64M\"))"),
    ]);
    desk.check("run deep.scm --memory-limit 64M", 0, "out-of-memory");
    desk.check("replay --check deep", 0, "identical: 1 turn\n");
    desk.check("run folder", 0, "out-of-memory");
    for run in ["deep@0", "folder@0"] {
        let shown = desk.duet(&format!("show {run}")).output;
        assert!(
            shown.contains("16777216 bytes a heap, 67108864 bytes all heaps"),
            "{shown}"
        );
    }
    let said = desk.duet("run deep.scm --memory-limit 12");
    assert_eq!(said.code, 2, "{}", said.errors);
    let (_, said) = run("(spawn-entity! 'filler ':memory-limit 4000000 ':on-exit
  (lambda (reason) (display (condition-kind reason))))");
    assert_eq!(
        (said.output.as_str(), said.code),
        ("out-of-memory", 0),
        "{}",
        said.errors
    );
    let (_, said) = run("(spawn-entity! 'filler ':memory-limit 999999999999999)");
    check_times(&said, "bad-memory-limit", 1);
}

#[test]
fn the_actors_of_a_run_together_stay_within_its_memory() {
    let program = "(define (hold n) (spawn-entity! 'holder ':config n))
(for-each hold '(1 2 3 4 5 6 7 8 9 10 11 12))";
    let desk = desk(program);
    let said = desk.duet("run farm.scm --memory-limit 64M");
    assert_eq!(said.code, 1, "{}", said.errors);
    assert!(said.errors.contains("error[memory-exhausted]"), "{}", said.errors);
    check_times(
        &said,
        "the actors, facts and messages of the run together hold more than the 67108864 bytes",
        said.errors.matches("error[memory").count(),
    );
    let replayed = desk.duet("replay --check farm");
    assert_eq!(replayed.code, 0, "{}", replayed.errors);
}

#[test]
fn time_and_chance_are_inputs() {
    let desk = Desk::new(&[(
        "chance.scm",
        "(define drawn (map (lambda (n) (random 6)) '(1 2 3 4 5 6 7 8)))
(define real (random))
(define now (current-time))
(write (list (not (memq #f (map (lambda (n) (< -1 n 6)) drawn))) (and (<= 0 real) (< real 1)) (> now 1700000000000)))
(newline)
(write (list drawn real now))
(newline)
(write (guard (e (#t (condition-kind e))) (random 0)))",
    )]);
    let said = desk.duet("run chance.scm");
    assert!(
        said.output.starts_with("(#t #t #t)\n") && said.output.ends_with("\nwrong-type"),
        "{said:?}"
    );
    let replayed = desk.duet("replay --check chance");
    assert_eq!(replayed.code, 0, "{}", replayed.errors);
    let other = desk.duet("run chance.scm").output;
    assert_ne!(said.output, other, "chance differs from run to run");
}

#[test]
fn an_amended_result_must_be_one_that_the_tool_can_return() {
    let desk = Desk::new(&[
        (
            "look.scm",
            "(define (look) (call-tool 'reader \"workspace/read\" (dictionary 'path \"a.txt\")))
(display (dictionary-ref (look) 'content))",
        ),
        ("a.txt", "text"),
    ]);
    desk.check("run look.scm", 0, "text");
    let turn = "look@2";
    for (input, complaint) in [
        (
            "{}",
            "workspace/read cannot return this: the result lacks the field `content`",
        ),
        (
            "{content: 5, next: #f, size_bytes: 1}",
            "the field `content` of the result must be a string or a bytevector",
        ),
        (
            "text",
            "the result must be a dictionary with the fields content, size_bytes, next",
        ),
    ] {
        let said = desk.duet(&format!("amend {turn} \"{input}\""));
        assert_eq!(said.code, 2, "{input}: {}", said.errors);
        assert!(said.errors.contains(complaint), "{input}: {}", said.errors);
    }
    desk.check("branches look", 0, "@ look/main@2\n");
}

#[test]
fn a_task_that_fails_and_that_nothing_awaits_keeps_the_run_from_ending_well() {
    let (desk, said) = run("(import (duet control)) (async (error \"lost\" 1)) (sleep 1) (display \"done\")");
    assert_eq!((said.code, said.output.as_str()), (1, "done"), "{}", said.errors);
    check_times(&said, "something awaits its task, which failed: lost: 1", 1);
    let waits = desk.duet("waits farm");
    check_times(&waits, "until something awaits its task", 0);
    assert!(
        waits
            .output
            .contains("until something awaits its task, which failed: lost: 1"),
        "{}",
        waits.output
    );
    let (_, said) = run("(import (duet control))
        (define task (async (error \"late\" 1)))
        (sleep 1)
        (guard (failure (#t (display (condition-message failure)))) (await task))");
    assert_eq!((said.code, said.output.as_str(), said.errors.as_str()), (0, "late", ""));
}

#[test]
fn who_goes_on_with_a_run_that_failed_is_told_to_mend_its_program() {
    let desk = Desk::new(&[("p.scm", "(import (scheme base))\n(car 'x)\n")]);
    assert_eq!(desk.duet("run p.scm").code, 1);
    let said = desk.duet("resume p");
    assert_eq!((said.code, said.output.as_str()), (1, ""), "{}", said.errors);
    for told in [
        "`duet explain p`",
        "`duet resume p --with FILE` goes on with a mended program",
    ] {
        assert!(said.errors.contains(told), "{told}: {}", said.errors);
    }
    // The failure would come again there.
    assert!(!said.errors.contains("`duet goto p@0`"), "{}", said.errors);
}
