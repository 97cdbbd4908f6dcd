//! The libraries that may differ in two programs: those whose texts differ, and all that may need
//! one of them.
//!
//! INVARIANT: it leaves out no library that differs. It may name others, because a text that has
//! the words of a library's name is taken for one that imports the library.
//! It expands nothing. Read next: `../evaluated_libraries.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::BlobHash;
use duet_kernel::expander::SourceText;

use super::ProgramRecord;

/// Names the libraries of a program that another one has too and that may differ in the two;
/// `texts` are those of the program, by their keys.
pub(in crate::scheme) fn differing(
    before: &ProgramRecord,
    now: &ProgramRecord,
    texts: &BTreeMap<Vec<String>, SourceText>,
) -> BTreeSet<String> {
    let known: BTreeMap<&[String], BlobHash> = before
        .sources
        .iter()
        .map(|source| (&source.wanted[..], source.text))
        .collect();
    let mut own: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for source in &now.sources {
        let Some(library) = owner(now, &source.wanted) else {
            continue;
        };
        own.entry(library)
            .or_default()
            .extend(texts.get(&source.wanted).map(|source| &*source.text));
        if known.get(&source.wanted[..]) != Some(&source.text) {
            found.insert(library);
        }
    }
    loop {
        let may_need = |texts: &[&str]| found.iter().any(|other| mentions(texts, other));
        let further = own
            .iter()
            .filter(|(library, texts)| !found.contains(*library) && may_need(texts));
        let further: Vec<&str> = further.map(|(library, _)| *library).collect();
        if further.is_empty() {
            break;
        }
        found.extend(further);
    }
    let had = |library: &&str| known.contains_key(&[(*library).to_owned()][..]);
    found.into_iter().filter(had).map(str::to_owned).collect()
}

/// The library to which a source belongs: its own text, or one that it includes.
fn owner<'a>(program: &'a ProgramRecord, wanted: &'a [String]) -> Option<&'a str> {
    let mut wanted = wanted;
    // A text that includes itself belongs to nothing.
    for _ in 0..=program.sources.len() {
        match wanted {
            [library] => return Some(library),
            [includer, ..] => {
                let including = program.sources.iter().find(|source| source.name == *includer)?;
                wanted = &including.wanted;
            }
            [] => return None,
        }
    }
    None
}

/// Whether texts have all words of a library's name.
fn mentions(texts: &[&str], library: &str) -> bool {
    let words = library.trim_matches(['(', ')']).split(' ');
    words
        .into_iter()
        .all(|word| texts.iter().any(|text| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::super::SourceRecord;
    use super::*;

    /// A program of sources, each with its key, its name and its text.
    fn program(sources: &[(&[&str], &str, &str)]) -> (ProgramRecord, BTreeMap<Vec<String>, SourceText>) {
        let key = |wanted: &[&str]| wanted.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let records = sources.iter().map(|(wanted, name, text)| SourceRecord {
            wanted: key(wanted),
            name: (*name).to_owned(),
            text: BlobHash::of(text.as_bytes()),
        });
        let texts = sources.iter().map(|(wanted, name, text)| {
            let source = SourceText {
                name: (*name).to_owned(),
                text: (*text).into(),
            };
            (key(wanted), source)
        });
        let record = ProgramRecord {
            name: "program".to_owned(),
            text: BlobHash::of(b""),
            arguments: Vec::new(),
            default_imports: Vec::new(),
            sources: records.collect(),
        };
        (record, texts.collect())
    }

    #[test]
    fn a_library_may_differ_if_it_or_one_that_it_needs_does() {
        let sources = |base: &'static str, part: &'static str| {
            program(&[
                (&["(my base)"], "base.sld", base),
                (&["(my words)"], "words.sld", "(import (only (my base) x))"),
                (&["(far)"], "far.sld", "(import (prefix (my words) w))"),
                (&["(whole)"], "whole.sld", "(include \"part.scm\")"),
                (&["whole.sld", "part.scm"], "part.scm", part),
                (&["part.scm", "deep.scm"], "deep.scm", "deep"),
                (&["(other)"], "other.sld", "(import (scheme write))"),
            ])
        };
        let (before, _) = sources("1", "p");
        for (base, part, expected) in [
            ("1", "p", &[][..]),
            ("2", "p", &["(far)", "(my base)", "(my words)"]),
            ("1", "q", &["(whole)"]),
        ] {
            let (now, texts) = sources(base, part);
            let found = differing(&before, &now, &texts);
            assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
        }
        let (now, texts) = program(&[(&["(new)"], "new.sld", "n")]);
        assert!(
            differing(&before, &now, &texts).is_empty(),
            "the program before lacks it"
        );
    }
}
