//! The simulator: random programs with random faults.
//!
//! Owns seeds: the operations that a seed draws, the difference that it finds, and the shortest
//! list of operations that shows the difference again. One process, one thread, a virtual clock,
//! and a disk in memory or a file; or the real drivers with their threads and clock.
//! INVARIANT: with a simulated world the outcome of a seed depends only on the seed and the number
//! of operations.
//! It does not define a difference; `simulation/course.rs` does.
//! Read next: `simulation/operation.rs`.

mod chance;
mod course;
mod edits;
mod medium;
mod operation;
mod owners;
mod programs;
mod shrink;
mod world;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use duet_kernel::machine::NativeMode;

use self::chance::Chance;
use self::course::{Cast, Course, Difference};
use self::operation::Operation;

pub(crate) use self::course::Counts;
pub(crate) use self::medium::MediumKind;
pub(crate) use self::owners::Owned;
pub(crate) use self::world::WorldKind;

/// What a course happens on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Where the journal is.
    pub(crate) medium: MediumKind,
    /// What the run speaks to.
    pub(crate) world: WorldKind,
    /// How programs execute.
    pub(crate) ways: Ways,
}

/// How the live run and its replays execute, never in the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    live: NativeMode,
    replayed: NativeMode,
}

impl Ways {
    /// The ways of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let (live, replayed) = match seed % 4 {
            0 => (NativeMode::Always, NativeMode::Never),
            1 => (NativeMode::Never, NativeMode::Always),
            2 => (NativeMode::Drawn(seed), NativeMode::Drawn(!seed)),
            _ => (NativeMode::Auto, NativeMode::Always),
        };
        Self { live, replayed }
    }
}

/// A seed that has found a difference.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The seed.
    pub(crate) seed: u64,
    /// The difference, for people.
    pub(crate) what: String,
    /// The operation after which it showed, counted from 1.
    pub(crate) after: usize,
    /// The shortest course found that shows it.
    pub(crate) shrunk: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, after operation {}: {}", self.seed, self.after, self.what)?;
        writeln!(f, "it also shows after these {}:", self.shrunk.len())?;
        self.shrunk
            .iter()
            .try_for_each(|operation| writeln!(f, "  {operation}"))
    }
}

/// Why a course ended before its operations did.
struct Stop {
    after: usize,
    what: String,
}

/// Lets a seed run its course.
///
/// # Errors
/// The [`Finding`], shrunk.
pub(crate) fn simulate(seed: u64, operations: usize, setting: Setting) -> Result<Counts, Box<Finding>> {
    let mut chance = Chance::new(seed);
    let drawn: Vec<Operation> = (0..operations).map(|_| Operation::draw(&mut chance)).collect();
    let Stop { after, what } = match run(&drawn, setting) {
        Ok(counts) => return Ok(counts),
        Err(stop) => stop,
    };
    let shrunk = shrink::shrink(drawn[..after.min(drawn.len())].to_vec(), |part| {
        run(part, setting).is_err()
    });
    Err(Box::new(Finding {
        seed,
        what,
        after,
        shrunk: shrunk.iter().map(Operation::to_string).collect(),
    }))
}

/// Lets operations happen to a run of its own.
fn run(operations: &[Operation], setting: Setting) -> Result<Counts, Stop> {
    let mut after = 0;
    // A panic is a finding like any other; nothing of the course is used afterwards.
    let outcome = catch_unwind(AssertUnwindSafe(|| follow(operations, setting, &mut after)));
    match outcome {
        Ok(Ok(counts)) => Ok(counts),
        Ok(Err(what)) => Err(Stop { after, what }),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let what = format!("a panic: {}", message.unwrap_or_default());
            Err(Stop { after, what })
        }
    }
}

/// Lets several processes work at one journal file, on seeds that follow each other.
///
/// # Errors
/// The fault, with the seed and the operation after which it showed.
pub(crate) fn work_together(seed: u64, operations: usize) -> Result<Owned, String> {
    let ways = Ways::of(seed);
    let (live, program) = programs::compile(ways.live)?;
    let cast = Cast {
        replayed: live.clone(),
        live,
        program,
        ways,
    };
    owners::in_folder(seed, |folder| owners::work_together(cast, folder, seed, operations))
}

fn follow(operations: &[Operation], setting: Setting, after: &mut usize) -> Result<Counts, String> {
    let shown = |difference: Difference| difference.to_string();
    let ways = setting.ways;
    let (live, program) = programs::compile(ways.live)?;
    let replayed = programs::again(&program, ways.replayed)?;
    let cast = Cast {
        live,
        replayed,
        program,
        ways,
    };
    let mut course = Course::begin(cast, setting).map_err(shown)?;
    for operation in operations {
        *after += 1;
        course.perform(operation).map_err(shown)?;
    }
    course.compare_afresh().map_err(shown)?;
    Ok(course.counts)
}
