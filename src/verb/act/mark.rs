//! `duet mark`: gives names to turns.

use std::collections::BTreeMap;

use duet_journal::{RunId, Sequence};
use duet_runtime::model::address::Mark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::marks::{self, Marked};
use crate::owner::owned_run;
use crate::text::error::CommandError;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Gives a turn a name, or lists the names.
///
/// The addressed turn, or the newest, has the name NAME from then on, and an address may use it:
/// `review@NAME`. A name that is given again moves to the other turn. Without a name the command
/// lists the marks of the run. `duet gc` keeps marked turns.
///
///   duet mark review@12 before-the-edit
///   duet goto review@before-the-edit
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// The name.
    name: Option<String>,
    /// Removes the name.
    #[arg(long, requires = "name")]
    delete: bool,
}

/// The marks of a run, or the change of one.
pub(crate) enum Report {
    Marks(RunId, BTreeMap<Mark, Marked>),
    Marked {
        address: String,
        mark: Mark,
        /// The turn that had the name before.
        before: Option<Sequence>,
    },
    Unmarked(RunId, Mark),
}

/// Lists marks, sets one, or removes one.
///
/// # Errors
/// If there is no such turn or mark, or the name cannot be one.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let marks = marks::of(&journal, &place.run)?;
    let Some(name) = request.name.as_deref() else {
        return Ok(Report::Marks(place.run, marks));
    };
    let mark = Mark::new(name).ok_or_else(|| {
        CommandError::usage(format!(
            "`{name}` cannot be a mark: it begins with a letter and has letters, digits, `-`, `_` and `.`"
        ))
    })?;
    if request.delete && !marks.contains_key(&mark) {
        return Err(CommandError::problem(format!(
            "no turn of {} is marked {mark}",
            place.run
        )));
    }
    let turn = place.at();
    let before = marks.get(&mark).map(|marked| marked.turn);
    let record = owned_run::record_at(look.store, &place, turn)?.hash();
    let marked = (!request.delete).then_some(Marked { turn, record });
    marks::set(&journal, &place.run, &mark, marked)?;
    let address = place.address(turn);
    Ok(match marked {
        Some(_) => Report::Marked {
            address,
            mark,
            before: before.filter(|before| *before != turn),
        },
        None => Report::Unmarked(place.run, mark),
    })
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// The marks of a run.
    Listed(Vec<MarkForm>),
    /// A mark was set, or removed.
    Set {
        mark: String,
        /// The turn that it marks; null if it marks none any more.
        address: Option<String>,
    },
}

/// A mark.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MarkForm {
    mark: String,
    turn: u64,
    /// The hash of the turn's record.
    record: String,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&match self {
            Self::Marks(_, marks) => {
                let rows = marks.iter().map(|(mark, Marked { turn, record })| MarkForm {
                    mark: mark.to_string(),
                    turn: turn.number(),
                    record: record.to_string(),
                });
                Form::Listed(rows.collect())
            }
            Self::Marked { address, mark, .. } => Form::Set {
                mark: mark.to_string(),
                address: Some(address.clone()),
            },
            Self::Unmarked(_, mark) => Form::Set {
                mark: mark.to_string(),
                address: None,
            },
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        match self {
            Self::Marks(run, marks) => {
                let line = |(mark, marked): (&Mark, &Marked)| format!("{run}@{mark}  turn {}\n", marked.turn);
                Told::data(marks.iter().map(line).collect::<String>())
            }
            Self::Marked { address, mark, before } => {
                let before = before.map_or_else(String::new, |before| format!("; turn {before} was"));
                Told::data("").say(format!("{address} is marked {mark}{before}"))
            }
            Self::Unmarked(run, mark) => Told::data("").say(format!("{mark} marks no turn of {run} any more")),
        }
    }
}
