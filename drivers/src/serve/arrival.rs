//! A client that has come, before it has shown a reference.
//!
//! INVARIANT: it has a place among the strangers until it goes or has shown a reference.
//! It does not speak to the client; `connection.rs` does. Read next: `connection.rs`.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::gate::Gate;
use super::rate_limit::RateLimits;
use crate::lobby::Stranger;

/// A client that has come.
pub(super) struct Arrival {
    /// The name of its connection.
    pub(super) name: String,
    pub(super) gate: Arc<dyn Gate>,
    /// Its place until it has shown a reference.
    pub(super) stranger: Arc<Stranger>,
    /// The places of those that have.
    pub(super) clients: Arc<Semaphore>,
    pub(super) rate_limits: RateLimits,
}
