//! The standard library, compiled when this command was built.
//!
//! INVARIANT: a run has the same records whether its libraries were compiled ahead or are read.
//! It does not make the image; `build.rs` does.
//! Read next: `owner/owned_run.rs`.

use duet_kernel::expander::{Ahead, LibraryName};
use duet_modules::image::Image;
use duet_modules::resolver::library_path;
use duet_modules::source::embedded::Embedded;

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraries.image"));

/// The standard library with its compiled image.
pub(super) fn standard_library() -> Embedded<'static> {
    Embedded::new("stdlib", duet_stdlib::FILES).with_image(Image::new(BYTES))
}

/// Finds a library in the compiled image.
pub(super) fn find(name: &LibraryName) -> Option<Ahead> {
    Image::new(BYTES)?.find(&library_path(name)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use duet_modules::resolver::Resolver;
    use duet_runtime::scheme::{SchemePrograms, Source, host};

    use super::*;
    use crate::owner::owned_run::{default_libraries, standard_libraries};

    #[test]
    fn the_host_is_the_one_that_libraries_were_compiled_for() {
        let mut rows: Vec<(&str, u8, Option<u8>)> = host::procedures()
            .map(|procedure| (procedure.name, procedure.least, procedure.most))
            .collect();
        rows.sort_unstable();
        let listed: String = rows.iter().map(|row| format!("{row:?}\n")).collect();
        assert_eq!(listed, include_str!(concat!(env!("OUT_DIR"), "/host_procedures")));
    }

    #[test]
    fn every_library_was_compiled_ahead() {
        let missing: Vec<_> = standard_libraries()
            .into_iter()
            .filter(|name| find(name).is_none())
            .collect();
        assert_eq!(missing, []);
    }

    /// The result of compiling a program: the description in its first record and the hashes of its
    /// units, or its errors. The pinned texts must give the same units.
    fn compiled(text: &str, library: Embedded<'static>, ahead: &dyn Fn(&LibraryName) -> Option<Ahead>) -> String {
        let source = Source {
            name: "program",
            text,
            arguments: Vec::new(),
            default_imports: default_libraries(),
            evaluable: standard_libraries(),
            is_counted: false,
            stop: None,
        };
        let units = |programs: &SchemePrograms| {
            let units = programs.code().units().iter();
            units.map(|unit| (unit.name.clone(), unit.hash)).collect::<Vec<_>>()
        };
        match SchemePrograms::compile(&source, &mut Resolver::new(vec![Box::new(library)])) {
            Ok((programs, program, warnings)) => {
                let mut fetch = |hash: &_| {
                    let blob = program.pinned.iter().find(|blob| blob.hash() == *hash)?;
                    Some(blob.as_bytes().to_vec())
                };
                let again = SchemePrograms::pinned(&program.value, &mut fetch, ahead).expect("it was compiled before");
                assert_eq!(units(&again), units(&programs));
                let warnings: Vec<_> = warnings.iter().map(|warning| &warning.kind).collect();
                format!("{:?}\n{:?}\n{warnings:?}", units(&programs), program.value)
            }
            Err((error, _)) => without_sources(&format!("{error:?}")),
        }
    }

    /// Leaves the numbers of sources out: libraries that were compiled ahead take none.
    fn without_sources(text: &str) -> String {
        let mut parts = text.split("SourceId(");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |told, part| {
            told + "SourceId(" + part.trim_start_matches(|letter: char| letter.is_ascii_digit())
        })
    }

    /// The programs below a folder.
    fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                programs(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "scm") {
                found.push(path);
            }
        }
    }

    #[test]
    fn a_program_comes_to_the_same_whether_its_libraries_were_compiled_ahead_or_are_read() {
        let mut paths = Vec::new();
        for folder in ["tests/scripts", "tests/actors", "examples"] {
            programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut paths);
        }
        assert!(paths.len() > 50, "{}", paths.len());
        // A library that is read needs `(duet base)` to run its own macros, and this program uses
        // nothing else that needs it.
        paths.retain(|path| !path.ends_with("session_escapes.scm"));
        for path in paths {
            let text = fs::read_to_string(&path).expect("it is a text");
            let read = compiled(&text, Embedded::new("stdlib", duet_stdlib::FILES), &|_| None);
            let ahead = compiled(&text, standard_library(), &find);
            // The texts are long; where they part is enough.
            let parted = ahead.bytes().zip(read.bytes()).position(|(one, other)| one != other);
            let near = |text: &str| {
                let at = parted.unwrap_or(text.len().min(read.len()).min(ahead.len()));
                String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(100)..text.len().min(at + 100)]).into_owned()
            };
            assert_eq!(
                (ahead.len(), near(&ahead)),
                (read.len(), near(&read)),
                "{}",
                path.display()
            );
        }
    }
}
