//! The world of a run: what a person, a configuration and a manifest give it.
//!
//! Read next: `world/launch.rs`.

pub(crate) mod configuration;
pub(crate) mod policy;
pub(crate) mod native;
pub(crate) mod workspaces;
pub(crate) mod webhooks;
pub(crate) mod watch;
pub(crate) mod editing;
pub(crate) mod world_options;
pub(crate) mod reach;
pub(crate) mod imported;
pub(crate) mod preload;
pub(crate) mod launch;
