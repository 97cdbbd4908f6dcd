//! `duet redo`: a move that was taken back is done again.

use crate::arguments::Arguments;
use crate::command::undo;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
It does again what the last `duet undo` took back, as long as the branch has not gone on since.

    duet redo review";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    undo::redo(arguments, terminal)
}
