//! Packets: packed Preserves values one after the other, of which this end understands assertions
//! of requests and of answers.
//!
//! INVARIANT: a packet is refused as soon as its first bytes show that it is longer or deeper than
//! [`LIMITS`], or none.
//!
//! It does not open sockets, nor cut the stream; the framing of `duet-packed` does. Read
//! next: the crate's `door.rs`.

use duet_runtime::driver::packed::{PackedLimits, PackedWriter};
use preserves::{IOValue, ValueImpl};

use crate::framing::{Decoder, Encoding};

/// The limits of a packet.
const LIMITS: PackedLimits = PackedLimits {
    depth_max: 200,
    bytes_max: 4 << 20,
};

/// A request as it came.
#[derive(Debug, PartialEq)]
pub(super) struct Incoming {
    pub(super) run: String,
    pub(super) what: IOValue,
    /// The client's name for its assertion, which the answer carries.
    pub(super) handle: u64,
}

/// What the owner of a run says.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// It has the request.
    Heard,
    /// It has done it.
    Done(IOValue),
    /// It does not do it.
    Refused(String),
}

/// The bytes of packets that have come.
pub(super) struct Packets(Decoder);

impl Default for Packets {
    fn default() -> Self {
        Self(Decoder::new(LIMITS))
    }
}

impl Packets {
    /// Adds bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.add(bytes);
    }

    /// Whether a part of a packet has come.
    pub(super) fn is_amid(&self) -> bool {
        self.0.is_amid()
    }

    /// Takes the requests that are complete.
    ///
    /// # Errors
    /// The fault of a packet, for whoever sent it.
    pub(super) fn take(&mut self) -> Result<Vec<Incoming>, String> {
        let mut requests = Vec::new();
        while let Some(packet) = self.next()? {
            for (target, event) in events(&packet)? {
                if target != 0 {
                    return Err(format!("this process has no object {target} for you, only 0"));
                }
                requests.extend(request(&event)?);
            }
        }
        Ok(requests)
    }

    /// Takes the answers that are complete.
    ///
    /// # Errors
    /// The fault of a packet.
    pub(super) fn answers(&mut self) -> Result<Vec<Answer>, String> {
        let mut answers = Vec::new();
        while let Some(packet) = self.next()? {
            if packet.is_simple_record("error", Some(2)) {
                answers.push(Answer::Refused(text(&packet.index(0).into())));
                continue;
            }
            for (_, event) in events(&packet)? {
                let said: IOValue = event.index(0).into();
                if said.is_simple_record("ok", Some(1)) {
                    answers.push(Answer::Done(said.index(0).into()));
                } else if said.is_simple_record("error", Some(2)) {
                    answers.push(Answer::Refused(text(&said.index(0).into())));
                } else {
                    answers.push(Answer::Heard);
                }
            }
        }
        Ok(answers)
    }

    fn next(&mut self) -> Result<Option<IOValue>, String> {
        if self.0.encoding() == Some(Encoding::Text) {
            return Err("a packet is no packed value; packets in text are not understood here".to_owned());
        }
        self.0.next().map_err(|error| format!("a packet is malformed: {error}"))
    }
}

/// The events of a turn, each with the object that it is for.
fn events(packet: &IOValue) -> Result<Vec<(u64, IOValue)>, String> {
    let malformed = || "a packet is no turn: [[OBJECT EVENT] …]".to_owned();
    if !packet.is_sequence() {
        return Err(malformed());
    }
    let mut events = Vec::new();
    for pair in packet.iter().map(IOValue::from) {
        if !pair.is_sequence() || pair.len() != 2 {
            return Err(malformed());
        }
        let target: IOValue = pair.index(0).into();
        let event: IOValue = pair.index(1).into();
        let target = target.as_u64().and_then(Result::ok).ok_or_else(malformed)?;
        if !event.is_record() || event.len() == 0 {
            return Err(malformed());
        }
        events.push((target, event));
    }
    Ok(events)
}

/// Reads the assertion of a request; retractions and other events mean nothing here.
fn request(event: &IOValue) -> Result<Option<Incoming>, String> {
    if !event.is_simple_record("A", Some(2)) {
        return Ok(None);
    }
    let (asserted, handle): (IOValue, IOValue) = (event.index(0).into(), event.index(1).into());
    let handle = handle.as_u64().and_then(Result::ok);
    let run = asserted
        .is_simple_record("request", Some(3))
        .then(|| IOValue::from(asserted.index(0)))
        .and_then(|run| run.as_string().map(|run| run.into_owned()));
    match (run, handle) {
        (Some(run), Some(handle)) => Ok(Some(Incoming {
            run,
            what: asserted.index(1).into(),
            handle,
        })),
        _ => Err("the asserted value is no request: <request RUN WHAT #:[0 1]>".to_owned()),
    }
}

fn text(value: &IOValue) -> String {
    value
        .as_string()
        .map_or_else(|| format!("{value:?}"), |text| text.into_owned())
}

/// The client's object that hears the answer.
const LISTENER: u64 = 1;

/// A packet that asserts a request.
pub(super) fn asking(run: &str, what: &IOValue) -> Vec<u8> {
    packet(0, |out| {
        out.record("A", |out| {
            out.record("request", |out| {
                out.string(run);
                out.value(what);
                out.embedded(|out| {
                    out.sequence(|out| {
                        out.unsigned(0);
                        out.unsigned(LISTENER);
                    });
                });
            });
            out.unsigned(1);
        });
    })
}

/// A packet that says that a request has come.
pub(super) fn heard() -> Vec<u8> {
    packet(LISTENER, |out| out.record("M", |out| out.record("heard", |_| ())))
}

/// A packet that asserts an answer.
pub(super) fn answer(handle: u64, answer: Result<IOValue, String>) -> Vec<u8> {
    packet(LISTENER, |out| {
        out.record("A", |out| {
            match &answer {
                Ok(value) => out.record("ok", |out| out.value(value)),
                Err(why) => out.record("error", |out| {
                    out.string(why);
                    out.boolean(false);
                }),
            }
            out.unsigned(handle);
        });
    })
}

/// A packet that says what is wrong with the client's.
pub(super) fn refusal(why: &str) -> Vec<u8> {
    let mut out = PackedWriter::default();
    out.record("error", |out| {
        out.string(why);
        out.boolean(false);
    });
    out.finish().unwrap_or_default()
}

/// A turn of one event.
fn packet(target: u64, event: impl FnOnce(&mut PackedWriter)) -> Vec<u8> {
    let mut out = PackedWriter::default();
    out.sequence(|out| {
        out.sequence(|out| {
            out.unsigned(target);
            event(out);
        });
    });
    out.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> IOValue {
        text.parse().expect("a value")
    }

    #[test]
    fn a_request_arrives_however_it_is_cut() {
        let what = value("<answer #f \"Ada\" [1 2.5 {a: #x\"00\"} #:[0 7]]>");
        let sent = [asking("r", &what), asking("s/side", &value("<stop>"))].concat();
        for size in [1, 2, 7, sent.len()] {
            let (mut packets, mut found) = (Packets::default(), Vec::new());
            for piece in sent.chunks(size) {
                packets.add(piece);
                found.extend(packets.take().expect("they are sound"));
            }
            assert!(!packets.is_amid());
            let names: Vec<&str> = found.iter().map(|incoming| incoming.run.as_str()).collect();
            assert_eq!((names, &found[0].what), (vec!["r", "s/side"], &what), "{size}");
        }
    }

    #[test]
    fn an_answer_is_what_was_answered() {
        let mut packets = Packets::default();
        packets.add(&heard());
        packets.add(&answer(1, Ok(value("<turn 3>"))));
        packets.add(&answer(1, Err("no".to_owned())));
        packets.add(&refusal("never"));
        let expected = vec![
            Answer::Heard,
            Answer::Done(value("<turn 3>")),
            Answer::Refused("no".to_owned()),
            Answer::Refused("never".to_owned()),
        ];
        assert_eq!(packets.answers(), Ok(expected));
    }

    #[track_caller]
    fn check_refused(bytes: &[u8], expected: &str) {
        let mut packets = Packets::default();
        packets.add(bytes);
        let why = packets.take().expect_err("it is refused");
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn bytes_that_are_no_packets_are_refused_early() {
        check_refused(b"GET / HTTP/1.1\r\n", "packets in text are not understood here");
        check_refused(&[0x99], "the byte 0x99");
        check_refused(&[0xb5; 300], "nested more than 200 levels deep");
        // A string of 2 GiB, of which nothing has come yet.
        check_refused(&[0xb1, 0x80, 0x80, 0x80, 0x80, 0x08], "more than 4194304 bytes");
        check_refused(&[0xb5, 0xb5, 0xb0, 0x01, 0x07, 0x84, 0x84], "is no turn");
        check_refused(&[0x80], "is no turn");
        check_refused(
            &packet(3, |out| out.record("M", |out| out.boolean(true))),
            "no object 3",
        );
        let other = packet(0, |out| {
            out.record("A", |out| {
                out.string("hello");
                out.unsigned(1);
            });
        });
        check_refused(&other, "is no request");
    }

    #[test]
    fn half_a_packet_is_waited_for() {
        let sent = asking("r", &value("<stop>"));
        let mut packets = Packets::default();
        packets.add(&sent[..sent.len() - 1]);
        assert_eq!(packets.take(), Ok(Vec::new()));
        assert!(packets.is_amid());
    }
}
