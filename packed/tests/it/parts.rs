//! Values part by part: written without a tree, looked into without decoding, kept in lists.
//!
//! INVARIANT: what is written in parts is what the tree would be, and views find the same parts
//! again.
//! It does not look at damaged bytes; `canonical.rs` does. Read next: `canonical.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use duet_packed::{
    Class, Compound, MAX_DEPTH, PackedError, PackedFault, PackedLimits, PackedValue, PackedValues, Reader, SharedValue,
    View,
};
use preserves::{IOValue, Value};

#[test]
fn a_value_written_by_parts_is_that_of_the_tree() {
    let tree = |text: &str| text.parse::<IOValue>().unwrap();
    let written = PackedValue::write(|out| {
        out.record("a", |out| {
            out.unsigned(128);
            out.sequence(|out| out.boolean(true));
            out.string("x");
            out.byte_string(b"y");
            out.value(&tree("{b: #{2 1}}"));
        });
    });
    assert_eq!(
        written,
        PackedValue::from_value(&tree("<a 128 [#t] \"x\" #\"y\" {b: #{2 1}}>"))
    );
}

#[test]
fn parts_are_refused_where_a_tree_would_be_too_deep() {
    fn nest(out: &mut duet_packed::PackedWriter, depth: usize, inner: &IOValue) {
        match depth {
            0 => out.value(inner),
            _ => out.sequence(|out| nest(out, depth - 1, inner)),
        }
    }
    let (atom, list) = (IOValue::new(false), IOValue::new(Vec::<Value<IOValue>>::new()));
    let written = |depth, inner| PackedValue::write(|out| nest(out, depth, inner)).map(drop);
    let too_deep = Err(PackedError {
        offset_bytes: MAX_DEPTH,
        fault: PackedFault::TooDeep { limit: MAX_DEPTH },
    });
    assert_eq!(written(MAX_DEPTH, &atom), Ok(()));
    assert_eq!(written(MAX_DEPTH - 1, &list), Ok(()));
    assert_eq!(written(MAX_DEPTH, &list), too_deep);
    assert_eq!(written(MAX_DEPTH + 1, &atom), too_deep);
}

#[test]
fn sets_and_dictionaries_are_sorted_whatever_the_order_of_writing() {
    let written = PackedValue::write(|out| {
        out.open(Compound::Dictionary);
        for (key, number) in [("b", -1), ("a", i64::MIN), ("aa", 0x8000)] {
            out.symbol(key);
            out.open(Compound::Set);
            out.integer(number);
            out.sequence(|out| out.double(0.5));
            out.boolean(true);
            out.close(Compound::Set);
        }
        out.close(Compound::Dictionary);
    });
    let tree = "{a: #{-9223372036854775808 [0.5] #t} aa: #{32768 [0.5] #t} b: #{-1 [0.5] #t}}";
    assert_eq!(written, PackedValue::from_value(&tree.parse().unwrap()));
}

#[test]
fn entries_that_are_the_same_are_refused() {
    let written = PackedValue::write(|out| {
        out.open(Compound::Set);
        (0..2).for_each(|_| out.string("x"));
        out.close(Compound::Set);
    });
    let (offset_bytes, fault) = (1, PackedFault::Repeated);
    assert_eq!(written, Err(PackedError { offset_bytes, fault }));
}

fn unexpected<T>(offset_bytes: usize, expected: &'static str, found: &'static str) -> Result<T, PackedError> {
    let fault = PackedFault::Unexpected { expected, found };
    Err(PackedError { offset_bytes, fault })
}

#[test]
fn a_reader_says_what_it_expected_and_what_it_found() {
    let packed = PackedValue::from_value(&"<a [1] \"x\">".parse().unwrap()).unwrap();
    let reader = || {
        let mut reader = Reader::new(packed.as_bytes(), PackedLimits::default()).unwrap();
        reader.record("a").unwrap();
        reader
    };
    let mut whole = reader();
    whole.open(Compound::Sequence, "a list").unwrap();
    assert_eq!((whole.unsigned("a number"), whole.is_at_end()), (Ok(1), true));
    whole.end().unwrap();
    assert_eq!(whole.string("a text"), Ok("x"));
    assert_eq!((whole.end(), whole.finish()), (Ok(()), Ok(())));
    assert_eq!(reader().symbol("a name"), unexpected(4, "a name", "a sequence"));
    assert_eq!(whole.byte_string("bytes"), unexpected(13, "bytes", "nothing"));
    let mut other = Reader::new(packed.as_bytes(), PackedLimits::default()).unwrap();
    assert_eq!(other.record("b"), unexpected(1, "b", "a symbol"));
}

/// Shows a value by its views alone.
fn show(view: View<'_>) -> String {
    let parts: Vec<String> = view.parts().map(show).collect();
    if view.class() == Class::Atom {
        return format!("{:?}", view.to_value());
    }
    format!("{:?}({})", view.class(), parts.join(" "))
}

#[test]
fn views_find_the_parts() {
    let check = |text: &str, expected: &str| {
        let value = text.parse().expect("well formed");
        let packed = PackedValue::from_value(&value).expect("within limits");
        assert_eq!(show(packed.view()), expected);
        assert_eq!(packed.view().to_value(), value);
    };
    check("5", "5");
    check("<p 1 [#t \"x\"] #{}>", "Record(p 1 Sequence(#t \"x\") Set())");
    check("{a: 1 b: {}}", "Dictionary(a 1 b Dictionary())");
    check(
        "[#:<x> #{2 1} <<q> 0>]",
        "Sequence(Embedded(Record(x)) Set(1 2) Record(Record(q) 0))",
    );
    let long = "y".repeat(300);
    check(&format!("[\"{long}\" 1.5]"), &format!("Sequence(\"{long}\" 1.5)"));
}

#[test]
fn small_numbers_are_read_without_a_tree() {
    let check = |text: &str, expected: Option<u64>| {
        let value = text.parse().expect("well formed");
        let packed = PackedValue::from_value(&value).expect("within limits");
        assert_eq!(packed.view().unsigned(), expected, "{text}");
    };
    for number in [0, 1, 127, 128, 255, 65_535, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
        check(&number.to_string(), Some(number));
    }
    for other in ["-1", "-256", "18446744073709551616", "1.0", "\"1\"", "a", "[1]", "#t"] {
        check(other, None);
    }
}

#[test]
fn items_and_entries_leave_labels_and_other_kinds_out() {
    let packed = |text: &str| PackedValue::from_value(&text.parse().expect("well formed")).expect("within limits");
    let items = |text: &str| packed(text).view().items().map(show).collect::<Vec<_>>();
    assert_eq!(items("<p 1 2>"), ["1", "2"]);
    assert_eq!(items("[1 2]"), ["1", "2"]);
    assert!(items("{1: 2}").is_empty() && items("#{1}").is_empty() && items("1").is_empty());
    let dictionary = packed("{a: 1 b: 2}");
    let entries: Vec<_> = dictionary
        .view()
        .entries()
        .map(|(key, value)| show(key) + &show(value))
        .collect();
    assert_eq!(entries, ["a1", "b2"]);
    assert_eq!(packed("<p 1>").view().label().map(show).as_deref(), Some("p"));
    assert_eq!(packed("[p 1]").view().label(), None);
}

#[test]
fn values_come_back_as_they_were() {
    let packed = |text: &str| PackedValue::from_value(&text.parse().expect("well formed")).expect("within limits");
    for texts in [&[][..], &["5"], &["<p [1 {}]>", "\"x\"", "#t", "#:1"]] {
        let each: Vec<PackedValue> = texts.iter().copied().map(packed).collect();
        let views: Vec<View<'_>> = each.iter().map(PackedValue::view).collect();
        let values = PackedValues::of(&views);
        let shared: Vec<SharedValue> = views.iter().copied().map(SharedValue::from).collect();
        assert_eq!(shared.iter().map(SharedValue::view).collect::<Vec<_>>(), views);
        assert_eq!(values.iter().collect::<Vec<_>>(), views);
        assert_eq!(values.first(), views.first().copied());
        let bytes: Vec<u8> = views.iter().flat_map(|view| view.as_bytes().to_vec()).collect();
        assert_eq!(values.as_bytes(), bytes);
    }
}
