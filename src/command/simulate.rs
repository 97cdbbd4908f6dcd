//! `duet simulate`: random programs to which everything happens, compared with their journals after each step.

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::simulation::{self, Tally};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Each seed starts a run in memory and lets operations happen to it: texts, answers, failures, crashes, rewinds, forks. After each
one the state of the run, heaps included, must be that of a run made from its journal, from the beginning and from the newest
snapshot. A seed that finds a difference is shown with the shortest course that shows it; the exit code is then 1.

  --seeds N        how many seeds; without it 10
  --start S        the first seed; without it 0
  --operations K   how many operations each; without it 100";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let number = |option: &str, default: u64| match arguments.one(option) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|_| Failure::usage(format!("--{option} takes a natural number, not `{text}`"))),
    };
    let (seeds, start) = (number("seeds", 10)?, number("start", 0)?);
    let operations = usize::try_from(number("operations", 100)?).unwrap_or(usize::MAX);
    let mut total = Tally::default();
    let mut findings = 0;
    for seed in start..start.saturating_add(seeds) {
        match simulation::simulate(seed, operations) {
            Ok(tally) => total.add(tally),
            Err(finding) => {
                findings += 1;
                terminal.data(&finding.to_string())?;
            }
        }
    }
    let found = match findings {
        0 => "no difference".to_owned(),
        1 => "1 seed found a difference".to_owned(),
        several => format!("{several} seeds found differences"),
    };
    terminal.data(&format!("{seeds} seeds from {start}, {total}: {found}\n"))?;
    Ok(if findings == 0 { Code::OK } else { Code::FAILED })
}
