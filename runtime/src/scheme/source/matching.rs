//! Pinned sources, and libraries that were compiled ahead from the same texts.
//!
//! INVARIANT: a library compiled ahead is used only if it and all its imports have the texts that
//! it was compiled from.
//! It does not know where compiled libraries are stored; the caller does.
//! Read next: `../source.rs`.

use std::collections::BTreeSet;

use duet_journal::BlobHash;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Ahead, KERNEL_LIBRARY, Libraries, LibraryName, SourceError, SourceText};

use super::{Pinned, include_key};

/// A provider of pinned sources and of the libraries compiled ahead from them.
pub(in crate::scheme) struct Matching<'a> {
    sources: Pinned,
    ahead: &'a dyn Fn(&LibraryName) -> Option<Ahead>,
    /// Libraries known to match: they and all their imports have the texts that they were compiled
    /// from.
    matching: BTreeSet<Name>,
}

impl<'a> Matching<'a> {
    pub(in crate::scheme) fn new(sources: Pinned, ahead: &'a dyn Fn(&LibraryName) -> Option<Ahead>) -> Self {
        Self {
            sources,
            ahead,
            matching: BTreeSet::new(),
        }
    }

    pub(in crate::scheme) fn into_sources(self) -> Pinned {
        self.sources
    }

    /// Returns whether a library and all its imports have the texts that they were compiled from.
    fn matches(&mut self, name: &Name) -> bool {
        let mut found = BTreeSet::new();
        let mut rest = vec![name.clone()];
        while let Some(name) = rest.pop() {
            if name.as_str() == KERNEL_LIBRARY || self.matching.contains(&name) || found.contains(&name) {
                continue;
            }
            let Some(ahead) = (self.ahead)(&LibraryName::parse(&name)) else {
                return false;
            };
            if !self.has_texts(&name, &ahead) {
                return false;
            }
            rest.extend(ahead.imports().iter().cloned());
            found.insert(name);
        }
        self.matching.extend(found);
        true
    }

    fn has_texts(&self, name: &Name, ahead: &Ahead) -> bool {
        let Some(own) = self.sources.0.get(&vec![name.as_str().to_owned()]) else {
            return false;
        };
        let included = ahead
            .includes()
            .iter()
            .map(|path| self.sources.0.get(&include_key(&own.name, path)));
        let found: Option<Vec<[u8; 32]>> = std::iter::once(Some(own))
            .chain(included)
            .map(|source| Some(BlobHash::of(source?.text.as_bytes()).0))
            .collect();
        found.is_some_and(|found| found == ahead.texts())
    }
}

impl Libraries for Matching<'_> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.sources.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.sources.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.sources.names()
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.matches(&name.to_name()).then(|| (self.ahead)(name))?
    }
}
