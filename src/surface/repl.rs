//! The prompt: the line editor, the comma commands, and the run behind them.
//!
//! INVARIANT: only `repl/session.rs`, `repl/evaluation.rs` and the connections of guests know that
//! there is a run; the other parts know text, the line editor knows keys.
//! Read next: `repl/prompt.rs`, then `repl/session.rs`.

mod attach;
pub(crate) mod command;
pub(crate) mod complete;
mod definitions;
pub(crate) mod editor;
pub(crate) mod editor_thread;
pub(crate) mod evaluation;
mod event;
pub(crate) mod guest;
mod highlight;
pub(crate) mod history;
mod indent;
pub(crate) mod connection;
pub(crate) mod local;
pub(crate) mod outline;
mod owner;
mod pipe;
pub(crate) mod prompt;
pub(crate) mod remote;
pub(crate) mod script;
pub(crate) mod session;
mod session_question;
mod traced;
