//! Recorded answers: the file beside a test that has the answers of the tools that it calls.
//!
//! INVARIANT: recording the same answers again writes the same bytes; the file is a script of
//! doubles, so every command that takes one can use it.
//! It answers no call; the drivers' doubles do. Read next: `world/world_options.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use duet_drivers::prepared::covers;
use duet_drivers::tool::double::{Doubles, RecordedCall, written};
use duet_drivers::tool::failure::Kind;
use duet_drivers::world::scripts;
use duet_runtime::driver::EffectKind;
use duet_runtime::record::key::Ledger;
use duet_runtime::run::tool_failure;

use super::arrivals::delays;
use crate::text::error::CommandError;
use crate::world::world_options::DoubleScript;

/// The beginnings of the names of tools whose answers the test and the files beside it determine.
const OWN: [&str; 4] = ["clock/", "workspace/", "environment/", "test/"];

/// Whether the answers of a tool are recorded.
pub(crate) fn is_recorded(tool: &str) -> bool {
    !OWN.iter().any(|own| tool.starts_with(own))
}

/// The file beside a test.
pub(crate) fn beside(test: &Path) -> PathBuf {
    test.with_extension("answers")
}

/// The answers beside a test.
pub(crate) struct Recorded {
    /// The script, which names no tool that is live.
    pub(crate) script: DoubleScript,
    /// Its doubles.
    pub(crate) doubles: Doubles,
}

/// Reads the answers beside a test, without those of the tools that are live.
///
/// # Errors
/// If the file is there and is no such script.
pub(crate) fn read(test: &Path, live: &[String]) -> Result<Option<Recorded>, CommandError> {
    let path = beside(test);
    if !path.exists() {
        return Ok(None);
    }
    let shown = path.display().to_string();
    let text =
        fs::read_to_string(&path).map_err(|error| CommandError::caused(format!("cannot read `{shown}`"), &error))?;
    let doubles = Doubles::read(&text);
    let doubles =
        doubles.map_err(|error| CommandError::caused(format!("`{shown}` has no recorded answers"), &error))?;
    let doubles = doubles.without(|tool| live.iter().any(|live| live == tool));
    Ok(Some(Recorded {
        script: DoubleScript::of(doubles.names(), shown, text),
        doubles,
    }))
}

/// Returns the calls of tools in their order, without those that are never recorded, or that a
/// script of the test answers. A call that the program withdrew, or that is still open, is there
/// without an answer: the others depend on its silence, as they do on the order of the answers.
pub(crate) fn recorded(ledger: &Ledger) -> Vec<RecordedCall> {
    let scripted = scripted(ledger);
    let (outcomes, delays) = (ledger.outcomes(), delays(ledger));
    let calls = ledger.asked.iter().filter_map(|asked| {
        let EffectKind::Tool { name, .. } = &asked.question else {
            return None;
        };
        let outcome = match outcomes.get(&asked.request) {
            None => None,
            Some(Ok(value)) => Some(Ok(value.clone())),
            Some(Err(fault)) => Some(Err(tool_failure(fault)?)),
        };
        let is_scripted = scripted.iter().any(|pattern| covers(pattern, name));
        (is_recorded(name) && !is_scripted).then(|| RecordedCall {
            tool: name.clone(),
            asking: asked.key.asking(),
            outcome,
            delay_ms: delays.get(&asked.request).copied().unwrap_or(0),
        })
    });
    calls.collect()
}

/// Says for each call of a tool whose answers are recorded why it had none.
pub(crate) fn unanswered(ledger: &Ledger) -> Vec<String> {
    let outcomes = ledger.outcomes();
    let calls = ledger.asked.iter().filter_map(|asked| {
        let EffectKind::Tool { name, .. } = &asked.question else {
            return None;
        };
        let fault = outcomes.get(&asked.request)?.as_ref().err()?;
        let failure = tool_failure(fault).filter(|failure| failure.kind == Kind::NoAnswer.as_str())?;
        is_recorded(name).then_some(failure.message)
    });
    calls.collect()
}

/// The names and patterns of the tools that scripts of the test answer.
fn scripted(ledger: &Ledger) -> Vec<String> {
    let calls = ledger.asked.iter().filter_map(|asked| {
        let EffectKind::Tool { name, payload } = &asked.question else {
            return None;
        };
        scripts::scripted_by(name, payload)
    });
    calls.flatten().collect()
}

/// Writes the calls of a test with their answers, or removes the file if there are none.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(test: &Path, calls: &[RecordedCall]) -> Result<(), CommandError> {
    let path = beside(test);
    let done = if !calls.is_empty() {
        fs::write(&path, written(calls))
    } else if path.exists() {
        fs::remove_file(&path)
    } else {
        return Ok(());
    };
    done.map_err(|error| CommandError::caused(format!("cannot write `{}`", path.display()), &error))
}

/// Says for each recorded answer that no call has taken for which call it is; equal ones are
/// counted.
pub(crate) fn left(doubles: &Doubles) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for (tool, reply) in doubles.left() {
        let line = format!("{tool} {reply}");
        match lines.iter_mut().find(|(other, _)| *other == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let told = lines.into_iter().map(|(line, count)| match count {
        1 => line,
        count => format!("{line} ({count} times)"),
    });
    told.collect()
}
