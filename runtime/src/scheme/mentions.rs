//! What a text names: the libraries that it imports, and the files that it includes and loads.
//!
//! INVARIANT: for a text whose imports are written out, [`mentions`] has at least the libraries
//! that the text needs; it may have others, as of data that only look like an import.
//! It does not expand, so an import that a macro makes is missing.
//! Read next: `source.rs`.

use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Node, NodeId, SourceId};

/// The names that begin an import set around another one.
const NARROWING: [&str; 5] = ["only", "except", "prefix", "rename", "for"];

/// Something that a text names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention {
    /// A library that it imports, by its name in parentheses.
    Library(String),
    /// A file that it includes.
    Included(String),
    /// A file that it loads by a path that is written out.
    Loaded(String),
}

/// Lists what the forms of a text name, wherever they stand in it.
pub fn mentions(text: &str) -> Vec<Mention> {
    let (reading, _) = read_all(text, SourceId(0));
    let mut found = Vec::new();
    for node in &reading.nodes {
        let Node::Pair(head, rest) = node else { continue };
        let operands = || list(&reading, *rest).into_iter();
        match symbol(&reading, *head) {
            Some("import" | "require") => {
                found.extend(
                    operands()
                        .filter_map(|set| library(&reading, set))
                        .map(Mention::Library),
                );
            }
            Some("include" | "include-ci" | "include-library-declarations") => {
                let paths = operands().filter_map(|path| string(&reading, path));
                found.extend(paths.map(Mention::Included));
            }
            Some("load") => {
                let path = operands().next().and_then(|path| string(&reading, path));
                found.extend(path.map(Mention::Loaded));
            }
            Some(_) | None => {}
        }
    }
    found
}

/// Lists the libraries that a program imports: those of its forms at top level, and of all clauses
/// of a `cond-expand` there, but nothing that only looks like an import, as in a comment.
pub fn program_imports(text: &str) -> Vec<String> {
    let (reading, _) = read_all(text, SourceId(0));
    let mut forms = reading.forms.clone();
    let mut found = Vec::new();
    // Labels may have made a form its own part.
    for _ in 0..reading.nodes.len() {
        let Some(form) = forms.pop() else { break };
        let parts = list(&reading, form);
        let Some((head, operands)) = parts.split_first() else {
            continue;
        };
        match symbol(&reading, *head) {
            Some("import") => found.extend(operands.iter().filter_map(|set| library(&reading, *set))),
            Some("begin") => forms.extend(operands),
            Some("cond-expand") => {
                let clauses = operands.iter().map(|clause| list(&reading, *clause));
                forms.extend(clauses.flat_map(|clause| clause.into_iter().skip(1)));
            }
            Some(_) | None => {}
        }
    }
    found
}

/// The name of the library in an import set.
fn library(reading: &Reading, mut set: NodeId) -> Option<String> {
    // Each step goes into a set; labels may have made it its own part.
    for _ in 0..reading.nodes.len() {
        let parts = list(reading, set);
        let inner = parts.get(1).copied().filter(|inner| !list(reading, *inner).is_empty());
        match (symbol(reading, *parts.first()?), inner) {
            (Some(word), Some(inner)) if NARROWING.contains(&word) => set = inner,
            _ => {
                let words: Option<Vec<String>> = parts.iter().map(|part| word(reading, *part)).collect();
                return Some(format!("({})", words?.join(" ")));
            }
        }
    }
    None
}

fn word(reading: &Reading, id: NodeId) -> Option<String> {
    if let Node::Number(number) = &reading.nodes[id.0 as usize] {
        return Some(number.to_string());
    }
    symbol(reading, id).map(str::to_owned)
}

fn symbol(reading: &Reading, id: NodeId) -> Option<&str> {
    if let Node::Symbol(name) = &reading.nodes[id.0 as usize] {
        Some(name.as_str())
    } else {
        None
    }
}

fn string(reading: &Reading, id: NodeId) -> Option<String> {
    if let Node::String(text) = &reading.nodes[id.0 as usize] {
        Some(text.to_string())
    } else {
        None
    }
}

/// The elements of a list, however it ends.
fn list(reading: &Reading, mut id: NodeId) -> Vec<NodeId> {
    let mut elements = Vec::new();
    while let Node::Pair(first, rest) = &reading.nodes[id.0 as usize] {
        elements.push(*first);
        if elements.len() > reading.nodes.len() {
            break;
        }
        id = *rest;
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str) -> Mention {
        Mention::Library(name.to_owned())
    }

    #[test]
    fn what_a_text_names_is_found_wherever_it_is_written() {
        let included = |path: &str| Mention::Included(path.to_owned());
        let loaded = |path: &str| Mention::Loaded(path.to_owned());
        for (text, expected) in [
            (
                "(import (a b) (only (c 1) x))",
                vec![library("(a b)"), library("(c 1)")],
            ),
            ("(import (prefix (rename (a) (x y)) p:))", vec![library("(a)")]),
            (
                "(define-library (l) (import (a)) (include \"f.scm\"))",
                vec![library("(a)"), included("f.scm")],
            ),
            ("(include \"f.scm\") (display 'import)", vec![included("f.scm")]),
            (
                "(if x (load \"g.scm\" (interaction-environment)) (load y))",
                vec![loaded("g.scm")],
            ),
            ("(import only) (load)", vec![]),
            ("#0=(import . #0#)", vec![]),
        ] {
            let mut found = mentions(text);
            found.sort();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_program_imports_what_its_top_level_says() {
        for (text, expected) in [
            ("(import (srfi 64) (only (a) x)) (f)", vec!["(a)", "(srfi 64)"]),
            (
                "(cond-expand (other (import srfi-64)) (else (import (srfi 64))))",
                vec!["(srfi 64)"],
            ),
            ("(begin (import (srfi 64)))", vec!["(srfi 64)"]),
            (";;; (import (srfi 64))\n(import (a))", vec!["(a)"]),
            (
                "(import (a)) \"(import (srfi 64))\" #;(import (srfi 64)) '(import (srfi 64))",
                vec!["(a)"],
            ),
            ("(define-library (l) (import (srfi 64)))", vec![]),
            ("#0=(begin #0#)", vec![]),
            ("(import (srfi 64)) (car", vec!["(srfi 64)"]),
        ] {
            let mut found = program_imports(text);
            found.sort();
            assert_eq!(found, expected, "{text}");
        }
    }
}
