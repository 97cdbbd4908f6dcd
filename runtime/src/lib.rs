//! Duet's runtime: actors, facets, the dataspace and turns.
//!
//! In suggested reading order.

pub mod action;
pub mod activation;
pub mod actor;
pub mod address;
pub mod scheme;
mod bodies;
pub mod body;
pub mod capability;
pub mod codec;
pub mod dataspace;
pub mod draft;
pub mod driver;
pub mod event;
mod exhaustion;
pub mod gate;
pub mod history;
pub mod identity;
mod inflight;
mod lately;
pub mod ordered;
mod past;
pub mod policy;
pub mod record;
pub mod replay;
pub mod roster;
pub mod run;
mod scattered;
pub mod snapshot;
pub mod state;
pub mod tracked;
pub mod turn;
pub mod value;

#[cfg(test)]
mod script;
