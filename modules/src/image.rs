//! Libraries compiled ahead: one stretch of bytes for all libraries of a tree, part of the program and looked at only where it is needed.
//!
//! An image is an index — for each library its path and where its bytes begin and end, counted from the end of the index — and then what
//! [`Ahead::to_bytes`] gives of each.
//! INVARIANT: a library is in an image only if all that it imports is; what must be read anew in each process is left out.
//! It does not know whether the texts are still the same: whoever has both image and texts does.
//! Read next: `resolver.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Ahead, Expander, KERNEL_LIBRARY, Libraries, LibraryName, SourceError, SourceText};
use duet_kernel::primitive::Primitive;

use crate::resolver::{Resolver, library_path};
use crate::source::Embedded;

/// An image that was made by [`make`].
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    index: &'a [u8],
    libraries: &'a [u8],
}

impl<'a> Image<'a> {
    /// The image that these bytes are; nothing if they are none.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (index, libraries) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Self { index, libraries })
    }

    /// What is known of the library at a path.
    pub fn find(&self, path: &str) -> Option<Ahead> {
        let mut rest = self.index;
        while let Some((entry, after)) = Entry::read(rest) {
            if entry.path == path.as_bytes() {
                return Ahead::from_bytes(self.libraries.get(entry.start..entry.end)?);
            }
            rest = after;
        }
        None
    }

    /// What is known of a library.
    pub fn find_library(&self, name: &LibraryName) -> Option<Ahead> {
        self.find(&library_path(name)?)
    }
}

struct Entry<'a> {
    path: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Entry<'a> {
    fn read(index: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (numbers, rest) = index.split_first_chunk::<12>()?;
        let (numbers, _) = numbers.as_chunks::<4>();
        let [length, start, end] = [0, 1, 2].map(|place: usize| u32::from_le_bytes(numbers[place]) as usize);
        let (path, rest) = rest.split_at_checked(length)?;
        Some((Self { path, start, end }, rest))
    }
}

/// Compiles all libraries of a tree, given as paths and texts, for programs with these procedures of a host.
pub fn make(files: &'static [(&'static str, &'static str)], host_primitives: &[Primitive]) -> Vec<u8> {
    let code = CodeSpace::new(host_primitives);
    let mut expander = Expander::new(code.signatures(), Vec::new());
    let mut texts = Texts {
        resolver: Resolver::new(vec![Box::new(Embedded::new("stdlib", files))]),
        given: BTreeMap::new(),
    };
    let mut compiled = BTreeMap::new();
    for name in texts.names() {
        // What has errors is left to whoever reads it to report.
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
    write(
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

fn write<'a>(libraries: impl Iterator<Item = (String, &'a Ahead)>) -> Vec<u8> {
    let (mut index, mut contents) = (Vec::new(), Vec::new());
    for (path, ahead) in libraries {
        let start = contents.len();
        contents.extend(ahead.to_bytes());
        for number in [path.len(), start, contents.len()] {
            index.extend((number as u32).to_le_bytes());
        }
        index.extend(path.into_bytes());
    }
    let mut image = (index.len() as u32).to_le_bytes().to_vec();
    image.extend(index);
    image.extend(contents);
    image
}

/// Gives out texts and remembers which went into which library.
struct Texts {
    resolver: Resolver,
    /// For each library its own text, then what it includes, by path.
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
