//! Sessions that fork away: each goes on with a branch of its own, beside the others.
//!
//! INVARIANT: nothing that happens on one branch is seen on another.
//! Read next: `../sessions.rs`.

use duet_drivers::framing::Encoding;

use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

const OPEN: &str = "(import (duet base) (duet dataspace) (duet sessions) (scheme write))
(serve-sessions!)
(on-message (order $what) (assert! (record 'ordered what)))
(display \"ready\") (newline)";

fn desk() -> (Desk, Served) {
    let desk = Desk::new(&[("room.scm", OPEN)]);
    let served = Served::start(&desk, "serve room.scm");
    (desk, served)
}

/// Feeds a prompt and compares its output.
#[track_caller]
fn check(desk: &Desk, line: &str, texts: &str, output: &str) -> String {
    let said = desk.feed(line, texts);
    assert_eq!((said.code, said.output.as_str()), (0, output), "{}", said.errors);
    said.errors
}

#[test]
fn a_guest_goes_on_with_its_session_on_a_branch_of_its_own() {
    let (desk, served) = desk();
    check(&desk, "repl room --session bob", "(define price 1)\n", "");
    let texts = "(define price 3)\n,fork cheaper\n(define price 2)\nprice\n(message! (record 'order \"tea\"))\n\
                 ,switch main\nprice\n(message! (record 'order \"coffee\"))\n,switch cheaper\nprice\n";
    let errors = check(&desk, "repl room --session ada", texts, "2\n3\n2\n");
    assert!(errors.contains("ada goes on at room/cheaper@"), "{errors}");
    assert!(errors.contains("; bob stays there"), "{errors}");
    let (main, branch) = (desk.duet("facts room").output, desk.duet("facts room/cheaper").output);
    assert!(main.contains("coffee") && !main.contains("tea"), "{main}");
    assert!(branch.contains("tea") && !branch.contains("coffee"), "{branch}");
    // The others have noticed nothing.
    check(&desk, "repl room --session bob", "price\n", "1\n");
    let said = desk.feed("repl room --session ada", ",fork cheaper\n,switch nowhere\n'here\n");
    assert_eq!(said.output, "here\n");
    assert!(
        said.errors.contains("cheaper") && said.errors.contains("has no branch nowhere"),
        "{said:?}"
    );
    // A branch can be entered by its address, and stopped by itself.
    check(&desk, "repl room/cheaper --session ada", "price\n", "2\n");
    assert_eq!(desk.duet("stop room/cheaper").code, 0);
    check(&desk, "repl room --session ada", "price\n", "3\n");
    drop(served);
    desk.replays("room");
    desk.replays("room/cheaper");
}

#[test]
fn a_client_over_a_socket_forks_away_if_its_reference_lets_it() {
    let (desk, served) = desk();
    let connect = "repl --connect .duet/journal.sqlite.sock --reference ada.ref --session ada";
    std::fs::write(desk.path("ada.ref"), grant(&desk, "room --session ada")).expect("a file");
    let said = desk.feed(connect, "(define price 3)\n,fork cheaper\nprice\n");
    assert_eq!(said.output, "3\n", "{}", said.errors);
    assert!(said.errors.contains("does not grant forks"), "{}", said.errors);
    let reference = grant(&desk, "room --session ada --fork");
    std::fs::write(desk.path("ada.ref"), &reference).expect("a file");
    let texts = ",fork cheaper\n(define price 2)\nprice\n,fork free\n(define price 0)\n,switch cheaper\nprice\n";
    let errors = check(&desk, connect, texts, "2\n2\n");
    assert!(errors.contains("(cheaper)") && errors.contains("(free)"), "{errors}");
    check(&desk, connect, "price\n", "3\n");
    // The second branch began at the first, and a reference can name a branch.
    std::fs::write(desk.path("free.ref"), grant(&desk, "room/free --session ada")).expect("a file");
    check(&desk, &connect.replace("ada.ref", "free.ref"), "price\n", "0\n");
    let mut peer = Peer::at(&desk, Encoding::Text);
    for (wrong, why) in [
        (format!("<branch \"nowhere\" {reference}>"), "does not host"),
        (format!("<branch 7 {reference}>"), "the name of a branch"),
        (format!("<fork \"a b\" {reference}>"), "the name of a branch"),
        (format!("<fork \"x\" <fork \"y\" {reference}>>"), ""),
    ] {
        peer.send(&format!("[[0 <A <resolve {wrong} #:[0 0]> 1>] [0 <R 1>]]"));
        let said = peer.next().expect("an answer");
        assert!(
            said.starts_with("0 <A <rejected ") && said.contains(why),
            "{wrong}: {said}"
        );
    }
    drop(served);
    desk.replays("room/free");
}

#[test]
fn branches_go_on_after_their_server_was_killed() {
    let (desk, mut served) = desk();
    check(
        &desk,
        "repl room --session ada",
        "(define price 3)\n,fork cheaper\n(define price 2)\n",
        "",
    );
    served.child.kill().expect("it runs");
    drop(served);
    // The branch is an ordinary one: whoever executes it has its sessions.
    let served = Served::spawn(desk.spawn("serve room/cheaper"));
    let said = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let said = desk.feed("repl room/cheaper --session ada", "price\n");
        (said.code == 0).then_some(said)
    });
    assert_eq!(said.expect("it goes on").output, "2\n");
    drop(served);
    desk.replays("room/cheaper");
}
