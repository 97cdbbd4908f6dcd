//! Any text: it is read or refused, and what was read is written as a text that reads the same.

use duet_kernel::datum::reader::{is_incomplete, read_all, read_one, read_within};
use duet_kernel::datum::{Datum, SourceId};

/// Reads the bytes as text in every way there is.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let source = SourceId(0);
    let (reading, errors) = read_all(&text, source);
    assert_eq!(reading.nodes.len(), reading.spans.len(), "every node has a span");
    for span in reading.spans.iter().chain(errors.iter().map(|error| &error.span)) {
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "a span is a part of the text: {span:?}"
        );
    }
    errors
        .iter()
        .for_each(|error| assert!(!error.problem.to_string().is_empty()));
    read_within(&text, source, true, 1_000);
    if is_incomplete(&text) {
        assert!(!errors.is_empty(), "what is incomplete has errors");
    }
    let mut start = 0;
    let mut data = Vec::new();
    while let Ok(Some((datum, end))) = read_one(&text, start) {
        assert!(end > start, "reading goes on");
        start = end;
        check_written(&datum);
        data.push(datum);
    }
    assert!(
        data.len() >= reading.forms.len() || !errors.is_empty(),
        "both ways read the same"
    );
}

/// The written form of a datum must read as the same datum.
fn check_written(datum: &Datum) {
    let written = datum.to_string();
    let (again, _) = read_one(&written, 0)
        .unwrap_or_else(|error| panic!("{written}: {error:?}"))
        .unwrap_or_else(|| panic!("{written} is blank"));
    assert_eq!(again.to_string(), written, "reading what was written");
}
