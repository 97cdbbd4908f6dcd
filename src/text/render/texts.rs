//! The texts that errors refer to, and the places in them that people see.
//!
//! A workflow of the older language runs as its translation; people see the workflow.
//! INVARIANT: a place is clamped to the text that it is in.
//! It lays nothing out. Read next: `languages/migrate/places.rs`.

use std::ops::Range;
use std::sync::Arc;

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{SourceId, Span};
use duet_kernel::expander::{Expander, SourceText};
use duet_runtime::model::failure::{Failure, FramePlace, Origin, read_file_line};

use schemars::JsonSchema;
use serde::Serialize;

use super::clamp;
use crate::languages::migrate::Original;

/// The texts that errors refer to, by number and by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceTexts {
    texts: Vec<SourceText>,
    /// The workflow of each text that is the translation of one, under the name of the text.
    workflows: Vec<Option<(SourceText, Original)>>,
}

/// An expression in a text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "By")]
pub(crate) struct TextForm {
    /// The text.
    pub(crate) source: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The form, on one line.
    pub(crate) form: String,
}

/// A line of a text and a column in it, in characters, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl SourceTexts {
    /// Takes texts, in the order of their numbers.
    pub(super) fn new(texts: Vec<SourceText>) -> Self {
        let workflow = |text: &SourceText| {
            let original = Original::of(&text.text)?;
            let shown = SourceText {
                name: text.name.clone(),
                text: Arc::from(original.text.as_str()),
            };
            Some((shown, original))
        };
        let workflows = texts.iter().map(workflow).collect();
        Self { texts, workflows }
    }

    /// Takes the texts that an expander has read.
    pub(crate) fn of(expander: &Expander) -> Self {
        let texts = (0..).map_while(|number| expander.source(SourceId(number)).cloned());
        Self::new(texts.collect())
    }

    /// Takes texts with their names.
    pub(crate) fn named_texts(texts: Vec<(String, Arc<str>)>) -> Self {
        let texts = texts.into_iter();
        Self::new(texts.map(|(name, text)| SourceText { name, text }).collect())
    }

    /// The texts.
    pub(crate) fn all(&self) -> &[SourceText] {
        &self.texts
    }

    /// The text of an expander's span, and the place in it; `None` if people do not have the text.
    pub(super) fn at_span(&self, span: Span) -> Option<(&SourceText, Range<usize>)> {
        let number = span.source.0 as usize;
        self.place(number, &(span.start as usize..span.end as usize))
    }

    /// The text that an origin names, and the place in it; `None` if people do not have the text.
    pub(super) fn at(&self, origin: &Origin) -> Option<(&SourceText, Range<usize>)> {
        let number = self.named(&origin.source)?;
        self.place(number, &(at(origin.start)..at(origin.end)))
    }

    /// The text and the place of a failure: if people do not have the text of its origin, those of
    /// the nearest call that led to it.
    pub(super) fn of_failure(&self, failure: &Failure) -> Option<(&SourceText, Range<usize>)> {
        let origin = failure.origin.as_ref()?;
        self.at(origin).or_else(|| {
            failure.backtrace.iter().find_map(|frame| {
                let FramePlace::Text { source, start } = &frame.at else {
                    return None;
                };
                self.place(self.named(source)?, &(at(*start)..at(*start)))
            })
        })
    }

    /// The name of the text of a failure's place, and the line there, counted from 1.
    pub(crate) fn line_of_failure(&self, failure: &Failure) -> Option<(String, usize)> {
        let (text, place) = self.of_failure(failure)?;
        Some((text.name.clone(), self.line_of(&text.name, place.start as u64)?))
    }

    /// The line, counted from 1, of a byte of a text.
    pub(crate) fn line_of(&self, name: &str, byte: u64) -> Option<usize> {
        Some(self.position_of(name, byte)?.line)
    }

    /// The line and the column of a byte of a text.
    pub(crate) fn position_of(&self, name: &str, byte: u64) -> Option<TextPosition> {
        let (text, place) = self.place(self.named(name)?, &(at(byte)..at(byte)))?;
        let before = text.text.get(..place.start)?;
        let first = read_file_line(name).map_or(1, |(_, line)| line);
        let last = before.rsplit('\n').next().unwrap_or_default();
        Some(TextPosition {
            line: first + before.matches('\n').count(),
            column: last.chars().count() + 1,
        })
    }

    /// Whether a byte of a text is in the last of its forms.
    pub(crate) fn is_in_last_form(&self, name: &str, byte: u64) -> bool {
        let text = self.named(name).and_then(|number| self.texts.get(number));
        let Some(text) = text else {
            return false;
        };
        let (reading, _) = read_all(&text.text, SourceId(0));
        let last = reading.forms.last().and_then(|form| reading.spans.get(form.0 as usize));
        last.is_some_and(|span| at(byte) >= span.start as usize)
    }

    /// The form that an origin names.
    pub(crate) fn form_at(&self, origin: &Origin) -> Option<TextForm> {
        let (text, place) = self.at(origin)?;
        let words: Vec<&str> = text.text.get(place)?.split_whitespace().collect();
        let line = self.line_of(&origin.source, origin.start)?;
        Some(TextForm {
            source: text.name.clone(),
            line,
            form: words.join(" "),
        })
    }

    fn place(&self, number: usize, range: &Range<usize>) -> Option<(&SourceText, Range<usize>)> {
        match self.workflows.get(number)? {
            Some((text, original)) => {
                let form = original.place(range)?;
                Some((text, clamp(&text.text, form.start, form.end)))
            }
            None => {
                let text = self.texts.get(number)?;
                Some((text, clamp(&text.text, range.start, range.end)))
            }
        }
    }

    fn named(&self, name: &str) -> Option<usize> {
        // Of texts that were typed and could not be used, the newest has the name.
        self.texts.iter().rposition(|text| text.name == name)
    }
}

fn at(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
