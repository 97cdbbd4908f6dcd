//! Changed texts of the simulated program, as a person edits it while it runs.
//!
//! Owns the edits of the repertoire: each replaces one place of its text. A variant has any set of
//! them, so that any variant can take the place of any other.
//! INVARIANT: the place of each edit stands in the text exactly once.
//! It does not compile; `programs.rs` does.
//! Read next: `programs.rs`.

use duet_runtime::model::changed_text::ChangedText;

use super::chance::Chance;

/// One change of the text: what stands there, and what a person writes instead.
struct Edit {
    from: &'static str,
    to: &'static str,
}

const fn edit(from: &'static str, to: &'static str) -> Edit {
    Edit { from, to }
}

const DEPTH: &str = "(define depth (make-parameter 0))";
const BROKEN: &str = "(define depth (make-parameter 0))\n    (define broken (car 1))";

/// The edits; the bits of a variant's number, from the lowest.
const EDITS: &[Edit] = &[
    // A constant.
    edit(
        "(cons (assert! (record 'fact (modulo n 5))) handles)",
        "(cons (assert! (record 'fact (modulo n 4))) handles)",
    ),
    // Names of variables.
    edit(
        "(on-message (token ,n $count)\n        (count! n)\n        (when (> count 0) \
         (message! (record 'token (modulo (+ n 1) 3) (- count 1))))))",
        "(on-message (token ,n $left)\n        (count! n)\n        (when (> left 0) \
         (message! (record 'token (modulo (+ n 1) 3) (- left 1))))))",
    ),
    // A branch.
    edit(
        "(define (tell n) (message!",
        "(define (tell n) (if (= n 7) (count! n)) (message!",
    ),
    // The body of a loop that waits.
    edit(
        "(count! n) (assert! (record 'step n)) (yield)",
        "(count! n) (yield) (assert! (record 'step (+ n 1))) (count! 6)",
    ),
    // What follows a wait.
    edit(
        "(log! (list 'fiber n 'goes 'on))",
        "(log! (list 'fiber n 'goes 'further)) (count! 7)",
    ),
    // A definition that is used by another.
    edit(
        "(define (ask n) (log! (list 'answer",
        "(define (noted what) (log! what) (count! 3))\n    (define (ask n) (noted (list 'answered",
    ),
    // The order of definitions.
    edit(
        "(define (clock n) (log! (list 'at (current-second))))\n    (define (listen n) (log! (read-line)))",
        "(define (listen n) (log! (read-line)))\n    (define (clock n) (log! (list 'at (current-second))))",
    ),
    // A variable that a waiting computation lacks, unless the person gives it.
    edit(
        "(define (nap n) (sleep (* 100 n)) (log! (list 'slept n)))",
        "(define (nap n) (let ((extra (car (list n 'nap)))) (sleep (* 100 n)) (log! (list 'slept n extra))))",
    ),
    // What entities do, and where they wait.
    edit(
        "(if (= x 7) (car x) (assert! (record 'heard n x (vector-ref cells (modulo x 8))))))",
        "(if (= x 6) (car x) (assert! (record 'heard x n))))\n      (on-message (bomb) (count! n))",
    ),
    // A parameter of a procedure that others call.
    edit(
        "(define (told failure) (if (condition? failure)",
        "(define (told failure . more) (if (condition? failure)",
    ),
    // A definition that goes, because its only caller has its body.
    edit(
        "(define (home n) (let ((facet (pick facets n))) (or facet (current-facet))))",
        "",
    ),
    // A loop in a generator.
    edit(
        "(count! i) (give i) (next (+ i 1))",
        "(give i) (count! i) (next (+ i 2))",
    ),
    // What runs when a computation leaves.
    edit("(lambda () (count! 5))", "(lambda () (count! 5) (count! 1))"),
    // A value in the middle of pending operands.
    edit("(yield) (list 'got got (depth))", "(yield) (list 'had got (depth) n)"),
    // A value that has to be computed.
    edit(
        "(define (evaluate n) (log! (eval (list 'let '((x 3)) (list '* 'x n))",
        "(define factor (vector 2 3))\n    (define (evaluate n) (log! (eval (list 'let '((x 3)) (list '* \
         (vector-ref factor (modulo n 2)) 'x n))",
    ),
    // A value that differs, and an expression.
    edit(
        "(define promises '())",
        "(define promises (list (delay 1)))\n    (car promises)",
    ),
    // The fields of a record, whose records become those of the new definition.
    edit(
        "(define-record-type thing (make-thing a) thing? (a thing-a))\n    (migrate-records thing (a) (make-thing a))",
        "(define-record-type thing (make-thing b a) thing? (b thing-b) (a thing-a))\n    (migrate-records thing (a) \
         (make-thing (+ a 1) a))\n    (define (kept-thing n) (thing-b (make-thing n n)))",
    ),
    // A text that fails: the run refuses it, or each evaluation that needs the library fails, if
    // nothing has needed it before.
    edit(DEPTH, BROKEN),
];

/// Edits that only stand together with another one.
const TOGETHER: &[(u64, Edit)] = &[
    (
        10,
        edit(
            "(spawn-facet! (home n))",
            "(spawn-facet! (or (pick facets n) (current-facet)))",
        ),
    ),
    (16, edit("(make-thing n)", "(make-thing 1 n)")),
];

/// The edits that a text seldom has: the run refuses it.
const REFUSED: [u64; 1] = [17];

/// A changed text, as a person gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which edits the text has.
    pub(crate) variant: u64,
    /// Which values are computed again.
    pub(crate) again: u64,
    /// Whether waiting computations receive the variable that they lack.
    pub(crate) gives: bool,
}

impl Change {
    /// Draws a change.
    pub(crate) fn draw(chance: &mut Chance) -> Self {
        let mut variant = chance.below(1 << EDITS.len()) & chance.below(1 << EDITS.len());
        for bit in REFUSED {
            if !chance.is_so(10) {
                variant &= !(1 << bit);
            }
        }
        Self {
            variant,
            again: if chance.is_so(25) { chance.below(8) } else { 0 },
            gives: chance.below(2) == 0,
        }
    }

    /// The definitions and expressions that the person names.
    pub(crate) fn run(self) -> Vec<String> {
        let names = ["promises", "cells", "thing"];
        let chosen = names.iter().enumerate().filter(|(bit, _)| self.again >> bit & 1 == 1);
        chosen
            .map(|(_, name)| format!("{name} of (simulation repertoire)"))
            .collect()
    }

    /// The values that the person gives.
    pub(crate) fn values(self) -> Vec<String> {
        if self.gives {
            vec!["extra=(+ 3 4)".to_owned()]
        } else {
            Vec::new()
        }
    }
}

/// Says whether the library of a changed text fails when it is needed first.
pub(crate) fn is_broken(text: &ChangedText) -> bool {
    text.texts.iter().any(|text| text.contains(BROKEN))
}

/// Makes a variant of a text.
///
/// # Errors
/// The edit whose place does not stand in the text exactly once.
pub(crate) fn varied(text: &str, variant: u64) -> Result<String, String> {
    let own = EDITS.iter().enumerate().map(|(bit, edit)| (bit as u64, edit));
    let together = TOGETHER.iter().map(|(bit, edit)| (*bit, edit));
    let mut varied = text.to_owned();
    for (bit, Edit { from, to }) in own.chain(together) {
        if varied.matches(from).count() != 1 {
            return Err(format!("{from} does not stand in the repertoire exactly once"));
        }
        if variant >> bit & 1 == 1 {
            varied = varied.replacen(from, to, 1);
        }
    }
    Ok(varied)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use duet_kernel::machine::NativeMode;

    use super::super::programs;
    use super::{EDITS, REFUSED};

    #[test]
    fn each_edit_alone_compiles_and_so_do_all_together() {
        let (_, begun) = programs::compile(NativeMode::Never).unwrap();
        let all = (1 << EDITS.len()) - 1;
        for variant in (0..EDITS.len()).map(|bit| 1 << bit).chain([all]) {
            let changed = programs::changed(&begun, variant).unwrap();
            assert_ne!(changed.texts, Vec::<String>::new(), "{variant}");
        }
        assert!(REFUSED.iter().all(|bit| *bit < EDITS.len() as u64));
    }
}
