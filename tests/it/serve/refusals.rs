//! References that the gatekeeper refuses are in the journal of a run.
//!
//! INVARIANT: a flood of them costs the journal no more than a few turns.
//! Read next: `owner/refusals.rs`.

use duet_drivers::framing::Encoding;

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// Shows the gatekeeper a reference; it must be refused.
fn refused(peer: &mut Peer, reference: &str) -> String {
    peer.send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>] [0 <R 1>]]"));
    let said = peer.next().expect("an answer");
    assert!(said.starts_with("0 <A <rejected "), "{said}");
    said
}

#[test]
fn references_that_are_refused_are_in_the_journal_and_a_flood_of_them_is_counted() {
    let desk = Desk::new(&[(
        "room.scm",
        &format!("{ROOM} (on-message (gatekeeper/refused $kind $why $count) (assert! (record 'seen kind count)))"),
    )]);
    let served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let late = grant(&desk, "room --until 1s");
    let mut peer = Peer::at(&desk, Encoding::Text);
    refused(&mut peer, "1");
    refused(&mut peer, &reference.replace("room", "moor"));
    let revoked = grant(&desk, "room");
    let id = revoked.split('"').nth(3).expect("an id").to_owned();
    assert_eq!(desk.duet(&format!("grant --revoke {id}")).code, 0);
    refused(&mut peer, &revoked);
    refused(&mut peer, &format!("<branch \"nowhere\" {reference}>"));
    refused(&mut peer, &format!("<fork \"try\" {reference}>"));
    // A client that has shown no reference may send some kilobytes.
    for _ in 0..4 {
        let mut flood = Peer::at(&desk, Encoding::Text);
        for _ in 0..500 {
            refused(&mut flood, "<ref {}>");
        }
    }
    let is_over = |peer: &mut Peer| {
        peer.send(&format!("[[0 <A <resolve {late} #:[0 0]> 1>]]"));
        let said = peer.next().expect("an answer");
        peer.send("[[0 <R 1>]]");
        if said.starts_with("0 <A <accepted") {
            peer.next().expect("the way ends");
        }
        said.contains("expired")
    };
    while !is_over(&mut peer) {}
    let mut good = Peer::enter(&desk, Encoding::Text, &reference);
    good.sync();
    let facts = desk.duet("facts room").output;
    for kind in ["malformed", "forged", "revoked", "expired", "unknown", "denied"] {
        assert_eq!(facts.matches(&format!("<seen {kind} 1>")).count(), 1, "{kind}: {facts}");
    }
    let log = desk.duet("log room").output;
    let count = log.matches("gatekeeper/refused").count();
    assert!((6..=12).contains(&count), "{count}: {log}");
    drop(served);
    desk.replays("room");
}
