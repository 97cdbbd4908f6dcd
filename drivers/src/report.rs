//! What the driver threads send to the thread that runs turns.
//!
//! INVARIANT: each report about an effect carries the key of its effect, so that a report for
//! an effect of a rewound turn is not taken for another's. Each carries the moment at which it
//! came, so that a timer which had run out by then comes before it, and no other.
//! It does not decide what becomes of a report; `world.rs` does.
//! Read next: `world.rs`.

use std::sync::mpsc::{Receiver, Sender, channel};

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use crate::client_request::ClientRequest;
use crate::clock::WorldClock;
use crate::request::Request;
use crate::timers::Moment;

/// Sends reports to the thread that runs turns; clones send to the same.
#[derive(Clone)]
pub(crate) struct Reporter {
    sender: Sender<Arrived>,
    clock: WorldClock,
}

/// A report with the moment at which it came.
pub(crate) struct Arrived {
    pub(crate) at: Moment,
    pub(crate) report: Report,
}

/// Nobody receives reports any more.
#[derive(Debug)]
pub(crate) struct Gone;

impl Reporter {
    pub(crate) fn new(clock: WorldClock) -> (Self, Receiver<Arrived>) {
        let (sender, reports) = channel();
        (Self { sender, clock }, reports)
    }

    pub(crate) fn send(&self, report: Report) -> Result<(), Gone> {
        let at = Moment::now(&self.clock);
        self.sender.send(Arrived { at, report }).map_err(|_| Gone)
    }
}

/// A message from a driver thread.
pub(crate) enum Report {
    /// The effect has its answer.
    Answered {
        key: String,
        request: RequestId,
        input: Input,
    },
    /// An input that precedes the answer: the undo note of a call, or the time at which a timer
    /// will expire.
    Interim {
        key: String,
        request: RequestId,
        input: Input,
    },
    /// The effect gets no answer, because the person has left the question open (end of file).
    Unanswered { key: String, request: RequestId },
    /// Something that answers no effect.
    Unasked(Input),
    /// The person wants the run to stop.
    Interrupt,
    /// Whoever waits for an input should look elsewhere.
    Wake,
    /// Another process asks for something.
    Asked(Request),
    /// A client of a server wants something.
    ClientRequest(ClientRequest),
}
