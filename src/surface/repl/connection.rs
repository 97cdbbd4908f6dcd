//! What a guest's prompt needs to reach its session: a way to say something to the run, and one to
//! hear what the run says.
//!
//! There are two: `local.rs` hands requests to the process that executes the run and reads the
//! journal, `remote.rs` is a client of `duet serve`. The prompt itself is the same for both.
//! INVARIANT: news come once, in their order.
//! Read next: `local.rs`.

use preserves::IOValue;

use crate::history::journal::Journal;
use crate::text::error::CommandError;

/// Something that the run has said.
pub(crate) enum News {
    /// A fact.
    Fact(IOValue),
    /// Whoever executes the run has gone back: the turns after this one are others now.
    WentBack(u64),
}

/// A connection to a run.
pub(crate) trait RunConnection {
    /// The place, for the prompt: the run, with its newest turn if that is known.
    fn shown(&self) -> String;

    /// Where the session is, in words that follow its name.
    ///
    /// # Errors
    /// If the journal fails.
    fn described(&self) -> Result<String, CommandError>;

    /// Who executes the run, in words.
    ///
    /// # Errors
    /// If the journal fails.
    fn owner(&self) -> Result<String, CommandError>;

    /// The journal, and the address of the branch in it; `None` if the journal is out of reach.
    fn journal(&self) -> Option<(&Journal, String)>;

    /// Makes sure that the session can begin, and returns the facts about it.
    ///
    /// # Errors
    /// If the run cannot be reached, or its program lets no sessions begin.
    fn enter(&mut self, session: &str) -> Result<Vec<IOValue>, CommandError>;

    /// Sends a message in the run's dataspace; false if nobody executes the run any more.
    ///
    /// # Errors
    /// If whoever executes it refuses.
    fn tell(&mut self, message: IOValue) -> Result<bool, CommandError>;

    /// Whether the session has been heard of; one that its reference does not grant never is.
    fn is_heard(&self) -> bool;

    /// Answers what the session wants approved.
    ///
    /// # Errors
    /// If this is not granted, or the question is not open any more.
    fn approve(&mut self, session: &str, question: &str, answer: IOValue) -> Result<(), CommandError>;

    /// Makes sure that the session has all messages.
    fn settle(&mut self);

    /// Goes on at another branch of the run, which begins here if it is new. Returns the names of
    /// the sessions in the run, as far as they are known.
    ///
    /// # Errors
    /// If whoever executes the run refuses, or the journal fails.
    fn go_to(&mut self, branch: &str, is_new: bool) -> Result<Vec<String>, CommandError>;

    /// The names that the session sees, each with whether it is a keyword; none if nobody says.
    fn names(&self, session: &str) -> Vec<(String, bool)>;

    /// Waits a little and returns what has come; `None` if nobody executes the run any more.
    ///
    /// # Errors
    /// If the journal fails, or the session does not begin.
    fn news(&mut self) -> Result<Option<Vec<News>>, CommandError>;

    /// Says that nobody executes the run any more, why if that is known, and what to do.
    fn alone(&self) -> String;
}
