//! Where a text asserts or sends records with some labels.
//!
//! INVARIANT: every form is met once, so labels that make data circular end the walk.
//! It expands no macros: a form counts by its name. Read next: `search.rs`.

use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Datum, Node, NodeId, SourceId};

use crate::languages::datum::symbol;

/// The forms that put a value into the dataspace, besides those that begin with `assert`.
const DOERS: [&str; 4] = ["message!", "update!", "signal!", "pulse!"];

/// The forms that begin as definitions do, and define no procedure.
const HOLDERS: [&str; 4] = ["define-library", "define-module", "define-record-type", "define-values"];

/// A form that asserts or sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assertion {
    /// Its line, counted from 1.
    pub(super) line: usize,
    /// The innermost definition around it.
    pub(super) within: Option<String>,
    /// The form, on one line.
    pub(super) form: String,
}

/// A node and its surroundings.
#[derive(Clone, Copy)]
struct Met {
    node: NodeId,
    /// The definition.
    definition: Option<NodeId>,
    /// The form that asserts or sends.
    doer: Option<NodeId>,
    /// Whether it is the rest of a list, which is no form.
    is_rest: bool,
}

/// The forms of a text that assert or send a record with one of these labels, in their order.
pub(super) fn assertions(text: &str, labels: &[String]) -> Vec<Assertion> {
    let (Reading { nodes, spans, forms }, _) = read_all(text, SourceId(0));
    let datum = Datum { nodes, root: NodeId(0) };
    let mut left: Vec<Met> = forms.into_iter().map(Met::outermost).collect();
    let (mut is_met, mut found) = (vec![false; datum.nodes.len()], Vec::new());
    while let Some(met) = left.pop() {
        if std::mem::replace(&mut is_met[met.node.0 as usize], true) {
            continue;
        }
        match datum.node(met.node) {
            Node::Pair(first, rest) => {
                let around = met.around(&datum, *first, *rest);
                left.extend([Met::of(*first, around), Met::rest(*rest, around)]);
            }
            Node::Vector(elements) => left.extend(elements.iter().map(|element| Met::of(*element, met))),
            Node::Symbol(name) if labels.iter().any(|label| label == name.as_str()) => {
                found.extend(met.doer.map(|doer| (doer, met.definition)));
            }
            Node::Nil
            | Node::Boolean(_)
            | Node::Number(_)
            | Node::Complex(_)
            | Node::Character(_)
            | Node::String(_)
            | Node::Symbol(_)
            | Node::Keyword(_)
            | Node::Bytevector(_) => {}
        }
    }
    found.sort_by_key(|(doer, _)| spans[doer.0 as usize].start);
    found.dedup_by_key(|(doer, _)| *doer);
    let told = found.into_iter().filter_map(|(doer, definition)| {
        let span = spans[doer.0 as usize];
        let form = text.get(span.start as usize..span.end as usize)?;
        Some(Assertion {
            line: 1 + text[..span.start as usize].matches('\n').count(),
            within: definition.and_then(|name| symbol(&datum, name)).map(str::to_owned),
            form: form.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    });
    told.collect()
}

impl Met {
    fn outermost(node: NodeId) -> Self {
        Self {
            node,
            definition: None,
            doer: None,
            is_rest: false,
        }
    }

    fn of(node: NodeId, around: Self) -> Self {
        Self {
            node,
            is_rest: false,
            ..around
        }
    }

    fn rest(node: NodeId, around: Self) -> Self {
        Self {
            node,
            is_rest: true,
            ..around
        }
    }

    /// The surroundings of the parts of a pair.
    fn around(self, datum: &Datum, first: NodeId, rest: NodeId) -> Self {
        let Some(head) = symbol(datum, first).filter(|_| !self.is_rest) else {
            return self;
        };
        if head.starts_with("assert") || DOERS.contains(&head) {
            return Self {
                doer: Some(self.node),
                ..self
            };
        }
        let is_definition = head.starts_with("define") && !HOLDERS.contains(&head);
        Self {
            definition: defined(datum, rest).filter(|_| is_definition).or(self.definition),
            ..self
        }
    }
}

/// The name that a definition with these operands defines, which may be a procedure of procedures.
fn defined(datum: &Datum, operands: NodeId) -> Option<NodeId> {
    let mut at = operands;
    for _ in 0..datum.nodes.len() {
        let Node::Pair(first, _) = datum.node(at) else {
            return None;
        };
        if symbol(datum, *first).is_some() {
            return Some(*first);
        }
        at = *first;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines in which a text asserts or sends `done`, each with the definition around it.
    fn check(text: &str, expected: &[(usize, Option<&str>)]) {
        let found = assertions(text, &["done".to_owned()]);
        let told = found.iter().map(|found| (found.line, found.within.as_deref()));
        assert_eq!(told.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn forms_that_assert_a_label_are_found_with_their_definitions() {
        let text =
            "(define (work n)\n  (assert! (record 'done n))\n  (assert! (record 'done-for n)))\n(message! '(done 1))";
        check(text, &[(2, Some("work")), (4, None)]);
        check("(define lock (assert! (record 'done 1)))", &[(1, Some("lock"))]);
        check(
            "(define ((work a) b)\n (update! h\n (record 'done 1)))",
            &[(2, Some("work"))],
        );
    }

    #[test]
    fn definitions_within_libraries_and_procedures_count() {
        let text = "(define-library (kids)\n (export clerk)\n (begin\n  (define (clerk c)\n   (define x 1)
   (on-message (stop $n) (assert! (record 'done n))))))";
        check(text, &[(6, Some("clerk"))]);
        check(
            "(define (a)\n (define (b) (assert! 'done))\n (signal! 'done))",
            &[(2, Some("b")), (3, Some("a"))],
        );
    }

    #[test]
    fn comments_strings_and_tests_assert_nothing() {
        check(
            "; (assert! (record 'done 1))\n\"(assert! 'done)\"\n#;(assert! 'done)\n(await (record 'done))",
            &[],
        );
        check("(assert! (record 'done 1", &[]);
        check("(assert! #0=(done . #0#))", &[(1, None)]);
    }
}
