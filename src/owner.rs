//! The processes that own runs: they drive them, and hear what others want of them.
//!
//! Read next: `owner/owned_run.rs`.

pub(crate) mod doors;
pub(crate) mod refusals;
pub(crate) mod gatekeeper;
pub(crate) mod redeliver;
pub(crate) mod detach;
pub(crate) mod owned_run;
pub(crate) mod mail;
pub(crate) mod work;
