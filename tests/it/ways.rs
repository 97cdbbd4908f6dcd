//! Every kind of action by every way in: each finds exactly one verdict.
//!
//! The ways in are the program itself, a tool of an envelope, a sender of a route, a timer, an
//! answer, a text typed at the prompt, a run that is resumed, a picked input, an amended input, an
//! imported run; and a replay, which judges all of it again.
//! INVARIANT: by each way every kind of the table of actions is done, so a kind that nobody thought
//! of fails this test. It does not test what the verdicts say; `policy.rs` does.
//! Read next: `policy.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use crate::support::desk::Desk;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, RunId, Sequence, Store};
use duet_runtime::action::{Action, KINDS};
use duet_runtime::gate::Verdict;
use duet_runtime::record::TurnRecord;
use duet_runtime::run::source::decode_turn;

/// Does everything there is to do, between two lines of the log.
const EVERYTHING: &str = r#"
(define-library (everything)
  (export everything)
  (import (scheme base) (scheme read) (scheme write) (scheme process-context)
          (duet base) (duet control) (duet dataspace) (duet policy) (duet capability)
          (only (duet kernel) %spawn-guarded %cancel))
  (begin
    (define (helper config)
      (case config
        ((leave) (exit))
        ((fail) (error "nobody takes this"))))

    (define (ignoring-refusal thunk) (guard (refusal ((policy-refusal? refusal) #f) (#t (raise refusal))) (thunk)))

    (define (everything way)
      (log! (string-append "begin " way))
      (facts way)
      (world way)
      (capabilities way)
      (entities)
      (policy way)
      (log! (string-append "end " way)))

    (define (facts way)
      (define first (assert! (record 'a way 1)))
      (define room (spawn-facet!))
      (update! first (record 'a way 2))
      (message! (record 'm way))
      (send! (current-actor) (current-facet) (record 's))
      (unwatch (watch (pattern (w $n)) (lambda (event) event)))
      (spawn (lambda () 'done))
      (let ((fiber (%spawn-guarded (lambda () (await (record 'never))) (lambda (failure) failure))))
        (yield)
        (%cancel fiber))
      (spawn (lambda () (await (predicate car ':pattern (pattern (a _ _))))) room)
      (yield)
      (yield)
      (stop-facet! room)
      (yield)
      (let ((task (async (yield) 'done))) (await task))
      (generate-request-id! 'helper 'goal)
      (sync!)
      (await (record 'a)))

    (define (world way)
      (define room (spawn-facet!))
      (define timer (after 60000 (lambda () #f)))
      (progress! way 1 2)
      (call-tool 'w 'workspace/list (dictionary 'path "."))
      (display way)
      (newline)
      (read-char)
      (spawn (lambda () (await (user-input :prompt "never answered"))) room)
      (yield)
      (stop-facet! room)
      (sleep 20)
      (cancel! timer))

    (define (capabilities way)
      (define capability (dataspace-capability))
      (assert! (record 'through way) capability)
      (revoke! capability))

    (define (entities)
      (register-entity! 'helper helper)
      (attach-entity! 'helper)
      (detach-entity! 'helper)
      (spawn-entity! 'helper :config 'fail)
      (sync! (spawn-entity! 'helper :config 'leave)))

    (define (writing way) (invoke-tool! 'w 'workspace/write (dictionary 'path way 'content "x")))

    (define (policy way)
      (define no (define-constraint (string-append "no_" way) :tool 'workspace/delete))
      (define ask (define-constraint (string-append "ask_" way) :tool 'workspace/write :on-fail 'ask))
      (define later
        (define-constraint (string-append "later_" way)
          :tool 'workspace/exists :when '(missing fact.go) :on-fail 'defer))
      (define limit (set-policy! "approval_timeout" '((value . 600000))))
      (ignoring-refusal (lambda () (call-tool 'w 'workspace/delete (dictionary 'path way))))
      (let ((tag (writing way)))
        (approve! (car (car (pending-approvals))))
        (await (tool-result :tag tag)))
      (let ((tag (writing way)))
        (reject! (car (car (pending-approvals))) "no")
        (ignoring-refusal (lambda () (await (tool-result :tag tag)))))
      (let* ((tag (invoke-tool! 'w 'workspace/exists (dictionary 'path way)))
             (go (record-fact! "go" '((value . 1)))))
        (await (tool-result :tag tag))
        (for-each remove-constraint! (list go limit later ask no))))))
"#;

const PROGRAM: &str = r#"
(import (scheme eval) (scheme repl) (scheme base) (duet base) (duet dataspace) (everything)
        (only (duet aeiou) run-actions) (prefix (duet routes) routes:))
(everything "program")
(run-actions "command\ncall tool.every.thing(\"envelope\")\nendcommand"
  :tools '("every.thing") :call (lambda (name arguments) (everything (car arguments))))
(routes:start-agent!
  (routes:make-agent 'sender
    (list
      (routes:make-receiver "A --> B" (lambda (message context) (routes:move 'ok)))
      (routes:make-sender "A --> B" (lambda (context) (everything "sender") "sent")))
    :tape '(A)))
(on-message (route/emit sender _) (assert! (record 'sender-is-done)))
(yield)
(routes:deliver! 'sender "go")
(await (record 'sender-is-done))
(after 1 (lambda () (everything "timer") (assert! (record 'timer-is-done))))
(await (record 'timer-is-done))
(eval 'car (interaction-environment))
(everything (await (user-input :prompt "who?")))
(everything (await (user-input :prompt "who else?")))
"#;

const MANIFEST: &str =
    r#"((program "main.scm") (workspace (argument 1)) (tools workspace/* policy/approve policy/update))"#;

fn desk() -> Desk {
    Desk::new(&[
        ("all/manifest.scm", MANIFEST),
        ("all/main.scm", PROGRAM),
        ("all/everything.sld", EVERYTHING),
        ("files/README", ""),
    ])
}

/// The turns of a branch.
fn turns(desk: &Desk, journal: &str, branch: &str) -> Vec<TurnRecord> {
    let store = SqliteStore::open_to_read(&desk.path(journal)).unwrap();
    let (run, branch) = (RunId::new("all").unwrap(), BranchName::new(branch).unwrap());
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let records = store.read(&run, &branch, all).unwrap();
    records.iter().filter_map(|record| decode_turn(record).ok()).collect()
}

fn logs(turn: &TurnRecord, line: &str) -> bool {
    turn.actions
        .iter()
        .any(|action| matches!(action, Action::Log(log) if log.text == line))
}

/// Actions for clients of a server and of sessions; `serve.rs` and `sessions.rs` come in by their
/// ways.
const BY_CLIENTS: [&str; 8] = [
    "answer",
    "welcome",
    "import-object",
    "subscribe",
    "give",
    "publish",
    "unpublish",
    "relay",
];

/// The actions of the run's owner, which no way of a program leads to; `widening.rs`, `patch.rs`
/// and `restart.rs` come in by theirs.
const BY_OWNER: [&str; 3] = ["widen", "patch", "restart"];

/// Requires that everything was done on a branch between the lines of a way, and that each action
/// has one verdict.
///
/// Input that was read ahead by an earlier way is not asked for again.
#[track_caller]
fn check_way(desk: &Desk, journal: &str, branch: &str, way: &str) {
    let turns = turns(desk, journal, branch);
    let position = |line: String| turns.iter().position(|turn| logs(turn, &line));
    let first = position(format!("begin {way}")).unwrap_or_else(|| panic!("{way} has not begun on {branch}"));
    let last = position(format!("end {way}")).unwrap_or_else(|| panic!("{way} has not ended on {branch}"));
    let mut done = BTreeSet::new();
    for turn in &turns[first..=last] {
        assert_eq!(turn.actions.len(), turn.verdicts.len(), "{turn}");
        for (action, verdict) in turn.actions.iter().zip(&turn.verdicts) {
            let is_withheld = ["propose", "postpone"].contains(&action.name());
            assert_eq!(matches!(verdict, Verdict::Allow {}), !is_withheld, "{turn}");
            done.insert(action.name());
        }
    }
    let is_missing = |name: &&str| !done.contains(name) && (*name != "read" || way == "program");
    let kinds = KINDS.iter().map(|(name, _)| *name);
    let missing: Vec<&str> = kinds
        .filter(|name| !BY_CLIENTS.contains(name) && !BY_OWNER.contains(name))
        .filter(is_missing)
        .collect();
    assert!(
        BY_OWNER.iter().all(|name| !done.contains(name)),
        "by way of {way} on {branch} the owner of the run acted"
    );
    assert!(
        missing.is_empty(),
        "by way of {way} on {branch} nothing of {missing:?} was done"
    );
}

const JOURNAL: &str = ".duet/journal.sqlite";

#[test]
fn every_kind_of_action_by_every_way_in_has_exactly_one_verdict() {
    let desk = desk();
    let say = |line: &str, input: &str, code: i32| {
        let said = desk.feed(line, input);
        assert_eq!(said.code, code, "duet {line}: {}{}", said.output, said.errors);
    };
    say("run all -- files", "input", 4);
    check_way(&desk, JOURNAL, "main", "program");
    check_way(&desk, JOURNAL, "main", "envelope");
    check_way(&desk, JOURNAL, "main", "sender");
    check_way(&desk, JOURNAL, "main", "timer");
    let open = turns(&desk, JOURNAL, "main").len();
    say("answer all answer", "input", 4);
    check_way(&desk, JOURNAL, "main", "answer");
    say(&format!("fork all/main@{open} picked"), "", 0);
    say(&format!("pick all/main@{} --onto all/picked", open + 1), "", 4);
    check_way(&desk, JOURNAL, "picked", "answer");
    say(&format!("amend all/main@{} amended --branch amended", open + 1), "", 4);
    check_way(&desk, JOURNAL, "amended", "amended");
    say(&format!("fork all/main@{open} resumed"), "", 0);
    say("resume all/resumed --answer resumed", "input", 4);
    check_way(&desk, JOURNAL, "resumed", "resumed");
    say(
        "repl all/resumed",
        "(import (everything))\n(everything \"prompt\")\n",
        1,
    );
    check_way(&desk, JOURNAL, "resumed", "prompt");
    say("export all/main all.duet", "", 0);
    say("import all.duet --journal elsewhere", "", 0);
    say(
        "resume all --journal elsewhere --grant workspace/*,policy/approve --workspace files --answer imported",
        "input",
        1,
    );
    check_way(&desk, "elsewhere", "main", "imported");
    // Judging again finds the same verdicts, or says so.
    for branch in ["main", "picked", "amended", "resumed"] {
        say(&format!("replay all/{branch} --check"), "", 0);
        say(&format!("replay all/{branch} --with all/main.scm"), "", 0);
    }
}
