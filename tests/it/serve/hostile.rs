//! Clients that come with a valid reference and try to use up or stop the server with short
//! packets.
//!
//! INVARIANT: another client is served meanwhile, and the journal repeats without any of them.
//! Read next: `faults.rs`.

use duet_drivers::framing::Encoding;

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// Sends packets as one client, which ends with an error if one is expected; another client is
/// served afterwards.
#[track_caller]
fn check(packets: &[String], error: Option<&str>) -> Desk {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut other = Peer::enter(&desk, Encoding::Packed, &reference);
    let mut hostile = Peer::enter(&desk, Encoding::Packed, &reference);
    for packet in packets {
        hostile.send(packet);
    }
    match error {
        Some(error) => {
            let last = std::iter::from_fn(|| hostile.next())
                .last()
                .expect("the server says why");
            assert!(last.starts_with("<error ") && last.contains(error), "{last}");
        }
        None => hostile.sync(),
    }
    other.sync();
    drop(served);
    desk.replays("room");
    desk
}

/// Makes the reference `#:[1 1 CAVEAT …]` an object that the client knows as 2, and sends through
/// it.
fn through(caveats: &str) -> [String; 1] {
    [format!(
        "[[1 <A <narrow #:[1 1 {caveats}]> 2>] [1 <M <narrow #:[1 1 {caveats}]>>]
          [1 <A <Observe <group <rec narrow> {{0: <bind <_>>}}> #:[0 5]> 3>]]"
    )]
}

fn check_caveats(caveats: &str, reason: &str) {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut hostile = Peer::enter(&desk, Encoding::Packed, &reference);
    for packet in through(caveats) {
        hostile.send(&packet);
    }
    hostile.expect("5 <A [#:[0, 2]] 2>");
    hostile.send("[[2 <A <says \"Eve\" \"hello\"> 8>] [2 <M <says \"Eve\" \"hello\">>]]");
    hostile.sync();
    Peer::enter(&desk, Encoding::Packed, &reference).sync();
    drop(served);
    let log = desk.duet("log room").output;
    assert!(log.contains(reason), "{log}");
    assert!(!desk.duet("facts room").output.contains("Eve"));
    desk.replays("room");
}

#[test]
fn caveats_that_double_a_value_make_nothing() {
    check_caveats(
        &"<rewrite <bind <_>> <arr [<ref 0> <ref 0>]>>".repeat(60),
        "the value cannot be recorded",
    );
}

#[test]
fn caveats_that_nest_a_value_make_nothing() {
    let nested = format!("{}<ref 0>{}", "<arr [".repeat(50), "]>".repeat(50));
    check_caveats(
        &format!("<rewrite <bind <_>> {nested}>").repeat(400),
        "the value cannot be recorded",
    );
}

#[test]
fn an_assertion_mentions_a_limited_number_of_objects() {
    let objects: String = (0..100_000).map(|oid| format!("#:[0 {oid}] ")).collect();
    check(
        &[format!("[[1 <A <x [{objects}]> 2>]]")],
        Some("mention more than 10000 objects"),
    );
}

#[test]
fn a_client_has_assertions_of_a_limited_length() {
    let long = "x".repeat(3 << 20);
    let packets: Vec<String> = (2..14)
        .map(|handle| format!("[[1 <A <x \"{long}\"> {handle}>]]"))
        .collect();
    check(&packets, Some("have more than 33554432 bytes"));
    // Those that were retracted do not count.
    let packets: Vec<String> = (2..14)
        .flat_map(|handle| {
            [
                format!("[[1 <A <x \"{long}\"> {handle}>]]"),
                format!("[[1 <R {handle}>]]"),
            ]
        })
        .collect();
    check(&packets, None);
}

#[test]
fn a_client_observes_a_limited_number_of_matches() {
    let facts: String = (0..400)
        .map(|handle| format!("[1 <A <x {handle}> {}>] ", handle + 10))
        .collect();
    let observer = |oid: usize| {
        let pattern = "<group <rec x> {0: <bind <_>>}>";
        format!("[1 <A <Observe {pattern} #:[0 {oid}]> {}>] ", oid + 1_000)
    };
    let observers: String = (0..300).map(observer).collect();
    check(
        &[format!("[{facts}]"), format!("[{observers}]")],
        Some("has more than 100000 matches or objects"),
    );
}

#[test]
fn objects_in_messages_do_not_end_the_connection_of_who_receives_them() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room");
    let mut victim = Peer::enter(&desk, Encoding::Packed, &reference);
    victim.send("[[1 <A <Observe <group <rec show> {0: <bind <_>>}> #:[0 2]> 2>]]");
    victim.sync();
    let mut hostile = Peer::enter(&desk, Encoding::Packed, &reference);
    for start in (0..9_000).step_by(500) {
        let range = start + 100..start + 600;
        let facts: String = range
            .clone()
            .map(|oid| format!("[1 <A <of #:[0 {oid}]> {oid}>] "))
            .collect();
        let messages: String = range.map(|oid| format!("[1 <M <show #:[0 {oid}]>>] ")).collect();
        hostile.send(&format!("[{facts}{messages}]"));
    }
    hostile.sync();
    for _ in 0..9_000 {
        assert!(victim.next().expect("it stays").starts_with("2 <M "));
    }
    // An assertion reaches it still.
    victim.send("[[1 <A <Observe <group <rec present> {0: <bind <_>>}> #:[0 3]> 3>]]");
    hostile.send("[[1 <A <present \"Eve\"> 50>]]");
    victim.expect("3 <A [\"Eve\"] 2>");
}

/// The resident memory of a process in megabytes.
fn resident_megabytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<u64>().ok())
        .expect("a number")
        >> 10
}

#[test]
fn macros_of_a_session_make_no_more_code_than_its_memory_allows() {
    let program = "(import (duet base) (duet sessions))
        (serve-sessions! :imports '((duet base)) :grants '() :fuel-limit 1000000 :memory-limit 8000000)
        (display \"ready\") (newline)";
    let desk = Desk::new(&[("room.scm", program)]);
    let served = Served::start(&desk, "serve room.scm");
    let mut hostile = Peer::enter(&desk, Encoding::Packed, &grant(&desk, "room"));
    hostile.send(
        "[[1 <A <Observe <group <rec 'session/event'> {3: <bind <_>> 5: <bind <_>> 7: <bind <_>>}> #:[0 2]> 2>]]",
    );
    let many = format!(
        "(define-syntax m (syntax-rules () ((_ a ...) '({}))))",
        "a ... ".repeat(300)
    );
    let bombs = [
        format!(
            "(define-syntax d (syntax-rules () ((_ x) (begin x x)))) {}1{}",
            "(d ".repeat(40),
            ")".repeat(40)
        ),
        "(define-syntax e (syntax-rules () ((_ (a ...) x) (e (a ... a ...) x)))) (e (1 2 3) 1)".to_owned(),
        format!("{many} (m {})", "1 ".repeat(1_000)),
    ];
    for round in 0..10 {
        for (number, bomb) in bombs.iter().enumerate() {
            let tag = format!("{round}-{number}");
            hostile.send(&format!(
                "[[1 <M <'session/request' ':session' \"eve\" ':payload' <text {bomb:?}> ':tag' \"{tag}\">>]]"
            ));
            let event = hostile.next().expect("an event");
            assert!(event.contains("more than 62500 nodes of code"), "{event}");
        }
    }
    assert!(resident_megabytes(served.child.id()) < 300);
    hostile.send("[[1 <M <'session/request' ':session' \"eve\" ':payload' [+ 1 2] ':tag' \"last\">>]]");
    let event = hostile.next().expect("an event");
    assert!(event.contains("written: \"3\""), "{event}");
}
