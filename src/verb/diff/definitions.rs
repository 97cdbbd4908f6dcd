//! The definitions of two versions of a text that say something else.
//!
//! INVARIANT: comments, blanks and the order of definitions make no difference.
//! It expands no macros, so a form counts as a definition by its name, as `define-record-type`
//! does. It compares no lines; `texts.rs` does. Read next: `texts.rs`.

use std::collections::BTreeMap;

use duet_kernel::datum::lexer::Lexer;
use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Datum, NodeId, SourceId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::languages::datum::{list, symbol};

/// How the names of forms begin that define something.
const DEFINE: &str = "define";

/// Forms that hold definitions behind this many operands.
const HOLDERS: [(&str, usize); 4] = [
    ("begin", 0),
    ("define-library", 1),
    ("library", 1),
    ("define-module", 1),
];

/// The definitions that differ, by name, and how many expressions at the top level do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Definitions {
    changed: Vec<String>,
    /// The definitions that only the text on the right has.
    added: Vec<String>,
    /// The definitions that only the text on the left has.
    removed: Vec<String>,
    /// The number of expressions at the top level that only one text has.
    expressions: usize,
}

/// The forms of a text: those of each definition, and the number of each expression.
#[derive(Default)]
struct Forms {
    definitions: BTreeMap<String, Vec<String>>,
    expressions: BTreeMap<String, usize>,
}

impl Definitions {
    /// Compares two versions of a text.
    pub(super) fn apart(before: &str, after: &str) -> Self {
        let [before, after] = [before, after].map(Forms::of);
        let mut apart = Self::default();
        for (name, forms) in &before.definitions {
            match after.definitions.get(name) {
                None => apart.removed.push(name.clone()),
                Some(other) if other != forms => apart.changed.push(name.clone()),
                Some(_) => {}
            }
        }
        let added = after.definitions.into_keys();
        apart.added = added.filter(|name| !before.definitions.contains_key(name)).collect();
        let of = |forms: &BTreeMap<String, usize>, form: &String| forms.get(form).copied().unwrap_or_default();
        let all = before.expressions.keys().chain(after.expressions.keys());
        let mut all: Vec<&String> = all.collect();
        all.sort_unstable();
        all.dedup();
        let differences = all
            .into_iter()
            .map(|form| of(&before.expressions, form).abs_diff(of(&after.expressions, form)));
        apart.expressions = differences.sum();
        apart
    }

    /// The differences in words, a line for each sort.
    pub(super) fn tell(&self) -> Vec<String> {
        let sorts = [
            ("changed", &self.changed),
            ("added", &self.added),
            ("removed", &self.removed),
        ];
        let sorts = sorts.into_iter().filter(|(_, names)| !names.is_empty());
        let mut lines: Vec<String> = sorts
            .map(|(sort, names)| format!("{sort}: {}", names.join(", ")))
            .collect();
        match self.expressions {
            0 => {}
            1 => lines.push("1 expression at the top level differs".to_owned()),
            count => lines.push(format!("{count} expressions at the top level differ")),
        }
        lines
    }
}

impl Forms {
    fn of(text: &str) -> Self {
        let (Reading { nodes, spans, forms }, _) = read_all(text, SourceId(0));
        let datum = Datum { nodes, root: NodeId(0) };
        let written = |id: NodeId| {
            let span = spans[id.0 as usize];
            tokens(text.get(span.start as usize..span.end as usize).unwrap_or_default())
        };
        let mut found = Self::default();
        let mut open: Vec<NodeId> = forms.into_iter().rev().collect();
        while let Some(form) = open.pop() {
            let elements = list(&datum, form).unwrap_or_default();
            let head = elements.first().and_then(|head| symbol(&datum, *head));
            let holder = HOLDERS.iter().find(|(name, _)| head == Some(*name));
            if let Some((_, operands)) = holder {
                open.extend(elements.into_iter().skip(1 + operands).rev());
                continue;
            }
            let names = match head.filter(|head| head.starts_with(DEFINE)) {
                Some(_) => elements.get(1).map(|target| names(&datum, *target)).unwrap_or_default(),
                None => Vec::new(),
            };
            if names.is_empty() {
                *found.expressions.entry(written(form)).or_default() += 1;
            }
            for name in names {
                found.definitions.entry(name).or_default().push(written(form));
            }
        }
        found
    }
}

/// The names that a definition gives: a symbol, the name of a procedure with its parameters or of a
/// type with its options, curried or not, or several.
fn names(datum: &Datum, target: NodeId) -> Vec<String> {
    let mut target = target;
    loop {
        if let Some(name) = symbol(datum, target) {
            return vec![name.to_owned()];
        }
        let duet_kernel::datum::Node::Pair(first, _) = datum.node(target) else {
            return Vec::new();
        };
        if *first == target {
            return Vec::new();
        }
        target = *first;
    }
}

/// A form as its tokens, a blank apart, without comments.
fn tokens(form: &str) -> String {
    let mut lexer = Lexer::new(form, 0);
    let mut words = Vec::new();
    while lexer.offset() < form.len() {
        match lexer.next_token() {
            Ok((_, extent)) if extent.is_empty() => break,
            Ok((_, extent)) | Err((_, extent)) => words.extend(form.get(extent)),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_compared_by_name_without_comments_blanks_and_order() {
        let point = "(define-record-type point (make x) point? (x x))";
        let before = format!("(define (f x) ; doubles\n  (* 2 x))\n(define g 1)\n{point}\n(f 1)");
        for (after, changed, added, removed, expressions) in [
            (
                format!("(define g 1) (define (f x) (* 2 x))\n{point}\n(f 1)"),
                vec![],
                vec![],
                vec![],
                0,
            ),
            (
                format!(
                    "(define (f x) (* 3 x))\n(define (h) 1)\n{}\n(f 2)",
                    point.replace("point (", "(point :label p) (")
                ),
                vec!["f", "point"],
                vec!["h"],
                vec!["g"],
                2,
            ),
            (
                "(define-library (a) (export f) (begin (define ((f x) y) x)))".to_owned(),
                vec!["f"],
                vec![],
                vec!["g", "point"],
                2,
            ),
        ] {
            let apart = Definitions::apart(&before, &after);
            let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(apart.changed, names(changed), "{after}");
            assert_eq!(apart.added, names(added), "{after}");
            assert_eq!(apart.removed, names(removed), "{after}");
            assert_eq!(apart.expressions, expressions, "{after}");
        }
    }
}
