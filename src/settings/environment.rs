//! The environment of this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// This process's environment, with its own folder in the search path.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    #[expect(clippy::disallowed_methods, reason = "the driver passes on what it allows")]
    let environment = std::env::vars_os().map(|(name, value)| {
        let is_path = name == "PATH";
        (name, if is_path { with_own_folder(value) } else { value })
    });
    environment.collect()
}

/// Adds the folder of this command to a search path that does not have it, so that programs that
/// start `duet` find this one.
fn with_own_folder(path: OsString) -> OsString {
    let own = std::env::current_exe();
    let Some(folder) = own.ok().and_then(|own| own.parent().map(Path::to_owned)) else {
        return path;
    };
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if folders.contains(&folder) {
        return path;
    }
    folders.push(folder);
    std::env::join_paths(folders).unwrap_or(path)
}
