//! Tests of the order of output on both streams, and of closed streams.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step of a test is its failure"
)]

use std::sync::{Arc, Mutex};

use super::screen::Screen;
use super::*;

/// The bytes of both streams in one order.
#[derive(Clone, Default)]
struct Tape {
    written: Arc<Mutex<Vec<(Stream, String)>>>,
}

struct Head {
    stream: Stream,
    tape: Tape,
    /// The error of writing.
    failure: Option<io::ErrorKind>,
}

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(kind) = self.failure {
            return Err(kind.into());
        }
        self.tape
            .written
            .lock()
            .unwrap()
            .push((self.stream, String::from_utf8(bytes.to_vec()).unwrap()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tape {
    fn console(&self, output_failure: Option<io::ErrorKind>, terminal: Option<&Screen>) -> Console {
        let head = |stream, failure| {
            Box::new(Head {
                stream,
                tape: self.clone(),
                failure,
            })
        };
        let target = terminal.map_or_else(ProgressDrawTarget::hidden, |terminal| {
            ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255)
        });
        Console::new(head(Stream::Output, output_failure), head(Stream::Error, None), target)
    }

    fn written(&self) -> Vec<(Stream, String)> {
        self.written.lock().unwrap().clone()
    }
}

#[test]
fn both_streams_keep_one_order() {
    let tape = Tape::default();
    let output = Box::new(io::BufWriter::new(Head {
        stream: Stream::Output,
        tape: tape.clone(),
        failure: None,
    }));
    let error = Box::new(Head {
        stream: Stream::Error,
        tape: tape.clone(),
        failure: None,
    });
    let mut console = Console::new(output, error, ProgressDrawTarget::hidden());
    console.write(Stream::Output, b"a");
    console.write(Stream::Output, b"b");
    console.line("c");
    console.write(Stream::Output, b"d");
    console.flush();
    let expected = [(Stream::Output, "ab"), (Stream::Error, "c\n"), (Stream::Output, "d")];
    assert_eq!(tape.written(), expected.map(|(stream, text)| (stream, text.to_owned())));
}

#[test]
fn a_reader_that_has_enough_is_no_news() {
    let tape = Tape::default();
    let mut console = tape.console(Some(io::ErrorKind::BrokenPipe), None);
    assert!(!console.is_output_closed());
    console.write(Stream::Output, b"a");
    console.write(Stream::Output, b"b");
    assert!(console.is_output_closed());
    assert_eq!(tape.written(), []);
}

#[test]
fn a_full_disk_is_reported_once() {
    let tape = Tape::default();
    let mut console = tape.console(Some(io::ErrorKind::StorageFull), None);
    console.write(Stream::Output, b"a");
    console.write(Stream::Output, b"b");
    console.flush();
    assert_eq!(
        tape.written(),
        [(
            Stream::Error,
            "cannot write to standard output: no storage space\n".to_owned()
        )]
    );
}

#[test]
fn progress_is_one_line_that_makes_room() {
    let tape = Tape::default();
    let terminal = Screen::new(10, 60);
    let mut console = tape.console(None, Some(&terminal));
    console.progress("reading\nfiles", 1, 4);
    assert_eq!(
        terminal.contents(),
        format!("{:<29} [======>                 ] 1/4", r"reading\nfiles")
    );
    console.progress("reading", 3, 4);
    assert_eq!(
        terminal.contents(),
        format!("{:<29} [==================>     ] 3/4", "reading")
    );
    console.line("note");
    assert_eq!(terminal.contents(), "", "gone before other output");
    console.progress("reading", 3, 4);
    assert!(terminal.contents().ends_with("3/4"), "back with the next step");
    console.progress("reading", 4, 4);
    assert_eq!(terminal.contents(), "", "gone at the end");
    assert_eq!(tape.written(), [(Stream::Error, "note\n".to_owned())]);
}

#[test]
fn progress_does_not_overwrite_an_open_line() {
    let tape = Tape::default();
    let mut console = tape.console(None, Some(&Screen::new(10, 60)));
    console.write(Stream::Output, b"so far");
    console.progress("reading", 1, 4);
    assert_eq!(
        tape.written(),
        [(Stream::Output, "so far".to_owned()), (Stream::Error, "\n".to_owned())]
    );
}

#[test]
fn progress_without_a_terminal_is_silent() {
    let tape = Tape::default();
    let mut console = tape.console(None, None);
    console.write(Stream::Output, b"so far");
    console.progress("reading", 1, 4);
    assert_eq!(tape.written(), [(Stream::Output, "so far".to_owned())]);
}

#[test]
fn what_duet_says_at_a_terminal_begins_a_line() {
    for (is_shared, expected) in [(true, "3\nlog: a\n4\n"), (false, "3log: a\n4")] {
        let tape = Tape::default();
        let mut console = Console {
            is_shared,
            ..tape.console(None, None)
        };
        console.write(Stream::Output, b"3");
        console.line("log: a");
        console.write(Stream::Output, b"4");
        console.finish();
        let written: String = tape.written().into_iter().map(|(_, text)| text).collect();
        assert_eq!(written, expected);
    }
}

#[test]
fn output_goes_below_a_question_which_is_shown_again() {
    let tape = Tape::default();
    let mut console = tape.console(None, None);
    console.is_shared = true;
    console.prompt(&"Name? ".into());
    console.write(Stream::Output, b"tick");
    console.write(Stream::Output, b"tock");
    console.settle();
    console.end_prompt();
    console.write(Stream::Output, b"Ada\n");
    console.settle();
    let written: String = tape.written().into_iter().map(|(_, text)| text).collect();
    assert_eq!(written, "Name? \nticktock\nName? Ada\n");
}
