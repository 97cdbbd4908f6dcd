//! `why`: the turns that led to a fact, back to an input.
//!
//! INVARIANT: each turn caused the one before it in the report.
//! Read next: `../../runtime/src/history/chain.rs`.

use duet_journal::Sequence;
use duet_runtime::gate::payload;
use duet_runtime::history::chain::{Link, links};
use duet_runtime::history::changes::{Change, Sought};
use duet_runtime::model::codec::Codec;
use duet_runtime::state::event::{Cause, Event};
use preserves::IOValue;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::project::Project;
use super::view::{Told, View};
use crate::error::{CommandError, ExitCode};
use crate::journal::Place;
use crate::origins::Origins;
use crate::query::Query;
use crate::turn::json::{json_action, json_cause, json_event};
use crate::turn::line::{Tone, actor, did};
use crate::value_text::abbreviated;

/// Shows the turns that led to a fact.
///
/// The first line is the turn in which the fact came last. Each line below is the turn that caused
/// the one above, down to an input of a person or the start of the run. A tool's result leads back
/// to the turn that called the tool. Duet counts turns in which a fiber only continued, and leaves
/// them out; `--json` has them all.
///
///   duet why '<report _>'
///   duet why greeted review@7
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The pattern that the fact must match.
    pub(crate) pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
}

/// A fact, and the turns that led to it.
pub(crate) struct Report {
    place: Place,
    fact: Option<IOValue>,
    links: Vec<Link>,
    /// The actor of each turn, and what it did.
    told: Vec<String>,
    notes: Vec<String>,
}

/// Finds the turns that led to a fact.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the journal or its index is damaged.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let query = Query::read(&request.pattern)?;
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let (found, notes) = look.changes(&place, &query, Sought::Last)?;
    let mut report = Report {
        place,
        fact: None,
        links: Vec::new(),
        told: Vec::new(),
        notes,
    };
    if let Some(Change { sequence, fact, .. }) = found.into_iter().next() {
        let source = report.place.source(look.store);
        report.fact = Some(fact.value());
        report.links = links(&source, sequence).collect::<Result<_, _>>()?;
        let mut origins = Origins::of(source);
        let told = report.links.iter().map(|link| told(link, &mut origins));
        report.told = told.collect::<Result<_, _>>()?;
    }
    Ok(report)
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        json!({
            "fact": self.fact.as_ref().map(payload::as_json),
            "chain": self.links.iter().map(as_json).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Some(fact) = &self.fact else {
            let place = &self.place;
            let mut told = Told::data("").say(format!("there was no such fact up to {}", place.address(place.at())));
            told.code = ExitCode::FAILED;
            return told;
        };
        let told = Told::data(format!("{}\n{}", abbreviated(fact), self.text()));
        self.notes.iter().fold(told, |told, note| told.say(note))
    }

    /// The turns in words; those in which a fiber only went on are counted.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut skipped = 0;
        for (position, link) in self.links.iter().enumerate() {
            let is_end = position == 0 || position + 1 == self.links.len();
            if !is_end && is_going_on(link) {
                skipped += 1;
                continue;
            }
            if skipped > 0 {
                text.push_str(&format!("  after {skipped} turns in which it went on\n"));
                skipped = 0;
            }
            let received: Vec<String> = link
                .turn
                .events
                .iter()
                .map(|event| abbreviated(&event.encode()))
                .collect();
            let cause = match link.turn.cause {
                Cause::Input {} => "  input",
                Cause::Start {} => "  start",
                Cause::Turn { .. } => "  received",
            };
            let asked = link
                .asked
                .map(|asked| format!(", asked for in turn {asked}"))
                .unwrap_or_default();
            text.push_str(&format!(
                "{} {}\n{cause} {}{asked}\n",
                self.place.address(link.sequence),
                self.told[position],
                received.join("; ")
            ));
        }
        text
    }
}

/// Whether a turn in the middle of a chain only continued a fiber.
fn is_going_on(link: &Link) -> bool {
    link.turn
        .events
        .iter()
        .all(|event| matches!(event, Event::Resume { .. }))
}

/// The actor of a turn, and what it did.
fn told(link: &Link, origins: &mut Origins<'_>) -> Result<String, CommandError> {
    let role = origins.role(link.turn.actor, link.sequence)?;
    let did = did(&link.turn, link.sequence, origins)?;
    let loud: Vec<&str> = did
        .iter()
        .filter(|piece| piece.tone != Tone::Structural)
        .map(|piece| piece.text.as_str())
        .collect();
    let shown = if loud.is_empty() {
        "no effect".to_owned()
    } else {
        loud.join("; ")
    };
    Ok(format!("{:<8} {shown}", actor(link.turn.actor, role.as_deref())))
}

fn as_json(link: &Link) -> Value {
    json!({
        "turn": link.sequence.number(),
        "asked": link.asked.map(Sequence::number),
        "actor": link.turn.actor.0,
        "cause": json_cause(&link.turn.cause),
        "events": link.turn.events.iter().map(json_event).collect::<Vec<_>>(),
        "actions": link.turn.actions.iter().map(json_action).collect::<Vec<_>>(),
    })
}
