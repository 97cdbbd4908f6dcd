//! The layout of backtraces: the callers, and the line of each call.
//!
//! INVARIANT: frames that are internal to a library are not shown, and a long trace loses its
//! middle, never an end.
//! It does not know the origin of a trace. Read next: `runtime/src/model/failure.rs`.

use duet_drivers::text;
use duet_runtime::model::counted::counted;
use duet_runtime::model::failure::{Frame, FramePlace, read_file_line};

use super::SourceTexts;

/// How a backtrace names a procedure without a name.
const UNNAMED: &str = "?";

/// The procedure that evaluates typed texts; it and its callers are internal.
const TYPED: &str = "(interaction)";

/// The procedure around it.
const SHOWER: &str = "call-with-values";

/// How many procedures of a backtrace are shown at each end.
const ENDS: usize = 8;

/// Writes a backtrace, innermost procedure first, a line each; runs of one procedure are counted.
/// Lines of `source`, the text of the error, are shown without its name.
pub(super) fn shown(frames: &[Frame], source: Option<&str>, texts: &SourceTexts) -> Option<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for caller in worth_showing(frames) {
        let line = caller.told(lines.is_empty(), source, texts);
        match lines.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            Some(_) | None => lines.push((line, 1)),
        }
    }
    let mut lines: Vec<String> = lines
        .into_iter()
        .map(|(line, count)| {
            if count > 1 {
                format!("{line} ({count} times)")
            } else {
                line
            }
        })
        .collect();
    if lines.len() > 2 * ENDS {
        let left_out = lines.len() - 2 * ENDS;
        lines.splice(
            ENDS..lines.len() - ENDS,
            [format!("called by {}", counted(left_out, "other"))],
        );
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A frame that is shown.
struct Caller<'a> {
    frame: &'a Frame,
    /// Whether it was left for the one before by tail calls.
    is_left: bool,
}

/// The frames of the person's own procedures, and of those that they called by name.
fn worth_showing(frames: &[Frame]) -> impl Iterator<Item = Caller<'_>> {
    // Around what was typed stands what shows its value, and its own frame is gone if the failing
    // call was its last.
    let typed = frames.iter().position(|frame| frame.procedure == TYPED);
    let shower = frames.iter().position(|frame| frame.procedure == SHOWER);
    let end = typed.or(shower.filter(|place| place + 1 == frames.len()));
    let frames = &frames[..end.unwrap_or(frames.len())];
    let is_own = |place: usize| {
        // A library's internal procedures mean nothing to its users, nor do the unnamed procedures
        // that they call.
        let caller = frames.get(place + 1).filter(|_| frames[place].procedure == UNNAMED);
        let is_between = frames[place].procedure == SHOWER && place > 0 && is_of_library(&frames[place - 1]);
        !is_of_library(&frames[place]) && !is_between && !caller.is_some_and(is_internal)
    };
    let own = (0..frames.len()).filter(move |place| is_own(*place));
    // A library's procedure and the internal one that it calls last count as one procedure.
    let is_left = move |place: usize| frames[place].at == FramePlace::Gone && (place == 0 || is_own(place - 1));
    own.map(move |place| Caller {
        frame: &frames[place],
        is_left: is_left(place),
    })
}

fn is_internal(frame: &Frame) -> bool {
    frame.procedure.starts_with('%')
}

/// Whether a frame is of a procedure of a library without a public name.
fn is_of_library(frame: &Frame) -> bool {
    is_internal(frame) || (frame.procedure == UNNAMED && frame.at == FramePlace::Unknown)
}

impl Caller<'_> {
    /// Writes its line; lines of `error_in`, the text of the error, have no name of a text.
    fn told(&self, is_innermost: bool, error_in: Option<&str>, texts: &SourceTexts) -> String {
        let how = match (self.is_left, is_innermost) {
            (true, true) => "in a tail call from",
            (true, false) => "by tail calls from",
            (false, true) => "in",
            (false, false) => "called by",
        };
        let name = if self.frame.procedure == UNNAMED {
            "an unnamed procedure".to_owned()
        } else {
            format!("`{}`", text::line(&self.frame.procedure))
        };
        let FramePlace::Text { source, start } = &self.frame.at else {
            return format!("{how} {name}");
        };
        let file = |source| read_file_line(source).map_or(source, |(path, _)| path);
        // The message already shows the line of the innermost call.
        let is_shown = is_innermost && error_in == Some(source);
        match texts.line_of(source, *start).filter(|_| !is_shown) {
            Some(line) if error_in.map(file) == Some(file(source)) => format!("{how} {name} on line {line}"),
            Some(line) => format!("{how} {name} at {}:{line}", text::line(file(source))),
            None => format!("{how} {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use duet_kernel::expander::SourceText;

    use super::*;

    fn check(frames: &[(&str, FramePlace)], expected: &str) {
        let text = |name: &str| SourceText {
            name: name.to_owned(),
            text: "(a\nb\nc)\n".into(),
        };
        let texts = SourceTexts::new(vec![text("here"), text("there")]);
        let frame = |(procedure, at): &(&str, FramePlace)| Frame {
            procedure: (*procedure).to_owned(),
            at: at.clone(),
        };
        let frames: Vec<Frame> = frames.iter().map(frame).collect();
        assert_eq!(shown(&frames, Some("here"), &texts).unwrap_or_default(), expected);
    }

    fn at(source: &str, start: u64) -> FramePlace {
        let source = source.to_owned();
        FramePlace::Text { source, start }
    }

    #[test]
    fn callers_stand_on_lines() {
        let frames = [
            ("f", at("here", 0)),
            ("for-each", FramePlace::Unknown),
            ("?", at("here", 3)),
            ("g", at("there", 6)),
            ("h", at("nowhere", 0)),
            ("main", at("here", 900)),
        ];
        check(
            &frames,
            "in `f`\ncalled by `for-each`\ncalled by an unnamed procedure on line 2\n\
             called by `g` at there:3\ncalled by `h`\ncalled by `main` on line 4",
        );
    }

    #[test]
    fn tail_calls_are_said() {
        let frames = [("f", at("here", 0)), ("g", FramePlace::Gone), ("main", at("here", 6))];
        check(&frames, "in `f`\nby tail calls from `g`\ncalled by `main` on line 3");
        let frames = [
            ("%throw", FramePlace::Unknown),
            ("raise", FramePlace::Gone),
            ("main", at("here", 6)),
        ];
        check(&frames, "in `raise`\ncalled by `main` on line 3");
        let frames = [("f", FramePlace::Gone), ("main", at("here", 6))];
        check(&frames, "in a tail call from `f`\ncalled by `main` on line 3");
    }

    #[test]
    fn repetitions_are_counted_and_the_middle_of_a_long_trace_is_left_out() {
        let lines = |places: &[u64]| {
            places
                .iter()
                .map(|place| ("loop", at("here", *place)))
                .collect::<Vec<_>>()
        };
        check(
            &lines(&[0, 3, 3, 6]),
            "in `loop`\ncalled by `loop` on line 2 (2 times)\ncalled by `loop` on line 3",
        );
        let names: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
        let frames: Vec<(&str, FramePlace)> = names.iter().map(|name| (name.as_str(), FramePlace::Unknown)).collect();
        let ends = (1..8).chain(32..40).map(|number| format!("\ncalled by `p{number}`"));
        let mut expected: Vec<String> = std::iter::once("in `p0`".to_owned()).chain(ends).collect();
        expected.insert(8, "\ncalled by 24 others".to_owned());
        check(&frames, &expected.concat());
    }

    #[test]
    fn what_libraries_keep_to_themselves_is_left_out() {
        let unknown = |names: &[&'static str]| {
            names
                .iter()
                .map(|name| (*name, FramePlace::Unknown))
                .collect::<Vec<_>>()
        };
        check(&unknown(&[]), "");
        check(&unknown(&[TYPED, SHOWER]), "");
        check(&unknown(&[SHOWER]), "");
        check(&unknown(&["f", SHOWER]), "in `f`");
        check(
            &unknown(&["?", "%with-frame", "?", "%with-frame", "open", "?", "main"]),
            "in `open`\ncalled by `main`",
        );
        // A procedure of several values that a library calls between two of its own.
        check(
            &unknown(&["job", "?", SHOWER, "?", "par-map", "main"]),
            "in `job`\ncalled by `par-map`\ncalled by `main`",
        );
    }
}
