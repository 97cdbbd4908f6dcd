//! Programs on the reference implementation: a dataspace and actors of the crate `syndicate`.
//!
//! INVARIANT: a round begins when nothing is under way. Operations "later in the turn" run after
//! the operations of the round or of the actor's first turn, as a spawned fiber does in Duet.
//! Pre-commit actions would not do: when one fails, the reference sends the turn's actions.
//! Read next: `compare.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use preserves::{Map, Value};
use syndicate::actor::{
    Account, Activation, Actor, ActorResult, AnyValue, Cap, Entity, FacetId, FacetRef, Handle, Ref, Synced,
};
use syndicate::dataspace::Dataspace;
use syndicate::error::error;
use syndicate::schemas::dataspace::Observe;
use syndicate::schemas::dataspace_patterns as p;

use crate::program::{
    Fact, LogEntry, Operation, Owner, Pattern, Program, SLOTS, Transcript, Wait, Watch, WatchName, fact_text,
};

/// The number of idle rounds of the scheduler after which nothing is under way.
const QUIET: u32 = 12;

/// The part that all actors of a run share.
struct Shared {
    dataspace: Arc<Cap>,
    told: Mutex<Transcript>,
    round: AtomicU64,
    /// Counts whatever happens.
    activity: AtomicU64,
    /// The actors that live or have lived, each with its first facet.
    actors: Mutex<BTreeMap<u32, FacetRef>>,
    states: Mutex<BTreeMap<u32, Arc<Mutex<Slots>>>>,
    /// An entity of each actor: the reference ends actors to which nobody has a reference.
    kept_alive: Mutex<Vec<Arc<Ref<AnyValue>>>>,
}

#[derive(Default)]
struct Slots {
    handles: [Option<Handle>; SLOTS],
    watches: [Option<Handle>; SLOTS],
    /// Each facet with an entity that lives in it.
    facets: [Option<(FacetId, Arc<Ref<AnyValue>>)>; SLOTS],
    /// The operations for later in the turn.
    later: VecDeque<Later>,
}

/// An operation in the facet of an entity.
type Later = (Arc<Ref<AnyValue>>, Vec<Operation>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn note(&self, watch: WatchName, text: String, source: Option<Owner>) {
        self.activity.fetch_add(1, Ordering::Relaxed);
        let round = self.round.load(Ordering::Relaxed) as usize;
        lock(&self.told).entries.push(LogEntry {
            round,
            watch,
            text,
            source,
        });
    }
}

/// Runs a program.
pub(crate) fn run(program: &Program) -> Transcript {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (sender, receiver) = std::sync::mpsc::channel();
        Actor::top(None, move |t| {
            let _ = t.prevent_inert_check();
            let _ = sender.send(Dataspace::new(t, None));
            Ok(())
        });
        tokio::task::yield_now().await;
        let shared = Arc::new(Shared {
            dataspace: receiver.recv().expect("the dataspace begins"),
            told: Mutex::default(),
            round: AtomicU64::new(0),
            activity: AtomicU64::new(0),
            actors: Mutex::default(),
            states: Mutex::default(),
            kept_alive: Mutex::default(),
        });
        let starter = Arc::clone(&shared);
        let actors = program.actors;
        Actor::top(None, move |t| {
            for actor in 0..actors {
                spawn(t, &starter, actor, Vec::new());
            }
            Ok(())
        });
        settle(&shared).await;
        for (number, round) in (1..).zip(&program.rounds) {
            shared.round.store(number, Ordering::Relaxed);
            let facet = lock(&shared.actors).get(&round.actor).cloned();
            if let Some(facet) = facet {
                let (shared, operations) = (Arc::clone(&shared), round.operations.clone());
                let actor = round.actor;
                facet.activate(&Account::new(None, None), None, |t| {
                    perform_all(t, &shared, actor, &operations)
                });
            }
            settle(&shared).await;
        }
        std::mem::take(&mut *lock(&shared.told))
    })
}

/// Runs everything that is under way.
async fn settle(shared: &Shared) {
    let (mut seen, mut quiet) = (shared.activity.load(Ordering::Relaxed), 0);
    while quiet < QUIET {
        tokio::task::yield_now().await;
        let now = shared.activity.load(Ordering::Relaxed);
        quiet = if now == seen { quiet + 1 } else { 0 };
        seen = now;
    }
}

fn spawn(t: &mut Activation, shared: &Arc<Shared>, actor: u32, operations: Vec<Operation>) {
    let shared = Arc::clone(shared);
    t.spawn(None, move |t| {
        let _ = t.prevent_inert_check();
        shared.activity.fetch_add(1, Ordering::Relaxed);
        lock(&shared.actors).insert(actor, t.facet_ref());
        lock(&shared.states).insert(actor, Arc::default());
        let inhabitant = t.inert_entity_ref();
        lock(&shared.kept_alive).push(inhabitant);
        perform_all(t, &shared, actor, &operations)
    });
}

/// Performs operations, and then those that they left for later.
fn perform_all(t: &mut Activation, shared: &Arc<Shared>, actor: u32, operations: &[Operation]) -> ActorResult {
    perform(t, shared, actor, operations)?;
    let slots = lock(&shared.states).get(&actor).cloned().expect("the actor has begun");
    loop {
        let next = lock(&slots).later.pop_front();
        let Some((facet, body)) = next else { return Ok(()) };
        t.with_entity(&facet, |t, _| perform(t, shared, actor, &body))?;
    }
}

/// Says whether the current facet has stopped.
fn is_stopped(t: &mut Activation) -> bool {
    t.facet_ids().is_empty()
}

fn perform(t: &mut Activation, shared: &Arc<Shared>, actor: u32, operations: &[Operation]) -> ActorResult {
    for operation in operations {
        perform_one(t, shared, actor, operation)?;
        if matches!(
            operation,
            Operation::StopFacet(_) | Operation::StopSelf | Operation::Exit
        ) && is_stopped(t)
        {
            break;
        }
    }
    Ok(())
}

fn perform_one(t: &mut Activation, shared: &Arc<Shared>, actor: u32, operation: &Operation) -> ActorResult {
    let slots = lock(&shared.states).get(&actor).cloned().expect("the actor has begun");
    match operation {
        Operation::Assert(slot, fact) => {
            let handle = assert(t, shared, actor, *fact);
            lock(&slots).handles[*slot] = handle;
        }
        Operation::Retract(slot) => {
            let handle = lock(&slots).handles[*slot];
            if let Some(handle) = handle {
                t.retract(handle);
            }
        }
        Operation::Update(slot, fact) => {
            let old = lock(&slots).handles[*slot];
            let handle = assert(t, shared, actor, *fact);
            if let Some(old) = old {
                t.retract(old);
            }
            lock(&slots).handles[*slot] = handle;
        }
        Operation::Message(fact) => shared.dataspace.message(t, &value(fact.owner(actor), fact.number)),
        Operation::Watch(watch) => lock(&slots).watches[watch.slot] = begin_watch(t, shared, actor, watch),
        Operation::Unwatch(slot) => {
            let handle = lock(&slots).watches[*slot].take();
            if let Some(handle) = handle {
                t.retract(handle);
            }
        }
        Operation::Facet(slot, body) => {
            let mut inhabitant = None;
            let facet = t.facet(|t| {
                let _ = t.prevent_inert_check();
                inhabitant = Some(t.inert_entity_ref::<AnyValue>());
                Ok(())
            })?;
            let inhabitant = inhabitant.expect("the facet has begun");
            lock(&slots).facets[*slot] = Some((facet, Arc::clone(&inhabitant)));
            lock(&slots).later.push_back((inhabitant, body.clone()));
        }
        Operation::In(slot, body) => {
            let facet = lock(&slots).facets[*slot].clone();
            if let Some((_, inhabitant)) = facet {
                lock(&slots).later.push_back((inhabitant, body.clone()));
            }
        }
        Operation::StopFacet(slot) => {
            let facet = lock(&slots).facets[*slot].clone();
            if let Some((facet, _)) = facet {
                t.stop_facet_and_continue::<fn(&mut Activation) -> ActorResult>(facet, None)?;
            }
        }
        Operation::StopSelf => {
            let facets = t.facet_ids();
            // The first facet of an actor lives in the reference's root, and its end is the
            // actor's.
            if facets.len() > 2 {
                t.stop_facet_and_continue::<fn(&mut Activation) -> ActorResult>(facets[0], None)?;
            }
        }
        Operation::OnStop(body) => {
            let (shared, body) = (Arc::clone(shared), body.clone());
            t.on_stop(move |t| perform(t, &shared, actor, &body));
        }
        Operation::Spawn(new_actor, body) => spawn(t, shared, *new_actor, body.clone()),
        Operation::Sync => {
            let shared = Arc::clone(shared);
            let peer = t.create_ref(Answer(Arc::clone(&shared), actor));
            let inhabitant = t.inert_entity_ref::<AnyValue>();
            t.pre_commit(move |t| {
                t.with_entity(&inhabitant, |t, _| {
                    shared.dataspace.sync(t, peer);
                    Ok(())
                })
            });
        }
        Operation::Wait(wait) if wait.has_begun => begin_wait(t, shared, actor, *wait),
        Operation::Wait(wait) => {
            let begun = Wait {
                has_begun: true,
                ..*wait
            };
            let inhabitant = t.inert_entity_ref::<AnyValue>();
            lock(&slots).later.push_back((inhabitant, vec![Operation::Wait(begun)]));
        }
        Operation::Crash => return Err(error("on purpose", AnyValue::new(false)).into()),
        Operation::Exit => t.stop_root(),
    }
    Ok(())
}

/// Asserts a fact; the reference makes nothing of it where the current facet has stopped already,
/// which only a stop hook can see.
fn assert(t: &mut Activation, shared: &Shared, actor: u32, fact: Fact) -> Option<Handle> {
    let owner = fact.owner(actor);
    if is_stopped(t) {
        let round = shared.round.load(Ordering::Relaxed) as usize;
        lock(&shared.told)
            .lost_to_stopping
            .push((round, fact_text(owner, fact.number)));
    }
    shared.dataspace.assert(t, &value(owner, fact.number))
}

fn begin_watch(t: &mut Activation, shared: &Arc<Shared>, actor: u32, watch: &Watch) -> Option<Handle> {
    let observer = t.create_anycap(Observer {
        shared: Arc::clone(shared),
        actor,
        watch: watch.clone(),
        reacted: 0,
        known: BTreeMap::new(),
    });
    let observe = Observe {
        pattern: pattern(watch.pattern),
        observer,
    };
    shared.dataspace.assert(t, &observe)
}

fn begin_wait(t: &mut Activation, shared: &Arc<Shared>, actor: u32, wait: Wait) {
    let handle = Arc::new(Mutex::new(None));
    let observer = t.create_anycap(Waiter {
        shared: Arc::clone(shared),
        actor,
        wait,
        handle: Arc::clone(&handle),
        is_over: false,
    });
    let observe = Observe {
        pattern: awaited(wait),
        observer,
    };
    *lock(&handle) = shared.dataspace.assert(t, &observe);
}

/// Notes the first match, and ends.
struct Waiter {
    shared: Arc<Shared>,
    actor: u32,
    wait: Wait,
    handle: Arc<Mutex<Option<Handle>>>,
    is_over: bool,
}

impl Waiter {
    fn end(&mut self, t: &mut Activation) {
        if !self.is_over {
            self.is_over = true;
            let text = fact_text(self.wait.owner, self.wait.number);
            let name = WatchName::Wait(self.actor, self.wait.name);
            self.shared.note(name, text, Some(self.wait.owner));
            if let Some(handle) = lock(&self.handle).take() {
                t.retract(handle);
            }
        }
    }
}

impl Entity<AnyValue> for Waiter {
    fn assert(&mut self, t: &mut Activation, _: AnyValue, _: Handle) -> ActorResult {
        self.end(t);
        Ok(())
    }

    fn message(&mut self, t: &mut Activation, _: AnyValue) -> ActorResult {
        self.end(t);
        Ok(())
    }
}

struct Observer {
    shared: Arc<Shared>,
    actor: u32,
    watch: Watch,
    reacted: usize,
    known: BTreeMap<Handle, Vec<String>>,
}

impl Observer {
    fn note(&self, kind: char, captures: &[String]) {
        let source = self.watch.pattern.source(captures);
        let text = format!("{kind}{}", captures.join(" "));
        self.shared.note(WatchName::Watch(self.watch.name), text, source);
    }

    fn react(&mut self, t: &mut Activation) -> ActorResult {
        let Some(reaction) = self.watch.reactions.get(self.reacted).cloned() else {
            return Ok(());
        };
        self.reacted += 1;
        if reaction.iter().any(ends_something) {
            let round = self.shared.round.load(Ordering::Relaxed) as usize;
            lock(&self.shared.told).cut.push((round, self.actor, self.watch.name));
        }
        perform(t, &self.shared, self.actor, &reaction)?;
        // A wait begins after all events of the batch, as a fiber does; it cannot fail.
        let (shared, actor) = (Arc::clone(&self.shared), self.actor);
        t.pre_commit(move |t| perform_all(t, &shared, actor, &[]));
        Ok(())
    }
}

/// Says whether an operation may keep other watches of the actor from the rest of the batch.
fn ends_something(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::StopFacet(_) | Operation::StopSelf | Operation::Exit | Operation::Crash
    )
}

fn texts(captures: &AnyValue) -> Vec<String> {
    captures.iter().map(|capture| format!("{capture:?}")).collect()
}

impl Entity<AnyValue> for Observer {
    fn assert(&mut self, t: &mut Activation, captures: AnyValue, handle: Handle) -> ActorResult {
        let captures = texts(&captures);
        self.note('+', &captures);
        self.known.insert(handle, captures);
        self.react(t)
    }

    fn retract(&mut self, _: &mut Activation, handle: Handle) -> ActorResult {
        if let Some(captures) = self.known.remove(&handle) {
            self.note('-', &captures);
        }
        Ok(())
    }

    fn message(&mut self, t: &mut Activation, captures: AnyValue) -> ActorResult {
        self.note('!', &texts(&captures));
        self.react(t)
    }
}

struct Answer(Arc<Shared>, u32);

impl Entity<Synced> for Answer {
    fn message(&mut self, _: &mut Activation, _: Synced) -> ActorResult {
        let own = Some(Owner::Actor(self.1));
        self.0.note(WatchName::Syncs(self.1), "synced".to_owned(), own);
        Ok(())
    }
}

fn symbol(owner: Owner) -> String {
    owner.to_string()
}

fn value(owner: Owner, number: u64) -> AnyValue {
    Value::record(
        Value::symbol("fact"),
        vec![Value::symbol(symbol(owner)), Value::new(number)],
    )
}

fn bind(pattern: p::Pattern) -> p::Pattern {
    p::Pattern::Bind {
        pattern: Box::new(pattern),
    }
}

fn awaited(wait: Wait) -> p::Pattern {
    bind(matching(
        p::Pattern::Lit {
            value: p::AnyAtom::Symbol(symbol(wait.owner)),
        },
        p::Pattern::Lit {
            value: p::AnyAtom::Int(wait.number.into()),
        },
    ))
}

fn matching(owner: p::Pattern, number: p::Pattern) -> p::Pattern {
    p::Pattern::Group {
        type_: p::GroupType::Rec {
            label: Value::symbol("fact"),
        },
        entries: Map::from([(p::_Any::new(0), owner), (p::_Any::new(1), number)]),
    }
}

fn pattern(pattern: Pattern) -> p::Pattern {
    let any = || p::Pattern::Discard;
    let owner = |owner| p::Pattern::Lit {
        value: p::AnyAtom::Symbol(symbol(owner)),
    };
    let number = |number: u64| p::Pattern::Lit {
        value: p::AnyAtom::Int(number.into()),
    };
    let fact = matching;
    match pattern {
        Pattern::Both => fact(bind(any()), bind(any())),
        Pattern::Of(known) => fact(owner(known), bind(any())),
        Pattern::Number(known) => fact(bind(any()), number(known)),
        Pattern::Whole => bind(fact(any(), any())),
        Pattern::Merged => fact(any(), bind(any())),
        Pattern::Any => fact(any(), any()),
    }
}
