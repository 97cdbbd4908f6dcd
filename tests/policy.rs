//! Policy by the real command: refusals, approvals, proposals, and one verdict for everything that any way in does.
//!
//! INVARIANT: what a constraint stands against never reaches the workspace, whatever the way in.
//! What constraints mean is tested by `conform.rs`.
//! Read next: `support/witness.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Sequence, Store};
use duet_runtime::codec::Codec;
use duet_runtime::gate::Verdict;
use duet_runtime::record::{Body, TurnRecord};
use tempfile::TempDir;

/// A directory to work in.
struct Desk(TempDir);

/// What a command said.
struct Said {
    output: String,
    errors: String,
    code: i32,
}

impl Desk {
    fn new(program: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::write(desk.0.path().join("p.scm"), program).unwrap();
        desk
    }

    fn duet(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        let done = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said {
            output: text(done.stdout),
            errors: text(done.stderr),
            code: done.status.code().unwrap_or(-1),
        }
    }

    /// Runs a command that must end with `code` and print `expected`.
    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32, expected: &str) {
        let said = self.duet(arguments);
        assert_eq!(
            (said.code, said.output.as_str()),
            (code, expected),
            "{arguments:?}: {}",
            said.errors
        );
    }

    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.path().join(name)).ok()
    }

    /// All turns of all branches of all runs.
    fn turns(&self) -> Vec<TurnRecord> {
        let store = SqliteStore::open_to_read(&self.0.path().join(".duet/journal.sqlite")).unwrap();
        let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
        let mut turns = Vec::new();
        for run in store.runs().unwrap() {
            for head in store.heads(&run).unwrap() {
                for record in store.read(&run, &head.branch, all.clone()).unwrap() {
                    if let Body::Turn(turn) = Body::decode(&record.body()).unwrap() {
                        turns.push(turn);
                    }
                }
            }
        }
        turns
    }
}

fn example() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/approval");
    path.to_str().unwrap().to_owned()
}

const REFUSED: &str = "(README.md refused constraint_deny)\n";

#[test]
fn a_person_approves_and_the_run_goes_on() {
    let desk = Desk::new("");
    desk.check(&["run", &example(), "--", "."], 4, REFUSED);
    assert_eq!(desk.file("NOTES.md"), None, "nothing is written before it is approved");
    let waits = desk.duet(&["waits"]).output;
    assert!(waits.contains("Allow workspace/write"), "{waits}");
    desk.check(&["resume", "approval"], 4, "");
    desk.check(&["answer", "approval", "yes"], 0, "(NOTES.md written)\n");
    assert_eq!(
        desk.file("NOTES.md").as_deref(),
        Some("What users notice: approvals.\n")
    );
    assert_eq!(desk.file("README.md"), None);
    assert_eq!(
        desk.duet(&["replay", "approval", "--check"]).code,
        0,
        "judging again gives the same"
    );
    assert_eq!(
        desk.duet(&["answer", "approval", "yes"]).code,
        1,
        "an approval is used once"
    );
}

#[test]
fn a_person_rejects_and_the_program_is_told() {
    let desk = Desk::new("");
    desk.check(
        &["run", &example(), "--answer", "no", "--", "."],
        0,
        &format!("{REFUSED}(NOTES.md refused approval_required)\n"),
    );
    assert_eq!(desk.file("NOTES.md"), None);
    assert_eq!(desk.duet(&["replay", "approval", "--check"]).code, 0);
    let log = desk.duet(&["log", "approval"]).output;
    assert!(log.contains("reject request"), "{log}");
}

const IMPORTS: &str = "(import (duet base) (duet dataspace) (duet policy))
(define (told thunk)
  (guard (c ((policy-refusal? c) (list (condition-kind c) (refusal-follows c) (refusal-code c) (refusal-key c))))
    (thunk)))
(define (show x) (write x) (newline))\n";

/// Runs a program in a workspace and compares what it prints.
#[track_caller]
fn check(program: &str, expected: &str) -> Desk {
    let desk = Desk::new(&format!("{IMPORTS}{program}"));
    desk.check(&["run", "p.scm", "--workspace", "."], 0, expected);
    assert_eq!(
        desk.duet(&["replay", "p", "--check"]).code,
        0,
        "judging again gives the same"
    );
    for turn in desk.turns() {
        assert_eq!(turn.actions.len(), turn.verdicts.len(), "{turn}");
    }
    desk
}

#[test]
fn a_policy_that_changed_makes_an_approval_stale() {
    let program = "(define-constraint \"ask\" :tool 'workspace/write :on-fail 'ask)
        (define tag (invoke-tool! 'w 'workspace/write (dictionary 'path \"a\" 'content \"x\")))
        (define-constraint \"more\" :tool 'workspace/delete)
        (show (told (lambda () (await (tool-result :tag tag)))))";
    let desk = Desk::new(&format!("{IMPORTS}{program}"));
    desk.check(
        &["run", "p.scm", "--workspace", ".", "--answer", "yes"],
        0,
        "(policy-denied approval_stale approval_stale #f)\n",
    );
    assert_eq!(desk.file("a"), None);
}

#[test]
fn refusals_say_what_follows_why_and_by_which_key() {
    let desk = check(
        "(define (try path) (told (lambda () (call-tool 'w 'workspace/write (dictionary 'path path 'content \"x\")))))
         (define-constraint \"later\" :tool 'workspace/write :when '(eq args.path \"later\") :on-fail 'defer)
         (define never (define-constraint \"never\" :tool 'workspace/write :when '(eq args.path \"never\")))
         (show (try \"never\"))
         (show (try \"later\"))
         (show (explain (list 'call 'workspace/write (dictionary 'path \"never\"))))
         (show (explain (list 'call 'workspace/write (dictionary 'path \"else\"))))
         (remove-constraint! never)
         (try \"never\")",
        "(policy-denied block constraint_deny \"constraint.never\")
(policy-deferred defer constraint_deny \"constraint.later\")
(deny block constraint_deny \"constraint.never\" \"\")
(allow #f ok #f \"\")
",
    );
    assert_eq!(desk.file("never").as_deref(), Some("x"));
    assert_eq!(desk.file("later"), None);
}

#[test]
fn entries_are_checked_before_they_are_stored() {
    check(
        "(define (enter . fields) (told (lambda () (assert! (apply record fields)))))
         (show (enter 'constraint \"typo\" \"{\\\"v\\\":1,\\\"efect\\\":\\\"deny\\\"}\"))
         (show (enter 'constraint \"typo\" 5))
         (show (enter 'constraint 'typo \"{}\"))
         (show (enter 'policy \"a b\" \"{\\\"v\\\":1}\"))
         (show (enter 'fact \"claim\" (entry-text '((kind . \"fact\") (value . 1)))))
         (show (enter 'fact \"claim\" (entry-text '((kind . \"hypothesis\") (value . 1)))))
         (set-policy! \"exclusive.g\" '((keys . #(\"goal.a\" \"goal.b\"))))
         (set-goal! \"a\" '((value . 1)))
         (show (told (lambda () (set-goal! \"b\" '((value . 1))))))
         (show (pending-approvals))",
        "(policy-denied block malformed_value #f)
(policy-denied block malformed_value #f)
(policy-denied block malformed_key #f)
(policy-denied block malformed_key #f)
(policy-denied block evidence #f)
(policy-denied block ttl_required #f)
(policy-denied block goal_conflict \"policy.exclusive.g\")
()
",
    );
}

#[test]
fn a_proposal_happens_as_a_whole_or_not_at_all() {
    let desk = check(
        "(define-constraint \"no_b\" :tool 'workspace/write :when '(eq args.path \"b\"))
         (define (writing path) (list 'call 'workspace/write (dictionary 'path path 'content \"x\")))
         (define (goal) (list 'entry (record 'goal \"g\" (entry-text '((value . 1))))))
         (show (told (lambda () (propose! (goal) (writing \"a\") (writing \"b\")))))
         (show (cadr (explain (list 'call 'workspace/read \"a\"))))
         (define result (propose! (goal) (writing \"c\")))
         (show (car result))
         (await (tool-result :tag (cadr (cdr result))))
         (show (guard (c (#t (condition-kind c))) (propose!)))",
        "(policy-denied block constraint_deny \"constraint.no_b\")\n#f\n#f\nempty-proposal\n",
    );
    assert_eq!(
        (desk.file("a"), desk.file("b"), desk.file("c").as_deref()),
        (None, None, Some("x"))
    );
}

#[test]
fn an_invariant_holds_after_every_commit() {
    check(
        "(define owner (set-goal! \"owner\" '((value . 1))))
         (define-constraint \"invariant.owned\" :when '(missing goal.owner))
         (show (told (lambda () (retract! owner))))
         (define other (update! owner (record 'goal \"owner\" (entry-text '((value . 2))))))
         (yield)
         (show (told (lambda () (retract! other))))",
        "(policy-denied block invariant \"constraint.invariant.owned\")
(policy-denied block invariant \"constraint.invariant.owned\")
",
    );
}

#[test]
fn a_turn_that_leaves_a_key_with_two_values_leaves_no_trace() {
    let program = "(set-goal! \"a\" '((value . 1)))
        (assert! (record 'goal \"b\" (entry-text '((value . 1)))))
        (assert! (record 'goal \"a\" (entry-text '((value . 2)))))";
    let desk = Desk::new(&format!("{IMPORTS}{program}"));
    let said = desk.duet(&["run", "p.scm"]);
    assert_eq!(said.code, 1, "{}", said.output);
    assert!(
        said.errors.contains("the key has another value already"),
        "{}",
        said.errors
    );
    let facts = desk.duet(&["facts", "p"]).output;
    assert!(!facts.contains("goal"), "{facts}");
}

#[test]
fn nobody_grants_or_approves_more_than_they_may() {
    check(
        "(show (told (lambda () (grant! (current-actor) 'process/run))))
         (define-constraint \"ask\" :tool 'workspace/write :on-fail 'ask)
         (show (guard (c (#t (condition-kind c))) (approve! \"none\")))
         (show (guard (c (#t (condition-kind c))) (invoke-tool! 'r 'process/run \"ls\")))",
        "(policy-denied block scope #f)\ncapability-denied\ncapability-denied\n",
    );
}

/// Every way in: a program, its answers, the prompt, an evaluation in the past, a fork, an import of what was said, a replay.
#[test]
fn whatever_the_way_in_each_action_has_exactly_one_verdict() {
    let desk = Desk::new(&format!(
        "{IMPORTS}(define-constraint \"hands_off\" :tool 'workspace/delete)
         (show (told (lambda () (call-tool 'd 'workspace/delete (dictionary 'path \"p.scm\")))))
         (define-constraint \"ask\" :tool 'workspace/write :on-fail 'ask)
         (show (await (user-input :prompt \"who?\")))
         (show (told (lambda () (call-tool 'w 'workspace/write (dictionary 'path \"w\" 'content \"x\")))))"
    ));
    let denied = "(policy-denied block constraint_deny \"constraint.hands_off\")\n";
    desk.check(&["run", "p.scm", "--workspace", "."], 4, denied);
    desk.check(&["answer", "p", "me"], 4, "\"me\"\n");
    desk.check(&["fork", "p", "other"], 0, "");
    let rejected = "(policy-denied approval_required approval_required #f)\n";
    desk.check(&["answer", "p/other", "no"], 0, rejected);
    assert_eq!(desk.duet(&["answer", "p/main", "yes"]).code, 0);
    assert!(desk.file("w").is_some() && desk.file("p.scm").is_some());
    assert_eq!(desk.duet(&["replay", "p/main", "--check"]).code, 0);
    let mut names = BTreeSet::new();
    for turn in desk.turns() {
        assert_eq!(turn.actions.len(), turn.verdicts.len(), "{turn}");
        for (action, verdict) in turn.actions.iter().zip(&turn.verdicts) {
            let is_refusal = ["refuse", "propose"].contains(&action.name());
            assert_eq!(matches!(verdict, Verdict::Allow {}), !is_refusal, "{turn}");
            names.insert(action.name());
        }
    }
    let of_policy = ["refuse", "propose", "approve", "reject"];
    assert!(of_policy.iter().all(|name| names.contains(name)), "{names:?}");
}
