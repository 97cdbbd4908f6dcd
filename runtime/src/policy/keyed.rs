//! Facts that are entries: `<policy "name" "json">`, and likewise `constraint`, `goal` and `fact`.
//!
//! INVARIANT: a record with the label `policy` or `constraint` is always an entry, though perhaps a
//! malformed one, so that a mistake is refused and never ignored; `goal` and `fact` are entries
//! only with two strings, because programs use these words for other purposes too.
//! It does not judge.
//! Read next: `ruling.rs`.

use preserves::{IOValue, ValueImpl};

use crate::model::value::Fact;

/// The packed symbols of the labels, and their names.
const LABELS: [(&[u8], &str, bool); 4] = [
    (b"\xb3\x06policy", "policy", true),
    (b"\xb3\x0aconstraint", "constraint", true),
    (b"\xb3\x04goal", "goal", false),
    (b"\xb3\x04fact", "fact", false),
];

/// An entry in the form of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed {
    /// The key: the label, a dot, the name.
    pub key: String,
    /// The text.
    pub text: String,
}

/// Reads a fact as an entry, if it is one.
pub fn of(fact: &Fact) -> Option<Keyed> {
    // Hardly any fact is an entry, so the check must cost next to nothing.
    let label = fact.view().label()?.as_bytes();
    let (_, label, is_reserved) = LABELS.iter().find(|(packed, ..)| *packed == label)?;
    let value = fact.value();
    let field = |index: usize| (index < value.len()).then(|| IOValue::from(value.index(index)));
    let text = |field: Option<IOValue>| field.and_then(|field| field.as_string().map(std::borrow::Cow::into_owned));
    let (name, json) = (text(field(0)), text(field(1)));
    match (name, json) {
        (Some(name), Some(text)) if value.len() == 2 => Some(Keyed {
            key: format!("{label}.{name}"),
            text,
        }),
        (Some(name), _) if *is_reserved => Some(Keyed {
            key: format!("{label}.{name}"),
            text: format!("{value:?}"),
        }),
        (None, _) if *is_reserved => Some(Keyed {
            key: format!("{label}."),
            text: String::new(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fact: &str, expected: Option<(&str, &str)>) {
        let fact = Fact::new(fact.parse().expect("well formed")).expect("small");
        let expected = expected.map(|(key, text)| Keyed {
            key: key.to_owned(),
            text: text.to_owned(),
        });
        assert_eq!(of(&fact), expected, "{fact:?}");
    }

    #[test]
    fn records_of_two_strings_are_entries() {
        check("<constraint \"a.b\" \"{}\">", Some(("constraint.a.b", "{}")));
        check("<policy \"a\" \"{}\">", Some(("policy.a", "{}")));
        check("<goal \"a\" \"{}\">", Some(("goal.a", "{}")));
        check("<fact \"a\" \"{}\">", Some(("fact.a", "{}")));
        check("<goal \"a\" 1>", None);
        check("<fact \"a\">", None);
        check("<other \"a\" \"{}\">", None);
        check("\"constraint\"", None);
        check("<constraint a \"{}\">", Some(("constraint.", "")));
        check("<constraint>", Some(("constraint.", "")));
        check("<constraint \"a\" 5>", Some(("constraint.a", "<constraint \"a\" 5>")));
    }
}
