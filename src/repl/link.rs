//! What a guest's prompt needs to reach its session: a way to say something to the run, and one to
//! hear what the run says.
//!
//! There are two: `local.rs` hands requests to the process that executes the run and reads the
//! journal, `remote.rs` is a client of `duet serve`. The prompt itself is the same for both.
//! INVARIANT: news come once, in their order.
//! Read next: `local.rs`.

use std::path::Path;

use duet_runtime::model::identity::ActorId;
use preserves::IOValue;

use crate::error::CommandError;

/// Something that the run has said.
pub(crate) enum News {
    /// A fact, with the actor that asserted it if that is known.
    Fact(IOValue, Option<ActorId>),
    /// A question of an actor to a person.
    Question(IOValue, ActorId),
}

/// A way to a run.
pub(crate) trait Link {
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

    /// The file of the journal, and the address of the branch in it; `None` if the journal is out
    /// of reach.
    fn journal(&self) -> Option<(&Path, String)>;

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

    /// Answers the oldest open question of the run.
    ///
    /// # Errors
    /// If whoever executes the run refuses.
    fn answer(&mut self, text: &str) -> Result<(), CommandError>;

    /// Waits a little and returns what has come; `None` if nobody executes the run any more.
    ///
    /// # Errors
    /// If the journal fails, or the session does not begin.
    fn news(&mut self) -> Result<Option<Vec<News>>, CommandError>;

    /// Says that nobody executes the run any more, why if that is known, and what to do.
    fn alone(&self) -> String;
}
