//! Names such as `$7`, which call a procedure of their top level.

use super::{session, texts};
use crate::expander::LIMIT_EXPANSION_NODES;
use crate::unit::GlobalName;

const STACK: &str = "(define-library (stack) (export top) (import (duet kernel)) (begin (define (top n) n)))";

#[test]
fn a_numbered_name_calls_the_procedure_of_its_top_level_unless_it_is_bound() {
    let mut session = session();
    let mut libraries = texts(&[("(stack)", STACK)]);
    let top = session.interactive_top_level("(typed)", &mut libraries).unwrap();
    let value = GlobalName {
        library: "(stack)".into(),
        name: "top".into(),
    };
    let mut top = top.with_numbered_names(value);
    for (input, expected) in [
        ("$7", "(@(stack)top 7)"),
        ("(lambda ($2) $2)", "(lambda ($2.0) $2.0)"),
        ("$", "@$"),
        ("$0", "@$0"),
        ("$01", "@$01"),
        ("$1x", "@$1x"),
        ("$99999999999999999999", "@$99999999999999999999"),
        ("(define $7 1) $7", "@$7"),
    ] {
        let (next, expansion) = session.expand_at(top, "text", input, LIMIT_EXPANSION_NODES, &mut libraries);
        top = next;
        let found = expansion.unwrap().units.last().unwrap().to_string();
        assert_eq!(found.lines().last(), Some(expected), "{input}");
    }
    // Without the procedure it is an unbound name.
    let top = session.interactive_top_level("(plain)", &mut libraries).unwrap();
    let (_, expansion) = session.expand_at(top, "text", "$7", LIMIT_EXPANSION_NODES, &mut libraries);
    assert_eq!(
        expansion.unwrap().units.last().unwrap().to_string().lines().last(),
        Some("@$7")
    );
}
