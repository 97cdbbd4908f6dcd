//! `duet describe`: what a procedure does, in the words of its definition.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::primitive;
use duet_runtime::scheme::host;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "It knows the primitives of the kernel, the procedures of the runtime, and what the standard library defines.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let name = arguments.word(0).unwrap_or_default();
    let found = descriptions(name);
    if found.is_empty() {
        return Err(Failure::problem(format!("nothing is known of `{name}`"))
            .advise("core forms such as `lambda` are described in the reports, a program's own names by the program"));
    }
    terminal.data(&found.join("\n"))?;
    Ok(Code::OK)
}

/// All that is known of a name; if nothing is, what is known of the names that libraries export under it, at one remove or several.
fn descriptions(name: &str) -> Vec<String> {
    let found = descriptions_of_definitions(name);
    if !found.is_empty() {
        return found;
    }
    let (mut seen, mut pending) = (BTreeSet::from([name]), vec![name]);
    let mut described = BTreeMap::new();
    while let Some(name) = pending.pop() {
        for original in duet_stdlib::FILES.iter().flat_map(|(_, text)| originals(text, name)).filter(|name| seen.insert(name)) {
            let found = descriptions_of_definitions(original);
            if found.is_empty() {
                pending.push(original);
            } else {
                described.insert(original, found.join("\n"));
            }
        }
    }
    described.iter().map(|(original, found)| format!("{name} is {original}:\n{found}")).collect()
}

fn descriptions_of_definitions(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let kernel = primitive::all().filter(|row| row.name == name);
    found.extend(kernel.map(|row| entry(name, row.parameters, row.documentation)));
    let runtime = host::procedures().filter(|row| row.name == name);
    found.extend(runtime.map(|row| entry(name, row.parameters, row.documentation)));
    found.extend(duet_stdlib::FILES.iter().filter_map(|(path, text)| in_library(path, text, name)));
    found
}

/// The names that a library exports as `name`: those in `(rename original name)`.
fn originals<'text>(text: &'text str, name: &str) -> Vec<&'text str> {
    let renames = text.split("(rename ").skip(1).filter_map(|rest| rest.split_once(')'));
    let pairs = renames.filter_map(|(inside, _)| inside.split_once(' '));
    pairs.filter(|(_, external)| *external == name).map(|(original, _)| original).collect()
}

/// How a primitive or a procedure of the runtime is called.
pub(crate) fn signature(name: &str) -> Option<String> {
    let kernel = primitive::all().filter(|row| row.name == name).map(|row| row.parameters);
    let runtime = host::procedures().filter(|row| row.name == name).map(|row| row.parameters);
    let parameters = kernel.chain(runtime).next()?;
    let words: Vec<&str> = std::iter::once(name).chain(parameters.split_whitespace()).collect();
    Some(format!("({})", words.join(" ")))
}

fn entry(name: &str, parameters: &str, documentation: &str) -> String {
    let words: Vec<&str> = std::iter::once(name).chain(parameters.split_whitespace()).collect();
    format!("({})\n{}", words.join(" "), indented(documentation.lines()))
}

fn indented<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(|line| format!("  {}\n", line.trim())).collect()
}

/// Finds the definition of a name and the `;;;>` lines above it. A line of a record type's definition may have them too, and speaks of all its names.
fn in_library(path: &str, text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let defines = |line: &str| {
        let mut words = line.split([' ', '(', ')']).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        if first.starts_with("define") {
            words.next() == Some(name)
        } else {
            first == name || words.any(|word| word == name)
        }
    };
    let is_documentation = |line: &str| line.trim_start().starts_with(";;;>");
    let is_defined = |place: usize| !is_documentation(lines[place]) && defines(lines[place]);
    let at = (1..lines.len()).find(|place| is_documentation(lines[place - 1]) && is_defined(*place))?;
    let documented = lines[..at].iter().rev().map_while(|line| line.trim_start().strip_prefix(";;;>"));
    let mut documentation: Vec<&str> = documented.collect();
    documentation.reverse();
    let head = lines[at].trim_start().strip_prefix("(define ").filter(|rest| rest.starts_with('('));
    let head = head.and_then(|rest| rest.find(')').map(|end| &rest[..=end])).unwrap_or(name);
    Some(format!("{head}  in {path}\n{}", indented(documentation.into_iter())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use duet_kernel::datum::reader::read_all;
    use duet_kernel::datum::{Node, NodeId, SourceId};

    #[test]
    fn a_definition_is_found_with_its_documentation() {
        let text = ";;;> Not this.\n(define x 1)\n\n;;;> Does it,\n;;;> slowly.\n(define (f a . b) a)\n(define (g) 1)\n";
        assert_eq!(in_library("l.scm", text, "f").as_deref(), Some("(f a . b)  in l.scm\n  Does it,\n  slowly.\n"));
        assert_eq!(in_library("l.scm", text, "g"), None);
        assert_eq!(in_library("l.scm", text, "x").as_deref(), Some("x  in l.scm\n  Not this.\n"));
    }

    #[test]
    fn a_line_of_a_record_type_is_documented_too() {
        let text = "(define-record-type box\n  ;;;> Makes one.\n  (make-box value)\n  box?\n  ;;;> What is in it.\n  (value unbox set-box!))\n";
        assert_eq!(in_library("l", text, "make-box").as_deref(), Some("make-box  in l\n  Makes one.\n"));
        assert_eq!(in_library("l", text, "set-box!").as_deref(), Some("set-box!  in l\n  What is in it.\n"));
        assert_eq!(in_library("l", text, "box?"), None);
        assert_eq!(originals("(export a (rename b c) (rename d e))", "c"), ["b"]);
    }

    /// What the language itself knows; the reports describe it.
    const FORMS: &str = "_ ... => else quote quasiquote unquote unquote-splicing lambda if set! begin define define-values let let* letrec \
        letrec* let-syntax letrec-syntax define-syntax syntax-rules syntax-error define-record-type cond case and or when unless do \
        case-lambda cond-expand include include-ci syntax syntax-case pattern capture-lambda define-module define-library import \
        begin-for-syntax with-syntax quasisyntax unsyntax unsyntax-splicing er-macro-transformer";

    #[test]
    fn whatever_a_library_exports_is_described() {
        let mut silent = BTreeSet::new();
        let libraries = duet_stdlib::FILES.iter().filter(|(path, _)| path.ends_with(".sld") && !path.contains("/internal/"));
        let mut count = 0;
        for (path, text) in libraries {
            for name in exports(text) {
                count += 1;
                if !FORMS.split_whitespace().any(|form| form == name) && descriptions(&name).is_empty() {
                    silent.insert(format!("{name} of {path}"));
                }
            }
        }
        assert!(count > 1000, "only {count} exports were found");
        assert_eq!(silent, BTreeSet::new(), "write `;;;>` lines above their definitions");
    }

    /// The external names in the `export` declarations of a library's text, those of `all-from` left out.
    fn exports(text: &str) -> Vec<String> {
        let (reading, errors) = read_all(text, SourceId(0));
        assert!(errors.is_empty(), "{errors:?}");
        let elements = |mut id: NodeId| {
            let mut elements = Vec::new();
            while let Node::Pair(first, rest) = &reading.nodes[id.0 as usize] {
                elements.push(*first);
                id = *rest;
            }
            elements
        };
        let symbol = |id: NodeId| {
            if let Node::Symbol(name) = &reading.nodes[id.0 as usize] {
                Some(name.to_string())
            } else {
                None
            }
        };
        let declarations = elements(reading.forms[0]).into_iter().map(elements);
        let exports = declarations.filter(|parts| parts.first().and_then(|head| symbol(*head)).as_deref() == Some("export"));
        exports
            .flat_map(|parts| parts.into_iter().skip(1))
            .filter_map(|spec| {
                let parts = elements(spec);
                match parts.first().and_then(|head| symbol(*head)).as_deref() {
                    Some("rename") => symbol(parts[2]),
                    Some(_) => None,
                    None => symbol(spec),
                }
            })
            .collect()
    }
}
