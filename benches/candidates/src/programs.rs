//! The four programs, assembled by hand as a plain compiler would emit them, and their expected answers.
//!
//! Arguments are a frame's first registers. `call s n f` wants n arguments from register s + 1 on; the result lands in s.
//! `define name arity frame` starts a procedure whose frame has that many words.

use crate::code::{CONSTANTS, Format, Procedure, assemble};
use crate::heap::Context;
use crate::word::Value;

/// A program: the first procedure takes no arguments and leaves the answer in stack slot 0.
pub struct Program {
    pub name: &'static str,
    pub full: i64,
    source: &'static str,
}

pub const PROGRAMS: [Program; 4] = [
    Program { name: "fib", full: 32, source: FIB },
    Program { name: "fibfp", full: 30, source: FIBFP },
    Program { name: "nqueens", full: 30, source: NQUEENS },
    Program { name: "deriv", full: 300_000, source: DERIV },
];

/// (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
const FIB: &str = "
define main 0 3; constant 1 size; call 0 1 fib; return 0
define fib 1 5; unless-less-small 0 2 big; return 0
big: add-small 2 0 -1; call 1 1 fib; add-small 3 0 -2; call 2 1 fib; add 1 1 2; return 1
";

/// The same with n, 1. and 2. as flonums.
const FIBFP: &str = "
define main 0 3; constant 1 size.; call 0 1 fib; return 0
define fib 1 5; constant 1 2.; unless-less 0 1 big; return 0
big: constant 1 1.; subtract 2 0 1; call 1 1 fib; constant 2 2.; subtract 3 0 2; call 2 1 fib; add 1 1 2; return 1
";

/// The number of solutions for nine queens, `size` times. (attempt candidates tried placed) is Gabriel's `try`.
const NQUEENS: &str = "
define main 0 8; constant 0 size
again: fixnum 3 9; constant 4 nil; call 2 2 one-to; move 3 2; constant 4 nil; constant 5 nil; call 2 3 attempt
  add-small 0 0 -1; unless-less-small 0 1 more; return 2
more: loop again
define one-to 2 2; unless-less-small 0 1 count; return 1
count: cons 1 0 1; add-small 0 0 -1; loop one-to
define attempt 3 9; unless-constant 0 nil choose; unless-constant 1 nil dead; fixnum 3 1; return 3
dead: fixnum 3 0; return 3
choose: car 5 0; fixnum 6 1; move 7 2; call 4 3 ok?; fixnum 3 0; unless-true 4 next
  cdr 5 0; move 6 1; call 4 2 append; move 5 4; constant 6 nil; car 7 0; cons 7 7 2; call 4 3 attempt; move 3 4
next: cdr 5 0; car 6 0; cons 6 6 1; move 7 2; call 4 3 attempt; add 3 3 4; return 3
define ok? 3 6; unless-constant 2 nil test; constant 3 true; return 3
test: car 3 2; add 4 0 1; unless-equal 3 4 up; jump clash
up: subtract 4 0 1; unless-equal 3 4 on
clash: constant 3 false; return 3
on: add-small 1 1 1; cdr 2 2; loop ok?
define append 2 5; unless-constant 0 nil join; return 1
join: cdr 3 0; move 4 1; call 2 2 append; car 3 0; cons 2 3 2; return 2
";

/// Derives (+ (* b x x) (* a x x) (* b x) 5) by x, `size` times, and counts the atoms of the last answer.
const DERIV: &str = "
define main 0 6; constant 0 size; constant 4 nil; fixnum 5 5; cons 1 5 4
  constant 5 x; cons 2 5 4; constant 5 b; cons 2 5 2; constant 5 *; cons 2 5 2; cons 1 2 1
  constant 5 x; cons 2 5 4; cons 2 5 2; move 3 2; constant 5 a; cons 2 5 2; constant 5 *; cons 2 5 2; cons 1 2 1
  constant 5 b; cons 2 5 3; constant 5 *; cons 2 5 2; cons 1 2 1; constant 5 +; cons 1 5 1
again: move 3 1; call 2 1 deriv; add-small 0 0 -1; unless-less-small 0 1 more
  move 3 2; call 2 1 atoms; return 2
more: loop again
define deriv 1 6; unless-pair 0 atom; car 1 0; unless-constant 1 + times
  cdr 3 0; call 2 1 derive-all; cons 1 1 2; return 1
times: cdr 3 0; call 2 1 divide-all; constant 3 +; cons 2 3 2; constant 3 nil; cons 2 2 3; cons 2 0 2; cons 2 1 2
  return 2
atom: unless-constant 0 x other; fixnum 1 1; return 1
other: fixnum 1 0; return 1
define derive-all 1 5; unless-constant 0 nil first; return 0
first: car 2 0; call 1 1 deriv; cdr 3 0; call 2 1 derive-all; cons 1 1 2; return 1
define divide-all 1 5; unless-constant 0 nil divide; return 0
divide: car 2 0; call 1 1 deriv; car 2 0; constant 3 nil; cons 2 2 3; cons 1 1 2; constant 2 /; cons 1 2 1
  cdr 3 0; call 2 1 divide-all; cons 1 1 2; return 1
define atoms 1 5; unless-pair 0 leaf; car 2 0; call 1 1 atoms; cdr 3 0; call 2 1 atoms; add 1 1 2; return 1
leaf: fixnum 1 1; return 1
";

impl Program {
    /// The right answer, computed without the machine.
    pub fn expected(&self, size: i64) -> f64 {
        match self.name {
            "nqueens" => 352.0,
            "deriv" => 61.0,
            _ => (0..size).fold((0.0, 1.0), |(a, b), _| (b, a + b)).0,
        }
    }

    /// Assembles the program and lays out procedures and constants in a fresh heap; returns the entry too.
    pub fn load<V: Value, F: Format>(&self, size: i64) -> (Context<F>, usize) {
        let (code, procedures) = assemble::<F>(self.source);
        let mut heap = vec![0, 0];
        let globals = procedures.iter().map(|p| static_procedure::<V>(&mut heap, p)).collect();
        let constants = (0..).zip(CONSTANTS).map(|(number, name)| match name {
            "nil" => V::NIL,
            "true" => V::TRUE,
            "false" => V::FALSE,
            "size" => V::fixnum(size),
            "size." => static_flonum::<V>(&mut heap, size as f64),
            _ => name.parse().map_or_else(|_| V::symbol(number), |value| static_flonum::<V>(&mut heap, value)),
        });
        let constants = constants.collect();
        (Context::new(code, constants, globals, heap), procedures[0].entry)
    }
}

fn static_procedure<V: Value>(heap: &mut Vec<u64>, p: &Procedure) -> u64 {
    let offset = heap.len() * 8;
    heap.extend([0, (p.entry << 16 | p.frame << 8 | p.arity) as u64]);
    V::make_procedure(offset)
}

fn static_flonum<V: Value>(heap: &mut Vec<u64>, value: f64) -> u64 {
    V::flonum_word(value).unwrap_or_else(|| {
        let offset = heap.len() * 8;
        heap.extend([V::BOX_HEADER, value.to_bits()]);
        V::make_boxed(offset)
    })
}
