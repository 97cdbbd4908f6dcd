//! Duet's libraries: names, import sets, resolution and load order.
