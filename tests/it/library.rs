//! The standard library: every library loads, and its procedures do what the reports say.
//!
//! Owns a session over the embedded sources, without a runtime.
//! INVARIANT: a library that needs more than the kernel's primitives and the runtime's host
//! procedures does not load.
//! A double of the console gives a fixed text and keeps the output.
//! Read next: `library/control.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, Expansion, LibraryName};
use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::write_limited;
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::value::Value;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

mod control;
mod work;

struct Session {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
    expander: Expander,
    libraries: Resolver,
    /// The remaining input of the console, one line for each request.
    input: Vec<&'static str>,
    output: Vec<u8>,
    fuel_used: i64,
}

/// The fuel until an input, or the end.
const FUEL: i64 = 10_000_000;

impl Session {
    fn new() -> Self {
        let code = CodeSpace::new(&host::primitives());
        let expander = Expander::new(code.signatures(), vec![library("duet base")])
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        let sources = Embedded::new("duet", duet_stdlib::FILES);
        Self {
            machine: Machine::new(),
            instance: Instance::new(Limits { bytes_max: 64 << 20 }),
            code,
            expander,
            libraries: Resolver::new(vec![Box::new(sources)]),
            input: vec!["b) rest\n", "x(a\n", "first line\n"],
            output: Vec::new(),
            fuel_used: 0,
        }
    }

    fn load(&mut self, expansion: Expansion) -> Result<Value, Value> {
        let mut last = Value::UNSPECIFIED;
        for unit in &expansion.units {
            let compiled = compile(unit, &self.code).unwrap();
            let number = self.code.load(&compiled).unwrap();
            let procedure = self.instance.unit_procedure(&self.code, number).unwrap();
            self.machine.start(&mut self.instance, procedure, &[]);
            last = self.run()?;
        }
        Ok(last)
    }

    fn run(&mut self) -> Result<Value, Value> {
        loop {
            let mut fuel = FUEL;
            let outcome = self.machine.run(&mut self.instance, &self.code, &mut fuel).unwrap();
            self.fuel_used += FUEL - fuel;
            match outcome {
                Outcome::Finished(value) => return Ok(value),
                Outcome::Uncaught(object) => return Err(object),
                outcome @ (Outcome::OutOfFuel | Outcome::Exhausted) => panic!("{outcome:?}"),
                Outcome::Request { primitive, count } => {
                    let arguments = self.machine.arguments(count).to_vec();
                    let answer = self.answer(primitive, &arguments);
                    self.machine.resume(answer);
                }
            }
        }
    }

    fn answer(&mut self, primitive: u32, arguments: &[Value]) -> Value {
        match self.code.primitives()[primitive as usize].name {
            "%console-read" => {
                let line = self.input.pop().unwrap_or_default();
                self.instance.heap.bytevector(line.as_bytes()).unwrap()
            }
            "%console-write" => {
                self.output.extend(self.instance.heap.raw_bytes(arguments[1]));
                Value::UNSPECIFIED
            }
            other => panic!("no test uses {other}"),
        }
    }

    fn show(&self, value: Value) -> String {
        write_limited(&self.instance.heap, &self.code, value, 10_000)
    }
}

fn library(name: &str) -> LibraryName {
    LibraryName {
        parts: name.split(' ').map(Name::from).collect(),
    }
}

/// Checks what a program's last form evaluates to; `raises …` if it ends with an uncaught object.
fn check(program: &str, expected: &str) {
    let mut session = Session::new();
    let expansion = session.expander.expand_program("test", program, &mut session.libraries);
    let expansion = expansion.unwrap_or_else(|errors| panic!("{program}: {errors:#?}"));
    let shown = match session.load(expansion) {
        Ok(value) => session.show(value),
        Err(object) => format!("raises {}", session.show(object)),
    };
    assert_eq!(shown, expected, "{program}");
}

#[test]
fn every_source_file_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("stdlib");
    let mut found = Vec::new();
    let mut folders = vec![root.join("scheme"), root.join("duet"), root.join("srfi")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(&root).unwrap();
            found.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    found.sort();
    let listed: Vec<_> = duet_stdlib::FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, listed);
}

#[test]
fn every_library_loads() {
    for (path, _) in duet_stdlib::FILES.iter().filter(|(path, _)| path.ends_with(".sld")) {
        let name = library(&path.trim_end_matches(".sld").replace('/', " "));
        let mut session = Session::new();
        let expansion = session.expander.expand_library(&name, &mut session.libraries);
        let expansion = expansion.unwrap_or_else(|errors| panic!("{path}: {errors:#?}"));
        let warnings: Vec<_> = expansion
            .warnings
            .iter()
            .map(|warning| warning.kind.to_string())
            .collect();
        assert_eq!(warnings, Vec::<String>::new(), "{path}");
        let raised = session.load(expansion).err().map(|object| session.show(object));
        assert_eq!(raised, None, "{path}");
    }
}

#[test]
fn sequences() {
    for (program, expected) in [
        ("(map + '(1 2) '(10 20 30))", "(11 22)"),
        ("(map (lambda (x) (* x x)) '(1 2 3))", "(1 4 9)"),
        (
            "(let ((v '())) (for-each (lambda (x y) (set! v (cons (+ x y) v))) '(1 2) '(3 4)) v)",
            "(6 4)",
        ),
        (
            "(list (member 2.0 '(1 2 3) =) (member '(1) '((1) 2)) (member 1 '()))",
            "((2 3) ((1) 2) #f)",
        ),
        (
            "(list (assoc 2.0 '((1 one) (2 two)) =) (assoc \"b\" '((\"a\" . 1) (\"b\" . 2))))",
            "((2 two) (\"b\" . 2))",
        ),
        ("(vector-map + #(1 2) #(10 20 30))", "#(11 22)"),
        ("(vector-map (lambda (x) (* x x)) #(1 2 3))", "#(1 4 9)"),
        (
            "(let ((n 0)) (vector-for-each (lambda (x) (set! n (+ n x))) #(1 2 3)) n)",
            "6",
        ),
        ("(string-map char-upcase \"abc\")", "\"ABC\""),
        (
            "(string-map (lambda (a b) (if (char<? a b) a b)) \"adc\" \"bbbz\")",
            "\"abb\"",
        ),
        (
            "(let ((v '())) (string-for-each (lambda (c) (set! v (cons c v))) \"abc\") v)",
            "(#\\c #\\b #\\a)",
        ),
        (
            "(let ((k* #f) (y* 1)) (set! y* (* 2 y*))
            (map (lambda (x) (call/cc (lambda (k) (if (= x 2) (set! k* k)) x))) '(1 2 3)))",
            "(1 2 3)",
        ),
        (
            "(define r (let ((k* #f) (result '()))
                         (let ((l (map (lambda (x) (call/cc (lambda (k) (if (not k*) (set! k* k)) x))) '(1 2))))
               (set! result (cons l result)) (if (< (length result) 2) (k* 10)) (reverse result)))) r",
            "((1 2) (10 2))",
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn several_values() {
    for (program, expected) in [
        (
            "(let-values (((a b) (values 1 2)) ((c . d) (values 3 4 5)) (e (values 6))) (list a b c d e))",
            "(1 2 3 (4 5) (6))",
        ),
        (
            "(let ((a 1) (b 2)) (let-values (((a b) (values b a)) ((c) (values a))) (list a b c)))",
            "(2 1 1)",
        ),
        (
            "(let*-values (((a b) (values 1 2)) ((c) (values (+ a b)))) (define d c) (list a b c d))",
            "(1 2 3 3)",
        ),
        ("(receive (a . rest) (values 1 2 3) (list a rest))", "(1 (2 3))"),
        ("(define-values (a b . c) (values 1 2 3 4)) (list a b c)", "(1 2 (3 4))"),
        (
            "(define (f) (define-values (a b) (values 1 2)) (define c (+ a b)) (list a b c)) (f)",
            "(1 2 3)",
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn sorting_and_searching() {
    for (program, expected) in [
        ("(sort '(3 1 2) <)", "(1 2 3)"),
        ("(sort (vector 3 1 2) >)", "#(3 2 1)"),
        (
            "(list-sort (lambda (a b) (< (car a) (car b))) '((2 . a) (1 . b) (2 . c) (1 . d)))",
            "((1 . b) (1 . d) (2 . a) (2 . c))",
        ),
        (
            "(list (fold cons '() '(1 2)) (fold-left list 0 '(1 2)) (fold-right list 0 '(1 2)) (reduce + 0 '(1 2 3))
                (reduce + 0 '()))",
            "((2 1) ((0 1) 2) (1 (2 0)) 6 0)",
        ),
        (
            "(list (filter odd? '(1 2 3)) (remove odd? '(1 2 3)) (delete 2 '(1 2 3)) (delete-duplicates '(1 2 1 3 2)))",
            "((1 3) (2) (1 3) (1 2 3))",
        ),
        (
            "(call-with-values (lambda () (partition odd? '(1 2 3))) list)",
            "((1 3) (2))",
        ),
        (
            "(list (find even? '(1 2 3)) (any even? '(1 3)) (any + '(1) '(2)) (count odd? '(1 2 3))
                (list-index even? '(1 2)))",
            "(2 #f 3 2 1)",
        ),
        (
            "(list (filter-map (lambda (x) (and (odd? x) (* x x))) '(1 2 3)) (append-map list '(1 2) '(3 4))
                (flatten '(1 (2 (3)) () 4)))",
            "((1 9) (1 3 2 4) (1 2 3 4))",
        ),
        (
            "(list (iota 3) (iota 3 1) (last '(1 2 3)) (take '(1 2 3) 2) (drop '(1 2 3) 2))",
            "((0 1 2) (1 2 3) 3 (1 2) (3))",
        ),
        ("(if (memq 'r7rs (features)) 'yes 'no)", "yes"),
    ] {
        check(program, expected);
    }
}

#[test]
fn records_and_cases() {
    for (program, expected) in [
        (
            "(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
             (define p (make-point 1 2)) (set-point-x! p 10) (list (point-x p) (point-y p) (point? p) (point? 5))",
            "(10 2 #t #f)",
        ),
        (
            "(define-record-type <a> (make-a) a?) (define-record-type <b> (make-b) b?)
             (list (a? (make-a)) (a? (make-b)))",
            "(#t #f)",
        ),
        (
            "(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) 'composite))",
            "composite",
        ),
        (
            "(do ((vec (make-vector 5)) (i 0 (+ i 1))) ((= i 5) vec) (vector-set! vec i i))",
            "#(0 1 2 3 4)",
        ),
        (
            "(let loop ((numbers '(3 -2 1)) (nonneg '()) (neg '()))
               (cond ((null? numbers) (list nonneg neg))
                     ((>= (car numbers) 0) (loop (cdr numbers) (cons (car numbers) nonneg) neg))
                     (else (loop (cdr numbers) nonneg (cons (car numbers) neg)))))",
            "((1 3) (-2))",
        ),
        ("`(1 ,@(list 2 3) . ,(+ 2 2))", "(1 2 3 . 4)"),
        ("`#(10 5 ,(square 2) ,@(map square '(4 3)) 8)", "#(10 5 4 16 9 8)"),
        ("`(a `(b ,(foo ,(+ 1 3) d) e) f)", "(a `(b ,(foo 4 d) e) f)"),
    ] {
        check(program, expected);
    }
}

#[test]
fn patterns_are_records() {
    let program = "(import (duet base) (duet dataspace)) (define n 5)";
    for (template, expected) in [
        ("_", "#[_]"),
        ("$x", "#[bind #[_]]"),
        (
            "(finding $file ,n _)",
            "#[group #[rec finding] {0 #[bind #[_]] 1 #[lit 5] 2 #[_]}]",
        ),
        (
            "#(1 \"a\" sym 'q)",
            "#[group #[arr] {0 #[lit 1] 1 #[lit \"a\"] 2 #[lit sym] 3 #[lit q]}]",
        ),
        (
            "(:dict (k ($v (p 1))))",
            "#[group #[dict] {k #[bind #[group #[rec p] {0 #[lit 1]}]]}]",
        ),
    ] {
        check(&format!("{program} (pattern {template})"), expected);
    }
    check(
        "(import (duet base) (only (duet kernel) capture-lambda))
         ((capture-lambda (f $a #(_ $b) ($c (g $d))) (list a b c d)) 1 2 3 4)",
        "(1 2 3 4)",
    );
}

/// The limit keeps the expansion of the imports cheap.
#[test]
fn the_default_environment_stays_small() {
    let mut session = Session::new();
    let expansion = session
        .expander
        .expand_library(&library("duet base"), &mut session.libraries)
        .unwrap();
    let nodes: usize = expansion.units.iter().map(|unit| unit.nodes.len()).sum();
    assert!(nodes < 10_000, "{nodes} core nodes");
}

#[test]
fn ports() {
    for (program, expected) in [
        (
            "(define p (open-input-string \"abc\\nd\"))
             (list (peek-char p) (read-char p) (read-line p) (read-string 5 p) (read-char p))",
            "(#\\a #\\a \"bc\" \"d\" #<eof>)",
        ),
        (
            "(read (open-input-string \"(a . #(1 \\\"s\\\"))\"))",
            "(a . #(1 \"s\"))",
        ),
        (
            "(with-output-to-string (lambda () (write \"a\") (display \"b\") (newline) (write-char #\\c)
                                      (write-string \"xyz\" (current-output-port) 1 2)))",
            "\"\\\"a\\\"b\\ncy\"",
        ),
        (
            "(call-with-port (open-output-string)
               (lambda (p) (write 'x p) (write-shared '(1) p) (write-simple 2 p) (get-output-string p)))",
            "\"x(1)2\"",
        ),
        (
            "(with-input-from-string \"1 2\" (lambda () (list (read) (read) (eof-object? (read)))))",
            "(1 2 #t)",
        ),
        (
            "(define p (open-input-bytevector (bytevector 1 2 3 4))) (define v (make-bytevector 3 0))
             (list (peek-u8 p) (read-u8 p) (read-bytevector! v p 1) v (read-bytevector 9 p) (u8-ready? p))",
            "(1 1 2 #u8(0 2 3) #u8(4) #t)",
        ),
        (
            "(let ((p (open-output-bytevector))) (write-u8 1 p) (write-bytevector (bytevector 2 3 4) p 1)
               (get-output-bytevector p))",
            "#u8(1 3 4)",
        ),
        (
            "(list (read-line) (peek-char) (read-char) (read) (read-line) (eof-object? (peek-char))
                   (eof-object? (read)))",
            "(\"first line\" #\\x #\\x (a b) \" rest\" #t #t)",
        ),
        (
            "(guard (e ((read-error? e) 'unreadable)) (read (open-input-string \")\")))",
            "unreadable",
        ),
        (
            "(parameterize ((current-output-port (open-output-string))) (display 'hidden)
               (get-output-string (current-output-port)))",
            "\"hidden\"",
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn each_srfi_is_a_feature_and_each_feature_a_library() {
    let stems = duet_stdlib::FILES
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("srfi/")?.strip_suffix(".sld"));
    let numbers: Vec<&str> = stems.filter(|stem| !stem.contains('/')).collect();
    for number in &numbers {
        check(
            &format!("(cond-expand ((and srfi-{number} (library (srfi {number}))) '{number}) (else 'absent))"),
            number,
        );
    }
    // SRFI 0 is `cond-expand` itself.
    check(
        "(count (lambda (feature) (string-prefix? \"srfi-\" (symbol->string feature))) (features))",
        &(numbers.len() + 1).to_string(),
    );
}

#[test]
fn the_console_gets_what_is_flushed_and_lines_of_errors() {
    for (program, expected) in [
        ("(display \"a\") (newline) (display \"b\")", ""),
        (
            "(display \"a\" (current-error-port)) (newline (current-error-port)) (display \"b\" (current-error-port))",
            "a\n",
        ),
        ("(display (make-string 262143 #\\x)) (display \"\")", ""),
        (
            "(display (make-string 3 #\\x)) (flush-output-port) (display (make-string 262143 #\\y))",
            "xxx",
        ),
        ("(display \"a\") (flush-output-port) (display \"b\")", "a"),
        (
            "(write-string \"x\\ny\") (flush-output-port) (write-u8 1 (open-output-bytevector))",
            "x\ny",
        ),
    ] {
        let mut session = Session::new();
        let expansion = session
            .expander
            .expand_program("test", program, &mut session.libraries)
            .unwrap();
        session.load(expansion).unwrap();
        assert_eq!(String::from_utf8_lossy(&session.output), expected, "{program}");
    }
}
