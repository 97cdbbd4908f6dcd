//! Clients that break and reconnect at once for ever do not fill the journal.
//!
//! INVARIANT: the tests count turns of the journal, for a client that is let in at each connection
//! if it waits.
//! Read next: `../../drivers/src/serve/rate_limit.rs`.

use std::time::Instant;

use duet_drivers::framing::Encoding;

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// The number of visits of clients in the journal.
fn visits(desk: &Desk) -> usize {
    let log = desk.duet("log room --limit 100000");
    assert_eq!(log.code, 0, "{log:?}");
    log.output
        .lines()
        .filter(|line| line.contains(" welcome client-"))
        .count()
}

#[test]
fn a_client_that_comes_again_at_once_for_ever_is_recorded_once_a_second() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let served = Served::start(&desk, "serve room.scm");
    let (reference, other) = (grant(&desk, "room"), grant(&desk, "room"));
    #[allow(clippy::disallowed_methods, reason = "the bound is one of time")]
    let start = Instant::now();
    // Those that come in break on what they hear; the others do not wait for it.
    for _ in 0..60 {
        Peer::enter(&desk, Encoding::Text, &reference).sync();
    }
    for _ in 0..300 {
        Peer::at(&desk, Encoding::Text).send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>]]"));
    }
    // Nor does it help to stay connected.
    let mut here = Peer::at(&desk, Encoding::Text);
    for _ in 0..100 {
        here.send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>] [0 <R 1>]]"));
    }
    // Others do not wait, and who waits is let in.
    Peer::enter(&desk, Encoding::Text, &other).sync();
    let mut patient = Peer::enter(&desk, Encoding::Text, &reference);
    patient.sync();
    #[allow(clippy::disallowed_methods, reason = "the bound is one of time")]
    let seconds = usize::try_from(start.elapsed().as_secs()).expect("a short test");
    let count = visits(&desk);
    assert!((61..=64 + seconds).contains(&count), "{count} in {seconds} s");
    drop((patient, here, served));
    desk.replays("room");
}
