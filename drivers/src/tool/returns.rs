//! The shape of a tool's result, to check a result that did not come from the tool.
//!
//! INVARIANT: every result that a tool returns fits its shape (`tool/workspace/tests.rs` and the
//! other tools' tests ask).
//! It does not check what tools return; a person's stand-in for a result is checked.
//! Read next: `tool/description.rs`.

use preserves::{IOValue, ValueImpl};

/// The shape of a result.
#[derive(Clone, Copy, Debug)]
pub enum Returns {
    /// Anything: nothing is known of a test double.
    Anything,
    /// A string.
    Text,
    /// A string, or a bytevector of what is not UTF-8.
    Bytes,
    /// An integer.
    Integer,
    /// A double.
    Double,
    /// True or false.
    Flag,
    /// One of these symbols.
    Symbol(&'static [&'static str]),
    /// False, or the other shape.
    Optional(&'static Returns),
    /// One of two shapes.
    Either(&'static Returns, &'static Returns),
    /// A list of values of one shape.
    List(&'static Returns),
    /// A dictionary from strings to strings.
    Texts,
    /// A dictionary with exactly these symbols as keys.
    Fields(&'static [(&'static str, Returns)]),
}

impl Returns {
    /// Checks a value.
    ///
    /// # Errors
    /// The expected shape, and the place in the value that does not have it.
    pub fn check(&self, value: &IOValue) -> Result<(), String> {
        self.check_at("the result", value)
    }

    // The recursion follows the shape, which is finite and small, not the value.
    fn check_at(&self, place: &str, value: &IOValue) -> Result<(), String> {
        let is_fit = match self {
            Self::Anything => true,
            Self::Text => value.as_string().is_some(),
            Self::Bytes => value.as_string().is_some() || value.as_bytestring().is_some(),
            Self::Integer => value.as_signed_integer().is_some(),
            Self::Double => value.as_double().is_some(),
            Self::Flag => value.as_boolean().is_some(),
            Self::Symbol(words) => value.as_symbol().is_some_and(|symbol| words.contains(&&*symbol)),
            Self::Optional(shape) => return check_either(value.as_boolean() == Some(false), shape, place, value),
            Self::Either(one, other) => return check_either(one.check_at(place, value).is_ok(), other, place, value),
            Self::List(shape) if value.is_sequence() => {
                return value.iter().enumerate().try_for_each(|(position, element)| {
                    shape.check_at(&format!("element {position} of {place}"), &element.into())
                });
            }
            Self::List(_) => false,
            Self::Texts => value.as_dictionary().is_some_and(|mut entries| {
                entries.all(|(key, text)| key.as_string().is_some() && text.as_string().is_some())
            }),
            Self::Fields(fields) => return check_fields(fields, place, value),
        };
        if is_fit {
            Ok(())
        } else {
            Err(format!("{place} must be {}", self.words()))
        }
    }

    /// Names the shape, worded to follow "must be".
    fn words(&self) -> String {
        match self {
            Self::Anything => "anything".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Bytes => "a string or a bytevector".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Double => "a double".to_owned(),
            Self::Flag => "#t or #f".to_owned(),
            Self::Symbol(words) => format!("one of the symbols {}", words.join(", ")),
            Self::Optional(shape) => format!("{} or #f", shape.words()),
            Self::Either(one, other) => format!("{} or {}", one.words(), other.words()),
            Self::List(shape) => format!("a list, each element {}", shape.words()),
            Self::Texts => "a dictionary from strings to strings".to_owned(),
            Self::Fields(fields) => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                format!("a dictionary with the fields {}", names.join(", "))
            }
        }
    }
}

/// Accepts a value of one shape, or else checks it against the other.
fn check_either(is_one: bool, other: &Returns, place: &str, value: &IOValue) -> Result<(), String> {
    if is_one { Ok(()) } else { other.check_at(place, value) }
}

fn check_fields(fields: &[(&str, Returns)], place: &str, value: &IOValue) -> Result<(), String> {
    let names = || fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some(entries) = value.as_dictionary() else {
        return Err(format!("{place} must be a dictionary with the fields {}", names()));
    };
    let mut found = Vec::new();
    for (key, entry) in entries {
        let Some(name) = key.as_symbol() else {
            return Err(format!("the keys of {place} must be symbols: {}", names()));
        };
        let Some((name, shape)) = fields.iter().find(|(field, _)| *field == name) else {
            return Err(format!("{place} has no field `{name}`; its fields are {}", names()));
        };
        shape.check_at(&format!("the field `{name}` of {place}"), &entry.into())?;
        found.push(*name);
    }
    match fields.iter().find(|(name, _)| !found.contains(name)) {
        Some((missing, _)) => Err(format!(
            "{place} lacks the field `{missing}`; its fields are {}",
            names()
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: &Returns, text: &str, complaint: Option<&str>) {
        let value: IOValue = text.parse().expect("well formed");
        assert_eq!(shape.check(&value).err().as_deref(), complaint, "{text}");
    }

    #[test]
    fn a_complaint_names_the_place() {
        const FILE: Returns = Returns::Fields(&[
            ("path", Returns::Text),
            ("kind", Returns::Symbol(&["file", "link"])),
            ("next", Returns::Optional(&Returns::Integer)),
        ]);
        let files = Returns::List(&FILE);
        check(&files, r#"[{path: "a", kind: file, next: #f}]"#, None);
        check(&files, r#"[{path: "a", kind: link, next: 3}]"#, None);
        check(
            &files,
            "{}",
            Some("the result must be a list, each element a dictionary with the fields path, kind, next"),
        );
        check(
            &files,
            r#"[{path: 1, kind: file, next: #f}]"#,
            Some("the field `path` of element 0 of the result must be a string"),
        );
        check(
            &files,
            r#"[{path: "a", kind: file}]"#,
            Some("element 0 of the result lacks the field `next`; its fields are path, kind, next"),
        );
        check(
            &files,
            r#"[{path: "a", kind: file, next: #f, size: 1}]"#,
            Some("element 0 of the result has no field `size`; its fields are path, kind, next"),
        );
        check(
            &FILE,
            r#"{path: "a", kind: door, next: #f}"#,
            Some("the field `kind` of the result must be one of the symbols file, link"),
        );
    }
}
