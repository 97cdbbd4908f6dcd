//! Mistakes in a session: the message that a person sees, and a state that has not changed.
//!
//! INVARIANT: each case prints one message and leaves the facts, the files and the state of the run
//! as they were.
//! Read next: `policy.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::desk::Desk;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, Record, RunId, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::run::source::decode_turn;

const PROGRAM: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet policy))
(define kept (assert! (record 'kept 1)))
(define gone-facet (spawn-facet!))
(stop-facet! gone-facet)
(define gone (assert! (record 'gone)))
(retract! gone)
(yield)
(log! "before")
(yield)
(guard (problem (#t (display (condition-kind problem)) (display ": ") (display (condition-message problem))
                    (for-each (lambda (part) (display " ") (write part)) (condition-irritants problem)) (newline)))
  ATTEMPT
  (display "no condition")
  (newline))
(yield)
(log! "after")
(yield)
(await (user-input :prompt "rest"))
"#;

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect()
}

/// The turn whose log line this is.
fn turn_of(desk: &Desk, line: &str) -> u64 {
    let store = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    let (run, branch) = (RunId::new("p").unwrap(), BranchName::new("main").unwrap());
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let is_it = |action: &Action| matches!(action, Action::Log(log) if log.text == line);
    let logs = |record: &Record| decode_turn(record).is_ok_and(|turn| turn.actions.iter().any(is_it));
    let records = store.read(&run, &branch, all).unwrap();
    records
        .iter()
        .find(|record| logs(record))
        .unwrap()
        .header()
        .sequence
        .number()
}

/// Runs a program with an attempt in it, checks that nothing else has changed, and returns the
/// message that the person sees.
fn attempt(options: &str, attempt: &str, extra: &[(&str, &str)]) -> String {
    let program = PROGRAM.replace("ATTEMPT", attempt);
    let mut all = vec![("p.scm", program.as_str()), ("ws/file.txt", "as it was")];
    all.extend(extra.iter().copied());
    let desk = Desk::new(&all);
    let before = files(&desk.path("ws"));
    let said = desk.duet(&format!("run p.scm --workspace ws {options}"));
    assert_eq!(said.code, 4, "{attempt}: {}{}", said.output, said.errors);
    assert_eq!(files(&desk.path("ws")), before, "{attempt}: no file has changed");
    let (first, last) = (turn_of(&desk, "before"), turn_of(&desk, "after"));
    let facts = |turn: u64| desk.duet(&format!("facts p@{turn}")).output;
    assert_eq!(facts(first), facts(last), "{attempt}: no fact has changed");
    let replayed = desk.duet("replay p --check");
    assert_eq!(replayed.code, 0, "{attempt}: {}", replayed.errors);
    let workspace = desk.path("ws").canonicalize().unwrap().display().to_string();
    let host = options
        .rsplit(' ')
        .next()
        .filter(|word| word.contains(':'))
        .unwrap_or("HOST");
    said.output.replace(&workspace, "WORKSPACE").replace(host, "HOST")
}

#[test]
fn what_a_program_gets_wrong_is_told_and_changes_nothing() {
    let cases = [
        ("unknown role", "(spawn-entity! 'nobody)"),
        ("unknown role to attach", "(attach-entity! 'nobody)"),
        ("dead facet", "(spawn-facet! gone-facet)"),
        ("dead facet to stop", "(stop-facet! gone-facet)"),
        ("double retract", "(retract! gone)"),
        (
            "update of what is gone, undone",
            "(retract! (update! gone (record 'kept 1)))",
        ),
        ("a handle for another actor", "(message! (record 'take kept))"),
        ("no handle", "(retract! 'handle)"),
        (
            "a pattern that cannot match",
            "(watch (record 'group (record 'rec 'p 1) (dictionary 1 (record '_))) (lambda (event) event))",
        ),
        ("a procedure in a pattern", "(watch (list car) (lambda (event) event))"),
        ("a value that cannot be said", "(assert! (record 'p car))"),
        (
            "constraint with a typo",
            "(define-constraint \"c\" :tol 'workspace/read)",
        ),
        (
            "constraint with a wrong predicate",
            "(define-constraint \"c\" :when '(eqal args.path \"x\"))",
        ),
        (
            "constraint with an effect that there is not",
            "(define-constraint \"c\" :effect 'forbid)",
        ),
        ("constraint with a malformed name", "(define-constraint \"a b\")"),
        (
            "tool that was not granted",
            "(call-tool 'w 'process/run (dictionary 'arguments (list \"ls\")))",
        ),
        (
            "tool that there is not",
            "(call-tool 'w 'workspace/burn (dictionary 'path \"file.txt\"))",
        ),
        ("payload that is none", "(call-tool 'w 'workspace/read \"file.txt\")"),
        (
            "payload with a typo",
            "(call-tool 'w 'workspace/read (dictionary 'pth \"file.txt\"))",
        ),
        (
            "payload of a wrong type",
            "(call-tool 'w 'workspace/write (dictionary 'path \"file.txt\" 'content 5))",
        ),
        (
            "path out of the workspace",
            "(call-tool 'w 'workspace/write (dictionary 'path \"../out\" 'content \"x\"))",
        ),
        (
            "patch that does not fit",
            "(call-tool 'w 'workspace/patch
                        (dictionary 'patch \"--- a/file.txt\\n+++ b/file.txt\\n@@ -1 +1 @@\\n-no\\n+yes\\n\"))",
        ),
    ];
    let told: Vec<String> = cases
        .iter()
        .map(|(name, code)| format!("{name}\n  {}", attempt("", code, &[])))
        .collect();
    insta::assert_snapshot!(told.concat());
}

#[test]
fn a_value_that_no_run_can_hold_is_refused_before_it_is_recorded() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
        (on-message (says $name $text) (write (list name text)) (newline))
        (write (record-fields (await (signal 'end))))";
    let desk = Desk::new(&[("room.scm", program)]);
    let begun = desk.duet("run room.scm --name r");
    assert_eq!(begun.code, 4, "{}", begun.errors);
    let turns = desk.duet("log r").output;
    for value in [
        "#:1",
        "#:#f",
        "[#:1]",
        "{a: #:[0 1]}",
        "#:<capability 0>",
        "#:<observer 0 99>",
    ] {
        for line in [
            format!("message r \"<says me {value}>\""),
            format!("signal r end \"{value}\""),
        ] {
            let said = desk.duet(&line);
            assert_eq!(said.code, 2, "{line}: {}", said.errors);
            assert!(
                said.errors.contains("an embedded value stands for nothing here"),
                "{line}: {}",
                said.errors
            );
        }
    }
    assert_eq!(desk.duet("log r").output, turns, "nothing is recorded");
    // A run takes any value, whatever its letters.
    let said = desk.duet("message r \"<says voilà a|b>\"");
    assert_eq!(said.output, "(voilà |a\\|b|)\n");
    desk.check("signal r end \"'x y'\"", 0, "(|x y|)");
}

#[test]
fn what_a_tool_gets_wrong_is_told_and_changes_nothing() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let cases = [
        ("fails", "<fails unavailable \"the line is down\">".to_owned()),
        ("returns 100 MB", format!("<returns \"{}\">", "x".repeat(100 << 20))),
        ("returns something nested too deep", format!("<returns {deep}>")),
        ("returns what no journal can hold", "<returns #:[1 2]>".to_owned()),
        ("has no reply left", String::new()),
    ];
    let code = "(write (call-tool 'w 'odd/tool (dictionary 'a 1)))";
    let mut told = String::new();
    for (name, reply) in cases {
        let script = format!("{{ \"odd/tool\": [{reply}] }}");
        let said = attempt("--double double.pr", code, &[("double.pr", &script)]);
        told += &format!("{name}\n  {said}");
    }
    // A server that accepts the call and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = silent.local_addr().unwrap().to_string();
    let code = format!("(call-tool 'w 'http/get (dictionary 'url \"http://{host}/\" 'timeout_ms 50))");
    told += &format!("times out\n  {}", attempt(&format!("--allow-host {host}"), &code, &[]));
    let code = "(call-tool 'w 'http/get (dictionary 'url \"http://example.org/\"))";
    told += &format!(
        "a server that is not allowed\n  {}",
        attempt(&format!("--allow-host {host}"), code, &[])
    );
    insta::assert_snapshot!(told);
}

#[test]
fn a_pattern_that_cannot_be_is_told_before_anything_is_done() {
    let patterns = [
        "(on-assert (p . $rest) rest)",
        "(on-assert (p ,) 1)",
        "(on-assert (:exact) 1)",
    ];
    let told = patterns.map(|code| {
        let desk = Desk::new(&[("p.scm", &PROGRAM.replace("ATTEMPT", code))]);
        let said = desk.duet("run p.scm");
        assert_eq!(said.output, "", "{code}");
        let runs = desk.duet("runs");
        assert!(
            !runs.output.contains("p/main") || said.code == 4,
            "{code}: {}",
            runs.output
        );
        format!("{code}\n{} [exit {}]\n", said.errors, said.code)
    });
    insta::assert_snapshot!(told.concat());
}

#[test]
fn a_zone_that_does_not_exist_is_refused_where_it_is_named() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet calendar))
        (define (kind thunk) (guard (e (#t (condition-kind e))) (thunk) 'accepted))
        (write (map kind
                 (list (lambda () (cron \"0 9 * * *\" (lambda () 1) :zone \"Nowhere/City\"))
                       (lambda () (cron \"0 9 * * *\" (lambda () 1) :zone 5))
                       (lambda () (cron-next \"0 9 * * *\" 0 :zone \"Nowhere/City\"))
                       (lambda () (cancel! (cron \"0 9 * * *\" (lambda () 1) :zone \"Europe/Berlin\"))))))\n";
    let desk = Desk::new(&[("p.scm", program)]);
    desk.check("run p.scm", 0, "(bad-argument wrong-type bad-argument accepted)");
}

#[test]
fn an_address_of_an_unknown_kind_is_no_path_of_a_journal() {
    let desk = Desk::new(&[("p.scm", "(display 1)")]);
    for command in [
        "run p.scm",
        "log",
        "runs",
        "resume",
        "fsck",
        "repl",
        "gc",
        "serve",
        "replay",
        "fork p q",
    ] {
        for address in [
            "mysql://team@host/duet",
            "s3://bucket/journal",
            "http+unix://x",
            "file:///journal",
        ] {
            let said = desk.duet(&format!("{command} --journal {address}"));
            let (kind, _) = address.split_once("//").unwrap();
            let told = format!("`{kind}` begins no address that duet knows");
            assert!(said.errors.contains(&told), "{command} {address}: {}", said.errors);
            assert_eq!((said.code, said.output.as_str()), (2, ""), "{command} {address}");
            assert!(!desk.path(kind).exists());
        }
    }
}

#[test]
fn a_name_of_a_run_that_looks_like_an_option_is_refused() {
    let desk = Desk::new(&[("p.scm", "(await (user-input :prompt \"Name?\"))")]);
    let said = desk.check("run p.scm --name=-x", 2, "");
    assert!(said.errors.contains("`-x` cannot be a run's name"), "{}", said.errors);
    assert!(!desk.duet("runs").output.contains("-x"));
}

#[test]
fn a_name_without_an_end_is_shown_in_part() {
    let desk = Desk::new(&[("p.scm", &format!("(display {})", "\0".repeat(1_000_000)))]);
    let said = desk.check("run p.scm", 1, "");
    assert!(said.errors.contains("\\x0;\\x0;"), "{}", said.errors);
    assert!(said.errors.len() < 16_000, "{} bytes", said.errors.len());
}

#[test]
fn a_prompt_without_its_keyword_is_refused_where_it_is_given() {
    let desk = Desk::new(&[(
        "p.scm",
        "(define name (user-input \"Name?\"))\n(display 1)\n(await name)",
    )]);
    let said = desk.check("run p.scm", 1, "");
    for told in ["user-input: expected :prompt or :tag: \"Name?\"", "p.scm:1:14"] {
        assert!(said.errors.contains(told), "{told}: {}", said.errors);
    }
}
