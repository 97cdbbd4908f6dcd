//! The program of simulated runs, compiled once for all runs that one seed starts, restores and
//! replays.
//!
//! INVARIANT: every holder of a [`Shared`] runs the same code; the state of an actor is in its
//! body, so runs do not affect each other.
//! Read next: `course.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use duet_journal::{Blob, BlobHash};
use duet_kernel::expander::{Libraries, LibraryName};
use duet_kernel::machine::NativeMode;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::{Program, SchemePrograms, Source};

/// A program that waits for texts and evaluates them.
const TEXT: &str = "(import (only (duet internal eval) %interact)) %interact";

/// Its library.
const FILES: &[(&str, &str)] = &[("simulation/repertoire.sld", include_str!("repertoire.sld"))];

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

/// Compiles the program of simulated runs.
///
/// # Errors
/// A description of the program's error, for people.
pub(crate) fn compile(native: NativeMode) -> Result<(Shared, Program), String> {
    let library = |words: &str| LibraryName {
        parts: words.split(' ').map(Into::into).collect(),
    };
    let imports: Vec<LibraryName> = IMPORTS.into_iter().map(library).collect();
    let mut libraries = Resolver::new(vec![
        Box::new(Embedded::new("stdlib", duet_stdlib::FILES)),
        Box::new(Embedded::new("simulation", FILES)),
    ]);
    let source = Source {
        name: "simulation",
        text: TEXT,
        arguments: vec!["simulation".to_owned()],
        default_imports: imports,
        evaluable: libraries.names(),
    };
    match SchemePrograms::compile(&source, &mut libraries) {
        Ok((mut programs, program, _)) => {
            programs.set_native(native);
            Ok((Rc::new(RefCell::new(programs)), program))
        }
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
