//! Letters: how a command reaches a run whose owner it cannot speak to, or that sleeps until a
//! worker takes it up.
//!
//! INVARIANT: a letter is sent once, and its reply says what is durable. A letter that nobody has
//! answered in time stays in the inbox, and the sender learns it.
//! It does not know what the owner does with a letter. Read next: `owned_run/letters.rs`.

use std::time::Duration;

use duet_journal::owner::now_ms;
use duet_journal::{Letter, LetterId, PackedValue, RunId, Store};
use duet_runtime::model::codec::{Codec, record};
use preserves::{IOValue, ValueImpl};
use serde::{Deserialize, Serialize};

use crate::history::journal::{Journal, Place};
use crate::owner::doors;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::owner::work::member::Member;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};

/// How a command gives something to a run that another process executes, or will.
#[derive(Clone, Copy, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MailArguments {
    /// Puts it into the run's inbox for whoever executes the run next, in place of going on with
    /// the run here.
    #[arg(long)]
    inbox: bool,
    /// Does not wait until an owner has taken it from the inbox.
    #[arg(long)]
    no_wait: bool,
}

/// The branch that a request goes to.
pub(crate) struct Recipient<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) journal: &'a Journal,
    pub(crate) place: &'a Place,
}

/// What became of a request.
pub(crate) enum Delivery {
    /// No other process executes the run or will: the command acts itself.
    ToNobody,
    /// The owner has fulfilled it; its answer.
    Done(IOValue),
    /// It is in the inbox.
    Left,
}

/// The command that owns a worker's runs.
const WORKER: &str = "work";

/// How long a command waits for a reply, in milliseconds.
const WAIT_MAX_MS: u64 = 60_000;

/// The time between two looks for the reply.
const INTERVAL: Duration = Duration::from_millis(50);

/// The request that a letter has; `None` if it is of another version.
pub(crate) fn request_of(letter: &Letter) -> Option<OwnerRequest> {
    OwnerRequest::decode(&duet_journal::packed::read_value(&letter.body).ok()?).ok()
}

/// A reply as the inbox keeps it.
pub(crate) fn reply(outcome: Result<IOValue, String>) -> Vec<u8> {
    let value = match outcome {
        Ok(done) => record("done", vec![done]),
        Err(why) => record("refused", vec![why.encode()]),
    };
    PackedValue::from_value(&value).map_or_else(|_| Vec::new(), PackedValue::into_bytes)
}

impl Recipient<'_> {
    /// Whether another process executes the run, or will, so that a request is handed over.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn is_elsewhere(&self, how: MailArguments) -> Result<bool, CommandError> {
        let Self { store, place, .. } = self;
        Ok(how.inbox || doors::other_owner(&**store, place)?.is_some() || Member::takes(&**store, &place.run)?)
    }

    /// Hands a request to whoever executes the run: through the door of a process of this host,
    /// else through the run's inbox. A run that nobody executes is the command's own, unless a
    /// worker takes such runs.
    ///
    /// # Errors
    /// If the owner refuses, or does not answer in time.
    pub(crate) fn hand_over(
        &mut self,
        owner_request: &OwnerRequest,
        how: MailArguments,
    ) -> Result<Delivery, CommandError> {
        let Self { store, journal, place } = self;
        let owner = doors::other_owner(&**store, place)?;
        let is_near = |owner: &duet_journal::Owner| doors::is_near(journal, owner, place);
        if !how.inbox && owner.as_ref().is_some_and(is_near) {
            let done = doors::hand_over(&**store, journal, place, &owner_request.encode())?;
            return Ok(done.map_or(Delivery::ToNobody, Delivery::Done));
        }
        if owner.is_none() && !how.inbox && !Member::takes(&**store, &place.run)? {
            return Ok(Delivery::ToNobody);
        }
        let letter = Letter {
            id: LetterId::fresh(),
            branch: place.branch.clone(),
            sent_ms: store.now_ms()?,
            body: PackedValue::from_value(&owner_request.encode())
                .map_err(|error| CommandError::caused("this is too large for a letter", &error))?
                .into_bytes(),
        };
        store.put(&place.run, &letter)?;
        if how.no_wait {
            return Ok(Delivery::Left);
        }
        await_reply(&mut **store, place, letter.id).map(Delivery::Done)
    }

    /// Asks the process that owns the run for something, at its door or by a letter; `None` if no
    /// other process owns it.
    ///
    /// # Errors
    /// As [`hand_over`](Self::hand_over).
    pub(crate) fn ask_owner(&mut self, owner_request: &OwnerRequest) -> Result<Option<IOValue>, CommandError> {
        let owner = doors::other_owner(&*self.store, self.place)?;
        if owner.is_none_or(|owner| doors::is_near(self.journal, &owner, self.place)) {
            return doors::hand_over(&*self.store, self.journal, self.place, &owner_request.encode());
        }
        let how = MailArguments {
            inbox: true,
            ..MailArguments::default()
        };
        match self.hand_over(owner_request, how)? {
            Delivery::Done(done) => Ok(Some(done)),
            Delivery::ToNobody | Delivery::Left => Ok(None),
        }
    }

    /// Has the process that owns the run let go of it, so that this one can act on it; returns the
    /// turn at which it stopped, or `None` if no other process owns the run.
    ///
    /// # Errors
    /// As [`hand_over`](Self::hand_over).
    pub(crate) fn make_let_go(&mut self) -> Result<Option<u64>, CommandError> {
        let Some(done) = self.ask_owner(&OwnerRequest::Stop {})? else {
            return Ok(None);
        };
        doors::await_end(&*self.store, self.place)?;
        doors::turn_of_stop(&done).map(Some)
    }

    /// Has a worker let go of the run; a process that a person has begun keeps it. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// As [`hand_over`](Self::hand_over).
    pub(crate) fn make_worker_let_go(&mut self) -> Result<bool, CommandError> {
        let owner = doors::other_owner(&*self.store, self.place)?;
        if owner.is_none_or(|owner| owner.command != WORKER) {
            return Ok(false);
        }
        Ok(self.make_let_go()?.is_some())
    }

    /// Stops the run by a letter to its owner, and waits until that has given the run up; returns
    /// the turn at which it stopped.
    ///
    /// # Errors
    /// As [`hand_over`](Self::hand_over).
    pub(crate) fn stop(&mut self) -> Result<u64, CommandError> {
        let how = MailArguments {
            inbox: true,
            ..MailArguments::default()
        };
        let Delivery::Done(done) = self.hand_over(&OwnerRequest::Stop {}, how)? else {
            return Ok(self.place.head.sequence.number());
        };
        doors::await_end(&*self.store, self.place)?;
        doors::turn_of_stop(&done)
    }
}

fn await_reply(store: &mut dyn Store, place: &Place, letter: LetterId) -> Result<IOValue, CommandError> {
    let begun = now_ms();
    loop {
        if let Some(reply) = store.reply(&place.run, letter)? {
            store.forget_reply(&place.run, letter)?;
            return read_reply(&reply);
        }
        if now_ms().saturating_sub(begun) >= WAIT_MAX_MS {
            return Err(unanswered(&place.run, &place.name()));
        }
        #[expect(clippy::disallowed_methods, reason = "a person waits; nothing enters a record")]
        std::thread::sleep(INTERVAL);
    }
}

/// What an owner replied to a letter.
pub(crate) enum Replied {
    /// It has done this.
    Done(IOValue),
    /// It has refused it, with the reason.
    Refused(String),
}

/// Reads a reply as [`reply`] makes it; `None` if it is something else.
pub(crate) fn replied(value: &IOValue) -> Option<Replied> {
    if value.is_simple_record("done", Some(1)) {
        Some(Replied::Done(value.index(0).into()))
    } else if value.is_simple_record("refused", Some(1)) {
        String::decode(&value.index(0).into()).ok().map(Replied::Refused)
    } else {
        None
    }
}

fn read_reply(bytes: &[u8]) -> Result<IOValue, CommandError> {
    let value = duet_journal::packed::read_value(bytes).ok();
    match value.as_ref().and_then(replied) {
        Some(Replied::Done(done)) => Ok(done),
        Some(Replied::Refused(why)) => Err(CommandError::problem(why)),
        None => Err(CommandError::problem("the owner of the run answered something else")),
    }
}

fn unanswered(run: &RunId, name: &str) -> CommandError {
    CommandError::problem(format!(
        "nobody has taken it from the inbox of {run} in {} s; it stays there",
        WAIT_MAX_MS / 1000
    ))
    .with_code(ExitCode::WAITING)
    .advise(say![
        Way::of("work").with("--status"),
        " lists the workers; ",
        Way::at("resume", name),
        " takes the run and what is in its inbox",
    ])
}
