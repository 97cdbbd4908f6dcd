//! Where the requests and the actors of a branch come from: what asked, and which role an actor
//! plays.
//!
//! INVARIANT: along a branch, requests and actors are numbered in the order in which turns draw
//! them, so the turn that drew a number is found by bisection, however long the branch is. Where
//! the numbers are too far apart for that, the origin stays unknown, unless the search is
//! [thorough](Origins::thorough).
//! Who asks for many origins of a branch that is not too long has all its records read once, as
//! soon as the bisections have cost as much.
//! It keeps words, not payloads, because a payload may be large.
//! Read next: `turn/line.rs`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use duet_journal::Sequence;
use duet_journal::store::Opener;
use duet_runtime::action::exit::MAIN;
use duet_runtime::action::{Action, InvokeTool};
use duet_runtime::model::identity::{ActorId, FiberId, RequestId, Resource, WaitId};
use duet_runtime::record::paths::ActorPaths;
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::run::source::Source;
use duet_runtime::state::event::Event;

use crate::history::turn;
use crate::history::turn::line::payload_words;
use crate::text::error::CommandError;
use crate::text::exchange;
use crate::text::value_text::shown;

/// The sort of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    /// The call of a tool.
    Tool {
        /// Its name.
        tool: String,
        /// The payload in words.
        payload: String,
        /// The role in which the program called, such as the name of an agent.
        role: String,
    },
    /// A question to a person.
    Question,
    /// The question whether attempts are approved.
    Approval,
    /// A timer of so many milliseconds.
    Timer(u64),
    /// Anything else, such as a read of input.
    Other,
}

/// The turns just before an answer; most requests are answered soon.
const NEAR: u64 = 32;

/// The turns at the beginning of a branch, in which most actors and many fibers are made.
const BEGINNING: u64 = 256;

/// The records that a probe of the bisection reads at once.
const PROBED: u64 = 8;

/// The maximum number of records that all bisections may read in vain: where few turns draw
/// numbers, a bisection has nothing to go by and would read half of a long branch.
const READ_IN_VAIN_MAX: u64 = 4_096;

/// The maximum number of turns that are read at once, because what they ask for stays in memory.
const LEARNED_MAX: u64 = 100_000;

/// The maximum number of requests, actors, fibers and waits that are kept from one page of a report
/// to the next one.
const KEPT_MAX: usize = 200_000;

/// The maximum length of a question to a model, in characters.
const QUESTION_CHARACTERS: usize = 200;

/// The number of turns that are in memory while they are learned.
const LEARNED_AT_ONCE: usize = 64;

/// The requests and actors of one branch, as far as they are known.
pub(crate) struct Origins<'a> {
    source: Source<'a>,
    known: KnownOrigins,
    /// How many records were read to find origins.
    looked: Cell<u64>,
    /// How many more records bisections may read in vain.
    may_read_in_vain: Cell<u64>,
}

/// The findings about the requests, actors and fibers of one branch; they hold for every branch
/// that shares the turns.
#[derive(Default)]
pub(crate) struct KnownOrigins {
    requests: BTreeMap<RequestId, RequestOrigin>,
    roles: BTreeMap<ActorId, Option<String>>,
    /// The paths of all actors, once somebody has asked for one.
    paths: Option<ActorPaths>,
    /// The names of fibers, as far as they have one.
    names: BTreeMap<FiberId, Option<String>>,
    /// The fiber of each wait, and the turn that began it; none if that turn cannot be found.
    waits: BTreeMap<WaitId, Option<(FiberId, Sequence)>>,
    has_read_beginning: bool,
    /// The newest of the turns that were all learned; 0 at the beginning.
    learned: u64,
}

impl KnownOrigins {
    fn count(&self) -> usize {
        self.requests.len() + self.roles.len() + self.names.len() + self.waits.len()
    }
}

/// What asked, and in which turn; none if that turn cannot be found.
#[derive(Clone, Debug)]
struct RequestOrigin {
    origin: Origin,
    at: Option<Sequence>,
}

impl<'a> Origins<'a> {
    /// Begins with nothing.
    pub(crate) fn of(source: Source<'a>) -> Self {
        Self::knowing(source, KnownOrigins::default())
    }

    /// Begins with what is known of the branch.
    pub(crate) fn knowing(source: Source<'a>, known: KnownOrigins) -> Self {
        Self {
            source,
            known,
            looked: Cell::new(0),
            may_read_in_vain: Cell::new(READ_IN_VAIN_MAX),
        }
    }

    /// Returns what a later question about the branch begins with: nothing if that is too much to
    /// keep, or if some searches were given up, so that the next question searches again.
    pub(crate) fn into_known(self) -> KnownOrigins {
        if self.known.count() > KEPT_MAX || self.may_read_in_vain.get() == 0 {
            KnownOrigins::default()
        } else {
            self.known
        }
    }

    /// Finds every origin, even if that takes a look at every record.
    pub(crate) fn thorough(self) -> Self {
        self.may_read_in_vain.set(u64::MAX);
        self
    }

    /// Takes down what a turn asks for and makes.
    pub(crate) fn learn(&mut self, turn: &TurnRecord, at: Sequence) {
        for action in &turn.actions {
            self.learn_one(action, at);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other actions neither ask, wait nor make actors and fibers"
    )]
    fn learn_one(&mut self, action: &Action, at: Sequence) {
        for part in action.parts() {
            self.learn_one(part, at);
        }
        let (request, origin) = match action {
            Action::InvokeTool(call) => {
                let origin = Origin::Tool {
                    tool: call.tool.clone(),
                    payload: words_of(call),
                    role: shown(&call.role),
                };
                (call.request, origin)
            }
            Action::AskUser(question) => (question.request, Origin::Question),
            Action::Propose(proposal) => (proposal.request, Origin::Approval),
            Action::Timer(timer) => (timer.request, Origin::Timer(timer.delay_ms)),
            Action::Read(read) => (read.request, Origin::Other),
            Action::SpawnActor(spawned) => {
                self.known.roles.insert(spawned.actor, Some(spawned.role.clone()));
                return;
            }
            Action::Welcome(peer) => {
                self.known.roles.insert(peer.actor, Some(peer.name.clone()));
                return;
            }
            Action::SpawnFiber(spawned) => {
                self.known.names.insert(spawned.fiber, spawned.name.clone());
                return;
            }
            Action::Wait(wait) => {
                self.known.waits.insert(wait.wait, Some((wait.fiber, at)));
                return;
            }
            _ => return,
        };
        self.known
            .requests
            .insert(request, RequestOrigin { origin, at: Some(at) });
    }

    /// Finds the origin of a request that a turn answers.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn request(&mut self, request: RequestId, before: Sequence) -> Result<Origin, CommandError> {
        Ok(self.asked(request, before)?.origin)
    }

    /// Finds the turn that made a request which a later turn answers.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn asked_at(&mut self, request: RequestId, before: Sequence) -> Result<Option<Sequence>, CommandError> {
        Ok(self.asked(request, before)?.at)
    }

    fn asked(&mut self, request: RequestId, before: Sequence) -> Result<RequestOrigin, CommandError> {
        let is_known = |origins: &Self, number| origins.known.requests.contains_key(&RequestId(number));
        self.find(request.0, before, &request_of, is_known)?;
        let unknown = RequestOrigin {
            origin: Origin::Other,
            at: None,
        };
        Ok(self.known.requests.entry(request).or_insert(unknown).clone())
    }

    /// The role that the actor of a turn plays; none for the main program.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn role(&mut self, actor: ActorId, before: Sequence) -> Result<Option<String>, CommandError> {
        if actor == MAIN {
            return Ok(None);
        }
        let is_known = |origins: &Self, number| origins.known.roles.contains_key(&ActorId(number));
        self.find(actor.0, before, &actor_of, is_known)?;
        Ok(self.known.roles.entry(actor).or_insert(None).clone())
    }

    /// The path of names of an actor, such as `main/worker 2`; the first question reads all records
    /// of the branch.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn path(&mut self, actor: ActorId) -> Result<&str, CommandError> {
        let paths = match self.known.paths.take() {
            Some(paths) => paths,
            None => self.source.actor_paths()?,
        };
        Ok(self.known.paths.insert(paths).path(actor))
    }

    /// The name of the fiber that ran first in a turn, if it has one.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn strand(&mut self, turn: &TurnRecord, at: Sequence) -> Result<Option<String>, CommandError> {
        let woken = turn.events.iter().find_map(|event| {
            let Event::Resume { fiber } = event else { return None };
            Some(*fiber)
        });
        if let Some(fiber) = woken {
            return self.name(fiber, at);
        }
        let ended = turn.actions.iter().find_map(|action| {
            let Action::Resume(resume) = action else { return None };
            Some(resume.wait)
        });
        let Some(wait) = ended else { return Ok(None) };
        let is_known = |origins: &Self, number| origins.known.waits.contains_key(&WaitId(number));
        self.find(wait.0, at, &wait_of, is_known)?;
        match *self.known.waits.entry(wait).or_insert(None) {
            Some((fiber, _)) => self.name(fiber, at),
            None => Ok(None),
        }
    }

    /// The name of a fiber, if it has one.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn name(&mut self, fiber: FiberId, before: Sequence) -> Result<Option<String>, CommandError> {
        let is_known = |origins: &Self, number| origins.known.names.contains_key(&FiberId(number));
        self.find(fiber.0, before, &fiber_of, is_known)?;
        Ok(self.known.names.entry(fiber).or_insert(None).clone())
    }

    /// Finds the turn in which a wait began.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn waits_since(&mut self, wait: WaitId, before: Sequence) -> Result<Option<Sequence>, CommandError> {
        self.learn_all(before)?;
        if let Some(Some((_, at))) = self.known.waits.get(&wait) {
            return Ok(Some(*at));
        }
        Ok(self.drawer(wait.0, before, &wait_of)?.map(|(at, _)| at))
    }

    /// Learns from the turn that drew a number, unless it is known.
    fn find(
        &mut self,
        number: u64,
        before: Sequence,
        kind: &dyn Fn(&Resource) -> Option<u64>,
        is_known: fn(&Self, u64) -> bool,
    ) -> Result<(), CommandError> {
        if is_known(self, number) {
            return Ok(());
        }
        self.learn_beginning(before)?;
        self.learn_all(before)?;
        if is_known(self, number) || before.number() <= self.known.learned {
            return Ok(());
        }
        if let Some((at, turn)) = self.drawer(number, before, kind)? {
            self.learn(&turn, at);
        }
        Ok(())
    }

    /// Learns from the first turns, once.
    fn learn_beginning(&mut self, before: Sequence) -> Result<(), CommandError> {
        if std::mem::replace(&mut self.known.has_read_beginning, true) {
            return Ok(());
        }
        let mut turns = Vec::new();
        self.look(1..=before.number().min(BEGINNING), &mut |at, turn| {
            turns.push((at, turn));
            true
        })?;
        for (at, turn) in &turns {
            self.learn(turn, *at);
        }
        Ok(())
    }

    /// Learns from all turns up to one, if the bisections have read as many records already.
    fn learn_all(&mut self, before: Sequence) -> Result<(), CommandError> {
        let left = before.number().saturating_sub(self.known.learned);
        if left == 0 || before.number() > LEARNED_MAX || self.looked.get() < left {
            return Ok(());
        }
        for first in (self.known.learned + 1..=before.number()).step_by(LEARNED_AT_ONCE) {
            let mut turns = Vec::new();
            let last = before.number().min(first + LEARNED_AT_ONCE as u64 - 1);
            self.look(first..=last, &mut |at, turn| {
                turns.push((at, turn));
                true
            })?;
            for (at, turn) in &turns {
                self.learn(turn, *at);
            }
        }
        self.known.learned = before.number();
        self.looked.set(0);
        Ok(())
    }

    /// Finds the turn that drew a number: among those near, then by bisection.
    fn drawer(
        &self,
        number: u64,
        before: Sequence,
        kind: &dyn Fn(&Resource) -> Option<u64>,
    ) -> Result<Option<(Sequence, TurnRecord)>, CommandError> {
        let near = before.number().saturating_sub(NEAR).max(1);
        let has_it = |turn: &TurnRecord| drawn(turn, kind).is_some_and(|drawn| drawn.contains(&number));
        let mut found = None;
        self.look(near..=before.number(), &mut |at, turn| {
            if has_it(&turn) {
                found = Some((at, turn));
            }
            found.is_none()
        })?;
        let (mut low, mut end) = (1, near);
        while found.is_none() && low < end {
            let middle = low + (end - low) / 2;
            let mut met = None;
            self.look(middle..=end - 1, &mut |at, turn| {
                met = drawn(&turn, kind).map(|drawn| (drawn, (at, turn)));
                met.is_none() && self.reads_in_vain()
            })?;
            if met.is_none() && self.may_read_in_vain.get() == 0 {
                return Ok(None);
            }
            match met {
                Some((drawn, turn)) if drawn.contains(&number) => found = Some(turn),
                // The turn that was met is after the middle, but none between them drew a number.
                Some((drawn, _)) if *drawn.end() < number => low = middle + 1,
                Some(_) | None => end = middle,
            }
        }
        Ok(found)
    }

    /// Counts a record that was read in vain; returns whether another one may be.
    fn reads_in_vain(&self) -> bool {
        let left = self.may_read_in_vain.get().saturating_sub(1);
        self.may_read_in_vain.set(left);
        left > 0
    }

    /// Shows the turns of a range, oldest first, while they are wanted.
    fn look(
        &self,
        range: RangeInclusive<u64>,
        take: &mut dyn FnMut(Sequence, TurnRecord) -> bool,
    ) -> Result<(), CommandError> {
        let position = |number| Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()));
        let (mut next, end) = (*range.start(), *range.end() + 1);
        let mut opener = Opener::new(self.source.store);
        while next < end {
            let until = end.min(next + PROBED);
            let wanted = position(next)?..position(until)?;
            let records = self
                .source
                .store
                .read_closed(self.source.run, self.source.branch, wanted)?;
            if records.is_empty() {
                return Ok(());
            }
            for record in records {
                self.looked.set(self.looked.get() + 1);
                let record = opener.open(record)?;
                if let Body::Turn(turn) = turn::body(&record)?
                    && !take(record.header().sequence, turn)
                {
                    return Ok(());
                }
            }
            next = until;
        }
        Ok(())
    }
}

/// The payload of a call in words: of a question to a model, who asks which one, and what it hears
/// last.
fn words_of(call: &InvokeTool) -> String {
    match exchange::asked(call) {
        Some(asked) => turn::short(&asked.line(), QUESTION_CHARACTERS),
        None => payload_words(&call.payload.value()),
    }
}

/// The numbers that a turn drew, from the first to the last. An attempt that the turn carries out
/// drew its numbers when it was proposed.
fn drawn(turn: &TurnRecord, kind: &dyn Fn(&Resource) -> Option<u64>) -> Option<RangeInclusive<u64>> {
    let own = turn
        .actions
        .iter()
        .filter(|action| !matches!(action, Action::Approve(_) | Action::Admit(_)));
    let numbers = own.flat_map(|action| action.claims().makes.iter().filter_map(kind).collect::<Vec<_>>());
    let (first, last) = numbers.fold(None, |range, number| {
        let (first, last) = range.unwrap_or((number, number));
        Some((number.min(first), number.max(last)))
    })?;
    Some(first..=last)
}

fn request_of(resource: &Resource) -> Option<u64> {
    let Resource::Request(id) = resource else { return None };
    Some(id.0)
}

fn actor_of(resource: &Resource) -> Option<u64> {
    let Resource::Actor(id) = resource else { return None };
    Some(id.0)
}

fn wait_of(resource: &Resource) -> Option<u64> {
    let Resource::Wait(id) = resource else { return None };
    Some(id.0)
}

fn fiber_of(resource: &Resource) -> Option<u64> {
    let Resource::Fiber(id) = resource else { return None };
    Some(id.0)
}
