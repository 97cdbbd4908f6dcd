//! The libraries that a text may need and its run does not have.
//!
//! Owns the search for the libraries that a text imports: itself, in the files that it loads, and
//! in libraries. The journal records the found libraries with the text, so that a replay has them,
//! too.
//! INVARIANT: for a text whose imports are written out, the search finds at least the libraries
//! that the text needs.
//! It evaluates nothing; `evaluation.rs` does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use duet_kernel::datum::Name;
use duet_kernel::expander::{Libraries, LibraryName, SourceText};
use duet_runtime::driver::Attached;
use duet_runtime::scheme::{Mention, mentions};

use super::session::Live;
use crate::owner::owned_run::{self, ProgramLibraries};
use crate::world::launch::read_text;

/// The longest loaded file that is searched for imports, in bytes.
const LOADED_BYTES_MAX: u64 = 1 << 24;

/// The search, as far as it has come.
struct Search {
    /// Where libraries are looked for: where the session does, and for each loaded file beside it.
    places: Vec<ProgramLibraries>,
    found: Vec<Attached>,
    /// The paths of the loaded files.
    loaded: BTreeSet<String>,
    unread: Vec<Unread>,
}

/// A text whose mentions are still to be looked for.
struct Unread {
    /// Its name, if it is a library's.
    library: Option<String>,
    text: String,
    /// The index of the place that has found it.
    place: usize,
}

impl Live {
    /// Finds the libraries that a text imports, and those that they import, unless the run has
    /// them.
    pub(super) fn sources(&self, text: &str) -> Vec<Attached> {
        let mut search = Search {
            places: vec![owned_run::libraries(Path::new("repl"))],
            found: Vec::new(),
            loaded: BTreeSet::new(),
            unread: vec![Unread {
                library: None,
                text: text.to_owned(),
                place: 0,
            }],
        };
        while let Some(unread) = search.unread.pop() {
            for mention in mentions(&unread.text) {
                match (mention, &unread.library) {
                    (Mention::Library(name), _) => self.find(vec![name], unread.place, &mut search),
                    (Mention::Included(path), Some(includer)) => {
                        self.find(vec![includer.clone(), path], unread.place, &mut search);
                    }
                    (Mention::Loaded(path), _) => self.look_into(path, &mut search),
                    (Mention::Included(_), None) => {}
                }
            }
        }
        search.found
    }

    /// Looks for a library or an included text, unless it is known.
    fn find(&self, wanted: Vec<String>, place: usize, search: &mut Search) {
        if self.owned.has_source(&wanted) || search.found.iter().any(|known| known.wanted == wanted) {
            return;
        }
        // What stands beside a loaded file comes first, then what the session finds.
        let places = if place == 0 { vec![0] } else { vec![place, 0] };
        for place in places {
            if let Some(source) = in_place(&mut search.places[place], &wanted) {
                search.unread.push(Unread {
                    library: Some(source.name.clone()),
                    text: source.text.to_string(),
                    place,
                });
                search.found.push(Attached {
                    wanted,
                    name: source.name,
                    text: source.text.to_string(),
                });
                return;
            }
        }
    }

    /// Looks for what a file of the workspace mentions that a text loads. Loading it reports what
    /// cannot be read.
    fn look_into(&self, path: String, search: &mut Search) {
        if !search.loaded.insert(path.clone()) {
            return;
        }
        let is_short = |file: &PathBuf| {
            let found = fs::metadata(file);
            found.is_ok_and(|found| found.is_file() && found.len() <= LOADED_BYTES_MAX)
        };
        let Some(file) = self.path_of(&path).ok().filter(is_short) else {
            return;
        };
        if let Ok(text) = read_text(&file) {
            search.places.push(owned_run::libraries(&file));
            search.unread.push(Unread {
                library: None,
                text,
                place: search.places.len() - 1,
            });
        }
    }
}

fn in_place(libraries: &mut ProgramLibraries, wanted: &[String]) -> Option<SourceText> {
    match wanted {
        [library] => {
            let name = LibraryName::parse(&Name::from(library.as_str()));
            libraries.library(&name).ok().flatten()
        }
        [includer, path] => libraries.include(includer, path).ok(),
        _ => None,
    }
}
