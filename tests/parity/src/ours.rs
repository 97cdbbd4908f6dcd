//! Programs on Duet's runtime, as bodies that perform operations instead of running Scheme.
//!
//! INVARIANT: the body of an actor is one cloneable value, so a turn that fails leaves it as it
//! was. A watch notes each event when it receives it, even in a turn that fails later, as on the
//! other side.
//! Read next: `reference.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use duet_runtime::dataspace::pattern::Pattern as Looked;
use duet_runtime::driver::{Drivers, Effect, Input};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::failure::Failure;
use duet_runtime::model::identity::{Callable, FacetId, Handle, ObserverId};
use duet_runtime::model::limits::Limits;
use duet_runtime::model::value::Fact as Packed;
use duet_runtime::state::refusal::Refusal;
use duet_runtime::turn::activation::Activation;
use duet_runtime::turn::image::{FreezeError, Image, Stored, ThawError};
use duet_runtime::turn::program::Programs;
use duet_runtime::turn::task::{Argument, End, Resumption, Task, Until, WaitCondition};
use preserves::IOValue;

use crate::duet::{DONE, capture, fact, group, literal, never_frozen, never_thawed, record, spawn, start};
use crate::program::{
    Fact, LogEntry, Operation, Owner, Pattern, Program, SLOTS, Transcript, Wait, Watch, WatchName, fact_text,
};

/// The received events and the number of the present round.
type Log = Arc<Mutex<(usize, Transcript)>>;

fn lock(log: &Log) -> MutexGuard<'_, (usize, Transcript)> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program.
pub(crate) fn run(program: &Program) -> Transcript {
    let log = Log::default();
    let programs = Bodies {
        program: Arc::new(program.clone()),
        new_actors: new_actors(program),
        log: Arc::clone(&log),
    };
    let (mut store, mut run) = start(programs);
    let mut rounds = Rounds {
        log: Arc::clone(&log),
        next: 0,
        count: program.rounds.len(),
    };
    run.drive(&mut store, &mut rounds).expect("the store does not fail");
    std::mem::take(&mut lock(&log).1)
}

/// Wakes the main actor for each round, when nothing is under way any more.
struct Rounds {
    log: Log,
    next: usize,
    count: usize,
}

impl Drivers for Rounds {
    fn perform(&mut self, _: Vec<Effect>) {}

    fn next_input(&mut self) -> Option<Input> {
        if self.next == self.count {
            return None;
        }
        self.next += 1;
        lock(&self.log).0 = self.next;
        Some(Input::Evaluate {
            text: (self.next - 1).to_string(),
            sources: Vec::new(),
        })
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}

/// The first operations of an actor that another one makes.
fn new_actors(program: &Program) -> BTreeMap<u32, Arc<[Operation]>> {
    let mut found = BTreeMap::new();
    let mut rest: Vec<&Operation> = program.rounds.iter().flat_map(|round| &round.operations).collect();
    while let Some(operation) = rest.pop() {
        match operation {
            Operation::Spawn(actor, body) => {
                found.insert(*actor, body.clone().into());
                rest.extend(body);
            }
            Operation::Facet(_, body) | Operation::In(_, body) | Operation::OnStop(body) => rest.extend(body),
            Operation::Watch(watch) => rest.extend(watch.reactions.iter().flatten()),
            _ => {}
        }
    }
    found
}

struct Bodies {
    program: Arc<Program>,
    new_actors: BTreeMap<u32, Arc<[Operation]>>,
    log: Log,
}

/// The part that the runtime keeps.
#[derive(Clone)]
enum Kept {
    /// Operations from a position on.
    Operations(Arc<[Operation]>, usize),
    /// The operations for the end of a facet.
    Hook(Arc<[Operation]>),
    Watch(Arc<Watch>),
    Control,
    Sync,
    Synced,
    Wait(Wait),
    Waited(Wait),
}

#[derive(Clone, Default)]
struct State {
    kept: BTreeMap<u32, Kept>,
    next: u32,
    reacted: BTreeMap<u32, usize>,
    handles: [Option<Handle>; SLOTS],
    watches: [Option<ObserverId>; SLOTS],
    facets: [Option<FacetId>; SLOTS],
}

struct Body {
    /// The actor; none for the main one.
    actor: Option<u32>,
    first: Arc<[Operation]>,
    /// Its first facet, once it has begun. It lives in the reference's root there, and its end is
    /// the actor's.
    root: Option<FacetId>,
    program: Arc<Program>,
    log: Log,
    state: State,
    before: State,
}

impl Programs for Bodies {
    type Instance = Body;

    fn load(&mut self, program: &IOValue, _: &Limits) -> Result<Body, Failure> {
        let actor = u64::decode(program).ok().map(|actor| actor as u32);
        let first = actor.and_then(|actor| self.new_actors.get(&actor)).cloned();
        Ok(Body {
            actor,
            first: first.unwrap_or_default(),
            root: None,
            program: Arc::clone(&self.program),
            log: Arc::clone(&self.log),
            state: State::default(),
            before: State::default(),
        })
    }

    fn begin_turn(&mut self, body: &mut Body) {
        body.before = body.state.clone();
    }

    fn commit_turn(&mut self, _: &mut Body) {}

    fn abort_turn(&mut self, body: &mut Body) {
        body.state = body.before.clone();
    }

    fn run(&mut self, body: &mut Body, task: Task, turn: &mut Activation) -> End {
        body.run(task, turn)
            .unwrap_or_else(|refusal| panic!("an operation is refused: {refusal}"))
    }

    fn release(&mut self, body: &mut Body, callable: Callable) {
        body.state.kept.remove(&callable.0);
    }

    fn make_savepoint(&mut self, _: &mut Body, _: u64, _: u64) {}

    fn restore_savepoint(&mut self, _: &mut Body, _: u64) -> bool {
        false
    }

    fn digest(&self, _: &Body) -> Result<duet_journal::BlobHash, FreezeError> {
        Err(never_frozen())
    }

    fn freeze(&mut self, _: &mut Body) -> Result<Image, FreezeError> {
        Err(never_frozen())
    }

    fn thaw(&mut self, _: &IOValue, _: &Limits, _: Stored<'_>) -> Result<Body, ThawError> {
        Err(never_thawed())
    }
}

impl Body {
    fn keep(&mut self, kept: Kept) -> Callable {
        let number = self.state.next;
        self.state.next += 1;
        self.state.kept.insert(number, kept);
        Callable(number)
    }

    fn operations(&mut self, operations: &[Operation]) -> Callable {
        self.keep(Kept::Operations(operations.into(), 0))
    }

    fn run(&mut self, task: Task, turn: &mut Activation) -> Result<End, Refusal> {
        match task {
            Task::Boot => self.boot(turn),
            Task::Evaluate { text, .. } => {
                let round: u64 = text.parse().expect("a round");
                let actor = u64::from(self.program.rounds[round as usize].actor);
                turn.message(fact(record("go", vec![actor.encode(), round.encode()])))?;
                Ok(DONE)
            }
            Task::Patch { .. } => unreachable!("the program has no text that is changed"),
            Task::Call { procedure, argument } => {
                let kept = self.state.kept.get(&procedure.0).cloned().expect("it is kept");
                self.call(kept, argument, turn)
            }
            Task::CallOnce { procedure } => {
                let kept = self.state.kept.remove(&procedure.0).expect("it is kept");
                self.call(kept, None, turn)
            }
            Task::Resume { continuation, with } => {
                assert!(matches!(with, Resumption::Unspecified | Resumption::Matched { .. }));
                let kept = self.state.kept.remove(&continuation.0).expect("it is kept");
                self.call(kept, None, turn)
            }
        }
    }

    fn boot(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        let Some(actor) = self.actor else {
            for actor in 0..self.program.actors {
                spawn(turn, u64::from(actor).encode())?;
            }
            return Ok(DONE);
        };
        self.root = Some(turn.facet());
        let control = self.keep(Kept::Control);
        turn.watch(&group("go", vec![literal(IOValue::new(actor)), capture()]), control)?;
        self.perform(Arc::clone(&self.first), 0, turn)
    }

    fn call(&mut self, kept: Kept, argument: Option<Argument>, turn: &mut Activation) -> Result<End, Refusal> {
        match kept {
            Kept::Operations(operations, position) => self.perform(operations, position, turn),
            Kept::Hook(operations) => {
                self.count("stop-hook");
                self.perform(operations, 0, turn)
            }
            Kept::Watch(watch) => self.tell(&watch, argument, turn),
            Kept::Control => {
                let Some(Argument::Message(captures)) = argument else {
                    return Ok(DONE);
                };
                let round = captures.first().and_then(|round| round.unsigned()).expect("a round") as usize;
                let operations = self.program.rounds[round].operations.clone();
                self.perform(operations.into(), 0, turn)
            }
            Kept::Sync => Ok(End::Parked {
                continuation: self.keep(Kept::Synced),
                until: Until::Synced(turn.actor()),
            }),
            Kept::Wait(wait) => Ok(End::Parked {
                continuation: self.keep(Kept::Waited(wait)),
                until: Until::Condition {
                    wanted: vec![WaitCondition::Matching(awaited(wait))],
                    is_edge: false,
                },
            }),
            Kept::Waited(wait) => {
                let actor = self.actor.expect("only actors wait");
                let text = fact_text(wait.owner, wait.number);
                self.note(WatchName::Wait(actor, wait.name), text, Some(wait.owner));
                Ok(DONE)
            }
            Kept::Synced => {
                let actor = self.actor.expect("only actors sync");
                let own = Some(Owner::Actor(actor));
                self.note(WatchName::Syncs(actor), "synced".to_owned(), own);
                Ok(DONE)
            }
        }
    }

    fn note(&self, watch: WatchName, text: String, source: Option<Owner>) {
        let mut log = lock(&self.log);
        let round = log.0;
        log.1.entries.push(LogEntry {
            round,
            watch,
            text,
            source,
        });
    }

    fn count(&self, what: &'static str) {
        *lock(&self.log).1.performed.entry(what).or_default() += 1;
    }

    fn tell(&mut self, watch: &Watch, argument: Option<Argument>, turn: &mut Activation) -> Result<End, Refusal> {
        let (kind, captures) = match argument {
            Some(Argument::Added(captures, _)) => ('+', captures),
            Some(Argument::Removed(captures, _)) => ('-', captures),
            Some(Argument::Message(captures)) => ('!', captures),
            _ => return Ok(DONE),
        };
        let captures: Vec<String> = captures
            .iter()
            .map(|capture| format!("{:?}", capture.to_value()))
            .collect();
        let source = watch.pattern.source(&captures);
        let text = format!("{kind}{}", captures.join(" "));
        self.note(WatchName::Watch(watch.name), text, source);
        let reacted = self.state.reacted.entry(watch.name).or_default();
        let Some(reaction) = watch.reactions.get(*reacted).filter(|_| kind != '-') else {
            return Ok(DONE);
        };
        *reacted += 1;
        self.perform(reaction.clone().into(), 0, turn)
    }

    fn perform(&mut self, operations: Arc<[Operation]>, first: usize, turn: &mut Activation) -> Result<End, Refusal> {
        for (position, operation) in operations.iter().enumerate().skip(first) {
            self.count(operation.name());
            let stopped = match operation {
                Operation::StopFacet(slot) => self.state.facets[*slot],
                Operation::StopSelf => Some(turn.facet()).filter(|facet| Some(*facet) != self.root),
                Operation::Crash => return Ok(End::Failed(Failure::new("error", "on purpose"))),
                Operation::Exit => return Ok(End::Exit { code: 0 }),
                _ => {
                    self.perform_one(operation, turn)?;
                    None
                }
            };
            if let Some(facet) = stopped {
                return Ok(End::Parked {
                    continuation: self.keep(Kept::Operations(Arc::clone(&operations), position + 1)),
                    until: Until::Stopped(facet),
                });
            }
        }
        Ok(DONE)
    }

    fn perform_one(&mut self, operation: &Operation, turn: &mut Activation) -> Result<(), Refusal> {
        let actor = self.actor.expect("the main actor performs nothing");
        match operation {
            Operation::Assert(slot, fact) => {
                self.state.handles[*slot] = Some(turn.assert(value(actor, *fact))?);
            }
            Operation::Retract(slot) => {
                if let Some(handle) = self.state.handles[*slot] {
                    turn.retract(handle)?;
                }
            }
            Operation::Update(slot, fact) => {
                let new = value(actor, *fact);
                let handle = match self.state.handles[*slot] {
                    Some(old) => turn.update(old, new)?,
                    None => turn.assert(new)?,
                };
                self.state.handles[*slot] = Some(handle);
            }
            Operation::Message(fact) => turn.message(value(actor, *fact))?,
            Operation::Watch(watch) => {
                let handler = self.keep(Kept::Watch(Arc::new(watch.clone())));
                self.state.watches[watch.slot] = Some(turn.watch(&pattern(watch.pattern), handler)?);
            }
            Operation::Unwatch(slot) => match self.state.watches[*slot].take() {
                // One whose facet has stopped is refused; there is nothing to end.
                Some(watch) => drop(turn.unwatch(watch)),
                None => {}
            },
            Operation::Facet(slot, body) => {
                let facet = turn.spawn_facet(turn.facet(), None)?;
                self.state.facets[*slot] = Some(facet);
                let body = self.operations(body);
                turn.spawn(facet, body, None)?;
            }
            Operation::In(slot, body) => {
                if let Some(facet) = self.state.facets[*slot] {
                    let body = self.operations(body);
                    // In one that has stopped nothing runs.
                    let _ = turn.spawn(facet, body, None);
                }
            }
            Operation::OnStop(body) => {
                let hook = self.keep(Kept::Hook(body.clone().into()));
                turn.on_stop(hook)?;
            }
            Operation::Spawn(new_actor, _) => drop(spawn(turn, u64::from(*new_actor).encode())?),
            Operation::Sync => {
                let sync = self.keep(Kept::Sync);
                turn.spawn(turn.facet(), sync, None)?;
            }
            Operation::Wait(wait) => {
                let wait = self.keep(Kept::Wait(*wait));
                turn.spawn(turn.facet(), wait, None)?;
            }
            Operation::StopFacet(_) | Operation::StopSelf | Operation::Crash | Operation::Exit => {}
        }
        Ok(())
    }
}

fn value(actor: u32, told: Fact) -> Packed {
    let owner = IOValue::symbol(told.owner(actor).to_string());
    fact(record("fact", vec![owner, told.number.encode()]))
}

fn awaited(wait: Wait) -> Looked {
    let owner = literal(IOValue::symbol(wait.owner.to_string()));
    Looked::bind(group("fact", vec![owner, literal(wait.number.encode())]))
}

fn pattern(pattern: Pattern) -> Looked {
    let any = || Looked::Discard;
    let owner = |owner: Owner| literal(IOValue::symbol(owner.to_string()));
    let fact = |owner, number| group("fact", vec![owner, number]);
    match pattern {
        Pattern::Both => fact(capture(), capture()),
        Pattern::Of(known) => fact(owner(known), capture()),
        Pattern::Number(known) => fact(capture(), literal(known.encode())),
        Pattern::Whole => Looked::bind(fact(any(), any())),
        Pattern::Merged => fact(any(), capture()),
        Pattern::Any => fact(any(), any()),
    }
}
