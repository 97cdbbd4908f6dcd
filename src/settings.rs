//! What the person has set: the environment, the configuration, and what a run may reach by it.
//!
//! Read next: `settings/configuration.rs`.

pub(crate) mod environment;
pub(crate) mod state_folder;
pub(crate) mod native;
pub(crate) mod policy;
pub(crate) mod workspaces;
pub(crate) mod configuration;
pub(crate) mod editing;
pub(crate) mod reach;
