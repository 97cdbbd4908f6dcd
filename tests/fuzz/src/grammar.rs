//! Programs made of choices: well-formed Scheme in which every name is bound to something, though
//! rarely to what it is used as.
//!
//! INVARIANT: without choices an expression is a number, so every program is finite and no longer
//! than its choices allow.

use super::choice::Choices;
use super::session;

/// The deepest nesting of expressions.
const DEPTH_MAX: usize = 6;

/// The most expressions of a program.
const EXPRESSIONS_MAX: usize = 150;

/// Numbers on the edges of their representations, and other atoms.
const ATOMS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "256",
    "65536",
    "1073741824",
    "2305843009213693951",
    "-2305843009213693952",
    "4611686018427387904",
    "18446744073709551616",
    "-170141183460469231731687303715884105728",
    "1/3",
    "-7/2",
    "0.0",
    "-0.0",
    "1.5",
    "1e308",
    "5e-324",
    "+inf.0",
    "-inf.0",
    "+nan.0",
    "1+2i",
    "0.5-1.5i",
    "#t",
    "#f",
    "'()",
    "'a",
    "'|b c|",
    "\"\"",
    "\"text λ\"",
    "#\\a",
    "#\\x10ffff",
    "#u8(1 2 255)",
    "#(1 2 3)",
    "'(1 2 . 3)",
    ":key",
    "(string #\\a #\\λ)",
];

/// Names that programs bind.
const VARIABLES: [&str; 6] = ["a", "b", "c", "k", "f", "x"];

/// The frames of compound expressions: `$` is an expression, `~` a variable, `%` a body, `&` a
/// datum with unquotes.
const FRAMES: &[&str] = &[
    "(if $ $ $)",
    "(let ((~ $)) %)",
    "(let* ((~ $) (~ $)) %)",
    "(letrec ((f (lambda (a) %)) (k (lambda (b) %))) %)",
    "(lambda (~) %)",
    "(lambda (a . b) %)",
    "(let k ((a $) (b $)) %)",
    "(do ((a 0 (+ a 1)) (b $ $)) ((> a 3) $) $)",
    "(set! ~ $)",
    "(begin $ $)",
    "(~ $)",
    "(~ $ $)",
    "($ $)",
    "(list $ $ $)",
    "(cons $ $)",
    "(vector $ $)",
    "(call/cc (lambda (k) %))",
    "(call/cc (lambda (q) (set! k q) $))",
    "(k $)",
    "(dynamic-wind (lambda () $) (lambda () %) (lambda () $))",
    "(guard (e (#t $)) %)",
    "(guard (e ((symbol? e) $) ((~ e) => ~)) %)",
    "(with-exception-handler (lambda (e) $) (lambda () %))",
    "(raise $)",
    "(raise-continuable $)",
    "(error \"message\" $)",
    "(values $ $)",
    "(call-with-values (lambda () $) (lambda a $))",
    "(let-values (((a b) $) (c $)) %)",
    "(apply ~ $ $)",
    "(apply ~ (list $ $))",
    "(map (lambda (a) $) $)",
    "(for-each ~ $)",
    "(call-with-prompt (default-prompt-tag) (lambda () %) (lambda (k . a) %))",
    "(abort-to-prompt (default-prompt-tag) $)",
    "(reset %)",
    "(shift k %)",
    "(prompt %)",
    "(control k %)",
    "(call-with-composable-continuation (lambda (k) %) (default-prompt-tag))",
    "(parameterize ((parameter $)) %)",
    "(parameter)",
    "(delay $)",
    "(force $)",
    "(make-promise $)",
    "(delay-force $)",
    "(case $ ((0 1 a) $) ((#t) => ~) (else $))",
    "(cond ($ $) ($ => ~) (else $))",
    "(and $ $)",
    "(or $ $)",
    "(when $ $)",
    "(unless $ $)",
    "`&",
    "(quasiquote &)",
    "(let-syntax ((swap (syntax-rules () ((_ q w) (list w q))))) (swap $ $))",
    "(letrec-syntax ((m (syntax-rules () ((_) $) ((_ q w ...) (list q (m w ...)))))) (m $ $))",
    "(case-lambda ((a) $) ((a b . c) %))",
    "(make-point $ $)",
    "(point-x $)",
    "(set-point-x! $ $)",
    "(point? $)",
    "(vector-ref $ $)",
    "(vector-set! $ $ $)",
    "(vector-fill! $ $)",
    "(set-car! $ $)",
    "(set-cdr! $ $)",
    "(string-append $ $)",
    "(string-set! $ $ $)",
    "(string->symbol $)",
    "(number->string $ $)",
    "(string->number $)",
    "(+ $ $)",
    "(- $ $)",
    "(* $ $)",
    "(/ $ $)",
    "(< $ $ $)",
    "(= $ $)",
    "(quotient $ $)",
    "(expt $ $)",
    "(exact $)",
    "(sqrt $)",
    "(eq? $ $)",
    "(equal? $ $)",
    "(append $ $)",
    "(length $)",
    "(list-tail $ $)",
    "(make-vector $ $)",
    "(make-string $ $)",
    "(dictionary $ $)",
    "(dictionary-set! $ $ $)",
    "(dictionary-ref $ $)",
    "(set $ $)",
    "(with-output-to-string (lambda () (write $)))",
    "(read (open-input-string $))",
    "(let ((port (open-output-string))) (write-shared $ port) (get-output-string port))",
    "(generator-lambda (a) $)",
    "(let/ec k %)",
    "(record 'label $)",
];

/// The program that the choices come to.
pub fn program(choices: &mut Choices<'_>) -> String {
    let names = session::with(session::Session::library_names);
    let mut writer = Writer {
        choices,
        names: &names,
        text: String::new(),
        left: EXPRESSIONS_MAX,
    };
    writer.text.push_str(
        "(import (prefix (duet kernel) kernel/))\n(define parameter (make-parameter 0))\n\
         (define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))\n\
         (define a 1) (define b '(1 2)) (define c (vector 1 2.5 \"c\")) (define x \"x\") (define k list) \
         (define (f a) (if (number? a) (- a 1) a))\n",
    );
    while !writer.choices.is_empty() && writer.left > 0 {
        writer.top();
        writer.text.push('\n');
    }
    writer.expression(0);
    writer.text
}

struct Writer<'a, 'b> {
    choices: &'a mut Choices<'b>,
    names: &'a [String],
    text: String,
    left: usize,
}

impl Writer<'_, '_> {
    /// A form at top level.
    fn top(&mut self) {
        let variable = *self.choices.of(&VARIABLES);
        match self.choices.below(9) {
            0 => {
                self.text.push_str(&format!("(define {variable} "));
                self.expression(0);
                self.text.push(')');
            }
            1 => {
                self.text.push_str(&format!("(define ({variable} a) "));
                self.frame("%", 0);
                self.text.push(')');
            }
            2 => self.frame("(define-values (a b) $)", 0),
            3 => self.frame(
                "(define-syntax m (syntax-rules () ((_ e) (let ((~ $)) e)) ((_ e ...) (list e ... $))))",
                0,
            ),
            4 => self.expression(0),
            // The guard lets the rest run after a failure.
            _ => self.frame("(guard (e (#t (set! x e) $)) $)", 0),
        }
    }

    /// An expression inside of `depth` others.
    fn expression(&mut self, depth: usize) {
        self.left = self.left.saturating_sub(1);
        if depth >= DEPTH_MAX || self.left == 0 {
            let atom = *self.choices.of(&ATOMS);
            return self.text.push_str(atom);
        }
        match self.choices.below(8) {
            0 | 1 => {
                let atom = *self.choices.of(&ATOMS);
                self.text.push_str(atom);
            }
            2 => self.frame("~", depth),
            3 => self.call(depth),
            _ => {
                let frame = *self.choices.of(FRAMES);
                self.frame(frame, depth);
            }
        }
    }

    /// A call of anything in the libraries.
    fn call(&mut self, depth: usize) {
        let name = self.choices.of(self.names).clone();
        self.text.push('(');
        self.text.push_str(&name);
        for _ in 0..self.choices.below(5) {
            self.text.push(' ');
            self.expression(depth + 1);
        }
        self.text.push(')');
    }

    /// Fills in a frame.
    fn frame(&mut self, frame: &str, depth: usize) {
        for part in frame.chars() {
            match part {
                '$' => self.expression(depth + 1),
                '~' => {
                    let variable = *self.choices.of(&VARIABLES);
                    self.text.push_str(variable);
                }
                '%' => match self.choices.below(4) {
                    0 => self.frame("$ $", depth),
                    1 => self.frame("(define (f a) $) $", depth),
                    _ => self.expression(depth + 1),
                },
                '&' => match self.choices.below(4) {
                    0 => self.frame("(1 ,$ . b)", depth),
                    1 => self.frame("(a ,@$ #(,$ ,@$))", depth),
                    2 => self.frame("(`(,(,$)) . ,$)", depth),
                    _ => self.frame(",$", depth),
                },
                _ => self.text.push(part),
            }
        }
    }
}
