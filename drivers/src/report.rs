//! What the driver threads send to the thread that runs turns.
//!
//! INVARIANT: each report about an effect carries the key of its effect, so that a report for
//! an effect of a rewound turn is not taken for another's.
//! It does not decide what becomes of a report; `world.rs` does.
//! Read next: `world.rs`.

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use crate::door::Request;
use crate::serve::host::Visit;

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
    /// The person wants the run to stop.
    Interrupt,
    /// Whoever waits for an input should look elsewhere.
    Wake,
    /// Another process asks for something.
    Asked(Request),
    /// A client of a server wants something.
    Visit(Visit),
}
