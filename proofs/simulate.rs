//! `duet simulate`: random programs with faults, compared with their journals after each operation.
//!
//! The proofs are a folder of the root package under its feature `proofs`, and not a crate, because
//! the simulator tests the code of `duet undo` and `duet pick` itself (`history/moves.rs`,
//! `owner/redeliver.rs`), which is private to the command.
//! INVARIANT: nothing outside this folder depends on it; a build without the feature lacks two
//! commands and nothing else.
//! Read next: `simulation.rs`.

mod simulation;

use std::ops::Range;

use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use simulation::{Counts, MediumKind, Owned, Setting, Ways, WorldKind};

/// Runs random programs with faults and compares them with their journals.
///
/// Each seed starts a run in memory and applies operations to it: texts, answers, failures,
/// crashes, rewinds, forks. After each operation the state of the run, heaps included, must equal
/// that of a run restored from its journal, from the beginning and from the newest snapshot. A seed
/// that finds a difference is shown with the shortest list of operations that shows it; the exit
/// code is then 1.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The number of seeds.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    start: u64,
    /// The number of operations of each seed.
    #[arg(long, value_name = "K", default_value_t = 100)]
    operations: usize,
    /// Lets several processes work at one journal file instead, each killed or fenced off at any
    /// time: no turn may be lost, doubled, or there without an owner that knows of it.
    #[arg(long)]
    owners: bool,
    /// Keeps each journal in a SQLite file instead of memory.
    #[arg(long)]
    file: bool,
    /// Lets each run speak to the real drivers, with threads, timers and a person who types,
    /// instead of a simulated world. The order of their answers is the machine's: a seed that finds
    /// a difference may need several runs to find it again.
    #[arg(long)]
    drivers: bool,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let Arguments {
        seeds,
        start,
        operations,
        owners,
        file,
        drivers,
    } = *arguments;
    if owners {
        return work_together(start..start.saturating_add(seeds), operations, terminal);
    }
    let medium = if file { MediumKind::File } else { MediumKind::Memory };
    let world = if drivers {
        WorldKind::Driven
    } else {
        WorldKind::Simulated
    };
    let mut total = Counts::default();
    let mut findings = 0;
    for seed in start..start.saturating_add(seeds) {
        match simulation::simulate(
            seed,
            operations,
            Setting {
                medium,
                world,
                ways: Ways::of(seed),
            },
        ) {
            Ok(counts) => total.add(counts),
            Err(finding) => {
                findings += 1;
                terminal.data(finding.to_string())?;
            }
        }
    }
    let found = match findings {
        0 => "no difference".to_owned(),
        1 => "1 seed found a difference".to_owned(),
        several => format!("{several} seeds found differences"),
    };
    terminal.data(format!("{seeds} seeds from {start}, {total}: {found}\n"))?;
    Ok(if findings == 0 { ExitCode::OK } else { ExitCode::FAILED })
}

fn work_together(seeds: Range<u64>, operations: usize, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let (start, count) = (seeds.start, seeds.end - seeds.start);
    let (mut total, mut findings) = (Owned::default(), 0_u64);
    for seed in seeds {
        match simulation::work_together(seed, operations) {
            Ok(owned) => total.add(owned),
            Err(what) => {
                findings += 1;
                terminal.data(format!("{what}\n"))?;
            }
        }
    }
    let Owned {
        turns,
        opened,
        killed,
        fenced,
    } = total;
    terminal.data(format!(
        "{count} seeds from {start}, {opened} processes, {killed} killed, {fenced} fenced off, {turns} turns: \
         {findings} seeds found something wrong\n"
    ))?;
    Ok(if findings == 0 { ExitCode::OK } else { ExitCode::FAILED })
}
