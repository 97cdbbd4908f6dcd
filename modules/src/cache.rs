//! Compiled libraries that are kept from one start to the next.
//!
//! Owns the choice of the libraries that are kept, and the test whether a kept one is still what
//! compiling would give. It is, if the library was compiled by the same compiler for a program with
//! the same capabilities, and if its texts and those of all libraries that it imports are the same.
//! INVARIANT: a program expands to the same units with any contents of the cache, damaged ones
//! included.
//! It does not know where bytes are stored: a [`CacheStore`] does.
//! Read next: `compile.rs`, `image.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::datum::Name;
use duet_kernel::expander::{Ahead, Expander, KERNEL_LIBRARY, Libraries, LibraryName, SourceError, SourceText};
use duet_kernel::unit::CompiledUnit;

/// The maximum length of a chain of kept libraries that import each other.
const LIMIT_CHAIN: u32 = 200;

/// The number of bytes of a hash.
const HASH_BYTES: usize = 32;

type Hash = [u8; HASH_BYTES];

/// A store of bytes by key, which may forget anything at any time.
pub trait CacheStore {
    /// Returns the bytes under a key.
    fn take(&self, key: &str) -> Option<Vec<u8>>;

    /// Keeps bytes under a key, if possible.
    fn put(&self, key: &str, bytes: &[u8]);
}

/// A compiled library and the fingerprint of everything that its code depends on.
#[derive(Clone)]
struct Kept {
    ahead: Ahead,
    fingerprint: Hash,
}

/// A provider of libraries that takes them from a store, and gives them to it.
pub struct Cached<'a, L> {
    libraries: L,
    store: &'a dyn CacheStore,
    /// The hash of what all kept libraries depend on: the compiler and the capabilities.
    setting: Hash,
    /// For each library that was asked for its own text under the empty path, then the texts that
    /// it includes, by path.
    given: BTreeMap<Name, Vec<(String, SourceText)>>,
    /// Libraries that the compiler comes with, compiled.
    fixed: BTreeSet<Name>,
    /// Libraries whose texts are not all known.
    untold: BTreeSet<Name>,
    /// The libraries that were looked for in the store.
    found: BTreeMap<Name, Option<Kept>>,
}

impl<'a, L: Libraries> Cached<'a, L> {
    /// Makes a provider over another one. `setting` identifies the compiler and the capabilities of
    /// the program.
    pub fn new(libraries: L, store: &'a dyn CacheStore, setting: &[&[u8]]) -> Self {
        Self {
            libraries,
            store,
            setting: hash(setting),
            given: BTreeMap::new(),
            fixed: BTreeSet::from([Name::from(KERNEL_LIBRARY)]),
            untold: BTreeSet::new(),
            found: BTreeMap::new(),
        }
    }

    /// Keeps the libraries of a session that were compiled from their texts.
    ///
    /// Leaves out a library that imports what is not kept, one that asks which other libraries
    /// there are, and one whose macros remember what they have expanded.
    pub fn keep(&mut self, expander: &Expander, compiled: &dyn Fn(&Name) -> Option<CompiledUnit>) {
        let mut rest: BTreeMap<Name, Ahead> = BTreeMap::new();
        for (name, files) in &self.given {
            let is_known = matches!(self.found.get(name), Some(Some(_))) || self.untold.contains(name);
            let is_alike = expander.is_repeatable(name) && !asks_for_libraries(files);
            if is_known || self.fixed.contains(name) || !is_alike {
                continue;
            }
            if let Some(ahead) = expander.keep(name, files, compiled(name).as_ref()) {
                rest.insert(name.clone(), ahead);
            }
        }
        // A library is put into the store after those that it imports.
        while let Some((name, prints)) = rest
            .iter()
            .find_map(|(name, ahead)| Some((name.clone(), self.prints(ahead, Self::known)?)))
        {
            if let Some(ahead) = rest.remove(&name) {
                self.put(&name, ahead, &prints);
            }
        }
    }

    fn put(&mut self, name: &Name, ahead: Ahead, prints: &[Hash]) {
        let mut content = (prints.len() as u32).to_le_bytes().to_vec();
        content.extend(prints.concat());
        content.extend(ahead.to_bytes());
        let own = ahead.texts()[0];
        let bytes = [&hash(&[&content])[..], &content].concat();
        self.store.put(&self.key(name, &own), &bytes);
        let fingerprint = fingerprint(name, &ahead, prints);
        self.found.insert(name.clone(), Some(Kept { ahead, fingerprint }));
    }

    fn key(&self, name: &Name, own: &Hash) -> String {
        let key = hash(&[&self.setting, name.as_str().as_bytes(), own]);
        key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Finds a library in the store, if it is what compiling its texts would give.
    fn kept(&mut self, name: &Name, depth: u32) -> Option<&Kept> {
        if !self.found.contains_key(name) {
            // A library that imports itself finds nothing.
            self.found.insert(name.clone(), None);
            let kept = if depth < LIMIT_CHAIN {
                self.look(name, depth)
            } else {
                None
            };
            self.found.insert(name.clone(), kept);
        }
        self.found.get(name)?.as_ref()
    }

    fn look(&mut self, name: &Name, depth: u32) -> Option<Kept> {
        let own = self.libraries.library(&LibraryName::parse(name)).ok()??;
        let own_hash = hash(&[own.text.as_bytes()]);
        let bytes = self.store.take(&self.key(name, &own_hash))?;
        let (sum, content) = bytes.split_first_chunk::<HASH_BYTES>()?;
        if hash(&[content]) != *sum {
            return None;
        }
        let (count, rest) = content.split_first_chunk::<4>()?;
        let length = (u32::from_le_bytes(*count) as usize).checked_mul(HASH_BYTES)?;
        let (prints, rest) = rest.split_at_checked(length)?;
        let ahead = Ahead::from_bytes(rest).filter(Ahead::is_sound)?;
        let mut texts = vec![own_hash];
        for path in ahead.includes() {
            texts.push(hash(&[self.libraries.include(&own.name, path).ok()?.text.as_bytes()]));
        }
        let known = self.prints(&ahead, |cached, import| {
            Some(cached.kept(import, depth + 1)?.fingerprint)
        })?;
        if texts != ahead.texts() || known.concat() != prints {
            return None;
        }
        let fingerprint = fingerprint(name, &ahead, &known);
        Some(Kept { ahead, fingerprint })
    }

    /// Returns the fingerprint of a library that this session has taken from the store or put
    /// there.
    fn known(&mut self, name: &Name) -> Option<Hash> {
        self.found.get(name)?.as_ref().map(|kept| kept.fingerprint)
    }

    /// Returns the fingerprints of the imports that the compiler does not come with; `None` if one
    /// of them has none.
    fn prints(
        &mut self,
        ahead: &Ahead,
        mut print_of: impl FnMut(&mut Self, &Name) -> Option<Hash>,
    ) -> Option<Vec<Hash>> {
        let mut prints = Vec::new();
        for import in ahead.imports() {
            if self.fixed.contains(import) {
                continue;
            }
            if self.libraries.ahead(&LibraryName::parse(import)).is_some() {
                self.fixed.insert(import.clone());
            } else {
                prints.push(print_of(self, import)?);
            }
        }
        Some(prints)
    }
}

impl<L: Libraries> Libraries for Cached<'_, L> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let found = self.libraries.library(name)?;
        if let Some(source) = &found {
            self.given.insert(name.to_name(), vec![(String::new(), source.clone())]);
        }
        Ok(found)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let included = self.libraries.include(includer, path)?;
        let mut owners = Vec::new();
        for (name, files) in &mut self.given {
            if files.iter().any(|(_, file)| file.name == includer) {
                owners.push((name.clone(), files[0].1.name == includer));
                files.push((path.to_owned(), included.clone()));
            }
        }
        // Of a file that another includes, or that two libraries share, the owner is not known.
        if !matches!(&owners[..], [(_, true)]) {
            self.untold.extend(owners.into_iter().map(|(name, _)| name));
        }
        Ok(included)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.libraries.names()
    }

    fn advice(&self, name: &LibraryName) -> Option<String> {
        self.libraries.advice(name)
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        match self.libraries.ahead(name) {
            Some(ahead) => {
                self.fixed.insert(name.to_name());
                Some(ahead)
            }
            None => self.kept(&name.to_name(), 0).map(|kept| kept.ahead.clone()),
        }
    }

    fn grants(&self, capability: &str) -> bool {
        self.libraries.grants(capability)
    }
}

/// Returns whether a text may contain `(library name)`, a question whose answer depends on more
/// than the texts.
fn asks_for_libraries(files: &[(String, SourceText)]) -> bool {
    files.iter().any(|(_, file)| {
        let found = file.text.match_indices("library");
        let mut before = found.map(|(at, _)| file.text[..at].trim_end());
        before.any(|before| before.ends_with(['(', '[', '|', '#', ';']))
    })
}

fn fingerprint(name: &Name, ahead: &Ahead, prints: &[Hash]) -> Hash {
    let texts = ahead.texts().concat();
    hash(&[name.as_str().as_bytes(), &texts, &prints.concat()])
}

/// Returns the hash of some pieces, each with its length.
fn hash(pieces: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    if let [piece] = pieces {
        hasher.update(piece);
        return *hasher.finalize().as_bytes();
    }
    for piece in pieces {
        hasher.update(&(piece.len() as u64).to_le_bytes());
        hasher.update(piece);
    }
    *hasher.finalize().as_bytes()
}
