//! Duet's journal: an append-only graph of hash-chained records behind a small store trait.
