//! Requests over HTTP that a worker took in: their names, and the way back of their replies.
//!
//! The name of a request is that of the letter by which it came, with the moment until which its
//! client waits. The reply to the letter, which says that the run has heard it, makes room for the
//! reply to the request.
//! INVARIANT: a reply is given to nobody who has ceased to wait, as far as this process knows.
//! It does not take requests in; `owner/work.rs` does.

use std::fmt;

use duet_drivers::tool::webhook::Replies;
use duet_journal::{LetterId, PackedValue, RunId, Taken};
use duet_runtime::model::codec::record;
use preserves::{IOValue, ValueImpl};

use crate::history::journal::Journal;

/// The name of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestName {
    pub(crate) letter: LetterId,
    /// The moment until which the client waits, in milliseconds since 1970.
    until_ms: u64,
}

impl RequestName {
    /// Makes a name for a request whose client waits until a moment, in milliseconds since 1970.
    pub(crate) fn fresh(until_ms: u64) -> Self {
        Self {
            letter: LetterId::fresh(),
            until_ms,
        }
    }

    /// Reads a name; `None` if it is another text.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (letter, until_ms) = text.split_once('-')?;
        if letter.len() != 32 || !letter.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let bytes = u128::from_str_radix(letter, 16).ok()?.to_be_bytes();
        Some(Self {
            letter: LetterId(bytes),
            until_ms: until_ms.parse().ok()?,
        })
    }
}

impl fmt::Display for RequestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.letter, self.until_ms)
    }
}

/// The label of a reply in the place of that to its letter.
const REPLIED: &str = "replied";

/// Reads the reply to a request, if it is one.
pub(crate) fn read_reply(value: &IOValue) -> Option<IOValue> {
    value.is_simple_record(REPLIED, Some(1)).then(|| value.index(0).into())
}

/// The way back of the replies of a run.
pub(crate) struct WayBack {
    journal: Journal,
    run: RunId,
}

impl WayBack {
    pub(crate) fn of(journal: &Journal, run: RunId) -> Self {
        Self {
            journal: journal.clone(),
            run,
        }
    }
}

impl Replies for WayBack {
    fn give(&self, request: &str, reply: &IOValue) -> Result<bool, String> {
        let Some(name) = RequestName::read(request).filter(|name| name.until_ms >= self.journal.now_ms()) else {
            return Ok(false);
        };
        let reply = PackedValue::from_value(&record(REPLIED, vec![reply.clone()]));
        let taken = Taken {
            letter: name.letter,
            reply: reply.map_err(|error| error.to_string())?.into_bytes(),
        };
        let store = self.journal.open_again();
        let replaced = store.and_then(|mut store| store.replace_reply(&self.run, &taken));
        replaced.map_err(|error| format!("the journal does not take the reply: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_as_what_was_written() {
        let name = RequestName::fresh(1_000);
        assert_eq!(RequestName::read(&name.to_string()), Some(name));
        for text in [
            "",
            "-1",
            "00-1",
            "0123",
            &"0".repeat(32),
            &format!("{}-x", "0".repeat(32)),
        ] {
            assert_eq!(RequestName::read(text), None, "{text}");
        }
    }
}
