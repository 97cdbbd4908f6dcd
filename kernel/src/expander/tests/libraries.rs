//! Libraries, imports, inclusion and interactions.

use super::{Diagnostic, Expansion, Texts, session, texts};
use crate::datum::Name;
use crate::expander::top_level::Meaning;
use crate::expander::{LIMIT_EXPANSION_NODES, Libraries, LibraryName, SourceError, SourceText};
use crate::transformer::TransformerMachine;

/// Shows the units of an expansion: name and listing.
fn show(expansion: Result<Expansion, Vec<Diagnostic>>) -> Vec<(String, String)> {
    match expansion {
        Ok(expansion) => expansion
            .units
            .iter()
            .map(|unit| (unit.name.to_string(), unit.to_string()))
            .collect(),
        Err(errors) => errors
            .iter()
            .map(|error| ("error".to_owned(), error.kind.to_string()))
            .collect(),
    }
}

fn check(sources: &[(&str, &str)], program: &str, expected: &[(&str, &str)]) {
    let shown = show(session().expand_program("main.scm", program, &mut texts(sources)));
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    assert_eq!(shown, expected, "in {program}");
}

const STACK: &str = "(define-library (stack) (export push (rename top peek) inc) (import (duet kernel))
    (begin (define items '()) (define (push x) (set! items (cons x items))) (define (top) (car items))
      (define (helper x) (+ x 1)) (define-syntax inc (syntax-rules () ((_ x) (helper x))))))";

#[test]
fn a_library_is_a_unit_before_those_that_import_it() {
    check(
        &[("(stack)", STACK)],
        "(import (stack)) (push 1) (peek) (inc 2)",
        &[
            (
                "(stack)",
                "(define @items '())\n(define @push (lambda (x.0) (set! @items (cons x.0 @items))))\n\
                 (define @top (lambda () (car @items)))\n\
             (define @helper (lambda (x.1) (+ x.1 1)))",
            ),
            ("(program)", "(@(stack)push 1)\n(@(stack)top)\n(@(stack)helper 2)"),
        ],
    );
}

#[test]
fn import_sets_narrow_and_rename() {
    let sources = [("(stack)", STACK)];
    for (import, uses, expected) in [
        ("(only (stack) peek)", "(peek)", "(@(stack)top)"),
        ("(prefix (only (stack) peek) s:)", "(s:peek)", "(@(stack)top)"),
        (
            "(rename (stack) (push add) (peek push))",
            "(add (push))",
            "(@(stack)push (@(stack)top))",
        ),
        ("(except (prefix (stack) a-) a-push)", "(a-peek)", "(@(stack)top)"),
    ] {
        let shown = show(session().expand_program("m", &format!("(import {import}) {uses}"), &mut texts(&sources)));
        assert_eq!(shown.last().unwrap().1, expected, "{import}");
    }
}

/// `(left)` and `(right)` share `same`, and give `differs` and `keyword` different meanings.
const TWO_SIDES: [(&str, &str); 3] = [
    (
        "(left)",
        "(define-library (left) (export same differs keyword) (import (duet kernel) (base 1))
           (begin (define differs 'left) (define-syntax keyword (syntax-rules () ((_) 'left)))))",
    ),
    (
        "(right)",
        "(define-library (right) (export same differs keyword) (import (duet kernel) (base 1))
           (begin (define differs 'right) (define-syntax keyword (syntax-rules () ((_) 'right)))))",
    ),
    (
        "(base 1)",
        "(define-library (base 1) (export same (rename same differs)) (import (duet kernel))
           (begin (define same 'same)))",
    ),
];

#[test]
fn imports_that_give_a_name_two_meanings_are_an_error() {
    let both = "(left) and (right) give different meanings to `differs`, `keyword`";
    for (program, expected) in [
        ("(import (left) (right)) 1", both),
        ("(import (left)) (import (right)) 1", both),
        (
            "(import (only (left) same differs) (prefix (right) r-) (rename (base 1) (same other))) 1",
            "(left) and (base 1) give different meanings to `differs`",
        ),
        (
            "(import (duet kernel)) (define differs 1) (import (except (left) keyword)) 1",
            "(left) gives a different meaning to `differs`, which this text defines",
        ),
        ("(define-library (l) (import (left) (right))) (import (l))", both),
        (
            "(define-module (m) (provide) (require (left) (right)) (keyword)) (import (m))",
            both,
        ),
    ] {
        check(&TWO_SIDES, program, &[("error", expected)]);
    }
    let errors = session()
        .immutable_top_level("(left) (right)", &mut texts(&TWO_SIDES))
        .unwrap_err();
    assert_eq!(errors[0].kind.to_string(), both);
}

#[test]
fn the_error_of_two_meanings_shows_how_to_keep_them_apart() {
    let errors = session()
        .expand_program("m", "(import (left) (base 1))", &mut texts(&TWO_SIDES))
        .unwrap_err();
    let hint = "import fewer names, as in (only (base 1) …) or (except (left) differs), \
                or rename them, as in (prefix (base 1) base-1:)";
    assert_eq!(errors[0].hint().as_deref(), Some(hint));
    let notes: Vec<_> = errors[0].notes.iter().map(|note| note.kind.to_string()).collect();
    assert_eq!(notes, ["(left) is imported here"]);
}

#[test]
fn imports_that_agree_may_overlap() {
    for program in [
        "(import (only (left) same) (base 1)) same",
        "(import (left) (left) (only (left) keyword)) same",
        "(import (only (left) same differs)) (import (except (base 1) differs)) same",
        "(import (left) (prefix (right) r:)) same",
    ] {
        let shown = show(session().expand_program("m", program, &mut texts(&TWO_SIDES)));
        assert_eq!(shown.last().unwrap().1, "@(base 1)same", "{program}");
    }
}

#[test]
fn an_import_of_an_interaction_replaces_with_a_warning() {
    let mut session = session();
    let mut libraries = texts(&TWO_SIDES);
    for (input, expected, warnings) in [
        ("(import (left)) differs", "@(left)differs", &[][..]),
        (
            "(import (right)) differs",
            "@(right)differs",
            &["`differs`, `keyword` of (right) replaces that of (left)"],
        ),
        ("(import (right)) differs", "@(right)differs", &[]),
        ("(define differs 1) differs", "@differs", &[]),
        (
            "(import (only (left) differs)) differs",
            "@(left)differs",
            &["`differs` of (left) replaces your own definition"],
        ),
    ] {
        let expansion = session.expand_interaction("repl", input, &mut libraries).unwrap();
        let own = expansion.units.last().unwrap().to_string();
        assert_eq!(own.lines().last().unwrap(), expected, "{input}");
        let shown: Vec<_> = expansion
            .warnings
            .iter()
            .map(|warning| warning.kind.to_string())
            .collect();
        assert_eq!(shown, warnings, "{input}");
    }
}

#[test]
fn a_program_sees_only_what_it_imports() {
    check(
        &[],
        "(import (only (duet kernel) define)) (define x 1) car",
        &[("(program)", "(define @x 1)\n@(interaction)car")],
    );
    let sources = [("(stack)", STACK)];
    for (program, expected) in [
        ("(import (stck))", "there is no library (stck)"),
        ("(import (only (stack) pus))", "(stack) does not export `pus`"),
        (
            "(import (stack)) (import (duet kernel)) (set! push 1)",
            "`push` is imported and cannot be assigned",
        ),
        ("(import 5)", "this form should look like (import import-set …)"),
    ] {
        check(&sources, program, &[("error", expected)]);
    }
}

#[test]
fn an_import_of_a_library_further_down_says_so() {
    let b = "(define-library (b) (export x) (import (duet kernel)) (begin (define x 1)))";
    let a = "(define-library (a) (import (b)))";
    let before_a = "(b) is defined only after this import; its definition must come before that of (a)";
    for (program, expected) in [
        (format!("{a} {b}"), before_a),
        (
            format!("(import (b)) {b}"),
            "(b) is defined only after this import; its definition must come before it",
        ),
        (
            "(define-library (a) (import (b))) (define-library (b) (import (a)))".to_owned(),
            before_a,
        ),
        (format!("{a} (define-library (c))"), "there is no library (b)"),
    ] {
        let errors = session().expand_program("m", &program, &mut texts(&[])).unwrap_err();
        assert_eq!(errors[0].kind.to_string(), expected, "{program}");
    }
    let in_a_file = [("(a)", "(define-library (a) (import (b))) (define-library (b))")];
    check(&in_a_file, "(import (a))", &[("error", before_a)]);
}

/// A name that a library mentions and nothing defines is a variable of its own, which never gets a
/// value.
#[test]
fn a_library_sees_only_what_it_imports() {
    let sources = [("(stack)", STACK)];
    for (body, expected) in [
        ("(define x car)", "(define @x @car)"),
        ("(define (x) (top))", "(define @x (lambda () (@top)))"),
    ] {
        let library = "(define-library (l) (import (only (stack) push) (only (duet kernel) define)) (begin BODY))";
        let program = format!("{} (import (l) (duet kernel)) 1", library.replace("BODY", body));
        let shown = show(session().expand_program("m", &program, &mut texts(&sources)));
        assert!(shown.contains(&("(l)".to_owned(), expected.to_owned())), "{shown:?}");
    }
    let program = "(define-library (l) (import (only (duet kernel) define)) (begin (define x (nowhere)))) (import (l))";
    let expansion = session().expand_program("m", program, &mut texts(&[])).unwrap();
    let warnings: Vec<_> = expansion
        .warnings
        .iter()
        .map(|warning| warning.kind.to_string())
        .collect();
    assert_eq!(warnings, ["`nowhere` is not defined"]);
}

#[test]
fn libraries_in_a_program_do_not_see_the_program() {
    check(
        &[],
        "(define-library (a) (export f) (import (only (duet kernel) define lambda)) (begin (define f (lambda () g))))
         (define g 1)",
        &[("(a)", "(define @f (lambda () @g))"), ("(program)", "(define @g 1)")],
    );
    check(
        &[],
        "(define-library (a 1) (export f) (import (duet kernel)) (begin (define (f) 1)))
         (import (a 1)) (f)",
        &[("(a 1)", "(define @f (lambda () 1))"), ("(program)", "(@(a 1)f)")],
    );
}

#[test]
fn a_module_is_a_library_with_another_face() {
    let program = "(import (planner)) (run)";
    let expected = |name: &str| {
        [
            ("(planner)".to_owned(), format!("(define @{name} (lambda () (list 1)))")),
            ("(program)".to_owned(), format!("(@(planner){name})")),
        ]
    };
    for module in [
        "(define-module (planner) (provide run) (require (duet kernel))) (define (run) (list 1))",
        "(define-module (planner) (provide run) (require (duet kernel)) (define (run) (list 1)))",
        "(define-module (planner) (provide (rename go run)) (require (only (duet kernel) define list)) \
         (capabilities clock/now) (define (go) (list 1)))",
        "(define-module (planner) (capabilities) (require (duet kernel)) (provide run)) (define (run) (list 1))",
    ] {
        let name = if module.contains("rename") { "go" } else { "run" };
        let shown = show(session().expand_program("main.scm", program, &mut texts(&[("(planner)", module)])));
        assert_eq!(shown, expected(name), "{module}");
    }
}

/// Sources for an importer with few capabilities.
struct Poor(Texts);

impl Libraries for Poor {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.0.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.0.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.0.names()
    }

    fn grants(&self, _capability: &str) -> bool {
        false
    }
}

#[test]
fn every_importer_of_a_module_needs_its_capabilities() {
    let sources = || {
        texts(&[
            (
                "(clock)",
                "(define-module (clock) (provide now) (capabilities clock/now) (require (duet kernel)) (define now 1))",
            ),
            ("(watch)", "(define-library (watch) (export now) (import (clock)))"),
        ])
    };
    let mut session = session();
    let loaded = session.expand_program("main.scm", "(import (watch)) now", &mut sources());
    assert!(loaded.is_ok(), "the first importer is granted the capability");
    for library in ["(watch)", "(clock)"] {
        let text = format!("(import {library}) now");
        let refused = session.expand_program("other.scm", &text, &mut Poor(sources()));
        let messages: Vec<String> = refused
            .err()
            .into_iter()
            .flatten()
            .map(|error| error.kind.to_string())
            .collect();
        assert_eq!(
            messages,
            ["(clock) needs the capability `clock/now`, which was not granted"],
            "{library}"
        );
        assert_eq!(session.requirements(&Name::from(library)).len(), 1);
    }
}

#[test]
fn a_module_is_refused_what_the_program_is_not_granted() {
    for (declaration, expected) in [
        (
            "(capabilities clock/now workspace/read)",
            &["(planner) needs the capability `workspace/read`, which was not granted"][..],
        ),
        (
            "(capabilities a b)",
            &[
                "(planner) needs the capability `a`, which was not granted",
                "(planner) needs the capability `b`, which was not granted",
            ],
        ),
        (
            "(capabilities \"a\")",
            &[
                "this form should look like (define-module name (provide name …) (require import-set …) \
                 (capabilities capability …) form …)",
            ],
        ),
    ] {
        let module = format!("(define-module (planner) (require (duet kernel)) {declaration} (list 1))");
        let expected: Vec<_> = expected.iter().map(|message| ("error", *message)).collect();
        check(&[("(planner)", &module)], "(import (planner))", &expected);
    }
}

#[test]
fn declarations_may_be_conditional_and_included() {
    let library = "(define-library (l) (import (duet kernel)) (cond-expand (duet (export a)) (else (export b)))
        (include \"body.scm\") (include-ci \"upper.scm\") (include-library-declarations \"more.scm\"))";
    let sources = [
        ("(l)", library),
        ("body.scm", "(define a 1)"),
        ("upper.scm", "(DEFINE B A)"),
        ("more.scm", "(export b) (begin (define c b))"),
    ];
    check(
        &sources,
        "(import (l)) (import (duet kernel)) (list a b)",
        &[
            ("(l)", "(define @a 1)\n(define @b @a)\n(define @c @b)"),
            ("(program)", "(list @(l)a @(l)b)"),
        ],
    );
}

#[test]
fn faults_of_libraries_are_reported_once() {
    for (library, expected) in [
        (
            "(define-library (l) (export nothing) (import (duet kernel)))",
            "`nothing` is exported but neither defined nor imported",
        ),
        (
            "(define-library (l) (import (l)))",
            "libraries import each other in a circle: (l) → (l)",
        ),
        ("(define-library (other))", "(l) does not define the library (l)"),
        ("(define-library (l)", "this parenthesis is never closed"),
        (
            "(define-library (l) (export x (rename y x)) (import (duet kernel)) (begin (define x 1) (define y 2)))",
            "`x` is exported twice with different meanings",
        ),
        (
            "(define-library (l) (import (duet kernel)) (include \"absent.scm\"))",
            "cannot read absent.scm: no such file",
        ),
        (
            "(define-library (l) (import (duet kernel)) (frob))",
            "this form should look like (define-library name (export name …) (import import-set …) (begin form …) …)",
        ),
    ] {
        check(&[("(l)", library)], "(import (l)) (anything)", &[("error", expected)]);
    }
}

#[test]
fn a_file_that_includes_itself_is_an_error() {
    check(
        &[("a.scm", "(include \"a.scm\")")],
        "(include \"a.scm\")",
        &[("error", "code is nested or macros expand to more than 1000 levels")],
    );
}

#[test]
fn macros_of_libraries_keep_their_meaning_elsewhere() {
    let library = "(define-library (m) (export swap! def) (import (duet kernel))
        (begin (define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
               (define-syntax def (syntax-rules () ((_ n v) (begin (define hidden v) (define (n) hidden)))))))";
    check(
        &[("(m)", library)],
        "(import (m) (only (duet kernel) define)) (define tmp 1) (define let 2) (swap! tmp let) (def f 1)",
        &[(
            "(program)",
            "(define @tmp 1)\n(define @let 2)\n(let ((tmp.0 @tmp)) (begin (set! @tmp @let) (set! @let tmp.0)))\n\
         (define @hidden~1 1)\n(define @f (lambda () @hidden~1))",
        )],
    );
}

#[test]
fn interactions_share_a_top_level() {
    let mut session = session();
    let mut libraries = texts(&[("(stack)", STACK)]);
    for (input, expected, warnings) in [
        ("(define (f) (g))", "(define @f (lambda () (@g)))", 1),
        ("(define (g) 1)", "(define @g (lambda () 1))", 0),
        ("(g)", "(@g)", 0),
        (
            "(define-syntax twice (syntax-rules () ((_ e) (begin e e))))",
            "#unspecified",
            0,
        ),
        ("(twice (g))", "(@g)\n(@g)", 0),
        ("(define car 5) car", "(define @car 5)\n@car", 0),
        ("(import (stack)) (push 1)", "(@(stack)push 1)", 0),
        ("(peek)", "(@(stack)top)", 0),
        ("(define twice 3) twice", "(define @twice 3)\n@twice", 0),
    ] {
        let expansion = session.expand_interaction("repl", input, &mut libraries).unwrap();
        assert_eq!(expansion.units.last().unwrap().to_string(), expected, "{input}");
        assert_eq!(expansion.warnings.len(), warnings, "{input}");
        assert!(expansion.units.last().unwrap().is_interactive);
    }
    assert!(session.interaction_names().contains(&("twice".into(), false)));
}

#[test]
fn a_sandbox_takes_definitions_and_names_only_what_it_was_given() {
    let mut session = session().with_transformers(Box::new(TransformerMachine::new(&[])));
    let mut libraries = texts(&[("(stack)", STACK)]);
    let imports = "(only (stack) push) (only (duet kernel) define define-syntax syntax-rules lambda if \
                   include begin begin-for-syntax import)";
    let mut top = session.sandbox("(sandbox 1)", imports, &mut libraries).unwrap();
    for (input, expected) in [
        (
            "(define (f x) (push x))",
            "(define @f (lambda (x.0) (@(stack)push x.0)))",
        ),
        ("(define-syntax g (syntax-rules () ((_ x) (f x)))) (g 1)", "(@f 1)"),
        ("(import (stack))", "a sandbox takes no import"),
        (
            "(define-library (stack) (export f))",
            "a sandbox takes no define-library",
        ),
        (
            "(define-module (stack) (provide f))",
            "a sandbox takes no define-module",
        ),
        ("(include \"f.scm\")", "a sandbox takes no include"),
        ("(define (h) (include \"f.scm\"))", "a sandbox takes no include"),
        (
            "(define-syntax g (lambda (form) form))",
            "a sandbox takes no procedural macro",
        ),
        ("(begin-for-syntax (define h 1))", "a sandbox takes no procedural macro"),
    ] {
        let (next, expansion) = session.expand_at(top, "text", input, LIMIT_EXPANSION_NODES, &mut libraries);
        top = next;
        let found = match expansion {
            Ok(expansion) => expansion.units.last().unwrap().to_string(),
            Err(errors) => errors[0].kind.to_string(),
        };
        assert_eq!(found.lines().last(), Some(expected), "{input}");
    }
    assert_eq!(session.meaning_at(&top, "peek"), Meaning::Nothing);
}

#[test]
fn units_of_libraries_survive_an_error_in_what_needed_them() {
    let mut session = session();
    let mut libraries = texts(&[("(stack)", STACK)]);
    assert!(
        session
            .expand_interaction("repl", "(import (stack)) (if)", &mut libraries)
            .is_err()
    );
    let units = show(session.expand_interaction("repl", "(peek)", &mut libraries));
    assert_eq!(
        units.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["(stack)", "(program)"]
    );
}

/// Libraries on demand: `one` uses `two` in a procedure, and `three` has a macro whose uses mention
/// its global.
const ON_DEMAND: [(&str, &str); 4] = [
    (
        "(zero)",
        "(define-library (zero) (export z) (import (duet kernel)) (on-demand) (begin (define (z) (car 0))))",
    ),
    (
        "(one)",
        "(define-library (one) (export a b) (import (duet kernel) (two)) (on-demand) \
         (begin (define (a) (t)) (define b 1)))",
    ),
    (
        "(two)",
        "(define-library (two) (export t) (import (duet kernel)) (on-demand) (begin (define (t) 2)))",
    ),
    (
        "(three)",
        "(define-library (three) (export m) (import (duet kernel) (zero)) (on-demand)
           (begin (define (h x) x) (define-syntax m (syntax-rules () ((_ x) (h x))))))",
    ),
];

#[test]
fn a_library_on_demand_is_expanded_once_something_mentions_it() {
    let two = ("(two)", "(define @t (lambda () 2))");
    let one = ("(one)", "(define @a (lambda () (@(two)t)))\n(define @b 1)");
    let imports = "(import (zero) (one) (two) (three))";
    check(&ON_DEMAND, imports, &[("(program)", "#unspecified")]);
    check(
        &ON_DEMAND,
        &format!("{imports} (t)"),
        &[two, ("(program)", "(@(two)t)")],
    );
    check(
        &ON_DEMAND,
        &format!("{imports} b"),
        &[two, one, ("(program)", "@(one)b")],
    );
    let three = ("(three)", "(define @h (lambda (x.0) x.0))");
    check(
        &ON_DEMAND,
        &format!("{imports} (m 5)"),
        &[three, ("(program)", "(@(three)h 5)")],
    );
    check(
        &ON_DEMAND,
        "(import (three) (one)) (a) (m 5)",
        &[three, two, one, ("(program)", "(@(one)a)\n(@(three)h 5)")],
    );
}

#[test]
fn a_library_on_demand_comes_once_in_a_session() {
    let mut session = session();
    let mut libraries = texts(&ON_DEMAND);
    let mut units = |text: &str| {
        let shown = show(session.expand_interaction("i", text, &mut libraries));
        shown.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(units("(import (one) (two))"), ["(program)"]);
    assert_eq!(units("(t)"), ["(two)", "(program)"]);
    assert_eq!(units("(a)"), ["(one)", "(program)"]);
    assert_eq!(units("(a) (t)"), ["(program)"]);
}

#[test]
fn errors_of_a_library_on_demand_show_when_it_is_needed() {
    let broken = "(define-library (broken) (export x y) (import (duet kernel)) (on-demand) \
                  (begin (define (x) (nowhere)) (define y 1)))";
    let sources = [("(broken)", broken)];
    check(&sources, "(import (broken)) 1", &[("(program)", "1")]);
    check(
        &sources,
        "(import (broken)) y",
        &[("error", "`nowhere` is not defined")],
    );
}
