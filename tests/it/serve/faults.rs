//! Clients and servers that do what they should not: garbage, floods, silence, a second server at
//! the same place, a full disk.
//!
//! INVARIANT: after each of them, another client is served.
//! Read next: `../serve.rs`.

use std::fs;
use std::process::{Command, Stdio};

use duet_drivers::framing::Encoding;

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// Sends bytes on a connection of their own; the server says what is wrong with them.
#[track_caller]
fn check_refused(desk: &Desk, bytes: &[u8], expected: &str) {
    let mut peer = Peer::at(desk, Encoding::Text);
    if bytes.first().is_some_and(|first| *first >= 0x80) {
        peer = Peer::at(desk, Encoding::Packed);
    }
    peer.send_bytes(bytes);
    peer.expect_error(expected);
}

#[test]
fn a_client_whose_words_make_a_handler_of_the_program_fail_is_told() {
    let program = format!("{ROOM} (on-message (boom) (car 'x)) (on-assert (bang) (raise 'bang))");
    let desk = Desk::new(&[("room.scm", &program)]);
    let served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut grace = Peer::enter(&desk, Encoding::Packed, &reference);
    for (words, kind) in [("<M <boom>>", "wrong-type"), ("<A <bang> 7>", "uncaught")] {
        let mut ada = Peer::enter(&desk, Encoding::Text, &reference);
        ada.send(&format!("[[1 {words}]]"));
        let told = ada.next().expect("she is told");
        assert!(
            told.starts_with("<failed ") && told.ends_with(&format!(" {kind}>")),
            "{told}"
        );
        // The run and both connections go on.
        ada.sync();
        grace.sync();
    }
    // A person's words are no others.
    let said = desk.duet("message room <boom>");
    assert_eq!(said.code, 0, "{}", said.errors);
    grace.sync();
    drop((grace, served));
    desk.replays("room");
}

#[test]
fn what_is_no_packet_ends_the_connection_with_a_reason() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    check_refused(&desk, b"GET / HTTP/1.1\r\n\r\n", "no packet");
    check_refused(&desk, &[0x99, 0x99], "0x99 stands in the place of a value");
    // A string of a gigabyte, of which nothing has come yet.
    check_refused(&desk, &[0xb1, 0x80, 0x80, 0x80, 0x80, 0x04], "more than 4194304 bytes");
    check_refused(&desk, "[".repeat(1_000_000).as_bytes(), "nested more than 200 levels");
    check_refused(&desk, &[0xb5; 1_000_000], "nested more than 200 levels");
    check_refused(&desk, b"[[0]]\n", "no turn");
    check_refused(&desk, b"[[0 <X>]]\n", "no event");
    check_refused(&desk, b"[[0 <A <hello> 1>]]\n", "the object 0 is the gatekeeper");
    check_refused(&desk, b"[[0 <A <resolve x y> 1>]]\n", "needs an object of the client");
    check_refused(&desk, b"[[0 <A 1 x>]]\n", "no handle");
    check_refused(&desk, b"[[0 <R 1>]]\n", "no assertion with the handle 1 is present");
    check_refused(
        &desk,
        b"[[7 <A 1 1>] [7 <A 1 1>]]\n",
        "names an assertion that is present",
    );
    // Who only looks in, or asks for what is not there, harms nobody.
    let mut peer = Peer::at(&desk, Encoding::Text);
    peer.send("[[7 <M 1>] [7 <A 1 1>] [7 <R 1>] [0 <S #:#:[0 5]>]]");
    peer.expect("5 <M #t>");
    for wrong in ["1", "<ref {}>", "<ref {oid: 1 sig: #\"\"}>"] {
        peer.send(&format!("[[0 <A <resolve {wrong} #:[0 0]> 1>] [0 <R 1>]]"));
        assert!(
            peer.next().expect("an answer").starts_with("0 <A <rejected "),
            "{wrong}"
        );
    }
    drop(peer);
    // In the middle of a request.
    let mut gone = Peer::at(&desk, Encoding::Text);
    gone.send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>]]"));
    drop(gone);
    let mut gone = Peer::enter(&desk, Encoding::Text, &reference);
    gone.send_bytes(b"[[1 <A <present ");
    drop(gone);
    for (packet, why) in [
        ("[[1 <M <call #:[0 9]>>]]", "a message has a reference to the object 9"),
        ("[[1 <A <present #:[1 77]> 2>]]", "the server has shown no object 77"),
        ("[[1 <A <present #:5> 2>]]", "no reference"),
        ("[[1 <S 5>]]", "needs an object of the client"),
    ] {
        let mut peer = Peer::enter(&desk, Encoding::Packed, &reference);
        peer.send(packet);
        peer.expect_error(why);
    }
    let mut peer = Peer::enter(&desk, Encoding::Text, &reference);
    // What the run refuses ends nothing.
    peer.send("[[1 <A <Observe 1 #:[0 2]> 2>] [1 <A <Observe <_>> 3>] [1 <A <Observe <_> #:[1 1]> 4>]]");
    peer.sync();
    desk.replays("room");
}

#[test]
fn half_a_packet_is_waited_for_and_not_for_ever() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    check_refused(&desk, b"[[1 ", "half a packet");
}

#[test]
fn a_client_has_a_limited_number_of_assertions() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let mut peer = Peer::enter(&desk, Encoding::Packed, &grant(&desk, "room"));
    for start in (2..10_000).step_by(1_000) {
        let events: Vec<String> = (start..start + 1_000)
            .map(|handle| format!("[1 <A <x {handle}> {handle}>]"))
            .collect();
        peer.send(&format!("[{}]", events.join(" ")));
    }
    peer.expect_error("more than 10000 assertions");
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_stops_nobody() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut slow = Peer::enter(&desk, Encoding::Packed, &reference);
    let mut quick = Peer::enter(&desk, Encoding::Packed, &reference);
    slow.send("[[1 <A <present \"Slow\"> 2>] [1 <A <Observe <bind <group <rec flood> {}>> #:[0 3]> 3>]]");
    slow.sync();
    quick.send("[[1 <A <Observe <bind <group <rec present> {}>> #:[0 2]> 2>]]");
    quick.expect("2 <A [<present \"Slow\">] 2>");
    let long = "x".repeat(1 << 20);
    for number in 0..24 {
        quick.send(&format!("[[1 <M <flood {number} \"{long}\">>]]"));
    }
    quick.expect("2 <R 2>");
    quick.sync();
}

#[test]
fn two_servers_do_not_share_a_place() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let second = desk.duet("serve room.scm");
    assert_eq!(second.code, 1);
    assert!(
        second.errors.contains("another process listens at unix:"),
        "{}",
        second.errors
    );
    let elsewhere = desk.duet("serve room --listen unix:other.sock");
    assert_eq!(elsewhere.code, 1);
    assert!(
        elsewhere.errors.contains("process"),
        "the run has an owner: {}",
        elsewhere.errors
    );
    fs::write(desk.path("file"), "kept").expect("a file");
    let file = desk.duet("serve room --listen unix:file");
    assert!(file.errors.contains("is a file and no socket"), "{}", file.errors);
    assert_eq!(fs::read_to_string(desk.path("file")).expect("a file"), "kept");
    let missing = desk.duet("serve nothing --listen unix:third.sock");
    assert!(missing.errors.contains("nothing"), "{}", missing.errors);
    Peer::enter(&desk, Encoding::Text, &grant(&desk, "room")).sync();
}

#[test]
fn a_full_disk_stops_the_run_and_not_in_silence() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    assert_eq!(desk.duet("run room.scm").code, 0);
    let size = fs::metadata(desk.path(".duet/journal.sqlite")).expect("a file").len();
    let blocks = size / 512 + 400;
    // No file may grow further; the signal that says so is ignored, as on a disk that is full.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" serve room.scm --journal full.sqlite");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_duet")])
        .current_dir(desk.path(""));
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut served = Served::spawn(piped.spawn().expect("a shell"));
    served.line("ready");
    let reference = grant(&desk, "room --journal full.sqlite");
    let mut peer = Peer::at_path(&desk.path("full.sqlite.sock"));
    peer.resolve(&reference);
    let long = "x".repeat(100_000);
    for number in 0..200 {
        peer.send(&format!("[[1 <M <flood {number} \"{long}\">>]]"));
    }
    peer.expect_error("the run has stopped");
    served.said("error");
    assert_ne!(served.child.wait().expect("it ends").code(), Some(0));
}
