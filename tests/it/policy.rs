//! Policy by the real command: refusals, approvals, proposals, and one verdict for everything that
//! any way in does.
//!
//! INVARIANT: an effect that a constraint forbids never reaches the workspace, whatever the way in.
//! `conform.rs` tests the meaning of constraints.
//! Read next: `support/witness.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod laid_down;
mod left_out;
mod members;
mod schemas;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Sequence, Store};
use duet_runtime::record::{Body, TurnRecord};
use tempfile::TempDir;

/// A directory to work in.
struct Desk(TempDir);

/// The output of a command.
struct CommandOutput {
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

    fn duet(&self, arguments: &[&str]) -> CommandOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        let done = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        CommandOutput {
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

    /// Says whether the description of any action has this in it.
    fn has_done(&self, text: &str) -> bool {
        let mut turns = self.turns().into_iter();
        turns.any(|turn| turn.actions.iter().any(|action| action.to_string().contains(text)))
    }

    /// The number of the request for approval that is open.
    #[track_caller]
    fn approval(&self, run: &str) -> String {
        let waits = self.duet(&["waits", run]).output;
        let line = waits.lines().find(|line| line.contains(" approval: "));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number
            .unwrap_or_else(|| panic!("nothing to approve: {waits}"))
            .to_owned()
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
    let number = desk.approval("approval");
    desk.check(&["answer", "approval", &number, "yes"], 0, "(NOTES.md written)\n");
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
        desk.duet(&["answer", "approval", &number, "yes"]).code,
        1,
        "an approval is used once"
    );
}

#[test]
fn a_person_rejects_and_the_program_is_told() {
    let desk = Desk::new("");
    desk.check(&["run", &example(), "--", "."], 4, REFUSED);
    let number = desk.approval("approval");
    desk.check(
        &["answer", "approval", &number, "no"],
        0,
        "(NOTES.md refused approval_required)\n",
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
        &["run", "p.scm", "--workspace", ".", "--approve", "workspace/write"],
        0,
        "(policy-denied approval_stale approval_stale #f)\n",
    );
    assert_eq!(desk.file("a"), None);
}

#[test]
fn refusals_say_what_follows_why_and_by_which_key() {
    let desk = check(
        "(define (try path) (told (lambda () (call-tool 'w 'workspace/write (dictionary 'path path 'content \"x\")))))
         (define never (define-constraint \"never\" :tool 'workspace/write :when '(eq args.path \"never\")))
         (set-policy! \"degrade.args_schema\" '())
         (show (try \"never\"))
         (show (try 5))
         (show (explain (list 'call 'workspace/write (dictionary 'path \"never\" 'content \"x\"))))
         (show (explain (list 'call 'workspace/write (dictionary 'path \"else\" 'content \"x\"))))
         (remove-constraint! never)
         (try \"never\")",
        "(policy-denied block constraint_deny \"constraint.never\")
(policy-denied degrade args_schema #f)
(deny block constraint_deny \"constraint.never\" \"\")
(allow #f ok #f \"\")
",
    );
    assert_eq!(desk.file("never").as_deref(), Some("x"));
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
         (show (explain (list 'entry (record 'goal \"b\" (entry-text '((value . 1)))))))
         (show (pending-approvals))",
        "(policy-denied block malformed_value #f)
(policy-denied block malformed_value #f)
(policy-denied block malformed_key #f)
(policy-denied block malformed_key #f)
(policy-denied block evidence #f)
(policy-denied block ttl_required #f)
(defer ask goal_conflict \"policy.exclusive.g\" \"at most one of goal.a, goal.b\")
()
",
    );
}

/// Sets two goals that exclude each other, and waits for the second.
const RIVALS: &str = "(set-policy! \"exclusive.g\" '((keys . #(\"goal.a\" \"goal.b\"))))
     (set-goal! \"a\" '((value . 1)))
     (set-goal! \"b\" '((value . 1)))
     (show (length (pending-approvals)))
     (await (record 'goal :field 0 :equals \"b\"))
     (show 'both)";

#[test]
fn a_conflict_of_goals_is_put_to_a_person() {
    let desk = Desk::new(&format!("{IMPORTS}{RIVALS}"));
    desk.check(&["run", "p.scm"], 4, "1\n");
    let waits = desk.duet(&["waits"]).output;
    assert!(waits.contains("at most one of goal.a, goal.b"), "{waits}");
    assert!(!desk.duet(&["facts", "p"]).output.contains("<goal \"b\""));
    desk.check(&["answer", "p", &desk.approval("p"), "yes"], 0, "both\n");
    assert_eq!(desk.duet(&["replay", "p", "--check"]).code, 0);
    let refusing = Desk::new(&format!("{IMPORTS}{RIVALS}"));
    refusing.check(&["run", "p.scm"], 4, "1\n");
    refusing.duet(&["answer", "p", &refusing.approval("p"), "no"]);
    assert!(!refusing.duet(&["facts", "p"]).output.contains("<goal \"b\""));
}

#[test]
fn a_constraint_on_writing_in_a_namespace_covers_its_entries() {
    check(
        "(define-constraint \"no_goals\" :capability 'state.write.goal)
         (show (told (lambda () (set-goal! \"a\" '((value . 1))))))
         (show (car (explain (list 'entry (record 'fact \"a\" (entry-text '((value . 1))))))))",
        "(policy-denied block constraint_deny \"constraint.no_goals\")\nallow\n",
    );
}

#[test]
fn a_proposal_happens_as_a_whole_or_not_at_all() {
    let desk = check(
        "(define-constraint \"no_b\" :tool 'workspace/write :when '(eq args.path \"b\"))
         (define (writing path) (list 'call 'workspace/write (dictionary 'path path 'content \"x\")))
         (define (goal) (list 'entry (record 'goal \"g\" (entry-text '((value . 1))))))
         (show (told (lambda () (propose! (goal) (writing \"a\") (writing \"b\")))))
         (show (cadr (explain (list 'call 'workspace/read (dictionary 'path \"a\")))))
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
fn a_second_value_under_a_key_is_refused_where_it_is_written() {
    let desk = check(
        "(define first (record-fact! \"dup\" '((value . 1))))
         (define (w c)
           (show (told (lambda () (record-fact! \"dup\" '((value . 2))))))
           (assert! (record 'goes-on)))
         (register-entity! 'w w)
         (spawn-entity! 'w)
         (await (record 'goes-on))
         (show (told (lambda () (record-fact! \"dup\" '((value . 3))))))
         (show (told (lambda () (assert! (record 'fact \"dup\" (entry-text '((value . 1))))) 'the-same)))
         (show (told (lambda () (update! first (record 'fact \"dup\" (entry-text '((value . 1))))) 'updated)))",
        "(policy-denied block malformed_value \"fact.dup\")\n\
         (policy-denied block malformed_value \"fact.dup\")\nthe-same\nupdated\n",
    );
    assert!(desk.has_done("dup"));
}

#[test]
fn a_hypothesis_is_not_promoted_by_an_update_and_unknown_kinds_are_refused() {
    check(
        "(define h (record-fact! \"m\" '((value . 1) (kind . \"hypothesis\") (ttl_ms . 5))))
         (show (told (lambda () (update! h (record 'fact \"m\" \"{\\\"v\\\":1,\\\"value\\\":1}\")))))
         (show (told (lambda () (record-fact! \"n\" '((value . 1) (kind . \"Fact\"))))))
         (show (told (lambda () (record-fact! \"o\" '((value . 1) (kind . \"hypothesis\") (ttl_ms . \"soon\"))))))
         (record-fact! \"clock\" '((value . 1000)))
         (record-fact! \"p\" '((kind . \"hypothesis\") (ttl_ms . 5)))
         (show (record-fields (await (record 'fact :field 0 :equals \"p\"))))",
        "(policy-denied block evidence #f)\n(policy-denied block evidence #f)\n\
         (policy-denied block ttl_required #f)\n\
         (\"p\" \"{\\\"v\\\":1,\\\"kind\\\":\\\"hypothesis\\\",\\\"ttl_ms\\\":5,\\\"stored_at\\\":1000}\")\n",
    );
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

#[test]
fn arguments_are_judged_before_a_tool_is_called() {
    let desk = check(
        "(define (try payload) (told (lambda () (call-tool 'w 'workspace/write payload))))
         (show (try \"a\"))
         (show (try (dictionary 'path \"a\")))
         (show (try (dictionary 'path \"a\" 'content 5)))
         (show (try (dictionary 'path \"a\" 'content \"x\" 'mode 7)))
         (show (cadr (explain (list 'call 'workspace/write (dictionary 'path \"a\" 'content \"x\")))))",
        "(policy-denied block args_schema #f)
(policy-denied block args_schema #f)
(policy-denied block args_schema #f)
(policy-denied block args_schema #f)
#f
",
    );
    assert_eq!(desk.file("a"), None);
}

#[test]
fn a_token_limits_what_was_granted() {
    check(
        "(define (try tool . fields) (told (lambda () (call-tool 'w tool (apply dictionary fields)) 'called)))
         (define token
           (set-policy! (string-append \"token.\" (session-name))
             '((tools . #(workspace/read workspace/write)) (fs_write_roots . #(\"notes\"))
                      (budgets . ((tool_calls . 2))))))
         (show (try 'workspace/exists 'path \"a\"))
         (show (try 'workspace/write 'path \"a\" 'content \"x\"))
         (show (try 'workspace/write 'path \"notes/../a\" 'content \"x\"))
         (show (try 'workspace/write 'path \"notes/a\" 'content \"x\"))
         (show (try 'workspace/read 'path \"notes/a\"))
         (show (try 'workspace/read 'path \"notes/a\"))
         (define broken (update! token (record 'policy \"token.actor-0\" \"{\\\"v\\\":1,\\\"tool\\\":[]}\")))
         (yield)
         (show (try 'workspace/read 'path \"notes/a\"))
         (remove-constraint! broken)
         (show (try 'workspace/exists 'path \"a\"))",
        "(policy-denied block capability_missing #f)
(policy-denied block scope #f)
(policy-denied block scope #f)
called
called
(policy-denied block budget #f)
(policy-denied block constraint_malformed \"policy.token.actor-0\")
called
",
    );
}

#[test]
fn what_policy_defers_is_done_when_it_allows_it() {
    let desk = check(
        "(define (exists? path) (call-tool 'w 'workspace/exists (dictionary 'path path)))
         (define later
           (define-constraint \"later\" :tool 'workspace/write :when '(missing fact.source) :on-fail 'defer))
         (define (write-it path) (invoke-tool! 'w 'workspace/write (dictionary 'path path 'content \"x\")))
         (define first (write-it \"a\"))
         (show (car (propose! (list 'entry (record 'goal \"g\" (entry-text '((value . 1)))))
                              (list 'call 'workspace/read (dictionary 'path \"p.scm\")))))
         (record-fact! \"other\" '((value . 1)))
         (show (exists? \"a\"))
         (record-fact! \"source\" '((value . 1)))
         (await (tool-result :tag first))
         (show (exists? \"a\"))
         (remove-constraint! later)
         (define no (define-constraint \"later\" :tool 'workspace/write :when '(missing fact.review) :on-fail 'defer))
         (define second (write-it \"b\"))
         (update! no (record 'constraint \"later\"
                             (entry-text '((effect . deny) (subject . ((tool_id . workspace/write)))))))
         (show (told (lambda () (await (tool-result :tag second)))))
         (show (exists? \"b\"))",
        "#f
#f
#t
(policy-denied constraint_deny constraint_deny #f)
#f
",
    );
    assert_eq!((desk.file("a").as_deref(), desk.file("b")), (Some("x"), None));
    let log = desk.duet(&["log", "p"]).output;
    assert!(
        log.contains("put off: call workspace/write a") && log.contains("admitted: call workspace/write a"),
        "{log}"
    );
}

const ASKING: &str = "(define-constraint \"ask\" :tool 'workspace/write :on-fail 'ask)
    (define tag (invoke-tool! 'w 'workspace/write (dictionary 'path \"a\" 'content \"x\")))
    (show (told (lambda () (await (tool-result :tag tag)))))";

const NOT_APPROVED: &str = "(policy-denied approval_required approval_required #f)\n";

#[test]
fn nothing_is_approved_where_nobody_can_answer() {
    let desk = Desk::new(&format!("{IMPORTS}{ASKING}"));
    desk.check(&["run", "p.scm", "--workspace", ".", "--headless"], 0, NOT_APPROVED);
    desk.check(&["run", "p.scm", "--workspace", ".", "--memory"], 0, NOT_APPROVED);
    desk.check(&["run", "p.scm", "--workspace", ".", "--name", "later"], 4, "");
    desk.check(&["resume", "later", "--headless"], 0, NOT_APPROVED);
    assert_eq!(desk.file("a"), None);
    assert_eq!(desk.duet(&["replay", "later", "--check"]).code, 0);
    assert!(desk.has_done("nobody is there to approve it"));
}

#[test]
fn an_approval_comes_in_time_or_not_at_all() {
    let timed = |ms: u64| format!("{IMPORTS}(set-policy! \"approval_timeout\" '((value . {ms})))\n{ASKING}");
    let desk = Desk::new(&timed(30));
    desk.check(&["run", "p.scm", "--workspace", "."], 0, NOT_APPROVED);
    assert!(desk.has_done("nobody answered in time"));
    assert_eq!(desk.file("a"), None);
    let desk = Desk::new(&timed(600_000));
    let said = desk.duet(&["run", "p.scm", "--workspace", ".", "--approve", "workspace/*"]);
    assert_eq!(
        (said.code, said.output.as_str()),
        (0, "{changed #t previous #f size_bytes 1}\n"),
        "{}",
        said.errors
    );
    assert_eq!(desk.file("a").as_deref(), Some("x"));
}

#[test]
fn an_entry_outlives_the_facet_and_the_actor_that_entered_it() {
    check(
        "(define-library (helpers)
           (export helper)
           (import (scheme base) (scheme process-context) (duet base) (duet dataspace) (duet policy))
           (begin (define (helper config) (define-constraint config :tool 'workspace/read) (exit))))
         (import (helpers))
         (define (try) (told (lambda () (call-tool 'w 'workspace/read (dictionary 'path \"p.scm\")) 'called)))
         (define room (spawn-facet!))
         (define made #f)
         (spawn (lambda () (set! made (define-constraint \"of_room\" :tool 'workspace/read))) room)
         (sleep 5)
         (stop-facet! room)
         (yield)
         (show (try))
         (remove-constraint! made)
         (show (try))
         (register-entity! 'helper helper)
         (sync! (spawn-entity! 'helper :config \"of_actor\"))
         (sleep 20)
         (show (try))",
        "(policy-denied block constraint_deny \"constraint.of_room\")
called
(policy-denied block constraint_deny \"constraint.of_actor\")
",
    );
}

/// Reasons to refuse a proposal, each with an item that gives it.
const FAULTS: [(&str, &str); 8] = [
    (
        "constraint_deny",
        "(list 'call 'workspace/write (dictionary 'path \"forbidden\" 'content \"x\"))",
    ),
    (
        "constraint_malformed",
        "(list 'call 'workspace/list (dictionary 'path \"odd\"))",
    ),
    ("args_schema", "(list 'call 'workspace/write (dictionary 'path \"c\"))"),
    ("malformed_value", "(list 'entry (record 'goal \"c\" \"no JSON\"))"),
    (
        "malformed_key",
        "(list 'entry (record 'goal \"c d\" \"{\\\"v\\\":1}\"))",
    ),
    (
        "evidence",
        "(list 'entry (record 'fact \"c\" (entry-text '((kind . \"fact\")))))",
    ),
    ("invariant", "(list 'remove owner)"),
    (
        "scope",
        "(list 'entry (record 'constraint \"grant.actor-0.x\"
                              (entry-text '((effect . allow) (subject . ((capability . nuclear)))))))",
    ),
];

/// Each fault at each place of a proposal: nothing of the proposal happens, and the state changes
/// only by the record of the attempt.
#[test]
fn a_fault_anywhere_in_a_proposal_leaves_everything_as_it_was() {
    for (code, fault) in FAULTS {
        let attempts: Vec<String> = (0..4)
            .map(|position| {
                let mut items = vec!["(writing \"a\")", "(goal)", "(writing \"b\")"];
                items.insert(position, fault);
                format!("(show (caddr (told (lambda () (propose! {} )))))\n", items.join(" "))
            })
            .collect();
        let program = format!(
            "{IMPORTS}
             (define (writing path) (list 'call 'workspace/write (dictionary 'path path 'content \"x\")))
             (define (goal) (list 'entry (record 'goal \"g\" (entry-text '((value . 1))))))
             (define owner (set-goal! \"owner\" '((value . 1))))
             (define-constraint \"invariant.owned\" :when '(missing goal.owner))
             (record-fact! \"tier\" '((value . 1)))
             (define-constraint \"forbidden\" :tool 'workspace/write :when '(eq args.path \"forbidden\"))
             (define-constraint \"odd\" :tool 'workspace/list :when '(eq fact.tier \"local\"))
             (yield)
             (log! \"before\")
             (yield)
             {}
             (await (user-input :prompt \"rest\"))",
            attempts.concat()
        );
        let desk = Desk::new(&program);
        desk.check(&["run", "p.scm", "--workspace", "."], 4, &format!("{code}\n").repeat(4));
        assert_eq!((desk.file("a"), desk.file("b")), (None, None), "{code}");
        let facts = desk.duet(&["facts", "p"]).output;
        assert!(!facts.contains("<goal \"g\""), "{code}: {facts}");
        let turns = desk.turns();
        let refusals = |turn: &TurnRecord| turn.attempts.len();
        assert_eq!(
            turns.iter().map(refusals).sum::<usize>(),
            4,
            "{code}: each attempt is on record"
        );
        for turn in turns.iter().filter(|turn| refusals(turn) > 0) {
            let others = turn
                .actions
                .iter()
                .filter(|action| !["write", "yield", "resume", "wait", "ask-user", "observe"].contains(&action.name()));
            assert_eq!(others.count(), 0, "{code}: {turn}");
        }
    }
}
