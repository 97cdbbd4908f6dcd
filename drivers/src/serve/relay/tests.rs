//! The relay as packets and news reach it.

use duet_runtime::model::identity::CapabilityId;
use duet_runtime::model::manifest::Manifest;

use super::*;
use crate::report::Reporter;

/// A gate that lets everybody into one run who says `"open"`.
struct Open(Host);

impl Gate for Open {
    fn resolve(&self, reference: &IOValue) -> Result<Admission, String> {
        if reference.as_string().as_deref() != Some("open") {
            return Err("it is closed".to_owned());
        }
        Ok(Admission {
            host: self.0.clone(),
            grant: "g".to_owned(),
            manifest: Manifest::default(),
            caveats: Vec::new(),
        })
    }

    fn check(&self, _: &IOValue) -> Result<(), String> {
        Ok(())
    }
}

/// A relay and its gate.
struct Bench {
    relay: Relay,
    gate: Open,
}

impl Bench {
    fn new() -> Self {
        let (reporter, _reports) = Reporter::new(crate::clock::WorldClock::default());
        Self {
            relay: Relay::new("c".to_owned()),
            gate: Open(Host::new(&reporter)),
        }
    }

    /// Sends a packet; returns the actions in words.
    fn send(&mut self, packet: &str) -> Result<Vec<String>, String> {
        let packet = packet.parse().expect("well formed");
        let actions = self.relay.packet(&packet, &self.gate)?;
        Ok(actions.iter().map(shown).collect())
    }

    fn news(&mut self, told: PeerNotice) -> Vec<String> {
        let actions = self.relay.news(1, ActorId(5), told).expect("the client may stay");
        actions.iter().map(shown).collect()
    }

    /// Comes in; the server has made some assertions before.
    fn enter(&mut self, handles: u64) {
        assert_eq!(self.send("[[0 <A <resolve \"open\" #:[0 9]> 1>]]"), said(&["join 1"]));
        let told = PeerNotice::Welcome {
            name: self.relay.name(1),
            capability: CapabilityId(3),
        };
        assert_eq!(self.news(told), [format!("9 <A <accepted #:[0, 1]> {}>", handles + 1)]);
    }
}

fn said(actions: &[&str]) -> Result<Vec<String>, String> {
    Ok(actions.iter().map(|action| (*action).to_owned()).collect())
}

fn shown(action: &RelayAction) -> String {
    match action {
        RelayAction::Join { way, .. } => format!("join {way}"),
        RelayAction::Said { peer, what, .. } => format!(
            "{peer}: {}",
            what.iter().map(said_in_words).collect::<Vec<_>>().join(", ")
        ),
        RelayAction::Leave { peer, .. } => format!("leave {peer}"),
        RelayAction::Tell { oid, event } => format!("{oid} {event:?}"),
        RelayAction::Say { packet } => format!("{packet:?}"),
    }
}

fn said_in_words(said: &PeerEvent) -> String {
    match said {
        PeerEvent::Assert { to, name, value } => format!("{to} {name} {value:?}"),
        PeerEvent::Retract { name } => format!("not {name}"),
        PeerEvent::Message { to, value } => format!("{to} {value:?}"),
        PeerEvent::Sync { oid } => format!("sync {oid}"),
    }
}

#[test]
fn the_events_of_a_packet_for_one_run_stay_together() {
    let mut bench = Bench::new();
    bench.enter(0);
    let packet = "[[1 <A <a #:[0 7]> 2>] [1 <M <b #:[0 7] #:[1 1]>>] [0 <S #:[0 4]>] [1 <R 2>] [1 <S #:#:[0 4]>]]";
    let all = "actor 5: capability 3 2 <a #:<mine 7>>, capability 3 <b #:<mine 7> #:<capability 3>>, not 2, sync 4";
    assert_eq!(bench.send(packet), said(&[all, "4 <M #t>"]));
    assert_eq!(bench.send("#f"), said(&[]));
    assert_eq!(bench.send("<ext 1>"), said(&[]));
}

#[test]
fn an_object_that_no_assertion_mentions_is_refused_in_a_message() {
    for packet in ["[[1 <M #:[0 7]>]]", "[[1 <A #:[0 7] 2>] [1 <R 2>] [1 <M #:[0 7]>]]"] {
        let mut bench = Bench::new();
        bench.enter(0);
        let why = bench.send(packet).expect_err("it is refused");
        assert!(why.contains("the object 7, which no assertion mentions"), "{why}");
    }
    let mut bench = Bench::new();
    bench.enter(0);
    assert!(bench.send("[[1 <M #:[1 2]>]]").is_err());
}

#[test]
fn a_client_that_leaves_before_it_is_in_leaves_when_it_is() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.send("[[0 <A <resolve \"open\" #:[0 9]> 1>] [0 <R 1>]]"),
        said(&["join 1"])
    );
    let name = bench.relay.name(1);
    let capability = CapabilityId(3);
    assert_eq!(bench.news(PeerNotice::Welcome { name, capability }), ["leave actor 5"]);
    assert!(bench.news(PeerNotice::Synced { oid: 1 }).is_empty());
}

#[test]
fn a_way_ends_with_its_assertion_and_a_closed_one_never_begins() {
    let mut bench = Bench::new();
    let refused = ["9 <A <rejected \"it is closed\"> 1>"];
    assert_eq!(
        bench.send("[[0 <A <resolve \"shut\" #:[0 9]> 7>] [0 <R 7>]]"),
        said(&refused)
    );
    bench.enter(1);
    let told = PeerNotice::Assert {
        oid: 2,
        observer: None,
        handle: Handle(40),
        value: "[#:<capability 8> #:<mine 6>]".parse().expect("well formed"),
    };
    assert_eq!(bench.news(told), ["2 <A [#:[0, 2], #:[1, 6]] 3>"]);
    assert_eq!(bench.send("[[0 <R 1>]]"), said(&["leave actor 5", "9 <R 2>"]));
    // Events on their way to an object that has gone have no effect.
    assert_eq!(bench.send("[[2 <M 1>] [1 <A 1 8>] [1 <R 8>]]"), said(&[]));
    assert!(bench.relay.membrane.shown(2).is_none());
}
