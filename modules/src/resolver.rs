//! The search for libraries and included files.
//!
//! Owns the order of sources, the source of each text that was found, and the paths of library
//! names.
//! INVARIANT: a file that a text includes comes from the source of that text: relative to the text,
//! or else to the top.
//! It does not read files; sources do.
//! Read next: `compile.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};

use crate::source::Source;

/// Finds libraries in a list of sources; the first that has one wins.
pub struct Resolver {
    sources: Vec<Box<dyn Source>>,
    /// For each text that was found, by name: the index of its source, and its path there.
    given: BTreeMap<String, (usize, String)>,
}

impl Resolver {
    /// Searches the sources in this order.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Self {
            sources,
            given: BTreeMap::new(),
        }
    }

    fn read(&mut self, index: usize, path: &str) -> Result<Option<SourceText>, SourceError> {
        let source = &self.sources[index];
        let Some(text) = source.read(path)? else {
            return Ok(None);
        };
        let name = source.display_name(path);
        self.given.insert(name.clone(), (index, path.to_owned()));
        Ok(Some(SourceText {
            name,
            text: Arc::from(text),
        }))
    }
}

impl Libraries for Resolver {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let Some(path) = library_path(name) else {
            return Ok(None);
        };
        for index in 0..self.sources.len() {
            for path in [&path, &module_path(&path)] {
                if let Some(source) = self.read(index, path)? {
                    return Ok(Some(source));
                }
            }
        }
        Ok(None)
    }

    /// A text that the resolver did not find, such as a program, counts as one at the top of each
    /// source.
    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let candidates = match self.given.get(includer) {
            Some((index, includer_path)) => vec![(*index, sibling(includer_path, path)), (*index, sibling("", path))],
            None => (0..self.sources.len())
                .map(|index| (index, sibling("", path)))
                .collect(),
        };
        for (index, path) in candidates {
            let path =
                path.ok_or_else(|| SourceError("the path leaves the directory of its library tree".to_owned()))?;
            if let Some(source) = self.read(index, &path)? {
                return Ok(source);
            }
        }
        Err(SourceError("no such file".to_owned()))
    }

    fn names(&self) -> Vec<LibraryName> {
        self.sources
            .iter()
            .flat_map(|source| source.paths())
            .filter_map(|path| library_name(&path))
            .collect()
    }

    /// Asks the first source only, because a library there hides those of the others.
    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.sources.first()?.ahead(&library_path(name)?)
    }
}

/// Joins the parts of a name with `/` and adds `.sld`; `None` for parts that are no plain file
/// names.
pub fn library_path(name: &LibraryName) -> Option<String> {
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', ':', '\0']);
    let parts: Option<Vec<&str>> = name
        .parts
        .iter()
        .map(|part| Some(part.as_str()).filter(|part| is_plain(part)))
        .collect();
    Some(parts?.join("/") + ".sld")
}

/// The same path with the ending `.scm`: the file of a module whose declaration may head it.
fn module_path(path: &str) -> String {
    let stem = path.strip_suffix(".sld").unwrap_or(path);
    format!("{stem}.scm")
}

fn library_name(path: &str) -> Option<LibraryName> {
    let parts = path.strip_suffix(".sld")?.split('/').map(Into::into).collect();
    Some(LibraryName { parts })
}

/// The path of `path` relative to the folder of `includer`; `None` if it is absolute or leaves the
/// tree.
fn sibling(includer: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains(['\\', ':', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = includer.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::embedded::Embedded;

    fn name(text: &str) -> LibraryName {
        LibraryName {
            parts: text.split(' ').map(Into::into).collect(),
        }
    }

    fn resolver() -> Resolver {
        let first = Embedded::new(
            "first",
            &[
                ("a/b.sld", "first b"),
                ("a/b.scm", "no library"),
                ("a/body.scm", "body"),
                ("top.scm", "top"),
            ],
        );
        let second = Embedded::new("second", &[("a/b.sld", "second b"), ("c/1.sld", "second c")]);
        Resolver::new(vec![Box::new(first), Box::new(second)])
    }

    #[test]
    fn the_first_source_that_has_a_library_wins() {
        let mut resolver = resolver();
        for (library, expected) in [
            ("a b", Some(("<first>/a/b.sld", "first b"))),
            ("c 1", Some(("<second>/c/1.sld", "second c"))),
            ("a body", Some(("<first>/a/body.scm", "body"))),
            ("d", None),
            (".. b", None),
            ("a/b", None),
        ] {
            let source = resolver.library(&name(library)).expect("embedded sources are readable");
            let source = source.as_ref().map(|source| (source.name.as_str(), &*source.text));
            assert_eq!(source, expected, "{library}");
        }
    }

    #[test]
    fn an_inclusion_is_relative_to_its_includer_or_to_the_top() {
        let mut resolver = resolver();
        let library = resolver
            .library(&name("a b"))
            .ok()
            .flatten()
            .expect("the library is there")
            .name;
        for (includer, path, expected) in [
            (library.as_str(), "body.scm", Ok("body")),
            (library.as_str(), "../a/./body.scm", Ok("body")),
            (library.as_str(), "../top.scm", Ok("top")),
            (
                library.as_str(),
                "../../top.scm",
                Err("the path leaves the directory of its library tree"),
            ),
            (
                library.as_str(),
                "/top.scm",
                Err("the path leaves the directory of its library tree"),
            ),
            (library.as_str(), "top.scm", Ok("top")),
            (library.as_str(), "a/body.scm", Ok("body")),
            (library.as_str(), "none.scm", Err("no such file")),
            ("program.scm", "top.scm", Ok("top")),
        ] {
            let included = resolver.include(includer, path);
            let included = included
                .as_ref()
                .map(|source| &*source.text)
                .map_err(|error| error.0.as_str());
            assert_eq!(included, expected, "{path}");
        }
    }

    #[test]
    fn every_library_has_a_name() {
        let names: Vec<_> = resolver().names().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["(a b)", "(a b)", "(c 1)"]);
    }
}
