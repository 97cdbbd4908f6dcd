//! One actor's turn, from its batch of events to its list of actions.
//!
//! Owns the activation, which holds a turn in progress, and the interface to an actor's program.
//! INVARIANT: nothing outside the activation and the actor's instance changes here.
//! It neither judges nor commits; `run/take_turn.rs` does.
//! Read next: `turn/task.rs`, `turn/program.rs`, then `turn/activation.rs`.

pub mod activation;
mod action_places;
pub(crate) mod module_limit;
pub mod image;
pub(crate) mod erased;
pub mod program;
pub mod task;
