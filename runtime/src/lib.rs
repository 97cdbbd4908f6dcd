//! Duet's runtime: actors, facets, the dataspace and turns.
