//! `when`: the first turn after which a fact is there, or all in which it came or went.
//!
//! INVARIANT: the index beside the journal answers; no program runs.
//! Read next: `../changes.rs`.

use duet_runtime::gate::payload::as_json;
use duet_runtime::history::changes::{Change, Sought};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::project::Project;
use super::view::{Told, View};
use crate::error::{CommandError, ExitCode};
use crate::journal::Place;
use crate::query::Query;
use crate::turn;
use crate::value_text::shown;

/// Finds the first turn after which a fact is there.
///
/// An index beside the journal answers; Duet first adds the turns that the index lacks, and does
/// not run the program. A pattern is a value in which `_` matches anything; a label alone finds all
/// its records. The exit code is 1 if there was never such a fact.
///
///   duet when '<greeted _>'
///   duet when greeted review/what-if --all
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The pattern that the fact must match.
    pub(crate) pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Lists every turn in which a matching fact came (+) or went (-).
    #[arg(long)]
    all: bool,
}

/// The changes of facts that match.
pub(crate) struct Report {
    place: Place,
    found: Vec<Change>,
    notes: Vec<String>,
}

/// Finds changes.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the journal or its index is damaged.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let query = Query::read(&request.pattern)?;
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let sought = if request.all { Sought::All } else { Sought::First };
    let (found, notes) = look.changes(&place, &query, sought)?;
    Ok(Report { place, found, notes })
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        let rows = self.found.iter().map(|change| {
            json!({
                "turn": change.sequence.number(),
                "actor": change.actor.0,
                "came": change.came,
                "fact": as_json(&change.fact.value()),
            })
        });
        rows.collect()
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let line = |change: &Change| {
            format!(
                "{} {:<8} {} {}\n",
                self.place.address(change.sequence),
                turn::actor(change.actor),
                if change.came { "+" } else { "-" },
                shown(&change.fact.value())
            )
        };
        let told = Told::data(self.found.iter().map(line).collect::<String>());
        let mut told = self.notes.iter().fold(told, |told, note| told.say(note));
        if self.found.is_empty() {
            let place = &self.place;
            told = told.say(format!("there was no such fact up to {}", place.address(place.at())));
            told.code = ExitCode::FAILED;
        }
        told
    }
}
