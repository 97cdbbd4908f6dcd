//! Attempts: what the gate has refused, in the records of turns that commit and of turns that fail.
//!
//! INVARIANT: a failure undoes what a turn did, never what the gate said of it.
//! It does not test what the gate refuses; `rights.rs` and `policy.rs` do.
//! Read next: `rights.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, RunId, Sequence, Store};
use duet_runtime::record::TurnRecord;
use duet_runtime::run::source::decode_turn;

use crate::support::desk::Desk;

/// A procedure that attempts a call that policy forbids, and goes on.
const TRY: &str = "
(import (scheme base) (duet base) (duet dataspace) (duet policy))
(define-constraint \"no\" :tool 'workspace/read)
(define (try)
  (guard (refusal (#t #f)) (call-tool 'r \"workspace/read\" (dictionary 'path \"secret.txt\"))))
";

fn desk(program: &str) -> Desk {
    Desk::new(&[("p.scm", &format!("{TRY}{program}"))])
}

/// The turns of the run `p`, which must replay.
#[track_caller]
fn turns(desk: &Desk) -> Vec<TurnRecord> {
    let said = desk.duet("replay p --check");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let store = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    let (run, branch) = (RunId::new("p").unwrap(), BranchName::new("main").unwrap());
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let records = store.read(&run, &branch, all).unwrap();
    records.iter().filter_map(|record| decode_turn(record).ok()).collect()
}

#[test]
fn a_refusal_stays_on_record_when_its_turn_fails() {
    let desk = desk(
        "(define (probe config) (try) (error \"anything\"))
         (register-entity! 'probe probe)
         (spawn-entity! 'probe :on-exit (lambda (condition) #f))
         (yield)
         (yield)",
    );
    let said = desk.duet("run p.scm --workspace .");
    assert_eq!(said.code, 0, "{}", said.errors);
    let attempted: Vec<_> = turns(&desk)
        .into_iter()
        .filter(|turn| !turn.attempts.is_empty())
        .collect();
    let [turn] = &attempted[..] else {
        panic!("one turn attempted something: {attempted:?}")
    };
    let told = turn.to_string();
    assert!(
        told.contains("attempted invoke-tool") && told.contains("constraint_deny"),
        "{told}"
    );
    assert!(told.contains("failed error: anything"), "{told}");
    let log = desk.duet("log p --refused").output;
    assert!(log.contains("failed: error: anything; refused invoke-tool"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn attempts_of_a_turn_that_the_memory_stopped_replay_with_those_of_its_end() {
    let desk = desk(
        "(on-exit (lambda (condition) (try)))
         (define s (make-string 1000000 #\\f))
         (watch (pattern (go))
           (lambda (event)
             (try)
             (try)
             (let loop ((n 0)) (assert! (record 'item n s)) (loop (+ n 1)))))
         (message! (record 'go))
         (sleep 10)",
    );
    let said = desk.duet("run p.scm --workspace . --memory-limit 64M");
    assert!(said.errors.contains("memory-exhausted"), "{}", said.errors);
    let attempts: Vec<usize> = turns(&desk).iter().map(|turn| turn.attempts.len()).collect();
    assert_eq!(
        attempts.last(),
        Some(&3),
        "two of the turn, one of the hook: {attempts:?}"
    );
}

#[test]
fn attempts_that_do_not_fit_into_a_record_fail_their_turn() {
    let desk = desk(
        "(define large (dictionary 'path (make-string 6000000 #\\x)))
         (define (try-large) (guard (refusal (#t #f)) (call-tool 'r \"workspace/read\" large)))
         (watch (pattern (go))
           (lambda (event)
             (try-large)
             (try-large)
             (try-large)
             (log! \"never\")))
         (message! (record 'go))
         (sleep 10)",
    );
    let said = desk.duet("run p.scm --workspace .");
    assert!(
        said.code == 1 && said.errors.contains("turn-too-large"),
        "{}",
        said.errors
    );
    assert!(!said.errors.contains("never"), "{}", said.errors);
    let attempts: Vec<usize> = turns(&desk).iter().map(|turn| turn.attempts.len()).collect();
    assert_eq!(attempts.last(), Some(&2), "as many as fit: {attempts:?}");
}
