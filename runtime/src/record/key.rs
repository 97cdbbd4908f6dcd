//! Keys: what a run asks of the world, by what it asks and not by when.
//!
//! Owns [`Key`] and the [`Ledger`], which lists what a run has asked, heard, shown and done, turn
//! by turn.
//! INVARIANT: a key depends on the program and on the answers that it has received, never on ids,
//! on the order in which actors ran, or on the numbers of turns. Equal programs with equal answers
//! ask under equal keys.
//! It does not find the place of a request in the program; the turn does, while it runs.
//! Read next: `../history/rerun.rs`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;

use duet_journal::Sequence;
use duet_journal::packed::{Compound, PackedLimits, Reader, Token};
use preserves::{AtomClass, CompoundClass, IOValue, Value, ValueClass, ValueImpl};

use super::paths::{ActorPaths, ROOT};
use crate::action::Action;
use crate::action::exit::MAIN;
use crate::driver::{Asker, Asking, EffectKind};
use crate::model::codec::{Codec, Fields, label_of, record};
use crate::model::failure::Origin;
use crate::model::identity::{ActorId, FacetId, Namer, RequestId};
use crate::model::peer::{embedded, map_references};
use crate::model::value::{Fact, map_atoms};
use crate::record::TurnRecord;
use crate::state::event::{Cause, Event};

/// The place in a program from which an action came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the innermost procedure of the program's own texts that was active; empty at the
    /// top level, and where nothing is known.
    pub definition: String,
    /// The place in a text, if it is known.
    pub origin: Option<Origin>,
}

/// The identity of a request: who asks what, and for which time.
///
/// Keys are ordered by the hash of what is asked, then by the count: a run may have a million keys
/// of the same actor, and their texts lie apart in memory.
#[derive(Clone, Debug)]
pub struct Key {
    /// The hash of all fields but the count.
    asked: [u8; 32],
    /// The path of names of the actor that asks: `main`, `main/worker`, `main/worker 2`.
    pub actor: String,
    /// The name of the definition around the question; empty at the top level.
    pub definition: String,
    /// The name of the tool; `ask` or `approve` for a question to the person, `timer`, `read`.
    pub what: String,
    /// The arguments; keys stand in the place of the run's own ids.
    pub arguments: Arguments,
    /// How often the same was asked, this time included.
    pub nth: u64,
}

/// A value with the hash by which it is compared, because arguments may be as long as all that a
/// model has heard.
#[derive(Clone, Debug)]
pub struct Arguments {
    fact: Fact,
    hash: [u8; 32],
}

impl Arguments {
    fn new(fact: Fact) -> Self {
        let hash = blake3::hash(fact.bytes()).into();
        Self { fact, hash }
    }

    /// Decodes the value.
    pub fn value(&self) -> IOValue {
        self.fact.value()
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for Arguments {}

impl PartialOrd for Arguments {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arguments {
    fn cmp(&self, other: &Self) -> Ordering {
        self.hash.cmp(&other.hash)
    }
}

impl Key {
    /// Makes the key of a question that was not asked before.
    fn new(asker: Asker, what: String, arguments: Arguments) -> Self {
        let Asker { actor, definition } = asker;
        let mut hasher = blake3::Hasher::new();
        for text in [&actor, &definition, &what] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let asked = hasher.update(&arguments.hash).finalize().into();
        Self {
            asked,
            actor,
            definition,
            what,
            arguments,
            nth: 0,
        }
    }

    /// Says whether two keys differ at most in the definition and in how often the same was asked.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        (&self.actor, &self.what, &self.arguments) == (&other.actor, &other.what, &other.arguments)
    }

    /// Returns who asks what, without the definition and without how often the same was asked.
    pub(crate) fn question(&self) -> Self {
        let asker = Asker {
            actor: self.actor.clone(),
            definition: String::new(),
        };
        Self::new(asker, self.what.clone(), self.arguments.clone())
    }

    /// Says who asks what, and for which time.
    pub fn asking(&self) -> Asking {
        Asking {
            asker: Asker {
                actor: self.actor.clone(),
                definition: self.definition.clone(),
            },
            what: self.what.clone(),
            arguments: self.arguments.fact.clone(),
            nth: self.nth,
        }
    }

    /// The key of the same question, asked for another time.
    pub(crate) fn of_time(self, nth: u64) -> Self {
        Self { nth, ..self }
    }

    /// Returns the key without how often the same was asked.
    fn base(&self) -> Self {
        self.clone().of_time(0)
    }

    /// A text that stands for an id of this request inside of other keys.
    fn name(&self) -> String {
        let [one, two, three, four, ..] = self.arguments.hash;
        let (actor, definition, what, nth) = (&self.actor, &self.definition, &self.what, self.nth);
        format!("{actor}/{definition}/{what}/{one:02x}{two:02x}{three:02x}{four:02x}#{nth}")
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.asked, self.nth).cmp(&(&other.asked, other.nth))
    }
}

/// For people: the tool and the definition.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &*self.definition {
            "" => Ok(()),
            definition => write!(f, " in {definition}"),
        }
    }
}

/// A request to the world.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRequest {
    /// Its key.
    pub key: Key,
    /// Its number on its branch.
    pub request: RequestId,
    /// The turn that made it.
    pub turn: Sequence,
    /// The question.
    pub question: EffectKind,
    /// Its place in a text, if it is known.
    pub origin: Option<Origin>,
}

/// An event that came from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerEvent {
    /// The turn that received it.
    pub turn: Sequence,
    /// The actor that received it.
    pub actor: ActorId,
    /// The event.
    pub event: Event,
}

/// Something that was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerOutput {
    /// The turn that showed it.
    pub turn: Sequence,
    /// The output.
    pub output: EffectKind,
}

/// Answers, by the numbers of their requests.
pub type Outcomes<'a> = BTreeMap<RequestId, &'a Result<IOValue, IOValue>>;

/// What a run has asked, heard and shown.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The requests, in order.
    pub asked: Vec<LedgerRequest>,
    /// What came from outside, in order.
    pub heard: Vec<LedgerEvent>,
    /// The output, in order.
    pub shown: Vec<LedgerOutput>,
    /// The actions that are wanted, in order.
    pub done: Vec<Action>,
    /// The actors of the turns, in order.
    acted: Vec<ActorId>,
    wants: fn(&Action) -> bool,
    names: Namer,
    actors: ActorPaths,
    /// The keys of the references that programs hold.
    references: BTreeMap<(&'static str, u64), String>,
    /// The number of references and drawn texts of each sort.
    made: BTreeMap<String, u64>,
    /// The keys of the texts that only this run has.
    texts: BTreeMap<String, String>,
    /// How often each key was asked.
    counts: BTreeMap<Key, u64>,
    /// The places of requests that wait for approval.
    put_off: BTreeMap<RequestId, Place>,
}

impl Ledger {
    /// Makes the ledger of a run that has taken no turn.
    pub fn new(run: &str) -> Self {
        let main = ROOT.to_owned();
        Self {
            asked: Vec::new(),
            heard: Vec::new(),
            shown: Vec::new(),
            done: Vec::new(),
            acted: Vec::new(),
            wants: |_| false,
            names: Namer::new(run),
            actors: ActorPaths::default(),
            references: BTreeMap::from([(("facet", 0), main.clone()), (("actor", MAIN.0), main)]),
            made: BTreeMap::new(),
            texts: BTreeMap::new(),
            counts: BTreeMap::new(),
            put_off: BTreeMap::new(),
        }
    }

    /// The same ledger, with the actions that `wants` wants.
    #[must_use]
    pub(crate) fn with_actions(self, wants: fn(&Action) -> bool) -> Self {
        Self { wants, ..self }
    }

    /// Returns the actor of the turn with this place among all.
    pub(crate) fn actor_of_turn(&self, place: usize) -> Option<ActorId> {
        self.acted.get(place).copied()
    }

    /// Returns the number of turns.
    pub(crate) fn turns(&self) -> usize {
        self.acted.len()
    }

    /// Returns the path of names of an actor.
    pub fn path(&self, actor: ActorId) -> String {
        self.path_of(actor).to_owned()
    }

    /// The same, without a copy.
    pub(crate) fn path_of(&self, actor: ActorId) -> &str {
        self.actors.path(actor)
    }

    /// Finds the actor with a path of names.
    pub fn actor(&self, path: &str) -> Option<ActorId> {
        self.actors.actor(path)
    }

    /// Finds the key of a request. The newest requests are found first.
    pub fn key(&self, request: RequestId) -> Option<&Key> {
        let asked = self.asked.iter().rev().find(|asked| asked.request == request)?;
        Some(&asked.key)
    }

    /// Returns the answers, by the numbers of their requests; of several answers to one, the first.
    pub fn outcomes(&self) -> Outcomes<'_> {
        let mut outcomes = BTreeMap::new();
        for heard in &self.heard {
            if let Event::Answered { request, outcome } = &heard.event {
                outcomes.entry(*request).or_insert(outcome);
            }
        }
        outcomes
    }

    /// Takes a turn; `places` are those of its actions, as far as they are known.
    pub(crate) fn note(&mut self, at: Sequence, turn: &TurnRecord, places: &[Place]) {
        self.acted.push(turn.actor);
        if turn.cause == (Cause::Input {}) {
            let heard = turn.events.iter().map(|event| LedgerEvent {
                turn: at,
                actor: turn.actor,
                event: event.clone(),
            });
            self.heard.extend(heard);
        }
        self.done
            .extend(turn.actions.iter().filter(|action| (self.wants)(action)).cloned());
        let unknown = Place::default();
        for (index, action) in turn.actions.iter().enumerate() {
            let place = places.get(index).unwrap_or(&unknown);
            for part in action.parts() {
                self.keep_place(part, place);
            }
            for done in action.done() {
                self.name_made(turn.actor, done);
            }
            for (request, kind) in action.effects() {
                self.enter(at, turn.actor, request, kind, place);
            }
            action.done().iter().for_each(|done| self.name_tag(done));
        }
    }

    /// Keeps the place of a call that waits for approval, because another turn will make it.
    fn keep_place(&mut self, part: &Action, place: &Place) {
        if let Some(call) = part.call() {
            self.put_off.entry(call.request).or_insert_with(|| place.clone());
        }
    }

    /// Names what an action makes and a program can hold.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "programs hold nothing that other actions make"
    )]
    fn name_made(&mut self, actor: ActorId, action: &Action) {
        let path = self.path(actor);
        match action {
            Action::SpawnActor(made) => self.name_actor(actor, &made.role, (made.actor, made.root)),
            Action::Welcome(made) => self.name_actor(actor, &made.name, (made.actor, made.root)),
            Action::Restart(begun) => {
                self.references.insert(("facet", begun.root.0), path);
            }
            Action::SpawnFacet(made) => self.refer(("facet", made.facet.0), &path),
            Action::ImportObject(made) => self.refer(("facet", made.facet.0), &path),
            Action::Attenuate(made) => self.refer(("capability", made.capability.0), &path),
            Action::GenerateRequestId(drawn) => {
                let sort = format!("{path} {:?} {:?}", drawn.role, drawn.property);
                let number = count(&mut self.made, &sort);
                self.texts.insert(drawn.text.clone(), format!("{sort}#{number}"));
            }
            _ => {}
        }
    }

    /// Names the tag of a request, unless the program chose it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other request has a tag")]
    fn name_tag(&mut self, action: &Action) {
        let (request, tag) = match action {
            Action::InvokeTool(call) => (call.request, &call.tag),
            Action::AskUser(question) => (question.request, &question.tag),
            _ => return,
        };
        let asked = self.asked.last().filter(|asked| asked.request == request);
        if let Some(asked) = asked.filter(|_| tag.len() == UUID_BYTES && is_uuid(tag)) {
            self.texts.insert(tag.clone(), asked.key.name());
        }
    }

    fn name_actor(&mut self, parent: ActorId, role: &str, made: (ActorId, FacetId)) {
        let (actor, root) = made;
        let path = self.actors.name(parent, role, actor);
        self.references.insert(("actor", actor.0), path.clone());
        self.references.insert(("facet", root.0), path);
    }

    fn refer(&mut self, reference: (&'static str, u64), path: &str) {
        let number = count(&mut self.made, &format!("{} of {path}", reference.0));
        self.references.insert(reference, format!("{path}#{number}"));
    }

    /// Enters a request or an output.
    fn enter(&mut self, at: Sequence, actor: ActorId, request: RequestId, kind: EffectKind, place: &Place) {
        let Some((what, arguments)) = subject(&kind) else {
            if kind.is_output() {
                self.shown.push(LedgerOutput { turn: at, output: kind });
            }
            return;
        };
        let place = self.put_off.remove(&request).unwrap_or_else(|| place.clone());
        let asker = Asker {
            actor: self.path(actor),
            definition: place.definition,
        };
        let mut key = Key::new(asker, what, Arguments::new(self.canonical_fact(arguments)));
        key.nth = {
            let count = self.counts.entry(key.base()).or_default();
            *count += 1;
            *count
        };
        self.texts.insert(self.names.name("request", request.0), key.name());
        self.asked.push(LedgerRequest {
            key,
            request,
            turn: at,
            question: kind,
            origin: place.origin,
        });
    }

    /// Returns how often a question was asked.
    pub fn count(&self, key: &Key) -> u64 {
        self.counts.get(&key.base()).copied().unwrap_or_default()
    }

    /// Returns a value with keys in the place of the run's own ids.
    pub fn canonical(&self, value: &IOValue) -> IOValue {
        // Most values have none, and may be long.
        if !self.has_own_ids(value) {
            return value.clone();
        }
        let named = map_references(value, &mut |reference| Ok::<_, Infallible>(self.reference(reference)));
        let named = named.unwrap_or_else(|never| match never {});
        map_atoms(&named, &|atom| self.atom(atom))
    }

    /// The same of a fact. A text with a key may be longer than the one in its place; what no
    /// record could hold any more stays as it is.
    fn canonical_fact(&self, fact: Fact) -> Fact {
        let mut parts = Reader::new(fact.bytes(), PackedLimits::NONE);
        let has_own_id = |token| match token {
            Token::String(text) | Token::Symbol(text) => self.text(text).is_some(),
            Token::Open(compound) => compound == Compound::Embedded,
            Token::Boolean(_) | Token::Double(_) | Token::Integer(_) | Token::ByteString(_) | Token::Close(_) => false,
        };
        while let Ok(Some(token)) = parts.as_mut().map_or(Ok(None), Reader::next) {
            if has_own_id(token) {
                return Fact::new(self.canonical(&fact.value())).unwrap_or(fact);
            }
        }
        fact
    }

    fn has_own_ids(&self, value: &IOValue) -> bool {
        let has = |part: Value<IOValue>| self.has_own_ids(&part.into());
        match value.value_class() {
            ValueClass::Embedded => true,
            ValueClass::Atomic(AtomClass::String) => value.as_string().is_some_and(|text| self.text(&text).is_some()),
            ValueClass::Atomic(AtomClass::Symbol) => value.as_symbol().is_some_and(|name| self.text(&name).is_some()),
            ValueClass::Atomic(_) => false,
            ValueClass::Compound(CompoundClass::Dictionary) => {
                value.entries().any(|(key, entry)| has(key) || has(entry))
            }
            ValueClass::Compound(CompoundClass::Record) => has(value.label()) || value.iter().any(has),
            ValueClass::Compound(CompoundClass::Sequence | CompoundClass::Set) => value.iter().any(has),
        }
    }

    fn reference(&self, reference: &IOValue) -> IOValue {
        let inner: IOValue = reference
            .as_embedded()
            .map_or_else(|| reference.clone(), std::borrow::Cow::into_owned);
        let kind = label_of(&inner);
        let known = ["actor", "facet", "capability"].into_iter().find_map(|sort| {
            let id: u64 = Fields::of(&inner, sort, 1).ok()?.read("id").ok()?;
            self.references.get(&(sort, id))
        });
        let name = known.map_or_else(|| IOValue::new(false), |known| IOValue::new(known.clone()));
        let kind = kind.map_or_else(|| IOValue::new(false), IOValue::symbol);
        embedded(record("own", vec![kind, name]))
    }

    fn atom(&self, atom: &IOValue) -> IOValue {
        if let Some(text) = atom.as_string() {
            return self.text(&text).map_or_else(|| atom.clone(), IOValue::new);
        }
        if let Some(name) = atom.as_symbol() {
            return self.text(&name).map_or_else(|| atom.clone(), IOValue::symbol);
        }
        atom.clone()
    }

    /// Returns a text with keys in the place of ids; nothing if it has none.
    fn text(&self, text: &str) -> Option<String> {
        let mut changed = String::new();
        let mut kept = 0;
        let mut at = 0;
        while at + UUID_BYTES <= text.len() {
            let name = text.get(at..at + UUID_BYTES).filter(|part| is_uuid(part));
            match name.and_then(|name| self.texts.get(name)) {
                Some(key) => {
                    changed.push_str(&text[kept..at]);
                    changed.push_str(key);
                    at += UUID_BYTES;
                    kept = at;
                }
                None => at += 1,
            }
        }
        (kept > 0).then(|| changed + &text[kept..])
    }
}

/// The length of a UUID as text.
const UUID_BYTES: usize = 36;

fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn count(counts: &mut BTreeMap<String, u64>, sort: &str) -> u64 {
    let count = counts.entry(sort.to_owned()).or_default();
    *count += 1;
    *count
}

/// Returns the name of what a request asks, and the arguments; nothing for an effect without an
/// answer.
fn subject(kind: &EffectKind) -> Option<(String, Fact)> {
    // A record has packed the value before.
    let of = |what: &str, arguments: IOValue| Some((what.to_owned(), Fact::new(arguments).ok()?));
    match kind {
        EffectKind::Tool { name, payload } => Some((name.clone(), payload.clone())),
        EffectKind::Read { length_bytes_max } => of("read", (*length_bytes_max as u64).encode()),
        EffectKind::Timer { delay_ms } | EffectKind::Alarm { delay_ms, .. } => of("timer", delay_ms.encode()),
        EffectKind::Ask { prompt, approves } if approves.is_empty() => of("ask", prompt.clone()),
        EffectKind::Ask { prompt, approves } => of("approve", IOValue::new(vec![approves.encode(), prompt.clone()])),
        EffectKind::Proceed { .. }
        | EffectKind::Write { .. }
        | EffectKind::Withdraw
        | EffectKind::Log { .. }
        | EffectKind::Failure { .. }
        | EffectKind::Progress { .. }
        | EffectKind::Peer { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_ids_have_their_keys_wherever_they_stand() {
        let mut ledger = Ledger::new("first");
        let id = ledger.names.name("request", 0);
        ledger.texts.insert(id.clone(), "key".to_owned());
        let other = ledger.names.name("request", 1);
        for (text, expected) in [
            (id.clone(), "key".to_owned()),
            (format!("ü{id}/{id}."), "ükey/key.".to_owned()),
            (format!("{other} {id}"), format!("{other} key")),
            (other.clone(), other.clone()),
            ("short".to_owned(), "short".to_owned()),
        ] {
            let value = IOValue::new(vec![IOValue::new(text)]);
            assert_eq!(ledger.canonical(&value), IOValue::new(vec![IOValue::new(expected)]));
        }
    }
}
