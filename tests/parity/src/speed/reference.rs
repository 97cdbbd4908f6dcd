//! The work on the crate `syndicate`, with its dataspace in an actor of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use preserves::{Map, Value};
use syndicate::actor::{Activation, Actor, ActorResult, AnyValue, Cap, Entity, Handle, Ref, Synced};
use syndicate::dataspace::Dataspace;
use syndicate::schemas::dataspace::Observe;
use syndicate::schemas::dataspace_patterns as p;

use super::{Clock, Work};

/// Does the work and returns how long it took.
pub(crate) fn run(work: Work) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (sender, receiver) = channel();
        let held = sender.clone();
        Actor::top(None, move |t| {
            let _ = t.prevent_inert_check();
            let dataspace = Dataspace::new(t, None);
            let _ = held.send(ReferenceEvent::Dataspace(dataspace));
            Ok(())
        });
        let ReferenceEvent::Dataspace(dataspace) = heard(&receiver).await else {
            return Duration::ZERO;
        };
        match work {
            Work::Ring { actors, laps } => return ring(actors, laps, Some(dataspace), &sender, &receiver).await,
            Work::Direct { actors, laps } => return ring(actors, laps, None, &sender, &receiver).await,
            _ => {}
        }
        observe(work, &dataspace, &sender, &receiver).await;
        let clock = Clock::start();
        Actor::top(None, move |t| {
            let _ = t.prevent_inert_check();
            let worker = t.create_inert_ref();
            let mut state = Worker {
                own: Arc::clone(&worker),
                work,
                dataspace,
                done: 0,
                handle: None,
                sender,
            };
            state.next(t);
            worker.become_entity(state);
            Ok(())
        });
        let _ = heard(&receiver).await;
        clock.elapsed()
    })
}

/// A message of an actor to the measuring thread.
enum ReferenceEvent {
    Dataspace(Arc<Cap>),
    Ready,
    Member(Arc<Ref<()>>),
}

async fn heard(receiver: &Receiver<ReferenceEvent>) -> ReferenceEvent {
    loop {
        match receiver.try_recv() {
            Ok(said) => return said,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

fn value(label: &'static str, fields: [u64; 2]) -> AnyValue {
    Value::record(Value::symbol(label), fields.map(Value::new).to_vec())
}

struct Seer;

impl Entity<AnyValue> for Seer {
    fn assert(&mut self, _: &mut Activation, _: AnyValue, _: Handle) -> ActorResult {
        Ok(())
    }
}

struct Ready(Sender<ReferenceEvent>);

impl Entity<Synced> for Ready {
    fn message(&mut self, _: &mut Activation, _: Synced) -> ActorResult {
        let _ = self.0.send(ReferenceEvent::Ready);
        Ok(())
    }
}

async fn observe(
    work: Work,
    dataspace: &Arc<Cap>,
    sender: &Sender<ReferenceEvent>,
    receiver: &Receiver<ReferenceEvent>,
) {
    let (dataspace, sender) = (Arc::clone(dataspace), sender.clone());
    Actor::top(None, move |t| {
        let _ = t.prevent_inert_check();
        let seer = t.create_anycap(Seer);
        let look = |t: &mut Activation, number: u64| {
            let lit = p::Pattern::Lit {
                value: p::AnyAtom::Int(number.into()),
            };
            let bind = p::Pattern::Bind {
                pattern: Box::new(p::Pattern::Discard),
            };
            let pattern = p::Pattern::Group {
                type_: p::GroupType::Rec {
                    label: Value::symbol("state"),
                },
                entries: Map::from([(p::_Any::new(0), lit), (p::_Any::new(1), bind)]),
            };
            let observer = Arc::clone(&seer);
            dataspace.assert(t, &Observe { pattern, observer });
        };
        match work {
            Work::AmongObservers { observers, .. } => (1..observers).for_each(|other| look(t, other)),
            Work::AmongAssertions { assertions, .. } => (1..assertions).for_each(|other| {
                dataspace.assert(t, &value("other", [other, 1]));
            }),
            Work::Publish { .. } | Work::State { .. } | Work::Ring { .. } | Work::Direct { .. } => {}
        }
        look(t, 0);
        let ready = t.create_ref(Ready(sender));
        dataspace.sync(t, ready);
        Ok(())
    });
    let _ = heard(receiver).await;
}

/// Takes one turn after the other; each begins with a message to itself by way of the dataspace's
/// actor, so that what follows happens in between.
struct Worker {
    own: Arc<Ref<Synced>>,
    work: Work,
    dataspace: Arc<Cap>,
    done: u64,
    handle: Option<Handle>,
    sender: Sender<ReferenceEvent>,
}

impl Worker {
    fn next(&mut self, t: &mut Activation) {
        let round = self.done;
        self.done += 1;
        let is_over = match self.work {
            Work::Publish { turns } => {
                if round < turns {
                    for number in 0..100 {
                        self.dataspace.message(t, &value("state", [0, number]));
                    }
                }
                round >= turns
            }
            Work::State { rounds } | Work::AmongObservers { rounds, .. } | Work::AmongAssertions { rounds, .. } => {
                if round < rounds * 2 {
                    match self.handle.take() {
                        Some(handle) => t.retract(handle),
                        None => self.handle = self.dataspace.assert(t, &value("state", [0, round])),
                    }
                }
                round >= rounds * 2
            }
            Work::Ring { .. } | Work::Direct { .. } => true,
        };
        if is_over {
            let _ = self.sender.send(ReferenceEvent::Ready);
        } else {
            self.dataspace.sync(t, Arc::clone(&self.own));
        }
    }
}

impl Entity<Synced> for Worker {
    fn message(&mut self, t: &mut Activation, _: Synced) -> ActorResult {
        self.next(t);
        Ok(())
    }
}

struct Member {
    /// The receiver, unless the message goes to the dataspace.
    next: Option<Arc<Ref<()>>>,
    /// The message to the dataspace, if there is one.
    told: Option<(Arc<Cap>, AnyValue)>,
    /// For the first one only: how many laps are left, and whom to tell.
    laps: Option<(u64, Sender<ReferenceEvent>)>,
}

impl Member {
    fn pass(&mut self, t: &mut Activation) -> ActorResult {
        if let Some((laps, sender)) = &mut self.laps {
            if *laps == 0 {
                let _ = sender.send(ReferenceEvent::Ready);
                return Ok(());
            }
            *laps -= 1;
        }
        if let Some(next) = &self.next {
            t.message(next, ());
        }
        if let Some((dataspace, token)) = &self.told {
            dataspace.message(t, token);
        }
        Ok(())
    }
}

impl Entity<()> for Member {
    fn message(&mut self, t: &mut Activation, (): ()) -> ActorResult {
        self.pass(t)
    }
}

/// A member that hears of its token from the dataspace.
struct Hearer(Member);

impl Entity<AnyValue> for Hearer {
    fn message(&mut self, t: &mut Activation, _: AnyValue) -> ActorResult {
        self.0.pass(t)
    }
}

fn member(sender: &Sender<ReferenceEvent>) {
    let sender = sender.clone();
    Actor::top(None, move |t| {
        let _ = t.prevent_inert_check();
        let _ = sender.send(ReferenceEvent::Member(t.create_inert_ref()));
        Ok(())
    });
}

fn token(place: u64) -> AnyValue {
    Value::record(Value::symbol("token"), vec![Value::new(place)])
}

/// Makes a member that observes the token of its place.
fn hearer(place: u64, dataspace: Arc<Cap>, member: Member, sender: &Sender<ReferenceEvent>) {
    let sender = sender.clone();
    Actor::top(None, move |t| {
        let _ = t.prevent_inert_check();
        let observer = t.create_anycap(Hearer(member));
        let lit = p::Pattern::Lit {
            value: p::AnyAtom::Int(place.into()),
        };
        let pattern = p::Pattern::Group {
            type_: p::GroupType::Rec {
                label: Value::symbol("token"),
            },
            entries: Map::from([(p::_Any::new(0), lit)]),
        };
        dataspace.assert(t, &Observe { pattern, observer });
        let ready = t.create_ref(Ready(sender));
        dataspace.sync(t, ready);
        Ok(())
    });
}

async fn ring(
    actors: u64,
    laps: u64,
    dataspace: Option<Arc<Cap>>,
    sender: &Sender<ReferenceEvent>,
    receiver: &Receiver<ReferenceEvent>,
) -> Duration {
    let laps_of = |place: u64| (place == 0).then(|| (laps, sender.clone()));
    let mut members = Vec::new();
    for place in 0..actors {
        match &dataspace {
            Some(dataspace) => {
                let told = Some((Arc::clone(dataspace), token((place + 1) % actors)));
                let (next, laps) = (None, laps_of(place));
                hearer(place, Arc::clone(dataspace), Member { next, told, laps }, sender);
            }
            None => member(sender),
        }
        if let ReferenceEvent::Member(member) = heard(receiver).await {
            members.push(member);
        }
    }
    for (place, member) in (0..).zip(&members) {
        member.become_entity(Member {
            next: Some(Arc::clone(&members[(place as usize + 1) % members.len()])),
            told: None,
            laps: laps_of(place),
        });
    }
    let first = members.first().cloned();
    let clock = Clock::start();
    Actor::top(None, move |t| {
        if let Some(first) = &first {
            t.message(first, ());
        }
        if let Some(dataspace) = &dataspace {
            dataspace.message(t, &token(0));
        }
        Ok(())
    });
    let _ = heard(receiver).await;
    clock.elapsed()
}
