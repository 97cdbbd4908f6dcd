//! Descriptions of names: how to call them and what they do, in the words of their definitions.
//!
//! Owns the reading of documentation: the docstrings of the kernel's forms and primitives and of
//! host procedures, and the `;;;>` lines above definitions in libraries.
//! INVARIANT: the answer depends on the name and the texts alone.
//! It does not know which texts a program has; the caller supplies them.
//! Read next: `host/evaluation.rs`.

use std::collections::BTreeSet;

use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Node, NodeId, SourceId};
use duet_kernel::{form, primitive};
use preserves::{IOValue, Map, Value};

use super::host;

/// The description of a name from one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The defined name; it differs from the requested one if a library exports it under that one.
    pub name: String,
    /// Its calls, such as `(vector-ref vector k)`, one per line; the shape of a form; only the name
    /// for anything else.
    pub call: String,
    /// The name of the text that defines it; `None` for built-in names.
    pub place: Option<String>,
    /// Its documentation, line by line.
    pub documentation: String,
}

/// Describes a name. If it has no definition, describes the names that a library exports as it,
/// through one rename or several.
///
/// `files` are the texts of libraries, each with its name.
pub fn descriptions<'text>(name: &str, files: &[(&'text str, &'text str)]) -> Vec<Description> {
    let found = definitions(name, files);
    if !found.is_empty() {
        return found;
    }
    let (mut seen, mut pending) = (BTreeSet::from([name]), vec![name]);
    let mut described: Vec<Description> = Vec::new();
    while let Some(name) = pending.pop() {
        let originals = files.iter().flat_map(|(_, text)| originals(text, name));
        for original in originals.filter(|name| seen.insert(name)) {
            let found = definitions(original, files);
            if found.is_empty() {
                pending.push(original);
            }
            described.extend(found);
        }
    }
    described.sort_by(|left, right| left.name.cmp(&right.name));
    described
}

fn definitions(name: &str, files: &[(&str, &str)]) -> Vec<Description> {
    let kernel = primitive::all().map(|row| (row.name, row.parameters, row.documentation));
    let host = host::procedures().map(|row| (row.name, row.parameters, row.documentation));
    let built_in = kernel.chain(host).filter(|(row, ..)| *row == name);
    let built_in = built_in.map(|(_, parameters, documentation)| Description {
        name: name.to_owned(),
        call: call(name, parameters),
        place: None,
        documentation: joined(documentation.lines()),
    });
    let forms = form::descriptions().filter(|form| form.name == name);
    let forms = forms.map(|form| Description {
        name: name.to_owned(),
        call: form.grammar.to_owned(),
        place: None,
        documentation: joined(form.documentation.lines()),
    });
    forms
        .chain(built_in)
        .chain(files.iter().filter_map(|(path, text)| in_library(path, text, name)))
        .collect()
}

/// Formats a call of a built-in procedure: `(car pair)`.
#[must_use]
pub fn call(name: &str, parameters: &str) -> String {
    let words: Vec<&str> = std::iter::once(name).chain(parameters.split_whitespace()).collect();
    format!("({})", words.join(" "))
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Lists the names that a library exports as `name`: those in `(rename original name)`.
fn originals<'text>(text: &'text str, name: &str) -> Vec<&'text str> {
    let renames = text.split("(rename ").skip(1).filter_map(|rest| rest.split_once(')'));
    let pairs = renames.filter_map(|(inside, _)| inside.split_once(' '));
    pairs
        .filter(|(_, external)| *external == name)
        .map(|(original, _)| original)
        .collect()
}

/// Finds the definition of a name and the `;;;>` lines above it. A line in a record type's
/// definition may have them too; they describe all names of that line.
fn in_library(path: &str, text: &str, name: &str) -> Option<Description> {
    // Most texts do not have the name, and this is the fastest way to find out.
    if !text.contains(name) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let defines = |line: &str| {
        let mut words = line.split([' ', '(', ')']).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        if first.starts_with("define") {
            words.next() == Some(name)
        } else {
            first == name || words.any(|word| word == name)
        }
    };
    let is_documentation = |line: &str| line.trim_start().starts_with(";;;>");
    let is_defined = |place: usize| !is_documentation(lines[place]) && defines(lines[place]);
    let at = (1..lines.len()).find(|place| is_documentation(lines[place - 1]) && is_defined(*place))?;
    let documented = lines[..at]
        .iter()
        .rev()
        .map_while(|line| line.trim_start().strip_prefix(";;;>"));
    let mut documentation: Vec<&str> = documented.collect();
    documentation.reverse();
    Some(Description {
        name: name.to_owned(),
        call: calls(&lines[at..].join("\n"), name).unwrap_or_else(|| name.to_owned()),
        place: Some(path.to_owned()),
        documentation: joined(documentation.into_iter()),
    })
}

/// Describes the last definition of a name in a text that a person has written: by the comment
/// right above it, whatever its marks, or by a string at the beginning of the procedure's body.
/// Without either, only how it is called.
#[must_use]
pub fn in_text(text: &str, name: &str) -> Option<Description> {
    let (reading, _) = read_all(text, SourceId(0));
    let form = last_definition(&reading, name)?;
    let (before, definition) = text.split_at_checked(reading.spans[form.0 as usize].start as usize)?;
    let above = before
        .lines()
        .rev()
        .map_while(|line| line.trim_start().strip_prefix(';'));
    let mut above: Vec<&str> = above.map(|line| line.trim_start_matches([';', '>'])).collect();
    above.reverse();
    let documentation = if above.is_empty() {
        leading_string(&reading, form).unwrap_or_default()
    } else {
        joined(above.into_iter())
    };
    Some(Description {
        name: name.to_owned(),
        call: calls(definition, name).unwrap_or_else(|| name.to_owned()),
        place: None,
        documentation,
    })
}

/// The line, from 1, where the last definition of a name in a text begins.
#[must_use]
pub fn line_in_text(text: &str, name: &str) -> Option<usize> {
    let (reading, _) = read_all(text, SourceId(0));
    let form = last_definition(&reading, name)?;
    let before = text.get(..reading.spans[form.0 as usize].start as usize)?;
    Some(before.matches('\n').count() + 1)
}

fn last_definition(reading: &Reading, name: &str) -> Option<NodeId> {
    let mut forms = reading.forms.iter().rev();
    forms.find(|form| defined(reading, **form) == Some(name)).copied()
}

/// The name that a form defines, if it is a definition.
fn defined(reading: &Reading, form: NodeId) -> Option<&str> {
    let (keyword, rest) = pair(reading, form)?;
    let (mut target, _) = pair(reading, rest)?;
    while let Some((first, _)) = pair(reading, target) {
        target = first;
    }
    symbol(reading, keyword)?
        .starts_with("define")
        .then(|| symbol(reading, target))?
}

/// The string with which the body of a procedure begins, if the body has more than that.
fn leading_string(reading: &Reading, form: NodeId) -> Option<String> {
    let (_, rest) = pair(reading, form)?;
    let (target, mut body) = pair(reading, rest)?;
    if pair(reading, target).is_none() {
        let (value, _) = pair(reading, body)?;
        let (keyword, lambda) = pair(reading, value)?;
        if symbol(reading, keyword)? != "lambda" {
            return None;
        }
        body = pair(reading, lambda)?.1;
    }
    let (first, more) = pair(reading, body)?;
    pair(reading, more)?;
    let Node::String(text) = &reading.nodes[first.0 as usize] else {
        return None;
    };
    Some(joined(text.lines()))
}

/// Formats the calls of the procedure whose definition `text` begins with; `None` if it does not
/// begin so.
fn calls(text: &str, name: &str) -> Option<String> {
    let (reading, _) = read_all(text, SourceId(0));
    let (keyword, rest) = pair(&reading, *reading.forms.first()?)?;
    let (target, rest) = pair(&reading, rest)?;
    if symbol(&reading, keyword)? != "define" {
        return None;
    }
    if let Some((_, formals)) = pair(&reading, target) {
        return shown(&reading, name, formals);
    }
    let (value, _) = pair(&reading, rest)?;
    let (keyword, mut clauses) = pair(&reading, value)?;
    match symbol(&reading, keyword)? {
        "lambda" => shown(&reading, name, pair(&reading, clauses)?.0),
        "case-lambda" => {
            let mut ways = Vec::new();
            while let Some((clause, rest)) = pair(&reading, clauses) {
                ways.push(shown(&reading, name, pair(&reading, clause)?.0)?);
                clauses = rest;
            }
            Some(ways.join("\n"))
        }
        _ => None,
    }
}

/// Formats a call with these formals: `(f a . b)`.
fn shown(reading: &Reading, name: &str, mut formals: NodeId) -> Option<String> {
    let mut words = vec![name];
    while let Some((first, rest)) = pair(reading, formals) {
        words.push(symbol(reading, first)?);
        formals = rest;
    }
    if let Some(rest) = symbol(reading, formals) {
        words.extend([".", rest]);
    }
    Some(format!("({})", words.join(" ")))
}

fn pair(reading: &Reading, id: NodeId) -> Option<(NodeId, NodeId)> {
    let Node::Pair(first, rest) = &reading.nodes[id.0 as usize] else {
        return None;
    };
    Some((*first, *rest))
}

fn symbol(reading: &Reading, id: NodeId) -> Option<&str> {
    let Node::Symbol(name) = &reading.nodes[id.0 as usize] else {
        return None;
    };
    Some(name.as_str())
}

/// Returns the descriptions as a program receives them: a list of dictionaries with `name`, `call`,
/// `place` and `documentation`.
pub(super) fn as_value(found: &[Description]) -> IOValue {
    let text = |text: &str| Value::new(text.to_owned());
    let entries = found.iter().map(|description| {
        let place = description.place.as_deref().unwrap_or("built in");
        IOValue::new(Map::from([
            (Value::symbol("name"), Value::symbol(description.name.clone())),
            (Value::symbol("call"), text(&description.call)),
            (Value::symbol("place"), text(place)),
            (Value::symbol("documentation"), text(&description.documentation)),
        ]))
    });
    IOValue::new(entries.collect::<Vec<IOValue>>())
}

#[cfg(test)]
mod tests {
    use super::{Description, in_library, in_text, line_in_text, originals};

    fn check_text(text: &str, call: &str, documentation: &str) {
        let found = in_text(text, "f").map(|found| (found.call, found.documentation));
        assert_eq!(found, Some((call.to_owned(), documentation.to_owned())), "{text}");
    }

    #[test]
    fn a_person_s_own_definition_is_described_by_its_comment_or_its_string() {
        check_text(";; Doubles.\n(define (f x) (* 2 x))", "(f x)", "Doubles.");
        check_text(
            "1\n;;> Doubles,\n;;> twice.\n(define (f x) (* 2 x))",
            "(f x)",
            "Doubles,\ntwice.",
        );
        check_text("(define (f x . y) \"Adds.\" (apply + x y))", "(f x . y)", "Adds.");
        check_text("(define f (lambda (x) \"Adds.\" x))", "(f x)", "Adds.");
        check_text("(define (f) \"the value\")", "(f)", "");
        check_text(";; Old.\n(define (f) 1)\n\n(define (f x) x)", "(f x)", "");
        check_text("; A number.\n(define f 5)", "f", "A number.");
        assert_eq!(in_text("(f 1) (define g 1)", "f"), None);
        assert_eq!(in_text("(define (f", "f"), None);
        assert_eq!(line_in_text("(define f 1)\n\n  (define (f)\n 1)\n(f)", "f"), Some(3));
        assert_eq!(line_in_text("(f)", "f"), None);
    }

    #[test]
    fn a_definition_is_found_with_its_documentation() {
        let text =
            ";;;> Not this.\n(define x 1)\n\n;;;> Does it,\n;;;> slowly.\n(define (f a . b) a)\n(define (g) 1)\n";
        let described = |name: &str, call: &str, documentation: &str| Description {
            name: name.to_owned(),
            call: call.to_owned(),
            place: Some("l.scm".to_owned()),
            documentation: documentation.to_owned(),
        };
        assert_eq!(
            in_library("l.scm", text, "f"),
            Some(described("f", "(f a . b)", "Does it,\nslowly."))
        );
        assert_eq!(in_library("l.scm", text, "g"), None);
        assert_eq!(in_library("l.scm", text, "x"), Some(described("x", "x", "Not this.")));
        let text = "(begin\n;;;> Both.\n(define h\n  (case-lambda\n    ((a) 1)\n    ((a b . c) 2)))\n\
                    ;;;> One.\n(define i (lambda j j)))";
        assert_eq!(
            in_library("l.scm", text, "h"),
            Some(described("h", "(h a)\n(h a b . c)", "Both."))
        );
        assert_eq!(in_library("l.scm", text, "i"), Some(described("i", "(i . j)", "One.")));
    }

    #[test]
    fn a_line_of_a_record_type_is_documented_too() {
        let text = "(define-record-type box\n  ;;;> Makes one.\n  (make-box value)\n  box?\n  \
                    ;;;> What is in it.\n  (value unbox set-box!))\n";
        let words = |name: &str| in_library("l", text, name).map(|found| found.documentation);
        assert_eq!(words("make-box").as_deref(), Some("Makes one."));
        assert_eq!(words("set-box!").as_deref(), Some("What is in it."));
        assert_eq!(words("box?"), None);
        assert_eq!(originals("(export a (rename b c) (rename d e))", "c"), ["b"]);
    }
}
