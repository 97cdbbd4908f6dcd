//! Tests of the reader and of its inverse, the printer.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;

use super::*;

/// Reads a text and prints every datum of it, separated by blanks.
fn print(text: &str) -> String {
    let (reading, errors) = read_all(text, SourceId(0));
    assert_eq!(errors, [], "in {text}");
    let print = |root: &NodeId| {
        Datum {
            nodes: reading.nodes.clone(),
            root: *root,
        }
        .to_string()
    };
    reading.forms.iter().map(print).collect::<Vec<_>>().join(" ")
}

fn check(text: &str, expected: &str) {
    assert_eq!(print(text), expected, "in {text}");
}

/// Checks the errors of a text, each as its offending text and message.
fn check_errors(text: &str, expected: &[(&str, &str)]) {
    let (_, errors) = read_all(text, SourceId(0));
    let show = |error: &ReadError| {
        (
            text[error.span.start as usize..error.span.end as usize].to_owned(),
            error.problem.to_string(),
        )
    };
    let expected: Vec<_> = expected
        .iter()
        .map(|(text, message)| ((*text).to_owned(), (*message).to_owned()))
        .collect();
    assert_eq!(errors.iter().map(show).collect::<Vec<_>>(), expected, "in {text}");
}

#[test]
fn reads_every_lexical_form() {
    for (text, expected) in [
        ("", ""),
        ("a b-c !$%&*/:<=>?^_~", "a b-c !$%&*/:<=>?^_~"),
        ("() ( ) (a) (a b . c) (a . (b . (c)))", "() () (a) (a b . c) (a b c)"),
        ("#(1 #(2) ()) #() #u8(0 255) #u8()", "#(1 #(2) ()) #() #u8(0 255) #u8()"),
        (
            "'a `(b ,c ,@d)",
            "(quote a) (quasiquote (b (unquote c) (unquote-splicing d)))",
        ),
        ("#t #f #true #false", "#t #f #t #f"),
        (
            "1 -1 +1 + - ... .x -> -x +.y 1+ -1+",
            "1 -1 1 + - ... .x -> -x +.y 1+ -1+",
        ),
        ("2d-vector 64? 1st 3x3 -2nd", "2d-vector 64? 1st 3x3 -2nd"),
        ("1s2 1F2 1.5d-1 2l0 1S2+1d0i", "100.0 100.0 0.15 2.0 100.0+1.0i"),
        ("[a [] #(b)] '[] (a [b . c])", "(a () #(b)) (quote ()) (a (b . c))"),
        (
            ":key :a/b : :|two words| |:symbol|",
            ":key :a/b : :|two words| |:symbol|",
        ),
        ("|a b| |x\\x41;\\n| || |a|", "|a b| |xA\\n| || a"),
        (r#""a\tb\n\"\\\a\x3bb;|""#, "\"a\\tb\\n\\\"\\\\\\aλ|\""),
        ("\"one \\   \n   two\" \"a\r\nb\"", "\"one two\" \"a\\nb\""),
        (
            r"#\a #\( #\x #\x41 #\space #\newline #\null #\λ #\x3bb #\;",
            r"#\a #\( #\x #\A #\space #\newline #\null #\λ #\λ #\;",
        ),
        (
            "a ; comment\nb #| block #| nested |# |# c #;(d e) f #; #;g h i",
            "a b c f i",
        ),
        (
            "#!fold-case ABC #\\SPACE |ABC| #!no-fold-case ABC",
            "abc #\\space ABC ABC",
        ),
        ("#!/usr/bin/env duet\n(a)", "(a)"),
        ("(a . #;b c) (a #;b) (#;a)", "(a . c) (a) ()"),
        ("1.5 -0.25 1e3 .5", "1.5 -0.25 1000.0 0.5"),
        ("a'b \"x\"y", "a (quote b) \"x\" y"),
    ] {
        check(text, expected);
    }
}

#[test]
fn reads_shared_and_cyclic_data() {
    for (text, expected) in [
        ("#0=(a . #0#)", "#0=(a . #0#)"),
        ("(x #1=(a b) #1#)", "(x (a b) (a b))"),
        ("#0=#(1 #0# #1=(2 . #1#))", "#0=#(1 #0# #1=(2 . #1#))"),
        ("(a . #5=(b c . #5#))", "(a . #0=(b c . #0#))"),
        ("#0=(1) #0=(2)", "(1) (2)"),
        ("(#0=(42 . #0#) #;#0=())", "(#0=(42 . #0#))"),
        ("(#;#0=(a #0#) #0=(b #0#) #0#)", "(#0=(b #0#) #0#)"),
        ("(#0=(a) #;(#0=(b) #;#0=(c) #0#) #0#)", "((a) (a))"),
        ("(#0=#1=(a) #1# #0#)", "((a) (a) (a))"),
    ] {
        check(text, expected);
    }
    check_errors(
        "#0# #0=#0# (#1=a #1=b) (#;#2=a #2#) (#;(#3=a #3=b))",
        &[
            ("#0#", "label #0# is not defined before"),
            ("#0=", "label #0# is not defined before"),
            ("#1=", "label #1= is defined twice"),
            ("#2#", "label #2# is not defined before"),
            ("#3=", "label #3= is defined twice"),
        ],
    );
}

#[test]
fn reports_every_error_where_it_is() {
    for (text, expected) in [
        (")a)", &[(")", "closing parenthesis without an opening one"); 2][..]),
        ("a (b (c)", &[("(", "this parenthesis is never closed")]),
        ("x \"abc", &[("\"abc", "this string is never closed")]),
        ("|abc", &[("|abc", "this `|` symbol is never closed")]),
        ("a #| b #| c |#", &[("#|", "this block comment is never closed")]),
        (
            "(a ') ' b '",
            &[("'", "a datum must follow"), ("'", "a datum must follow")],
        ),
        (
            "( . a) (a . b c) (a . ) .",
            &[
                (".", "a dot must stand before the last datum of a list"),
                ("(a . b c)", "a dot must stand before the last datum of a list"),
                ("(a . )", "a dot must stand before the last datum of a list"),
                (".", "a dot must stand before the last datum of a list"),
            ],
        ),
        (
            "#u8(1 256 a)",
            &[
                ("256", "a bytevector holds integers from 0 to 255"),
                ("a", "a bytevector holds integers from 0 to 255"),
            ],
        ),
        (
            "1.2.3 1/0 1e \"\\q\" #foo #x1g {x}",
            &[
                ("1.2.3", "malformed number `1.2.3`"),
                ("1/0", "malformed number `1/0`"),
                ("1e", "malformed number `1e`"),
                ("\"\\q\"", "unknown escape sequence `\\q`"),
                ("#foo", "unknown syntax `#foo`"),
                ("#x1g", "malformed number `#x1g`"),
                ("{", "`{` is reserved; use parentheses"),
                ("}", "`}` is reserved; use parentheses"),
            ],
        ),
        (
            "[a) (b] #(c] #u8(1]",
            &[
                (")", "`]` must close this list"),
                ("]", "`)` must close this list"),
                ("]", "`)` must close this list"),
                ("]", "`)` must close this list"),
            ],
        ),
        ("λ \"é\" )", &[(")", "closing parenthesis without an opening one")]),
    ] {
        check_errors(text, expected);
    }
}

#[test]
fn an_unclosed_list_points_to_the_form_at_the_margin_that_it_swallowed() {
    let text = "(define (f)\n  (g 1)\n(define (h) 2)\n";
    let (_, errors) = read_all(text, SourceId(0));
    let related = errors[0].related.unwrap();
    assert_eq!((errors[0].span.start, related.start), (0, 20));
}

#[test]
fn knows_which_inputs_are_incomplete() {
    for (text, expected) in [
        ("", false),
        ("(a", true),
        ("(a))", false),
        ("\"abc", true),
        ("#| x", true),
        ("'", true),
        ("(a) (b", true),
        ("(a [", true),
        ("(a {", false),
        ("(a [b)", false),
        ("#;", true),
        ("(a \"b\" . ", true),
    ] {
        assert_eq!(is_incomplete(text), expected, "{text}");
    }
}

#[test]
fn reads_one_datum_at_a_time() {
    let text = "(a) b ; end";
    let (first, end) = read_one(text, 0).unwrap().unwrap();
    assert_eq!((first.to_string().as_str(), end), ("(a)", 3));
    let (second, end) = read_one(text, end).unwrap().unwrap();
    assert_eq!((second.to_string().as_str(), end), ("b", 5));
    assert_eq!(read_one(text, end).unwrap(), None);
    assert!(read_one("(a", 0).unwrap_err().problem.is_incomplete());
}

#[test]
fn spans_cover_each_datum() {
    let text = " (ab 'c)";
    let (reading, _) = read_all(text, SourceId(3));
    let Node::Pair(_, tail) = reading.nodes[reading.forms[0].0 as usize] else {
        panic!("a pair")
    };
    let Node::Pair(quote, _) = reading.nodes[tail.0 as usize] else {
        panic!("a pair")
    };
    let span = |id: NodeId| reading.spans[id.0 as usize];
    assert_eq!(
        span(reading.forms[0]),
        Span {
            source: SourceId(3),
            start: 1,
            end: 8
        }
    );
    assert_eq!((span(tail).start, span(tail).end), (5, 8));
    assert_eq!((span(quote).start, span(quote).end), (5, 7));
}

#[test]
fn a_million_nested_parentheses_are_a_datum() {
    let depth = 1_000_000;
    let text = "(".repeat(depth) + &")".repeat(depth);
    check(&text, &text);
    let (_, errors) = read_all(&text[1..], SourceId(0));
    assert_eq!(errors.len(), 1);
    assert!(is_incomplete(&text[..depth]));
}

fn datum() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| Datum::of(Node::String(Arc::from(text))).to_string()),
        any::<String>().prop_map(|text| Datum::of(Node::Symbol(Name::from(text.as_str()))).to_string()),
        any::<String>().prop_map(|text| Datum::of(Node::Keyword(Name::from(text.as_str()))).to_string()),
        "[-+.0-9a-e:#|]{1,6}".prop_map(|text| Datum::of(Node::Symbol(Name::from(text.as_str()))).to_string()),
        any::<char>().prop_map(|character| Datum::of(Node::Character(character)).to_string()),
        any::<f64>()
            .prop_filter("finite", |real| real.is_finite())
            .prop_map(|real| Datum::of(Node::Number(Number::Flonum(real))).to_string()),
        proptest::collection::vec(any::<u8>(), 0..4)
            .prop_map(|bytes| Datum::of(Node::Bytevector(Arc::from(bytes))).to_string()),
    ];
    atom.prop_recursive(6, 64, 6, |element| {
        prop_oneof![
            proptest::collection::vec(element.clone(), 0..6).prop_map(|elements| format!("({})", elements.join(" "))),
            proptest::collection::vec(element.clone(), 0..6).prop_map(|elements| format!("#({})", elements.join(" "))),
            (element.clone(), element.clone()).prop_filter_map("a pair whose tail is an atom", |(first, rest)| {
                (!rest.starts_with('(')).then(|| format!("({first} . {rest})"))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn reading_what_was_printed_is_identity(text in datum()) {
        let printed = print(&text);
        prop_assert_eq!(&printed, &text);
    }

    #[test]
    fn symbols_and_strings_survive_printing(text: String) {
        let name = Name::from(text.as_str());
        for node in [Node::Symbol(name.clone()), Node::Keyword(name), Node::String(Arc::from(text.as_str()))] {
            let printed = Datum::of(node.clone()).to_string();
            let (datum, end) = read_one(&printed, 0).unwrap().unwrap();
            prop_assert_eq!(end, printed.len());
            prop_assert_eq!(datum.node(datum.root), &node);
        }
    }

    /// R7RS 7.1.1: no character that ends a word, or begins another datum or an escape, is in a
    /// symbol without bars.
    #[test]
    fn a_symbol_without_bars_is_one_word_to_every_reader(text in "[a-z0-9+.@:\\\\'`,;\"(){}\\[\\]|# \n-]{0,8}") {
        let symbol = Node::Symbol(Name::from(text.as_str()));
        let printed = Datum::of(symbol.clone()).to_string();
        let (datum, end) = read_one(&printed, 0).unwrap().unwrap();
        prop_assert_eq!(end, printed.len());
        prop_assert_eq!(datum.node(datum.root), &symbol);
        let special = |character: char| "\\'`,;\"()[]{}| \n".contains(character);
        prop_assert!(printed.starts_with('|') || !printed.contains(special), "{}", printed);
    }

    #[test]
    fn any_text_is_read_to_its_end(text in "[()'`,@#;|\"\\\\. a1:=\\[tu8\n-]{0,40}") {
        let (reading, errors) = read_all(&text, SourceId(0));
        for span in reading.spans.iter().chain(errors.iter().map(|error| &error.span)) {
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }
}

/// Each label is compared with no other one.
#[test]
fn many_labels_take_time_in_proportion() {
    let labels: String = (0..200_000).map(|label| format!("#{label}=(a) ")).collect();
    let (reading, errors) = read_all(&format!("({labels})"), SourceId(0));
    assert!(errors.is_empty() && reading.forms.len() == 1);
}

#[test]
fn a_long_datum_ends_when_it_should() {
    let texts = [
        format!("\"{}\"", "ß".repeat(100_000)),
        format!("({})", "1 ".repeat(100_000)),
        format!("#|{}|# 1", "-".repeat(100_000)),
    ];
    for text in texts {
        let [stopped, whole] = [true, false].map(|is_set| {
            let stop = AtomicBool::new(is_set);
            read_first_until(&text, false, Some(&stop)).is_ok_and(|next| next.is_some())
        });
        assert!(whole && !stopped, "{:?}", text.get(..10));
    }
}
