//! The program of simulated runs, compiled once for all runs that one seed starts, restores and
//! replays.
//!
//! INVARIANT: every holder of a [`Shared`] runs the same code; the state of an actor is in its
//! body, so runs do not affect each other.
//! Read next: `course.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use duet_journal::{Blob, BlobHash};
use duet_kernel::expander::{Libraries, LibraryName, SourceError};
use duet_kernel::machine::NativeMode;
use duet_modules::resolver::Resolver;
use duet_modules::source::Source as LibrarySource;
use duet_modules::source::embedded::Embedded;
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::scheme::{Program, SchemePrograms, Source};

use super::edits::varied;

/// A program that waits for texts and evaluates them.
const TEXT: &str = "(import (only (duet internal eval) %interact)) %interact";

/// Its library, and where it is.
const REPERTOIRE: &str = include_str!("repertoire.sld");
const REPERTOIRE_PATH: &str = "simulation/repertoire.sld";

/// The libraries that these texts see.
const IMPORTS: [&str; 7] = [
    "scheme base",
    "scheme write",
    "scheme lazy",
    "scheme eval",
    "duet base",
    "duet dataspace",
    "simulation repertoire",
];

/// A compiled program in the hands of several runs.
pub(crate) type Shared = Rc<RefCell<SchemePrograms>>;

/// The library of the program, as it is or edited.
struct Repertoire(String);

impl LibrarySource for Repertoire {
    fn read(&self, path: &str) -> Result<Option<String>, SourceError> {
        Ok((path == REPERTOIRE_PATH).then(|| self.0.clone()))
    }

    fn display_name(&self, path: &str) -> String {
        format!("<simulation>/{path}")
    }

    fn paths(&self) -> Vec<String> {
        vec![REPERTOIRE_PATH.to_owned()]
    }
}

/// Compiles the program of simulated runs.
///
/// # Errors
/// A description of the program's error, for people.
pub(crate) fn compile(native: NativeMode) -> Result<(Shared, Program), String> {
    variant(0, native)
}

/// Compiles a variant of the program, to take the place of the one that a run began with.
///
/// # Errors
/// A description of the program's error, for people.
pub(crate) fn changed(begun: &Program, variant: u64) -> Result<ChangedText, String> {
    let (_, program) = compile_with(&varied(REPERTOIRE, variant)?)?;
    let known = |blob: &&Blob| begun.pinned.iter().all(|other| other.hash() != blob.hash());
    let texts = program.pinned.iter().filter(known);
    let texts = texts.map(|blob| String::from_utf8_lossy(blob.as_bytes()).into_owned());
    Ok(ChangedText {
        texts: texts.collect(),
        program: program.value,
        run: Vec::new(),
        values: Vec::new(),
    })
}

/// Compiles a variant of the program, to be run from its start.
///
/// # Errors
/// A description of the program's error, for people.
pub(crate) fn variant(variant: u64, native: NativeMode) -> Result<(Shared, Program), String> {
    let (mut programs, program) = compile_with(&varied(REPERTOIRE, variant)?)?;
    programs.set_native(native);
    Ok((Rc::new(RefCell::new(programs)), program))
}

fn compile_with(repertoire: &str) -> Result<(SchemePrograms, Program), String> {
    let library = |words: &str| LibraryName {
        parts: words.split(' ').map(Into::into).collect(),
    };
    let imports: Vec<LibraryName> = IMPORTS.into_iter().map(library).collect();
    let mut libraries = Resolver::new(vec![
        Box::new(Embedded::new("stdlib", duet_stdlib::FILES)),
        Box::new(Repertoire(repertoire.to_owned())),
    ]);
    let source = Source {
        name: "simulation",
        text: TEXT,
        arguments: vec!["simulation".to_owned()],
        default_imports: imports,
        evaluable: libraries.names(),
        is_counted: false,
        stop: None,
    };
    match SchemePrograms::compile(&source, &mut libraries) {
        Ok((programs, program, _)) => Ok((programs, program)),
        Err((error, _)) => Err(format!("{error}: {error:?}")),
    }
}

/// Compiles it anew from what a run's first record pins.
///
/// # Errors
/// A description of the error, for people.
pub(crate) fn again(program: &Program, native: NativeMode) -> Result<Shared, String> {
    let text = |hash: &BlobHash| {
        let pinned = program.pinned.iter().find(|blob| blob.hash() == *hash);
        pinned.map(|blob: &Blob| blob.as_bytes().to_vec())
    };
    let programs = SchemePrograms::pinned(&program.value, &mut { text }, &|_| None);
    programs
        .map(|mut programs| {
            programs.set_native(native);
            Rc::new(RefCell::new(programs))
        })
        .map_err(|error| format!("{error}: {error:?}"))
}
