//! The references of a schema: which of its parts a name may mean.
//!
//! INVARIANT: the parts that a reference may mean include the one that the validator finds.
//! It does not read anything outside of the schema; `schema.rs` refuses that.
//! Read next: `cost.rs`.

use std::collections::BTreeMap;

use serde_json::Value;

/// The names in a schema.
pub(crate) struct References<'a> {
    root: &'a Value,
    /// The schemas with an `$id`, by the last segment of its path.
    resources: BTreeMap<&'a str, Vec<&'a Value>>,
    /// The schemas with an `$anchor` or a `$dynamicAnchor`.
    anchors: BTreeMap<&'a str, Vec<&'a Value>>,
    has_dynamic: bool,
}

impl<'a> References<'a> {
    /// Collects the names at any depth, whether a keyword of schemas or a constant holds them.
    pub(crate) fn of(root: &'a Value) -> Self {
        let mut found = Self {
            root,
            resources: BTreeMap::new(),
            anchors: BTreeMap::new(),
            has_dynamic: false,
        };
        let mut rest = vec![root];
        while let Some(value) = rest.pop() {
            match value {
                Value::Object(fields) => {
                    found.has_dynamic |= fields.contains_key("$dynamicRef");
                    if let Some(Value::String(id)) = fields.get("$id") {
                        found.resources.entry(last_segment(id)).or_default().push(value);
                    }
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(name)) = fields.get(keyword) {
                            found.anchors.entry(name).or_default().push(value);
                        }
                    }
                    rest.extend(fields.values());
                }
                Value::Array(items) => rest.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        found
    }

    /// Says whether what a name means depends on the way to it.
    pub(crate) fn has_dynamic(&self) -> bool {
        self.has_dynamic
    }

    /// Counts the resources in the schema.
    pub(crate) fn resources(&self) -> usize {
        self.resources.values().map(Vec::len).sum()
    }

    /// Returns the schemas that a reference may mean; none if it leads out.
    pub(crate) fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&*fragment).cloned().unwrap_or_default();
        }
        let mut resources: Vec<&'a Value> = if base.is_empty() {
            self.resources.values().flatten().copied().collect()
        } else {
            self.resources.get(last_segment(base)).cloned().unwrap_or_default()
        };
        let is_root_named = resources.iter().any(|resource| std::ptr::eq(*resource, self.root));
        if base.is_empty() && !is_root_named {
            resources.push(self.root);
        }
        resources
            .iter()
            .filter_map(|resource| resource.pointer(&fragment))
            .collect()
    }
}

fn last_segment(uri: &str) -> &str {
    let path = uri.split('#').next().unwrap_or_default();
    path.rsplit(['/', ':']).next().unwrap_or_default()
}

/// Replaces `%` and two hexadecimal digits by the byte that they stand for.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let escaped = digits
            .filter(|_| *first == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
