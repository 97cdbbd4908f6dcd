//! The way to a run that `duet serve` hosts, through its socket, with a sturdy reference.
//!
//! The reference gives the rights; nothing of the run is in this process's journal.
//! INVARIANT: the reference is in no message and no command line.
//! It does not know what is said. Read next: `guest.rs`.

use std::time::Duration;

use duet_drivers::client::Client;
use duet_drivers::serve::Address;
use duet_runtime::driver::ToolFailure;
use duet_runtime::model::codec::{Codec, record};
use preserves::{IOValue, Map};

use super::connection::{News, RunConnection};
use super::event::symbol;
use crate::history::journal::Journal;
use crate::text::error::CommandError;

/// How long one look waits for something to come.
const INTERVAL: Duration = Duration::from_millis(50);

/// The number of looks in which a session begins after the first request, 10 s in all.
const LOOKS_MAX: u32 = 200;

/// The maximum number of looks for the end of what the session does with the last messages.
const LOOKS_SETTLED_MAX: u32 = 10;

/// A run that a server hosts.
pub(crate) struct Remote {
    client: Client,
    address: Address,
    reference: String,
    /// The branch of the run, if it is not the one that the reference names.
    branch: Option<String>,
    /// The number of looks without news since the first request; `None` before it, and once the
    /// session is heard of. A reference that does not grant the session gets no answer at all.
    looks: Option<u32>,
    /// Whether the session has said something, if only that it is there.
    is_heard: bool,
    /// Why the connection has ended, if the server or the system says so.
    failure: Option<String>,
}

impl Remote {
    /// Connects to a server.
    ///
    /// # Errors
    /// If nobody answers there, or the reference is refused.
    pub(crate) fn connect(address: &Address, reference: &str) -> Result<Self, CommandError> {
        let client = Client::enter(address, reference, |reference| reference).map_err(|failure| {
            match failure.kind.as_str() {
                "denied" => told(&failure).advise("`duet grant RUN --session NAME` makes a reference that is accepted"),
                "bad-argument" => CommandError::usage("the file given with --reference holds no sturdy reference")
                    .advise("`duet grant RUN --session NAME >FILE` writes one"),
                _ => told(&failure).advise(format!("`duet serve RUN --listen {address}` serves a run there")),
            }
        })?;
        Ok(Self {
            client,
            address: address.clone(),
            reference: reference.to_owned(),
            branch: None,
            looks: None,
            is_heard: false,
            failure: None,
        })
    }

    /// Notes why the connection has ended, if it has.
    fn outcome<T>(&mut self, outcome: Result<T, ToolFailure>) -> Option<T> {
        outcome.map_err(|failure| self.failure = Some(failure.message)).ok()
    }

    /// Fails if the session has not been heard of for too long.
    fn require_answer(&self) -> Result<(), CommandError> {
        if self.looks.is_none_or(|looks| looks < LOOKS_MAX) {
            return Ok(());
        }
        let why = format!("the session does not begin at {}", self.address);
        Err(CommandError::problem(why)
            .because("the reference does not grant this session, or the program of the run lets no sessions begin")
            .advise("`--session NAME` names the session that `duet grant RUN --session NAME` has granted"))
    }
}

/// A reference to a branch, for the gatekeeper.
fn on(branch: Option<&str>, reference: IOValue) -> IOValue {
    match branch {
        Some(branch) => record("branch", vec![branch.to_owned().encode(), reference]),
        None => reference,
    }
}

fn told(failure: &ToolFailure) -> CommandError {
    CommandError::problem(failure.message.clone())
}

/// A pattern for records about a session; it leaves the fields with other keywords open.
fn about(label: &'static str, session: &str, keywords: &[&str]) -> IOValue {
    let literal = |value: IOValue| record("lit", vec![value]);
    let mut fields = vec![literal(symbol(":session")), literal(session.to_owned().encode())];
    for keyword in keywords {
        fields.extend([literal(symbol(keyword)), record("_", Vec::new())]);
    }
    let entries = fields.into_iter().enumerate();
    let entries: Map<IOValue, IOValue> = entries
        .map(|(index, field)| (IOValue::new(index as u64), field))
        .collect();
    let kind = record("rec", vec![symbol(label)]);
    record("group", vec![kind, IOValue::new(entries)])
}

impl RunConnection for Remote {
    fn shown(&self) -> String {
        let branch = self
            .branch
            .as_ref()
            .map(|branch| format!(" ({branch})"))
            .unwrap_or_default();
        format!("{}{branch}", self.address)
    }

    fn described(&self) -> Result<String, CommandError> {
        Ok(format!("at {}", self.address))
    }

    fn owner(&self) -> Result<String, CommandError> {
        Ok(format!("the server at {}", self.address))
    }

    fn journal(&self) -> Option<(&Journal, String)> {
        None
    }

    fn enter(&mut self, session: &str) -> Result<Vec<IOValue>, CommandError> {
        let mut open = || {
            self.client.observe(about("session/ready", session, &[]))?;
            self.client.observe(about("session/ended", session, &[":reason"]))?;
            let keywords = [":kind", ":payload", ":tag", ":number"];
            self.client.observe(about("session/event", session, &keywords))?;
            // The session stays for a while after the last of these facts has gone.
            let present = vec![symbol(":session"), session.to_owned().encode()];
            self.client.assert(record("session/present", present))?;
            // The matches come after the first answer, and before the second.
            let mut facts = self.client.sync()?;
            facts.extend(self.client.sync()?);
            Ok::<_, ToolFailure>(facts)
        };
        let facts = open().map_err(|failure| told(&failure))?;
        self.is_heard = !facts.is_empty();
        Ok(facts)
    }

    fn tell(&mut self, message: IOValue) -> Result<bool, CommandError> {
        if !self.is_heard {
            self.looks.get_or_insert(0);
        }
        let sent = self.client.message(message);
        Ok(self.outcome(sent).is_some())
    }

    fn approve(&mut self, _session: &str, question: &str, answer: IOValue) -> Result<(), CommandError> {
        let from = self.branch.as_deref();
        let lead = |reference| {
            record(
                "approve",
                vec![question.to_owned().encode(), answer, on(from, reference)],
            )
        };
        let client = Client::enter(&self.address, &self.reference, lead);
        client.map(drop).map_err(|failure| told(&failure))
    }

    fn settle(&mut self) {
        // The session does in turns of its own what it has to; the server then says no more. If the
        // connection has ended, the run has what it has.
        for _ in 0..LOOKS_SETTLED_MAX {
            if self.client.sync().is_err() || !matches!(self.client.is_quiet(INTERVAL), Ok(false)) {
                return;
            }
        }
    }

    fn is_heard(&self) -> bool {
        self.is_heard
    }

    fn go_to(&mut self, branch: &str, is_new: bool) -> Result<Vec<String>, CommandError> {
        let (label, from) = if is_new {
            ("fork", self.branch.as_deref())
        } else {
            ("branch", None)
        };
        let lead = |reference| record(label, vec![branch.to_owned().encode(), on(from, reference)]);
        let client = Client::enter(&self.address, &self.reference, lead);
        self.client = client.map_err(|failure| told(&failure))?;
        self.branch = Some(branch.to_owned());
        (self.looks, self.is_heard) = (None, false);
        Ok(Vec::new())
    }

    fn names(&self, _session: &str) -> Vec<(String, bool)> {
        Vec::new()
    }

    fn news(&mut self) -> Result<Option<Vec<News>>, CommandError> {
        let received = self.client.next(INTERVAL);
        let values = self.outcome(received).flatten();
        if values.as_ref().is_some_and(|values| !values.is_empty()) {
            (self.looks, self.is_heard) = (None, true);
        }
        self.looks = self.looks.map(|looks| looks + 1);
        self.require_answer()?;
        Ok(values.map(|values| values.into_iter().map(News::Fact).collect()))
    }

    fn alone(&self) -> String {
        let why = self.failure.as_deref().unwrap_or("the server has ended the connection");
        format!("{why}; the same command enters the session at {} again", self.address)
    }
}
