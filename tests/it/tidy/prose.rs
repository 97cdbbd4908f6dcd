//! The prose of a file: comments of Rust and Scheme, and the running text of Markdown.
//!
//! Owns the telling of prose from code, tables and quoted blocks, and the joining of lines into
//! paragraphs.
//! INVARIANT: a paragraph's text has as many line breaks as its lines in the file, so that each
//! offset in it leads to a line.
//! It does not judge.
//! Read next: `width.rs`.

use super::rule::planted;
use crate::support::tree::Source;

/// A line of prose as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProseLine<'text> {
    /// The line's number, from 1.
    pub(super) number: usize,
    /// The whole line.
    pub(super) line: &'text str,
    /// The line without indentation and the marks of a comment.
    pub(super) text: &'text str,
    /// Whether the line has no code before the prose.
    pub(super) is_alone: bool,
}

/// Lines of prose that belong together.
#[derive(Debug)]
pub(super) struct Paragraph {
    /// The first line's number, from 1.
    pub(super) first: usize,
    /// The lines, joined with line breaks.
    pub(super) text: String,
}

impl Paragraph {
    /// The number of the line in which a byte of the text stands.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.first + self.text[..offset].matches('\n').count()
    }

    /// The text in one line; offsets stay the same.
    pub(super) fn flowing(&self) -> String {
        self.text.replace('\n', " ")
    }

    /// The sentences, with their offsets in the text. A heading's or list's last line may lack its
    /// full stop.
    pub(super) fn sentences(&self) -> Vec<(usize, String)> {
        let text = self.flowing();
        let mut sentences = Vec::new();
        let mut start = 0;
        for (at, mark) in text.match_indices(['.', '?', '!', ';']) {
            let end = at + mark.len();
            if text[end..].is_empty() || text[end..].starts_with(' ') {
                sentences.push((start, text[start..end].to_owned()));
                start = end;
            }
        }
        sentences.push((start, text[start..].to_owned()));
        let trimmed = sentences.into_iter().map(|(start, sentence)| {
            let blanks = sentence.len() - sentence.trim_start().len();
            (start + blanks, sentence.trim().to_owned())
        });
        trimmed.filter(|(_, sentence)| !sentence.is_empty()).collect()
    }
}

/// The text behind the mark of a comment, and whether nothing stands before it.
fn comment<'text>(line: &'text str, mark: &str) -> Option<(&'text str, bool)> {
    let trimmed = line.trim_start();
    if trimmed.starts_with(mark) {
        let text = trimmed.trim_start_matches(['/', ';', '!', '>']);
        return Some((text.trim(), true));
    }
    // A mark between quotes belongs to a string.
    let (code, text) = line.rsplit_once(&format!(" {mark} "))?;
    let is_outside = code.matches('"').count().is_multiple_of(2);
    is_outside.then_some((text.trim(), false))
}

/// Whether a comment of a script is an expectation.
fn is_expectation(text: &str) -> bool {
    text.starts_with("=> ") || text.starts_with("raises: ")
}

/// Whether a line of Markdown, or of a docstring, opens or closes a quoted block.
fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

/// The lines of prose, without quoted blocks, tables, expectations and blank lines.
pub(super) fn prose_lines(source: &Source) -> Vec<ProseLine<'_>> {
    let mark = match source.extension() {
        "rs" => Some("//"),
        "scm" | "sld" => Some(";"),
        _ => None,
    };
    let mut lines = Vec::new();
    let mut is_quoted = false;
    for (number, line) in source.numbered() {
        let found = mark.map_or(Some((line.trim(), true)), |mark| comment(line, mark));
        let Some((text, is_alone)) = found else {
            is_quoted = false;
            continue;
        };
        if is_fence(text) {
            is_quoted = !is_quoted;
        } else if !is_quoted && !text.is_empty() && !text.starts_with('|') && !is_expectation(text) {
            lines.push(ProseLine {
                number,
                line,
                text,
                is_alone,
            });
        }
    }
    lines
}

/// Whether a line begins a paragraph of its own: a heading, an item of a list.
fn begins(text: &str) -> bool {
    let is_numbered = text
        .split_once(". ")
        .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    is_numbered
        || ["# ", "## ", "### ", "- ", "* "]
            .iter()
            .any(|mark| text.starts_with(mark))
}

/// The paragraphs of a file.
pub(super) fn paragraphs(source: &Source) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut last = 0;
    for prose in prose_lines(source) {
        let goes_on = prose.is_alone && prose.number == last + 1 && !begins(prose.text);
        match paragraphs.last_mut().filter(|_| goes_on) {
            Some(paragraph) => {
                paragraph.text.push('\n');
                paragraph.text.push_str(prose.text);
            }
            None => paragraphs.push(Paragraph {
                first: prose.number,
                text: prose.text.to_owned(),
            }),
        }
        // A heading, or a comment behind code, ends with its line.
        last = if prose.text.starts_with('#') || !prose.is_alone {
            0
        } else {
            prose.number
        };
    }
    paragraphs
}

#[test]
fn prose_is_told_from_code() {
    let rust = planted(
        "src/a.rs",
        "/// It adds\n/// two.\n///\n/// ```\n/// let x = 1;\n/// ```\nlet a = \"http: // x\"; // Why.\n// | a | b |\n",
    );
    let found: Vec<(usize, String)> = paragraphs(&rust)
        .into_iter()
        .map(|paragraph| (paragraph.first, paragraph.text))
        .collect();
    assert_eq!(found, [(1, "It adds\ntwo.".to_owned()), (7, "Why.".to_owned())]);
    let page = planted("a.md", "# Title\nText.\n- one\n  more\n- two\n```\ncode\n```\n| a |\n");
    let found: Vec<String> = paragraphs(&page).into_iter().map(|paragraph| paragraph.text).collect();
    assert_eq!(found, ["# Title", "Text.", "- one\nmore", "- two"]);
    let sentences = Paragraph {
        first: 4,
        text: "One.\nTwo v1.2? Three".to_owned(),
    };
    let found = sentences.sentences();
    assert_eq!(
        found,
        [
            (0, "One.".to_owned()),
            (5, "Two v1.2?".to_owned()),
            (15, "Three".to_owned())
        ]
    );
    assert_eq!(sentences.line_at(5), 5);
}
