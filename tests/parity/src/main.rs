//! Duet's actors beside the reference implementation of syndicated actors: the same random
//! programs, and the events of each observer.
//!
//! INVARIANT: the last line printed is a summary; the exit code is 1 if there is a difference that
//! nothing explains, 2 if the arguments are wrong.
//! Read next: `program.rs`, then `compare.rs`.

mod compare;
mod duet;
mod generate;
mod ours;
mod program;
mod reference;
mod shrink;
mod speed;

use std::collections::BTreeMap;
use std::process::ExitCode;

use compare::{Agreement, compare};
use program::Program;

// The command's own, for both sides.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: tests/parity/run --programs N --seed S, or tests/parity/run --speed [WORD]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let numbers = |count: &str, seed: &str| Some((count.parse().ok()?, seed.parse().ok()?));
    let wanted = match words[..] {
        ["--programs", count, "--seed", seed] | ["--seed", seed, "--programs", count] => numbers(count, seed),
        ["--speed"] => return ExitCode::from(u8::from(!speed::run(""))),
        ["--speed", word] => return ExitCode::from(u8::from(!speed::run(word))),
        ["--programs", count] => numbers(count, "1"),
        _ => None,
    };
    let Some((count, seed)) = wanted else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    parity(count, seed)
}

fn agreement(program: &Program) -> Agreement {
    compare(program, &ours::run(program), &reference::run(program))
}

/// Runs `count` programs, the first made from `seed`.
fn parity(count: u64, seed: u64) -> ExitCode {
    let (mut equal, mut different, mut events) = (0_u64, 0_u64, 0_usize);
    let mut performed = BTreeMap::new();
    let mut explained = BTreeMap::from([compare::ORDER, compare::STOP_HOOK, compare::SYNC].map(|name| (name, 0_u64)));
    for number in 0..count {
        let seed = generate::Random::new(seed.wrapping_add(number)).next();
        let program = generate::program(seed);
        let (ours, theirs) = (ours::run(&program), reference::run(&program));
        events += theirs.entries.len();
        for (what, count) in &ours.performed {
            *performed.entry(*what).or_insert(0_u64) += count;
        }
        match compare(&program, &ours, &theirs) {
            Agreement::Equal => equal += 1,
            Agreement::Explained(name) => *explained.entry(name).or_default() += 1,
            Agreement::Different(_) => {
                different += 1;
                if different <= 3 {
                    show(&program, number);
                }
            }
        }
    }
    let explained: Vec<String> = explained
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let performed: Vec<String> = performed
        .iter()
        .map(|(what, count)| format!("{what} {count}"))
        .collect();
    println!("performed: {}", performed.join(", "));
    println!(
        "{count} programs, {events} events: {equal} equal, explained: {}, unexplained: {different}",
        explained.join(", ")
    );
    ExitCode::from(u8::from(different > 0))
}

/// Prints a program that differs, as small as possible.
fn show(program: &Program, number: u64) {
    let differs = |program: &Program| matches!(agreement(program), Agreement::Different(_));
    if !differs(program) {
        println!("program {number} differs, but not each time:\n{program:#?}");
        return;
    }
    let program = shrink::shrink(program.clone(), differs);
    println!("program {number} differs; at its smallest:");
    println!("  {} actors, reactive: {}", program.actors, program.is_reactive);
    for (round, number) in program.rounds.iter().zip(1..) {
        println!("  round {number}, actor {}: {:?}", round.actor, round.operations);
    }
    if let Agreement::Different(difference) = agreement(&program) {
        println!("{difference}");
    }
}
