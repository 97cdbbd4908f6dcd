//! The places of a translation in its workflow, for errors of a run.
//!
//! A run keeps the text of its program, so what tells the places stands in that text: one comment
//! at its end.
//! INVARIANT: the comment is one line, whatever the workflow contains; a comment that is not
//! understood is none.
//! It renders nothing. Read next: `text/render/texts.rs`.

use std::ops::Range;

use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Datum, SourceId};
use serde_json::{Value, json};

use super::code::Code;
use crate::languages::datum::list;

/// The beginning of the comment.
const COMMENT: &str = "\n;; translated from ";

/// A range of bytes of a translation, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TranslatedRange {
    at: Range<usize>,
    /// The form of the workflow.
    form: Range<usize>,
}

/// A workflow, and where its forms are in its translation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Original {
    /// The text of the workflow.
    pub(crate) text: String,
    places: Vec<TranslatedRange>,
}

impl Original {
    /// The form of the workflow that a range of bytes of the translation comes from.
    pub(crate) fn place(&self, translated: &Range<usize>) -> Option<Range<usize>> {
        let around = self
            .places
            .iter()
            .filter(|TranslatedRange { at, .. }| at.start <= translated.start && translated.end <= at.end);
        around
            .min_by_key(|place| place.at.len())
            .map(|place| place.form.clone())
    }

    /// Finds the workflow of a translation that a run has kept; `None` for any other program.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (_, comment) = text.rsplit_once(COMMENT)?;
        let value: Value = serde_json::from_str(comment.strip_suffix('\n')?).ok()?;
        let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
        let pair = |pair: &Value| {
            let numbers: Vec<usize> = pair.as_array()?.iter().map_while(number).collect();
            let [start, end, form_start, form_end] = numbers[..] else {
                return None;
            };
            Some(TranslatedRange {
                at: start..end,
                form: form_start..form_end,
            })
        };
        Some(Self {
            text: value.get("workflow")?.as_str()?.to_owned(),
            places: value.get("places")?.as_array()?.iter().filter_map(pair).collect(),
        })
    }
}

/// Adds the comment to a translation.
pub(super) fn with_comment(translation: &str, workflow: &str, places: &[TranslatedRange]) -> String {
    let places: Vec<[usize; 4]> = places
        .iter()
        .map(|TranslatedRange { at, form }| [at.start, at.end, form.start, form.end])
        .collect();
    let told = json!({ "workflow": workflow, "places": places });
    format!("{translation}{COMMENT}{told}\n")
}

/// Finds the places of code that was laid out as the last forms of a text.
pub(super) fn places(text: &str, code: &[Code]) -> Vec<TranslatedRange> {
    let (reading, _) = read_all(text, SourceId(0));
    let Reading { nodes, spans, forms } = reading;
    let mut datum = Datum {
        root: duet_kernel::datum::NodeId(0),
        nodes,
    };
    let mut found = Vec::new();
    let first = forms.len().saturating_sub(code.len());
    let mut work: Vec<_> = code.iter().zip(forms[first..].iter().copied()).collect();
    while let Some((code, node)) = work.pop() {
        if let Code::At(form, inner) = code {
            let span = spans[node.0 as usize];
            found.push(TranslatedRange {
                at: span.start as usize..span.end as usize,
                form: form.clone(),
            });
            work.push((inner, node));
        } else if let Code::List(items) = code {
            datum.root = node;
            work.extend(items.iter().zip(list(&datum, node).unwrap_or_default()));
        }
    }
    found.sort_by_key(|place| (place.at.start, place.at.end));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::migrate::translate;

    #[test]
    fn an_instruction_is_found_from_its_translation() {
        let workflow = concat!(
            "(workflow w)\n(state s (log \"a\\rb\") (assert (record x 1))\n",
            "  (branch (when (signal go) (log \"c\"))) (log 2))\n"
        );
        let translation = translate(workflow, false).expect("it is a workflow");
        let original = Original::of(&translation.kept).expect("it has the comment");
        assert_eq!(original.text, workflow);
        for (code, form) in [
            ("(log! \"a\\rb\")", "(log \"a\\rb\")"),
            ("(assert! (record 'x 1))", "(assert (record x 1))"),
            ("(record 'x 1)", "(assert (record x 1))"),
            ("(log! \"c\")", "(log \"c\")"),
            ("(log! 2)", "(log 2)"),
            ("(present?", "(branch (when (signal go) (log \"c\")))"),
        ] {
            let start = translation.text.rfind(code).expect(code);
            let found = original.place(&(start..start + code.len())).expect(code);
            assert_eq!(&workflow[found], form, "{code}");
        }
        assert_eq!(original.place(&(0..5)), None);
    }

    #[test]
    fn another_text_has_no_workflow() {
        for text in [
            "",
            "(display 1)",
            "\n;; translated from {}\n",
            "\n;; translated from {\"workflow\": \"x\"}\n",
        ] {
            assert_eq!(Original::of(text), None, "{text}");
        }
        let wrong = "\n;; translated from {\"workflow\": \"x\", \"places\": [[1], 2, [1, 2, 3, -1]]}\n";
        assert_eq!(Original::of(wrong).expect("it has a workflow").place(&(1..2)), None);
    }
}
