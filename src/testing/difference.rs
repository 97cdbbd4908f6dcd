//! The difference of two values: word by word for texts, the first that differs for data.
//!
//! INVARIANT: a value of any depth is compared without recursion on it.
//! It lays nothing out. Read next: `../verb/diff/words.rs`.

use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use super::check::shown;
use crate::verb::diff::words::words_apart;

/// The length in characters from which texts are compared word by word.
const TEXT_CHARACTERS: usize = 12;

/// Says where two values differ; nothing if both are short enough to see it.
pub(super) fn difference(expected: &IOValue, actual: &IOValue) -> Option<String> {
    let (mut expected, mut actual) = (expected.clone(), actual.clone());
    let mut path = Vec::new();
    loop {
        if let Some((left, right)) = expected.as_string().zip(actual.as_string()) {
            let is_long = left.chars().count().max(right.chars().count()) >= TEXT_CHARACTERS;
            return is_long.then(|| at(&path, &words_apart(&left, &right)));
        }
        let Some((step, left, right)) = first_apart(&expected, &actual) else {
            return (!path.is_empty()).then(|| {
                let told = format!("{} is expected, {} came", shown(&expected), shown(&actual));
                at(&path, &told)
            });
        };
        path.push(step);
        match (left, right) {
            (Some(left), Some(right)) => (expected, actual) = (left, right),
            (Some(left), None) => return Some(at(&path, &format!("{} is missing", shown(&left)))),
            (None, Some(right)) => return Some(at(&path, &format!("{} is too much", shown(&right)))),
            (None, None) => return None,
        }
    }
}

/// Tells something of the part to which a path leads.
fn at(path: &[String], told: &str) -> String {
    if path.is_empty() {
        return told.to_owned();
    }
    format!("{}: {told}", path.join(", "))
}

/// The first part in which two compound values of one class differ: which, and both sides of it.
fn first_apart(left: &IOValue, right: &IOValue) -> Option<(String, Option<IOValue>, Option<IOValue>)> {
    let class = |value: &IOValue| match value.value_class() {
        ValueClass::Compound(class) => Some(class),
        ValueClass::Atomic(_) | ValueClass::Embedded => None,
    };
    let (class, other) = (class(left)?, class(right)?);
    if class != other {
        return None;
    }
    match class {
        CompoundClass::Dictionary => {
            let of = |value: &IOValue| -> Vec<(IOValue, IOValue)> {
                value.entries().map(|(key, entry)| (key.into(), entry.into())).collect()
            };
            let (left, right) = (of(left), of(right));
            let find = |among: &[(IOValue, IOValue)], key: &IOValue| {
                among
                    .iter()
                    .find(|(other, _)| other == key)
                    .map(|(_, entry)| entry.clone())
            };
            let mut keys = left.iter().chain(&right).map(|(key, _)| key);
            let key = keys.find(|key| find(&left, key) != find(&right, key))?;
            Some((format!("entry {}", shown(key)), find(&left, key), find(&right, key)))
        }
        CompoundClass::Sequence | CompoundClass::Record | CompoundClass::Set => {
            if class == CompoundClass::Record && left.label() != right.label() {
                return None;
            }
            let parts = |value: &IOValue| -> Vec<IOValue> { value.iter().map(IOValue::from).collect() };
            let (left, right) = (parts(left), parts(right));
            let part = |parts: &[IOValue], position: usize| parts[..].get(position).cloned();
            let longer = left.len().max(right.len());
            let position = (0..longer).find(|position| part(&left, *position) != part(&right, *position))?;
            let step = format!("element {position}");
            Some((step, part(&left, position), part(&right, position)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str, actual: &str, told: Option<&str>) {
        let value = |text: &str| text.parse::<IOValue>().expect("a value");
        assert_eq!(difference(&value(expected), &value(actual)).as_deref(), told);
    }

    #[test]
    fn the_first_part_that_differs_is_told() {
        check("4", "5", None);
        check("[1 2 3]", "[1 5 3]", Some("element 1: 2 is expected, 5 came"));
        check(
            "[1 [2 3]]",
            "[1 [2 4]]",
            Some("element 1, element 1: 3 is expected, 4 came"),
        );
        check("[1 2]", "[1 2 3]", Some("element 2: 3 is too much"));
        check("[1 2]", "[1]", Some("element 1: 2 is missing"));
        check("{a: 1 b: 2}", "{a: 1 b: 3}", Some("entry b: 2 is expected, 3 came"));
        check("\"the old text\"", "\"the new text\"", Some("the [-old-]{+new+} text"));
        check("\"old\"", "\"new\"", None);
        let deep = |end: &str| format!("{}{end}{}", "[".repeat(300), "]".repeat(300));
        let (left, right): (IOValue, IOValue) =
            (deep("1").parse().expect("a value"), deep("2").parse().expect("a value"));
        assert!(
            difference(&left, &right)
                .expect("it differs")
                .ends_with("1 is expected, 2 came")
        );
    }
}
