//! Headers that a configuration adds to the requests to one server.
//!
//! INVARIANT: they replace no header of a request; only the header of the key, which the
//! configuration may name, can take the place of one of them.
//! It reads no configuration; the command does. Read next: `../model/exchange.rs`,
//! `../mcp/web.rs`.

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};

/// The headers that belong to the protocols.
const TAKEN: [&str; 9] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "te",
    "transfer-encoding",
];

/// Further headers, and the name of the one that has the key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnHeaders {
    all: HeaderMap,
    key: Option<HeaderName>,
}

/// The header that a protocol has for a key.
#[derive(Clone, Copy)]
pub(in crate::tool) struct KeyHeader {
    name: &'static str,
    /// The text before the key, with its space.
    scheme: &'static str,
}

impl KeyHeader {
    pub(in crate::tool) const BEARER: Self = Self {
        name: "authorization",
        scheme: "Bearer ",
    };

    /// A header that has the key alone.
    pub(in crate::tool) const fn bare(name: &'static str) -> Self {
        Self { name, scheme: "" }
    }
}

impl OwnHeaders {
    /// Adds a header.
    ///
    /// # Errors
    /// The problem, if the header is malformed or belongs to the protocol.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let header = read_name(name)?;
        let value =
            HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` has no value of a header"))?;
        self.all.insert(header, value);
        Ok(())
    }

    /// Names the header that has the key, without anything before it.
    ///
    /// # Errors
    /// The problem, if it is no name of a header, or belongs to the protocol.
    pub fn name_key(&mut self, name: &str) -> Result<(), String> {
        // The key alone, without the word that most protocols put before it.
        let is_usual = name.eq_ignore_ascii_case(AUTHORIZATION.as_str());
        self.key = Some(if is_usual { AUTHORIZATION } else { read_name(name)? });
        Ok(())
    }

    /// Adds the headers to those of a request.
    pub(in crate::tool) fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.all {
            headers.entry(name).or_insert_with(|| value.clone());
        }
    }

    /// Adds the key, in the header that the protocol has for it unless another one is named.
    ///
    /// # Errors
    /// If the key has characters that no header has.
    pub(in crate::tool) fn show_key(
        &self,
        key: &str,
        usual: KeyHeader,
        headers: &mut HeaderMap,
    ) -> Result<(), InvalidHeaderValue> {
        let (name, text) = match &self.key {
            Some(name) => (name.clone(), key.to_owned()),
            None => (HeaderName::from_static(usual.name), format!("{}{key}", usual.scheme)),
        };
        let mut value = HeaderValue::from_str(&text)?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }
}

fn read_name(name: &str) -> Result<HeaderName, String> {
    let header: HeaderName = name.parse().map_err(|_| format!("`{name}` is no name of a header"))?;
    if TAKEN.contains(&header.as_str()) || header.as_str().starts_with("mcp-") {
        return Err(format!("the header `{name}` belongs to the protocol"));
    }
    Ok(header)
}
