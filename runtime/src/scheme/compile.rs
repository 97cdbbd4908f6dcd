//! Compiling a run's program: the first time from its sources, later from the texts that its first
//! record pins.
//!
//! INVARIANT: compiling from a description reads nothing outside it.
//! It does not find libraries; the caller's [`Libraries`] does, the first time.
//! Read next: `source.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_journal::BlobHash;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Ahead, Expander, Libraries, LibraryName, SourceText};
use preserves::IOValue;

use super::programs::SchemePrograms;
use super::source::matching::Matching;
use super::source::{EVALUATION, Pinned, Program, ProgramError, ProgramRecord, Recording, Source, describe};
use crate::model::codec::Codec;

impl SchemePrograms {
    /// Compiles a program with the libraries that it needs, and returns the description and texts
    /// that a run's first record keeps for compiling it again.
    ///
    /// # Errors
    /// [`ProgramError`].
    #[expect(
        clippy::result_large_err,
        reason = "made once, before a run; the caller needs the sources to show the errors"
    )]
    pub fn compile(
        source: &Source<'_>,
        libraries: &mut dyn Libraries,
    ) -> Result<(Self, Program, Vec<Diagnostic>), (ProgramError, Expander)> {
        let mut recording = Recording {
            libraries,
            found: Vec::new(),
        };
        let (mut programs, warnings) = SchemePrograms::expand(source, &mut recording)?;
        if programs.present.library_units.contains_key(&Name::from(EVALUATION)) {
            recording.complete(source);
        }
        programs.present.sources = Pinned(recording.found.iter().cloned().collect());
        match describe(source, recording.found) {
            Ok(program) => {
                programs.program = program.value.clone();
                Ok((programs, program, warnings))
            }
            Err(error) => Err((ProgramError::Pin(error), programs.present.expander)),
        }
    }

    /// Compiles the program of an existing run from the blobs that its first record pins. Takes
    /// libraries from `ahead` if they were compiled from exactly the pinned texts.
    ///
    /// # Errors
    /// [`ProgramError`] if a blob is missing, or the program does not compile any more.
    pub fn pinned(
        program: &IOValue,
        fetch: &mut dyn FnMut(&BlobHash) -> Option<Vec<u8>>,
        ahead: &dyn Fn(&LibraryName) -> Option<Ahead>,
    ) -> Result<Self, ProgramError> {
        let record = ProgramRecord::decode(program).map_err(ProgramError::Description)?;
        let mut text_of = |name: &str, hash: &BlobHash| {
            let text = fetch(hash).and_then(|bytes| String::from_utf8(bytes).ok());
            text.ok_or_else(|| ProgramError::MissingText {
                name: name.to_owned(),
                hash: *hash,
            })
        };
        let text = text_of(&record.name, &record.text)?;
        let mut sources = BTreeMap::new();
        for source in record.sources {
            let text = Arc::from(text_of(&source.name, &source.text)?);
            sources.insert(
                source.wanted,
                SourceText {
                    name: source.name,
                    text,
                },
            );
        }
        let library = |parts: Vec<String>| LibraryName {
            parts: parts.iter().map(|part| Name::from(part.as_str())).collect(),
        };
        let default_imports = record.default_imports.into_iter().map(library).collect();
        let source = Source {
            name: &record.name,
            text: &text,
            arguments: record.arguments,
            default_imports,
            evaluable: Vec::new(),
            is_counted: false,
            stop: None,
        };
        let mut matching = Matching::new(Pinned(sources), ahead);
        let (mut programs, _) = SchemePrograms::expand(&source, &mut matching).map_err(|(error, _)| error)?;
        programs.present.sources = matching.into_sources();
        programs.program = program.clone();
        Ok(programs)
    }
}
