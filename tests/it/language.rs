//! The language as a person meets it: imports that conflict, names that are symbols, modules in
//! files, tests that fail, and libraries that are kept compiled.
//!
//! INVARIANT: a test shows a behaviour of the language in a command, with its exit code.
//! The kernel's own tests are about the parts of the expander.
//! Read next: `cli.rs`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::desk::Desk;

#[test]
fn one_await_takes_tasks_and_waits_whichever_library_it_is_from() {
    for imports in [
        "(duet control) (duet dataspace)",
        "(duet dataspace) (duet control)",
        "(duet control) (only (duet dataspace) signal signal!)",
        "(only (duet control) async) (duet dataspace)",
    ] {
        let program = format!(
            "(import (scheme base) (scheme write) (only (duet base) record?) {imports})
             (signal! 'x 1)
             (write (list (record? (await (signal 'x))) (await (async (+ 1 1)))))"
        );
        let desk = Desk::new(&[("p.scm", &program)]);
        let said = desk.duet("run p.scm");
        let shown = (said.output.as_str(), said.code);
        assert_eq!(shown, ("(#t 2)", 0), "{imports}: {}", said.errors);
    }
}

#[test]
fn imports_that_disagree_are_an_error_with_both_libraries_and_a_remedy() {
    let library = |name: &str| {
        format!("(define-library ({name}) (export go) (import (scheme base)) (begin (define (go) '{name})))")
    };
    let desk = Desk::new(&[
        ("left.sld", &library("left")),
        ("right.sld", &library("right")),
        ("p.scm", "(import (scheme base) (left)\n        (right))\n(go)\n"),
    ]);
    let said = desk.check("run p.scm", 1, "");
    insta::assert_snapshot!("imports_that_disagree", said.errors);
    let said = desk.feed("repl --memory", "(import (left))\n(import (right))\n(go)\n");
    assert!(said.output.trim_end().ends_with("right"), "{}", said.output);
    let shown = format!("{}{}", said.output, said.errors);
    assert!(shown.contains("`go` of (right) replaces that of (left)"), "{shown}");
}

/// The forms of the specification of the language and what they answer.
#[test]
fn quoted_descriptions_mean_what_constructed_ones_mean() {
    let program = "
        (define (say . parts) (write parts) (newline))
        (watch '(job $n _) (lambda (event) (say 'quoted (record-fields event))))
        (watch (pattern (job $n _)) (lambda (event) (say 'pattern (record-fields event))))
        (watch '#(a (:exact #($x)) (:dict (k $y)) 'z) (lambda (event) (say 'sequence (car (record-fields event)))))
        (assert! (record 'job 1 2))
        (assert! (list 'a '(1) (dictionary 'k 2) 'z))
        (signal! 'ready)
        (say (await (signal 'ready)))
        (say (record 'job 1))
        (say (guard (e (#t (condition-kind e))) (watch '(job ,x) say)))
        (sleep 1)";
    let desk = Desk::new(&[("p.scm", program)]);
    let said = desk.duet("run p.scm");
    let mut lines: Vec<_> = said.output.lines().map(|line| line.replace(" 0)))", ")))")).collect();
    lines.sort();
    assert_eq!(said.code, 0, "{}", said.errors);
    let all = lines.join("\n");
    assert!(
        all.contains("(#[ready])") && all.contains("(#[job 1])") && all.contains("(bad-pattern)"),
        "{all}"
    );
    let captured = |kind: &str| {
        let line = lines.iter().find(|line| line.starts_with(kind));
        line.map(|line| line[kind.len()..].to_owned())
    };
    assert!(
        captured("(quoted ((1)").is_some() && captured("(pattern ((1)").is_some(),
        "{all}"
    );
    assert!(all.contains("(sequence (1 2))"), "{all}");
}

#[test]
fn an_unquoted_label_is_reported_with_its_spelling() {
    let desk = Desk::new(&[("p.scm", "(await (signal ready))\n")]);
    let said = desk.check("run p.scm", 1, "");
    assert!(said.errors.contains("for the symbol, write 'ready"), "{}", said.errors);
    assert!(said.errors.contains("Names and symbols"), "{}", said.errors);
}

#[test]
fn a_module_may_head_a_file_of_either_ending() {
    let module = "(define-module (team planner)\n  (provide run)\n  (require (duet base) (duet dataspace)))\n\n\
                  (define (run) 'planned)\n";
    for file in ["team/planner.scm", "team/planner.sld"] {
        let program = "(import (duet base) (team planner)) (write (run))";
        let desk = Desk::new(&[(file, module), ("p.scm", program)]);
        let said = desk.check("run p.scm", 0, "planned");
        assert_eq!(said.errors, "", "{file}");
    }
}

#[test]
fn a_program_whose_tests_fail_ends_with_1() {
    let begin = "(import (scheme base) (srfi 64)) (test-begin \"t\")";
    for (tests, code) in [
        ("(test-assert #t) (test-end)", 0),
        ("(test-assert #f) (test-end)", 1),
        ("(test-assert #f)", 1),
        ("(test-expect-fail 1) (test-assert #f) (test-end)", 0),
        ("(test-expect-fail 1) (test-assert #t) (test-end)", 1),
        ("(test-assert #f) (test-runner-reset (test-runner-get))", 0),
    ] {
        let desk = Desk::new(&[("p.scm", &format!("{begin} {tests}"))]);
        let said = desk.duet("run p.scm");
        assert_eq!(said.code, code, "{tests}: {}{}", said.output, said.errors);
    }
}

/// The files of the cache of a desk.
fn cached(desk: &Desk) -> Vec<PathBuf> {
    let entries = fs::read_dir(desk.path(".duet/journal.sqlite.cache"))
        .into_iter()
        .flatten()
        .flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

const SHAPES: &str = "(define-library (shapes) (export area twice) (import (scheme base) (unit)) (include \"area.scm\")
    (begin (define (twice thunk) (thunk) (thunk))))";

fn shapes() -> Desk {
    Desk::new(&[
        (
            "unit.sld",
            "(define-library (unit) (export unit scaled) (import (scheme base))
            (begin (define unit 'cm) (define (scaled e) (* 1 e))))",
        ),
        ("shapes.sld", SHAPES),
        ("area.scm", "(define (area x) (list (scaled (* x x)) unit))"),
        (
            "p.scm",
            "(import (scheme base) (scheme write) (shapes)) (twice (lambda () (write (area 3))))",
        ),
    ])
}

const SHOWN: &str = "(9 cm)(9 cm)";

#[test]
fn libraries_of_a_program_are_kept_compiled_beside_the_journal() {
    let desk = shapes();
    desk.check("run p.scm", 0, SHOWN);
    let first = cached(&desk);
    assert_eq!(first.len(), 2);
    desk.check("run p.scm", 0, SHOWN);
    assert_eq!(cached(&desk), first);
    desk.check("run p.scm --memory", 0, SHOWN);
    for run in ["p", "p-2"] {
        desk.check(&format!("replay --check {run}"), 0, "identical: 1 turn\n");
    }
    fs::remove_dir_all(desk.path(".duet/journal.sqlite.cache")).expect("it is there");
    desk.check("replay --check p-2", 0, "identical: 1 turn\n");
}

#[test]
fn a_changed_text_is_compiled_again_with_all_that_depends_on_it() {
    let desk = shapes();
    desk.check("run p.scm", 0, SHOWN);
    for (file, from, to, expected) in [
        ("area.scm", "(* x x)", "(* x 2)", "(6 cm)(6 cm)"),
        ("unit.sld", "(* 1 e)", "(* 10 e)", "(60 cm)(60 cm)"),
        ("unit.sld", "'cm", "'mm", "(60 mm)(60 mm)"),
    ] {
        let text = fs::read_to_string(desk.path(file))
            .expect("it is a text")
            .replace(from, to);
        fs::write(desk.path(file), text).expect("it can be written");
        desk.check("run p.scm", 0, expected);
        desk.check("run p.scm", 0, expected);
    }
}

/// Libraries whose macros count, and tell what they have counted.
const COUNTING: &str = "(define-library (counting) (export next reached a) (import (duet base))
  (begin
    (begin-for-syntax (define n 0) (define (bump!) (set! n (+ n 1)) n))
    (define-syntax next (lambda (x) (syntax-case x () ((k) (datum->syntax #'k (bump!))))))
    (define-syntax reached (lambda (x) (syntax-case x () ((k) (datum->syntax #'k n)))))
    (define a (next))))";

/// One that only asks how far another one has counted.
const ASKING: &str =
    "(define-library (asking) (export b) (import (duet base) (counting)) (begin (define b (reached))))";

/// One whose expansion lets another one count.
const USING: &str = "(define-library (using) (export c) (import (duet base) (counting)) (begin (define (c) (next))))";

#[test]
fn what_macros_remember_does_not_depend_on_what_is_kept_compiled() {
    let program = |libraries: &str, body: &str| {
        format!("(import (scheme base) (scheme write) {libraries})\n(write (list {body}))")
    };
    let programs = [
        ("count.scm", program("(counting)", "a (next) (next)")),
        ("ask.scm", program("(asking) (counting)", "b (reached)")),
        ("use.scm", program("(using) (counting)", "(c) (next)")),
        ("use-ask.scm", program("(using) (asking) (counting)", "(c) b (reached)")),
    ];
    let mut files = vec![("counting.sld", COUNTING), ("asking.sld", ASKING), ("using.sld", USING)];
    files.extend(programs.iter().map(|(name, text)| (*name, text.as_str())));
    let desk = Desk::new(&files);
    for round in 1..=3 {
        for (program, _) in &programs {
            let fresh = desk.duet(&format!("run {program} --memory"));
            desk.check(&format!("run {program}"), 0, &fresh.output);
            let run = program.trim_end_matches(".scm");
            let run = if round == 1 {
                run.to_owned()
            } else {
                format!("{run}-{round}")
            };
            desk.check(&format!("replay --check {run}"), 0, "identical: 1 turn\n");
        }
    }
    desk.check("run count.scm", 0, "(1 2 3)");
    assert_eq!(
        cached(&desk),
        [] as [PathBuf; 0],
        "none of them means the same in each program"
    );
}

#[test]
fn a_library_whose_macros_only_compute_is_kept_compiled() {
    let library = "(define-library (pure) (export a name) (import (duet base))
  (begin
    (begin-for-syntax (define (double x) (* 2 x)) (define table (list 1 2 3)))
    (define-syntax twice (lambda (x) (syntax-case x ()
      ((k n) (let ((v (make-vector 200 0)))
               (vector-set! v 1 (double (syntax->datum #'n)))
               (datum->syntax #'k (vector-ref v 1)))))))
    (define-syntax name (lambda (x) (syntax-case x () ((_ s) #''fresh-symbol))))
    (define a (list (twice 4) (twice 5) (name 1)))))";
    let program = "(import (scheme base) (scheme write) (pure)) (write (list a (name 2)))";
    let desk = Desk::new(&[("pure.sld", library), ("p.scm", program)]);
    for _ in 0..2 {
        desk.check("run p.scm", 0, "((8 10 fresh-symbol) fresh-symbol)");
        assert_eq!(cached(&desk).len(), 1);
    }
}

#[test]
fn a_library_of_the_program_itself_takes_the_place_of_one_in_a_file() {
    let desk = shapes();
    desk.check("run p.scm", 0, SHOWN);
    let own = "(define-library (unit) (export unit scaled) (import (scheme base))
        (begin (define unit 'm) (define (scaled e) (+ 1 e))))";
    let program = fs::read_to_string(desk.path("p.scm")).expect("it is a text");
    fs::write(desk.path("own.scm"), format!("{own}\n{program}")).expect("it can be written");
    for _ in 0..2 {
        desk.check("run own.scm", 0, "(10 m)(10 m)");
        desk.check("run p.scm", 0, SHOWN);
    }
}

#[test]
fn a_damaged_cache_is_ignored_and_written_again() {
    let desk = shapes();
    desk.check("run p.scm", 0, SHOWN);
    let files = cached(&desk);
    let whole: Vec<_> = files.iter().map(|file| fs::read(file).expect("it is there")).collect();
    for damage in [
        |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec(),
        |_: &[u8]| Vec::new(),
        |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            bytes
        },
    ] {
        for (file, bytes) in files.iter().zip(&whole) {
            fs::write(file, damage(bytes)).expect("it can be written");
        }
        desk.check("run p.scm", 0, SHOWN);
        let again: Vec<_> = files.iter().map(|file| fs::read(file).expect("it is there")).collect();
        assert_eq!(again, whole);
    }
}

#[test]
fn modules_with_capabilities_are_kept_with_their_needs() {
    let desk = Desk::new(&[
        (
            "reader.sld",
            "(define-module (reader) (provide size) (require (scheme base)) (capabilities workspace/read)
            (define (size x) x))",
        ),
        (
            "around.sld",
            "(define-library (around) (export sizes) (import (scheme base) (reader))
            (begin (define (sizes x) (size x))))",
        ),
        (
            "p.scm",
            "(import (scheme base) (scheme write) (around)) (write (sizes 3))",
        ),
    ]);
    for _ in 0..2 {
        desk.check("run p.scm --workspace .", 0, "3");
        assert_eq!(cached(&desk).len(), 2);
    }
}

#[test]
fn programs_that_start_together_keep_whole_files() {
    let desk = shapes();
    let children: Vec<_> = (0..4)
        .map(|index| desk.spawn(&format!("run p.scm --name r{index}")))
        .collect();
    for child in children {
        let done = child.wait_with_output().expect("duet ends");
        let (output, errors) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        assert_eq!(output, SHOWN, "{errors}");
    }
    assert_eq!(cached(&desk).len(), 2);
    desk.check("run p.scm", 0, SHOWN);
}

#[test]
fn warnings_of_a_library_are_shown_each_time() {
    let desk = Desk::new(&[
        (
            "l.sld",
            "(define-library (l) (export f) (import (scheme base)) (begin (define (f) (lost 1))))",
        ),
        ("p.scm", "(import (l)) (import (scheme write)) (write 1)"),
    ]);
    for _ in 0..2 {
        let said = desk.check("run p.scm", 0, "1");
        assert!(said.errors.contains("`lost` is not defined"), "{}", said.errors);
    }
}

/// The ratio is a tenth in an optimised build; this bound holds on a busy machine too.
#[test]
fn a_kept_library_loads_with_less_work_than_it_compiles() {
    let body: String = (0..3000)
        .map(|n| {
            format!(
                "(define (p{n} x y) (let loop ((i 0) (sum y)) (if (= i x) (+ sum {n}) (loop (+ i 1) (* sum 2)))))\n"
            )
        })
        .collect();
    let library = format!("(define-library (many) (export p7) (import (scheme base)) (begin {body}))");
    let desk = Desk::new(&[
        ("many.sld", &library),
        ("p.scm", "(import (scheme base) (scheme write) (many)) (write (p7 2 1))"),
    ]);
    // Other processes slow down a start, but hardly change how long it computes.
    let computed_ms = || {
        let mut command = Command::new("bash");
        command
            .args([
                "-c",
                "TIMEFORMAT='%3U %3S'; time \"$0\" run p.scm",
                env!("CARGO_BIN_EXE_duet"),
            ])
            .current_dir(desk.path(""))
            .env("XDG_CONFIG_HOME", desk.path("config"));
        let done = command.output().unwrap();
        assert_eq!(done.stdout, b"11", "{done:?}");
        let said = String::from_utf8(done.stderr).unwrap();
        let times = said.lines().last().unwrap().split(' ');
        times.map(|part| part.parse::<f64>().unwrap() * 1000.0).sum::<f64>()
    };
    let first = computed_ms();
    let later = (0..3).map(|_| computed_ms()).fold(f64::MAX, f64::min);
    assert!(later * 2.0 < first, "{later} ms after {first} ms");
}

#[test]
fn a_macro_of_a_library_means_the_same_in_every_later_program() {
    let library = "(define-library (m)
        (export one listed)
        (import (duet base))
        (begin
          (define one 1)
          (define-syntax listed (syntax-rules () ((_ item ...) '(item ...))))))";
    let imports = "(import (scheme base) (scheme write) (m))";
    let desk = Desk::new(&[
        ("m.sld", library),
        ("a.scm", &format!("{imports} (display one)")),
        ("b.scm", &format!("{imports} (display (listed a b))")),
    ]);
    desk.check("run a.scm", 0, "1");
    desk.check("run b.scm", 0, "(a b)");
    desk.check("run b.scm", 0, "(a b)");
}
