//! Names that a person has defined at the prompt: their descriptions, and their changes.
//!
//! INVARIANT: a description comes from the text that the person typed last.
//! Names of libraries are described in `repl.rs`.

use crate::support::desk::Desk;

#[test]
fn one_s_own_definitions_are_described_and_their_changes_are_compared() {
    let desk = Desk::new(&[]);
    let texts = [
        "(define (double x) \"Doubles a number.\" (* 2 x))",
        "(define x 10)",
        "(define x 20)",
        ",diff",
        ",describe double",
        ",describe car\n",
    ];
    let said = desk.feed("repl", &texts.join("\n"));
    assert_eq!(said.code, 0, "{}", said.errors);
    for wanted in [
        "memory    x: 10 → 20",
        "(double x)\n  Doubles a number.\n",
        "(car pair)",
    ] {
        assert!(said.output.contains(wanted), "{wanted}: {said:?}");
    }
}
