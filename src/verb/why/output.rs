//! Lines of output whose values are explained: the N-th of the run, or of a turn.
//!
//! INVARIANT: a line that several turns wrote is explained by the last one that wrote some of it.
//! It explains no values. Read next: `value.rs`.

use std::num::NonZeroUsize;
use std::ops::Range;

use duet_journal::Sequence;
use duet_runtime::action::Action;
use duet_runtime::driver::Stream;
use duet_runtime::record::Body;
use duet_runtime::scheme::Wanted;

use super::{Report, Request, value};
use crate::history::journal::Place;
use crate::history::records::Records;
use crate::history::turn;
use crate::owner::owned_run;
use crate::text::error::CommandError;
use crate::verb::project::ProjectReader;

/// Explains the line of output that the request counts from the first turn on.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn of_output(
    look: &ProjectReader<'_>,
    request: &Request,
    number: NonZeroUsize,
    most: usize,
) -> Result<Report, CommandError> {
    let place = look.resolve_turn(request.start())?;
    let found = output(look, &place, number.get())?;
    let mut report = Report::nothing(place);
    if let Some(Line { turn, text, bytes }) = found {
        report.line = Some(text);
        let wanted = Wanted::Output(1, bytes);
        if let Some(explained) = value::explained(look, &report.place.at_turn(turn), &wanted, most)? {
            report.values = explained.values;
        }
        report.lead(look, turn, most)?;
    }
    Ok(report)
}

/// Explains a line that the turn at the address wrote to standard output, or its part of one.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn of_written(
    look: &ProjectReader<'_>,
    request: &Request,
    number: NonZeroUsize,
    most: usize,
) -> Result<Report, CommandError> {
    let place = look.resolve_turn(request.start())?;
    let at = place.at();
    let mut report = Report::nothing(place);
    let Body::Turn(taken) = turn::body(&owned_run::record_at(look.store, &report.place, at)?)? else {
        return Ok(report);
    };
    let (mut written, mut left, mut found) = (0, number.get(), None);
    for action in taken.actions.iter().flat_map(Action::done) {
        let Action::Write(write) = action else { continue };
        if write.stream != Stream::Output {
            continue;
        }
        for piece in String::from_utf8_lossy(&write.bytes.0).split_inclusive('\n') {
            left = left.saturating_sub(1);
            let bytes = written..written + piece.len();
            written = bytes.end;
            if left == 0 && found.is_none() {
                found = Some((bytes, piece.trim_end_matches('\n').to_owned()));
            }
        }
    }
    let Some((bytes, text)) = found else {
        return Ok(report);
    };
    report.line = Some(text);
    if let Some(explained) = value::explained(look, &report.place, &Wanted::Output(1, bytes), most)? {
        report.values = explained.values;
    }
    report.lead(look, at, most)?;
    Ok(report)
}

/// A line of output.
struct Line {
    /// The turn that ended it.
    turn: Sequence,
    text: String,
    /// Its bytes among those that the turn has written.
    bytes: Range<usize>,
}

/// Finds the turn that wrote a line of output, and the line.
fn output(look: &ProjectReader<'_>, place: &Place, number: usize) -> Result<Option<Line>, CommandError> {
    let (mut left, mut found) = (number, None);
    for record in Records::oldest_first(place.source(look.store), Sequence::FIRST..=place.at()) {
        look.go_on()?;
        let record = record?;
        let at = record.header().sequence;
        let Body::Turn(turn) = turn::body(&record)? else {
            continue;
        };
        let mut written = 0;
        for action in turn.actions.iter().flat_map(Action::done) {
            let Action::Write(write) = action else { continue };
            if write.stream != Stream::Output {
                continue;
            }
            let text = String::from_utf8_lossy(&write.bytes.0);
            for piece in text.split_inclusive('\n') {
                let bytes = written..written + piece.len();
                written = bytes.end;
                if left == 1 {
                    note_piece(&mut found, at, piece, bytes);
                }
                if piece.ends_with('\n') {
                    left -= 1;
                }
                if left == 0 {
                    return Ok(found);
                }
            }
        }
    }
    // The last line may have no end.
    Ok(found)
}

/// Adds a piece to the line that is wanted.
fn note_piece(found: &mut Option<Line>, turn: Sequence, piece: &str, bytes: Range<usize>) {
    let piece = piece.trim_end_matches('\n');
    let line = found.get_or_insert_with(|| Line {
        turn,
        text: String::new(),
        bytes: bytes.clone(),
    });
    // A line that several turns wrote is explained by the last one that wrote some of it.
    if line.turn != turn && !piece.is_empty() {
        (line.turn, line.bytes) = (turn, bytes.clone());
    }
    if line.turn == turn {
        line.bytes.end = bytes.end;
    }
    line.text.push_str(piece);
}
