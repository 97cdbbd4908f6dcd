//! Rights: an actor does what it was granted and nothing else, by every primitive and every detour.
//!
//! INVARIANT: the table of primitives names every host procedure, so one without a check fails a
//! test; every denied attempt is in the journal with its verdict, and a replay finds the same.
//! It does not test which patterns include which; `runtime/src/dataspace/inclusion.rs` does.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod table;

use std::collections::BTreeSet;

use table::{Harmless, Lacks, PRIMITIVES};

use crate::support::desk::Desk;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, RunId, Sequence, Store};
use duet_runtime::gate::{Reason, Verdict};
use duet_runtime::record::TurnRecord;
use duet_runtime::run::source::decode_turn;
use duet_runtime::scheme::host;

/// Calls each of the attempts, and sends what it came to through a capability.
const POOR: &str = "
(define-library (poor)
  (export poor)
  (import (except (duet kernel) close-output-port close-port watch)
    (scheme base) (duet base) (duet dataspace) (duet capability) (duet policy))
  (begin
    (define (outcome thunk)
      (guard (c ((condition? c) (cons (condition-kind c) (condition-irritants c))))
        (thunk)
        '(done)))
    (define (poor config)
      (let ((cap (car config)) (someone (cadr config)) (room (caddr config)))
        (define (try name thunk)
          (let ((outcome (outcome thunk)))
            (send! cap (record 'tried name (car outcome) (if (pair? (cdr outcome)) (cadr outcome) #f)))))
        ATTEMPTS
        (send! cap (record 'all-tried))))))
";

/// Spawns the entity without rights and shows what it sent.
const MAIN: &str = "
(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet capability) (poor))
(register-entity! 'poor poor)
(assert! (record 'secret \"of the main program\"))
(define cap (facet-capability (current-actor) (current-facet)))
(on-message (tried $name $kind $what)
  (write (list name kind what)) (newline))
(spawn-entity! 'poor ':grants '() ':config (list cap (current-actor) (current-facet))
  ':on-exit (lambda (reason) (assert! (record 'ended (if reason (condition-message reason) \"well\")))))
(await (record 'all-tried))
(yield)
";

fn turns(desk: &Desk) -> Vec<TurnRecord> {
    let store = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    let (run, branch) = (RunId::new("p").unwrap(), BranchName::new("main").unwrap());
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let records = store.read(&run, &branch, all).unwrap();
    records.iter().filter_map(|record| decode_turn(record).ok()).collect()
}

/// The capabilities for want of which attempts were refused, as the journal says; all other actions
/// must be allowed.
fn refused(desk: &Desk) -> Vec<String> {
    let mut refused = Vec::new();
    for turn in turns(desk) {
        for (action, verdict) in turn.actions.iter().zip(&turn.verdicts) {
            assert_eq!(*verdict, Verdict::Allow {}, "{action}");
        }
        for attempt in &turn.attempts {
            match attempt.verdict.reason() {
                Some(Reason::CapabilityMissing { capability }) => refused.push(capability.clone()),
                Some(Reason::CapabilityExceeded {}) => refused.push("more than it has".to_owned()),
                _ => panic!("{attempt}"),
            }
        }
    }
    refused
}

#[test]
fn an_actor_without_rights_is_denied_every_primitive_that_needs_one() {
    let named: BTreeSet<&str> = PRIMITIVES.iter().map(|(name, ..)| *name).collect();
    let known: BTreeSet<&str> = host::procedures().map(|procedure| procedure.name).collect();
    assert_eq!(named, known, "every host procedure has a row");
    let attempts: Vec<String> = PRIMITIVES
        .iter()
        .map(|(name, use_of, _)| format!("(try \"{name}\" (lambda () {use_of}))"))
        .collect();
    let poor = POOR.replace("ATTEMPTS", &attempts.join("\n        "));
    let desk = Desk::new(&[("p.scm", MAIN), ("poor.sld", &poor)]);
    let said = desk.duet("run p.scm --workspace .");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let mut lacking = Vec::new();
    for (name, _, outcome) in PRIMITIVES {
        let denied = |capability: &str| format!("({name:?} capability-denied {capability})\n");
        match outcome {
            Lacks(capability) => {
                assert!(said.output.contains(&denied(capability)), "{name}: {}", said.output);
                lacking.push(*capability);
            }
            Harmless(why) => {
                let is_told = said.output.contains(&format!("({name:?} "));
                assert!(is_told && !why.is_empty(), "{name}: {}", said.output);
                let is_denied = said.output.contains(&format!("({name:?} capability-denied"));
                assert_eq!(is_denied, *name == "revoke!", "{name}: {}", said.output);
            }
        }
    }
    assert!(!said.errors.contains("secret"), "{}", said.errors);
    // An answer to a proposal that does not exist has no attempt to record.
    lacking.retain(|capability| *capability != "policy/approve");
    assert_eq!(refused(&desk), lacking, "every denial is a recorded verdict");
    assert_eq!(
        desk.duet("replay p --check").code,
        0,
        "a replay finds the same verdicts"
    );
}

/// A library of an entity that may handle jobs and write notes, and a main program that spawns it.
fn limited(attempts: &str) -> Desk {
    let library = format!(
        "(define-library (worker)
           (export worker spy)
           (import (scheme base) (scheme write) (scheme eval) (scheme repl)
                   (duet base) (duet dataspace) (duet capability))
           (begin
             (define (show x) (write x) (newline))
             (define-syntax try
               (syntax-rules ()
                 ((_ body ...)
                  (guard (c ((condition? c) (show (cons (condition-kind c) (condition-irritants c)))))
                    body ... (show 'done)))))
             (define (spy config)
               (on-assert (secret $it) (show (list 'stolen it)))
               (on-assert (job $it) (show (list 'job it))))
             (define (worker config)
               {attempts})))"
    );
    let main = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet capability) (worker))
         (register-entity! 'worker worker)
         (register-entity! 'spy spy)
         (assert! (record 'secret \"of the main program\"))
         (on-assert (job $it) it)
         (on-message (note $text) (write (list 'note text)) (newline))
         (define facet (spawn-facet!))
         (spawn (lambda () (on-message (order $text) (write (list 'order text)) (newline))) facet)
         (spawn-entity! 'worker
           ':config (list (facet-capability (current-actor) facet) (dataspace-capability) (current-actor) facet)
           ':grants '(\"console\" spawn clock/timer
                      (dataspace/assert (pattern (job $_)) (pattern (result _ _)))
                      (dataspace/observe (pattern (job $_)))
                      (\"dataspace/message\" (pattern (note _))))
           ':on-exit (lambda (reason) (if reason (begin (write (condition-message reason)) (newline)))))
         (sleep 300)";
    Desk::new(&[("p.scm", main), ("worker.sld", &library)])
}

/// Runs the worker's attempts, and compares what is printed and which refusals are recorded.
#[track_caller]
fn check(attempts: &str, expected: &str, denials: &[&str]) -> Desk {
    let desk = limited(attempts);
    let said = desk.check("run p.scm", 0, expected);
    assert_eq!(refused(&desk), denials, "{}", said.errors);
    assert_eq!(
        desk.duet("replay p --check").code,
        0,
        "a replay finds the same verdicts"
    );
    desk
}

#[test]
fn a_limited_right_covers_what_its_pattern_matches() {
    check(
        "(try (assert! (record 'job 1)))
         (try (assert! (record 'secret 1)))
         (try (update! (assert! (record 'result 1 2)) (record 'secret 2)))
         (try (message! (record 'note 1)))
         (try (message! (record 'order 1)))
         (try (send! (caddr config) (cadddr config) (record 'order 2)))
         (try (on-assert (job 1) 'seen))
         (try (on-assert (secret $it) (show it)))
         (try (watch (pattern $anything) show))",
        "done
(capability-denied dataspace/assert)
(capability-denied dataspace/assert)
done
(capability-denied dataspace/message)
(capability-denied dataspace/message)
done
(capability-denied dataspace/observe)
(capability-denied dataspace/observe)
(note 1)
",
        &[
            "dataspace/assert",
            "dataspace/assert",
            "dataspace/message",
            "dataspace/message",
            "dataspace/observe",
            "dataspace/observe",
        ],
    );
}

#[test]
fn no_wait_observes_more_than_was_granted() {
    check(
        "(try (await (signal 'secret)))
         (try (await-next (record 'secret)))
         (try (await (predicate (lambda (value) (show value) #t))))
         (try (await (predicate (lambda (value) (show value) #t) ':pattern (pattern (secret _)))))
         (try (with-timeout 10 (record 'secret)))
         (try (select ((elapsed 60000) 1) ((record 'secret) => show)))
         (try (during (secret $it) (show it)))
         (try (assert! (record 'job 5)) (show (with-timeout 1000 (record 'job ':field 0 ':equals 5))))",
        &format!(
            "{}#[job 5]\ndone\n",
            "(capability-denied dataspace/observe)\n".repeat(7)
        ),
        &["dataspace/observe"; 7],
    );
}

#[test]
fn a_wait_that_is_denied_starts_no_timer_and_asks_nobody() {
    let desk = check(
        "(try (select ((elapsed 60000) 1) ((record 'secret) 2)))
         (try (await (user-input ':prompt \"?\")))",
        "(capability-denied dataspace/observe)\n(capability-denied person)\n",
        &["dataspace/observe", "person"],
    );
    let has = |name| {
        turns(&desk)
            .iter()
            .any(|turn| turn.actor.0 != 0 && turn.actions.iter().any(|action| action.name() == name))
    };
    assert!(!has("timer") && !has("ask-user"));
}

#[test]
fn detours_give_no_rights() {
    check(
        "(define (evaluate expression) (eval expression (interaction-environment)))
         (try (evaluate '(begin (import (duet dataspace)) (on-assert (secret $it) (write it)))))
         (try ((eval 'watch (environment '(duet dataspace))) (pattern (secret $it)) show))
         (on-exit (lambda (reason) (message! (record 'order 'from-hook))))
         (yield)
         (attach-entity! 'spy)
         (yield)
         (try (error \"it has ended before\"))",
        "(capability-denied dataspace/observe)
(capability-denied dataspace/observe)
\"watch: the capability `dataspace/observe` was granted only for <group <rec job> {0: <bind <_>>}>\"
",
        &[
            "dataspace/observe",
            "dataspace/observe",
            "dataspace/observe",
            "dataspace/message",
        ],
    );
}

#[test]
fn a_child_has_at_most_the_rights_of_its_parent() {
    let denied = |grant: &str| format!("(capability-denied)\n{}", if grant.is_empty() { "" } else { grant });
    check(
        "(try (spawn-entity! 'spy ':grants '(dataspace/observe)))
         (try (spawn-entity! 'spy ':grants '(dataspace/*)))
         (try (spawn-entity! 'spy ':grants '(*)))
         (try (spawn-entity! 'spy ':grants '(person)))
         (try (spawn-entity! 'spy ':grants '((dataspace/observe (pattern (secret $_))))))
         (try (spawn-entity! 'spy ':grants '((dataspace/observe (pattern _)))))
         (try (spawn-entity! 'spy ':grants '((dataspace/assert (pattern (result))))))
         (try (spawn-entity! 'spy ':grants (list (list 'dataspace/assert (pattern (result 1 $x))) \"console\")
                            ':on-exit (lambda (why) #f)))
         (try (spawn-entity! 'spy ':grants '((dataspace/observe (job 1)))))
         (try (spawn-entity! 'spy ':grants '((workspace/read (pattern 1)))))
         (try (spawn-entity! 'spy ':grants '(dataspace/asert)))",
        &format!(
            "{}done\n{}",
            denied("").repeat(7),
            "(bad-grant (dataspace/observe (job 1)))
(bad-grant (workspace/read (pattern 1)))
(bad-grant dataspace/asert)
"
        ),
        &[&["more than it has"; 7][..], &["dataspace/observe"]].concat(),
    );
}

#[test]
fn a_capability_value_gives_what_its_maker_may_do_and_no_more() {
    check(
        "(define facet-of-main (car config))
         (define dataspace-of-main (cadr config))
         (show (send! facet-of-main (record 'order 'allowed)))
         (try (assert! (record 'secret 'through-main) dataspace-of-main))
         (define own (dataspace-capability))
         (show (assert! (record 'secret 'through-own) own))
         (show (assert! (record 'secret 'through-own) (attenuate own)))
         (try (assert! (record 'job 'through-own) own))
         (define to-main (facet-capability (caddr config) (cadddr config)))
         (show (send! to-main (record 'order 'beyond)))
         (define to-self (facet-capability (current-actor) (current-facet)))
         (on-message (job $it) (show (list 'heard it)))
         (try (send! to-self (record 'job 'from-self)))",
        "#<unspecified>
done
#f
#f
done
#f
done
(order allowed)
(heard from-self)
",
        &[],
    );
}

#[test]
fn a_main_program_has_the_rights_in_its_dataspace_that_its_manifest_names() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
        (define (try thunk) (write (guard (c (#t (condition-kind c))) (thunk) 'done)) (newline))
        (try (lambda () (assert! (record 'job 1))))
        (try (lambda () (assert! (record 'secret 1))))
        (try (lambda () (await (record 'job))))
        (try (lambda () (message! 'x)))";
    let run = |tools: &str| {
        let manifest = format!("((program \"main.scm\") (tools {tools}))");
        let desk = Desk::new(&[("p/manifest.scm", &manifest), ("p/main.scm", program)]);
        let said = desk.duet("run p");
        assert_eq!(said.code, 0, "{}", said.errors);
        said.output
    };
    assert_eq!(run(""), "done\n".repeat(4));
    assert_eq!(run("workspace/read"), "done\n".repeat(4));
    assert_eq!(
        run("(dataspace/assert (pattern (job _))) dataspace/observe"),
        "done\ncapability-denied\ndone\ncapability-denied\n"
    );
}

#[test]
fn modules_ask_for_the_rights_of_the_actor_that_loads_them() {
    let clock = "(define-module (wants)
        (provide wanted)
        (require (scheme base) (duet dataspace))
        (capabilities process/run)
        (define (wanted config) 'wanted))";
    let library = "(define-library (worker)
        (export worker)
        (import (scheme base) (scheme write) (scheme eval) (scheme repl) (duet base) (duet dataspace))
        (begin
          (define (show x) (write x) (newline))
          (define (try expression)
            (show (guard (c ((condition? c) (condition-message c)))
                    (eval expression (interaction-environment))
                    'done)))
          (define (worker config)
            (try '(import (wants)))
            (try '(begin (import (only (indirect) wanted)) (wanted 1)))
            (show (guard (c ((condition? c) (condition-message c))) (environment '(wants)) 'done))
            (show (guard (c ((condition? c) (condition-message c)))
                    (eval '(wanted 1) (environment '(indirect)))
                    'done)))))";
    let main = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (worker) (wants) (indirect))
        (register-entity! 'worker worker)
        (register-entity! 'wanted wanted)
        (define (end name)
          (lambda (reason) (assert! (record 'ended name (if reason (condition-message reason) \"well\")))))
        (define (told name) (write (await (record 'ended ':field 0 ':equals name))) (newline))
        (spawn-entity! 'worker ':grants '(console) ':on-exit (end 'worker))
        (spawn-entity! 'wanted ':grants '(console) ':on-exit (end 'wanted))
        (told 'wanted)
        (sleep 200)";
    let needs = "(wants) needs the capability `process/run`, which was not granted";
    let hint =
        "; name `process/run` in the program's manifest, or in the entity's `:grants`, if the module may have it";
    let desk = Desk::new(&[
        ("p/manifest.scm", "((program \"main.scm\") (tools process/run))"),
        ("p/main.scm", main),
        ("p/wants.sld", clock),
        (
            "p/indirect.sld",
            "(define-library (indirect) (export wanted) (import (wants)))",
        ),
        ("p/worker.sld", library),
    ]);
    let said = desk.duet("run p");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let refusal = format!("\"{needs}{hint}\"\n");
    for line in [refusal.repeat(4), format!("#[ended wanted {needs:?}]\n")] {
        assert!(said.output.contains(&line), "{}\n{}", said.output, line);
    }
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_merge_that_the_main_program_has_no_right_to_is_refused_and_changes_nothing() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
        (define job (assert! (record 'job 'a 0)))
        (update! job (record 'job 'a (await (user-input :prompt \"how many?\"))))
        (await (user-input :prompt \"go on?\"))";
    let manifest = "((program \"main.scm\") (tools person (dataspace/assert (pattern (job _ _)))))";
    let desk = Desk::new(&[("p/manifest.scm", manifest), ("p/main.scm", program)]);
    for (line, code) in [
        ("run p", 4),
        ("fork p side", 0),
        ("answer p/main 1", 4),
        ("answer p/side 2", 4),
    ] {
        let said = desk.duet(line);
        assert_eq!(said.code, code, "{line}: {}", said.errors);
    }
    let before = desk.duet("log p/main --json").output;
    let said = desk.duet("merge p/side --into main");
    assert_eq!(said.code, 1, "{}", said.errors);
    let expected = "the main program of p has no right to assert <merge-conflict";
    assert!(said.errors.contains(expected), "{}", said.errors);
    assert_eq!(desk.duet("log p/main --json").output, before);
}

/// Each way in which the code of a module acts, and whether it lists what that needs.
const WAYS: &[(&str, bool)] = &[
    ("(current-jiffy)", true),
    ("(assert! (record 'told 1))", false),
    ("(let ((f assert!)) (f (record 'told 2)))", false),
    ("(for-each assert! (list (record 'told 3)))", false),
    ("(apply assert! (list (record 'told 4)))", false),
    ("(on-message (said $x) x)", false),
    ("(call-tool 'm \"workspace/read\" (dictionary 'path \"x\"))", false),
    ("(invoke-tool! 'm 'workspace/read (dictionary 'path \"x\"))", false),
    (
        "(eval '(assert! (record 'told 5)) (environment '(duet dataspace) '(duet base) '(scheme base)))",
        false,
    ),
    ("(par-map (lambda (n) (assert! (record 'told n))) '(6))", false),
    ("(with-retry (lambda () (message! 7)) :attempts 1)", false),
    ("(await (record 'told))", false),
    ("(call-with-output-file \"x\" (lambda (port) (write 8 port)))", false),
    ("(tool-capability 'workspace/read)", false),
    ("(own! 9)", false),
    ("(theirs! 10)", false),
    ("(given (lambda (n) (assert! (record 'told n))))", false),
    ("(keep! (lambda () 11))", true),
    ("(map (lambda (n) (* n n)) '(1 2))", true),
];

#[test]
fn the_code_of_a_module_uses_only_what_it_lists() {
    let attempts: String = WAYS
        .iter()
        .map(|(way, _)| format!("(try (lambda () {way}))\n"))
        .collect();
    let module = format!(
        "(define-module (m)
  (provide try-all call-it each)
  (require (scheme base) (scheme eval) (scheme file) (scheme time) (scheme write) (duet base) (duet dataspace)
           (duet agents) (duet capability) (helper))
  (capabilities clock/*)
  (define (own! n) (assert! (record 'told n)))
  (define kept #f)
  (define (keep! thunk) (set! kept thunk) (kept))
  (define (given f) (f 12))
  (define (try thunk)
    (write (guard (c ((condition? c) (condition-kind c))) (thunk) 'done)) (newline))
  (define (call-it f) (f 20))
  (define (each f list) (for-each f list))
  (define (try-all) {attempts}))"
    );
    // What others hand to the module keeps its rights, and so does what they do before and after.
    let main = "(import (scheme base) (duet base) (duet dataspace) (m))
        (assert! (record 'free 0))
        (try-all)
        (call-it (lambda (n) (assert! (record 'free n))))
        (each (lambda (n) (assert! (record 'free n))) '(30 40))
        (assert! (record 'free 50))";
    let helper = "(define-library (helper) (export theirs!) (import (scheme base) (duet base) (duet dataspace))
        (begin (define (theirs! n) (assert! (record 'told n)))))";
    let desk = Desk::new(&[
        (
            "p/manifest.scm",
            "((program \"main.scm\") (workspace (argument 1)) (tools clock/* workspace/* console))",
        ),
        ("p/main.scm", main),
        ("p/m.sld", &module),
        ("p/helper.sld", helper),
    ]);
    let said = desk.duet("run p -- p");
    let expected = WAYS
        .iter()
        .map(|(_, is_listed)| if *is_listed { "done" } else { "capability-denied" });
    let found: Vec<(&str, &str)> = WAYS.iter().map(|(way, _)| *way).zip(said.output.lines()).collect();
    let expected: Vec<(&str, &str)> = WAYS.iter().map(|(way, _)| *way).zip(expected).collect();
    assert_eq!((said.code, found), (0, expected), "{}", said.errors);
    let facts = desk.duet("facts p").output;
    assert!(!facts.contains("told"), "{facts}");
    assert_eq!(facts.matches("<free ").count(), 5, "{facts}");
    assert_eq!(desk.duet("replay --check p").code, 0);
    let refused = desk.duet("show p@2").output;
    assert!(refused.contains("refused   assert <told 1>"), "{refused}");
}

/// A capability with patterns is enough for an entity, too.
#[test]
fn an_entity_with_a_limited_right_uses_a_module_that_lists_it() {
    let module = "(define-module (m) (provide teller) (require (scheme base) (duet base) (duet dataspace))
        (capabilities (dataspace/assert (pattern (job _))))
        (define (teller config)
          (assert! (record 'job 1))
          (guard (c (#t (assert! (record 'job (condition-kind c))))) (assert! (record 'other 2)))))";
    let main = "(import (scheme base) (duet base) (duet dataspace) (m))
        (register-entity! 'teller teller)
        (spawn-entity! 'teller ':grants '((dataspace/assert (pattern (job _)) (pattern (other _)))))
        (write (record-fields (await (record 'job ':field 0 ':equals 'capability-denied)))) (newline)";
    let desk = Desk::new(&[("main.scm", main), ("m.sld", module)]);
    desk.check("run main.scm", 0, "(capability-denied)\n");
}
