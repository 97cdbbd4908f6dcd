//! Server-sent events: a stream of bytes, taken apart.
//!
//! INVARIANT: the events do not depend on how the bytes are cut into pieces.
//! It does not know what an event means; the protocols do.
//! Read next: `protocol.rs`.
//!
//! Source: WHATWG HTML, section 9.2, "Server-sent events".

use crate::tool::surrogate::unmarked;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type; empty if the stream names none.
    pub(super) name: String,
    /// Its lines of data, joined by line ends.
    pub(super) data: String,
}

/// The part of a stream whose events are not complete yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    /// Whether a line has ended, so that no mark may follow.
    has_begun: bool,
    /// Whether the last line ended with a carriage return, whose line feed may follow.
    is_after_return: bool,
    name: String,
    data: Option<String>,
}

impl Events {
    /// Takes the next bytes; returns the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for byte in bytes {
            let is_second_half = std::mem::take(&mut self.is_after_return) && *byte == b'\n';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => {
                    self.is_after_return = *byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => self.line.push(*byte),
            }
        }
        events
    }

    /// Takes a line; returns the event that an empty line ends.
    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = String::from_utf8_lossy(if is_first { unmarked(&line) } else { &line });
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments have an empty field; other fields serve browsers.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways_and_pieces_are_of_any_length() {
        let text = "\u{feff}data: none\n\n\u{feff}: a comment\n\ndata: one\r\n\r\nevent: two\rdata:2\rdata: and\r\r\
                    id: 7\n\ndata\n\ndata: cut";
        let whole = Events::default().push(text.as_bytes());
        let event = |name: &str, data: &str| Event {
            name: name.to_owned(),
            data: data.to_owned(),
        };
        assert_eq!(
            whole,
            [
                event("", "none"),
                event("", "one"),
                event("two", "2\nand"),
                event("", "")
            ]
        );
        for length in 1..9 {
            let mut events = Events::default();
            let pieces = text.as_bytes().chunks(length);
            assert_eq!(pieces.flat_map(|piece| events.push(piece)).collect::<Vec<_>>(), whole);
        }
    }
}
