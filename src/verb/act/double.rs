//! `duet double`: writes the answers that a run received as a script of doubles.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use duet_drivers::tool::double::{RecordedCall, written};
use duet_journal::PackedValue;
use duet_journal::beside::create_beside;
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::export::learn;
use crate::history::journal::Place;
use crate::owner::owned_run::compiled;
use crate::text::error::CommandError;
use crate::text::redact::Secrets;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::answers::recorded;

/// Writes the answers that a run received from tools, so that they can serve again.
///
/// The result is a script of doubles, as `duet test --record` writes it beside a test: each answer
/// is for a call with the same arguments by the same actor, preferably in the same definition. A
/// call that the program withdrew, or that had no answer yet, stays without one. Left out are the
/// answers of the clock, of files of the workspace and of environment variables, and all calls
/// after the addressed turn.
///
/// Duet refuses answers that have a secret in them: the value of an environment variable whose name
/// says so (KEY, TOKEN, SECRET, PASSWORD …).
///
///   duet double review
///   duet double review@40 --out review-test.answers
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Writes this file, which must not exist, in place of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replaces the file if it exists.
    #[arg(long, requires = "out")]
    force: bool,
    /// Writes secrets, too.
    #[arg(long)]
    with_secrets: bool,
}

/// The answers of a run.
pub(crate) struct Report {
    address: String,
    answers: usize,
    /// The calls without an answer.
    silent: usize,
    script: String,
    /// The file that has the script, if one does.
    file: Option<PathBuf>,
}

/// Writes the answers of a run.
///
/// # Errors
/// If there is no such run, the file exists, or it would have a secret in it.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let pinned = compiled::pinned(look.store, &place)?;
    let ledger = place.source(look.store).ledger(Some(place.at()), pinned.programs)?;
    let calls = recorded(&ledger);
    let script = written(&calls);
    if !request.with_secrets {
        let mut secrets = Secrets::default();
        learn(look.store, &place, std::slice::from_ref(&place.head), &mut secrets)?;
        refuse_secret(&secrets, &place, &calls)?;
    }
    if let Some(path) = &request.out {
        write(path, &script, request.force)?;
    }
    Ok(Report {
        address: place.address(place.at()),
        answers: calls.iter().filter(|call| call.outcome.is_some()).count(),
        silent: calls.iter().filter(|call| call.outcome.is_none()).count(),
        script,
        file: request.out.clone(),
    })
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    address: String,
    /// How many answers the script has.
    answers: usize,
    /// How many calls have no answer.
    silent: usize,
    /// The file that has the script, if one does.
    file: Option<String>,
    script: String,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            address: self.address.clone(),
            answers: self.answers,
            silent: self.silent,
            file: self.file.as_ref().map(|file| file.display().to_string()),
            script: self.script.clone(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Some(file) = &self.file else {
            return Told::data(self.script.clone());
        };
        let answers = match self.answers {
            1 => "1 answer".to_owned(),
            count => format!("{count} answers"),
        };
        let silent = match self.silent {
            0 => String::new(),
            1 => " and 1 call without one".to_owned(),
            count => format!(" and {count} calls without one"),
        };
        Told::data("").say(format!("{answers}{silent} of {} in {}", self.address, file.display()))
    }
}

/// Requires that no answer and no question has a secret in it.
fn refuse_secret(secrets: &Secrets, place: &Place, calls: &[RecordedCall]) -> Result<(), CommandError> {
    for call in calls {
        let RecordedCall {
            tool, asking, outcome, ..
        } = call;
        let answer = match outcome {
            None => IOValue::new(false),
            Some(Ok(value)) => value.clone(),
            Some(Err(failure)) => IOValue::new(failure.message.clone()),
        };
        // In their packed form texts have no escapes, in which a secret would hide.
        let answer = PackedValue::from_value(&answer)
            .map_err(|error| CommandError::caused(format!("an answer of {tool} cannot be written"), &error))?;
        for packed in [asking.arguments.bytes(), answer.as_bytes()] {
            if let Some(secret) = secrets.find_in(packed) {
                let shown: String = secret.chars().take(2).collect();
                let problem = format!(
                    "a call of {tool} in {} has a secret in it that begins with `{shown}`",
                    place.name()
                );
                return Err(CommandError::problem(problem)
                    .advise("`--with-secrets` writes everything as it is; nothing was written"));
            }
        }
    }
    Ok(())
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str, is_forced: bool) -> Result<(), CommandError> {
    if !is_forced && path.exists() {
        return Err(
            CommandError::problem(format!("`{}` exists already", path.display())).advise("`--force` replaces it")
        );
    }
    let beside = path.with_extension("new");
    let written = create_beside(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| CommandError::caused(format!("cannot write `{}`", path.display()), &error))
}
