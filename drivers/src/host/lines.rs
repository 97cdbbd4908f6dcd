//! Messages on standard input, one a line.
//!
//! INVARIANT: a line is heard whole or not at all. The thread drops the rest of a line that is too
//! long, to its end, so no part of a message is taken for another message.
//! It does not know what a message says. Read next: `../host.rs`.

use std::io::{self, BufRead, ErrorKind};

use tokio::sync::mpsc;

use super::MESSAGE_BYTES_MAX;

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// The beginning of a line that is too long.
    Cut(Vec<u8>),
}

/// Reads lines on a thread of its own, because standard input cannot be read otherwise.
pub(super) fn lines() -> mpsc::Receiver<Line> {
    let (sender, lines) = mpsc::channel(16);
    tokio::task::spawn_blocking(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = next(&mut input, MESSAGE_BYTES_MAX) {
            let is_empty = matches!(&line, Line::Whole(line) if line.trim_ascii().is_empty());
            if !is_empty && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Reads the next line; nothing at the end of the input.
fn next(input: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<Line>> {
    let (mut line, mut is_cut, mut has_begun) = (Vec::new(), false, false);
    loop {
        let came = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            came => came?,
        };
        let end = came.iter().position(|byte| *byte == b'\n');
        let part = &came[..end.unwrap_or(came.len())];
        let room = bytes_max - line.len();
        line.extend_from_slice(&part[..part.len().min(room)]);
        is_cut |= part.len() > room;
        let is_over = came.is_empty();
        has_begun |= !is_over;
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if is_over || end.is_some() {
            let line = if is_cut { Line::Cut(line) } else { Line::Whole(line) };
            return Ok(has_begun.then_some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _};

    use super::*;

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_no_line() {
        let whole = |line: &str| Line::Whole(line.into());
        let cut = |line: &str| Line::Cut(line.into());
        let expected = [whole("one"), whole(""), cut("seven"), whole("exact"), cut("no en")];
        for size in [1, 3, 100] {
            let text = "one\n\nseventeen\nexact\nno end at all";
            let mut input = BufReader::with_capacity(size, text.as_bytes().take(u64::MAX));
            let read: Vec<Line> = std::iter::from_fn(|| next(&mut input, 5).expect("it is read")).collect();
            assert_eq!(read, expected, "{size}");
        }
    }
}
