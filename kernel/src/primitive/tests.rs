//! Every primitive by rows of name, arguments and outcome, called as the machine calls it.
//!
//! Arguments are data as the reader takes them; a quoted one at the top is a literal, any other is
//! mutable, and names that begin with `@` stand for the objects of [`fixture`]. An outcome is the
//! written value, `then` and the arguments if the value is unspecified, or the failure.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod character;
mod collection;
mod flonum;
mod laws;
mod number;
mod pair;
mod port;
mod record;
mod short;
mod stopping;
mod string;
mod syntax;

use super::*;
use crate::datum::reader::read_one;
use crate::heap::{Flags, Kind, Limits};
use crate::printer::{Style, print};
use std::collections::BTreeSet;

/// Name, arguments, outcome.
type Row = (&'static str, &'static str, &'static str);

struct NoNames;

impl Names for NoNames {
    fn primitive_name(&self, _: u32) -> &str {
        "primitive"
    }

    fn procedure_name(&self, _: u32) -> Option<&str> {
        None
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    let families = [
        pair::ROWS,
        character::ROWS,
        string::ROWS,
        number::ROWS,
        flonum::ROWS,
        collection::ROWS,
        record::ROWS,
        port::ROWS,
        syntax::ROWS,
    ];
    families.into_iter().flatten()
}

fn heap() -> Heap {
    Heap::new(Limits { bytes_max: 1 << 28 })
}

/// Calls a primitive by name, after the check of arity that the machine makes.
fn call(heap: &mut Heap, name: &str, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let primitive = all().find(|primitive| primitive.name == name);
    let primitive = primitive.unwrap_or_else(|| panic!("no primitive {name}"));
    let count = arguments.len();
    let fits = count >= primitive.least.into() && primitive.most.is_none_or(|most| count <= most.into());
    assert!(fits, "{name} does not take {count} arguments");
    let PrimitiveBody::Function(function) = primitive.body else {
        panic!("{name} is not a function")
    };
    let names = &NoNames;
    function(&mut Context { heap, names }, arguments)
}

fn write(heap: &Heap, value: Value) -> String {
    print(heap, &NoNames, value, Style::Write, 1 << 20).unwrap()
}

fn write_all(heap: &Heap, values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(|value| write(heap, *value)).collect();
    texts.join(" ")
}

/// Writes the outcome of a call as rows have it.
fn outcome(heap: &Heap, arguments: &[Value], result: &Result<Value, PrimitiveError>) -> String {
    match result {
        Ok(Value::UNSPECIFIED) => format!("then {}", write_all(heap, arguments)),
        Ok(value) => write(heap, *value),
        Err(PrimitiveError::HeapFull) => "heap-full".to_owned(),
        Err(PrimitiveError::WrongType { argument, expected }) => format!("wrong-type {argument}: {expected}"),
        Err(PrimitiveError::OutOfRange { argument }) => format!("out-of-range {argument}"),
        Err(PrimitiveError::NotTheRecord { expected }) => format!("wrong-type 0: {expected}"),
        Err(PrimitiveError::Immutable { argument }) => format!("immutable {argument}"),
        Err(PrimitiveError::Arithmetic(error)) => format!("arithmetic: {error}"),
        Err(PrimitiveError::Condition {
            kind,
            message,
            irritants,
        }) => format!("{kind}: {message}: {}", write_all(heap, irritants)),
    }
}

/// Makes the arguments in a row's text.
fn arguments_of(heap: &mut Heap, text: &str) -> Vec<Value> {
    let (datum, _) = read_one(&format!("({text})"), 0).unwrap().unwrap();
    let mut rest = heap.literal(&datum).unwrap();
    let quote = heap.intern("quote").unwrap();
    let record_types = ["point", "other"].map(|name| record_type(heap, name));
    let mut arguments = Vec::new();
    while rest.is_pair() {
        let argument = heap.car(rest);
        rest = heap.cdr(rest);
        if argument.is_pair() && heap.car(argument) == quote {
            arguments.push(heap.car(heap.cdr(argument)));
            continue;
        }
        match heap.kind_of(argument) {
            Some(Kind::String | Kind::Vector | Kind::Bytevector) => heap.set_flags(argument, Flags::NONE),
            Some(Kind::Symbol) if heap.symbol_name(argument).starts_with('@') => {
                let name = heap.symbol_name(argument);
                arguments.push(fixture(heap, &name, record_types));
                continue;
            }
            _ => {}
        }
        arguments.push(argument);
    }
    arguments
}

fn record_type(heap: &mut Heap, name: &str) -> Value {
    let name = heap.intern(name).unwrap();
    let fields = ["x", "y"].map(|field| heap.intern(field).unwrap());
    let fields = heap.make(Kind::Vector, &fields).unwrap();
    heap.make_record_type(name, fields, Value::FALSE).unwrap()
}

/// Makes an object that has no notation.
fn fixture(heap: &mut Heap, name: &str, [point, other]: [Value; 2]) -> Value {
    let symbols = ["a", "b", "person"].map(|name| heap.intern(name).unwrap());
    let numbers = [1, 2, 3].map(Value::small);
    match name {
        "@point" => point,
        "@other" => other,
        "@instance" => heap.make_record(point, &numbers[..2]).unwrap(),
        "@record" => heap.make_record(symbols[2], &numbers[..2]).unwrap(),
        "@dictionary" => {
            let dictionary = heap.make_dictionary().unwrap();
            heap.table_put(dictionary, symbols[0], numbers[0]).unwrap();
            heap.table_put(dictionary, symbols[1], numbers[1]).unwrap();
            dictionary
        }
        "@set" => {
            let set = heap.make_set().unwrap();
            for number in numbers {
                heap.table_put(set, number, number).unwrap();
            }
            set
        }
        "@pending" => heap.make(Kind::Promise, &[Value::FALSE, symbols[0]]).unwrap(),
        "@kept" => heap.make(Kind::Promise, &[Value::TRUE, numbers[1]]).unwrap(),
        "@condition" => {
            let message = heap.string("no").unwrap();
            let irritants = heap.list(&numbers[..2], Value::NIL).unwrap();
            let fields = [symbols[0], message, irritants, Value::FALSE, Value::FALSE];
            heap.make(Kind::Condition, &fields).unwrap()
        }
        "@procedure" => Value::immediate(crate::value::Immediate::Primitive, 0, 0),
        "@text-in" => {
            let text = heap.string("a λ\n(b . c)").unwrap();
            call(heap, "open-input-string", &[text]).unwrap()
        }
        "@text-out" => written_port(heap, "open-output-string"),
        "@bytes-in" => {
            let bytes = heap.bytevector(&[7, 8]).unwrap();
            call(heap, "open-input-bytevector", &[bytes]).unwrap()
        }
        "@bytes-out" => {
            let port = call(heap, "open-output-bytevector", &[]).unwrap();
            let bytes = heap.bytevector(&[7, 8]).unwrap();
            call(heap, "%write-bytevector", &[bytes, port]).unwrap();
            port
        }
        "@closed-in" => closed(heap, "@text-in", [point, other]),
        "@closed-out" => closed(heap, "@text-out", [point, other]),
        "@console-in" => call(heap, "%console-port", &[Value::ZERO]).unwrap(),
        "@console-out" => written_port(heap, "%console-port"),
        "@eof" => Value::EOF,
        "@default" => Value::DEFAULT,
        "@walk" => {
            let dictionary = fixture(heap, "@dictionary", [point, other]);
            call(heap, "%dictionary-walk", &[dictionary]).unwrap()
        }
        _ => panic!("no fixture {name}"),
    }
}

/// Makes a port by a procedure (of standard output if the procedure takes a stream) and writes a
/// few characters to it.
fn written_port(heap: &mut Heap, name: &str) -> Value {
    let arguments: &[Value] = if name == "%console-port" {
        &[Value::small(1)]
    } else {
        &[]
    };
    let port = call(heap, name, arguments).unwrap();
    let text = heap.string("so far").unwrap();
    call(heap, "%write-string", &[text, port]).unwrap();
    port
}

fn closed(heap: &mut Heap, name: &str, record_types: [Value; 2]) -> Value {
    let port = fixture(heap, name, record_types);
    call(heap, "close-port", &[port]).unwrap();
    port
}

#[test]
fn rows_come_out_as_they_say() {
    let mut wrong = Vec::new();
    for (name, text, expected) in rows() {
        let mut heap = heap();
        let arguments = arguments_of(&mut heap, text);
        let result = call(&mut heap, name, &arguments);
        let found = outcome(&heap, &arguments, &result);
        if found != *expected {
            wrong.push(format!("({name} {text}) → {found}\n    instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_that_meets_the_heap_s_limit_changes_nothing_and_can_be_made_again() {
    for (name, text, expected) in rows().filter(|row| row.2 != "heap-full") {
        let mut heap = heap();
        let arguments = arguments_of(&mut heap, text);
        let before = write_all(&heap, &arguments);
        let room = (0..100).map(|step| step * 2).chain((8..20).map(|bits| 1 << bits));
        let mut result = Err(PrimitiveError::HeapFull);
        for words in room {
            let bytes_max = (heap.statistics().words_used + words) * 8;
            heap.set_limits(Limits { bytes_max });
            result = call(&mut heap, name, &arguments);
            if result != Err(PrimitiveError::HeapFull) {
                break;
            }
            assert_eq!(write_all(&heap, &arguments), before, "({name} {text})");
        }
        assert_eq!(outcome(&heap, &arguments, &result), *expected, "({name} {text})");
    }
}

#[test]
fn every_primitive_has_rows_and_a_docstring_that_tells_its_failures() {
    let covered: BTreeSet<&str> = rows().map(|row| row.0).collect();
    for primitive in all() {
        let name = primitive.name;
        assert!(!primitive.documentation.trim().is_empty(), "{name} has no docstring");
        if matches!(primitive.body, PrimitiveBody::Function(_)) {
            assert!(covered.contains(name), "{name} has no row");
        }
    }
    for (name, text, outcome) in rows() {
        let kind = outcome.split([' ', ':']).next().unwrap();
        let kinds = ["wrong-type", "out-of-range", "immutable", "arithmetic"];
        let primitive = all().find(|primitive| primitive.name == *name).unwrap();
        let told = primitive.documentation.contains(&format!("`{kind}`"));
        let is_division = outcome.contains("division by zero");
        assert!(
            !kinds.contains(&kind) || is_division || told,
            "({name} {text}) fails with {kind}"
        );
    }
}

#[test]
fn names_are_unique_and_values_is_where_the_machine_looks() {
    let mut names = BTreeSet::new();
    for primitive in all() {
        assert!(names.insert(primitive.name), "{} is there twice", primitive.name);
        assert!(
            primitive.most.is_none_or(|most| most >= primitive.least),
            "{}",
            primitive.name
        );
    }
    let values = all().nth(VALUES_POSITION as usize).unwrap();
    assert_eq!(values.name, "values");
}
