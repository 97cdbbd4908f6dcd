//! The drawing of a log: a graph, and a line for each turn that fits the terminal.
//!
//! INVARIANT: no line is wider than the view, unless it is to be shown whole; equal lines are
//! folded only where the graph is one straight line.
//! It reads no records. Read next: `text/graph.rs`.

use duet_drivers::text::{self, Text};
use duet_runtime::model::moment::Moment;
use unicode_width::UnicodeWidthChar;

use super::{Report, Turn, What};
use crate::history::turn::json::CauseForm;
use crate::history::turn::line::{Piece, Tone};
use crate::text::graph::Graph;
use crate::text::view::View;
use crate::verb::fitting::{GREEN, columns_of};

/// The characters of a piece in lines of any length.
const PIECE_CHARACTERS: usize = 100;

/// The shortest duration that is worth a word, in milliseconds.
const DURATION_MS_MIN: u64 = 100;

/// The shortest pause that is worth a word, in milliseconds.
const PAUSE_MS_MIN: u64 = 10_000;

/// The pieces of a side that are shown.
const PIECES: usize = 20;

/// The least columns for words, however far the graph goes.
const WORDS_COLUMNS: usize = 24;

/// Draws turns one by one.
pub(crate) struct Drawing {
    view: View,
    graph: Graph,
    /// The columns of numbers.
    width: usize,
    is_filtered: bool,
    is_empty: bool,
    /// The line that equal ones may follow.
    held: Option<Held>,
}

/// A line, and how many are like it.
struct Held {
    before: String,
    number: u64,
    /// When it became durable, with blanks behind; nothing if times are not shown.
    time: String,
    words: Vec<Span>,
    count: usize,
}

/// Words in a style.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    style: &'static str,
    text: String,
}

impl Span {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            style: "",
            text: text.into(),
        }
    }
}

impl Drawing {
    /// Begins.
    pub(crate) fn new(view: View) -> Self {
        Self {
            view,
            graph: Graph::default(),
            width: 3,
            is_filtered: false,
            is_empty: true,
            held: None,
        }
    }

    /// Draws a page.
    pub(crate) fn page(&mut self, report: &Report) -> Text {
        self.width = self.width.max(report.head.to_string().len());
        self.is_filtered = report.is_filtered;
        let mut drawn = String::new();
        for turn in &report.turns {
            self.add(turn, &mut drawn);
        }
        Text::styled(&drawn)
    }

    /// Draws a turn without its neighbours.
    pub(crate) fn alone(&mut self, turn: &Turn) -> Text {
        let held = Held {
            before: format!("{} ", glyph(turn, false)),
            number: turn.number,
            time: self.time(turn),
            words: self.words(turn),
            count: 1,
        };
        Text::styled(&self.line(&held))
    }

    /// Draws what is left.
    pub(crate) fn end(&mut self) -> Text {
        let mut drawn = self.held.take().map(|held| self.line(&held)).unwrap_or_default();
        if self.graph.is_open() {
            drawn.push_str(self.graph.continued().trim_end());
            drawn.push('\n');
        }
        Text::styled(&drawn)
    }

    /// The message that nothing was found, if nothing was.
    pub(crate) fn nothing(&self, report: &Report) -> Option<String> {
        let what = if report.is_filtered { " matches" } else { " is listed" };
        self.is_empty.then(|| format!("no turn of {}{what}", report.name))
    }

    fn add(&mut self, turn: &Turn, drawn: &mut String) {
        self.is_empty = false;
        let glyph = glyph(turn, true);
        // Between turns that were picked out there is no line to draw.
        let (joins, before) = if self.is_filtered {
            (Vec::new(), format!("{glyph} "))
        } else {
            self.graph.node(glyph, turn.record, turn.parent)
        };
        let words = self.words(turn);
        if let Some(held) = &mut self.held {
            if joins.is_empty() && held.before == before && glyph == '○' && held.words == words {
                held.count += 1;
                return;
            }
            let held = self.held.take();
            drawn.push_str(&held.map(|held| self.line(&held)).unwrap_or_default());
        }
        for join in joins {
            drawn.push_str(&join);
            drawn.push('\n');
        }
        self.held = Some(Held {
            before,
            number: turn.number,
            time: self.time(turn),
            words,
            count: 1,
        });
    }

    fn line(&self, held: &Held) -> String {
        let times = if held.count > 1 {
            format!("  × {}", held.count)
        } else {
            String::new()
        };
        let number = format!("{:>width$}", held.number, width = self.width);
        let before = format!("{} {number}  {}", held.before, held.time);
        let columns = self.view.columns.filter(|_| !self.view.is_wide);
        let used = columns_of(&before) + columns_of(&times);
        let room = columns.map(|columns| columns.saturating_sub(used).max(WORDS_COLUMNS));
        let words = styled(&fitted(&held.words, room), self.view.is_styled);
        format!("{}{words}{times}\n", before).replace(" \n", "\n")
    }

    /// The month, day and time of day of a turn.
    fn time(&self, turn: &Turn) -> String {
        if !self.view.has_times {
            return String::new();
        }
        let told = turn.stamp_ms.map(|ms| Moment(ms).to_string()).unwrap_or_default();
        let parts = (told.get(5..10), told.get(11..19));
        match parts {
            (Some(day), Some(time)) => format!("{day} {time}  "),
            _ => " ".repeat(16),
        }
    }

    fn words(&self, turn: &Turn) -> Vec<Span> {
        let mut spans = Vec::new();
        if !turn.ends.is_empty() {
            spans.push(Span {
                style: GREEN,
                text: format!("[{}] ", turn.ends.join(" ")),
            });
        }
        let pause_ms = turn.pause_ms.filter(|pause_ms| *pause_ms >= PAUSE_MS_MIN);
        if let Some(pause_ms) = pause_ms.filter(|_| self.view.has_times) {
            spans.push(Span {
                style: style(Tone::Structural),
                text: format!("{} later  ", duration(pause_ms)),
            });
        }
        match &turn.what {
            What::Begins(program) => spans.push(Span::plain(format!("run of {}", text::line(program)))),
            What::Taken {
                actor,
                id,
                strand,
                cause,
                heard,
                did,
            } => {
                let name = crate::history::turn::line::strand(actor.clone(), strand.as_deref());
                spans.push(Span {
                    style: ACTORS[usize::try_from(*id).unwrap_or(0) % ACTORS.len()],
                    text: format!("{:<8} ", text::line(&name)),
                });
                let mut causes = self.side(heard);
                if causes.is_empty() {
                    // A step that only moves the program along shows where there is nothing else.
                    let words = heard
                        .first()
                        .map_or_else(|| cause_words(cause), |piece| piece.text.clone());
                    causes.push(Span {
                        style: style(Tone::Structural),
                        text: words,
                    });
                }
                spans.extend(causes);
                let did = self.side(did);
                if !did.is_empty() {
                    spans.push(Span::plain(" ⇒ "));
                    spans.extend(did);
                }
            }
        }
        spans
    }

    /// The pieces of a side, without those that only move a program along.
    fn side(&self, pieces: &[Piece]) -> Vec<Span> {
        let shown = pieces
            .iter()
            .filter(|piece| self.view.is_verbose || piece.tone != Tone::Structural);
        let mut counted: Vec<(&Piece, usize)> = Vec::new();
        for piece in shown {
            match counted.last_mut() {
                Some((last, count)) if *last == piece => *count += 1,
                Some(_) | None => counted.push((piece, 1)),
            }
        }
        let more = counted.len().saturating_sub(PIECES);
        let mut spans = Vec::new();
        for (position, (piece, count)) in counted.iter().take(PIECES).enumerate() {
            if position > 0 {
                spans.push(Span::plain("; "));
            }
            spans.push(Span {
                style: style(piece.tone),
                text: self.piece(piece, *count),
            });
        }
        if more > 0 {
            spans.push(Span::plain(format!("; and {more} more")));
        }
        spans
    }

    fn piece(&self, piece: &Piece, count: usize) -> String {
        let is_whole = self.view.is_wide || self.view.columns.is_some();
        let mut text = if is_whole {
            piece.text.clone()
        } else {
            crate::history::turn::short(&piece.text, PIECE_CHARACTERS)
        };
        // A list that a program reads is the same however busy the machine was.
        let least_ms = if self.view.has_all_durations {
            0
        } else {
            DURATION_MS_MIN
        };
        let duration_ms = piece.duration_ms.filter(|duration_ms| *duration_ms >= least_ms);
        if let Some(duration_ms) = duration_ms.filter(|_| self.view.has_times) {
            text.push_str(&format!(" ({})", duration(duration_ms)));
        }
        if count > 1 { format!("{text} × {count}") } else { text }
    }
}

/// A duration in the unit that suits it.
pub(crate) fn duration(duration_ms: u64) -> String {
    let seconds = duration_ms / 1000;
    match seconds {
        0 if duration_ms < DURATION_MS_MIN => format!("{duration_ms} ms"),
        0..10 => format!("{seconds}.{} s", duration_ms % 1000 / 100),
        10..100 => format!("{seconds} s"),
        100..6000 => format!("{} min", seconds / 60),
        6000..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn glyph(turn: &Turn, marks_head: bool) -> char {
    match turn.parent {
        _ if turn.is_head && marks_head => '@',
        _ if turn.is_failed => '×',
        None => '◆',
        Some(_) => '○',
    }
}

/// A cause that has nothing to say for itself.
fn cause_words(cause: &CauseForm) -> String {
    match cause {
        CauseForm::Turn { turn } => format!("turn {turn}"),
        CauseForm::Start => "start".to_owned(),
        CauseForm::Input => "input".to_owned(),
    }
}

const ACTORS: [&str; 6] = ["36", "35", "34", "33", "96", "94"];

fn style(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Structural => "2",
        Tone::Failed => "31",
        Tone::Person => "1",
        Tone::Model => "35",
    }
}

/// Cuts words after so many columns.
fn fitted(spans: &[Span], room: Option<usize>) -> Vec<Span> {
    let all: usize = spans.iter().map(|span| columns_of(&span.text)).sum();
    let Some(room) = room.filter(|room| all > *room) else {
        return spans.to_vec();
    };
    let mut left = room.saturating_sub(1);
    let mut kept = Vec::new();
    for span in spans {
        let mut text = String::new();
        for letter in span.text.chars() {
            let columns = letter.width().unwrap_or(0);
            if columns > left {
                text.push('…');
                kept.push(Span { text, ..span.clone() });
                return kept;
            }
            left -= columns;
            text.push(letter);
        }
        kept.push(Span { text, ..span.clone() });
    }
    kept
}

fn styled(spans: &[Span], is_styled: bool) -> String {
    let part = |span: &Span| match span.style {
        style if is_styled && !style.is_empty() => format!("\x1b[{style}m{}\x1b[0m", span.text),
        _ => span.text.clone(),
    };
    spans.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pause_is_told_where_times_are() {
        let turn = |pause_ms| Turn {
            number: 3,
            record: duet_journal::RecordHash::of(b"record"),
            parent: None,
            stamp_ms: Some(0),
            pause_ms: Some(pause_ms),
            ends: Vec::new(),
            is_head: false,
            is_failed: false,
            what: What::Begins("p.scm".to_owned()),
            whole: None,
        };
        let told = |pause_ms, has_times| {
            let drawing = Drawing::new(View {
                has_times,
                ..View::default()
            });
            styled(&drawing.words(&turn(pause_ms)), false)
        };
        assert_eq!(told(12_345, true), "12 s later  run of p.scm");
        assert_eq!(told(9_999, true), "run of p.scm");
        assert_eq!(told(12_345, false), "run of p.scm");
    }

    #[test]
    fn words_are_cut_at_the_room_that_there_is() {
        let spans = [Span::plain("main     "), Span::plain("type äöü 漢字")];
        let cut = |room| styled(&fitted(&spans, room), false);
        assert_eq!(cut(None), "main     type äöü 漢字");
        assert_eq!(cut(Some(22)), "main     type äöü 漢字");
        assert_eq!(cut(Some(21)), "main     type äöü 漢…");
        assert_eq!(cut(Some(20)), "main     type äöü …");
        assert_eq!(cut(Some(10)), "main     …");
    }
}
