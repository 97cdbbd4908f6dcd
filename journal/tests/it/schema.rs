//! `schema.prs` and `FORMAT.md` describe the envelope that the code writes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::writer::{Writer, branch, run};
use duet_journal::{Epoch, Record};
use preserves::{IOValue, ValueImpl, read_all_iovalues_text};

/// The tokens of the schema: definitions are `Name = … .`
fn tokens() -> Vec<IOValue> {
    read_all_iovalues_text(include_str!("../../schema.prs"), true).unwrap()
}

fn definition(name: &str) -> Vec<IOValue> {
    let is = |token: &IOValue, text: &str| token.as_symbol().is_some_and(|symbol| symbol == text);
    let tokens = tokens();
    let start = tokens
        .windows(2)
        .position(|pair| is(&pair[0], name) && is(&pair[1], "="))
        .unwrap()
        + 2;
    let length = tokens[start..].iter().position(|token| is(token, ".")).unwrap();
    tokens[start..start + length].to_vec()
}

/// The names that annotate the fields of a record pattern.
fn field_names(pattern: &IOValue) -> Vec<String> {
    let name = |field: preserves::Value<IOValue>| {
        let names = field.annotations().unwrap();
        names
            .iter()
            .find_map(|note| note.as_symbol().map(|name| name.into_owned()))
            .unwrap()
    };
    pattern.iter().map(name).collect()
}

fn example() -> Vec<Record> {
    let writer = Writer {
        run: run("r"),
        branch: branch("main"),
        epoch: Epoch(1),
        head: None,
    };
    writer.chain(&["<turn>", "<turn>"])
}

#[test]
fn the_schema_lists_the_fields_of_the_envelope_in_order() {
    let envelope: Vec<IOValue> = definition("Record")[0].iter().map(IOValue::from).collect();
    let names = field_names(&envelope[1]);
    assert_eq!(names, ["run", "branch", "sequence", "snapshot", "blobs", "body"]);
    let record = duet_journal::packed::read_value(example()[0].as_bytes()).unwrap();
    assert_eq!(IOValue::from(record.label()), envelope[0]);
    assert_eq!(record.len(), names.len());
}

#[test]
fn every_name_that_the_schema_uses_is_defined() {
    let mut pending = tokens();
    let mut used = 0;
    while let Some(value) = pending.pop() {
        if value.is_record() || value.is_sequence() {
            pending.extend(value.iter().map(IOValue::from));
        } else if let Some(name) = value
            .as_symbol()
            .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
        {
            assert!(!definition(&name).is_empty(), "{name}");
            used += 1;
        }
    }
    assert!(used > 60, "{used}");
}

#[test]
fn the_example_of_the_format_page_is_what_is_written() {
    let page = include_str!("../../FORMAT.md");
    let hex = page.lines().find(|line| line.starts_with("    b4 b0")).unwrap();
    let hex: String = hex.split_whitespace().collect();
    let [first, second] = example().try_into().unwrap();
    let written: String = first.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, written);
    for record in [first, second] {
        assert!(page.contains(&record.hash().to_string()), "{}", record.hash());
    }
}
