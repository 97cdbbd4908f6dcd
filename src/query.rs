//! Patterns that people type, and the facts that match them.
//!
//! Owns their syntax: a value in Preserves text in which `_` matches anything, and `...` at the end
//! of a record or sequence any number of further parts; a symbol alone also matches every record
//! with that label.
//! INVARIANT: no text, however deep, exhausts the stack; text after the value is an error.
//! It knows no runs. Read next: `command/facts.rs`.

use duet_runtime::dataspace::pattern::{GroupKind, Pattern, Step};
use duet_runtime::model::value::Fact;
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use crate::error::CommandError;

/// Brackets in a typed value may be nested this deep.
const DEPTH_MAX: usize = 200;

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
    let wrong = |what: &str| CommandError::usage(format!("`{text}` is not a value in Preserves text: {what}"));
    check_brackets(text).map_err(&wrong)?;
    // The brackets are even, so these two enclose all of the text, and whatever follows the first
    // value counts.
    let all: IOValue = format!("[{text}\n]").parse().map_err(|_| wrong("it cannot be read"))?;
    match all.len() {
        1 => Ok(all.index(0).into()),
        0 => Err(wrong("it is empty")),
        _ => Err(wrong("more than one value is given")),
    }
}

/// Requires that brackets outside strings are even and not too deep.
fn check_brackets(text: &str) -> Result<(), &'static str> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '|') => quote = Some(letter),
            (None, '<' | '[' | '{') => open.push(letter),
            (None, '>') if open.pop() != Some('<') => return Err("`>` closes nothing"),
            (None, ']') if open.pop() != Some('[') => return Err("`]` closes nothing"),
            (None, '}') if open.pop() != Some('{') => return Err("`}` closes nothing"),
            (None, _) => {}
        }
        if open.len() > DEPTH_MAX {
            return Err("it is nested too deep");
        }
    }
    match (quote, open.is_empty()) {
        (Some(_), _) => Err("a quotation mark is never closed"),
        (None, false) => Err("a bracket is never closed"),
        (None, true) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_is_no_value_is_refused() {
        for (text, expected) in [
            ("", "it is empty"),
            ("1 2", "more than one value is given"),
            ("1] [2", "`]` closes nothing"),
            ("<p", "a bracket is never closed"),
            ("<p]", "`]` closes nothing"),
            ("\"a", "a quotation mark is never closed"),
            ("<>", "it cannot be read"),
        ] {
            let Err(CommandError::Problem(problem)) = read_value(text) else {
                panic!("{text:?} was read");
            };
            assert!(problem.what.ends_with(expected), "{}", problem.what);
        }
        assert!(read_value(&"[".repeat(100_000)).is_err());
    }
}
