//! The suite `summoner` of `duet conform`: cases of the Summoner profile.
//!
//! Owns the reading of files and the printing. A Scheme library, `summoner/`, runs the cases with
//! `(duet routes)` and compares their traces with those of the reference implementation.
//! INVARIANT: a difference without an explanation makes the exit code 1; a line that is no case
//! makes it 2, before any difference is shown.
//! It does not know what a case means; the Scheme library does.
//! Read next: `summoner/trace.scm`.

use std::path::Path;

use duet_drivers::text::Text;
use duet_kernel::code::CodeSpace;
use duet_kernel::expander::Expander;
use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::write_limited;
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

use super::{lines, read_text, refuse};
use crate::owner::owned_run;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// The library that judges, and its procedure of the texts of a case and of what is expected.
const LIBRARY: &str = "(conformance summoner)";
const PROCEDURE: &str = "answer";

const FILES: &[(&str, &str)] = &[
    ("conformance/summoner.sld", include_str!("summoner.sld")),
    ("conformance/suite.scm", include_str!("suite.scm")),
    ("conformance/summoner/trace.scm", include_str!("summoner/trace.scm")),
    ("conformance/summoner/cycles.scm", include_str!("summoner/cycles.scm")),
    ("conformance/summoner/compare.scm", include_str!("summoner/compare.scm")),
    ("conformance/summoner/main.scm", include_str!("summoner/main.scm")),
];

/// The memory of all cases.
const BYTES_MAX: usize = 1 << 30;
/// The fuel of one case: about 10 s.
const FUEL: i64 = 1_000_000_000;

/// Prints the trace of each case of a file.
pub(super) fn print_traces(cases: &Path, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let text = read_text(cases)?;
    let path = cases.display().to_string();
    let mut judge = Judge::new()?;
    let (mut traces, mut faults) = (Vec::new(), Vec::new());
    for (line, case) in lines(&text) {
        match judge.answer(case, "")? {
            Answer::Trace(trace) => traces.push(trace),
            Answer::Fault(fault) => faults.push(format!("{path}:{line}: {fault}")),
            Answer::Differences(_) => return Err(broken("it compared a case with nothing")),
        }
    }
    refuse(&path, &faults, traces.is_empty())?;
    for trace in traces {
        terminal.data(Text::json(&format!("{trace}\n")))?;
    }
    Ok(ExitCode::OK)
}

/// Compares the trace of each case of a file with that on the same line of another file.
pub(super) fn compare(cases: &Path, expected: &Path, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let (text, expected_text) = (read_text(cases)?, read_text(expected)?);
    let path = cases.display().to_string();
    let (case_lines, expected_lines): (Vec<_>, Vec<_>) = (lines(&text).collect(), lines(&expected_text).collect());
    if case_lines.len() != expected_lines.len() {
        let counts = format!("{} cases, but {} traces", case_lines.len(), expected_lines.len());
        return Err(CommandError::usage(counts).advise("the trace of a case stands on the same line of `--expected`"));
    }
    let mut judge = Judge::new()?;
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for ((line, case), (_, trace)) in case_lines.into_iter().zip(expected_lines) {
        match judge.answer(case, trace)? {
            Answer::Differences(differences) => found.push((line, name(case), differences)),
            Answer::Fault(fault) => faults.push(format!("{path}:{line}: {fault}")),
            Answer::Trace(_) => return Err(broken("it compared nothing")),
        }
    }
    refuse(&path, &faults, found.is_empty())?;
    let mut counts = CaseCounts::default();
    for (line, name, differences) in &found {
        counts.count(differences);
        for difference in differences {
            terminal.data(format!("{path}:{line}: {name}: {}", difference.shown()))?;
        }
    }
    terminal.data(counts.shown())?;
    Ok(if counts.different == 0 {
        ExitCode::OK
    } else {
        ExitCode::FAILED
    })
}

/// The name of a case, which has been read.
fn name(case: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(case).unwrap_or_default();
    value["name"].as_str().unwrap_or("a case").to_owned()
}

/// How many cases agree with what is expected.
#[derive(Default)]
struct CaseCounts {
    agreeing: usize,
    explained: usize,
    different: usize,
}

impl CaseCounts {
    fn count(&mut self, differences: &[Difference]) {
        *if differences.is_empty() {
            &mut self.agreeing
        } else if differences.iter().all(|difference| difference.reason.is_some()) {
            &mut self.explained
        } else {
            &mut self.different
        } += 1;
    }

    fn shown(&self) -> String {
        let CaseCounts {
            agreeing,
            explained,
            different,
        } = self;
        let cases = agreeing + explained + different;
        format!(
            "summoner: {cases} cases, {agreeing} as expected, {explained} different as the decisions say, \
             {different} different\n"
        )
    }
}

/// A difference between two traces of a case.
struct Difference {
    place: String,
    expected: String,
    got: String,
    /// The row or section of the decisions that explains it.
    reason: Option<String>,
}

impl Difference {
    fn shown(&self) -> String {
        let Difference {
            place,
            expected,
            got,
            reason,
        } = self;
        let reason = reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(" (decisions, {reason})"));
        format!("{place}{reason}\n  expected {expected}\n  got      {got}\n")
    }
}

/// What the Scheme library answers.
enum Answer {
    /// The trace of a case, a JSON text.
    Trace(String),
    Differences(Vec<Difference>),
    /// Why a line is no case.
    Fault(String),
}

impl Answer {
    fn read(text: &str) -> Result<Self, CommandError> {
        let answer: serde_json::Value = serde_json::from_str(text).map_err(|error| broken(&error.to_string()))?;
        if let Some(fault) = answer["fault"].as_str() {
            return Ok(Answer::Fault(fault.to_owned()));
        }
        if let Some(trace) = text.strip_prefix("{\"trace\":").and_then(|rest| rest.strip_suffix('}')) {
            return Ok(Answer::Trace(trace.to_owned()));
        }
        let differences = answer["differences"]
            .as_array()
            .ok_or_else(|| broken("it answered neither a trace nor differences"))?;
        let field = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let difference = |value: &serde_json::Value| Difference {
            place: field(&value["place"]).unwrap_or_default(),
            expected: field(&value["expected"]).unwrap_or_default(),
            got: field(&value["got"]).unwrap_or_default(),
            reason: field(&value["reason"]),
        };
        Ok(Answer::Differences(differences.iter().map(difference).collect()))
    }
}

/// An error of the suite itself.
fn broken(what: &str) -> CommandError {
    CommandError::problem(format!("the suite failed: {what}"))
}

/// An instance that has loaded the Scheme library, without a runtime: a case has no effects.
struct Judge {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
}

impl Judge {
    fn new() -> Result<Self, CommandError> {
        let code = CodeSpace::new(&host::primitives());
        let mut expander = Expander::new(code.signatures(), owned_run::default_libraries())
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        let mut libraries = Resolver::new(vec![
            Box::new(Embedded::new("stdlib", duet_stdlib::FILES)),
            Box::new(Embedded::new("conformance", FILES)),
        ]);
        let program = format!("(import {LIBRARY}) {PROCEDURE}");
        let expansion = expander
            .expand_program("summoner", &program, &mut libraries)
            .map_err(|errors| broken(&format!("{errors:?}")))?;
        let mut judge = Self {
            machine: Machine::new(),
            instance: Instance::new(Limits { bytes_max: BYTES_MAX }),
            code,
        };
        for unit in &expansion.units {
            let compiled =
                duet_kernel::compiler::compile(unit, &judge.code).map_err(|error| broken(&format!("{error:?}")))?;
            let number = judge
                .code
                .load(&compiled)
                .map_err(|error| broken(&format!("{error:?}")))?;
            let procedure = judge
                .instance
                .unit_procedure(&judge.code, number)
                .map_err(|_| out_of_memory())?;
            judge.machine.start(&mut judge.instance, procedure, &[]);
            judge.run()?;
        }
        Ok(judge)
    }

    /// Lets the library judge a case; `expected` is its expected trace, or empty.
    fn answer(&mut self, case: &str, expected: &str) -> Result<Answer, CommandError> {
        let name = GlobalName {
            library: LIBRARY.into(),
            name: PROCEDURE.into(),
        };
        let heap = &mut self.instance.heap;
        let case = heap.string(case).map_err(|_| out_of_memory())?;
        let expected = heap.string(expected).map_err(|_| out_of_memory())?;
        let procedure = self.instance.global(&self.code, &name);
        let procedure = procedure.ok_or_else(|| broken("its procedure is not defined"))?;
        self.machine.start(&mut self.instance, procedure, &[case, expected]);
        let answer = self.run()?;
        Answer::read(&self.instance.heap.string_text(answer))
    }

    fn run(&mut self) -> Result<Value, CommandError> {
        let mut fuel = FUEL;
        match self.machine.run(&mut self.instance, &self.code, &mut fuel) {
            Ok(Outcome::Finished(value)) => Ok(value),
            Ok(Outcome::Uncaught(object)) => {
                let shown = write_limited(&self.instance.heap, &self.code, object, 1000);
                Err(broken(&shown))
            }
            Ok(Outcome::OutOfFuel) => Err(broken("a case takes too long")),
            Ok(Outcome::Request { .. }) => Err(broken("a case asks for an effect")),
            Ok(Outcome::Exhausted) | Err(_) => Err(out_of_memory()),
        }
    }
}

fn out_of_memory() -> CommandError {
    broken("the cases need more than 1 GiB of memory")
}
