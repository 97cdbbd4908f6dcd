//! Duet's runtime: actors, facets, the dataspace and turns.
//!
//! Each module uses only the modules before it; `tests/it/modules.rs` at the root of the repository
//! checks this.

pub mod model;
pub mod collections;
pub mod driver;
pub mod policy;
pub mod capability;
pub mod dataspace;
pub mod state;
pub mod action;
pub mod gate;
pub mod record;
pub mod turn;
pub mod scheme;
pub mod run;
pub mod history;

#[cfg(test)]
mod tests;
