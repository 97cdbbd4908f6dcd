//! The `duet` command.

fn main() {}
