//! Rules for the parameters of functions.
//!
//! Owns the refusal of tuples that a parameter list takes apart: two values that travel together
//! are a type, and two that do not are two parameters.
//! INVARIANT: a closure may take a tuple apart, because iterators yield tuples; a function may not.
//! It looks at product code only, not at tests, benchmarks and proofs.
//! Read next: `names.rs`.

use super::rule::{Offence, planted, require, shown};
use crate::support::modules::tokens;
use crate::support::tree::{Source, sources};

/// Files whose functions may take tuples apart: path, how many parameters at most, reason.
type Spared = (&'static str, usize, &'static str);
const SPARED: &[Spared] = &[];

/// Whether the file is product code of a library crate or of the command.
fn is_product(source: &Source) -> bool {
    let is_kept_apart = |part: &str| ["tests", "benches", "proofs", "bench"].contains(&part);
    !source.path.split('/').any(is_kept_apart) && source.stem() != "tests"
}

/// The text without the unit tests at its foot.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// The lines of the functions that take a tuple apart, one for each such parameter.
fn tuples_in(text: &str) -> Vec<usize> {
    let tokens = tokens(text);
    let line_of = |token: &str| {
        let offset = token.as_ptr().addr() - text.as_ptr().addr();
        text[..offset].matches('\n').count() + 1
    };
    let mut lines = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "fn") {
        let Some(open) = parameters_from(&tokens, at + 1) else {
            continue;
        };
        let count = destructured(&tokens[open + 1..]);
        lines.extend(std::iter::repeat_n(line_of(tokens[at]), count));
    }
    lines
}

/// The place of the bracket that opens the parameters of the function named at `name`, behind its
/// type parameters.
fn parameters_from(tokens: &[&str], name: usize) -> Option<usize> {
    let (mut depth, mut before) = (0, "");
    for (at, token) in tokens.iter().enumerate().skip(name + 1) {
        match *token {
            "<" => depth += 1,
            ">" if before != "-" => depth -= 1,
            "(" if depth == 0 => return Some(at),
            ";" | "{" if depth == 0 => return None,
            _ => {}
        }
        before = token;
    }
    None
}

/// How many of the parameters that begin here have a tuple for their pattern.
fn destructured(tokens: &[&str]) -> usize {
    let (mut depth, mut before, mut count) = (1, ",", 0);
    for (at, token) in tokens.iter().enumerate() {
        let begins = depth == 1 && (before == "," || before == "&");
        match *token {
            "(" if begins && is_pattern(&tokens[at..]) => {
                count += 1;
                depth += 1;
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        before = token;
    }
    count
}

/// Whether the tuple that begins here is followed by its type.
fn is_pattern(tokens: &[&str]) -> bool {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return tokens.get(at + 1) == Some(&":");
        }
    }
    false
}

/// Parameters that take tuples apart, other than those spared.
fn taking_tuples_apart(files: &[Source], spared: &[Spared]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| is_product(source)) {
        let lines = tuples_in(without_tests(&source.text));
        let most = spared.iter().find(|(path, _, _)| *path == source.path);
        let most = most.map_or(0, |(_, most, _)| *most);
        if lines.len() < most {
            offences.push(Offence::of_file(
                source,
                format!("{}: lower its number in SPARED", lines.len()),
            ));
        } else if lines.len() > most {
            offences.extend(lines.into_iter().map(|line| Offence::at(source, line, "")));
        }
    }
    offences
}

#[test]
fn a_parameter_is_no_tuple_taken_apart() {
    require(
        &taking_tuples_apart(&sources(&["rs"]), SPARED),
        "give these pairs a type with a name, or take their parts as parameters",
    );
}

#[test]
fn the_rule_about_tuples_finds_each_form_and_nothing_else() {
    let text = "fn a<F: Fn(u8) -> (u8, u8)>(f: F, (x, y): (u8, u8)) {}\n\
                fn b(&self, pairs: &BTreeMap<u8, (u8, u8)>, &(a, (b, c)): &(u8, (u8, u8))) {}\n\
                fn c(pair: (u8, u8)) { let (a, b) = pair; f(|(a, b)| g((a, b), c)); }\n\
                type F = fn((u8, u8)) -> u8;\n\
                #[cfg(test)]\nmod tests {\nfn d((a, b): (u8, u8)) {}\n}\n";
    let files = [
        planted("k/src/a.rs", text),
        planted("k/src/a/tests.rs", text),
        planted("benches/a.rs", text),
        planted("k/src/b.rs", "fn f((a, b): (u8, u8)) {}\n"),
        planted("k/src/c.rs", ""),
    ];
    let spared = [("k/src/b.rs", 1, "a table"), ("k/src/c.rs", 1, "a table")];
    assert_eq!(
        shown(&taking_tuples_apart(&files, &spared)),
        [
            "k/src/a.rs:1: ",
            "k/src/a.rs:2: ",
            "k/src/c.rs: 0: lower its number in SPARED"
        ]
    );
}
