//! Reading the fields of payloads, and making result values.
//!
//! INVARIANT: a tool accepts exactly the fields that its [`Description`] lists; an error names the
//! field that is missing, unknown or of the wrong shape.
//! It does not know the meaning of fields.
//! Read next: `tool/workspace.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use duet_runtime::driver::ToolFailure;
use preserves::{AtomClass, CompoundClass, IOValue, Map, Value, ValueClass, ValueImpl};

use super::description::Description;
use super::failure::Kind;

/// The fields of a payload that fits a description.
pub struct Arguments<'a> {
    description: &'a Description,
    fields: BTreeMap<String, IOValue>,
}

impl<'a> Arguments<'a> {
    /// Reads a payload.
    ///
    /// # Errors
    /// `bad-argument` if it is not a dictionary with symbols as keys, has a field that is not
    /// described, or lacks a required one.
    pub fn read(description: &'a Description, payload: &IOValue) -> Result<Self, ToolFailure> {
        let refuse =
            |problem: String| Err(Kind::BadArgument.because(format!("payload of {}: {problem}", description.name)));
        let Some(entries) = payload.as_dictionary() else {
            return refuse(format!(
                "expected a dictionary with the fields {}, found {}",
                names(description),
                shown(payload)
            ));
        };
        let mut fields = BTreeMap::new();
        for (key, value) in entries {
            let Some(name) = key.as_symbol() else {
                return refuse(format!("expected symbols as keys, found {}", shown(&key.into())));
            };
            if !description.payload.iter().any(|field| field.name == name) {
                return refuse(format!("there is no field `{name}`; it takes {}", names(description)));
            }
            fields.insert(name.into_owned(), value.into());
        }
        match description
            .payload
            .iter()
            .find(|field| field.required && !fields.contains_key(&*field.name))
        {
            Some(missing) => refuse(format!(
                "the field `{}` is missing; expected {}",
                missing.name,
                missing.shape.words()
            )),
            None => Ok(Self { description, fields }),
        }
    }

    /// Takes an optional field, converted by `convert`.
    ///
    /// # Errors
    /// `bad-argument` if the field is present and `convert` returns nothing.
    pub fn optional<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(&IOValue) -> Option<T>,
    ) -> Result<Option<T>, ToolFailure> {
        match self.fields.remove(name) {
            None => Ok(None),
            Some(value) => convert(&value)
                .map(Some)
                .ok_or_else(|| self.misfit(name, &shown(&value))),
        }
    }

    /// Takes a required field, converted by `convert`.
    ///
    /// # Errors
    /// `bad-argument` if the field is missing or `convert` returns nothing.
    pub fn required<T>(&mut self, name: &str, convert: impl FnOnce(&IOValue) -> Option<T>) -> Result<T, ToolFailure> {
        self.optional(name, convert)?
            .ok_or_else(|| self.misfit(name, "nothing"))
    }

    fn misfit(&self, name: &str, found: &str) -> ToolFailure {
        let expects = self
            .description
            .payload
            .iter()
            .find(|field| field.name == name)
            .map_or("something else", |field| field.shape.words());
        Kind::BadArgument.with(
            format!(
                "field `{name}` of {}: expected {expects}, found {found}",
                self.description.name
            ),
            [("field", IOValue::symbol(name.to_owned()))],
        )
    }
}

fn names(description: &Description) -> String {
    let names: Vec<String> = description
        .payload
        .iter()
        .map(|field| format!("`{}`", field.name))
        .collect();
    names.join(", ")
}

/// Describes an unexpected value: an atom by its text, any other value by its kind, so that the
/// text is short and no deep value is walked.
fn shown(value: &IOValue) -> String {
    const SHOWN_CHARS_MAX: usize = 40;
    match value.value_class() {
        ValueClass::Atomic(AtomClass::ByteString) => "a bytevector".to_owned(),
        ValueClass::Atomic(
            AtomClass::String | AtomClass::Symbol | AtomClass::Boolean | AtomClass::Double | AtomClass::SignedInteger,
        ) => {
            let text = format!("{value:?}");
            match text.char_indices().nth(SHOWN_CHARS_MAX) {
                None => format!("`{text}`"),
                Some((end, _)) => format!("`{}…`", &text[..end]),
            }
        }
        ValueClass::Compound(CompoundClass::Record) => "a record".to_owned(),
        ValueClass::Compound(CompoundClass::Sequence) if value.len() == 0 => "an empty list".to_owned(),
        ValueClass::Compound(CompoundClass::Sequence) => "a list".to_owned(),
        ValueClass::Compound(CompoundClass::Set) => "a set".to_owned(),
        ValueClass::Compound(CompoundClass::Dictionary) => "a dictionary".to_owned(),
        ValueClass::Embedded => "a reference".to_owned(),
    }
}

/// Reads a string.
pub fn string(value: &IOValue) -> Option<String> {
    value.as_string().map(|text| text.into_owned())
}

/// Reads a boolean.
pub fn boolean(value: &IOValue) -> Option<bool> {
    value.as_boolean()
}

/// Reads an integer from 0 to 2⁶⁴−1.
pub fn count(value: &IOValue) -> Option<u64> {
    value.as_u64()?.ok()
}

/// Reads an integer from −2⁶³ to 2⁶³−1.
pub fn whole(value: &IOValue) -> Option<i64> {
    value.as_i64()?.ok()
}

/// Reads an integer from 1 to 2⁶⁴−1.
pub fn positive(value: &IOValue) -> Option<u64> {
    count(value).filter(|number| *number > 0)
}

/// Reads a string, as UTF-8, or a bytevector.
pub fn bytes(value: &IOValue) -> Option<Vec<u8>> {
    string(value)
        .map(String::into_bytes)
        .or_else(|| value.as_bytestring().map(|bytes| bytes.into_owned()))
}

/// Reads a path: a string, or a bytevector for names that are not UTF-8; not empty, without NUL.
pub fn path(value: &IOValue) -> Option<PathBuf> {
    let bytes = bytes(value).filter(|bytes| !bytes.is_empty() && !bytes.contains(&0))?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Makes a dictionary with symbols as keys.
pub fn dictionary(entries: impl IntoIterator<Item = (&'static str, IOValue)>) -> IOValue {
    let entries: Map<Value<IOValue>, IOValue> = entries
        .into_iter()
        .map(|(name, value)| (Value::symbol(name), value))
        .collect();
    IOValue::new(entries)
}

/// Makes an integer.
pub fn integer(number: u64) -> IOValue {
    IOValue::new(preserves::SignedInteger::from(u128::from(number)))
}

/// Makes a string of a path, or a bytevector of a path that is not UTF-8; [`path`] reads both.
pub(crate) fn path_value(path: &Path) -> IOValue {
    match path.to_str() {
        Some(text) => IOValue::new(text.to_owned()),
        None => IOValue::bytes(path.as_os_str().as_bytes().to_vec()),
    }
}

/// Makes a string of bytes that are UTF-8, and a bytevector of other bytes; returns also how many
/// bytes it used.
///
/// If the bytes were `cut` short, an incomplete last character is dropped, so that the rest can be
/// a string.
pub fn content(mut bytes: Vec<u8>, cut: bool) -> (IOValue, usize) {
    if let Err(error) = std::str::from_utf8(&bytes)
        && cut
        && error.error_len().is_none()
        && error.valid_up_to() > 0
    {
        bytes.truncate(error.valid_up_to());
    }
    let length_bytes = bytes.len();
    let value = match String::from_utf8(bytes) {
        Ok(text) => IOValue::new(text),
        Err(error) => IOValue::bytes(error.into_bytes()),
    };
    (value, length_bytes)
}

#[cfg(test)]
mod tests;
