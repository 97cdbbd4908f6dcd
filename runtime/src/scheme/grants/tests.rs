//! Grants as data, and the patterns or errors that come of them.

use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::read_all;

use super::*;

/// Reads a grant, and returns the manifest as text, or the error.
fn read(text: &str) -> Result<String, GrantError> {
    let (reading, errors) = read_all(text, SourceId(0));
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let datum = Datum {
        nodes: reading.nodes,
        root: reading.forms[0],
    };
    let mut manifest = Manifest::default();
    add(&mut manifest, &datum, datum.root).map(|()| format!("{:?}", manifest.encode()))
}

/// Checks the pattern that a template in a grant stands for.
#[track_caller]
fn check(template: &str, pattern: &str) {
    let grant = format!("(dataspace/observe (pattern {template}))");
    let pattern: IOValue = pattern.parse().expect("well formed");
    let expected = format!("[<limited \"dataspace/observe\" {pattern:?}>]");
    assert_eq!(read(&grant), Ok(expected), "{template}");
}

#[test]
fn templates_are_read_as_the_form_pattern_reads_them() {
    check("_", "<_>");
    check("$job", "<bind <_>>");
    check("(job $_)", "<group <rec job> {0: <bind <_>>}>");
    check("(job)", "<group <rec job> {}>");
    check(
        "(:exact (job 1 \"a\"))",
        "<group <rec job 2> {0: <lit 1> 1: <lit \"a\">}>",
    );
    check("#(1.5 #t)", "<group <arr> {0: <lit 1.5> 1: <lit #t>}>");
    check(
        "(:dict (name $n) (age _))",
        "<group <dict> {age: <_> name: <bind <_>>}>",
    );
    check("(:exact (:dict (a _)))", "<group <dict 1> {a: <_>}>");
    check("($whole (job _))", "<bind <group <rec job> {0: <_>}>>");
    check("'(a b)", "<lit [a b]>");
    check(":key", "<lit ':key'>");
    check("-12345678901234567890", "<lit -12345678901234567890>");
}

#[test]
fn names_and_limits_are_distinguished() {
    assert_eq!(read("console"), Ok("[\"console\"]".to_owned()));
    assert_eq!(read("\"workspace/*\""), Ok("[\"workspace/*\"]".to_owned()));
    let both = "(\"dataspace/assert\" (pattern a) (pattern b))";
    let expected = "[<limited \"dataspace/assert\" <lit a>>, <limited \"dataspace/assert\" <lit b>>]";
    assert_eq!(read(both), Ok(expected.to_owned()));
}

#[test]
fn what_is_no_grant_is_refused() {
    let unknown = |name: &str| GrantError::Right(UnknownRight(name.to_owned()));
    let cases = [
        ("1", GrantError::Form),
        ("()", GrantError::Form),
        ("(dataspace/observe)", GrantError::Form),
        ("(dataspace/observe . x)", GrantError::Form),
        ("(1 (pattern a))", GrantError::Form),
        ("dataspace/asert", unknown("dataspace/asert")),
        (
            "(workspace/read (pattern a))",
            GrantError::NoRight("workspace/read".to_owned()),
        ),
        ("(dataspace/observe (job $_))", GrantError::Template),
        ("(dataspace/observe (pattern a b))", GrantError::Template),
        ("(dataspace/observe (pattern ,a))", GrantError::Template),
        ("(dataspace/observe (pattern (1 2)))", GrantError::Template),
        ("(dataspace/observe (pattern 1/2))", GrantError::Template),
        ("(dataspace/observe (pattern (:exact a)))", GrantError::Template),
        (
            "(dataspace/observe (pattern (:dict (a _) (a _))))",
            GrantError::Template,
        ),
        ("(dataspace/observe (pattern #0=(a #0#)))", GrantError::TooDeep),
        ("(dataspace/observe (pattern '#0=(a #0#)))", GrantError::TooDeep),
        ("(dataspace/observe (pattern '#0=(a . #0#)))", GrantError::Template),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Err(expected), "{text}");
    }
}

#[test]
fn a_module_has_a_right_with_patterns_where_one_that_is_granted_includes_them() {
    let manifest = |grants: &[&str]| {
        let mut manifest = Manifest::default();
        for grant in grants {
            let (reading, _) = read_all(grant, SourceId(0));
            let datum = Datum {
                nodes: reading.nodes,
                root: reading.forms[0],
            };
            add(&mut manifest, &datum, datum.root).expect("a grant");
        }
        manifest
    };
    let job = "(dataspace/assert (pattern (job _)))";
    let limited = manifest(&["console", "(dataspace/assert (pattern (job _)) (pattern (task _ _)))"]);
    for (wanted, is_covered) in [
        ("console", true),
        ("clock/now", false),
        ("dataspace/assert", false),
        (job, true),
        ("(dataspace/assert (pattern (job 1)))", true),
        ("(dataspace/assert (pattern (job _)) (pattern (task 1 2)))", true),
        ("(dataspace/assert (pattern (job _)) (pattern (other _)))", false),
        ("(dataspace/assert (pattern _))", false),
        ("(dataspace/observe (pattern (job _)))", false),
        ("(dataspace/assert)", false),
        ("(console (pattern (job _)))", false),
        ("(", false),
    ] {
        assert_eq!(covers(&limited, wanted), is_covered, "{wanted}");
    }
    assert!(covers(&manifest(&["dataspace/*"]), job));
    assert!(!covers(&manifest(&["console"]), job));
}
