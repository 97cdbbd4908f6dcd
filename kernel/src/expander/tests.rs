//! Tests of the expander: printed core forms, diagnostics, and hygiene.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod errors;
mod forms;
mod hygiene;
mod libraries;
mod limits;
mod numbered;

use std::collections::BTreeMap;

use super::*;

/// Libraries and files by name, for tests.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<String, String>);

impl Libraries for Texts {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let key = name.to_string();
        // Every module with capabilities refers to it.
        if key == "(duet internal needs)" {
            return Ok(Some(SourceText {
                name: key,
                text: Arc::from("(define-library (duet internal needs) (import (duet kernel)))"),
            }));
        }
        Ok(self.0.get(&key).map(|text| SourceText {
            name: key,
            text: Arc::from(text.as_str()),
        }))
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        let text = self.0.get(path).ok_or_else(|| SourceError("no such file".to_owned()))?;
        Ok(SourceText {
            name: path.to_owned(),
            text: Arc::from(text.as_str()),
        })
    }

    fn grants(&self, capability: &str) -> bool {
        capability == "clock/now"
    }

    fn names(&self) -> Vec<LibraryName> {
        let parts = |key: &String| key.trim_matches(['(', ')']).split(' ').map(Name::from).collect();
        self.0.keys().map(|key| LibraryName { parts: parts(key) }).collect()
    }
}

pub(super) fn texts(texts: &[(&str, &str)]) -> Texts {
    Texts(
        texts
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect(),
    )
}

/// Starts a session with a handful of primitives, in which programs see the kernel's own library.
pub(super) fn session() -> Expander {
    let names = [
        "+",
        "-",
        "*",
        "<",
        "=",
        "car",
        "cdr",
        "cons",
        "list",
        "append",
        "list->vector",
        "vector",
        "vector-ref",
        "eqv?",
        "memv",
        "not",
        "values",
        "call-with-values",
        "display",
        "%make-record-type",
        "%make-record",
        "%record?",
        "%record-ref",
        "%record-set!",
    ];
    let mut primitives: Vec<_> = names
        .into_iter()
        .map(|name| PrimitiveSignature {
            name: Name::from(name),
            minimum: 0,
            maximum: None,
            is_host: false,
        })
        .collect();
    primitives[5].minimum = 1;
    primitives[5].maximum = Some(1);
    Expander::new(
        primitives,
        vec![LibraryName {
            parts: vec![Name::from("duet"), Name::from("kernel")],
        }],
    )
}

/// Expands a program and prints its last unit.
pub(super) fn expand(text: &str) -> String {
    let expansion = session().expand_program("test.scm", text, &mut Texts::default());
    match expansion {
        Ok(expansion) => expansion.units.last().unwrap().to_string(),
        Err(errors) => errors
            .iter()
            .map(|error| format!("error: {}", error.kind))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// Checks the expansion of a program's forms, one line each.
pub(super) fn check(text: &str, expected: &str) {
    assert_eq!(expand(text), expected, "in {text}");
}

/// Checks the errors of a program, each as its message and the text of its span.
pub(super) fn check_errors(text: &str, expected: &[(&str, &str)]) {
    let errors = session()
        .expand_program("test.scm", text, &mut Texts::default())
        .unwrap_err();
    let show = |error: &Diagnostic| {
        let place = &text[error.span.start as usize..error.span.end as usize];
        (error.kind.to_string(), place.to_owned())
    };
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, place)| ((*kind).to_owned(), (*place).to_owned()))
        .collect();
    assert_eq!(errors.iter().map(show).collect::<Vec<_>>(), expected, "in {text}");
}
