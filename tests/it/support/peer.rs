//! A client of `duet serve` that writes and reads packets, and a server to reach.
//!
//! INVARIANT: the client knows only the protocol; a test that waits for something fails after some
//! seconds. Nothing outlives its test.
//! It judges nothing. Read next: `../serve.rs`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use duet_drivers::framing::{Decoder, Encoding};
use duet_runtime::driver::packed::PackedLimits;
use preserves::{IOValue, ValueImpl};

use super::desk::Desk;

/// How long a test waits for what has to happen.
const PATIENCE: Duration = Duration::from_secs(60);

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection.
pub(crate) struct Peer {
    stream: Box<dyn Stream>,
    encoding: Encoding,
    decoder: Decoder,
    events: VecDeque<String>,
}

impl Peer {
    /// Connects to the socket of a desk's server.
    pub(crate) fn at(desk: &Desk, encoding: Encoding) -> Self {
        Self::on(&desk.path(".duet/journal.sqlite.sock"), encoding)
    }

    /// Connects to a socket.
    pub(crate) fn at_path(path: &Path) -> Self {
        Self::on(path, Encoding::Packed)
    }

    fn on(path: &Path, encoding: Encoding) -> Self {
        let stream = UnixStream::connect(path).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        Self::of(Box::new(stream), encoding)
    }

    /// Connects to a port of this machine.
    pub(crate) fn at_port(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        Self::of(Box::new(stream), Encoding::Packed)
    }

    fn of(stream: Box<dyn Stream>, encoding: Encoding) -> Self {
        let limits = PackedLimits {
            depth_max: 400,
            bytes_max: 64 << 20,
        };
        Self {
            stream,
            encoding,
            decoder: Decoder::new(limits),
            events: VecDeque::new(),
        }
    }

    /// Connects, and comes in with a reference: the run is object 1.
    pub(crate) fn enter(desk: &Desk, encoding: Encoding, reference: &str) -> Self {
        let mut peer = Self::at(desk, encoding);
        peer.resolve(reference);
        peer
    }

    pub(crate) fn resolve(&mut self, reference: &str) {
        self.send(&format!("[[0 <A <resolve {reference} #:[0 0]> 1>]]"));
        self.expect("0 <A <accepted #:[0, 1]> 1>");
    }

    /// Sends a packet.
    pub(crate) fn send(&mut self, packet: &str) {
        let packet: IOValue = packet.parse().expect("well formed");
        let bytes = self.encoding.write(&packet).expect("small");
        self.send_bytes(&bytes);
    }

    /// Sends bytes; the server may have closed the connection.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let _closed = self.stream.write_all(bytes);
    }

    /// Waits for the next event, as its object and the event, or for an error; `None` if the server
    /// has closed the connection.
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if let Some(packet) = self.decoder.next().expect("the server writes well") {
                assert_eq!(self.decoder.encoding(), Some(self.encoding), "it answers in kind");
                if packet.is_sequence() {
                    let pairs = packet.iter().map(IOValue::from);
                    let shown = |pair: IOValue| {
                        let part = |index: usize| IOValue::from(pair.index(index));
                        format!("{:?} {:?}", part(0), part(1))
                    };
                    self.events.extend(pairs.map(shown));
                } else {
                    self.events.push_back(format!("{packet:?}"));
                }
                continue;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => self.decoder.add(&buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing comes: {error}"),
            }
        }
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, event: &str) {
        assert_eq!(self.next().as_deref(), Some(event));
    }

    /// Waits for an error that says something, after which the connection is closed.
    #[track_caller]
    pub(crate) fn expect_error(&mut self, part: &str) {
        let error = self.next().expect("the server says why");
        assert!(error.starts_with("<error ") && error.contains(part), "{error}");
        assert_eq!(self.next(), None, "the connection is closed");
    }

    /// Waits until the run has handled everything before.
    #[track_caller]
    pub(crate) fn sync(&mut self) {
        self.send("[[1 <S #:[0 99]>]]");
        self.expect("99 <M #t>");
    }
}

/// A server in the background, which ends with its test.
pub(crate) struct Served {
    pub(crate) child: Child,
    output: BufReader<std::process::ChildStdout>,
    errors: BufReader<std::process::ChildStderr>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _result = self.child.wait();
    }
}

impl Served {
    /// Starts a server, and waits until a program has printed that it is ready.
    pub(crate) fn start(desk: &Desk, line: &str) -> Self {
        let mut served = Self::spawn(desk.spawn(line));
        served.line("ready");
        served
    }

    pub(crate) fn spawn(mut child: Child) -> Self {
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, output, errors }
    }

    /// Waits until a program prints a line.
    #[track_caller]
    pub(crate) fn line(&mut self, expected: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        if line.trim_end() != expected {
            let _ended = self.child.kill();
            let mut said = String::new();
            let _closed = self.errors.read_to_string(&mut said);
            panic!("it printed {line:?}, and said: {said}");
        }
    }

    /// Waits until it says a line to people that has this part.
    pub(crate) fn said(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.errors.read_line(&mut line).expect("text") > 0,
                "it never says {part}"
            );
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Sends it a signal and waits until it has ended.
    pub(crate) fn end(&mut self, signal: &str) -> Option<i32> {
        let number = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &number]).status();
        assert!(sent.expect("kill").success());
        self.child.wait().expect("it ends").code()
    }
}

/// Makes a reference to a run.
#[track_caller]
pub(crate) fn grant(desk: &Desk, line: &str) -> String {
    let said = desk.duet(&format!("grant {line}"));
    assert_eq!(said.code, 0, "{}", said.errors);
    said.output.trim_end().to_owned()
}
