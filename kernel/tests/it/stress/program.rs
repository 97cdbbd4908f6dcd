//! Drawn programs, whose variables are read late, early or never.
//!
//! Owns the grammar: definitions of procedures that bind many variables to objects of known kinds,
//! and use some of them after primitives, calls, loops and escapes.
//! INVARIANT: the same number gives the same program; every program ends, and makes no cycle.
//! It does not run them. Read next: `../stress.rs`.

use std::fmt::Write as _;

/// The kind of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Flonum,
    Pair,
    Vector,
    Text,
    Record,
    Any,
}

const KINDS: [Kind; 7] = [
    Kind::Integer,
    Kind::Flonum,
    Kind::Pair,
    Kind::Vector,
    Kind::Text,
    Kind::Record,
    Kind::Any,
];

/// What every program begins with.
const PROLOGUE: &str = "(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define kept (vector 0 0 0 0))
(define (one x) (vector x x))
(define (two x) (cons x 2))
(define now one)
";

/// The grammar: for each kind, templates in which a capital letter stands for an expression of the
/// kind that begins with it (B of a test, L of a literal integer), and `#` for a new name.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn templates(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Integer => &[
            "(+ I I)",
            "(- I I)",
            "(* I L)",
            "(quotient I 3)",
            "(vector-length V)",
            "(string-length T)",
            "(char->integer (string-ref T 0))",
            "(if B I I)",
            "(length (list A A A))",
            "(let # ((i 0) (sum I)) (if (< i L) (# (+ i 1) (+ sum (vector-length (vector i A)))) sum))",
            "(begin (vector-set! kept L A) I)",
            "(begin (vector-set! V 0 I) I)",
            "(begin (set-car! P F) I)",
            "(begin (set-point-x! R I) I)",
            "(let ((# (lambda (n) (+ n I)))) (+ (# I) (# I)))",
        ],
        Kind::Flonum => &[
            "(+ F F)",
            "(- F)",
            "(* F F)",
            "(- F F)",
            "(inexact L)",
            "(sqrt 2.25)",
            "(if B F F)",
            "(+ F 1)",
            "(let # ((i 0) (x F)) (if (< i L) (# (+ i 1) (+ x 0.5)) x))",
        ],
        Kind::Pair => &[
            "(cons A A)",
            "(list A A)",
            "(cons I F)",
            "(if B P P)",
            "(let ((v A)) (cons v (cons A v)))",
            "(begin (set-cdr! P I) P)",
        ],
        Kind::Vector => &[
            "(vector A)",
            "(vector A A)",
            "(vector I A F)",
            "(make-vector 2 A)",
            "(let ((v (vector A A))) (vector-set! v 1 F) v)",
            "(begin (vector-set! kept L A) V)",
        ],
        Kind::Text => &[
            "(string-append T T)",
            "(number->string I)",
            "(let ((s (string-append T \"tail\"))) (string-set! s 1 #\\z) s)",
        ],
        Kind::Record => &[
            "(make-point A A)",
            "(make-point I A)",
            "(if B R R)",
            "(begin (set-point-x! R F) R)",
        ],
        Kind::Any => &[
            "(car P)",
            "(cdr P)",
            "(vector-ref V 0)",
            "(vector-ref kept L)",
            "(point-x R)",
            "(point-y R)",
            "(assq 'b (list (cons 'a A) (cons 'b A)))",
            "(if B A A)",
            "(let # ((i 0) (all A)) (if (< i L) (# (+ i 1) (cons (vector i F) all)) all))",
            "(let ((# (lambda (p q) (cons q (vector p A))))) (cons (# A I) (# F A)))",
            "(let ((# (lambda () (set! # A) #))) (vector (#) A))",
            "(now A)",
            "(begin (set! now two) (now A))",
            "(begin (set! now one) (cons (now A) (now A)))",
            "(%call/cc (lambda (k) (if B (k A) A)))",
            "(cons A (%call/cc (lambda (k) (cons A (k A)))))",
            "(%call-with-prompt 'p (lambda () (cons A (%abort-to-prompt 'p (list A)))) (lambda (x) (cons x A)))",
            "(%call-with-prompt 'p
               (lambda () (cons A (%call-with-composable 'p (lambda (k) (%abort-to-prompt 'p (list k))))))
               (lambda (k) (cons (k A) (k F))))",
        ],
    }
}

const TESTS: [&str; 8] = [
    "(< I I)",
    "(= F F)",
    "(pair? A)",
    "(eq? A A)",
    "(vector? A)",
    "(point? A)",
    "(number? A)",
    "(null? A)",
];

/// The longest text of a procedure; beyond it only short expressions are drawn.
const PROCEDURE_BYTES: usize = 3000;

/// The draws of one program.
pub(crate) struct Program {
    state: u64,
    names: usize,
    /// The variables in scope.
    variables: Vec<(String, Kind)>,
    /// The procedures so far, by the kinds of their parameters.
    procedures: Vec<Vec<Kind>>,
    text: String,
}

/// The program of a number.
pub(crate) fn program(seed: u64) -> String {
    let mut program = Program {
        state: seed,
        names: 0,
        variables: Vec::new(),
        procedures: Vec::new(),
        text: PROLOGUE.to_string(),
    };
    for _ in 0..1 + program.draw(3) {
        program.define();
    }
    let mut call = String::new();
    let last = program.procedures.len() - 1;
    program.call(&mut call, last, 1);
    let count = 1 + program.draw(4);
    let _ = write!(
        program.text,
        "(let run ((i 0) (all '())) (if (< i {count}) (run (+ i 1) (cons {call} all)) (vector all kept)))"
    );
    program.text
}

impl Program {
    /// A number below `end`.
    pub(crate) fn draw(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.draw(all.len())]
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Defines a procedure: variables, some of which nothing reads, and the values of some.
    fn define(&mut self) {
        let parameters: Vec<(String, Kind)> = (0..1 + self.draw(5))
            .map(|_| (self.fresh(), self.pick(&KINDS)))
            .collect();
        self.variables.clone_from(&parameters);
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = format!("(define (f{} {})\n  (let* (", self.procedures.len(), names.join(" "));
        for _ in 0..2 + self.draw(7) {
            let (name, kind) = (self.fresh(), self.pick(&KINDS));
            let _ = write!(text, "({name} ");
            self.expression(&mut text, kind, 2);
            text.push_str(")\n    ");
            self.variables.push((name, kind));
        }
        text.push_str(")\n  (list");
        for _ in 0..1 + self.draw(4) {
            let kind = self.pick(&KINDS);
            text.push(' ');
            self.expression(&mut text, kind, 1);
        }
        text.push_str(")))\n");
        self.variables.clear();
        self.procedures.push(parameters.iter().map(|(_, kind)| *kind).collect());
        self.text.push_str(&text);
    }

    fn call(&mut self, text: &mut String, procedure: usize, depth: usize) {
        let _ = write!(text, "(f{procedure}");
        for kind in self.procedures[procedure].clone() {
            text.push(' ');
            self.expression(text, kind, depth);
        }
        text.push(')');
    }

    fn expression(&mut self, text: &mut String, kind: Kind, depth: usize) {
        let fitting: Vec<usize> = (0..self.variables.len())
            .filter(|place| kind == Kind::Any || self.variables[*place].1 == kind)
            .collect();
        let is_short = depth == 0 || text.len() > PROCEDURE_BYTES;
        if !fitting.is_empty() && (is_short || self.draw(3) == 0) {
            let place = self.pick(&fitting);
            text.push_str(&self.variables[place].0);
        } else if is_short {
            self.atom(text, kind);
        } else if matches!(kind, Kind::Any | Kind::Pair) && !self.procedures.is_empty() && self.draw(6) == 0 {
            let procedure = self.draw(self.procedures.len());
            self.call(text, procedure, depth - 1);
        } else {
            let template = self.pick(templates(kind));
            self.fill(text, template, depth - 1);
        }
    }

    fn atom(&mut self, text: &mut String, kind: Kind) {
        let _ = match kind {
            Kind::Integer => write!(text, "{}", self.draw(100)),
            Kind::Flonum => write!(text, "{}", self.pick(&["0.5", "1e300", "-2.25", "1e-300", "3.0"])),
            Kind::Pair => write!(text, "(cons {} '())", self.draw(9)),
            Kind::Vector => write!(text, "(vector {} 1)", self.draw(9)),
            Kind::Text => write!(text, "\"text\""),
            Kind::Record => write!(text, "(make-point {} 1.5)", self.draw(9)),
            Kind::Any => write!(text, "{}", self.pick(&["'()", "#f", "'a", "7", "0.25", "#\\c"])),
        };
    }

    /// Appends a template with its letters filled in.
    fn fill(&mut self, text: &mut String, template: &str, depth: usize) {
        let name = self.fresh();
        let mut previous = ' ';
        for letter in template.chars() {
            let kind = match letter {
                'I' => Some(Kind::Integer),
                'F' => Some(Kind::Flonum),
                'P' => Some(Kind::Pair),
                'V' => Some(Kind::Vector),
                'T' => Some(Kind::Text),
                'R' => Some(Kind::Record),
                'A' => Some(Kind::Any),
                _ => None,
            };
            match (letter, kind) {
                (_, Some(kind)) => self.expression(text, kind, depth),
                ('B', None) => {
                    let test = self.pick(&TESTS);
                    self.fill(text, test, depth.saturating_sub(1));
                }
                ('L', None) => text.push(char::from(b'0' + self.draw(4) as u8)),
                ('#', None) if template.contains("#\\") => text.push('#'),
                ('#', None) => text.push_str(&name),
                _ => text.push(letter),
            }
            previous = letter;
        }
        debug_assert!(previous == ')', "a template is a form");
    }
}
