//! A request of another process.
//!
//! INVARIANT: a request gets one answer: that of whoever takes it, or a refusal if nobody gives
//! one.
//! It does not know how requests and answers travel; `door.rs` does. Read next: `door.rs`.

use preserves::IOValue;

/// Sends the answer to a request.
type Answering = Box<dyn FnOnce(Result<IOValue, String>) + Send>;

/// What another process asks for.
pub struct Request {
    /// The run, by its address without a turn.
    pub run: String,
    /// The thing asked for.
    pub what: IOValue,
    /// `None` once the request is answered.
    answering: Option<Answering>,
}

impl Request {
    /// Makes a request about a run, whose answer goes to `answering`.
    pub(crate) fn new(
        run: String,
        what: IOValue,
        answering: impl FnOnce(Result<IOValue, String>) + Send + 'static,
    ) -> Self {
        Self {
            run,
            what,
            answering: Some(Box::new(answering)),
        }
    }

    /// Answers the request.
    pub fn reply(mut self, answer: Result<IOValue, String>) {
        self.send(answer);
    }

    fn send(&mut self, answer: Result<IOValue, String>) {
        if let Some(answering) = self.answering.take() {
            answering(answer);
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.send(Err("the run stopped before it could do this".to_owned()));
    }
}
