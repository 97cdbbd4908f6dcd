//! Tests of payloads that fit their description, and of the messages for others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step of a test is its failure"
)]

use super::*;
use crate::tool::description::{Answer, Field, Shape};
use crate::tool::returns::Returns;

const PAYLOAD: &[Field] = &[
    Field::required("path", Shape::Path, "a file"),
    Field::optional("limit", Shape::Positive, "a limit"),
];

static DESCRIPTION: Description = Description::pure(
    "test/tool",
    "does nothing",
    PAYLOAD,
    Answer::new("nothing", Returns::Anything),
);

fn read(payload: &str) -> Result<(PathBuf, Option<u64>), ToolFailure> {
    let mut arguments = Arguments::read(&DESCRIPTION, &payload.parse().expect("a value"))?;
    Ok((
        arguments.required("path", path)?,
        arguments.optional("limit", positive)?,
    ))
}

#[track_caller]
fn check_refused(payload: &str, message: &str) {
    let failure = read(payload).expect_err(payload);
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        ("bad-argument", message),
        "{payload}"
    );
}

#[test]
fn a_payload_that_fits_is_taken_apart() {
    assert_eq!(read(r#"{path: "a/b", limit: 3}"#), Ok((PathBuf::from("a/b"), Some(3))));
    assert_eq!(read(r#"{path: "a"}"#), Ok((PathBuf::from("a"), None)));
}

#[test]
fn a_payload_that_does_not_fit_is_refused_by_name() {
    check_refused(
        r#""a""#,
        r#"payload of test/tool: expected a dictionary with the fields `path`, `limit`, found `"a"`"#,
    );
    check_refused(
        "[1]",
        "payload of test/tool: expected a dictionary with the fields `path`, `limit`, found a list",
    );
    check_refused(
        r#"{"path": "a"}"#,
        r#"payload of test/tool: expected symbols as keys, found `"path"`"#,
    );
    check_refused(
        r#"{path: "a", pth: 1}"#,
        "payload of test/tool: there is no field `pth`; it takes `path`, `limit`",
    );
    check_refused(
        "{limit: 3}",
        "payload of test/tool: the field `path` is missing; expected a path inside the workspace, a string",
    );
    check_refused(
        "{path: 3}",
        "field `path` of test/tool: expected a path inside the workspace, a string, found `3`",
    );
    check_refused(
        r#"{path: ""}"#,
        r#"field `path` of test/tool: expected a path inside the workspace, a string, found `""`"#,
    );
    check_refused(
        r#"{path: "a", limit: 0}"#,
        "field `limit` of test/tool: expected an integer above 0, found `0`",
    );
    check_refused(
        r#"{path: "a", limit: -1}"#,
        "field `limit` of test/tool: expected an integer above 0, found `-1`",
    );
    let big = "field `limit` of test/tool: expected an integer above 0, found `99999999999999999999`";
    check_refused(r#"{path: "a", limit: 99999999999999999999}"#, big);
    let long = format!(r#"{{path: "a", limit: "{}"}}"#, "ä".repeat(50));
    check_refused(
        &long,
        &format!(
            "field `limit` of test/tool: expected an integer above 0, found `\"{}…`",
            "ä".repeat(39)
        ),
    );
}

#[test]
fn content_is_text_if_it_can_be() {
    let check = |bytes: &[u8], is_cut, expected: &str, length_bytes| {
        let (value, taken_bytes) = content(bytes.to_vec(), is_cut);
        assert_eq!(
            (format!("{value:?}").as_str(), taken_bytes),
            (expected, length_bytes),
            "{bytes:?} {is_cut}"
        );
    };
    check("aä".as_bytes(), false, r#""aä""#, 3);
    check(&"aä".as_bytes()[..2], true, r#""a""#, 1);
    check(&"aä".as_bytes()[..2], false, "#[YcM]", 2);
    check(&"ä".as_bytes()[..1], true, "#[ww]", 1);
    check(b"a\xff", true, "#[Yf8]", 2);
    check(b"", true, r#""""#, 0);
}
