//! Duet's Scheme: reader, expander, compiler, machine, and the images of values and continuations.
