//! `duet serve` as clients see it: packets over sockets, references, what is refused, and what
//! becomes of clients and servers that go.
//!
//! INVARIANT: every server is a process, and every client a connection; a replay of each run needs
//! no client.
//! It does not test the decoder of packets; `packed/src/framing/tests.rs` does.
//! Read next: `support/peer.rs`.
#![cfg(unix)]
#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking; one that shows nothing says so"
)]

mod faults;
mod hasty;
mod hostile;
mod python;
mod refusals;
mod websocket;

use std::fs;

use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};
use duet_drivers::framing::Encoding;

/// A program that greets whoever is present, and keeps what is said.
const ROOM: &str = r#"
(on-assert (present $who) (message! (record 'joined who)))
(on-retract (present $who) (message! (record 'left who)))
(on-message (says $who $what)
  (assert! (record 'said who what)))
(on-message (call $desk) (send! desk 'please))
(display "ready") (newline)
"#;

const OBSERVE: &str = "[[1 <A <Observe <group <rec present> {0: <bind <_>>}> #:[0 2]> 2>]
                        [1 <A <Observe <group <rec says> {0: <bind <_>> 1: <bind <_>>}> #:[0 3]> 3>]
                        [1 <A <Observe <group <rec joined> {0: <bind <_>>}> #:[0 4]> 4>]]";

fn talk(encoding: Encoding) {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut ada = Peer::enter(&desk, encoding, &reference);
    let mut grace = Peer::enter(&desk, encoding, &reference);
    ada.send(OBSERVE);
    ada.sync();
    grace.send("[[1 <A <present \"Grace\"> 7>] [1 <M <says \"Grace\" \"hello\">>]]");
    // One packet is one turn, and the program hears of it after the clients' turns.
    ada.expect("2 <A [\"Grace\"] 2>");
    ada.expect("3 <M [\"Grace\", \"hello\"]>");
    ada.expect("4 <M [\"Grace\"]>");
    grace.sync();
    grace.send("[[1 <R 7>]]");
    ada.expect("2 <R 2>");
    // A late observer learns of the facts that are there.
    grace.send("[[1 <A <Observe <group <rec said> {1: <bind <_>>}> #:[0 5]> 8>]]");
    grace.expect("5 <A [\"hello\"] 2>");
    // The end of a subscription retracts its matches, and the end of a connection its assertions.
    grace.send("[[1 <R 8>] [1 <A <present \"Hopper\"> 9>]]");
    grace.expect("5 <R 2>");
    ada.expect("2 <A [\"Hopper\"] 3>");
    ada.expect("4 <M [\"Hopper\"]>");
    drop(grace);
    ada.expect("2 <R 3>");
    ada.sync();
    let facts = desk.duet("facts room").output;
    assert!(!facts.contains("present \"") && facts.contains("hello"), "{facts}");
    assert_eq!(served.end("-INT"), Some(130));
    ada.expect_error("the run has stopped");
    desk.replays("room");
}

#[test]
fn clients_talk_through_a_run_in_text() {
    talk(Encoding::Text);
}

#[test]
fn clients_talk_through_a_run_in_packed_form() {
    talk(Encoding::Packed);
}

#[test]
fn clients_and_programs_send_to_objects_of_clients() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut desk_clerk = Peer::enter(&desk, Encoding::Text, &reference);
    let mut guest = Peer::enter(&desk, Encoding::Packed, &reference);
    guest.send("[[1 <A <Observe <group <rec desk> {0: <bind <_>>}> #:[0 2]> 2>]]");
    guest.sync();
    desk_clerk.send("[[1 <A <desk #:[0 40]> 2>]]");
    guest.expect("2 <A [#:[0, 2]] 2>");
    guest.send("[[2 <M <ring 1>>]]");
    desk_clerk.expect("40 <M <ring 1>>");
    // A narrowed reference, given on.
    guest.send(
        "[[1 <A <Observe <group <rec quiet> {0: <bind <_>>}> #:[0 3]> 3>]
                 [1 <A <quiet #:[1 2 <rewrite <bind <rec ring [<_>]>> <rec softly [<ref 0>]>>]> 4>]]",
    );
    guest.expect("3 <A [#:[0, 3]] 3>");
    guest.send("[[3 <M <shout>>] [3 <M <ring 2>>]]");
    desk_clerk.expect("40 <M <softly <ring 2>>>");
    // An assertion at an object reaches it alone, until it is retracted or its maker goes.
    guest.send("[[2 <A <order \"tea\" #:[0 60]> 5>] [2 <A <order \"milk\"> 6>]]");
    desk_clerk.expect("40 <A <order \"tea\" #:[0, 2]> 2>");
    desk_clerk.expect("40 <A <order \"milk\"> 3>");
    desk_clerk.send("[[2 <A <served> 9>]]");
    guest.expect("60 <A <served> 4>");
    guest.send("[[1 <R 6>]]");
    desk_clerk.expect("40 <R 3>");
    desk_clerk.send("[[1 <R 9>]]");
    guest.expect("60 <R 4>");
    // The program has the reference too, and its owner gets it back as its own.
    guest.send("[[1 <M <call #:[1 2]>>]]");
    desk_clerk.expect("40 <M please>");
    desk_clerk.send("[[1 <A <Observe <group <rec desk> {0: <bind <_>>}> #:[0 5]> 5>]]");
    desk_clerk.expect("5 <A [#:[1, 40]] 4>");
    // A reference lives as long as an assertion that mentions it.
    desk_clerk.send("[[1 <R 2>]]");
    guest.expect("2 <R 2>");
    guest.send("[[2 <M <ring 3>>]]");
    guest.sync();
    desk_clerk.expect("5 <R 4>");
    desk_clerk.sync();
    drop(guest);
    desk_clerk.expect("40 <R 2>");
    desk.replays("room");
}

#[test]
fn a_grant_and_the_caveats_of_a_reference_limit_a_client() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve room.scm");
    let mut all = Peer::enter(&desk, Encoding::Text, &grant(&desk, "room"));
    all.send(
        "[[1 <A <Observe <bind <group <rec present> {}>> #:[0 2]> 2>]
               [1 <A <Observe <bind <group <rec says> {}>> #:[0 3]> 3>]]",
    );
    all.sync();
    let line = "room --assert \"(present \\\"Ada\\\")\" --observe \"(said \\\"Ada\\\" $_)\"";
    let mut ada = Peer::enter(&desk, Encoding::Text, &grant(&desk, line));
    ada.send(
        "[[1 <A <present \"Bob\"> 2>] [1 <M <says \"Ada\" \"x\">>]
               [1 <A <Observe <_> #:[0 5]> 3>]
               [1 <A <Observe <group <rec said> {0: <lit \"Bob\"> 1: <bind <_>>}> #:[0 6]> 4>]
               [1 <A <Observe <group <rec said> {0: <lit \"Ada\"> 1: <bind <_>>}> #:[0 7]> 5>]
               [1 <A <present \"Ada\"> 6>]]",
    );
    all.expect("2 <A [<present \"Ada\">] 2>");
    // A client retracts a refused assertion like any other.
    ada.send("[[1 <R 2>] [1 <R 3>]]");
    ada.sync();
    all.send("[[1 <M <says \"Ada\" \"hi\">>] [1 <M <says \"Bob\" \"ho\">>]]");
    all.expect("3 <M [<says \"Ada\" \"hi\">]>");
    all.expect("3 <M [<says \"Bob\" \"ho\">]>");
    ada.expect("7 <A [\"hi\"] 2>");
    ada.sync();
    served.said("the capability `dataspace/assert` was granted only for");
    let log = desk.duet("log room").output;
    assert!(log.contains("refuse"), "{log}");
    // Caveats that the holder adds, the newest first.
    let whole = grant(&desk, "room");
    let narrow = narrowed(
        &desk,
        &whole,
        "<or [<rewrite <rec says [<_> <bind <_>>]> <rec says [<lit \"Guest\"> <ref 0>]>>]>",
    );
    let mut guest = Peer::enter(&desk, Encoding::Packed, &narrow);
    guest.send("[[1 <A <present \"Eve\"> 2>] [1 <M <says \"Ada\" \"it is me\">>]]");
    all.expect("3 <M [<says \"Guest\" \"it is me\">]>");
    let forged = narrow.replace("Guest", "Ada");
    let mut thief = Peer::at(&desk, Encoding::Text);
    thief.send(&format!("[[0 <A <resolve {forged} #:[0 0]> 1>]]"));
    thief.expect("0 <A <rejected \"the sturdy reference was not signed with this key\"> 1>");
    desk.replays("room");
}

/// Adds a caveat to a reference, as any holder can.
fn narrowed(desk: &Desk, reference: &str, caveat: &str) -> String {
    use duet_runtime::capability::Caveat;
    use duet_runtime::capability::sturdy::SturdyRef;
    let _ = desk;
    let signed = SturdyRef::from_value(&reference.parse().expect("a value")).expect("a reference");
    let caveat = Caveat::read(&caveat.parse().expect("a value")).expect("a caveat");
    format!("{:?}", signed.attenuate(caveat).expect("small").to_value())
}

#[test]
fn a_reference_that_is_revoked_or_over_ends_its_connections() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let brief = grant(&desk, "room --until 3s");
    let listed = desk.duet("grant --list").output;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(!listed.contains("sig"), "{listed}");
    let mut first = Peer::enter(&desk, Encoding::Text, &reference);
    let mut second = Peer::enter(&desk, Encoding::Text, &brief);
    second.expect_error("expired");
    let id = reference.split('"').nth(3).expect("an id").to_owned();
    assert_eq!(desk.duet(&format!("grant --revoke {id}")).code, 0);
    first.expect_error("revoked");
    let mut late = Peer::at(&desk, Encoding::Text);
    late.send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>]]"));
    late.expect("0 <A <rejected \"the sturdy reference has been revoked\"> 1>");
    assert_eq!(desk.duet("grant --revoke nothing").code, 1);
}

#[test]
fn one_server_hosts_several_runs_over_tcp() {
    let desk = Desk::new(&[("one.scm", ROOM), ("two.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve one.scm two.scm --listen tcp:127.0.0.1:0");
    served.line("ready");
    let said = served.said("clients come to tcp:");
    let address = said
        .split("tcp:")
        .nth(1)
        .and_then(|rest| rest.split(';').next())
        .expect("an address");
    let (one, two) = (grant(&desk, "one"), grant(&desk, "two"));
    let mut peer = Peer::at_port(address);
    peer.resolve(&one);
    peer.send(&format!("[[0 <A <resolve {two} #:[0 0]> 2>]]"));
    peer.expect("0 <A <accepted #:[0, 2]> 2>");
    peer.send(
        "[[1 <A <Observe <bind <group <rec present> {}>> #:[0 3]> 3>]
                [2 <A <Observe <bind <group <rec present> {}>> #:[0 4]> 4>]
                [2 <A <present \"Ada\"> 5>]]",
    );
    peer.expect("4 <A [<present \"Ada\">] 3>");
    // A reference is left without the connection.
    peer.send("[[0 <R 2>]]");
    peer.expect("0 <R 2>");
    peer.send(&format!("[[0 <A <resolve {two} #:[0 0]> 6>]]"));
    peer.expect("0 <A <accepted #:[0, 3]> 4>");
    assert!(!desk.duet("facts two").output.contains("present \""));
    // Each of them is reached like a run that has a process for itself.
    for run in ["one", "two"] {
        let said = desk.duet(&format!("message {run} \"<says \\\"a\\\" \\\"b\\\">\""));
        assert_eq!(said.code, 0, "{}", said.errors);
    }
    assert_eq!(desk.duet("stop two").code, 0);
    peer.expect_error("the run has stopped");
    desk.replays("one");
    desk.replays("two");
    for wrong in ["tcp:8.8.8.8:1", "tcp:nowhere"] {
        assert_eq!(desk.duet(&format!("serve one --listen {wrong}")).code, 2, "{wrong}");
    }
}

#[test]
fn a_server_that_was_killed_goes_on_and_its_clients_have_left() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut ada = Peer::enter(&desk, Encoding::Text, &reference);
    ada.send("[[1 <A <present \"Ada\"> 2>] [1 <M <says \"Ada\" \"one\">>]]");
    ada.sync();
    served.end("-KILL");
    assert_eq!(ada.next(), None);
    let listed = desk.duet("runs").output;
    assert!(listed.contains("left"), "{listed}");
    let socket = desk.path(".duet/journal.sqlite.sock");
    assert!(fs::symlink_metadata(&socket).is_ok(), "a dead server leaves its socket");
    let mut served = Served::spawn(desk.spawn("serve room"));
    served.said("clients come to");
    // A client that comes before the run is open waits.
    let mut ada = Peer::enter(&desk, Encoding::Text, &reference);
    ada.send(
        "[[1 <A <Observe <bind <group <rec present> {}>> #:[0 2]> 2>]
               [1 <A <Observe <group <rec said> {1: <bind <_>>}> #:[0 3]> 3>]]",
    );
    ada.expect("3 <A [\"one\"] 2>");
    ada.sync();
    assert_eq!(served.end("-INT"), Some(130));
    assert!(
        fs::symlink_metadata(&socket).is_err(),
        "a server that ends removes its socket"
    );
    desk.replays("room");
}
