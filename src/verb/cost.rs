//! `cost`: the cost of the language models of a run.
//!
//! INVARIANT: only answers that the journal has count; the index beside it names the turns that
//! have them, and Duet reads no others.
//! Read next: `text/exchange.rs`.

use std::collections::BTreeMap;

use duet_runtime::action::Action;
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::TurnRecord;
use duet_runtime::state::event::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form::as_json;
use super::project::{Project, ProjectReader};
use crate::history::journal::Place;
use crate::history::records::chosen_turns;
use crate::history::turn;
use crate::text::error::CommandError;
use crate::text::exchange::{self, Price, Usage, dollars};
use crate::text::view::{Told, View};

/// Adds up what the language models of a run cost.
///
/// For each role in which the program asked a model, and each model, the list has the number of
/// replies, their tokens, and their price if the provider reports it, or the configuration or the
/// program has it. It counts the turns of one branch up to a turn. A replay and a rewound run ask
/// no model again, so they cost nothing more.
///
///   duet cost review@40
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
}

/// The replies of a model to a role.
#[derive(Default)]
struct Row {
    replies: u64,
    usage: Usage,
}

/// A call of a model.
struct Call {
    role: String,
    model: String,
    price: Option<Price>,
}

/// The calls so far, and their costs.
#[derive(Default)]
struct Costs {
    /// The calls that are not answered.
    asked: BTreeMap<RequestId, Call>,
    rows: BTreeMap<(String, String), Row>,
    notes: Vec<String>,
}

/// The report as JSON.
pub(crate) type Form = Vec<Cost>;

/// What a model cost in a role.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cost {
    role: String,
    model: String,
    replies: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// US dollars; null if no price is known.
    usd: Option<f64>,
}

/// The costs.
pub(crate) struct Report {
    rows: Vec<((String, String), Row)>,
    total: Row,
    notes: Vec<String>,
}

/// Adds up.
///
/// # Errors
/// If there is no such turn, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let costs = Costs::of(&look, &place)?;
    let mut total = Row::default();
    for row in costs.rows.values() {
        total.replies += row.replies;
        total.usage.add(&row.usage);
    }
    Ok(Report {
        rows: costs.rows.into_iter().collect(),
        total,
        notes: costs.notes,
    })
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        let rows = self.rows.iter().map(|((role, model), row)| Cost {
            role: role.clone(),
            model: model.clone(),
            replies: row.replies,
            input_tokens: row.usage.input_tokens,
            output_tokens: row.usage.output_tokens,
            usd: row.usage.usd,
        });
        as_json(&rows.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let rows = self.rows.iter();
        let rows = rows.map(|((role, model), row)| line(&format!("{role}, model {model}"), row));
        let told = Told::data(rows.collect::<String>() + &line("in all", &self.total));
        self.notes.iter().fold(told, |told, note| told.say(note))
    }
}

fn line(who: &str, row: &Row) -> String {
    if row.replies == 0 {
        return format!("{who}: no reply of a language model\n");
    }
    let price = row.usage.usd.map_or_else(|| "price not known".to_owned(), dollars);
    format!(
        "{who}: {}, {} + {}, {price}\n",
        counted(row.replies, "reply"),
        row.usage.input_tokens,
        counted(row.usage.output_tokens, "token")
    )
}

impl Costs {
    /// Counts the turns of a branch up to a place.
    fn of(look: &ProjectReader<'_>, place: &Place) -> Result<Self, CommandError> {
        let mut costs = Self::default();
        let (chosen, notes) = look.turns_of_tool(place, exchange::TOOL)?;
        costs.notes = notes;
        for turn in chosen_turns(place.source(look.store), &chosen) {
            look.go_on()?;
            costs.count(&turn?.1);
        }
        Ok(costs)
    }

    fn count(&mut self, turn: &TurnRecord) {
        for event in &turn.events {
            let Event::Answered {
                request,
                outcome: Ok(_),
                ..
            } = event
            else {
                continue;
            };
            let Some(Call { role, model, price }) = self.asked.remove(request) else {
                continue;
            };
            let heard = turn::heard(event, &|_| true);
            let named = heard.as_ref().and_then(|heard| heard.model.clone());
            let row = self.rows.entry((role, named.unwrap_or(model))).or_default();
            row.replies += 1;
            row.usage
                .add(&heard.map(|heard| heard.usage).unwrap_or_default().or_at(price));
        }
        for action in turn.actions.iter().flat_map(Action::done) {
            if let Action::InvokeTool(call) = action
                && let Some(asked) = exchange::asked(call)
            {
                let (role, model, price) = (asked.role, asked.model, asked.price);
                self.asked.insert(call.request, Call { role, model, price });
            }
        }
    }
}
