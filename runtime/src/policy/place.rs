//! The arguments of a tool as the tool uses them: paths and addresses in their normal forms, and
//! the defaults of what is left out.
//!
//! Owns the lexical normal forms. The schema of a tool says which arguments are paths or addresses,
//! by `format`, and which have a `default`.
//! INVARIANT: two paths that name one file, links aside, have one normal form; a place whose normal
//! form cannot be known without looking is named, so that no constraint judges it.
//! It opens nothing: a tool refuses a path whose real place differs from the one that was judged.
//! Read next: `proofs/conform/case.rs`.
//!
//! Source: RFC 3986, section 6.2, "Comparison Ladder".

use preserves::{IOValue, Map as Entries, Value as Preserved, ValueImpl};
use serde_json::{Map, Value};

/// How deeply arguments are searched for places.
const DEPTH_MAX: usize = 16;

/// The kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    Path,
    Address,
    Host,
}

impl Location {
    fn of_format(format: &str) -> Option<Self> {
        match format {
            "path" | "file-path" | "directory-path" => Some(Self::Path),
            "uri" | "url" | "iri" | "uri-reference" => Some(Self::Address),
            "hostname" | "idn-hostname" => Some(Self::Host),
            _ => None,
        }
    }

    /// Returns the normal form; `None` if it cannot be known without looking.
    fn normal(self, text: &str) -> Option<String> {
        match self {
            Self::Path => path(text),
            Self::Address => address(text),
            Self::Host => host(text),
        }
    }
}

/// The places and the defaults that a schema names.
#[derive(Clone, Debug, Default)]
pub struct Places {
    place: Option<Location>,
    default: Option<Value>,
    members: Vec<(String, Self)>,
    items: Option<Box<Self>>,
}

impl Places {
    /// Reads a schema: its own `format` and `default`, and those of its `properties` and `items`.
    pub fn of(schema: &Value) -> Self {
        Self::within(schema, DEPTH_MAX)
    }

    fn within(schema: &Value, depth: usize) -> Self {
        if depth == 0 {
            return Self::default();
        }
        let inner = |schema: &Value| Some(Self::within(schema, depth - 1)).filter(|places| !places.is_empty());
        let properties = schema.get("properties").and_then(Value::as_object);
        let members = properties.into_iter().flatten();
        Self {
            place: schema
                .get("format")
                .and_then(Value::as_str)
                .and_then(Location::of_format),
            default: schema.get("default").cloned(),
            members: members
                .filter_map(|(name, schema)| Some((name.clone(), inner(schema)?)))
                .collect(),
            items: schema.get("items").and_then(inner).map(Box::new),
        }
    }

    fn is_empty(&self) -> bool {
        let has_own = self.place.is_some() || self.default.is_some();
        !has_own && self.members.is_empty() && self.items.is_none()
    }

    /// Returns a value with the defaults of what it leaves out; nothing if there are none.
    pub(super) fn filled(&self, value: &Value) -> Option<Value> {
        if !self.lacks(value) {
            return None;
        }
        let mut filled = value.clone();
        self.fill(&mut filled);
        Some(filled)
    }

    fn lacks(&self, value: &Value) -> bool {
        let lacks_member = |(name, places): &(String, Self)| match value.get(name) {
            Some(member) => places.lacks(member),
            None => places.default.is_some(),
        };
        match (value, &self.items) {
            (Value::Object(_), _) => self.members.iter().any(lacks_member),
            (Value::Array(items), Some(places)) => items.iter().any(|item| places.lacks(item)),
            _ => false,
        }
    }

    fn fill(&self, value: &mut Value) {
        match (value, &self.items) {
            (Value::Object(fields), _) => {
                for (name, places) in &self.members {
                    if let Some(field) = fields.get_mut(name) {
                        places.fill(field);
                    } else if let Some(default) = &places.default {
                        fields.insert(name.clone(), default.clone());
                    }
                }
            }
            (Value::Array(items), Some(places)) => items.iter_mut().for_each(|item| places.fill(item)),
            _ => {}
        }
    }

    /// Brings the places in a value into their normal forms. Returns those that have none that is
    /// known, as fields and positions joined by dots.
    pub(super) fn normalise(&self, value: &mut Value) -> Vec<String> {
        let mut unknown = Vec::new();
        self.normalise_at(value, "", &mut unknown);
        unknown
    }

    fn normalise_at(&self, value: &mut Value, at: &str, unknown: &mut Vec<String>) {
        let below = |name: &str| {
            if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}.{name}")
            }
        };
        if let (Some(place), Some(text)) = (self.place, text_of(value)) {
            match place.normal(&text) {
                Some(normal) => *value = Value::String(normal),
                None => unknown.push(at.to_owned()),
            }
            return;
        }
        match value {
            Value::Object(fields) => self.normalise_members(fields, &below, unknown),
            Value::Array(items) => {
                for (position, item) in items.iter_mut().enumerate() {
                    if let Some(places) = &self.items {
                        places.normalise_at(item, &below(&position.to_string()), unknown);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn normalise_members(
        &self,
        fields: &mut Map<String, Value>,
        below: &dyn Fn(&str) -> String,
        unknown: &mut Vec<String>,
    ) {
        for (name, places) in &self.members {
            if let Some(field) = fields.get_mut(name) {
                places.normalise_at(field, &below(name), unknown);
            }
        }
    }
}

impl Places {
    /// Returns a payload with its places in their normal forms, and with the texts that stand for
    /// places that it leaves out; `None` if a place has no form that is known.
    pub(super) fn normal_payload(&self, payload: &IOValue) -> Option<IOValue> {
        if let (Some(place), Some(text)) = (self.place, text_in(payload)) {
            return place.normal(&text).map(|normal| IOValue::from(Preserved::new(normal)));
        }
        if payload.is_dictionary() {
            return self.normal_entries(payload);
        }
        match &self.items {
            Some(places) if payload.is_sequence() => {
                let items = payload.iter().map(|item| places.normal_payload(&item.into()));
                Some(IOValue::new(items.collect::<Option<Vec<_>>>()?))
            }
            _ => Some(payload.clone()),
        }
    }

    fn normal_entries(&self, payload: &IOValue) -> Option<IOValue> {
        if self.members.is_empty() {
            return Some(payload.clone());
        }
        let mut entries = Entries::new();
        for (key, value) in payload.entries() {
            let name = key.as_symbol().or_else(|| key.as_string()).unwrap_or_default();
            let places = self.members.iter().find(|(member, _)| *member == *name);
            let value = IOValue::from(value.clone());
            let value = places.map_or(Some(value.clone()), |(_, places)| places.normal_payload(&value))?;
            entries.insert(key.clone(), value);
        }
        for (name, places) in &self.members {
            let is_given = |key: &IOValue| {
                let given = key.as_symbol().or_else(|| key.as_string());
                given.is_some_and(|given| *given == **name)
            };
            let default = places.default.as_ref().and_then(Value::as_str);
            if let (Some(place), Some(text)) = (places.place, default)
                && !entries.keys().any(|key| is_given(&key.clone().into()))
            {
                let key = IOValue::symbol(name.clone());
                entries.insert(key.into(), IOValue::new(place.normal(text)?));
            }
        }
        Some(IOValue::new(entries))
    }
}

/// Returns a text in a payload, also one that is a symbol or bytes.
fn text_in(payload: &IOValue) -> Option<String> {
    let text = payload.as_string().or_else(|| payload.as_symbol());
    text.map(|text| text.into_owned())
        .or_else(|| String::from_utf8(payload.as_bytestring()?.to_vec()).ok())
}

/// Returns a text, also one that is written as bytes.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) if fields.len() == 1 => {
            let digits = fields.get("bytes")?.as_str()?;
            let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
            // Bytes that are no text are no text in any constraint.
            String::from_utf8(bytes?).ok()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a path below the workspace without `.`, `..` and empty parts. An absolute path, or one
/// that leads out, names a file that depends on where the workspace is.
fn path(text: &str) -> Option<String> {
    if text.starts_with('/') {
        return None;
    }
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    })
}

fn host(text: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    let host = text.strip_suffix('.').unwrap_or(text);
    (!host.is_empty() && host.bytes().all(is_plain)).then(|| host.to_ascii_lowercase())
}

/// Returns an absolute address with its scheme and host in small letters, without the port that the
/// scheme implies, without dot segments and fragment, and with escapes only where they are needed.
fn address(text: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let (scheme, rest) = text.split_once("://").filter(|_| text.bytes().all(is_plain))?;
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.split('#').next()?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if authority.contains('@') {
        return None;
    }
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (authority, ""),
    };
    let name = host(name)?;
    let port = match (scheme.as_str(), port.trim_start_matches('0')) {
        (_, "") | ("http" | "ws", "80") | ("https" | "wss", "443") => String::new(),
        (_, port) => format!(":{port}"),
    };
    let (path, query) = rest.find('?').map_or((rest, ""), |at| rest.split_at(at));
    Some(format!(
        "{scheme}://{name}{port}{}{}",
        without_dot_segments(&escaped(path)?),
        escaped(query)?
    ))
}

/// Removes `.` and `..` from an absolute path of an address; the first part follows a `/`.
fn without_dot_segments(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut is_open = false;
    for part in path.split('/').skip(1) {
        is_open = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let end = if is_open && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}", parts.join("/"))
}

/// Writes an escape of an unreserved character as the character, and any other in capitals.
fn escaped(text: &str) -> Option<String> {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        written.push_str(&rest[..at]);
        let byte = u8::from_str_radix(rest.get(at + 1..at + 3)?, 16).ok()?;
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            written.push(char::from(byte));
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
        rest = &rest[at + 3..];
    }
    written.push_str(rest);
    Some(written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(place: Location, text: &str, expected: Option<&str>) {
        assert_eq!(place.normal(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn paths_of_one_file_have_one_form() {
        for text in [
            "a/b.txt",
            "./a/b.txt",
            "a//b.txt",
            "a/./b.txt",
            "c/../a/b.txt",
            "a/b.txt/",
            "a/b.txt/.",
        ] {
            check(Location::Path, text, Some("a/b.txt"));
        }
        check(Location::Path, "", Some("."));
        check(Location::Path, "a/..", Some("."));
        for text in ["/a/b.txt", "../a/b.txt", "a/../../b.txt"] {
            check(Location::Path, text, None);
        }
    }

    #[test]
    fn addresses_of_one_resource_have_one_form() {
        for text in [
            "http://example.org/a/b?x=1",
            "HTTP://EXAMPLE.org:80/a/b?x=1#part",
            "http://example.org./a/./b?x=1",
            "http://example.org:080/c/../a/b?x=1",
            "http://example.org/%61/b?x=%31",
        ] {
            check(Location::Address, text, Some("http://example.org/a/b?x=1"));
        }
        check(Location::Address, "https://example.org", Some("https://example.org/"));
        check(
            Location::Address,
            "http://[::1]:8080/%2f/",
            Some("http://[::1]:8080/%2F/"),
        );
        for text in [
            "/a",
            "http://u@example.org/",
            "http://example.org\\a",
            "http://exämple.org/",
            "http://a/%zz",
        ] {
            check(Location::Address, text, None);
        }
        check(Location::Host, "Example.ORG.", Some("example.org"));
    }

    #[test]
    fn only_arguments_with_a_format_are_places() {
        let places = Places::of(&json!({"properties": {
            "path": {"type": ["string", "object"], "format": "path"},
            "text": {"type": "string"},
            "all": {"type": "array", "items": {"properties": {"at": {"format": "uri"}}}},
        }}));
        let mut value = json!({
            "path": {"bytes": "2e2f61"},
            "text": "./a",
            "all": [{"at": "HTTP://a/"}, {"at": "b"}],
            "other": "./a",
        });
        assert_eq!(places.normalise(&mut value), ["all.1.at"]);
        let expected = json!({
            "path": "a",
            "text": "./a",
            "all": [{"at": "http://a/"}, {"at": "b"}],
            "other": "./a",
        });
        assert_eq!(value, expected);
        assert_eq!(places.normalise(&mut json!({"path": "/a"})), ["path"]);
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let places = Places::of(&json!({"properties": {
            "path": {"format": "path", "default": "."},
            "all": {"items": {"properties": {"depth": {"default": 3}}}},
            "limit": {},
        }}));
        let check = |given: Value, filled: Option<Value>| {
            assert_eq!(places.filled(&given), filled, "{given}");
        };
        check(json!({}), Some(json!({"path": "."})));
        check(json!({"path": "a", "limit": 1}), None);
        check(
            json!({"path": "a", "all": [{}, {"depth": 1}]}),
            Some(json!({"path": "a", "all": [{"depth": 3}, {"depth": 1}]})),
        );
        let payload = |text: &str| text.parse::<IOValue>().expect("a value");
        for (given, used) in [("{}", r#"{path: "."}"#), (r#"{path: "./a"}"#, r#"{path: "a"}"#)] {
            assert_eq!(places.normal_payload(&payload(given)), Some(payload(used)), "{given}");
        }
    }
}
