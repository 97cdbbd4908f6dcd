//! Compiling ahead: all libraries of a tree, compiled into an image.
//!
//! Owns the choice of the libraries that an image has.
//! INVARIANT: an image has a library only if it has all libraries that this one imports.
//! It does not lay out bytes; `image.rs` does. It does not report errors: a library with errors is
//! left out, and whoever reads its text reports them.
//! Read next: `kernel/src/expander/ahead.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Ahead, Expander, KERNEL_LIBRARY, Libraries, LibraryName, SourceError, SourceText};
use duet_kernel::primitive::Primitive;
use duet_kernel::transformer::TransformerMachine;

use crate::image;
use crate::resolver::{Resolver, library_path};
use crate::source::embedded::Embedded;

/// Compiles all libraries of a tree, given as paths and texts, for programs with these procedures
/// of a host, and returns the bytes of their [`Image`](crate::image::Image).
pub fn compile_libraries(files: &'static [(&'static str, &'static str)], host_primitives: &[Primitive]) -> Vec<u8> {
    let code = CodeSpace::new(host_primitives);
    let transformers = TransformerMachine::new(host_primitives);
    let mut expander = Expander::new(code.signatures(), Vec::new()).with_transformers(Box::new(transformers));
    let mut texts = Texts {
        resolver: Resolver::new(vec![Box::new(Embedded::new("stdlib", files))]),
        given: BTreeMap::new(),
    };
    let mut compiled = BTreeMap::new();
    for name in texts.names() {
        let Ok(expansion) = expander.expand_library(&name, &mut texts) else {
            continue;
        };
        for unit in expansion.units {
            if let Ok(unit) = compile(&unit, &code) {
                compiled.insert(unit.name.clone(), unit);
            }
        }
    }
    let mut kept: BTreeMap<Name, Ahead> = BTreeMap::new();
    for (name, files) in &texts.given {
        if let Some(ahead) = expander.keep(name, files, compiled.get(name)) {
            kept.insert(name.clone(), ahead);
        }
    }
    retain_closed(&mut kept);
    image::encode(
        texts
            .names()
            .iter()
            .filter_map(|name| Some((library_path(name)?, kept.get(&name.to_name())?))),
    )
}

/// Drops libraries that import what is not there, until none does.
fn retain_closed(kept: &mut BTreeMap<Name, Ahead>) {
    loop {
        let is_there = |name: &Name| name.as_str() == KERNEL_LIBRARY || kept.contains_key(name);
        let dropped: Vec<Name> = kept
            .iter()
            .filter(|(_, ahead)| !ahead.imports().iter().all(is_there))
            .map(|(name, _)| name.clone())
            .collect();
        if dropped.is_empty() {
            return;
        }
        kept.retain(|name, _| !dropped.contains(name));
    }
}

/// A resolver that remembers which texts each library consists of.
struct Texts {
    resolver: Resolver,
    /// For each library its own text under the empty path, then the texts that it includes, by
    /// path.
    given: BTreeMap<Name, Vec<(String, SourceText)>>,
}

impl Libraries for Texts {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let found = self.resolver.library(name)?;
        if let Some(source) = &found {
            self.given.insert(name.to_name(), vec![(String::new(), source.clone())]);
        }
        Ok(found)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let found = self.resolver.include(includer, path)?;
        let mut files = self.given.values_mut();
        if let Some(files) = files.find(|files| files[0].1.name == includer) {
            files.push((path.to_owned(), found.clone()));
        }
        Ok(found)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.resolver.names()
    }
}
