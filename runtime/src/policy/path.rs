//! Paths: how predicates name the values that they read.
//!
//! INVARIANT: a path reads the snapshot or the proposal, and nothing else; an absent value is
//! [`None`], unlike a JSON null; a malformed value is [`Malformed`].
//! It does not compare; `predicate.rs` does.
//! Read next: `predicate.rs`.

use std::fmt;

use serde_json::Value;

use super::document::{Documents, Malformed};

/// The name of a value in the snapshot or in the proposed item: segments joined by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(String);

/// Says whether `segment` may be part of a key or a path.
pub fn is_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// [`Malformed`] unless it is letters, digits, `_` and `-` in segments joined by dots.
    pub fn parse(value: &Value) -> Result<Self, Malformed> {
        let Value::String(text) = value else {
            return Err(Malformed::new(format!(
                "expected a path, which is a string, and got {value}"
            )));
        };
        if text.split('.').all(is_segment) {
            Ok(Self(text.clone()))
        } else {
            Err(Malformed::new(format!(
                "\"{text}\" is no path: segments of letters, digits, _ and - are joined by dots"
            )))
        }
    }

    /// Says whether the path names a part of the arguments, something in it, or what it is in.
    pub(crate) fn concerns_argument(&self, part: &str) -> bool {
        let is_in = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        match self.0.strip_prefix("args.") {
            Some(own) => is_in(own, part) || is_in(part, own),
            None => self.0 == "args",
        }
    }

    /// Returns the value of the path: finds the longest key that equals or begins the path, and in
    /// its entry follows the rest of the path.
    ///
    /// # Errors
    /// [`Malformed`] if the entry is not a versioned object.
    pub fn read<'a>(&self, documents: &'a dyn Documents, arguments: &'a Value) -> Result<Option<&'a Value>, Malformed> {
        if self.0 == "args" {
            return Ok(Some(arguments));
        }
        if let Some(rest) = self.0.strip_prefix("args.") {
            return Ok(follow(arguments, rest));
        }
        let ends = self.0.match_indices('.').map(|(at, _)| at);
        let ends = std::iter::once(self.0.len()).chain(ends.rev());
        for end in ends {
            if let Some(document) = documents.document(&self.0[..end]) {
                let document = document.map_err(|flaw| Malformed::new(format!("{}: {flaw}", &self.0[..end])))?;
                let rest = self.0[end..].strip_prefix('.');
                return Ok(rest.map_or(Some(document), |rest| follow(document, rest)));
            }
        }
        Ok(None)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Follows fields of objects and positions of arrays.
fn follow<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, segment| match value {
        Value::Object(fields) => fields.get(segment),
        Value::Array(items) => items.get(position(segment)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

fn position(segment: &str) -> Option<usize> {
    let is_canonical = segment == "0" || !segment.starts_with('0');
    let is_number = segment.bytes().all(|byte| byte.is_ascii_digit());
    segment.parse().ok().filter(|_| is_canonical && is_number)
}
