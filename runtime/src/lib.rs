//! Duet's runtime: actors, facets, the dataspace and turns.
//!
//! In suggested reading order.

pub mod driver;
