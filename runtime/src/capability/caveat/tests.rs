//! Caveats applied to values, and invalid caveats.

use duet_journal::packed::PackedFault;

use super::*;

fn value(text: &str) -> IOValue {
    text.parse().expect("well formed")
}

/// Passes values through a caveat; `None` stands for a value that does not pass.
#[track_caller]
fn check(caveat: &str, cases: &[(&str, Option<&str>)]) {
    let caveat = Caveat::read(&value(caveat)).expect("a caveat");
    let mut attenuate = |inner: &IOValue, caveats: &[Caveat]| {
        inner.as_embedded()?;
        Some(IOValue::new(vec![inner.clone(), IOValue::new(caveats.len() as u64)]))
    };
    for (text, expected) in cases {
        let found = caveat.apply(&value(text), &mut Allowance::default(), &mut attenuate);
        assert_eq!(found, Ok(expected.map(value)), "{text}");
    }
}

#[test]
fn a_rewrite_makes_another_value_of_what_matches_and_stops_the_rest() {
    check(
        "<rewrite <dict {path: <bind String>}> <dict {path: <ref 0> length: <lit 10>}>>",
        &[
            (r#"{path: "a"}"#, Some(r#"{path: "a" length: 10}"#)),
            (r#"{path: "a" length: 99}"#, Some(r#"{path: "a" length: 10}"#)),
            ("{path: 1}", None),
            ("{}", None),
            ("1", None),
        ],
    );
    check(
        "<rewrite <bind <arr [<bind <_>> <bind SignedInteger>]>> <rec seen [<ref 2> <ref 1> <ref 0>]>>",
        &[("[a 1]", Some("<seen 1 a [a 1]>")), ("[a b]", None)],
    );
}

#[test]
fn records_and_sequences_are_not_extensible() {
    check(
        "<reject <rec p [<_>]>>",
        &[("<p 1>", None), ("<p 1 2>", Some("<p 1 2>")), ("<q 1>", Some("<q 1>"))],
    );
    check(
        "<reject <arr [<_>]>>",
        &[("[1]", None), ("[1 2]", Some("[1 2]")), ("[]", Some("[]"))],
    );
    check(
        "<reject <dict {a: <_>}>>",
        &[("{a: 1}", None), ("{a: 1 b: 2}", None), ("{b: 2}", Some("{b: 2}"))],
    );
}

#[test]
fn the_first_alternative_that_matches_counts() {
    check(
        "<or [<rewrite <lit 1> <lit one>> <rewrite SignedInteger <lit many>>]>",
        &[("1", Some("one")), ("2", Some("many")), ("x", None)],
    );
    check("<or []>", &[("1", None)]);
}

#[test]
fn each_pattern_matches_its_own() {
    check(
        "<reject <and [SignedInteger <not <lit 3>>]>>",
        &[("3", Some("3")), ("4", None), ("x", Some("x"))],
    );
    for (pattern, own) in [
        ("Boolean", "#t"),
        ("Double", "1.5"),
        ("SignedInteger", "7"),
        ("String", "\"s\""),
        ("ByteString", "#\"b\""),
        ("Symbol", "s"),
        ("Embedded", "#:1"),
        ("<_>", "[]"),
    ] {
        let reject = format!("<reject {pattern}>");
        check(&reject, &[(own, None)]);
        if pattern != "<_>" {
            check(&reject, &[("<other>", Some("<other>"))]);
        }
    }
}

#[test]
fn a_caveat_that_is_not_understood_lets_nothing_pass() {
    for caveat in ["<later 1>", "1", "rewrite", "<rewrite 1>", "<reject>", "<or 1>", "[]"] {
        check(caveat, &[("1", None), ("x", None), ("{}", None)]);
    }
}

#[test]
fn a_template_narrows_capabilities_only() {
    let caveat = "<rewrite <arr [<bind <_>>]> <attenuate <ref 0> [<reject <lit 1>> <reject <lit 2>>]>>";
    check(caveat, &[("[#:5]", Some("[#:5 2]")), ("[5]", None)]);
}

#[test]
fn a_caveat_that_cannot_be_used_is_refused() {
    let cases = [
        ("<reject 1>", "1 is no pattern of a caveat"),
        ("<reject <lit>>", "<lit> is no pattern of a caveat"),
        ("<rewrite <_> 1>", "1 is no template of a caveat"),
        (
            "<rewrite <_> <ref 0>>",
            "the template refers to part 0, counted from 0, and the pattern binds 0",
        ),
        (
            "<rewrite <bind <_>> <arr [<ref 0> <ref 1>]>>",
            "the template refers to part 1, counted from 0, and the pattern binds 1",
        ),
        ("<rewrite <_> <ref -1>>", "<ref -1> is no template of a caveat"),
        (
            "<reject <not <bind <_>>>>",
            "a pattern under `not` binds a part, which would never be bound",
        ),
        ("<or [<reject <_>>]>", "<reject <_>> is no template of a caveat"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            Caveat::read(&value(text)).expect_err(text).to_string(),
            expected,
            "{text}"
        );
    }
    let deep = format!("<reject {}<_>{}>", "<bind ".repeat(100), ">".repeat(100));
    assert_eq!(Caveat::read(&value(&deep)), Err(CaveatError::TooDeep));
}

#[test]
fn caveats_make_no_value_that_is_too_deep_or_too_long() {
    let apply = |template: &str, times: usize| {
        let caveat = Caveat::read(&value(&format!("<rewrite <bind <_>> {template}>"))).expect("a caveat");
        let mut allowance = Allowance::default();
        (0..times).try_fold(value("\"hello\""), |value, _| {
            let made = caveat.apply(&value, &mut allowance, &mut |_, _| None);
            made.map(|made| made.expect("it matches"))
        })
    };
    // Each doubles the value: 2⁶⁰ parts.
    let doubled = apply("<arr [<ref 0> <ref 0>]>", 60);
    assert!(matches!(
        doubled,
        Err(PackedError {
            fault: PackedFault::TooLarge { .. },
            ..
        })
    ));
    let nested = format!("{}<ref 0>{}", "<arr [".repeat(60), "]>".repeat(60));
    assert!(matches!(
        apply(&nested, 1_000),
        Err(PackedError {
            fault: PackedFault::TooDeep { .. },
            ..
        })
    ));
    // The work of a chain is limited, not only each result.
    let long = format!("<lit \"{}\">", "x".repeat(1 << 20));
    assert!(apply(&long, 8).is_ok());
    assert!(apply(&long, 17).is_err());
}
