//! Limits of the code that macros make, and what a session keeps of it.

use super::{session, texts};
use crate::expander::top_level::TopLevel;
use crate::expander::{Expander, Libraries};

/// The maximum number of nodes in these tests.
const NODES_MAX: u32 = 1_000;

/// Expands a text; returns the first error, or nothing.
fn expand(
    session: &mut Expander,
    top: &mut Option<TopLevel>,
    libraries: &mut dyn Libraries,
    text: &str,
) -> Option<String> {
    let (next, expansion) = session.expand_at(top.take().unwrap(), "text", text, NODES_MAX, libraries);
    *top = Some(next);
    expansion.err().map(|errors| errors[0].kind.to_string())
}

#[test]
fn macros_of_a_text_make_a_limited_number_of_nodes_and_the_session_keeps_none() {
    let mut session = session();
    let mut libraries = texts(&[]);
    let mut top = session.interactive_top_level("(names)", &mut libraries).ok();
    let mut run = |text: &str| {
        let failed = expand(&mut session, &mut top, &mut libraries, text);
        (failed, session.syntax.length())
    };
    let many = format!(
        "(define-syntax double (syntax-rules () ((_ x) (begin x x))))
         (define-syntax many (syntax-rules () ((_ a ...) (list {}))))",
        "a ... ".repeat(50)
    );
    let (failed, length) = run(&many);
    assert_eq!(failed, None);
    let doubled = format!("{}1{}", "(double ".repeat(20), ")".repeat(20));
    for _ in 0..3 {
        let too_large = "the program, its data and what its macros make have more than 1000 nodes of code";
        assert_eq!(run(&doubled), (Some(too_large.to_owned()), length));
    }
    // One template alone makes too much.
    let (failed, kept) = run(&format!("(many {})", "1 ".repeat(100)));
    assert_eq!(kept, length);
    assert!(failed.unwrap().contains("more than 1000 nodes"));
    for text in ["(many 1 2)", "(double (many 1))", "(define x (many 1 2))"] {
        assert_eq!(run(text), (None, length), "{text}");
    }
}

#[test]
fn texts_that_define_macros_share_a_limit_because_their_syntax_stays() {
    let mut session = session();
    let mut libraries = texts(&[]);
    let mut top = session.interactive_top_level("(names)", &mut libraries).ok();
    let text = "(let-syntax ((twice (syntax-rules () ((_ x) (list x x))))) (twice (twice 1)))";
    let refused = (0..1_000).position(|_| expand(&mut session, &mut top, &mut libraries, text).is_some());
    assert!(refused.is_some_and(|count| count > 20), "{refused:?}");
    assert_eq!(expand(&mut session, &mut top, &mut libraries, "(list 1)"), None);
}

#[test]
fn a_long_let_star_is_expanded_in_proportion_to_its_bindings() {
    let mut session = session();
    let mut libraries = texts(&[]);
    let mut top = session.interactive_top_level("(names)", &mut libraries).ok();
    // Work that grows with the cube of the bindings, as comparing all of one name does, would take
    // hours.
    let one_name = format!("(let* ((a 0) {}) a)", "(a (list a)) ".repeat(16_000));
    let names = (1..16_000).map(|number| format!("(a{number} (list a{}))", number - 1));
    let chained = format!("(let* ((a0 0) {}) a15999)", names.collect::<String>());
    for text in [one_name, chained] {
        let (next, expansion) = session.expand_at(top.take().unwrap(), "text", &text, u32::MAX, &mut libraries);
        top = Some(next);
        assert_eq!(expansion.err().map(|errors| errors[0].kind.to_string()), None);
    }
}
