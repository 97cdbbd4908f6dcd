//! Scheme programs as whole runs: their visible results, and that each replays and resumes with the
//! same ones.

use duet_kernel::expander::{Libraries, LibraryName, SourceError, SourceText};

use duet_kernel::datum::Name;

use super::*;
use crate::model::limits::Limits;
use crate::run::DriveOutcome;
use crate::run::snapshot::SnapshotPolicy;
use crate::tests::script::world::{LIMITS, World, read_answers};

mod capability;
mod sharing;

/// A source of libraries that has none besides the kernel's own.
struct NoLibraries;

impl Libraries for NoLibraries {
    fn library(&mut self, _: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok(None)
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("there is no {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

fn world(text: &str, capabilities: &[&str], policy: SnapshotPolicy) -> World<SchemePrograms> {
    world_within(LIMITS, text, capabilities, policy)
}

pub(crate) fn world_within(
    limits: Limits,
    text: &str,
    capabilities: &[&str],
    policy: SnapshotPolicy,
) -> World<SchemePrograms> {
    let kernel = LibraryName {
        parts: vec![Name::from("duet"), Name::from("kernel")],
    };
    let source = Source {
        name: "test.scm",
        text,
        arguments: Vec::new(),
        default_imports: vec![kernel],
        evaluable: Vec::new(),
        is_counted: false,
        stop: None,
    };
    let compiled = SchemePrograms::compile(&source, &mut NoLibraries);
    let (_, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{text}: {error:?}"));
    world_of(limits, program, capabilities, policy)
}

/// Starts a compiled program; its programs are compiled anew from the texts that it pins.
pub(crate) fn world_of(
    limits: Limits,
    program: Program,
    capabilities: &[&str],
    policy: SnapshotPolicy,
) -> World<SchemePrograms> {
    let blobs: std::collections::BTreeMap<_, _> = program
        .pinned
        .iter()
        .map(|blob| (blob.hash(), blob.as_bytes().to_vec()))
        .collect();
    let value = program.value.clone();
    World::limited(limits, (program, capabilities), policy, move |_| {
        SchemePrograms::pinned(&value, &mut |hash| blobs.get(hash).cloned(), &|_| None).expect("the texts are pinned")
    })
}

/// A library that evaluates texts, without a console.
pub(crate) const EVALUATION_LIBRARY: &str = "
    (define-library (duet internal eval)
      (export eval %interact)
      (import (duet kernel))
      (begin
        (define (run procedures)
          (if (null? (cdr procedures))
              ((car procedures))
              (begin ((car procedures)) (run (cdr procedures)))))
        (define (eval datum imports) (run (%compile datum imports)))
        (define (%interact procedures)
          (let ((value (run procedures)))
            (if (eq? value (if #f #f)) #f (log! value))))))";

/// Starts a program that evaluates texts, most of them in one turn, with snapshots after every
/// `turns` turns.
pub(crate) fn session_of(program: Program, turns: u64) -> World<SchemePrograms> {
    // Fuel for a text grows with its length.
    let limits = Limits {
        slice_fuel: 10_000,
        turn_fuel: 10_000,
        ..LIMITS
    };
    world_of(limits, program, &["*"], every(turns))
}

/// Takes a snapshot after every `turns` turns, whatever the records' sizes.
pub(crate) fn every(turns: u64) -> SnapshotPolicy {
    SnapshotPolicy {
        turns,
        record_bytes: u64::MAX,
        ..SnapshotPolicy::NEVER
    }
}

/// Runs a program that is granted everything; its visible results must be `expected`, one per line.
#[track_caller]
fn check_answered(text: &str, answers: &[Result<&str, &str>], expected: &str) {
    for turns in [1, 3, 1000] {
        let mut world = world(
            text,
            &["*"],
            SnapshotPolicy {
                turns,
                ..SnapshotPolicy::NEVER
            },
        );
        world.drivers.answers = read_answers(answers);
        world.check(expected);
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_answered(text, &[], expected);
}

#[test]
fn assertions_are_watched() {
    let program = "
        (watch (pattern (p $x)) (lambda (event) (log! event)))
        (define handle (assert! (record 'p 1 'more)))
        (yield)
        (define newer (update! handle (record 'p '(a \"b\" 2.5))))
        (yield)
        (retract! newer)
        (retract! newer)
        (message! (record 'p #t))";
    let expected = "#[added (1) #<handle 2>]
        #[added ((a \"b\" 2.5)) #<handle 4>]
        #[removed (1) #<handle 2>]
        #[removed ((a \"b\" 2.5)) #<handle 4>]
        #[message (#t)]";
    check(program, expected);
}

#[test]
fn waits_resume_with_what_they_waited_for() {
    let program = "
        (spawn (lambda ()
          (log! (%await (record 'signal 'go) #f))
          (log! (%await (record 'job ':field 1 ':equals 'b) #f))
          (log! (%await (list (record 'signal 'never) (record 'signal 'scoped ':scope 7)) #f))
          (log! (%await (record 'predicate (lambda (value) \
            (if (record? value) (eq? (record-label value) 'last) #f))) #f))))
        (assert! (record 'go 1))
        (yield)
        (assert! (record 'job 1 'a))
        (assert! (record 'job 2 'b))
        (yield)
        (yield)
        (assert! (record 'signal 'scoped 7 'payload))
        (yield)
        (yield)
        (assert! (record 'last))";
    check(
        program,
        "#[go 1]\n #[job 2 b]\n (1 . #[signal scoped 7 payload])\n #[last]",
    );
}

#[test]
fn tools_and_people_answer() {
    let program = "
        (define tag (invoke-tool! 'worker 'workspace/read (record 'path \"a.txt\") ':tag \"read\"))
        (log! tag)
        (log! (%await (record 'tool-result ':tag tag) #f))
        (log! (%await (record 'user-input ':prompt '(which one?)) #f))
        (log! (%console-read 10))
        (%console-write 1 (bytevector 104 105))
        (log! (current-second))";
    let answers = [Ok("\"text\""), Ok("second"), Ok("#\"x\""), Ok("17.5")];
    let expected = "*workspace/read <path \"a.txt\">
        read
        text
        ?[which, one?]
        second
        <10
        #u8(35 91 101 65 93)
        >hi
        *clock/second #f
        17.5";
    check_answered(program, &answers, expected);
}

#[test]
fn a_failing_tool_raises_where_it_is_awaited() {
    let program = "
        (define tag (invoke-tool! 'worker \"shell\" 1))
        (%await (record 'tool-result ':tag tag) #f)";
    let expected = "*shell 1
        withdrawn
        failed: timeout: it did not work
        Ended { code: 1 }";
    check_answered(program, &[Err("timeout")], expected);
}

#[test]
fn facets_stop_with_their_hooks() {
    let program = "
        (watch (pattern (p $x)) (lambda (event) (log! event)))
        (define outer (spawn-facet!))
        (spawn (lambda ()
          (assert! (record 'p 'inside))
          (on-stop (lambda () (log! \"stopping\")))
          (spawn (lambda () (%await (record 'signal 'never) #f) (log! \"never\")) (spawn-facet!)))
          outer)
        (yield)
        (yield)
        (stop-facet! outer)
        (log! \"stopped\")";
    let expected = "#[added (inside) #<handle 2>]
        stopping
        stopped
        #[removed (inside) #<handle 2>]";
    check(program, expected);
}

#[test]
fn a_long_computation_is_cut_into_turns_and_resumed_from_each() {
    let program = "
        (define (count n total) (if (= n 0) total (count (- n 1) (+ total n))))
        (log! (count 2000 0))";
    check(program, "2001000");
}

#[test]
fn what_a_program_does_is_cut_into_turns_as_what_it_computes_is() {
    let limits = Limits {
        slice_fuel: 20_000,
        ..LIMITS
    };
    for action in ["(assert! n)", "(log! \"line\")", "(spawn (lambda () n))"] {
        let text = format!("(define (go n) (if (= n 0) #t (begin {action} (go (- n 1))))) (go 2000)");
        let mut world = world_within(limits, &text, &["*"], SnapshotPolicy::NEVER);
        assert_eq!(world.drive(), DriveOutcome::Ended { code: 0 }, "{action}");
        let most = world.turns("main").iter().map(|turn| turn.actions.len()).max();
        assert!(
            most.is_some_and(|most| most < 300),
            "{most:?} actions of one turn: {action}"
        );
    }
}

#[test]
fn an_error_undoes_the_heap_to_the_last_commit() {
    let program = "
        (define cell (vector 1))
        (define (show) (log! (vector-ref cell 0)))
        (watch (pattern (go)) (lambda (event) (vector-set! cell 0 2) (show)))
        (message! (record 'go))
        (yield)
        (yield)
        (vector-set! cell 0 3)
        (car cell)";
    let expected = "2
        failed: wrong-type: argument 1 of car must be a pair: [3]
        Ended { code: 1 }";
    check(program, expected);
}

#[test]
fn values_that_cannot_leave_are_refused() {
    let program = "(assert! (record 'p (list 1 car)))";
    let expected = "failed: not-serializable: field 0 of record p, element 1: a procedure cannot leave; send its name
        Ended { code: 1 }";
    check(program, expected);
}

#[test]
fn what_was_not_granted_is_denied_before_it_happens() {
    let mut world = world(
        "(log! 1) (invoke-tool! 'r 'shell 1)",
        &["workspace/*", "console"],
        SnapshotPolicy::default(),
    );
    world.check("failed: capability-denied: invoke-tool!: the capability `shell` was not granted\n Ended { code: 1 }");
}

#[test]
fn the_exit_code_is_the_programs() {
    check("(log! 1) (%exit 7)", "1\n Ended { code: 7 }");
    check("(%exit #f)", "Ended { code: 1 }");
    check("(%exit 0) (log! 1)", "");
    check("(%exit -1)", "Ended { code: 255 }");
    check("(%exit 257)", "Ended { code: 1 }");
    check("(%exit 256)", "Ended { code: 255 }");
    check("(%exit #t) (log! 1)", "");
}
