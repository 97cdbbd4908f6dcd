//! Duet's standard library: Scheme sources, embedded.
