//! A client that has come, before it has shown a reference.
//!
//! INVARIANT: it has a place among the pending clients until it goes or has shown a reference.
//! It does not speak to the client; `connection.rs` does. Read next: `connection.rs`.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::gate::Gate;
use super::rate_limit::RateLimits;
use crate::pending::PendingClient;

/// A client that has come.
pub(super) struct Arrival {
    /// The name of its connection.
    pub(super) name: String,
    pub(super) gate: Arc<dyn Gate>,
    /// Its place until it has shown a reference.
    pub(super) pending: Arc<PendingClient>,
    /// The places of those that have.
    pub(super) clients: Arc<Semaphore>,
    pub(super) rate_limits: RateLimits,
}
