//! Patterns that people type, and the facts that match them.
//!
//! Owns their syntax: a value in Preserves text in which `_` matches anything, and `...` at the end
//! of a record or sequence any number of further parts; a symbol alone also matches every record
//! with that label.
//! INVARIANT: no text, however deep, exhausts the stack; text after the value is an error.
//! It knows no runs. Read next: `verb/facts.rs`.

use duet_runtime::dataspace::pattern::{GroupKind, PackedPattern, Pattern, Step};
use duet_runtime::driver::check_foreign;
use duet_runtime::driver::packed::PackedLimits;
use duet_runtime::driver::packed::framing::read_text;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::value::Fact;
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use crate::text::error::CommandError;
use crate::text::value_text::shown;

/// The limits of a value that a person types.
const LIMITS: PackedLimits = PackedLimits {
    depth_max: 200,
    bytes_max: 16 << 20,
};

/// The patterns of a search, any of which may match.
pub(crate) struct Query(Vec<Pattern>);

impl Query {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A usage failure that shows the form.
    pub(crate) fn read(text: &str) -> Result<Self, CommandError> {
        let value = read_value(text).map_err(|failure| failure.advise(FORM))?;
        let mut patterns = vec![pattern(&value)?];
        if value.as_symbol().is_some() && !is_named(&value, "_") {
            patterns.push(Pattern::record(fact(&value)?, Vec::new()));
        }
        Ok(Self(patterns))
    }

    /// The patterns, any of which may match.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.0
    }

    /// Whether a value matches.
    pub(crate) fn finds(&self, value: &IOValue) -> bool {
        self.0.iter().any(|pattern| pattern.matches(value).is_some())
    }
}

const FORM: &str = "a pattern is a value such as `<greeted \"Ada\">`, with `_` for anything: `<greeted _>`; \
                    a label alone finds all its records";

fn pattern(value: &IOValue) -> Result<Pattern, CommandError> {
    let group = |kind, parts: Vec<IOValue>| {
        let is_open = parts.last().is_some_and(|last| is_named(last, "..."));
        let fixed = parts.len() - usize::from(is_open);
        let entries = (0..).map(Step::Index).zip(parts[..fixed].iter().map(pattern));
        Ok(Pattern::Group {
            kind,
            size: (!is_open).then_some(fixed as u64),
            entries: entries
                .map(|(step, inner)| Ok((step, inner?)))
                .collect::<Result<_, CommandError>>()?,
        })
    };
    let parts = || value.iter().map(IOValue::from).collect();
    match value.value_class() {
        _ if is_named(value, "_") => Ok(Pattern::Discard),
        ValueClass::Compound(CompoundClass::Record) => {
            let label: IOValue = value.label().into();
            if is_named(&label, "_") {
                return Err(CommandError::usage("the label of a record in a pattern cannot be `_`"));
            }
            group(GroupKind::Record(fact(&label)?), parts())
        }
        ValueClass::Compound(CompoundClass::Sequence) => group(GroupKind::Sequence, parts()),
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let mut entries = Vec::new();
            for (key, inner) in value.entries() {
                entries.push((Step::Key(fact(&key.into())?), pattern(&inner.into())?));
            }
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            Ok(Pattern::Group {
                kind: GroupKind::Dictionary,
                size: None,
                entries,
            })
        }
        ValueClass::Compound(CompoundClass::Set) | ValueClass::Atomic(_) | ValueClass::Embedded => {
            Ok(Pattern::Literal(fact(value)?))
        }
    }
}

/// Writes a pattern as a person would type it. An entry of a dictionary or record that it does not
/// look at is `_`, and the end of one that may go on `...`.
pub(crate) fn spelled(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Discard => "_".to_owned(),
        Pattern::Bind(inner) => spelled(inner),
        Pattern::Literal(literal) => shown(&literal.value()),
        Pattern::Group { kind, size, entries } => {
            let keyed = entries.iter().filter_map(|(step, inner)| match step {
                Step::Key(key) => Some(format!("{}: {}", shown(&key.value()), spelled(inner))),
                Step::Index(_) => None,
            });
            match kind {
                GroupKind::Record(label) => {
                    let parts = std::iter::once(shown(&label.value())).chain(items(*size, entries));
                    format!("<{}>", parts.collect::<Vec<_>>().join(" "))
                }
                GroupKind::Sequence => format!("[{}]", items(*size, entries).join(", ")),
                GroupKind::Dictionary => format!("{{{}}}", keyed.collect::<Vec<_>>().join(", ")),
            }
        }
    }
}

/// The maximum number of places that a pattern does not look at and that are written.
const UNSEEN_MAX: u64 = 64;

/// Writes the fields of a record or the elements of a sequence.
fn items(size: Option<u64>, entries: &[(Step, Pattern)]) -> Vec<String> {
    let at = |wanted: u64| {
        let mut entries = entries.iter();
        let found = entries.find(|(step, _)| *step == Step::Index(wanted));
        found.map_or_else(|| "_".to_owned(), |(_, inner)| spelled(inner))
    };
    let last = entries.iter().filter_map(|(step, _)| match step {
        Step::Index(index) => Some(index + 1),
        Step::Key(_) => None,
    });
    let count = size.unwrap_or_else(|| last.max().unwrap_or(0)).min(UNSEEN_MAX);
    let mut items: Vec<String> = (0..count).map(at).collect();
    if size != Some(count) {
        items.push("...".to_owned());
    }
    items
}

/// Writes the pattern of an observer as a person would type it.
pub(crate) fn spelled_packed(pattern: &PackedPattern) -> String {
    // It was read when the observer came.
    Pattern::decode(&pattern.encode()).map_or_else(|_| pattern.to_string(), |pattern| spelled(&pattern))
}

fn fact(value: &IOValue) -> Result<Fact, CommandError> {
    Fact::new(value.clone()).map_err(|error| CommandError::usage(error.to_string()))
}

fn is_named(value: &IOValue, name: &str) -> bool {
    value.as_symbol().is_some_and(|symbol| *symbol == *name)
}

/// Reads one value in Preserves text.
///
/// # Errors
/// A usage error with the reason.
pub(crate) fn read_value(text: &str) -> Result<IOValue, CommandError> {
    let wrong = |what: String| CommandError::usage(format!("`{text}` is not a value in Preserves text: {what}"));
    read_text(text, LIMITS).map_err(|error| wrong(error.to_string()))
}

/// Reads one value in Preserves text that a run is to receive.
///
/// # Errors
/// A usage error with the reason.
pub(crate) fn read_told(text: &str) -> Result<IOValue, CommandError> {
    let value = read_value(text).map_err(|error| {
        error.advise("a record is written `<order \"tea\" 2>`, a list `[1 2]`, a text `\"tea\"`, a symbol `tea`")
    })?;
    let wrong = |unfit| CommandError::usage(format!("a run cannot receive `{text}`: {unfit}"));
    check_foreign(&value).map_err(wrong)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_another_notation_is_refused_with_an_example() {
        for text in ["(order 2)", "order 2", "<order"] {
            let Err(CommandError::Problem(problem)) = read_told(text) else {
                panic!("{text}")
            };
            let advice = problem.advice.last().expect("advice");
            let words = advice.spelled(crate::text::saying::Speaker::Command);
            assert!(words.as_str().starts_with("a record is written `<order"), "{text}");
        }
    }

    #[test]
    fn patterns_find_what_they_say() {
        for (pattern, value, is_found) in [
            ("_", "1", true),
            ("<p _>", "<p 1>", true),
            ("<p _>", "<p 1 2>", false),
            ("<p _ ...>", "<p 1 2>", true),
            ("<p ...>", "<p>", true),
            ("p", "<p 1 2>", true),
            ("p", "p", true),
            ("p", "<q p>", false),
            ("[1 _]", "[1 [2]]", true),
            ("{a: _}", "{a: 1 b: 2}", true),
            ("{a: 2}", "{a: 1}", false),
            ("\"_\"", "\"x\"", false),
            ("<p <q _>>", "<p <q 1>>", true),
        ] {
            let query = Query::read(pattern).expect("it is a pattern");
            let value: IOValue = value.parse().expect("it is a value");
            assert_eq!(query.finds(&value), is_found, "{pattern} in {value:?}");
        }
    }

    #[test]
    fn patterns_are_written_as_they_are_typed() {
        for text in [
            "_",
            "<p _>",
            "<p 1 ...>",
            "<p>",
            "[1, _]",
            "[...]",
            "{a: _}",
            "<p <q _ 2> \"x\">",
            "1",
        ] {
            let query = Query::read(text).expect("it is a pattern");
            assert_eq!(spelled(&query.patterns()[0]), text);
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (text, expected) in [
            ("", "it is empty"),
            ("1 2", "more than one value is given"),
            ("1] [2", "more than one value is given"),
            ("<p", "a bracket is never closed"),
            ("<p]", "an end stands where it means nothing at byte 2"),
            ("\"a", "a quotation mark is never closed"),
            ("<>", "a record has no label at byte 1"),
            ("# a comment", "it is empty"),
            ("@a", "an annotation has no value after it"),
            (
                "{a: 1, a: 2}",
                "a set or dictionary has an element or key twice at byte 12",
            ),
        ] {
            let Err(CommandError::Problem(problem)) = read_value(text) else {
                panic!("{text:?} was read");
            };
            assert!(problem.what.ends_with(expected), "{}", problem.what);
        }
        assert!(read_value(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn symbols_of_all_scripts_and_with_bars_are_values() {
        for text in [
            "voilà",
            "Å",
            "х",
            "Р",
            "م",
            "٣",
            "à",
            "a|b",
            "|a|",
            "<says \"me\" a|b>",
            "[|]",
            "1 # a comment",
        ] {
            assert!(read_value(text).is_ok(), "{text}");
        }
        let Ok(value) = read_value("<says _ à>") else {
            panic!("it was not read")
        };
        assert!(is_named(&value.index(1).into(), "à"));
    }

    #[test]
    fn a_run_receives_nothing_embedded() {
        for text in [
            "#:1",
            "#:#f",
            "[#:1]",
            "{a: #:[0 1]}",
            "{#:1: 2}",
            "<a #:<capability 1>>",
            "<#:1 2>",
            "#{#:1}",
        ] {
            assert!(read_value(text).is_ok(), "{text}");
            let Err(CommandError::Problem(problem)) = read_told(text) else {
                panic!("{text:?} was taken");
            };
            assert!(
                problem.what.ends_with("an embedded value stands for nothing here"),
                "{}",
                problem.what
            );
        }
    }
}
