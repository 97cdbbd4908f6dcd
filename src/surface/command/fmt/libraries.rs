//! The macros of the libraries that a file imports, from the files of its project.
//!
//! INVARIANT: a library that is not there, or cannot be read, only leaves its macros unknown.
//! It does not search as a run does: it takes the nearest file with the name of a library.
//! Read next: `workbench/format.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use duet_runtime::scheme::{Mention, mentions};

use crate::workbench::format::Macros;

/// In how many folders a library is looked for: that of the file, and those around it.
const FOLDERS_MAX: usize = 4;

/// The libraries that were read so far.
#[derive(Default)]
pub(super) struct Libraries {
    read: BTreeMap<PathBuf, Macros>,
}

impl Libraries {
    /// The macros that a file with this text imports.
    pub(super) fn imported(&mut self, file: &Path, text: &str) -> Macros {
        let mut macros = Macros::default();
        for mention in mentions(text) {
            if let Mention::Library(name) = mention
                && let Some(path) = found(file, &name)
            {
                macros.extend(self.read.entry(path).or_insert_with_key(|path| of_library(path)));
            }
        }
        macros
    }
}

/// The nearest file of a library whose name is written in parentheses.
fn found(file: &Path, name: &str) -> Option<PathBuf> {
    let words = name.trim_matches(['(', ')']).split(' ');
    let path = words.collect::<PathBuf>().with_added_extension("sld");
    let folders = file.parent()?.ancestors().take(FOLDERS_MAX);
    folders.map(|folder| folder.join(&path)).find(|path| path.is_file())
}

/// The macros of a library, and of the files that it includes.
fn of_library(path: &Path) -> Macros {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut macros = Macros::default();
    let Ok(text) = fs::read_to_string(path) else {
        return macros;
    };
    let included = mentions(&text).into_iter().filter_map(|mention| match mention {
        Mention::Included(path) => fs::read_to_string(folder.join(path)).ok(),
        Mention::Library(_) | Mention::Loaded(_) => None,
    });
    for text in std::iter::once(text.clone()).chain(included) {
        if let Ok(own) = Macros::of(&text) {
            macros.extend(&own);
        }
    }
    macros
}
