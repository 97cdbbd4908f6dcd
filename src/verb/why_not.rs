//! `why-not`: what stands in the way of a fact.
//!
//! INVARIANT: a reason repeats records, the state or the text; where the report only compares
//! names, it says so. It does not run the program on. Read next: `why_not/near.rs`.

mod assertions;
mod near;
mod search;

use duet_journal::Sequence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use super::sought::Asked;
use crate::owner::owned_run::compiled;
use crate::text::error::CommandError;
use crate::text::query::Query;
use crate::text::saying::{Way, say};
use crate::text::view::{Told, View};
use search::Search;

/// Shows what stands in the way of a fact.
///
/// The report says whether a matching fact never came, or in which turn it went; which attempts to
/// assert one the gate refused, and why, or which wait for approval; which facts and which waits
/// are nearly the same, and in which member they differ; where the program's text asserts such a
/// fact; and what the computations that stand in that procedure wait for. Duet finds the procedure
/// by the label of the pattern in the text, so an assertion whose label is computed is not found.
/// The address may also come first, where it cannot be the pattern.
///
///   duet why-not '<report _>'
///   duet why-not '<job 3 _>' review@12 --json
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The pattern of the fact that is missing.
    pub(crate) pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
}

/// The sort of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    /// It is there.
    There,
    /// No such fact ever came.
    Never,
    /// The last such fact went.
    Went,
    /// The gate refused an attempt to assert it.
    Refused,
    /// An attempt to assert it waits for approval, or for policy.
    Held,
    /// A fact differs in a member.
    Near,
    /// A wait is for a pattern that differs in a member.
    Awaited,
    /// The text asserts such a fact here.
    Text,
    /// An actor failed that had the procedure.
    Failed,
    /// A computation stands in the procedure that asserts it.
    Stands,
}

/// A reason.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Reason {
    sort: Sort,
    /// The turn, if it is about one.
    turn: Option<u64>,
    /// The reason in words.
    words: String,
}

/// What stands in the way.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The branch.
    name: String,
    turn: u64,
    /// The pattern, as it was given.
    pattern: String,
    /// Whether such a fact is there after all.
    is_there: bool,
    reasons: Vec<Reason>,
}

/// The report as JSON.
pub(crate) type Form = Report;

/// Finds what stands in the way.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the run cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let asked = Asked::of(&look, &request.pattern, request.address.as_deref());
    let query = Query::read(asked.what)?;
    let place = asked.place(&look, "why-not")?;
    let mut run = compiled::sight(look.store, &place)?;
    let mut search = Search::of(&look, &place, &query);
    search.history()?;
    let is_there = search.is_there(&run);
    if !is_there {
        search.refusals()?;
        search.held(&run);
        search.near(&run);
        search.standing(&mut run)?;
    }
    Ok(Report {
        name: place.name(),
        turn: place.at().number(),
        pattern: asked.what.to_owned(),
        is_there,
        reasons: search.reasons,
    })
}

impl Reason {
    fn of(sort: Sort, turn: Option<Sequence>, words: impl Into<String>) -> Self {
        Self {
            sort,
            turn: turn.map(Sequence::number),
            words: words.into(),
        }
    }

    fn line(&self) -> String {
        let title = match self.sort {
            Sort::There => "there",
            Sort::Never => "never",
            Sort::Went => "went",
            Sort::Refused => "refused",
            Sort::Held => "held",
            Sort::Near => "near",
            Sort::Awaited => "awaited",
            Sort::Text => "text",
            Sort::Failed => "failed",
            Sort::Stands => "stands",
        };
        let words = duet_drivers::text::line(&self.words);
        format!("  {title:<8} {words}\n")
    }
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(self)
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Self {
            name, turn, pattern, ..
        } = self;
        let is = if self.is_there { "is" } else { "is not" };
        let head = format!("{} {is} there at {name}@{turn}\n", duet_drivers::text::line(pattern));
        let rows: String = self.reasons.iter().map(Reason::line).collect();
        let told = Told::data(head + &rows);
        if self.is_there {
            return told.say(say![
                Way::of("why").with(format!("'{pattern}' {name}")),
                " shows how it came"
            ]);
        }
        told
    }
}
