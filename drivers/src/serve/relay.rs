//! What the packets of one client mean: the gatekeeper, the events for runs, and the answers.
//!
//! The object 0 is the gatekeeper. Whoever asserts `<resolve REFERENCE #:observer>` there hears
//! `<accepted #:object>` or `<rejected WHY>` as long as the assertion is present. Each accepted
//! reference is a *way* into a run: an actor of the run, which ends with the assertion.
//! INVARIANT: a handle names one assertion of the client at a time, and one assertion of the
//! server; events for one way stay in their order, and those of one packet stay together.
//! It reads and writes no bytes, and waits for nobody. Read next: `connection.rs`.
//!
//! Source: the Syndicate protocol, "Packets" and "Gatekeeper".

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use duet_runtime::driver::packed::PackedValue;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::identity::{ActorId, Handle, ObserverId};
use duet_runtime::model::peer::{self, PeerEvent, PeerNotice, map_references};
use preserves::{IOValue, ValueImpl};

use super::gate::{Admission, Gate};
use super::host::Host;
use super::membrane::{Membrane, Pins, Shown, Wire, narrowed};
use super::rate_limit::ConnectionPermit;

/// The maximum number of assertions of a client, and of its objects that they mention.
const ASSERTIONS_MAX: usize = 10_000;

/// The maximum number of matches that a client knows, and of the server's objects in them.
const MATCHES_MAX: usize = 100_000;

/// The maximum number of the server's objects that stay known although only messages mention them.
const PASSING_MAX: usize = 1_000;

/// The maximum number of bytes of a client's assertions, in their packed form.
const ASSERTED_BYTES_MAX: usize = 32 << 20;

/// The maximum number of events in a packet.
const EVENTS_MAX: usize = 10_000;

/// The number of the gatekeeper.
const GATEKEEPER: u64 = 0;

/// What has to be done for a packet or for news.
pub(super) enum RelayAction {
    /// Ask a run to let the client in.
    Join { way: u64, admission: Admission },
    /// Hand events to a run.
    Said {
        host: Host,
        peer: ActorId,
        what: Vec<PeerEvent>,
    },
    /// Leave a run.
    Leave { host: Host, peer: ActorId },
    /// Send an event to an object of the client.
    Tell { oid: u64, event: IOValue },
    /// Send a packet that clients may know: an extension of the protocol.
    Say { packet: IOValue },
}

/// A way into a run.
struct Way {
    host: Host,
    /// The reference, which is asked about again from time to time.
    reference: IOValue,
    /// The client's object that hears whether it is accepted.
    observer: u64,
    /// The client's actor, once it is in.
    peer: Option<ActorId>,
    /// The assertion that the client is in.
    accepted: Option<(u64, Pins)>,
    /// Whether the client has left before it was in.
    is_left: bool,
    /// The permit of the rate limit, once the run was asked to let the client in.
    permit: Option<ConnectionPermit>,
}

/// An assertion of the client.
enum Inbound {
    /// It asks for a way.
    Resolve(u64),
    /// It is one in a run, of this length in bytes.
    Way(u64, Pins, usize),
    /// It means nothing.
    Nothing,
}

/// An assertion of the server.
struct Outbound {
    /// The client's object.
    oid: u64,
    /// The server's name for it.
    handle: u64,
    pins: Pins,
}

/// The protocol with one client.
pub(super) struct Relay {
    /// A name that no other connection has.
    name: String,
    membrane: Membrane,
    ways: BTreeMap<u64, Way>,
    next_way: u64,
    inbound: BTreeMap<u64, Inbound>,
    /// The number of bytes of these.
    inbound_bytes: usize,
    outbound: BTreeMap<(u64, Option<ObserverId>, Handle), Outbound>,
    /// The objects of the newest messages, the oldest message first.
    passing: VecDeque<Pins>,
    /// The number of these.
    passing_objects: usize,
    next_handle: u64,
    actions: Vec<RelayAction>,
}

impl Relay {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            membrane: Membrane::default(),
            ways: BTreeMap::new(),
            next_way: 0,
            inbound: BTreeMap::new(),
            inbound_bytes: 0,
            outbound: BTreeMap::new(),
            passing: VecDeque::new(),
            passing_objects: 0,
            next_handle: 0,
            actions: Vec::new(),
        }
    }

    /// The name of a way, for the run.
    pub(super) fn name(&self, way: u64) -> String {
        format!("{}.{way}", self.name)
    }

    /// Takes a packet.
    ///
    /// # Errors
    /// Its fault, for the client; the connection has to end.
    pub(super) fn packet(&mut self, packet: &IOValue, gate: &dyn Gate) -> Result<Vec<RelayAction>, String> {
        if packet.as_boolean() == Some(false) || packet.is_simple_record("ext", None) {
            return Ok(Vec::new());
        }
        if packet.is_simple_record("error", Some(2)) {
            return Err("the client reports an error".to_owned());
        }
        if !packet.is_sequence() {
            return Err(not_a(
                "packet",
                "#f, [[OBJECT EVENT] …], <error MESSAGE DETAIL> or <ext …>",
            ));
        }
        if packet.len() > EVENTS_MAX {
            return Err(format!("a packet has more than {EVENTS_MAX} events"));
        }
        for pair in packet.iter().map(IOValue::from) {
            let oid = (pair.is_sequence() && pair.len() == 2).then(|| number(&pair.index(0).into()));
            let oid = oid.flatten().ok_or_else(|| not_a("turn", "[[OBJECT EVENT] …]"))?;
            self.event(oid, &pair.index(1).into(), gate)?;
        }
        Ok(mem::take(&mut self.actions))
    }

    fn event(&mut self, oid: u64, event: &IOValue, gate: &dyn Gate) -> Result<(), String> {
        let field = |index: usize| IOValue::from(event.index(index));
        if event.is_simple_record("A", Some(2)) {
            let handle = number(&field(1)).ok_or_else(|| not_a("handle", "a number"))?;
            return self.assert(oid, handle, &field(0), gate);
        }
        if event.is_simple_record("R", Some(1)) {
            let handle = number(&field(0)).ok_or_else(|| not_a("handle", "a number"))?;
            return self.retract(handle);
        }
        if event.is_simple_record("M", Some(1)) {
            let Some((way, reference)) = self.target(oid) else {
                return Ok(());
            };
            let value = self.enter(&field(0), &mut None)?;
            if let Some(to) = peer::as_capability(&reference) {
                self.say(way, PeerEvent::Message { to, value });
            }
            return Ok(());
        }
        if event.is_simple_record("S", Some(1)) {
            let Some(Wire::Mine(back)) = Wire::read(&field(0)) else {
                return Err("<S …> needs an object of the client".to_owned());
            };
            match self.target(oid) {
                Some((way, _)) => self.say(way, PeerEvent::Sync { oid: back }),
                None => self.tell(back, record("M", vec![IOValue::new(true)])),
            }
            return Ok(());
        }
        Err(not_a("event", "<A VALUE HANDLE>, <R HANDLE>, <M VALUE> or <S #:PEER>"))
    }

    /// Finds an object of a run. Events for other objects have no effect: the client may not know
    /// yet that they have gone.
    fn target(&self, oid: u64) -> Option<(u64, IOValue)> {
        let shown = self.membrane.shown(oid)?;
        Some((shown.way, shown.reference.clone()))
    }

    fn assert(&mut self, oid: u64, handle: u64, value: &IOValue, gate: &dyn Gate) -> Result<(), String> {
        if self.inbound.contains_key(&handle) {
            return Err(format!("the handle {handle} names an assertion that is present"));
        }
        if self.inbound.len() >= ASSERTIONS_MAX {
            return Err(format!(
                "more than {ASSERTIONS_MAX} assertions are present; retract some"
            ));
        }
        let inbound = if oid == GATEKEEPER {
            self.resolve(value, gate)?
        } else if let Some((way, reference)) = self.target(oid) {
            let length_bytes = self.admitted(value)?;
            let mut pins = Some(Pins::default());
            let value = self.enter(value, &mut pins)?;
            if let Some(to) = peer::as_capability(&reference) {
                self.say(
                    way,
                    PeerEvent::Assert {
                        to,
                        name: handle,
                        value,
                    },
                );
            }
            Inbound::Way(way, pins.unwrap_or_default(), length_bytes)
        } else {
            Inbound::Nothing
        };
        self.inbound.insert(handle, inbound);
        Ok(())
    }

    /// Counts the bytes of an assertion, and returns their number.
    fn admitted(&mut self, value: &IOValue) -> Result<usize, String> {
        let packed = PackedValue::from_value(value).map_err(|error| error.to_string())?;
        let length_bytes = packed.as_bytes().len();
        if self.inbound_bytes + length_bytes > ASSERTED_BYTES_MAX {
            return Err(format!(
                "the assertions that are present have more than {ASSERTED_BYTES_MAX} bytes; retract some"
            ));
        }
        self.inbound_bytes += length_bytes;
        Ok(length_bytes)
    }

    fn resolve(&mut self, value: &IOValue, gate: &dyn Gate) -> Result<Inbound, String> {
        if !value.is_simple_record("resolve", Some(2)) {
            return Err("the object 0 is the gatekeeper; it understands <resolve REFERENCE #:OBSERVER>".to_owned());
        }
        let Some(Wire::Mine(observer)) = Wire::read(&value.index(1).into()) else {
            return Err("<resolve …> needs an object of the client as its observer".to_owned());
        };
        let reference: IOValue = value.index(0).into();
        // A fork waits for the run; meanwhile the other connections go on elsewhere.
        let admission = match tokio::task::block_in_place(|| gate.resolve(&reference)) {
            Ok(admission) => admission,
            Err(why) => {
                self.reject(observer, why);
                return Ok(Inbound::Nothing);
            }
        };
        self.next_way += 1;
        let way = self.next_way;
        let host = admission.host.clone();
        self.ways.insert(
            way,
            Way {
                host,
                reference,
                observer,
                peer: None,
                accepted: None,
                is_left: false,
                permit: None,
            },
        );
        self.actions.push(RelayAction::Join { way, admission });
        Ok(Inbound::Resolve(way))
    }

    fn reject(&mut self, observer: u64, why: String) {
        self.next_handle += 1;
        let rejected = record("rejected", vec![IOValue::new(why)]);
        let event = record("A", vec![rejected, IOValue::new(self.next_handle)]);
        self.tell(observer, event);
    }

    fn retract(&mut self, handle: u64) -> Result<(), String> {
        match self.inbound.remove(&handle) {
            None => return Err(format!("no assertion with the handle {handle} is present")),
            Some(Inbound::Nothing) => {}
            Some(Inbound::Way(way, pins, length_bytes)) => {
                self.inbound_bytes -= length_bytes;
                self.membrane.release(pins);
                self.say(way, PeerEvent::Retract { name: handle });
            }
            Some(Inbound::Resolve(way)) => self.leave(way),
        }
        Ok(())
    }

    /// Leaves a run, as soon as the client is in.
    fn leave(&mut self, number: u64) {
        let Some(way) = self.ways.get_mut(&number) else { return };
        let Some(peer) = way.peer else {
            way.is_left = true;
            return;
        };
        let (host, observer, accepted) = (way.host.clone(), way.observer, way.accepted.take());
        self.ways.remove(&number);
        self.actions.push(RelayAction::Leave { host, peer });
        if let Some((handle, pins)) = accepted {
            self.membrane.release(pins);
            self.tell(observer, record("R", vec![IOValue::new(handle)]));
        }
        let heard: Vec<_> = self.outbound.keys().filter(|key| key.0 == number).copied().collect();
        for key in heard {
            if let Some(outbound) = self.outbound.remove(&key) {
                self.membrane.release(outbound.pins);
            }
        }
    }

    /// Says whether the client still wants a way that the run was not asked for; forgets it if not.
    pub(super) fn is_wanted(&mut self, number: u64) -> bool {
        let is_wanted = self.ways.get(&number).is_some_and(|way| !way.is_left);
        if !is_wanted {
            self.ways.remove(&number);
        }
        is_wanted
    }

    /// Keeps the permit of a way until the way ends.
    pub(super) fn begin(&mut self, number: u64, permit: ConnectionPermit) {
        if let Some(way) = self.ways.get_mut(&number) {
            way.permit = Some(permit);
        }
    }

    /// Says whether the client has ever shown a reference that lets it in.
    pub(super) fn has_entered(&self) -> bool {
        self.next_way > 0
    }

    /// Leaves all runs.
    pub(super) fn leave_all(&mut self) -> Vec<RelayAction> {
        let ways: Vec<u64> = self.ways.keys().copied().collect();
        ways.into_iter().for_each(|way| self.leave(way));
        mem::take(&mut self.actions)
    }

    /// Asks again whether the references are valid.
    ///
    /// # Errors
    /// Why one is not any more, for the client.
    pub(super) fn check(&self, gate: &dyn Gate) -> Result<(), String> {
        self.ways.values().try_for_each(|way| gate.check(&way.reference))
    }

    fn say(&mut self, way: u64, said: PeerEvent) {
        let Some(Way {
            host, peer: Some(peer), ..
        }) = self.ways.get(&way)
        else {
            return;
        };
        let (host, peer) = (host.clone(), *peer);
        for action in &mut self.actions {
            if let RelayAction::Said {
                peer: other,
                what,
                host: at,
            } = action
                && *other == peer
                && at.is_same(&host)
            {
                return what.push(said);
            }
        }
        self.actions.push(RelayAction::Said {
            host,
            peer,
            what: vec![said],
        });
    }

    fn tell(&mut self, oid: u64, event: IOValue) {
        self.actions.push(RelayAction::Tell { oid, event });
    }

    /// Makes of the client's references those of the run. Without pins the value is a message.
    fn enter(&mut self, value: &IOValue, pins: &mut Option<Pins>) -> Result<IOValue, String> {
        let membrane = &mut self.membrane;
        map_references(value, &mut |reference| match Wire::read(reference) {
            None => Err(not_a("reference", "#:[0 NUMBER] or #:[1 NUMBER CAVEAT …]")),
            Some(Wire::Mine(oid)) => {
                match pins {
                    Some(_) if membrane.imports() >= ASSERTIONS_MAX && !membrane.knows(oid) => {
                        return Err(format!(
                            "the assertions that are present mention more than {ASSERTIONS_MAX} objects; retract some"
                        ));
                    }
                    Some(pins) => membrane.learn(oid, pins),
                    None if membrane.knows(oid) => {}
                    None => {
                        return Err(format!(
                            "a message has a reference to the object {oid}, which no assertion mentions"
                        ));
                    }
                }
                Ok(peer::mine(oid))
            }
            Some(Wire::Yours(oid, caveats)) => {
                let shown = membrane.shown(oid);
                let reference = shown.and_then(|shown| narrowed(&shown.reference, caveats));
                reference.ok_or_else(|| format!("the server has shown no object {oid} that this could refer to"))
            }
        })
    }

    /// Makes of the run's references those of the client.
    fn exit(&mut self, way: u64, value: &IOValue, pins: &mut Pins) -> IOValue {
        let membrane = &mut self.membrane;
        let changed = map_references(value, &mut |reference| {
            let wire = match peer::as_mine(reference) {
                Some(oid) => Wire::Yours(oid, Vec::new()),
                None => {
                    let reference = reference.clone();
                    Wire::Mine(membrane.show(Shown { way, reference }, pins))
                }
            };
            Ok::<_, std::convert::Infallible>(wire.write())
        });
        let Ok(changed) = changed;
        changed
    }

    /// Takes news from a run.
    ///
    /// # Errors
    /// Why the connection has to end, for the client.
    pub(super) fn news(&mut self, way: u64, peer: ActorId, told: PeerNotice) -> Result<Vec<RelayAction>, String> {
        let Some(known) = self.ways.get_mut(&way) else {
            return Ok(Vec::new());
        };
        match told {
            PeerNotice::Welcome { capability, .. } => {
                known.peer = Some(peer);
                if known.is_left {
                    self.leave(way);
                } else {
                    self.accept(way, &peer::capability(capability));
                }
            }
            PeerNotice::Refused { why, .. } => {
                let observer = known.observer;
                self.ways.remove(&way);
                self.reject(observer, why);
            }
            PeerNotice::Ended { why } => return Err(why),
            PeerNotice::Assert {
                oid,
                observer,
                handle,
                value,
            } => {
                let mut pins = Pins::default();
                let value = self.exit(way, &value, &mut pins);
                if self.outbound.len() >= MATCHES_MAX || self.membrane.exports() > MATCHES_MAX {
                    return Err(format!(
                        "what the client observes has more than {MATCHES_MAX} matches or objects; observe less"
                    ));
                }
                self.next_handle += 1;
                let outbound = Outbound {
                    oid,
                    handle: self.next_handle,
                    pins,
                };
                self.outbound.insert((way, observer, handle), outbound);
                self.tell(oid, record("A", vec![value, IOValue::new(self.next_handle)]));
            }
            PeerNotice::Retract { observer, handle } => {
                if let Some(Outbound { oid, handle, pins }) = self.outbound.remove(&(way, observer, handle)) {
                    self.membrane.release(pins);
                    self.tell(oid, record("R", vec![IOValue::new(handle)]));
                }
            }
            PeerNotice::Message { oid, value } => {
                let mut pins = Pins::default();
                let value = self.exit(way, &value, &mut pins);
                self.pass(pins);
                self.tell(oid, record("M", vec![value]));
            }
            PeerNotice::Synced { oid } => self.tell(oid, record("M", vec![IOValue::new(true)])),
            PeerNotice::Failed { turn, kind } => {
                let packet = record("failed", vec![turn.encode(), IOValue::symbol(kind)]);
                self.actions.push(RelayAction::Say { packet });
            }
        }
        Ok(mem::take(&mut self.actions))
    }

    /// Keeps the objects that only a message mentions known for a time: nobody says when they are
    /// not needed any more.
    fn pass(&mut self, pins: Pins) {
        if pins.exports() == 0 {
            return;
        }
        self.passing_objects += pins.exports();
        self.passing.push_back(pins);
        while self.passing_objects > PASSING_MAX
            && let Some(oldest) = self.passing.pop_front()
        {
            self.passing_objects -= oldest.exports();
            self.membrane.release(oldest);
        }
    }

    fn accept(&mut self, number: u64, reference: &IOValue) {
        let mut pins = Pins::default();
        let shown = self.exit(number, reference, &mut pins);
        self.next_handle += 1;
        let handle = self.next_handle;
        let Some(way) = self.ways.get_mut(&number) else { return };
        way.accepted = Some((handle, pins));
        let observer = way.observer;
        self.tell(
            observer,
            record("A", vec![record("accepted", vec![shown]), IOValue::new(handle)]),
        );
    }
}

fn number(value: &IOValue) -> Option<u64> {
    value.as_u64().and_then(Result::ok)
}

fn not_a(part: &str, form: &str) -> String {
    format!("the client sent no {part}, which is {form}")
}

#[cfg(test)]
mod tests;
