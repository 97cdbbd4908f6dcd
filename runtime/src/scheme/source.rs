//! Programs and their sources, pinned so that a run can be compiled again exactly.
//!
//! Owns the description of a program in a run's first record: the hash of every text that the
//! program consists of, and the name by which each was found.
//! INVARIANT: compiling from a description reads nothing outside it.
//! It does not find libraries; the caller's [`Libraries`] does, the first time.
//! Read next: `source/matching.rs`.

pub(super) mod differing;
pub(super) mod matching;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use duet_journal::{Blob, BlobHash, StoreError};
use duet_kernel::code::LoadError;
use duet_kernel::compiler::CompileError;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};
use preserves::IOValue;

use super::mentions::{Mention, mentions};
use crate::codec_struct;
use crate::driver::Attached;
use crate::model::codec::{Codec, DecodeError};
use crate::model::counted::counted;

/// The input of [`SchemePrograms::compile`](super::SchemePrograms::compile).
pub struct Source<'a> {
    /// The program's name in messages, such as its path.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The value of `command-line`: the program's name and its arguments. Part of the run's first
    /// record.
    pub arguments: Vec<String>,
    /// The imports of a program without `import`.
    pub default_imports: Vec<LibraryName>,
    /// Further libraries that texts may import later, if the program evaluates any.
    pub evaluable: Vec<LibraryName>,
    /// Whether executed lines are to be counted.
    pub is_counted: bool,
    /// The flag that stops the expansion of macros, if somebody may.
    pub stop: Option<Arc<AtomicBool>>,
}

/// A compiled program, as a run's first record describes it.
#[derive(Clone, Debug)]
pub struct Program {
    /// The description.
    pub value: IOValue,
    /// The texts that the description names.
    pub pinned: Vec<Blob>,
}

/// The description of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProgramRecord {
    pub(super) name: String,
    pub(super) text: BlobHash,
    pub(super) arguments: Vec<String>,
    pub(super) default_imports: Vec<Vec<String>>,
    pub(super) sources: Vec<SourceRecord>,
}
codec_struct!(ProgramRecord "scheme" { name, text, arguments, default_imports, sources });

/// A text that a program needs besides its own.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRecord {
    /// The key by which it was found: `(a library)`, or the including text and the path it
    /// includes.
    pub wanted: Vec<String>,
    /// The text's name.
    pub name: String,
    /// The text.
    pub text: BlobHash,
}
codec_struct!(SourceRecord "source" { wanted, name, text });

/// Why a program cannot run.
#[derive(Debug)]
pub enum ProgramError {
    /// It cannot be expanded.
    Expand(Vec<Diagnostic>),
    /// It cannot be compiled.
    Compile(CompileError),
    /// Its code cannot be loaded.
    Load(LoadError),
    /// A text is too large to be pinned.
    Pin(StoreError),
    /// The run's first record does not describe a Scheme program.
    Description(DecodeError),
    /// A pinned text is missing or is not UTF-8.
    MissingText {
        /// Its name.
        name: String,
        /// Its hash.
        hash: BlobHash,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expand(errors) => write!(f, "the program has {}", counted(errors.len(), "error")),
            Self::Compile(_) => write!(f, "the program cannot be compiled"),
            Self::Load(_) => write!(f, "the program's code cannot be loaded"),
            Self::Pin(_) => write!(f, "a source text cannot be pinned"),
            Self::Description(_) => write!(f, "the run's first record describes no Scheme program"),
            Self::MissingText { name, hash } => write!(f, "the text of {name}, blob {hash}, is missing"),
        }
    }
}

impl std::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Compile(error) => Some(error),
            Self::Load(error) => Some(error),
            Self::Pin(error) => Some(error),
            Self::Description(error) => Some(error),
            Self::Expand(_) | Self::MissingText { .. } => None,
        }
    }
}

impl From<CompileError> for ProgramError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<LoadError> for ProgramError {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// Reads a program's name and its command line from its description.
///
/// # Errors
/// [`DecodeError`] if it describes no Scheme program.
pub fn description(program: &IOValue) -> Result<(String, Vec<String>), DecodeError> {
    ProgramRecord::decode(program).map(|record| (record.name, record.arguments))
}

/// Names the texts of a program that a first record describes, its own first.
///
/// # Errors
/// [`DecodeError`] if it is no Scheme program.
pub fn texts(program: &IOValue) -> Result<Vec<(String, BlobHash)>, DecodeError> {
    let ProgramRecord {
        name, text, sources, ..
    } = ProgramRecord::decode(program)?;
    let sources = sources.into_iter().map(|source| (source.name, source.text));
    Ok(std::iter::once((name, text)).chain(sources).collect())
}

/// A provider of sources that records which were found.
pub(super) struct Recording<'a> {
    pub(super) libraries: &'a mut dyn Libraries,
    pub(super) found: Vec<(Vec<String>, SourceText)>,
}

/// The library that evaluates texts; a program that mentions it has it among its units.
pub(super) const EVALUATION: &str = "(duet internal eval)";

impl Recording<'_> {
    fn has(&self, wanted: &[String]) -> bool {
        self.found.iter().any(|(known, _)| known == wanted)
    }

    /// Finds the libraries that a program may import later, with the texts that they include: those
    /// that the caller lists, and those that its text and the files that it loads mention. Leaves
    /// out any that cannot be read; a later import of it fails.
    pub(super) fn complete(&mut self, program: &Source<'_>) {
        for name in &program.evaluable {
            if self.has(&library_key(name)) {
                continue;
            }
            let Ok(Some(source)) = self.library(name) else { continue };
            for path in included_paths(&source.text) {
                let _ = self.include(&source.name, path);
            }
        }
        self.complete_mentioned(program);
    }

    fn complete_mentioned(&mut self, program: &Source<'_>) {
        let mut loaded = BTreeSet::new();
        let mut unread = vec![(None, Arc::from(program.text))];
        while let Some((library, text)) = unread.pop() {
            for mention in mentions(&text) {
                match (mention, &library) {
                    (Mention::Library(name), _) if !self.has(std::slice::from_ref(&name)) => {
                        let found = self.library(&LibraryName::parse(&Name::from(name.as_str())));
                        let found = found.ok().flatten();
                        unread.extend(found.map(|source| (Some(source.name), source.text)));
                    }
                    (Mention::Included(path), Some(library)) if !self.has(&include_key(library, &path)) => {
                        let found = self.include(library, &path).ok();
                        unread.extend(found.map(|source| (Some(source.name), source.text)));
                    }
                    // The run reads the file when it loads it, so the text is not pinned.
                    (Mention::Loaded(path), _) if loaded.insert(path.clone()) => {
                        let found = self.libraries.include(program.name, &path).ok();
                        unread.extend(found.map(|source| (None, source.text)));
                    }
                    (Mention::Library(_) | Mention::Included(_) | Mention::Loaded(_), _) => {}
                }
            }
        }
    }
}

/// Lists the strings in the `include` forms of a text.
fn included_paths(text: &str) -> Vec<&str> {
    let mut paths = Vec::new();
    for form in text.split("(include").skip(1) {
        let form = form.split(')').next().unwrap_or_default();
        paths.extend(form.split('"').skip(1).step_by(2));
    }
    paths
}

fn library_key(name: &LibraryName) -> Vec<String> {
    vec![name.to_string()]
}

fn include_key(includer: &str, path: &str) -> Vec<String> {
    vec![includer.to_owned(), path.to_owned()]
}

impl Libraries for Recording<'_> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let found = self.libraries.library(name)?;
        self.found
            .extend(found.iter().map(|text| (library_key(name), text.clone())));
        Ok(found)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let found = self.libraries.include(includer, path)?;
        self.found.push((include_key(includer, path), found.clone()));
        Ok(found)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.libraries.names()
    }

    fn advice(&self, name: &LibraryName) -> Option<String> {
        self.libraries.advice(name)
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.libraries.ahead(name)
    }

    fn grants(&self, capability: &str) -> bool {
        self.libraries.grants(capability)
    }
}

/// A provider of a run's sources and nothing else.
#[derive(Default)]
pub(super) struct Pinned(pub(super) BTreeMap<Vec<String>, SourceText>);

impl Pinned {
    /// Adds a source that came later, and returns whether its key was free.
    pub(super) fn add(&mut self, source: &Attached) -> bool {
        let is_new = !self.has(&source.wanted);
        self.0.entry(source.wanted.clone()).or_insert_with(|| SourceText {
            name: source.name.clone(),
            text: Arc::from(source.text.as_str()),
        });
        is_new
    }

    /// Lists all texts, each once, with their names.
    pub(super) fn texts(&self) -> Vec<(&str, &str)> {
        let texts: BTreeMap<&str, &str> = self.0.values().map(|source| (&*source.name, &*source.text)).collect();
        texts.into_iter().collect()
    }

    /// Returns whether there is a source under a key.
    pub(super) fn has(&self, wanted: &[String]) -> bool {
        self.0.contains_key(wanted)
    }
}

impl Libraries for Pinned {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok(self.0.get(&library_key(name)).cloned())
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let found = self.0.get(&include_key(includer, path)).cloned();
        found.ok_or_else(|| SourceError(format!("{path} is not pinned in the run's first record")))
    }

    fn names(&self) -> Vec<LibraryName> {
        let libraries = self.0.keys().filter_map(|wanted| match &wanted[..] {
            [library] => library.strip_prefix('(')?.strip_suffix(')'),
            _ => None,
        });
        let name = |words: &str| LibraryName {
            parts: words.split(' ').map(Name::from).collect(),
        };
        libraries.map(name).collect()
    }
}

pub(super) fn describe(source: &Source<'_>, found: Vec<(Vec<String>, SourceText)>) -> Result<Program, StoreError> {
    let mut pinned = vec![Blob::new(source.text.as_bytes().to_vec())?];
    let mut sources = Vec::new();
    for (wanted, text) in found {
        let blob = Blob::new(text.text.as_bytes().to_vec())?;
        sources.push(SourceRecord {
            wanted,
            name: text.name,
            text: blob.hash(),
        });
        pinned.push(blob);
    }
    let parts = |name: &LibraryName| name.parts.iter().map(|part| part.as_str().to_owned()).collect();
    let record = ProgramRecord {
        name: source.name.to_owned(),
        text: pinned[0].hash(),
        arguments: source.arguments.clone(),
        default_imports: source.default_imports.iter().map(parts).collect(),
        sources,
    };
    pinned.sort_by_key(Blob::hash);
    pinned.dedup_by_key(|blob| blob.hash());
    Ok(Program {
        value: record.encode(),
        pinned,
    })
}
