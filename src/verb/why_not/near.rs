//! How a value differs from a pattern: the first member that does not match.
//!
//! INVARIANT: a value that matches differs nowhere.
//! It knows no runs. Read next: `text/query.rs`.

use duet_runtime::dataspace::pattern::{GroupKind, Pattern, Step};
use duet_runtime::model::counted::counted;
use preserves::{IOValue, ValueImpl};

use crate::text::query::spelled;
use crate::text::value_text::abbreviated;

/// Says in which member a value differs from a pattern of its label; `None` if it matches, or is
/// something else altogether.
pub(super) fn difference(pattern: &Pattern, value: &IOValue) -> Option<String> {
    let pattern = inner(pattern);
    let Pattern::Group { kind, size, entries } = pattern else {
        return None;
    };
    let GroupKind::Record(label) = kind else { return None };
    if !value.is_record() || label.value() != IOValue::from(value.label()) {
        return None;
    }
    let count = value.len() as u64;
    if let Some(size) = size.filter(|size| *size != count) {
        return Some(format!("it has {}, not {size}", counted(count, "member")));
    }
    entries.iter().find_map(|(step, wanted)| {
        let Step::Index(index) = step else { return None };
        let Some(position) = usize::try_from(*index).ok().filter(|index| *index < value.len()) else {
            return Some(format!("it has no member {}", index + 1));
        };
        let member = IOValue::from(value.index(position));
        let is_same = wanted.matches(&member).is_some();
        (!is_same).then(|| {
            format!(
                "member {} is {}, not {}",
                index + 1,
                abbreviated(&member),
                spelled(wanted)
            )
        })
    })
}

/// Says in which member two patterns of one label cannot match the same value; an empty text if
/// none such is found.
pub(super) fn pattern_difference(pattern: &Pattern, other: &Pattern) -> Option<String> {
    let (
        Pattern::Group { kind, size, entries },
        Pattern::Group {
            kind: other_kind,
            size: other_size,
            entries: other_entries,
        },
    ) = (inner(pattern), inner(other))
    else {
        return None;
    };
    if kind != other_kind || !matches!(kind, GroupKind::Record(_)) {
        return None;
    }
    if let (Some(size), Some(other)) = (size, other_size)
        && size != other
    {
        return Some(format!("it wants {}, not {size}", counted(*other, "member")));
    }
    let difference = entries.iter().find_map(|(step, wanted)| {
        let (_, other) = other_entries.iter().find(|(other, _)| other == step)?;
        let Step::Index(index) = step else { return None };
        let is_apart = match (inner(wanted), inner(other)) {
            (Pattern::Literal(one), Pattern::Literal(two)) => one != two,
            (Pattern::Literal(one), pattern) | (pattern, Pattern::Literal(one)) => {
                pattern.matches(&one.value()).is_none()
            }
            _ => false,
        };
        is_apart.then(|| format!("member {} is {}, not {}", index + 1, spelled(other), spelled(wanted)))
    });
    Some(difference.unwrap_or_default())
}

/// A pattern without the captures around it.
fn inner(pattern: &Pattern) -> &Pattern {
    match pattern {
        Pattern::Bind(within) => inner(within),
        Pattern::Discard | Pattern::Literal(_) | Pattern::Group { .. } => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::query::Query;

    #[test]
    fn the_first_member_that_differs_is_named() {
        for (pattern, value, expected) in [
            ("<p 1 _>", "<p 2 3>", Some("member 1 is 2, not 1")),
            ("<p _ <q 1>>", "<p 2 <q 3>>", Some("member 2 is <q 3>, not <q 1>")),
            ("<p _>", "<p 1 2>", Some("it has 2 members, not 1")),
            ("<p 1 ...>", "<p>", Some("it has no member 1")),
            ("<p 1>", "<p 1>", None),
            ("<p 1>", "<q 2>", None),
        ] {
            let query = Query::read(pattern).expect("it is a pattern");
            let value: IOValue = value.parse().expect("it is a value");
            assert_eq!(
                difference(&query.patterns()[0], &value).as_deref(),
                expected,
                "{pattern} {value:?}"
            );
        }
    }

    #[test]
    fn patterns_differ_where_no_value_matches_both() {
        for (one, two, expected) in [
            ("<p 1>", "<p 2>", Some("member 1 is 2, not 1")),
            ("<p _ a>", "<p _ b ...>", Some("member 2 is b, not a")),
            ("<p _>", "<p _ _>", Some("it wants 2 members, not 1")),
            ("<p _>", "<p 1>", Some("")),
            ("<p _>", "<q _>", None),
        ] {
            let read = |text| Query::read(text).expect("it is a pattern");
            let (one, two) = (read(one), read(two));
            let found = pattern_difference(&one.patterns()[0], &two.patterns()[0]);
            assert_eq!(found.as_deref(), expected);
        }
    }
}
