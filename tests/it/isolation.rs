//! A session does what it was granted and nothing else: random programs in one session, beside the
//! facts, capabilities, files and definitions of others.
//!
//! The test judges the records, not the gate's verdicts: it knows itself what each session may do.
//! INVARIANT: every program runs in a whole run, whose records a replay repeats; a program that
//! breaks out is named by its seed.
//! It does not write the programs; `isolation/program.rs` does.
//! Read next: `isolation/program.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeSet;

use duet_journal::store::memory::{FaultPlan, SimulatedDisk};
use duet_runtime::action::Action;
use duet_runtime::driver::EffectKind;
use duet_runtime::gate::Verdict;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::{ActorId, Resource};
use duet_runtime::record::TurnRecord;

use crate::support::scenario::{Scenario, every};
use crate::support::witness::turn_of;
use crate::support::world::{Files, Pace, World};
use program::Author;

/// The value that no session may learn.
const SECRET: &str = "SECRET-7f3a";

/// The number of programs in one run.
const PROGRAMS: usize = 10;

/// What keeps a session in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fence {
    /// Names: it has rights, and only two names to use them.
    Names,
    /// The gate: it has all names, and few rights.
    Gate,
}

impl Fence {
    fn options(self) -> &'static str {
        match self {
            Self::Names => {
                ":imports '((scheme base) (scheme write) (only (duet base) record)
                            (only (duet dataspace) assert! message!))
                 :grants '((dataspace/message (pattern (says $_))) (dataspace/assert (pattern (topic $_)))
                           dataspace/observe workspace/read spawn clock/millisecond)"
            }
            Self::Gate => {
                ":grants '((dataspace/message (pattern (says $_))) (dataspace/assert (pattern (topic $_)))
                           (dataspace/observe (pattern (public $_))))"
            }
        }
    }

    /// Lets the session import what it can.
    fn prepares(self) -> String {
        if self == Self::Names {
            return String::new();
        }
        let libraries: Vec<String> = LIBRARIES.iter().map(|words| format!("({words})")).collect();
        format!("(ask! \"mallory\" 'prepare '(import {}))\n", libraries.join(" "))
    }

    /// Says whether a session may do something, by its own rules.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a kind of action that is not listed is not allowed"
    )]
    fn allows(self, action: &Action) -> bool {
        let is_of_session = |text: &str| text.starts_with("<session/") && text.contains(" ':session' \"mallory\"");
        match action {
            Action::Assert(assert) => {
                let text = format!("{:?}", assert.value.value());
                text.starts_with("<topic ") || is_of_session(&text)
            }
            Action::Message(message) => format!("{:?}", message.value.value()).starts_with("<says "),
            Action::Observe(observe) => {
                let text = observe.pattern.to_string();
                let is_public = text.starts_with("<group <rec public>") && self == Self::Gate;
                // The runtime tells each session of its own requests, and nobody else.
                let is_own = text.starts_with("<group <rec request/changed>");
                is_public || is_own || text.starts_with("<group <rec session/") && text.contains("<lit \"mallory\">")
            }
            // Only notes pass through the capability that everybody may have.
            Action::Pass(pass) => {
                let text = format!("{:?}", pass.action.encode());
                self == Self::Gate && text.starts_with("[<assert ") && text.contains("<note ")
            }
            Action::Timer(_) | Action::Due(_) | Action::Sync(_) => self == Self::Gate,
            Action::GenerateRequestId(_) | Action::RegisterEntity(_) => self == Self::Gate,
            Action::Attenuate(_) | Action::Revoke(_) => self == Self::Gate,
            Action::SpawnFiber(_) | Action::SpawnGuarded(_) | Action::Cancel(_) => true,
            // The gate lets an actor answer only its own questions.
            Action::Answer(_) => true,
            Action::Wait(_) | Action::Resume(_) | Action::Yield(_) | Action::Wake(_) | Action::Synced(_) => true,
            Action::SpawnFacet(_) | Action::StopFacet(_) | Action::Retract(_) | Action::Unobserve(_) => true,
            Action::Note(_) | Action::ReportFailure(_) | Action::Exit(_) => true,
            _ => false,
        }
    }
}

/// The libraries that a program can import, beside those that it has.
const LIBRARIES: &[&str] = &[
    "duet base",
    "duet capability",
    "duet control",
    "duet dataspace",
    "duet policy",
    "duet sandbox",
    "duet sessions",
    "duet supervision",
    "scheme base",
    "scheme eval",
    "scheme file",
    "scheme load",
    "scheme process-context",
    "scheme repl",
    "scheme time",
    "scheme write",
];

/// A run whose program lets sessions begin, has things of its own, and puts the programs to the
/// session `mallory`, each followed by a request to the session `bob`.
fn host(fence: Fence, programs: &[String]) -> String {
    let requests = programs.iter().enumerate().map(|(number, program)| {
        format!(
            "(ask! \"mallory\" {number} (record 'text {program:?}))
(ask! \"bob\" {number} '(begin (set! total (+ total 1)) total))
"
        )
    });
    format!(
        "(import (duet base) (duet capability) (duet dataspace) (duet sessions) (scheme process-context))
(serve-sessions! {} :fuel-limit 60000 :fact-limit 60 :memory-limit 16000000)
(define (ask! id tag payload)
  (message! (record 'session/request :session id :payload payload :tag tag))
  (sleep 10))
(define secret \"{SECRET}\")
(define vault (assert! (record 'vault secret)))
(define key (dataspace-capability))
(define guarded (attenuate key (rewrite (bind (rec 'note anything)) (ref 0))))
(assert! (record 'keys key))
(assert! (record 'public guarded))
(on-assert (alarm $what) (log! (list 'breach 'alarm what)))
(on-message (alarm $what) (log! (list 'breach 'alarm what)))
(on-message (open $what) (log! (list 'breach 'open what)))
(on-retract (vault $what) (log! (list 'breach 'retracted what)))
(on-assert (vault $what) (if (not (equal? what secret)) (log! (list 'breach 'forged what))))
(on-assert (session/event :session \"bob\" :kind $kind :payload $payload :tag $tag :number _)
  (log! (list 'bob tag kind (if (pair? payload) (dictionary-ref (car payload) 'data) payload))))
(ask! \"bob\" 'first '(begin (define total 0) total))
{}{}(log! (list 'vault (await (record 'vault))))
(exit 0)",
        fence.options(),
        fence.prepares(),
        requests.collect::<String>(),
    )
}

/// Everything that the programs may try to name.
fn names() -> Vec<&'static str> {
    let host = duet_runtime::scheme::host::procedures().map(|procedure| procedure.name);
    let kernel = duet_kernel::primitive::all().map(|primitive| primitive.name);
    let library = [
        "on-assert",
        "on-message",
        "during",
        "spawn-entity!",
        "call-tool",
        "await",
        "sleep",
        "make-sandbox",
        "eval",
        "environment",
        "interaction-environment",
        "call-with-input-file",
        "describe",
        "values",
        "sync!",
    ];
    host.chain(kernel).chain(library).collect()
}

/// Finds what the session `mallory` did beyond its rights, in the records of a run.
fn breaches(fence: Fence, turns: &[TurnRecord]) -> Vec<String> {
    let ready = |turn: &&TurnRecord| {
        turn.actions.iter().any(|action| {
            let text = format!("{:?}", action.encode());
            matches!(action, Action::Assert(_)) && text.contains("session/ready") && text.contains("\"mallory\"")
        })
    };
    let mallory: BTreeSet<ActorId> = turns.iter().filter(ready).map(|turn| turn.actor).collect();
    assert!(!mallory.is_empty(), "the session begins");
    let is_mallory = |turn: &&TurnRecord| mallory.contains(&turn.actor);
    let others = turns.iter().filter(|turn| !is_mallory(turn));
    // The root facet of an actor is made by whoever makes the actor.
    let foreign: Vec<Resource> = others
        .flat_map(|turn| &turn.actions)
        .filter(|action| !matches!(action, Action::SpawnActor(_)))
        .flat_map(|action| action.claims().makes)
        .collect();
    let mut breaches = Vec::new();
    for turn in turns.iter().filter(is_mallory) {
        for (action, verdict) in turn.actions.iter().zip(&turn.verdicts) {
            let text = format!("{:?}", action.encode());
            let claims = action.claims();
            let reaches = claims
                .uses
                .iter()
                .chain(&claims.ends)
                .any(|used| foreign.contains(used));
            let is_done = matches!(verdict, Verdict::Allow {});
            if is_done && (!fence.allows(action) || reaches) || text.contains(SECRET) {
                breaches.push(text);
            }
        }
    }
    breaches
}

fn check(fence: Fence, seed: u64) {
    let mut author = Author::new(seed, names());
    let programs: Vec<String> = (0..PROGRAMS).map(|_| author.program()).collect();
    let scenario = Scenario::that_evaluates(LIBRARIES, "host", &host(fence, &programs), &["*"]);
    let files = Files::from([("secret.txt".to_owned(), format!("\"{SECRET}\"").into_bytes())]);
    let mut world = World::new(files.clone(), Some("yes"), Pace::Lazy);
    let disk = SimulatedDisk::new(Vec::new(), FaultPlan::default());
    let life = scenario.live(disk, every(u64::MAX), &mut world);
    let named = || format!("{fence:?}, seed {seed}: {programs:#?}");
    let turns: Vec<TurnRecord> = life.acknowledged.iter().filter_map(turn_of).collect();
    assert_eq!(breaches(fence, &turns), Vec::<String>::new(), "{}", named());
    let tools = world
        .performed
        .iter()
        .filter(|done| matches!(done.effect.kind, EffectKind::Tool { .. }));
    assert_eq!(tools.count(), 0, "{}", named());
    assert_eq!(world.files, files, "{}", named());
    let mut expected: Vec<String> = vec!["(bob first result 0)".to_owned()];
    expected.extend((0..PROGRAMS).map(|number| format!("(bob {number} result {})", number + 1)));
    expected.push(format!("(vault #[vault {SECRET:?}])"));
    assert_eq!(world.logged, expected, "{}", named());
}

/// The long form, with this number of runs of each fence, is in `docs/src/testing.md`.
#[expect(clippy::disallowed_methods, reason = "the environment chooses the long form")]
fn runs() -> u64 {
    let wanted = std::env::var("DUET_ISOLATION").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(12)
}

#[test]
fn programs_with_few_names_do_only_what_they_can_name() {
    (0..runs()).for_each(|seed| check(Fence::Names, seed));
}

#[test]
fn programs_with_all_names_do_only_what_they_were_granted() {
    (0..runs()).for_each(|seed| check(Fence::Gate, 1_000_000 + seed));
}
