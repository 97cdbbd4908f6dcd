//! Actors of one library share their beginning, and nothing that they change.

use super::*;
use crate::model::identity::ActorId;
use crate::state::event::Event;

const COUNT: usize = 150;

/// Entities that change globals, the contents of globals, and their literals, once for each
/// message.
fn counters() -> String {
    format!(
        "(define-library (counter)
           (export counter)
           (import (duet kernel))
           (begin
             (define count 0)
             (define marks (make-vector {COUNT} 0))
             (define names (list 'nobody))
             (define (sum place total)
               (if (= place {COUNT}) total (sum (+ place 1) (+ total (vector-ref marks place)))))
             (define (counter number)
               (watch (pattern (poke ,number))
                 (lambda (event)
                   (set! count (+ count 1))
                   (vector-set! marks number (+ 1 (vector-ref marks number)))
                   (set-cdr! names (list (string->symbol (number->string number))))))
               (watch (pattern (tell ,number))
                 (lambda (event) (log! (list number count (sum 0 0) names)))))))
         (import (duet kernel) (counter))
         (register-entity! 'counter counter)
         (define (each from act) (if (< from {COUNT}) (begin (act from) (each (+ from 1) act))))
         (define (poke-above least)
           (lambda (number) (if (> (modulo number 3) least) (message! (record 'poke number)))))
         (each 0 (lambda (number) (spawn-entity! 'counter ':config number)))
         (yield)
         (yield)
         (each 0 (poke-above 0))
         (yield)
         (yield)
         (each 0 (poke-above 1))
         (yield)
         (yield)
         (each 0 (lambda (number) (message! (record 'tell number)) (yield)))"
    )
}

#[test]
fn what_an_actor_changes_is_its_own() {
    let expected: Vec<String> = (0..COUNT)
        .map(|number| match number % 3 {
            0 => format!("({number} 0 0 (nobody))"),
            pokes => format!("({number} {pokes} {pokes} (nobody |{number}|))"),
        })
        .collect();
    for turns in [100, u64::MAX] {
        let policy = SnapshotPolicy {
            turns,
            ..SnapshotPolicy::NEVER
        };
        let mut world = world(&counters(), &["*"], policy);
        world.drive();
        let told: Vec<String> = world.drivers.seen.clone();
        assert_eq!(told, expected);
        let is_compacted = |number: &usize| {
            let actor = world.run.instance::<SchemePrograms>(ActorId(*number as u64 + 1));
            actor.is_some_and(|actor| actor.instance.heap.is_compacted())
        };
        let resting = (0..COUNT).filter(is_compacted).count();
        assert!(resting > COUNT / 2, "of {COUNT} actors {resting} rest");
        world.check_replay();
    }
}

/// Lists the fuel of the turns in which entities begin.
fn fuel_of_beginnings(world: &World<SchemePrograms>) -> Vec<u64> {
    let turns = world.turns("main").into_iter();
    let begins = |turn: &crate::record::TurnRecord| {
        turn.actor != ActorId(0) && turn.events.iter().any(|event| matches!(event, Event::Boot {}))
    };
    turns.filter(begins).map(|turn| turn.fuel).collect()
}

fn three(library: &str) -> World<SchemePrograms> {
    let text = format!(
        "(define-library (idle) (export idle) (import (duet kernel))
           (begin {library} (define (idle number) (log! (list number state)))))
         (import (duet kernel) (idle))
         (register-entity! 'idle idle)
         (spawn-entity! 'idle ':config 1)
         (spawn-entity! 'idle ':config 2)
         (spawn-entity! 'idle ':config 3)"
    );
    world(&text, &["*"], SnapshotPolicy::NEVER)
}

#[test]
fn whoever_comes_later_uses_as_much_fuel_as_the_first() {
    let library = "(define (count from) (if (= from 0) '() (cons from (count (- from 1)))))
                   (define state (length (count 20)))";
    let mut world = three(library);
    world.check("(1 20)\n(2 20)\n(3 20)");
    let fuel = fuel_of_beginnings(&world);
    assert!(fuel.len() == 3 && fuel[0] > 20, "{fuel:?}");
    assert!(fuel.iter().all(|used| *used == fuel[0]), "{fuel:?}");
    assert_eq!(world.run.programs::<SchemePrograms>().present.templates.known.len(), 1);
}

#[test]
fn a_library_that_asks_for_something_is_evaluated_by_each() {
    let mut world = three("(define state 'ready) (log! 'loaded)");
    // The main program loads the library first.
    world.check("loaded\nloaded\n(1 ready)\nloaded\n(2 ready)\nloaded\n(3 ready)");
    assert_eq!(world.run.programs::<SchemePrograms>().present.templates.known.len(), 0);
}
