//! The work on Duet's runtime.
//!
//! INVARIANT: bodies keep nothing that a turn changes except counters, so going back is copying them.

use std::time::Duration;

use duet_journal::store::memory::MemoryStore;
use duet_journal::{BranchName, RunId};
use duet_runtime::activation::{Activation, Newborn};
use duet_runtime::actor::Manifest;
use duet_runtime::body::{End, FreezeError, Image, Programs, Task, ThawError, Until};
use duet_runtime::codec::Codec;
use duet_runtime::dataspace::pattern::{GroupKind, Pattern, Step};
use duet_runtime::draft::Refusal;
use duet_runtime::driver::Input;
use duet_runtime::identity::{ActorId, Callable, FacetId, Handle};
use duet_runtime::record::{Failure, Genesis, Limits, VERSION};
use duet_runtime::run::{Run, Start, Step as Taken};
use duet_runtime::snapshot::SnapshotPolicy;
use duet_runtime::value::Fact;
use preserves::{IOValue, Value};

use super::{Clock, Work, resident_bytes};

/// Does the work and returns how long it took.
pub(crate) fn run(work: Work) -> Duration {
    let (mut store, mut run) = start(Some(work));
    drive(&mut run, &mut store);
    let mut clock = Clock(None);
    clock.start();
    go(&mut run, &mut store);
    clock.elapsed()
}

/// Makes so many actors that do nothing, and returns what a turn of one more takes, and how many bytes they all need.
pub(crate) fn among_actors(actors: u64, before: u64) -> (Duration, u64) {
    const ROUNDS: u64 = 5_000;
    let (mut store, mut run) = start(Some(Work::State { rounds: ROUNDS }));
    run.deliver(input(&format!("idle {actors}")));
    drive(&mut run, &mut store);
    let bytes = resident_bytes().saturating_sub(before);
    let mut clock = Clock(None);
    clock.start();
    go(&mut run, &mut store);
    // Each round has two turns of the one that changes and two of the one that sees it.
    (clock.elapsed() / (ROUNDS as u32 * 4), bytes)
}

fn go(run: &mut Run<Bodies>, store: &mut MemoryStore) {
    run.deliver(input("go"));
    drive(run, store);
}

fn input(text: &str) -> Input {
    Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    }
}

fn start(work: Option<Work>) -> (MemoryStore, Run<Bodies>) {
    let mut store = MemoryStore::default();
    let start = Start {
        run: RunId::new("speed").expect("a name"),
        branch: BranchName::new("main").expect("a name"),
        owner: "speed".to_owned(),
        genesis: Genesis {
            version: VERSION,
            program: IOValue::new(true),
            manifest: Manifest::of(&["*"]),
            limits: Limits::default(),
            pinned: Vec::new(),
            tools: Vec::new(),
        },
        pinned: Vec::new(),
    };
    let run = Run::start(start, Bodies { work }, SnapshotPolicy::NEVER, &mut store).expect("an empty store");
    (store, run)
}

fn drive(run: &mut Run<Bodies>, store: &mut MemoryStore) {
    let mut taken = 0;
    while run.step().expect("the run goes on") == Taken::Turn {
        taken += 1;
        if taken % 64 == 0 {
            run.flush(store).expect("the store does not fail");
        }
    }
    run.flush(store).expect("the store does not fail");
}

struct Bodies {
    work: Option<Work>,
}

/// What an actor is.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Main,
    /// Sees what others do.
    Observer,
    /// The member of the ring before this actor and facet.
    Member(ActorId, FacetId),
    Idle,
}

#[derive(Clone, Copy)]
struct State {
    done: u64,
    handle: Option<Handle>,
    first: Option<(ActorId, FacetId)>,
}

struct Body {
    part: Part,
    work: Option<Work>,
    state: State,
    before: State,
}

/// The procedures that the runtime keeps for a body.
const SEE: Callable = Callable(0);
const PASS: Callable = Callable(1);
const NEXT: Callable = Callable(2);

impl Programs for Bodies {
    type Body = Body;

    fn load(&mut self, program: &IOValue, _: &Limits) -> Result<Body, Failure> {
        let numbers: Vec<u64> = Vec::decode(program).unwrap_or_default();
        let part = match numbers[..] {
            [0] => Part::Observer,
            [1, actor, facet] => Part::Member(ActorId(actor), FacetId(facet)),
            [2] => Part::Idle,
            _ => Part::Main,
        };
        let state = State {
            done: 0,
            handle: None,
            first: None,
        };
        Ok(Body {
            part,
            work: self.work,
            state,
            before: state,
        })
    }

    fn begin_turn(&mut self, body: &mut Body) {
        body.before = body.state;
    }

    fn commit_turn(&mut self, _: &mut Body) {}

    fn abort_turn(&mut self, body: &mut Body) {
        body.state = body.before;
    }

    fn run(&mut self, body: &mut Body, task: Task, turn: &mut Activation) -> End {
        body.run(task, turn).expect("nothing is refused")
    }

    fn release(&mut self, _: &mut Body, _: Callable) {}

    fn freeze(&mut self, _: &mut Body) -> Result<Image, FreezeError> {
        Err(FreezeError {
            reason: String::new(),
        })
    }

    fn thaw(&mut self, _: &IOValue, _: &Limits, _: Image) -> Result<Body, ThawError> {
        Err(ThawError {
            reason: String::new(),
        })
    }
}

const DONE: End = End::Finished { is_true: true };

impl Body {
    fn run(&mut self, task: Task, turn: &mut Activation) -> Result<End, Refusal> {
        match task {
            Task::Boot => self.boot(turn),
            Task::Evaluate { text, .. } => match text.strip_prefix("idle ") {
                Some(count) => {
                    for _ in 0..count.parse().unwrap_or(0) {
                        spawn(turn, &[2])?;
                    }
                    Ok(DONE)
                }
                None => self.next(turn),
            },
            Task::Call { procedure: PASS, .. } => self.pass(turn),
            Task::Call { .. } => Ok(DONE),
            Task::CallOnce { .. } | Task::Resume { .. } => self.next(turn),
        }
    }

    fn boot(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        match (self.part, self.work) {
            (Part::Main, Some(Work::Ring { actors, .. })) => {
                turn.watch(pattern("token", Vec::new()), PASS)?;
                let own = (turn.actor(), turn.facet());
                let mut next = own;
                for _ in 1..actors {
                    let actor = spawn(turn, &[1, next.0.0, next.1.0])?;
                    // Actors and their first facets are numbered alike.
                    next = (actor, FacetId(actor.0));
                }
                self.state.first = Some(next);
            }
            (Part::Main, _) => drop(spawn(turn, &[0])?),
            (Part::Member(..), _) => drop(turn.watch(pattern("token", Vec::new()), PASS)?),
            (Part::Observer, work) => self.observe(work, turn)?,
            (Part::Idle, _) => {
                turn.watch(pattern("idle", vec![literal(turn.actor().0)]), SEE)?;
            }
        }
        Ok(DONE)
    }

    fn observe(&mut self, work: Option<Work>, turn: &mut Activation) -> Result<(), Refusal> {
        match work {
            Some(Work::AmongObservers { observers, .. }) => {
                for other in 1..observers {
                    turn.watch(pattern("state", vec![literal(other), capture()]), SEE)?;
                }
            }
            Some(Work::AmongAssertions { assertions, .. }) => {
                for other in 1..assertions {
                    turn.assert(fact("other", vec![other, 1]))?;
                }
            }
            _ => {}
        }
        turn.watch(pattern("state", vec![literal(0), capture()]), SEE)?;
        Ok(())
    }

    fn pass(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        match self.part {
            Part::Member(actor, facet) => drop(turn.send(actor, facet, token())?),
            _ => return self.next(turn),
        }
        Ok(DONE)
    }

    /// Does the next part of the work, and lets what follows from it happen.
    fn next(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        let Some(work) = self.work else { return Ok(DONE) };
        let round = self.state.done;
        self.state.done += 1;
        let is_over = match work {
            Work::Publish { turns } => {
                if round < turns {
                    for number in 0..100 {
                        turn.message(fact("state", vec![0, number]).value().clone())?;
                    }
                }
                round >= turns
            }
            Work::Ring { laps, .. } => {
                if round < laps
                    && let Some((actor, facet)) = self.state.first
                {
                    turn.send(actor, facet, token())?;
                }
                return Ok(DONE);
            }
            Work::State { rounds }
            | Work::AmongObservers { rounds, .. }
            | Work::AmongAssertions { rounds, .. } => {
                match self.state.handle.take() {
                    Some(handle) => drop(turn.retract(handle)?),
                    None => self.state.handle = Some(turn.assert(fact("state", vec![0, round]))?),
                }
                round + 1 >= rounds * 2
            }
        };
        if is_over {
            return Ok(DONE);
        }
        Ok(End::Parked {
            continuation: NEXT,
            until: Until::Yielded,
        })
    }
}

fn spawn(turn: &mut Activation, program: &[u64]) -> Result<ActorId, Refusal> {
    turn.spawn_actor(Newborn {
        program: program.to_vec().encode(),
        manifest: Manifest::default(),
        link: None,
        on_end: None,
    })
}

fn record(label: &'static str, fields: Vec<u64>) -> IOValue {
    let fields = fields.into_iter().map(Value::new).collect();
    IOValue::from(Value::record(Value::symbol(label), fields))
}

fn fact(label: &'static str, fields: Vec<u64>) -> Fact {
    Fact::new(record(label, fields)).expect("a small value")
}

fn token() -> IOValue {
    record("token", Vec::new())
}

fn literal(number: u64) -> Pattern {
    Pattern::Literal(Fact::new(IOValue::new(number)).expect("a small value"))
}

fn capture() -> Pattern {
    Pattern::bind(Pattern::Discard)
}

fn pattern(label: &'static str, fields: Vec<Pattern>) -> Pattern {
    Pattern::Group {
        kind: GroupKind::Record(Fact::new(IOValue::symbol(label)).expect("a small value")),
        size: None,
        entries: (0..).map(Step::Index).zip(fields).collect(),
    }
}
