//! Programs that a grammar makes of the bytes, so that most of them get as far as the machine.

use super::choice::Choices;
use super::{evaluation, grammar};

/// Evaluates the program that the bytes choose.
pub fn run(bytes: &[u8]) {
    evaluation::check(&grammar::program(&mut Choices::new(bytes)));
}
