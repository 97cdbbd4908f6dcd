//! The files of this repository, as the tidy tests see them.
//!
//! Owns the walk over the working tree and the paths' spelling: relative to the root, with `/`
//! between parts.
//! INVARIANT: the walk never enters hidden directories (except the gate's) and build output, so
//! that a dirty tree tests like a clean one.
//! It does not judge.
//! Read next: `../tidy.rs`.

use std::fs;
use std::path::Path;

/// One file.
pub(crate) struct Source {
    /// Relative to the repository's root.
    pub(crate) path: String,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub(crate) text: String,
}

impl Source {
    /// The part behind the last dot of the file's name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Every file whose extension is one of these, in order of path.
pub(crate) fn sources(extensions: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).expect("the working tree is readable");
        for entry in entries.map(|entry| entry.expect("the working tree is readable")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            let kind = entry.file_type().expect("the working tree is readable");
            if kind.is_file() {
                paths.push(path);
            } else if kind.is_dir() && name != "target" && (!name.starts_with('.') || name == ".ci") {
                folders.push(path);
            }
        }
    }
    paths.sort();
    let all = paths.into_iter().map(|path| Source {
        path,
        text: String::new(),
    });
    let wanted = all.filter(|source| extensions.contains(&source.extension()));
    wanted
        .map(|source| Source {
            text: read(&root.join(&source.path)),
            ..source
        })
        .collect()
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).expect("the working tree is readable");
    String::from_utf8_lossy(&bytes).into_owned()
}
