//! Duet's drivers: durable actions out to the world, inputs in.
