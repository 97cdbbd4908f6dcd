//! The folder of the person's account in which Duet keeps what belongs to no journal.
//!
//! INVARIANT: nothing in it decides what a program does.
//! It opens no file. Read next: `surface/repl/history.rs`, `owner/owned_run/library_folder.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the path of a file in the folder `duet` for state; `None` if the account has no home.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "conventions for files that no program sees")]
    let variable = |name| std::env::var_os(name);
    Some(folder(variable("XDG_STATE_HOME"), variable("HOME"))?.join(name))
}

/// Source: XDG Base Directory Specification 0.8; a relative path is to be ignored.
fn folder(state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = state_home.and_then(absolute);
    let state = state.or_else(|| home.and_then(absolute).map(|home| home.join(".local/state")))?;
    Some(state.join("duet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_follows_the_convention() {
        let path =
            |state: Option<&str>, home: Option<&str>| folder(state.map(OsString::from), home.map(OsString::from));
        for (state, home, expected) in [
            (Some("/s"), Some("/h"), Some("/s/duet")),
            (None, Some("/h"), Some("/h/.local/state/duet")),
            (Some("relative"), Some("/h"), Some("/h/.local/state/duet")),
            (Some(""), None, None),
            (None, None, None),
        ] {
            assert_eq!(path(state, home), expected.map(PathBuf::from), "{state:?} {home:?}");
        }
    }
}
