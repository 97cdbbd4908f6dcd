//! Runs every candidate on every program, interleaved, and prints medians. See `README.md`.

mod code;
mod heap;
mod machine;
mod memory;
mod programs;
mod threaded;
mod word;

use code::{Fields, Format};
use heap::Context;
use machine::{DELTA_SHIFT, Stop, run};
use memory::{Indexed, Raw};
use programs::{PROGRAMS, Program};
use std::time::Instant;
use threaded::{run_threaded, run_trampoline};
use word::{BOXED_ONLY, LowBits, NanBox, THREE_EIGHTHS, TWO_EIGHTHS, Value};

/// What one run tells.
struct Outcome {
    milliseconds: f64,
    executed: u64,
    collections: usize,
}

struct Candidate {
    name: String,
    measure: fn(&Program, i64) -> Outcome,
}

type Runner<F> = fn(&mut Context<F>, usize, usize, i64) -> Stop;

/// Loads, runs and checks a program. `fuel` is an argument so that it stays a number the compiler cannot know.
fn measure<V: Value, F: Format>(program: &Program, size: i64, runner: Runner<F>) -> Outcome {
    let (mut context, entry) = program.load::<V, F>(size);
    // Halt is instruction 0, one word below the first frame.
    context.stack[0] = 1 << DELTA_SHIFT;
    let start = Instant::now();
    let stop = runner(&mut context, entry, 1, std::hint::black_box(i64::MAX));
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    assert_eq!(stop, Stop::Halted, "{}", program.name);
    let word = context.stack[0];
    let boxed = || V::boxed(word).map(|offset| f64::from_bits(context.heap[offset / 8 + 1]));
    let answer = V::as_fixnum(word).map(|n| n as f64).or_else(|| V::immediate_flonum(word)).or_else(boxed);
    assert_eq!(answer, Some(program.expected(size)), "{} {}", program.name, V::NAME);
    Outcome { milliseconds, executed: context.executed, collections: context.collections }
}

fn plain<V: Value, F: Format>() -> Candidate {
    Candidate {
        name: format!("{}; {}", V::NAME, F::NAME),
        measure: |program, size| measure::<V, F>(program, size, run::<V, F, Raw<F>, true, false>),
    }
}

/// The matrix of words and formats, all with the loop around a match over raw pointers.
fn words_and_formats() -> Vec<Candidate> {
    vec![
        plain::<LowBits<TWO_EIGHTHS>, u32>(),
        plain::<LowBits<TWO_EIGHTHS>, u64>(),
        plain::<LowBits<THREE_EIGHTHS>, u32>(),
        plain::<LowBits<THREE_EIGHTHS>, u64>(),
        plain::<LowBits<THREE_EIGHTHS>, Fields>(),
        plain::<LowBits<BOXED_ONLY>, u32>(),
        plain::<LowBits<BOXED_ONLY>, u64>(),
        plain::<NanBox<48>, u32>(),
        plain::<NanBox<48>, u64>(),
        plain::<NanBox<32>, u32>(),
        plain::<NanBox<32>, u64>(),
    ]
}

/// Ways to dispatch and to reach memory, all with self-tagged low bits and 64-bit words.
fn shapes() -> Vec<Candidate> {
    type V = LowBits<THREE_EIGHTHS>;
    type F = u64;
    let shape = |name: &str, measure| Candidate { name: name.to_owned(), measure };
    vec![
        shape("match, raw pointers", |p, n| measure::<V, F>(p, n, run::<V, F, Raw<F>, true, false>)),
        shape("match, raw pointers, calls inside", |p, n| measure::<V, F>(p, n, run::<V, F, Raw<F>, false, false>)),
        shape("match, unchecked slices", |p, n| measure::<V, F>(p, n, run::<V, F, Indexed<F, false>, true, false>)),
        shape("match, checked slices", |p, n| measure::<V, F>(p, n, run::<V, F, Indexed<F, true>, true, false>)),
        shape("sibling calls, raw pointers", |p, n| measure::<V, F>(p, n, run_threaded::<V, F, true>)),
        shape("sibling calls, calls inside", |p, n| measure::<V, F>(p, n, run_threaded::<V, F, false>)),
        shape("trampoline, raw pointers", |p, n| measure::<V, F>(p, n, run_trampoline::<V, F>)),
    ]
}

/// Median and minimum, for reading a busy computer's figures.
fn median_and_best(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0])
}

/// Prints the median and the best of `runs` interleaved runs for each candidate and program, in milliseconds.
fn table(title: &str, candidates: &[Candidate], programs: &[&Program], runs: usize) {
    println!("\n| {title} |{}", programs.iter().map(|p| format!(" {} ms |", p.name)).collect::<String>());
    println!("|---|{}", "---:|".repeat(programs.len()));
    let mut times = vec![vec![Vec::new(); programs.len()]; candidates.len()];
    for _ in 0..runs {
        for (column, program) in programs.iter().enumerate() {
            for (row, candidate) in candidates.iter().enumerate() {
                times[row][column].push((candidate.measure)(program, program.full).milliseconds);
            }
        }
    }
    for (candidate, times) in candidates.iter().zip(times) {
        let cells = times.into_iter().map(|t| {
            let (median, best) = median_and_best(t);
            format!(" {median:.1} ({best:.1}) |")
        });
        println!("| {} |{}", candidate.name, cells.collect::<String>());
    }
}

/// Prints how many instructions each program executes and how often it collects, for scale.
fn scale() {
    println!("\n| program | instructions | collections (self-tagged) | collections (boxed) |\n|---|---:|---:|---:|");
    for program in &PROGRAMS {
        let tagged = count(program, program.full);
        let boxed = measure::<LowBits<BOXED_ONLY>, u64>(
            program,
            program.full,
            run::<LowBits<BOXED_ONLY>, u64, Raw<u64>, true, true>,
        );
        println!("| {} | {} | {} | {} |", program.name, tagged.executed, tagged.collections, boxed.collections);
    }
}

fn numbered(program: &str) -> &'static Program {
    &PROGRAMS[program.parse::<usize>().expect("a program number")]
}

fn count(program: &Program, size: i64) -> Outcome {
    measure::<LowBits<THREE_EIGHTHS>, u64>(program, size, run::<LowBits<THREE_EIGHTHS>, u64, Raw<u64>, true, true>)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (matrix, shapes) = (words_and_formats(), shapes());
    match words[..] {
        // One run of one candidate, for callgrind.
        ["one", set, row, program, size] => {
            let row: usize = row.parse().expect("a row number");
            let candidate = &if set == "words" { matrix } else { shapes }[row];
            (candidate.measure)(numbered(program), size.parse().expect("a size"));
            println!("{}", candidate.name);
        }
        ["count", program, size] => println!("{}", count(numbered(program), size.parse().expect("a size")).executed),
        [] | [_] => {
            let runs = words.first().map_or(5, |runs| runs.parse().expect("a number of runs"));
            let programs: Vec<&Program> = PROGRAMS.iter().collect();
            scale();
            table("word; format", &matrix, &programs, runs);
            table("shape", &shapes, &programs, runs);
        }
        _ => eprintln!(
            "usage: candidates [RUNS] | candidates one words|shapes ROW PROGRAM SIZE | candidates count PROGRAM SIZE"
        ),
    }
}
