//! Workflows of the older language, translated into Scheme.
//!
//! The way of a text: reader → forms → parts of the workflow → code → laid-out text. The result is
//! one file without a library of its own, because it is meant to be read and changed; a macro
//! package that imitates states was the alternative.
//! INVARIANT: a form that the translation does not know is an error with its place, never left out.
//! It runs nothing. Read next: `migrate/translate.rs`.
//!
//! Source: the kernel language, "Compatibility and Migration".

mod action;
mod code;
mod definition;
mod error;
mod options;
mod places;
mod program;
mod reader;
mod translate;
mod value;

use std::ops::Range;
use std::path::Path;

use code::Code;
use definition::Definition;
pub(crate) use error::MigrationError;
pub(crate) use places::Original;
use program::Program;
use translate::Translator;

/// The extension of workflow files.
const EXTENSION: &str = "duet";

/// A translated workflow.
#[derive(Debug)]
pub(crate) struct Translation {
    /// The program.
    pub(crate) text: String,
    /// The program as a run keeps it: with a comment that tells the places of the workflow.
    pub(crate) kept: String,
    /// Places of the workflow where the program does something else than the old interpreter did,
    /// with the difference.
    pub(crate) warnings: Vec<(Range<usize>, String)>,
}

/// Says whether a file is a workflow, by its name.
pub(crate) fn is_workflow(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Translates a workflow. A faithful translation keeps the quirks of the old interpreter.
///
/// # Errors
/// [`MigrationError`] at the first form that the language does not have.
pub(crate) fn translate(text: &str, is_faithful: bool) -> Result<Translation, MigrationError> {
    let forms = reader::read_all(text)?;
    let program = Program::of(&forms)?;
    let mut translator = Translator::new(&program, is_faithful);
    let definitions = translator.definitions()?;
    let mut warnings = std::mem::take(&mut translator.warnings);
    let ignored = "a form outside of states means nothing in a workflow that has states";
    warnings.extend(program.ignored.iter().map(|span| (span.clone(), ignored.to_owned())));
    warnings.sort_by_key(|(span, what)| (span.start, span.end, what.clone()));
    warnings.dedup();
    let mut out = head(&program);
    if translator.needed.contains(&Definition::Properties) {
        out.push_str(&properties(&program));
    }
    for definition in &translator.needed {
        out.push_str(&format!("\n{}", definition.text()));
    }
    for definition in &definitions {
        out.push_str(&format!("\n{}\n", definition.laid_out(0)));
    }
    let kept = places::with_comment(&out, text, &places::places(&out, &definitions));
    Ok(Translation {
        text: out,
        kept,
        warnings,
    })
}

/// The comments at the top, and the imports.
fn head(program: &Program<'_>) -> String {
    let mut head = match program.name {
        Some(name) => format!(";; The workflow `{name}`, translated by `duet migrate`.\n"),
        None => ";; A workflow, translated by `duet migrate`.\n".to_owned(),
    };
    for (key, value) in &program.metadata {
        head.push_str(&format!(";; {key}: {}\n", value::constant(value).flat()));
    }
    head.push_str("(import (duet base) (duet dataspace))\n");
    head
}

/// The definition of the roles' properties.
fn properties(program: &Program<'_>) -> String {
    let entries = program.roles.iter().flat_map(|role| {
        role.properties.iter().flat_map(|(key, value)| {
            let key = Code::List(vec![Code::name(role.name), Code::name(key)]);
            [Code::atom(format!("'{}", key.flat())), value::quoted(value)]
        })
    });
    let entries = Code::call("dictionary", entries);
    let definition = Code::call("define", [Code::name("properties"), entries]);
    format!(
        "\n;; The properties of the roles, by role and key.\n{}\n",
        definition.laid_out(0)
    )
}
