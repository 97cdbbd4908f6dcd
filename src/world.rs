//! The world of a run: what a person, a configuration and a manifest give it.
//!
//! Read next: `world/launch.rs`.

pub(crate) mod webhooks;
pub(crate) mod watch;
pub(crate) mod streams;
pub(crate) mod arrivals;
pub(crate) mod answers;
pub(crate) mod tools;
pub(crate) mod world_options;
pub(crate) mod preload;
pub(crate) mod imported;
pub(crate) mod reaching;
pub(crate) mod launch;
