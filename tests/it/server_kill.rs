//! A server with a hundred live sessions that is killed again and again: each session goes on, and
//! each client that comes back receives every event once.
//!
//! INVARIANT: clients know only the protocol; one that does not know whether its request was heard
//! sends it again with the same tag.
//! It does not test what sessions may do; `sessions.rs` and `isolation.rs` do.
//! Read next: `support/peer.rs`.
#![cfg(unix)]
#![allow(
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and waits for other processes"
)]

use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::Duration;

use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};
use duet_drivers::framing::Encoding;

/// The number of sessions.
const SESSIONS: usize = 100;

const ROOM: &str = "(import (duet sessions) (scheme write)) (serve-sessions!) (display \"ready\\n\")";

/// The long form, with this number of kills, is in `docs/src/testing.md`.
fn kills() -> usize {
    let wanted = std::env::var("DUET_SERVER_KILLS").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(5)
}

/// Sends a request whose evaluation counts the requests of its session.
fn ask(peer: &mut Peer, session: usize, tag: usize) {
    let payload = if tag == 0 {
        "(define total 0)"
    } else {
        "(set! total (+ total 1)) total"
    };
    peer.send(&format!(
        "[[1 <M <'session/request' ':session' \"s{session}\" ':payload' <text \"{payload}\"> ':tag' {tag}>>]]"
    ));
}

/// Connects a client to its session, and receives the events from the first on; each is there once,
/// in order, up to the one for the newest request.
#[track_caller]
fn come_back(desk: &Desk, reference: &str, session: usize, newest: usize) -> Peer {
    let mut peer = Peer::enter(desk, Encoding::Packed, reference);
    peer.send(&format!(
        "[[1 <A <Observe <group <rec 'session/event'> {{0: <lit ':session'> 1: <lit \"s{session}\"> 3: <bind <_>> \
         5: <bind <_>> 7: <bind <_>> 9: <bind <_>>}}> #:[0 2]> 2>]]"
    ));
    ask(&mut peer, session, newest);
    for tag in 0..=newest {
        let values = match tag {
            0 => "[]".to_owned(),
            _ => format!("[{{data: {tag}, name: \"${tag}\", written: \"{tag}\"}}]"),
        };
        let event = peer.next().expect("an event");
        let expected = format!("2 <A [result, {values}, {tag}, {}] ", tag + 1);
        assert!(
            event.starts_with(&expected),
            "session {session}: {event}, not {expected}"
        );
    }
    peer
}

fn start(desk: &Desk) -> Served {
    let mut served = Served::spawn(desk.spawn("serve room.scm"));
    served.said("clients come to");
    let socket = desk.path(".duet/journal.sqlite.sock");
    while UnixStream::connect(&socket).is_err() {
        sleep(Duration::from_millis(10));
    }
    served
}

#[test]
fn a_hundred_sessions_outlive_a_server_that_is_killed() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut peers: Vec<Peer> = (0..SESSIONS)
        .map(|session| come_back(&desk, &reference, session, 0))
        .collect();
    for kill in 1..=kills() {
        for (session, peer) in peers.iter_mut().enumerate() {
            ask(peer, session, kill);
        }
        // Some requests are durable by then, some are on their way.
        sleep(Duration::from_millis(kill as u64 * 13 % 60));
        served.child.kill().expect("it runs");
        drop(served);
        served = start(&desk);
        peers = (0..SESSIONS)
            .map(|session| come_back(&desk, &reference, session, kill))
            .collect();
    }
    // Nobody hears anything more: no request was evaluated twice.
    for peer in &mut peers {
        peer.sync();
    }
    drop(served);
    let said = desk.duet("replay --check room");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
}
