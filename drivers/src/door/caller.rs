//! The other side of a door: asks the process that owns a run for something.
//!
//! INVARIANT: a call ends: with an answer, or because the owner does not listen, does not react, or
//! goes before it has answered. A process that has heard a request may take as long as it needs.
//!
//! It does not know what is asked. Read next: the crate's `door.rs`.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use preserves::IOValue;

use super::Near;
use super::packet::{self, Answer, Packets};

/// How long a process may take to say that it has heard a request: a thread of its own says so.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug)]
pub enum CallError {
    /// Nobody listens: the process has ended, or has no door.
    Absent(io::Error),
    /// The process is there and does not react; it has been stopped, perhaps.
    Silent,
    /// The process went before it answered, so it is unknown whether it did what was asked.
    Gone,
    /// It refuses, or cannot do it.
    Refused(String),
}

/// Asks the process whose door is at `path` for something that concerns a run.
///
/// # Errors
/// [`CallError`].
pub fn ask(path: &Path, run: &str, what: &IOValue) -> Result<IOValue, CallError> {
    let near = Near::of(path).map_err(CallError::Absent)?;
    let mut stream = UnixStream::connect(&near.path).map_err(CallError::Absent)?;
    let sent = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .and_then(|()| stream.write_all(&packet::asking(run, what)));
    sent.map_err(|error| lost(&error))?;
    let mut packets = Packets::default();
    let mut buffer = [0; 4096];
    loop {
        let length = match stream.read(&mut buffer) {
            Ok(0) => return Err(CallError::Gone),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| lost(&error))?,
        };
        packets.add(&buffer[..length]);
        for answer in packets.answers().map_err(CallError::Refused)? {
            match answer {
                Answer::Heard => stream.set_read_timeout(None).map_err(|error| lost(&error))?,
                Answer::Done(value) => return Ok(value),
                Answer::Refused(why) => return Err(CallError::Refused(why)),
            }
        }
    }
}

fn lost(error: &io::Error) -> CallError {
    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
        CallError::Silent
    } else {
        CallError::Gone
    }
}
