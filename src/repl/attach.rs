//! The libraries that a text may need and its run does not have.
//!
//! Owns the search for import sets in a text and, from there, in libraries. The journal records the
//! found libraries with the text, so that a replay has them, too.
//! INVARIANT: for a text whose imports are written out, the search finds at least the libraries
//! that the text needs.
//! It does not expand; it misses an import that a macro makes.

use std::path::Path;

use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Name, Node, NodeId, SourceId};
use duet_kernel::expander::{Libraries, LibraryName};
use duet_runtime::driver::Attached;

use crate::owned_run::{self, OwnedRun};

/// The names that begin an import set around another one.
const NARROWING: [&str; 5] = ["only", "except", "prefix", "rename", "for"];

/// Finds the libraries that a text imports, and those that they import, unless the run has them.
pub(super) fn sources(text: &str, owned: &mut OwnedRun) -> Vec<Attached> {
    let mut libraries = owned_run::libraries(Path::new("repl"));
    let mut found: Vec<Attached> = Vec::new();
    let mut unread = vec![(None, text.to_owned())];
    while let Some((name, text)) = unread.pop() {
        let (reading, _) = read_all(&text, SourceId(0));
        for wanted in wanted(&reading, name.as_deref()) {
            if owned.has_source(&wanted) || found.iter().any(|known| known.wanted == wanted) {
                continue;
            }
            let source = match &wanted[..] {
                [library] => libraries.library(&library_name(library)).ok().flatten(),
                [includer, path] => libraries.include(includer, path).ok(),
                _ => None,
            };
            let Some(source) = source else { continue };
            unread.push((Some(source.name.clone()), source.text.to_string()));
            found.push(Attached {
                wanted,
                name: source.name,
                text: source.text.to_string(),
            });
        }
    }
    found
}

fn library_name(shown: &str) -> LibraryName {
    let words = shown.trim_start_matches('(').trim_end_matches(')');
    LibraryName {
        parts: words.split(' ').map(Name::from).collect(),
    }
}

/// The libraries that the forms of a text import, and for a text with a name also the files that it
/// includes.
fn wanted(reading: &Reading, name: Option<&str>) -> Vec<Vec<String>> {
    let mut wanted = Vec::new();
    for node in &reading.nodes {
        let Node::Pair(head, rest) = node else { continue };
        match (symbol(reading, *head), name) {
            (Some("import" | "require"), _) => {
                let sets = list(reading, *rest).into_iter();
                wanted.extend(sets.filter_map(|set| library(reading, set)).map(|name| vec![name]));
            }
            (Some("include" | "include-ci" | "include-library-declarations"), Some(includer)) => {
                let paths = list(reading, *rest).into_iter();
                wanted.extend(paths.filter_map(|path| {
                    let Node::String(path) = &reading.nodes[path.0 as usize] else {
                        return None;
                    };
                    Some(vec![includer.to_owned(), path.to_string()])
                }));
            }
            (Some(_) | None, _) => {}
        }
    }
    wanted
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

    #[test]
    fn what_a_text_asks_for_is_found_wherever_it_is_written() {
        for (text, name, expected) in [
            (
                "(import (a b) (only (c 1) x))",
                None,
                vec![vec!["(a b)"], vec!["(c 1)"]],
            ),
            ("(import (prefix (rename (a) (x y)) p:))", None, vec![vec!["(a)"]]),
            (
                "(define-library (l) (import (a)) (include \"f.scm\"))",
                Some("l.sld"),
                vec![vec!["l.sld", "f.scm"], vec!["(a)"]],
            ),
            ("(include \"f.scm\") (display 'import)", None, vec![]),
            ("(import only)", None, vec![]),
            ("#0=(import . #0#)", None, vec![]),
        ] {
            let (reading, _) = read_all(text, SourceId(0));
            let mut found = wanted(&reading, name);
            found.sort();
            let mut expected: Vec<Vec<String>> = expected
                .into_iter()
                .map(|wanted| wanted.into_iter().map(str::to_owned).collect())
                .collect();
            expected.sort();
            assert_eq!(found, expected, "{text}");
        }
    }
}
