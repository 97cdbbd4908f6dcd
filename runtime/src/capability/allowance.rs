//! How much the caveats of a chain may make of one value.
//!
//! A rewrite can name a part of a value several times, so a chain of a few dozen short caveats
//! could make a value that no memory holds, or one that is nested beyond any stack.
//! INVARIANT: a value that passed is at most [`MAX_DEPTH`] deep, and measuring it costs time in
//! proportion to what is left of the allowance, however large it claims to be.
//! It does not apply caveats; `caveat.rs` does. Read next: `template.rs`.

use duet_journal::packed::{MAX_DEPTH, PackedError, PackedLimits, PackedWriter};
use preserves::IOValue;

/// The maximum number of bytes of all values together that the rewrites of a chain make of one, in
/// their packed form. It is the maximum length of a tool's result.
const BYTES_MAX: usize = 16 << 20;

/// The rest of the allowance of a chain.
#[derive(Debug)]
pub struct Allowance {
    bytes_left: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { bytes_left: BYTES_MAX }
    }
}

impl Allowance {
    /// Takes the length of a value that a rewrite has made.
    ///
    /// # Errors
    /// If the value is too deep, or longer than what is left.
    pub fn take(&mut self, made: &IOValue) -> Result<(), PackedError> {
        let mut out = PackedWriter::within(PackedLimits {
            depth_max: MAX_DEPTH,
            bytes_max: self.bytes_left,
        });
        out.value(made);
        self.bytes_left -= out.finish()?.len();
        Ok(())
    }
}
