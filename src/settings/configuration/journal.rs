//! `[journal]`: the journal of commands that name none, and the lease of the runs that this account
//! executes.
//!
//! INVARIANT: only the user's own file names a journal; the file of a workspace may be somebody
//! else's.
//! It opens no journal. Read next: `history/journal/site.rs`.

use std::ffi::OsString;

use toml::{Table, Value};

use super::{File, text_of, user_file};
use crate::text::error::CommandError;

/// The shortest and the longest lease, in seconds.
const LEASE_SECONDS: std::ops::RangeInclusive<i64> = 1..=86_400;

/// The part of the configuration about journals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalEntry {
    /// The address or the path of the journal.
    pub(crate) address: Option<String>,
    /// The lease in seconds.
    pub(crate) lease_seconds: Option<u64>,
}

/// Reads what the user's own file says.
///
/// # Errors
/// If the file cannot be read, or the entry is wrong; the error names both.
pub(crate) fn of_user(environment: &[(OsString, OsString)]) -> Result<JournalEntry, CommandError> {
    let Some(path) = user_file(environment) else {
        return Ok(JournalEntry::default());
    };
    let Some(text) = text_of(&path)? else {
        return Ok(JournalEntry::default());
    };
    let file = File {
        shown: path.display().to_string(),
        may_name_keys: true,
        environment,
    };
    let table: Table = toml::from_str(&text).map_err(|error| file.wrong(&format!("it is no TOML: {error}")))?;
    match table.get("journal") {
        Some(entry) => file.journal(entry),
        None => Ok(JournalEntry::default()),
    }
}

impl File<'_> {
    /// Reads `[journal]`.
    pub(super) fn journal(&self, entry: &Value) -> Result<JournalEntry, CommandError> {
        let Value::Table(entries) = entry else {
            return Err(self.wrong("`journal` is a table: `[journal]` and below it `address = \"postgres://…\"`"));
        };
        let mut journal = JournalEntry::default();
        for (key, value) in entries {
            match (&**key, value) {
                ("address", Value::String(address)) if !address.is_empty() => journal.address = Some(address.clone()),
                ("lease_seconds", Value::Integer(seconds)) if LEASE_SECONDS.contains(seconds) => {
                    journal.lease_seconds = Some(seconds.unsigned_abs());
                }
                ("address", _) => {
                    return Err(self.wrong("journal.address: it is no string with an address or a path"));
                }
                ("lease_seconds", _) => {
                    return Err(self.wrong("journal.lease_seconds: it is no whole number from 1 to 86400"));
                }
                _ => return Err(self.wrong(&format!("journal.{key}: it is none of address, lease_seconds"))),
            }
        }
        Ok(journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_or_its_fault_told() {
        let file = File {
            shown: "config.toml".to_owned(),
            may_name_keys: true,
            environment: &[],
        };
        let read = |text: &str| {
            let table: Table = toml::from_str(text).expect("TOML");
            file.journal(&table["journal"])
        };
        let entry = read("[journal]\naddress = \"postgres://h/d\"\nlease_seconds = 5\n").expect("an entry");
        assert_eq!(
            (entry.address.as_deref(), entry.lease_seconds),
            (Some("postgres://h/d"), Some(5))
        );
        assert_eq!(read("[journal]").expect("an entry"), JournalEntry::default());
        for text in [
            "journal = 1",
            "[journal]\naddress = 1",
            "[journal]\naddress = \"\"",
            "[journal]\nlease_seconds = 0",
            "[journal]\nlease_seconds = \"5\"",
            "[journal]\nserver = \"h\"",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
