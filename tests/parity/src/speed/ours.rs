//! The work on Duet's runtime.
//!
//! INVARIANT: a turn changes only counters in a body, so going back is copying them.

use std::time::Duration;

use duet_journal::store::memory::MemoryStore;
use duet_runtime::dataspace::pattern::Pattern;
use duet_runtime::driver::Input;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::failure::Failure;
use duet_runtime::model::identity::{ActorId, Callable, FacetId, Handle};
use duet_runtime::model::limits::Limits;
use duet_runtime::model::value::Fact;
use duet_runtime::run::{Run, Step as Taken};
use duet_runtime::state::refusal::Refusal;
use duet_runtime::turn::activation::Activation;
use duet_runtime::turn::image::{FreezeError, Image, Stored, ThawError};
use duet_runtime::turn::program::Programs;
use duet_runtime::turn::task::{End, Task, Until};
use preserves::IOValue;

use super::{Clock, Work, resident_bytes};
use crate::duet::{DONE, capture, group, literal, never_frozen, never_thawed, start};

/// Does the work and returns how long it took.
pub(crate) fn run(work: Work) -> Duration {
    let (mut store, mut run) = start(Bodies { work: Some(work) });
    drive(&mut run, &mut store);
    let clock = Clock::start();
    go(&mut run, &mut store);
    clock.elapsed()
}

/// Makes idle actors, and returns the time of a turn of one more and the bytes of them all.
pub(crate) fn among_actors(actors: u64, before: u64) -> (Duration, u64) {
    const ROUNDS: u64 = 5_000;
    let work = Some(Work::State { rounds: ROUNDS });
    let (mut store, mut run) = start(Bodies { work });
    run.deliver(input(&format!("idle {actors}")));
    drive(&mut run, &mut store);
    let bytes = resident_bytes().saturating_sub(before);
    let clock = Clock::start();
    go(&mut run, &mut store);
    // Each round has two turns of the one that changes and two of the one that sees it.
    (clock.elapsed() / (ROUNDS as u32 * 4), bytes)
}

/// Is the timed part; never inlined, so that a profiler can look at it alone.
#[inline(never)]
fn go(run: &mut Run, store: &mut MemoryStore) {
    run.deliver(input("go"));
    drive(run, store);
}

fn input(text: &str) -> Input {
    Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    }
}

fn drive(run: &mut Run, store: &mut MemoryStore) {
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

/// The kinds of actors.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Main,
    /// Sees what others do.
    Observer,
    /// The member of the ring at this place, before this actor.
    Member(u64, ActorId),
    Idle,
}

#[derive(Clone, Copy)]
struct State {
    done: u64,
    handle: Option<Handle>,
    first: Option<ActorId>,
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
    type Instance = Body;

    fn load(&mut self, program: &IOValue, _: &Limits) -> Result<Body, Failure> {
        let numbers: Vec<u64> = Vec::decode(program).unwrap_or_default();
        let part = match numbers[..] {
            [0] => Part::Observer,
            [1, place, actor] => Part::Member(place, ActorId(actor)),
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
            Task::Patch { .. } => unreachable!("the program has no text that is changed"),
            Task::Call { procedure: PASS, .. } => self.pass(turn),
            Task::Call { .. } => Ok(DONE),
            Task::CallOnce { .. } | Task::Resume { .. } => self.next(turn),
        }
    }

    fn boot(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        match (self.part, self.work) {
            (Part::Main, Some(Work::Ring { actors, .. } | Work::Direct { actors, .. })) => {
                // The main actor has place 0; the others are made from the last to the first, so
                // that each knows the next.
                turn.watch(&group("token", vec![number(0)]), PASS)?;
                let mut next = turn.actor();
                for place in (1..actors).rev() {
                    next = spawn(turn, &[1, place, next.0])?;
                }
                self.state.first = Some(next);
            }
            (Part::Main, _) => drop(spawn(turn, &[0])?),
            (Part::Member(place, _), _) => drop(turn.watch(&group("token", vec![number(place)]), PASS)?),
            (Part::Observer, work) => self.observe(work, turn)?,
            (Part::Idle, _) => {
                turn.watch(&group("idle", vec![number(turn.actor().0)]), SEE)?;
            }
        }
        Ok(DONE)
    }

    fn observe(&mut self, work: Option<Work>, turn: &mut Activation) -> Result<(), Refusal> {
        match work {
            Some(Work::AmongObservers { observers, .. }) => {
                for other in 1..observers {
                    turn.watch(&group("state", vec![number(other), capture()]), SEE)?;
                }
            }
            Some(Work::AmongAssertions { assertions, .. }) => {
                for other in 1..assertions {
                    turn.assert(fact("other", &[other, 1]))?;
                }
            }
            _ => {}
        }
        turn.watch(&group("state", vec![number(0), capture()]), SEE)?;
        Ok(())
    }

    fn pass(&mut self, turn: &mut Activation) -> Result<End, Refusal> {
        match (self.part, self.work) {
            (Part::Member(place, actor), Some(work)) => hand_on(turn, work, place, actor)?,
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
                        turn.message(fact("state", &[0, number]))?;
                    }
                }
                round >= turns
            }
            Work::Ring { laps, .. } | Work::Direct { laps, .. } => {
                if round < laps
                    && let Some(actor) = self.state.first
                {
                    hand_on(turn, work, 0, actor)?;
                }
                return Ok(DONE);
            }
            Work::State { rounds } | Work::AmongObservers { rounds, .. } | Work::AmongAssertions { rounds, .. } => {
                match self.state.handle.take() {
                    Some(handle) => drop(turn.retract(handle)?),
                    None => self.state.handle = Some(turn.assert(fact("state", &[0, round]))?),
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

/// Hands the token on from the member at `place` to the next one.
fn hand_on(turn: &mut Activation, work: Work, place: u64, to: ActorId) -> Result<(), Refusal> {
    let next = match work {
        Work::Ring { actors, .. } | Work::Direct { actors, .. } => (place + 1) % actors,
        _ => 0,
    };
    let token = fact("token", &[next]);
    match work {
        // Actors and their first facets are numbered alike.
        Work::Direct { .. } => drop(turn.send(to, FacetId(to.0), token)?),
        _ => turn.message(token)?,
    }
    Ok(())
}

fn spawn(turn: &mut Activation, program: &[u64]) -> Result<ActorId, Refusal> {
    crate::duet::spawn(turn, program.to_vec().encode())
}

fn fact(label: &str, fields: &[u64]) -> Fact {
    let written = Fact::write(|out| out.record(label, |out| fields.iter().for_each(|field| out.unsigned(*field))));
    written.expect("a small value")
}

fn number(number: u64) -> Pattern {
    literal(number.encode())
}
