//! The fuzz targets on a stable compiler: the whole corpus, and mutations of it.
//!
//! Owns the mutations, which are the same on every machine. INVARIANT: a failure prints the input
//! that caused it.
//! It does not look for coverage; libFuzzer does, with the same targets.
//! Read next: `../fuzz/src/lib.rs`.

#[path = "../fuzz/src/lib.rs"]
#[expect(
    unreachable_pub,
    reason = "the targets are a crate of their own for libFuzzer and a module here"
)]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use targets::TARGETS;

/// How many mutations of its corpus each target is given; the environment can ask for more.
const MUTATIONS: usize = 150;
const VARIABLE: &str = "DUET_FUZZ_MUTATIONS";
/// Names a folder with more inputs, in one folder for each target.
const CORPUS_VARIABLE: &str = "DUET_FUZZ_CORPUS";

/// The longest mutation, in bytes.
const LENGTH_MAX: usize = 4096;

/// What mutations put in: bits of Scheme and of packed Preserves.
const WORDS: &[&[u8]] = &[
    b"(",
    b")",
    b"#(",
    b"'",
    b"`",
    b",",
    b",@",
    b"#0=",
    b"#0#",
    b" . ",
    b"#;",
    b"#|",
    b"|#",
    b"\"",
    b"\\x41;",
    b"...",
    b"(define ",
    b"(lambda (x) ",
    b"(let loop ((x 1)) ",
    b"(call/cc ",
    b"(syntax-rules () ((_ x ...) ",
    b"1e400",
    b"-9223372036854775808",
    b"#e1.5",
    b"+i",
    b"\xb4",
    b"\x84",
    b"\xb5",
    b"\xb7",
    b"\xb0\x09",
    b"\xff\xff\xff\xff",
    b"\x00\x00",
];

/// A generator of numbers (splitmix64): the same seed, the same numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ word >> 31) >> 1).unwrap_or(0) % bound
    }

    /// An input made of one of the inputs and parts of others.
    fn mutation(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = inputs[self.below(inputs.len())].clone();
        for _ in 0..1 + self.below(6) {
            let place = self.below(bytes.len() + 1);
            let end = place + self.below(24).min(bytes.len() - place);
            match self.below(5) {
                0 => bytes[place..end]
                    .iter_mut()
                    .for_each(|byte| *byte = self.below(256) as u8),
                1 => drop(bytes.drain(place..end)),
                2 => drop(bytes.splice(place..place, WORDS[self.below(WORDS.len())].iter().copied())),
                3 => {
                    let again = bytes[place..end].repeat(1 + self.below(8));
                    drop(bytes.splice(place..place, again));
                }
                _ => {
                    let other = &inputs[self.below(inputs.len())];
                    let from = self.below(other.len() + 1);
                    let to = from + self.below(64).min(other.len() - from);
                    drop(bytes.splice(place..end, other[from..to].iter().copied()));
                }
            }
        }
        bytes.truncate(LENGTH_MAX);
        bytes
    }
}

/// What the environment says.
#[expect(
    clippy::disallowed_methods,
    reason = "how long a test may take is the business of whoever runs it"
)]
fn environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// The files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("the corpus can be listed").path())
        .map(|path| (path.clone(), fs::read(path).expect("the corpus can be read")))
        .collect();
    files.sort();
    files
}

/// Gives a target one input.
#[track_caller]
fn feed(name: &str, target: fn(&[u8]), bytes: &[u8], origin: &str) {
    let outcome = catch_unwind(AssertUnwindSafe(|| target(bytes)));
    assert!(
        outcome.is_ok(),
        "the target {name} fails on {origin}: \"{}\"",
        bytes.escape_ascii()
    );
}

/// Gives a target its corpus and mutations of it.
#[track_caller]
fn check(name: &str) {
    let (_, target) = *TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a target of that name");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let mut files = self::files(&corpus.join(name));
    assert!(!files.is_empty(), "the target {name} has no corpus");
    if let Some(folder) = environment(CORPUS_VARIABLE) {
        files.extend(self::files(&Path::new(&folder).join(name)));
    }
    for (path, bytes) in &files {
        feed(name, target, bytes, &path.display().to_string());
    }
    let inputs: Vec<_> = files.into_iter().map(|(_, bytes)| bytes).collect();
    let wanted = environment(VARIABLE).and_then(|count| count.parse().ok());
    for seed in 0..wanted.unwrap_or(MUTATIONS) {
        let bytes = Numbers(seed as u64).mutation(&inputs);
        feed(name, target, &bytes, &format!("mutation {seed}"));
    }
}

macro_rules! tests {
    ($($target:ident),* $(,)?) => {
        $(
            #[test]
            fn $target() {
                check(stringify!($target));
            }
        )*

        #[test]
        fn every_target_is_tested() {
            let tested = [$(stringify!($target)),*];
            let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, tested);
        }
    };
}

tests!(
    reader, program, evaluation, generated, image, packed, record, log, history
);

/// A text may define a library under the name of one that later texts import.
#[test]
fn what_a_text_defines_is_gone_with_it() {
    let others = "(define-library (duet internal lists)
                    (export fold any every sort) (import (scheme base))
                    (begin (define (fold . rest) (error \"mine\")) (define any fold) (define every fold)
                      (define sort fold)))
                  (define-library (scheme lazy)
                    (export delay make-promise force delay-force promise?) (import (scheme base))
                    (begin (define-syntax delay (syntax-rules () ((_ x) (car 'x))))
                      (define-syntax delay-force (syntax-rules () ((_ x) (car 'x))))
                           (define (make-promise x) (error \"mine\")) (define force make-promise)
                           (define promise? make-promise)))
                  (import (duet internal lists) (scheme lazy))
                  any";
    targets::evaluation::check(others);
    targets::evaluation::check("(import (srfi 14)) (char-set-contains? char-set:letter #\\a)");
}
