//! The interface of a tool: what every tool implements, and what a call of it gets and returns.
//!
//! INVARIANT: a tool answers each call exactly once, with a value or a [`ToolFailure`]; no payload
//! makes it panic.
//! It knows no particular tool; `tool.rs` lists them.
//! Read next: `tool/arguments.rs`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_runtime::driver::{Asking, ToolFailure};
use duet_runtime::model::card::ToolCard;
use preserves::IOValue;

use super::description::Description;
use super::failure::Kind;
use super::secret::Secrets;
use super::undo_log::UndoLog;
use crate::live::Live;

/// The result of a call.
pub type Outcome = Result<IOValue, ToolFailure>;

/// A call under way.
pub type Call = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Something that a program can have done in the world.
pub trait Tool: Send + Sync {
    /// Describes the tool: its name, payload, result and effect.
    fn description(&self) -> &Description;

    /// Returns the description that policy judges by.
    fn card(&self) -> ToolCard {
        self.description().card()
    }

    /// Says whether a call mostly waits for something outside, so that any number of calls may be
    /// under way.
    fn waits(&self) -> bool {
        let needs = self.description().needs;
        needs.iter().any(|need| *need == "net" || need.starts_with("mcp."))
    }

    /// Returns the reply that is prepared for a call. The thread that runs turns asks before it
    /// makes the call, in the order in which the program makes them. A tool that acts in the world
    /// has none.
    fn stub(&self, _payload: &IOValue, _context: &Context) -> Stub {
        Stub::Absent
    }

    /// Starts a call; dropping the result abandons it.
    fn call(&self, payload: IOValue, context: Context) -> Call;
}

/// The reply that a tool has prepared for a call before it is made.
pub enum Stub {
    /// Nothing; [`Tool::call`] makes the call.
    Absent,
    /// The call is not made, and returns after a time.
    Returns {
        /// The result.
        outcome: Outcome,
        /// The time, in milliseconds.
        delay_ms: u64,
    },
    /// The call is not made, and never returns.
    Silent,
}

/// What a tool may know about the call besides its payload.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The call's key: the same when the call is repeated after a crash, and for no other call.
    pub key: String,
    /// Who asks what, in a run that keeps it.
    pub asking: Option<Box<Asking>>,
    /// The name by which the tool was called.
    pub tool: String,
    /// Where the call records what it is about to replace.
    pub undo_log: UndoLog,
    /// What a tool must not return in pieces.
    pub secrets: Secrets,
    /// Where the call shows its progress to the person.
    pub live: Live,
    /// Whether this process gives up all calls, because it ends.
    pub leaving: Arc<AtomicBool>,
    /// Whether the clock of the run is virtual, so that it goes on only beside what is known to
    /// wait.
    pub is_time_virtual: bool,
}

impl Context {
    /// Says whether a call that is dropped now is not withdrawn: another process goes on with it.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }
}

/// Runs `work`, which may wait for the disk, on a thread where it blocks no other call.
pub(crate) fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> Call {
    Box::pin(off_thread(work))
}

/// Runs `work` on a thread where it may wait for the disk.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    let panicked = |error| Err(Kind::Failed.because(format!("the tool broke down: {error}")));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(panicked)
}
