//! Crashes, rewinds, forks and divergences of scripted runs.

use crate::run::heads::move_head;
use duet_journal::store::memory::MemoryStore;
use duet_journal::{BranchName, Sequence, Store};
use preserves::IOValue;

use super::*;
use crate::driver::{Drivers, Effect, EffectKind, Input};
use crate::record::TurnRecord;
use crate::run::inflight::{Recalled, Recovery};
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::BranchClaim;
use crate::run::{DriveOutcome, Step};
use crate::state::event::Event;
use crate::tests::script::world::{World, branch, run_id};
use crate::tests::script::{Scripts, parse};

const NEVER: SnapshotPolicy = SnapshotPolicy::NEVER;

/// A program with everything that can be in flight: messages, fibers, facets, another actor, tools,
/// a question.
const BUSY: &str = "main:
    watch w seen <group <rec p> {0: <bind <_>>}>
    actor other console workspace/read
    facet f
    in f inside
    assert a <p main>
    yield
    tool workspace/read t1 1
    tool shell t2 2
    ask \"name?\"
    show name
    await-tool t1
    show t1
    guard
    await-tool t2
    show t2
    stop f
    write done
  inside:
    assert b <p inside>
    on-stop hook
    await <lit never>
  hook:
    log hook
  other:
    assert c <p other>
    tool workspace/read t3 3
    await-tool t3
    show other
    await <lit never>
  seen:
    show seen";

fn at(number: u64) -> Sequence {
    Sequence::new(number).expect("small")
}

fn answers() -> [Result<&'static str, &'static str>; 4] {
    [Ok("one"), Ok("two"), Ok("\"Ada\""), Ok("three")]
}

fn busy() -> World<Scripts> {
    let mut world = World::script(
        BUSY,
        &["*"],
        SnapshotPolicy {
            turns: 3,
            ..SnapshotPolicy::NEVER
        },
    );
    world.drivers.answers = crate::tests::script::world::read_answers(&answers());
    world
}

fn open(world: &mut World<Scripts>, on: &BranchName) -> Run {
    let programs = world.programs();
    let recovery = Recovery::default();
    Run::open(
        &mut world.store,
        BranchClaim::new(&run_id(), on, "test"),
        programs,
        NEVER,
        &recovery,
    )
    .expect("the run opens")
}

#[test]
fn a_run_reopened_after_any_turn_is_the_run_that_never_stopped() {
    let mut whole = busy();
    assert_eq!(whole.drive(), DriveOutcome::Waiting { fibers: 1 });
    let head = whole.run.head().expect("turns were taken").sequence.number();
    let (run, main) = (run_id(), branch("main"));
    for turn in 0..=head {
        let source = Source {
            store: &whole.store,
            run: &run,
            branch: &main,
        };
        let states = [Snapshots::Use, Snapshots::Ignore].map(|snapshots| {
            let restored = source
                .restore(Some(at(turn)), whole.programs(), snapshots)
                .expect("it replays");
            assert_eq!(restored.head().map(|tip| tip.sequence), Some(at(turn)));
            restored.state().encode()
        });
        assert_eq!(states[0], states[1], "after turn {turn}");
    }
}

#[test]
fn a_snapshot_of_code_that_is_not_here_is_not_needed() {
    let mut whole = busy();
    whole.drive();
    let head = whole.run.head().expect("turns were taken").sequence.number();
    let renamed = BUSY
        .replace("on-stop hook", "on-stop last")
        .replace("  hook:", "  last:");
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &whole.store,
        run: &run,
        branch: &main,
    };
    let genesis = source.record(Sequence::FIRST).and_then(|first| genesis(&first));
    let genesis = genesis.expect("the first record is there");
    let mut useless = 0;
    for turn in (0..=head).map(at) {
        let nearest = source.nearest_snapshot(turn).expect("the records are there").snapshot;
        if let Some(record) = nearest {
            let thawed = thawing::thaw(&source, &record, &genesis, &mut Scripts(parse(&renamed)), Extent::Whole);
            useless += u64::from(thawed.is_err());
        }
        let states = [Snapshots::Use, Snapshots::Ignore].map(|snapshots| {
            let restored = source.restore(Some(turn), Scripts(parse(&renamed)), snapshots);
            let restored = restored.expect("every turn comes out the same");
            (restored.head(), restored.state().encode())
        });
        assert_eq!(states[0], states[1], "after turn {turn}");
    }
    assert!(useless > 0, "no snapshot needs the procedure");
}

#[test]
fn a_fork_at_any_turn_takes_what_is_in_flight_along() {
    let mut whole = busy();
    whole.drive();
    let expected = facts(&whole.run);
    let head = whole.run.head().expect("turns were taken").sequence.number();
    for turn in 0..=head {
        let name = branch(&format!("fork-{turn}"));
        move_head(
            &mut whole.store,
            BranchClaim::new(&run_id(), &branch("main"), "test"),
            at(turn),
            Some(&name),
        )
        .expect("it forks");
        let mut fork = open(&mut whole, &name);
        let mut drivers = Answering::default();
        fork.drive(&mut whole.store, &mut drivers).expect("it goes on");
        assert_eq!(facts(&fork), expected, "forked at turn {turn}");
    }
    let main = whole
        .store
        .head(&run_id(), &branch("main"))
        .expect("the run is there")
        .expect("the branch is there");
    assert_eq!(main.sequence, at(head), "the forks left the branch alone");
}

fn facts(run: &Run) -> Vec<(IOValue, u64)> {
    run.state().dataspace.facts()
}

/// Answers every tool and question at once, and remembers the keys.
#[derive(Default)]
struct Answering {
    inputs: std::collections::VecDeque<Input>,
    calls: Vec<(String, String)>,
}

impl crate::driver::Drivers for Answering {
    fn perform(&mut self, effects: Vec<Effect>) {
        for Effect { request, key, kind, .. } in effects {
            match kind {
                EffectKind::Tool { name, payload } => {
                    self.calls.push((name, key));
                    self.inputs.push_back(Input::ToolResult {
                        request,
                        outcome: Ok(payload.value()),
                    });
                }
                EffectKind::Ask { .. } => self.inputs.push_back(Input::Answer {
                    request,
                    value: true.encode(),
                }),
                EffectKind::Read { .. } => self.inputs.push_back(Input::Chunk {
                    request,
                    bytes: Vec::new(),
                }),
                EffectKind::Timer { .. } | EffectKind::Alarm { .. } => {
                    self.inputs.push_back(Input::Elapsed { request })
                }
                EffectKind::Write { .. }
                | EffectKind::Withdraw
                | EffectKind::Proceed { .. }
                | EffectKind::Log { .. }
                | EffectKind::Failure { .. }
                | EffectKind::Progress { .. }
                | EffectKind::Peer { .. } => {}
            }
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        self.inputs.pop_front()
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}

#[test]
fn rewinding_moves_the_head_and_deletes_nothing() {
    let mut world = busy();
    world.drive();
    let main = branch("main");
    let before = move_head(
        &mut world.store,
        BranchClaim::new(&run_id(), &main, "test"),
        at(4),
        None,
    )
    .expect("it moves");
    let before = before.expect("there was a head");
    assert_eq!(
        world
            .store
            .head(&run_id(), &main)
            .expect("there")
            .expect("there")
            .sequence,
        at(4)
    );
    assert!(
        world.store.record(&before.hash).is_ok(),
        "what was ahead is still there"
    );
    let rewound = open(&mut world, &main);
    assert_eq!(rewound.head().map(|tip| tip.sequence), Some(at(4)));
    let beyond = move_head(
        &mut world.store,
        BranchClaim::new(&run_id(), &main, "test"),
        at(99),
        None,
    );
    assert!(matches!(beyond, Err(RunError::NoTurn { .. })));
}

#[test]
fn a_call_in_flight_at_a_crash_is_repeated_under_its_key_or_answered_as_interrupted() {
    let script = "main:
        tool workspace/read t1 1
        tool shell t2 2
        guard
        await-tool t2
        show
        await-tool t1
        show";
    let mut world = World::script(script, &["*"], NEVER);
    world.drive();
    let keys: Vec<String> = world.drivers.effects.iter().map(|effect| effect.key.clone()).collect();
    let mut reopened = open(&mut world, &branch("main"));
    let mut drivers = Answering::default();
    assert_eq!(
        reopened.drive(&mut world.store, &mut drivers).expect("it goes on"),
        DriveOutcome::Ended { code: 0 }
    );
    assert_eq!(
        drivers.calls,
        [("workspace/read".to_owned(), keys[0].clone())],
        "only the repeatable call is repeated"
    );
    let interrupted = world.turns("main").iter().any(|turn| {
        let is_interrupted = |event: &Event| {
            let outcome = "interrupted";
            matches!(event, Event::Answered { outcome: Err(fault), .. } if format!("{fault:?}").contains(outcome))
        };
        turn.events.iter().any(is_interrupted)
    });
    assert!(interrupted, "the other is answered on record");
}

#[test]
fn a_question_is_put_again_under_the_same_id() {
    let mut world = World::script("main:\n ask \"name?\"\n show", &["*"], NEVER);
    let DriveOutcome::Asking { questions } = world.drive() else {
        panic!("a person is asked")
    };
    let mut reopened = open(&mut world, &branch("main"));
    let effects = reopened.flush(&mut world.store).expect("nothing fails");
    let asked: Vec<_> = effects.iter().map(|effect| effect.request).collect();
    assert_eq!(asked, questions);
    assert_eq!(effects[0].key, world.drivers.effects[0].key);
}

#[test]
fn only_the_first_answer_counts() {
    let mut world = World::script("main:\n ask \"name?\"\n show got", &["*"], NEVER);
    let DriveOutcome::Asking { questions } = world.drive() else {
        panic!("a person is asked")
    };
    for answer in ["first", "second"] {
        world.run.deliver(Input::Answer {
            request: questions[0],
            value: answer.to_owned().encode(),
        });
    }
    world.drive();
    world.check_replay();
    assert_eq!(world.drivers.seen, ["?\"name?\"", "got 0:\"first\""]);
    let dropped: Vec<usize> = world.turns("main").iter().map(|turn| turn.dropped.len()).collect();
    assert_eq!(dropped, [0, 0, 1], "the second answer is on record as dropped");
}

#[test]
fn effects_wait_for_the_disk() {
    let mut world = World::script("main:\n log a\n write b\n log c", &["*"], NEVER);
    while world.run.step().expect("it runs") == Step::Turn {}
    assert_eq!(
        world.run.unflushed().map(|append| append.records.len()),
        Some(3),
        "turns run ahead"
    );
    let effects = world.run.flush(&mut world.store).expect("nothing fails");
    let kinds: Vec<_> = effects.into_iter().map(|effect| effect.kind).collect();
    let log = |text: &str| EffectKind::Log {
        text: text.to_owned(),
        by_program: true,
    };
    let written = EffectKind::Write {
        stream: crate::driver::Stream::Output,
        bytes: b"b".to_vec(),
    };
    assert_eq!(kinds, [log("a"), written, log("c")], "in the order of asking");
    assert!(world.run.unflushed().is_none());
}

/// The number of effects that each commit released.
#[derive(Default)]
struct Commits(Vec<usize>);

impl Drivers for Commits {
    fn perform(&mut self, effects: Vec<Effect>) {
        self.0.push(effects.len());
    }

    fn next_input(&mut self) -> Option<Input> {
        None
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}

#[test]
fn output_of_a_program_that_goes_on_waits_for_few_turns_and_nothing_else_does() {
    let commits = |script: &str| {
        let mut world = World::script(script, &["*"], NEVER);
        let mut commits = Commits::default();
        world.run.drive(&mut world.store, &mut commits).expect("it runs");
        commits.0
    };
    let writes = " write a\n".repeat(10);
    let performed = commits(&format!("main:\n{writes}"));
    assert_eq!(performed.iter().sum::<usize>(), 10);
    assert!(
        performed.len() <= 4 && performed.iter().all(|&count| count <= 4),
        "{performed:?}"
    );
    let quiet = " yield\n".repeat(50);
    let performed = commits(&format!("main:\n write a\n{quiet} write b\n"));
    assert_eq!(performed, [1, 1], "what comes long afterwards is not waited for");
    assert_eq!(commits("main:\n log a\n yield\n log b\n yield\n"), [1, 1]);
    let logs = commits("main:\n write a\n log b\n yield\n write c\n");
    assert_eq!(
        logs[0], 2,
        "what else is asked for lets the output before it out: {logs:?}"
    );
}

#[test]
fn what_is_not_durable_is_not_performed() {
    let mut world = World::script("main:\n log a", &["*"], NEVER);
    while world.run.step().expect("it runs") == Step::Turn {}
    let mut stranger = MemoryStore::default();
    assert!(
        matches!(world.run.flush(&mut stranger), Err(RunError::Store(_))),
        "the store does not know the run"
    );
    assert!(world.drivers.effects.is_empty());
}

#[test]
fn the_first_difference_is_named() {
    let mut world = World::script("main:\n log a\n yield\n assert h <p 1>", &["*"], NEVER);
    world.drive();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    assert_eq!(
        source.check(world.programs()).expect("the same program does the same"),
        2
    );
    let diverge = |script: &str| match source.check(Scripts(parse(script))) {
        Err(RunError::Divergence(divergence)) => divergence.to_string(),
        other => format!("{:?}", other.map_err(|error| error.to_string())),
    };
    assert_eq!(
        diverge("main:\n log a\n yield\n assert h <p 2>"),
        "turn 2 of actor 0 differs in its actions: \
         the journal says <assert 0 0 <p 1>>, the program did <assert 0 0 <p 2>>"
    );
    assert_eq!(
        diverge("main:\n log a\n yield"),
        "turn 2 of actor 0 differs in its actions: the journal says <assert 0 0 <p 1>>, the program did nothing"
    );
    assert_eq!(
        diverge("main:\n log a\n log b\n yield"),
        "turn 1 of actor 0 differs in its actions: \
         the journal says <yield 0 <main> 0 <asked>>, the program did <log 1 \"b\">"
    );
    assert_eq!(
        diverge("main:\n log a\n await <lit 1>"),
        "turn 1 of actor 0 differs in its actions: the journal says <yield 0 <main> 0 <asked>>, the program did \
         <wait 0 0 <main> 0 [<matching 0 0 <lit 1>>] #f>"
    );
}

#[test]
fn forks_call_tools_under_keys_of_their_own() {
    let mut world = World::script("main:\n yield\n tool shell t 1\n await-tool t", &["*"], NEVER);
    let names = ["left", "right"].map(branch);
    world.run.flush(&mut world.store).expect("nothing fails");
    for name in &names {
        move_head(
            &mut world.store,
            BranchClaim::new(&run_id(), &branch("main"), "test"),
            at(0),
            Some(name),
        )
        .expect("it forks");
    }
    let keys = names.map(|name| {
        let mut fork = open(&mut world, &name);
        let mut drivers = Answering::default();
        fork.drive(&mut world.store, &mut drivers).expect("it goes on");
        drivers.calls
    });
    assert_eq!(keys.each_ref().map(Vec::len), [1, 1]);
    assert_ne!(keys[0], keys[1]);
}

/// Opens a branch and drives it while every call is answered; returns the keys of the calls that it
/// made.
fn go_on(world: &mut World<Scripts>, on: &BranchName, is_again: bool) -> (Vec<String>, Vec<Recalled>) {
    let mut run = open(world, on);
    if is_again {
        run.call_again();
    }
    let mut drivers = Answering::default();
    run.drive(&mut world.store, &mut drivers).expect("it goes on");
    let keys = drivers.calls.into_iter().map(|(_, key)| key).collect();
    (keys, run.take_recalled())
}

/// Makes a run that called a tool in turn 2 and was rewound to turn 1; another branch keeps the
/// turns that it left.
fn taken_back(script: &str) -> World<Scripts> {
    let mut world = World::script(script, &["*"], NEVER);
    world.drivers.answers = crate::tests::script::world::read_answers(&[Ok("first"), Ok("second")]);
    world.drive();
    let main = branch("main");
    let head = world
        .store
        .head(&run_id(), &main)
        .expect("there")
        .expect("there")
        .sequence;
    for (turn, fork) in [(head, Some(&branch("kept"))), (at(1), None)] {
        move_head(&mut world.store, BranchClaim::new(&run_id(), &main, "test"), turn, fork).expect("it moves");
    }
    world
}

#[test]
fn a_call_that_is_made_just_so_again_after_going_back_is_told_what_came_of_it() {
    let script = "main:\n yield\n tool shell t 1\n await-tool t\n show t\n assert a <p 1>";
    let mut world = taken_back(script);
    let kept: Vec<TurnRecord> = world.turns("kept");
    let (calls, recalled) = go_on(&mut world, &branch("main"), false);
    assert_eq!(calls, [""; 0], "nothing is done twice");
    let expected = Recalled {
        tool: "shell".to_owned(),
        turn: at(2),
        branch: branch("kept"),
        is_known: true,
    };
    assert_eq!(recalled, [expected]);
    assert_eq!(world.turns("main"), kept, "and the run goes on as it did");
}

#[test]
fn whoever_wants_a_call_made_again_gets_it() {
    let mut world = taken_back("main:\n yield\n tool shell t 1\n await-tool t");
    let (calls, recalled) = go_on(&mut world, &branch("main"), true);
    assert_eq!((calls.len(), recalled.len()), (1, 0));
}

#[test]
fn a_repeatable_call_is_made_again_after_going_back() {
    let mut world = taken_back("main:\n yield\n tool workspace/read t 1\n await-tool t");
    let (calls, recalled) = go_on(&mut world, &branch("main"), false);
    assert_eq!((calls.len(), recalled.len()), (1, 0));
}

#[test]
fn a_call_whose_result_nobody_heard_of_is_not_repeated_after_going_back() {
    let mut world = World::script(
        "main:\n yield\n tool shell t 1\n guard\n await-tool t\n show",
        &["*"],
        NEVER,
    );
    // There is no answer, so the process ends while the call is in flight.
    world.drive();
    let main = branch("main");
    for (turn, fork) in [(at(2), Some(&branch("kept"))), (at(1), None)] {
        move_head(&mut world.store, BranchClaim::new(&run_id(), &main, "test"), turn, fork).expect("it moves");
    }
    let (calls, recalled) = go_on(&mut world, &main, false);
    assert_eq!(calls, [""; 0]);
    assert_eq!(recalled.iter().map(|call| call.is_known).collect::<Vec<_>>(), [false]);
}

#[test]
fn a_branch_that_is_begun_before_a_call_makes_the_call_for_itself() {
    let mut world = taken_back("main:\n yield\n tool shell t 1\n await-tool t");
    let key = world
        .drivers
        .effects
        .iter()
        .find_map(|effect| matches!(effect.kind, EffectKind::Tool { .. }).then(|| effect.key.clone()));
    let fork = branch("fork");
    move_head(
        &mut world.store,
        BranchClaim::new(&run_id(), &branch("main"), "test"),
        at(1),
        Some(&fork),
    )
    .expect("it forks");
    let (calls, recalled) = go_on(&mut world, &fork, false);
    assert_eq!((calls.len(), recalled.len()), (1, 0));
    assert_ne!(calls.first(), key.as_ref(), "under a key of its own");
}
