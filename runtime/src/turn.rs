//! One actor's turn, from its batch of events to its list of actions.
//!
//! Owns the activation, which a turn is built in, and the interface to what an actor runs.
//! INVARIANT: nothing outside the activation and the actor's instance changes here.
//! It neither judges nor commits; `run/turn.rs` does.
//! Read next: `turn/task.rs`, `turn/program.rs`, then `turn/activation.rs`.

pub mod activation;
pub mod image;
pub mod program;
pub mod task;
