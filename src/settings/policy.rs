//! Files of policy: the entries that whoever runs a program lays down.
//!
//! A file is a JSON object from keys to entries, such as
//! `{"constraint.no_mail": {"v": 1, "effect": "deny", "subject": {"tool_id": "mail/send"}}}`.
//! INVARIANT: every entry of a file is well formed, and no key has two texts.
//! It does not judge; the gate does. Read next: `owner/owned_run/widening.rs`.

use std::fs;
use std::path::Path;

use duet_runtime::model::fixed::FixedEntry;
use duet_runtime::policy::entry::{CONSTRAINTS, Entry};
use duet_runtime::policy::json;

use crate::text::error::CommandError;

/// The prefixes of the keys that a file may lay down.
const PREFIXES: [&str; 2] = [CONSTRAINTS, "policy."];

/// Reads a file.
///
/// # Errors
/// If it cannot be read, is no JSON object, or has a malformed entry, which the error names.
pub(crate) fn read(path: &Path) -> Result<Vec<FixedEntry>, CommandError> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| CommandError::caused(format!("cannot read the policy `{shown}`"), &error))?;
    let wrong = |what: String| {
        CommandError::usage(format!("the policy `{shown}`: {what}"))
            .advise("a policy is a JSON object from keys, such as \"constraint.a\", to entries of version 1")
    };
    let value = json::parse(&text).map_err(|error| wrong(format!("no JSON: {error}")))?;
    let fields = value.as_object().ok_or_else(|| wrong("it is no object".to_owned()))?;
    let mut entries = Vec::new();
    for (key, value) in fields {
        if !PREFIXES
            .iter()
            .any(|prefix| key.strip_prefix(prefix).is_some_and(|name| !name.is_empty()))
        {
            return Err(wrong(format!(
                "the key \"{key}\" begins with neither constraint. nor policy."
            )));
        }
        let text = value.to_string();
        if let Some(fault) = Entry::read(key, &text).fault() {
            return Err(wrong(format!("\"{key}\": {fault}")));
        }
        entries.push(FixedEntry { key: key.clone(), text });
    }
    Ok(entries)
}

/// Joins entries with further ones; one that is there already counts once.
///
/// # Errors
/// If a key has two texts.
pub(crate) fn joined(known: &[FixedEntry], further: &[FixedEntry]) -> Result<Vec<FixedEntry>, CommandError> {
    let mut all = known.to_vec();
    for entry in further {
        match all.iter().find(|known| known.key == entry.key) {
            None => all.push(entry.clone()),
            Some(known) if known.text == entry.text => {}
            Some(known) => {
                let key = &known.key;
                return Err(CommandError::usage(format!(
                    "\"{key}\" is laid down already, and not like this"
                )));
            }
        }
    }
    Ok(all)
}
