//! Runs that meet in the dataspace of a server that speaks Syndicate's protocol.
//!
//! The server is one in Python, or the reference implementation where the environment variable
//! `DUET_SYNDICATE_SERVER` has the path of a `syndicate-server` (`parity/syndicate` sets it).
//! INVARIANT: the server knows only the protocol. Where there is no `python3` these tests say so
//! and show nothing.
//! Read next: `python/syndicate_server.py`, then `../stdlib/duet/syndicate/session.scm`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure, one that shows nothing says so, and a peer is real"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use duet_drivers::framing::{Decoder, Encoding};
use duet_runtime::driver::packed::PackedLimits;
use preserves::{IOValue, ValueImpl};
use tempfile::TempDir;

use crate::support::process::Peer;

/// A run that says something, and prints what another one says.
const TALK: &str = r#"(import (duet base) (duet dataspace) (duet syndicate))
(define (show . words) (write words) (newline))
(on-assert (syndicate/joined hub _) (show 'joined))
(on-retract (syndicate/joined hub _) (show 'left))
(on-assert (remote hub (says $who $what)) (show who 'says what) (message! (record 'greets 'ME what)))
(on-retract (remote hub (says $who $what)) (show who 'said what))
(on-message (remote hub (greets $who $what)) (show who 'greets what))
(assert! (record 'says 'ME (dictionary 'of 'ME 'values (list 1 -2.5 "three" (bytevector 4) (set 5 6)))))
(join-syndicate! 'hub PORT SECRET
  :import (list (pattern (says 'OTHER _)) (pattern (greets 'OTHER _)))
  :export (list (pattern (says _ _)) (pattern (greets _ _))))
"#;

/// The sturdyref of the key `#x""` and the name "syndicate".
const REFERENCE: &str = r#"<ref {oid: "syndicate" sig: #x"69ca300c1dbfa08fba692102dd82311a"}>"#;

/// Requires the next lines of a process.
#[track_caller]
fn expect(peer: &mut Peer, lines: &[&str]) {
    for line in lines {
        assert_eq!(peer.line(), *line);
    }
}

/// A folder with programs, and the port of their server.
struct Place {
    folder: TempDir,
    port: u16,
}

impl Place {
    fn new() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            port: free.local_addr().unwrap().port(),
        }
    }

    /// Starts the server; it listens when this returns.
    fn server(&self) -> Peer {
        let Some(program) = std::env::var_os("DUET_SYNDICATE_SERVER") else {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/syndicate_server.py");
            let mut server = Peer::start(Command::new("python3").arg(script).arg(self.port.to_string()));
            assert_eq!(server.line(), self.port.to_string(), "the server does not listen");
            return server;
        };
        let path = self.folder.path().join("server.pr");
        let text = format!(
            "let ?ds = dataspace\n<bind <ref {{ oid: \"syndicate\" key: #x\"\" }}> $ds #f>\n\
             <require-service <relay-listener <tcp \"127.0.0.1\" {}> $gatekeeper>>\n",
            self.port
        );
        fs::write(&path, text).unwrap();
        let server = Peer::start(Command::new(program).arg("-c").arg(path).stderr(Stdio::null()));
        while !self.is_listened_to() {
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Whether somebody listens at the port. A connection to a free port of the range from which
    /// the system takes the ports of clients can become a connection to itself; that is nobody.
    fn is_listened_to(&self) -> bool {
        let stream = TcpStream::connect(("127.0.0.1", self.port));
        stream.is_ok_and(|stream| stream.local_addr().unwrap() != stream.peer_addr().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        let (port, manifest) = (self.port, "((program \"main.scm\") (tools syndicate/*) (secrets HUB)");
        fs::write(
            folder.join("manifest.scm"),
            format!("{manifest} (hosts \"127.0.0.1:{port}\"))"),
        )
        .unwrap();
        fs::write(folder.join("main.scm"), text.replace("PORT", &port.to_string())).unwrap();
    }

    /// Starts a run that talks to another one.
    fn talk(&self, name: &str, other: &str) -> Peer {
        let text = TALK.replace("OTHER", other).replace("ME", name);
        self.write(name, &text.replace("SECRET", "\"{{secret:HUB}}\""));
        self.duet(&["run", name, "--journal", &format!("{name}.sqlite")])
    }

    fn duet(&self, words: &[&str]) -> Peer {
        Peer::start(
            Command::new(env!("CARGO_BIN_EXE_duet"))
                .args(words)
                .env("HUB", REFERENCE)
                .current_dir(self.folder.path()),
        )
    }

    #[track_caller]
    fn check_replay(&self, name: &str) {
        let journal = format!("{name}.sqlite");
        let mut replay = self.duet(&["replay", name, "--check", "--journal", &journal]);
        assert!(replay.process.wait().unwrap().success());
        let stored = fs::read(self.folder.path().join(journal)).unwrap();
        assert!(
            !stored.windows(16).any(|part| part == b"69ca300c1dbfa08f"),
            "the journal has the sturdyref"
        );
    }
}

fn has_server() -> bool {
    let is_given = std::env::var_os("DUET_SYNDICATE_SERVER").is_some();
    let found = is_given || Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("THERE IS NO python3: connections to servers of Syndicate's protocol were not tried");
    }
    found
}

const ADAS: &str = "{of ada values (1 -2.5 \"three\" #u8(4) #{5 6})}";
const BOBS: &str = "{of bob values (1 -2.5 \"three\" #u8(4) #{5 6})}";

#[test]
fn two_runs_meet_and_one_is_killed_resumed_and_replayed() {
    if !has_server() {
        return;
    }
    let place = Place::new();
    let _server = place.server();
    let mut ada = place.talk("ada", "bob");
    expect(&mut ada, &["(joined)"]);
    let mut bob = place.talk("bob", "ada");
    expect(&mut bob, &["(joined)"]);
    expect(&mut ada, &[&format!("(bob says {BOBS})")]);
    expect(
        &mut bob,
        &[&format!("(ada says {ADAS})"), &format!("(ada greets {BOBS})")],
    );
    expect(&mut ada, &[&format!("(bob greets {ADAS})")]);

    drop(bob);
    expect(&mut ada, &[&format!("(bob said {BOBS})")]);
    let mut bob = place.duet(&["resume", "bob", "--journal", "bob.sqlite"]);
    expect(&mut ada, &[&format!("(bob says {BOBS})")]);
    expect(
        &mut bob,
        &[
            "(left)",
            &format!("(ada said {ADAS})"),
            "(joined)",
            &format!("(ada says {ADAS})"),
        ],
    );

    drop((ada, bob));
    place.check_replay("ada");
    place.check_replay("bob");
}

#[test]
fn a_server_that_ends_takes_its_facts_along_and_one_that_comes_back_brings_them() {
    if !has_server() {
        return;
    }
    let place = Place::new();
    let server = place.server();
    let (mut ada, mut bob) = (place.talk("ada", "bob"), place.talk("bob", "ada"));
    let mut lines: Vec<String> = (0..3).map(|_| ada.line()).collect();
    lines.sort();
    drop(server);
    let mut lost = [ada.line(), ada.line()];
    lost.sort();
    assert_eq!(lost, [format!("(bob said {BOBS})"), "(left)".to_owned()]);
    let _server = place.server();
    assert_eq!(ada.line(), "(joined)");
    while ada.line() != format!("(bob says {BOBS})") {}
    while bob.line() != "(left)" {}
}

#[test]
fn a_sturdyref_that_the_gatekeeper_refuses_is_told() {
    if !has_server() {
        return;
    }
    let place = Place::new();
    let _server = place.server();
    let program = "(import (duet base) (duet dataspace))
        (write (guard (failure (#t (condition-kind failure)))
          (call-tool 'hub \"syndicate/connect\"
            (dictionary 'host \"127.0.0.1\" 'port PORT 'reference
              \"<ref {oid: \\\"syndicate\\\" sig: #x\\\"00ca300c1dbfa08fba692102dd82311a\\\"}>\"))))";
    place.write("stranger", program);
    let mut stranger = place.duet(&["run", "stranger"]);
    assert_eq!(stranger.line(), "denied");
}

/// A server that says what a test wants it to say, in text.
struct Script {
    socket: TcpStream,
    decoder: Decoder,
    /// Events that have come and that nobody has looked at, oldest first.
    events: Vec<IOValue>,
}

impl Script {
    /// Takes a connection, and accepts its sturdyref for the object 7.
    fn accept(listener: &TcpListener) -> Self {
        let (socket, _) = listener.accept().unwrap();
        let decoder = Decoder::new(PackedLimits::default());
        let events = Vec::new();
        let mut script = Self {
            socket,
            decoder,
            events,
        };
        let reference = REFERENCE;
        script.expect(&format!("[0 <A <resolve {reference} #:[0 0]> 1>]"));
        script.say("[[0 <A <ok #:[0 7]> 1>]]");
        script
    }

    fn say(&mut self, packet: &str) {
        self.socket.write_all(packet.as_bytes()).unwrap();
    }

    #[track_caller]
    fn expect(&mut self, event: &str) {
        while self.events.is_empty() {
            while let Some(packet) = self.decoder.next().unwrap() {
                assert_eq!(self.decoder.encoding(), Some(Encoding::Packed));
                self.events.extend(packet.iter().map(IOValue::from));
            }
            if self.events.is_empty() {
                let mut bytes = [0; 4096];
                let length = self.socket.read(&mut bytes).unwrap();
                assert_ne!(length, 0, "the run ended the connection before {event}");
                self.decoder.add(&bytes[..length]);
            }
        }
        assert_eq!(self.events.remove(0), event.parse().unwrap());
    }
}

const OFFERS: &str = r#"(import (duet base) (duet dataspace) (duet syndicate))
(define (show . words) (write words) (newline))
(on-retract (syndicate/joined hub _) (show 'left))
(during (remote hub (offers $object))
  (show 'offered)
  (assert! (record 'back object))
  (remote-message! object '(take 1))
  (on-stop (lambda () (show 'withdrawn))))
(on-message (remote hub $message) (show message))
(join-syndicate! 'hub PORT "{{secret:HUB}}"
  :import (list (pattern (offers _)) (pattern (news _)))
  :export (list (pattern (back _))))
"#;

#[test]
fn references_of_a_server_name_its_objects_and_are_not_forged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Place {
        folder: tempfile::tempdir().unwrap(),
        port: listener.local_addr().unwrap().port(),
    };
    place.write("shop", OFFERS);
    let mut run = place.duet(&["run", "shop", "--journal", "shop.sqlite"]);
    let mut server = Script::accept(&listener);
    server.expect("[7 <A <Observe <bind <group <rec offers> {0: <_>}>> #:[0 1]> 2>]");
    server.expect("[7 <A <Observe <bind <group <rec news> {0: <_>}>> #:[0 2]> 3>]");
    server.say("[[1 <A [<offers #:[0 5]>] 9>]]");
    expect(&mut run, &["(offered)"]);
    server.expect("[7 <A <back #:[1 5]> 4>]");
    server.expect("[5 <M [take 1]>]");
    // A peer may wrap a reference into another one.
    server.say("[[1 <S #:#:[0 4]>] [2 <S #:[0 3]>]]");
    server.expect("[4 <M #t>]");
    server.expect("[3 <M #t>]");
    // Values that the program must not see, events for nobody, and one that it must.
    server.say("[[1 <A [<offers <remote/object \"x\" 5>>] 10>] [1 <A [<offers #:[1 1]>] 11>] [1 <A 1 12>]]");
    server.say("#f [[8 <R 77>] [0 <M []>]] [[2 <M [<news \"good\">]>]]");
    expect(&mut run, &["(#[news \"good\"])"]);
    server.say("[[1 <R 9>]]");
    expect(&mut run, &["(withdrawn)"]);
    server.expect("[7 <R 4>]");

    // What breaks the rules costs the connection, and the run comes back.
    server.say("[[1 <A 2>]]");
    expect(&mut run, &["(left)"]);
    let mut server = Script::accept(&listener);
    server.expect("[7 <A <Observe <bind <group <rec offers> {0: <_>}>> #:[0 1]> 2>]");
    drop(run);
    place.check_replay("shop");
}

#[test]
fn a_link_to_a_server_that_lets_it_in_and_ends_at_once_waits_longer_each_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Place {
        folder: tempfile::tempdir().unwrap(),
        port: listener.local_addr().unwrap().port(),
    };
    place.write("shop", OFFERS);
    let mut run = place.duet(&["run", "shop", "--journal", "shop.sqlite"]);
    for _ in 0..3 {
        drop(Script::accept(&listener));
        expect(&mut run, &["(left)"]);
    }
    drop(run);
    let log = Command::new(env!("CARGO_BIN_EXE_duet"))
        .args(["log", "shop", "--journal", "shop.sqlite"])
        .current_dir(place.folder.path())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&log.stdout);
    for wait in ["⇒ timer 1000 ms", "⇒ timer 2000 ms"] {
        assert_eq!(log.matches(wait).count(), 1, "{wait}: {log}");
    }
}
