//! Texts that a run evaluates: what they show, and that the run replays, resumes and forks between
//! any two of them.

use duet_journal::Sequence;
use duet_kernel::expander::{Libraries, LibraryName, SourceError, SourceText};

use super::super::{SchemePrograms, Source};
use super::*;
use crate::driver::Input;
use crate::run::Run;
use crate::run::heads::move_head;
use crate::run::inflight::Recovery;
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::BranchClaim;
use crate::run::source::Source as Journal;
use crate::scheme::tests::{EVALUATION_LIBRARY, session_of};
use crate::tests::script::world::{World, branch, run_id};

struct Texts;

impl Libraries for Texts {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let is_evaluation = name.to_string() == "(duet internal eval)";
        Ok(is_evaluation.then(|| SourceText {
            name: "eval.sld".to_owned(),
            text: EVALUATION_LIBRARY.into(),
        }))
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("there is no {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

fn library(words: &str) -> LibraryName {
    LibraryName {
        parts: words.split(' ').map(Name::from).collect(),
    }
}

fn world(turns: u64) -> World<SchemePrograms> {
    let source = Source {
        name: "session",
        text: "%interact",
        arguments: Vec::new(),
        default_imports: vec![library("duet kernel"), library("duet internal eval")],
        evaluable: Vec::new(),
        is_counted: false,
        stop: None,
    };
    let compiled = SchemePrograms::compile(&source, &mut Texts);
    let (_, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{error:?}"));
    session_of(program, turns)
}

fn input(text: &str) -> Input {
    let attached = Attached {
        wanted: vec!["(local)".to_owned()],
        name: "local.sld".to_owned(),
        text: "(define-library (local) (export local) (import (duet kernel)) (begin (define (local) 'local)))"
            .to_owned(),
    };
    let sources = if text.contains("(local)") {
        vec![attached]
    } else {
        Vec::new()
    };
    Input::Evaluate {
        text: text.to_owned(),
        sources,
    }
}

/// Evaluates the texts in one run, in order; each must show the lines beside it: log lines, and
/// failures of turns after `!`.
#[track_caller]
fn check(texts: &[(&str, &[&str])]) {
    for turns in [1, 3, 1000] {
        let mut world = world(turns);
        world.drive();
        let mut ends = Vec::new();
        for (text, expected) in texts {
            let (seen, turns) = (world.drivers.seen.len(), world.turns("main").len());
            world.run.deliver(input(text));
            world.drive();
            let mut shown = world.drivers.seen[seen..].to_vec();
            shown.extend(failures(&world, turns));
            assert_eq!(shown, *expected, "{text}");
            world.check_replay();
            ends.push((world.run.head().expect("a turn").sequence, world.drivers.seen.len()));
        }
        for (position, (end, seen)) in ends.iter().enumerate() {
            check_fork(&mut world, texts.get(position + 1..).unwrap_or_default(), (*end, *seen));
        }
    }
}

/// Lists the failures of turns from a position on.
fn failures(world: &World<SchemePrograms>, from: usize) -> Vec<String> {
    let turns = world.turns("main").into_iter().skip(from);
    turns
        .filter_map(|turn| match turn.outcome {
            crate::record::Outcome::Failed { failure } => Some(format!("!{failure}")),
            crate::record::Outcome::Committed {} => None,
        })
        .collect()
}

/// Forks the run after a text, in a new process, and evaluates the texts that followed; they must
/// show the same.
#[track_caller]
fn check_fork(world: &mut World<SchemePrograms>, texts: &[(&str, &[&str])], (end, seen): (Sequence, usize)) {
    let (run, main) = (run_id(), branch("main"));
    let fork = branch(&format!("fork-{end}"));
    let expected = world.drivers.seen[seen..].to_vec();
    move_head(
        &mut world.store,
        BranchClaim::new(&run, &main, "test"),
        end,
        Some(&fork),
    )
    .expect("the turn exists");
    let at = BranchClaim::new(&run, &fork, "test");
    let programs = world.programs();
    let policy = SnapshotPolicy::NEVER;
    let mut forked = Run::open(&mut world.store, at, programs, policy, &Recovery::default()).expect("it opens");
    let mut drivers = crate::tests::script::world::Table::default();
    for (text, _) in texts {
        forked.deliver(input(text));
        forked.drive(&mut world.store, &mut drivers).expect("it runs");
    }
    assert_eq!(drivers.seen, expected, "forked after turn {end}");
    let source = Journal {
        store: &world.store,
        run: &run,
        branch: &fork,
    };
    let replayed = source
        .restore(None, world.programs(), Snapshots::Ignore)
        .expect("it replays");
    assert_eq!(replayed.state().encode(), forked.state().encode());
}

#[test]
fn definitions_and_keywords_stay() {
    check(&[
        ("(define x 1)", &[]),
        ("x", &["1"]),
        ("(define-syntax twice (syntax-rules () ((_ e) (begin e e))))", &[]),
        ("(define (bump) (set! x (+ x 1)) x)", &[]),
        ("(twice (bump))", &["3"]),
        ("(define x 10)", &[]),
        ("(bump)", &["11"]),
        (
            "(define-syntax define-hidden (syntax-rules () ((_ name v) (begin (define t v) (define (name) t)))))",
            &[],
        ),
        ("(define-hidden a '(some list))", &[]),
        ("(define-hidden b \"text\")", &[]),
        ("(cons (a) (b))", &["((some list) . \"text\")"]),
    ]);
}

#[test]
fn a_text_that_comes_again_is_recorded_under_its_new_name() {
    // The run forgets the first attempt with its turn, so the second has another number, but the
    // same code.
    let lost = "!undefined-variable: lost is not defined";
    check(&[
        ("lost", &[lost]),
        ("(define x 1)", &[]),
        ("lost", &[lost]),
        ("x", &["1"]),
    ]);
}

#[test]
fn a_text_that_fails_leaves_nothing_behind() {
    check(&[
        ("(define x '(1))", &[]),
        ("(define-syntax m (syntax-rules () ((_) 'old)))", &[]),
        (
            "(begin (set-car! x 2) (define lost 1) (define-syntax m (syntax-rules () ((_) 'new))) (car '()))",
            &["!wrong-type: argument 1 of car must be a pair: []"],
        ),
        ("x", &["(1)"]),
        ("(m)", &["old"]),
        ("lost", &["!undefined-variable: lost is not defined"]),
        (
            "(define (keep) (m)) (if)",
            &["!syntax-error: this form should look like (if test consequent [alternative])"],
        ),
        ("(define-syntax m (syntax-rules () ((_) 'newest)))", &[]),
        ("(m)", &["newest"]),
    ]);
}

#[test]
fn programs_evaluate_data() {
    check(&[
        ("(eval '(define made (list 1 2)) \"\")", &[]),
        ("made", &["(1 2)"]),
        ("(define double (eval '(lambda (n) (* n 2)) \"(duet kernel)\"))", &[]),
        ("(double 21)", &["42"]),
        ("(eval '(define-syntax three (syntax-rules () ((_) 3))) \"\")", &[]),
        ("(three)", &["3"]),
        (
            "(begin (eval '(define-syntax three (syntax-rules () ((_) 4))) \"\") (car '()))",
            &["!wrong-type: argument 1 of car must be a pair: []"],
        ),
        ("(+ (three) (double 1))", &["5"]),
        (
            "(let loop ((n 0)) (if (< n 200) (begin (eval '(double 2) \"\") (loop (+ n 1))) n))",
            &["200"],
        ),
    ]);
}

#[test]
fn a_text_waits_and_others_go_on() {
    check(&[
        ("(log! (%await (record 'signal 'go) #f))", &[]),
        ("(define y 1)", &[]),
        ("(begin (%await (record 'signal 'boom) #f) (set! y 2) (car '()))", &[]),
        ("(define go (assert! (record 'go 5)))", &["#[go 5]"]),
        (
            "(define boom (assert! (record 'boom)))",
            &["!wrong-type: argument 1 of car must be a pair: []"],
        ),
        ("y", &["1"]),
        (
            "(begin (spawn (lambda () (car '()))) (set! y 3))",
            &["!wrong-type: argument 1 of car must be a pair: []"],
        ),
        ("y", &["1"]),
    ]);
}

#[test]
fn libraries_travel_with_a_text() {
    check(&[
        ("(local)", &["!undefined-variable: local is not defined"]),
        ("(import (local))", &[]),
        ("(local)", &["local"]),
        ("(define (again) (local))", &[]),
        ("(again)", &["local"]),
    ]);
}

#[test]
fn what_does_not_end_can_be_given_up() {
    let mut world = world(3);
    world.drive();
    world.run.deliver(input("(define x 1)"));
    world.run.deliver(input("(begin (set! x 2) (let loop () (loop)))"));
    for _ in 0..8 {
        world.run.step().expect("it runs");
    }
    world.run.deliver(Input::Abandon);
    world.run.deliver(input("(+ x 1)"));
    world.drive();
    assert_eq!(world.drivers.seen, ["3"]);
    world.check_replay();
}

#[test]
fn a_failure_in_the_background_ends_only_the_fiber_that_failed() {
    let wrong = "!wrong-type: argument 1 of car must be a pair: []";
    check(&[
        // Two fibers wake in one turn; the one that does not fail goes on.
        ("(spawn (lambda () (%await (record 'signal 'go) #f) (car '())))", &[]),
        ("(spawn (lambda () (log! (%await (record 'signal 'go) #f))))", &[]),
        ("(define go (assert! (record 'go 5)))", &["#[go 5]", wrong]),
        // A handler that fails loses the event and stays.
        (
            "(define failing (watch (pattern (n $x)) (lambda (event) (log! (car '())))))",
            &[],
        ),
        (
            "(define hearing (watch (pattern (n $x)) (lambda (event) (log! 'heard))))",
            &[],
        ),
        ("(message! (record 'n 1))", &["heard", wrong]),
        ("(message! (record 'n 2))", &["heard", wrong]),
        ("(+ 1 1)", &["2"]),
    ]);
}

#[test]
fn exit_in_the_background_ends_only_the_fiber() {
    let told = "a background fiber called (exit 3); it ends, the session goes on";
    check(&[("(spawn (lambda () (yield) (%exit 3)))", &[told]), ("(+ 1 1)", &["2"])]);
    let refused = "!refused: the facet of a session does not stop; `(exit)` at its prompt ends it";
    check(&[
        ("(spawn (lambda () (yield) (stop-facet! (current-facet))))", &[refused]),
        ("(+ 1 1)", &["2"]),
    ]);
}

#[test]
fn what_is_stopped_in_the_middle_of_a_turn_leaves_only_its_record() {
    let mut world = world(3);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    world.drive();
    if let Some((programs, _)) = world.run.lend::<SchemePrograms>(crate::action::exit::MAIN) {
        programs.stop_on(std::sync::Arc::clone(&stop));
    }
    let set = |is_set| stop.store(is_set, std::sync::atomic::Ordering::Relaxed);
    world.run.deliver(input("(define x 1)"));
    world.run.deliver(input("(begin (set! x 2) (yield) (set! x 3))"));
    world.run.step().expect("it runs");
    world.run.step().expect("it runs");
    set(true);
    // The rest of the text fails, and says so in the journal; the next text is as if never typed.
    world.run.step().expect("it stops");
    world.drive();
    assert_eq!(failures(&world, 0), ["!turn-interrupted: the person stopped it"]);
    let head = world.run.head();
    world.run.deliver(input("(set! x 4)"));
    world.run.step().expect("it stops");
    assert_eq!(world.run.head(), head);
    set(false);
    world.run.deliver(input("(+ x 1)"));
    world.drive();
    assert_eq!(world.drivers.seen, ["3"]);
    world.check_replay();
}

#[test]
fn each_text_has_a_name_of_its_own() {
    let mut world = world(3);
    world.drive();
    for text in ["(car 1)", "(car 2)"] {
        world.run.deliver(input(text));
        world.drive();
    }
    let named = world.turns("main").into_iter().filter_map(|turn| match turn.outcome {
        crate::record::Outcome::Failed { failure } => failure.origin.map(|origin| origin.source),
        crate::record::Outcome::Committed {} => None,
    });
    assert_eq!(named.collect::<Vec<_>>(), ["input 2", "input 3"]);
}

#[test]
fn who_was_given_a_first_text_after_a_mark_has_none_there() {
    let given = |newest_savepoint| {
        let mut evaluations = Evaluations::none_until(newest_savepoint);
        evaluations.begin_turn();
        evaluations.texts.push(Text {
            environment: String::new(),
            name: "input 1".to_owned(),
            text: "1".to_owned(),
            sources: Vec::new(),
        });
        evaluations.make_savepoint(5, 0);
        evaluations
    };
    for (newest_savepoint, back_to, left) in [(Some(3), 2, 0), (Some(3), 3, 0), (Some(3), 4, 1), (None, 5, 1)] {
        let mut evaluations = given(newest_savepoint);
        let undone = evaluations.restore_savepoint(back_to);
        assert_eq!(undone.len(), 1 - left);
        assert_eq!(
            evaluations.texts.len(),
            left,
            "from {newest_savepoint:?} back to {back_to}"
        );
    }
}

/// A text that comes with the library `(p)`, which defines `x`.
fn importing(text: &str, body: &str) -> Input {
    Input::Evaluate {
        text: text.to_owned(),
        sources: vec![Attached {
            wanted: vec!["(p)".to_owned()],
            name: "p.sld".to_owned(),
            text: format!("(define-library (p) (export x) (import (duet kernel)) (begin {body}))"),
        }],
    }
}

/// Evaluates a text in a run that goes on, and requires that it replays; the result has what it
/// showed.
#[track_caller]
fn shown(world: &mut World<SchemePrograms>, text: Input) -> Vec<String> {
    let (seen, turns) = (world.drivers.seen.len(), world.turns("main").len());
    world.run.deliver(text);
    world.drive();
    world.check_replay();
    let mut shown = world.drivers.seen[seen..].to_vec();
    shown.extend(failures(world, turns));
    shown
}

#[test]
fn a_text_that_fails_takes_its_libraries_with_it() {
    let failures = [
        (
            "(import (p))",
            "(define x (if))",
            "!syntax-error: this form should look like (if test consequent [alternative])",
        ),
        (
            "(import (p))",
            "(define x (car 1))",
            "!wrong-type: argument 1 of car must be a pair: 1",
        ),
        (
            "(begin (import (p)) (car 2))",
            "(define x 1)",
            "!wrong-type: argument 1 of car must be a pair: 2",
        ),
    ];
    for (text, body, failure) in failures {
        for turns in [1, 2, 1000] {
            let mut world = world(turns);
            world.drive();
            assert_eq!(shown(&mut world, importing(text, body)), [failure]);
            assert_eq!(shown(&mut world, input("1")), ["1"]);
            assert_eq!(shown(&mut world, importing("(import (p))", "(define x 5)")), [""; 0]);
            assert_eq!(shown(&mut world, input("x")), ["5"], "after {text} of {body}");
        }
    }
}

#[test]
fn a_run_that_goes_back_forgets_the_libraries_of_later_texts() {
    let redefined = "(define-library (p) (export x) (import (duet kernel)) (begin (define x 'new)))";
    for (checkpoint, later) in [(1, true), (u64::MAX, true), (1, false), (u64::MAX, false)] {
        let mut world = world(1000);
        world.run.checkpoint_after(checkpoint);
        world.drive();
        let begun = world.run.head().expect("a turn").sequence;
        if later {
            shown(&mut world, importing("(import (p))", "(define x 'old)"));
            assert_eq!(shown(&mut world, input("x")), ["old"]);
        }
        let back = world.run.head().expect("a turn").sequence;
        shown(&mut world, input(redefined));
        shown(&mut world, input("(import (p))"));
        assert_eq!(shown(&mut world, input("x")), ["new"]);
        world = gone_back(world, back);
        let expected = if later {
            "old"
        } else {
            "!undefined-variable: x is not defined"
        };
        assert_eq!(shown(&mut world, input("x")), [expected]);
        world = gone_back(world, begun);
        assert_eq!(shown(&mut world, importing("(import (p))", "(define x 7)")), [""; 0]);
        assert_eq!(shown(&mut world, input("x")), ["7"]);
    }
}

/// Goes back to a turn in this process, as the prompt does.
fn gone_back(mut world: World<SchemePrograms>, to: Sequence) -> World<SchemePrograms> {
    let (run, main) = (run_id(), branch("main"));
    move_head(&mut world.store, BranchClaim::new(&run, &main, "test"), to, None).expect("the turn exists");
    world.run = world
        .run
        .reopen(&mut world.store, &main, "test", &Recovery::default())
        .expect("it goes back");
    world
}
