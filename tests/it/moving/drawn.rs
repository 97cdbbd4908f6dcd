//! Drawn programs that wait in loops, lets, operands and closures, and drawn edits of them.
//!
//! INVARIANT: an edit that says the same in other words changes nothing that the program does,
//! wherever it waits when the edit is made.
//! Read next: `../moving.rs`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::desk::Desk;

/// The number of programs that are drawn.
const PROGRAMS: u64 = 12;
/// The number of answers that each receives.
const ANSWERS: u64 = 6;

/// How a program is written; all say the same.
#[derive(Clone, Copy, Default)]
struct Wording {
    /// What names of variables begin with.
    prefix: &'static str,
    /// Whether more is evaluated that shows nothing.
    is_longer: bool,
}

/// A sequence of numbers that look drawn.
struct Draws(u64);

impl Draws {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % below
    }
}

/// A program in the making.
struct Drawing {
    draws: Draws,
    wording: Wording,
    /// The number of variables so far; all are numbers.
    variables: u64,
    waits: u64,
}

impl Drawing {
    fn name(&self, number: u64) -> String {
        format!("{}{number}", self.wording.prefix)
    }

    fn operand(&mut self) -> String {
        let number = self.draws.next(self.variables);
        let name = self.name(number);
        match self.draws.next(5) {
            0 => self.draws.next(9).to_string(),
            1 => format!("(+ {name} {})", self.draws.next(9)),
            2 => format!("(twice {name})"),
            3 => format!("(* {name} {name})"),
            _ => name,
        }
    }

    fn wait(&mut self) -> String {
        self.waits += 1;
        let prompt = format!("w{}", self.waits);
        match self.draws.next(3) {
            0 => format!("(ask \"{prompt}\")"),
            1 => format!("(string->number (await (user-input :prompt \"{prompt}\")))"),
            _ => format!("(+ (ask \"{prompt}\") 1)"),
        }
    }

    /// A value with a wait in it.
    fn waiting(&mut self) -> String {
        let (first, wait) = (self.operand(), self.wait());
        match self.draws.next(4) {
            0 => wait,
            1 => format!("(+ {first} {wait} {})", self.operand()),
            2 => format!("(apply + (list {first} {wait}))"),
            _ => {
                let (count, sum) = (format!("{}k", self.wording.prefix), format!("{}s", self.wording.prefix));
                format!(
                    "(let again (({count} 0) ({sum} {first})) \
                     (if (< {count} 2) (again (+ {count} 1) (+ {sum} {wait})) {sum}))"
                )
            }
        }
    }

    /// `count` forms, each inside the bindings of those before.
    fn forms(&mut self, count: u64) -> String {
        if count == 0 {
            return format!("(work (+ {} 1))", self.name(0));
        }
        let longer = if self.wording.is_longer { "(display \"\") " } else { "" };
        match self.draws.next(5) {
            0 => {
                let shown = self.operand();
                format!("{longer}(display {shown}) (display \" \") {}", self.forms(count - 1))
            }
            1 => {
                let (number, value) = (self.draws.next(self.variables), self.operand());
                format!("{longer}(set! {} {value}) {}", self.name(number), self.forms(count - 1))
            }
            2 => {
                let number = self.draws.next(self.variables);
                let (name, item) = (self.name(number), format!("{}i", self.wording.prefix));
                format!(
                    "{longer}(for-each (lambda ({item}) (display (+ {item} {name}))) (list 1 2)) {}",
                    self.forms(count - 1)
                )
            }
            kind => {
                let value = if kind == 3 { self.operand() } else { self.waiting() };
                let name = self.name(self.variables);
                self.variables += 1;
                format!("{longer}(let (({name} {value})) {})", self.forms(count - 1))
            }
        }
    }
}

fn program(seed: u64, wording: Wording) -> String {
    let mut drawing = Drawing {
        draws: Draws(seed),
        wording,
        variables: 1,
        waits: 0,
    };
    let count = 4 + drawing.draws.next(5);
    let forms = drawing.forms(count);
    let (name, wait) = (drawing.name(0), drawing.wait());
    let mut text = String::new();
    if wording.is_longer {
        text.push_str("(define (unused x) x)\n");
    }
    let _ = writeln!(text, "(define (twice x) (* 2 x))");
    let _ = writeln!(
        text,
        "(define (ask prompt) (string->number (await (user-input :prompt prompt))))"
    );
    let _ = writeln!(text, "(define (work {name}) (display {wait}) {forms})\n(work 1)");
    text
}

/// What a run shows for each answer, from one on.
fn shown(desk: &Desk, from: u64) -> Vec<String> {
    let answers = (from..ANSWERS).map(|answer| desk.duet(&format!("answer drawn {answer}")));
    answers.map(|said| said.output + &said.errors).collect()
}

#[test]
fn other_words_for_the_same_change_nothing_wherever_a_program_waits() {
    let old = Wording {
        prefix: "a",
        is_longer: false,
    };
    let new = Wording {
        prefix: "b",
        is_longer: true,
    };
    let mut moved = 0;
    for seed in 0..PROGRAMS {
        let desk = Desk::new(&[("drawn.scm", &program(seed, old)), ("new.scm", &program(seed, new))]);
        desk.duet("run drawn.scm");
        let expected = shown(&desk, 0);
        let at = seed % ANSWERS;
        desk.duet(&format!("goto drawn@{}", at + 1));
        let said = desk.duet("patch drawn new.scm --json");
        let report: Value =
            serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.errors));
        let frames = report["frames"].as_array().expect("frames");
        moved += frames.iter().filter(|frame| frame["kept"].is_null()).count();
        let found = shown(&desk, at);
        assert_eq!(
            found,
            expected[at as usize..],
            "{seed}: {frames:?}\n{}",
            program(seed, old)
        );
        let kept: Vec<&Value> = frames.iter().filter(|frame| !frame["kept"].is_null()).collect();
        assert!(kept.is_empty(), "{seed}: {kept:?}\n{}", program(seed, old));
        let replayed = desk.duet("replay drawn").output;
        assert!(replayed.starts_with("identical: "), "{seed}: {replayed}");
    }
    assert!(moved as u64 >= PROGRAMS, "{moved} frames have moved");
}

#[test]
fn any_text_may_follow_any_other_and_a_replay_moves_the_same_frames() {
    let wording = Wording {
        prefix: "a",
        is_longer: false,
    };
    for seed in 0..PROGRAMS {
        let texts = [program(seed, wording), program(seed + PROGRAMS, wording)];
        let desk = Desk::new(&[("drawn.scm", &texts[0]), ("new.scm", &texts[1])]);
        desk.duet("run drawn.scm");
        let expected = shown(&desk, 0);
        let at = seed % ANSWERS;
        desk.duet(&format!("goto drawn@{}", at + 1));
        let said = desk.duet("patch drawn new.scm");
        assert_eq!(said.code, 0, "{seed}: {}{}", said.output, said.errors);
        let once = shown(&desk, at);
        let replayed = desk.duet("replay drawn").output;
        assert!(replayed.starts_with("identical: "), "{seed}: {replayed}\n{once:?}");
        // The patch is taken back, and made again on the same place.
        desk.duet(&format!("goto drawn@{}", at + 1));
        assert_eq!(shown(&desk, at), expected[at as usize..], "{seed}");
        desk.duet(&format!("goto drawn@{}", at + 1));
        assert_eq!(desk.duet("patch drawn new.scm").output, said.output, "{seed}");
        assert_eq!(shown(&desk, at), once, "{seed}");
    }
}
