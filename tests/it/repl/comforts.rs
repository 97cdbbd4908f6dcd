//! Comforts of the prompt: names of values, long values, and definitions in an editor.
//!
//! INVARIANT: what a text is given a name for is in the run, so the past and a continued session
//! have it too.
//! Read next: `../repl.rs`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::Desk;

#[test]
fn a_value_that_was_shown_has_a_name() {
    let desk = Desk::new(&[]);
    desk.check(
        "repl --name values",
        "(iota 5)\n(define x 3)\n(car $1)\n(values 7 8)\n(list $3 $4)\n(define (f) $1)\n(f)\n(eval '$2)\n",
        "(0 1 2 3 4)\n0\n7\n8\n(7 8)\n(0 1 2 3 4)\n0\n",
    );
    // A session that is continued has them, and the past has those of the past.
    desk.check(
        "repl values",
        "$5\n,back\n,back 2\n(quote new)\n$6\n,fork other\n$6\n",
        "(7 8)\nnew\nnew\nnew\n",
    );
    let past = desk.feed("eval values@4 $2", "");
    assert_eq!(past.output, "0\n", "{}", past.errors);
    desk.check_failure("repl values", "$99\n", "$99 is not defined: the newest value is $7");
    // A text that fails names nothing, a name that is bound is what it is bound to, and a sandbox
    // sees nothing of the session's.
    let input = "(begin (display \"\") (car '()))\n1\n(define $1 'own)\n$1\n(let (($2 3)) $2)\n";
    let said = desk.feed("repl --name own", input);
    assert_eq!(said.output, "1\nown\n3\n", "{}", said.errors);
    let input = "(import (duet sandbox))\n1\n(eval '$1 (make-sandbox '(scheme base)))\n";
    desk.check_failure("repl --name boxed", input, "undefined-variable");
    let numbers: String = (1..=101).map(|number| format!("{number}\n")).collect();
    desk.check_failure(
        "repl --name many",
        &format!("{numbers}$1\n"),
        "$1 is not defined: of the values shown at the prompt, the newest 100 keep their names",
    );
    let shown = desk.feed("repl many", "$2\n");
    assert_eq!(shown.output, "2\n", "{}", shown.errors);
}

#[test]
fn long_values_are_cut_where_the_person_wants() {
    let desk = Desk::new(&[]);
    let input = ",print 9\n(iota 5)\n(iota 6)\n(write $2)\n,print\n$2\n,print 5\n,back 3\n(iota 6)\n,print 1\n12\n";
    desk.check(
        "repl --name cut",
        input,
        "(0 1 2 3 …\nand 2 more characters; `(write $1)` shows all of it, `,print` shows all of each value\n\
         (0 1 2 3 …\nand 4 more characters; `(write $2)` shows all of it, `,print` shows all of each value\n\
         (0 1 2 3 4 5)(0 1 2 3 4 5)\n\
         (0 1 2 3 …\nand 4 more characters; `(write $2)` shows all of it, `,print` shows all of each value\n\
         1…\nand 1 more character; `(write $3)` shows all of it, `,print` shows all of each value\n",
    );
    // Nobody has typed the texts that limit, so they are no part of a script.
    let script = desk.feed("repl cut --script", "");
    assert_eq!(script.output, "(iota 5)\n(iota 6)\n12\n", "{}", script.errors);
}

#[test]
fn a_definition_is_edited_where_it_stands_and_evaluated_again() {
    let lines = ";;;> Doubles.\n(define (one) 1)\n\n(define (twice x) (* 2 x))\n";
    let editor = "#!/bin/sh\necho \"$@\" >>told.txt\nfor file; do :; done\n\
                  sed -i 's/(\\* 2 x)/(* 20 x)/; s/x 1)/x 7)/' \"$file\"\n";
    let desk = Desk::new(&[("lib.scm", lines), ("vi", editor)]);
    let editor = desk.0.path().join("vi");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("a program");
    let feed = |words: &str, input: &str| desk.feed_with(words, input, &[("VISUAL", editor.as_os_str())]);
    let input = "(define x 1)\n,edit\nx\n,load lib.scm\n(twice 4)\n,edit twice\n(twice 4)\n,edit x\n";
    let said = feed("repl --name e", input);
    assert_eq!(said.output, "7\n8\n80\n", "{}", said.errors);
    assert!(
        said.errors.contains("the text is as it was, so nothing is evaluated"),
        "{}",
        said.errors
    );
    let told = fs::read_to_string(desk.0.path().join("told.txt")).expect("it is there");
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].ends_with(".scm") && lines[1].starts_with("+4 ") && lines[1].ends_with("/lib.scm"),
        "{told}"
    );
    // A session that is continued knows what it has loaded.
    let said = feed("repl e", ",reload\n,describe twice\n,edit nothing\n");
    assert_eq!(said.output, "(twice x)  in lib.scm, line 4\n", "{}", said.errors);
    assert!(
        said.errors
            .contains("nothing that was typed or loaded here defines `nothing`"),
        "{}",
        said.errors
    );
    let left = fs::read_dir(desk.0.path().join(".duet")).expect("a folder");
    assert_eq!(
        left.filter_map(Result::ok)
            .filter(|file| file.path().extension().is_some_and(|end| end == "scm"))
            .count(),
        0
    );
    let broken = desk.feed_with("repl e", ",edit\n", &[("VISUAL", OsStr::new("false"))]);
    assert!(broken.errors.contains("the editor `false` failed"), "{}", broken.errors);
}

#[test]
fn the_texts_after_an_amended_one_can_be_typed_again() {
    let desk = Desk::new(&[]);
    let texts = "(define x 10)\n(define y (* x 2))\n(+ x y)\n,amend 2 (define x 100)\n,pick main@3..4\ny\n,pick @1\n";
    let session = desk.feed("repl --name p", texts);
    assert_eq!(session.output, "30\n300\n200\n", "{}", session.errors);
    for told in [
        "`,pick main@3..4` delivers the inputs that came after it here, too",
        "p/main-2 received 2 of 2 inputs of p\n",
        "turns 1 to 1 of p/main-2 have no input",
    ] {
        assert!(session.errors.contains(told), "{told}: {}", session.errors);
    }
    let amended = desk.feed("amend p/main@3 7", "");
    let way = "`duet pick p/main@4..4 --onto p/main-3` delivers";
    assert!(amended.errors.contains(way), "{}", amended.errors);
}

#[test]
fn a_loaded_file_imports_libraries_beside_it() {
    let desk = Desk::new(&[
        (
            "greeter.scm",
            "(import (scheme base) (scheme write) (greeter))\n(write (greet \"Ada\"))\n(newline)\n",
        ),
        (
            "greeter.sld",
            "(define-library (greeter) (export greet) (import (scheme base)) (include \"greet.scm\"))\n",
        ),
        ("greet.scm", "(define (greet who) (string-append \"Hello, \" who))\n"),
        ("late.scm", "(write 1)(newline)\n"),
    ]);
    desk.check("repl --name l", ",load greeter.scm\n", "\"Hello, Ada\"\n");
    // The text is the same, but the file imports a library only now.
    let changed = "(call-with-output-file \"late.scm\" (lambda (port) (write '(import (greeter)) port)))";
    desk.check(
        "repl --name m --workspace .",
        &format!(",load late.scm\n{changed}\n,reload\n(greet \"Bob\")\n"),
        "1\n\"Hello, Bob\"\n",
    );
    fs::remove_file(desk.0.path().join("greeter.sld")).expect("it is there");
    desk.check("repl l", ",reload\n", "\"Hello, Ada\"\n");
    assert_eq!(desk.feed("replay l --check", "").code, 0);
}

#[test]
fn texts_that_failed_in_a_later_turn_are_no_part_of_a_script() {
    let desk = Desk::new(&[("good.scm", "(define g 1)\n"), ("bad.scm", "(define h 1)\n(car '())\n")]);
    let good = [
        "(define a 1)",
        "(define b (+ a 1))",
        "(load \"good.scm\")",
        "(spawn (lambda () (sleep 1) (car '())))",
        "(begin (sleep 20) (define c 3))",
    ];
    let bad = ["(begin (sleep 1) (car '()))", ",load none.scm", ",load bad.scm"];
    let typed = format!(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
        good[0], bad[0], good[1], bad[1], good[2], bad[2], good[3], good[4]
    );
    let said = desk.feed("repl --name z", &typed);
    assert!(said.errors.contains("it happened in the background"), "{}", said.errors);
    let script = desk.feed("repl z --script", "");
    assert_eq!(script.output, good.join("\n") + "\n", "{}", script.errors);
}

/// The lines about calls that the prompt shows beside the values of a text.
fn traced(desk: &Desk, command: &str, input: &str) -> Vec<String> {
    let said = desk.feed(command, input).errors;
    let is_call = |line: &&str| line.starts_with(['<', '>']);
    said.lines().filter(is_call).map(str::to_owned).collect()
}

#[test]
fn calls_of_a_traced_procedure_are_shown_with_their_results() {
    let desk = Desk::new(&[]);
    for (definition, call, lines) in [
        (
            "(define (f n) (if (= n 0) 1 (* n (f (- n 1)))))",
            "(f 2)",
            ">(f 2)|> (f 1)|>  (f 0)|<  1|< 1|<2",
        ),
        // A tail call replaces its caller.
        (
            "(define (f n acc) (if (= n 0) acc (f (- n 1) (+ acc n))))",
            "(f 2 0)",
            ">(f 2 0)|>(f 1 2)|>(f 0 3)|<3",
        ),
        (
            "(define (f . rest) (apply string-append rest))",
            "(list (f \"a\" \"b\") (apply f '()))",
            ">(f \"a\" \"b\")|<\"ab\"|>(f)|<\"\"",
        ),
        // One that waits returns in another turn.
        ("(define (f n) (sleep 1) (* 2 n))", "(list (f 4))", ">(f 4)|<8"),
        (
            "(define (f n) (call-with-current-continuation (lambda (k) (+ 1 (k n)))))",
            "(list (f 1) (guard (e (#t 'caught)) (f (car '()))))",
            ">(f 1)",
        ),
        (
            "(define (f n) (guard (e (#t 'caught)) (car n)))",
            "(list (f 1) (f '(2)))",
            ">(f 1)|<caught|>(f (2))|<2",
        ),
        // Those that an error leaves have no result.
        (
            "(define (f n) (if (= n 0) (car n) (+ 1 (f (- n 1)))))",
            "(f 1)",
            ">(f 1)|> (f 0)",
        ),
    ] {
        let told = traced(&desk, "repl", &format!("{definition}\n,trace f\n{call}\n"));
        assert_eq!(told.join("|"), lines, "{definition} {call}");
    }
}

#[test]
fn a_trace_follows_the_name_and_changes_no_record() {
    let desk = Desk::new(&[]);
    let (definition, call) = ("(define (f n) (* 2 n))\n", "(map f '(1 2))\n");
    let input = format!("{definition},trace f\n{call},back\n{call}(define (f n) 7)\n(f 1)\n,untrace f\n(f 2)\n");
    let told = traced(&desk, "repl --name with", &input);
    assert_eq!(told.join("|"), ">(f 1)|<2|>(f 2)|<4|>(f 1)|<2|>(f 2)|<4|>(f 1)|<7");
    let untraced: String = input
        .lines()
        .filter(|line| !line.contains("trace"))
        .map(|line| format!("{line}\n"))
        .collect();
    desk.feed("repl --name without", &untraced);
    let hashes = |run: &str| {
        let log = desk.feed(&format!("log {run} --json"), "").output;
        let log = log.replace(run, "run");
        log.lines()
            .filter(|line| !line.contains("_ms"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(hashes("with"), hashes("without"));
    // Frames of a deep recursion move to the heap and back.
    let deep = "(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1)))))\n,trace f\n(f 300000)\n,untrace\n,trace\n";
    let said = desk.feed("repl", deep);
    assert_eq!((said.output.as_str(), said.code), ("300000\n", 0), "{}", said.errors);
    assert!(
        said.errors
            .contains(">                    [9999] (f 290001)\n… and 590002 more lines"),
        "{}",
        said.errors.len()
    );
    assert!(said.errors.contains("no procedure is traced"), "{}", said.errors.len());
    for (name, why) in [
        ("car", "is a procedure of the machine"),
        ("if", "is a keyword"),
        ("nothing", "is not bound to anything"),
    ] {
        desk.check_failure("repl", &format!(",trace {name}\n"), why);
    }
}
