//! `duet cost`: adds up what the language models of a run cost.

use std::collections::BTreeMap;

use duet_journal::{Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::TurnRecord;
use duet_runtime::state::event::Event;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::exchange::{self, Usage, dollars};
use crate::journal::{Journal, Place};
use crate::records::turns;
use crate::terminal::Terminal;
use crate::turn;

/// Adds up what the language models of a run cost.
///
/// For each role in which the program asked a model, and each model, the list has the number of
/// replies, their tokens, and their price if the provider reports it or the configuration has it;
/// `(price …)` in a program counts only for budgets. It counts the turns of one branch up to a
/// turn. A replay and a rewound run ask no model again, so they cost nothing more.
///
///   duet cost review@40
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

/// The replies of a model to a role.
#[derive(Default)]
struct Row {
    replies: u64,
    usage: Usage,
}

/// The calls so far, and their costs.
#[derive(Default)]
struct Costs {
    /// The role and the model of each call, until it is answered.
    asked: BTreeMap<RequestId, (String, String)>,
    rows: BTreeMap<(String, String), Row>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let costs = Costs::of(&store, &place)?;
    let mut total = Row::default();
    for row in costs.rows.values() {
        total.replies += row.replies;
        total.usage.add(&row.usage);
    }
    if arguments.json {
        let rows = costs.rows.iter().map(|((role, model), row)| {
            json!({
                "role": role, "model": model, "replies": row.replies, "input_tokens": row.usage.input_tokens,
                "output_tokens": row.usage.output_tokens, "usd": row.usage.usd,
            })
        });
        terminal.json(&json!(rows.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    let mut text = costs
        .rows
        .iter()
        .map(|((role, model), row)| line(&format!("{role}, model {model}"), row))
        .collect::<String>();
    text += &line("in all", &total);
    terminal.data(text)?;
    Ok(ExitCode::OK)
}

fn line(who: &str, row: &Row) -> String {
    let price = row.usage.usd.map_or_else(|| "price not known".to_owned(), dollars);
    format!(
        "{who}: {} replies, {} + {} tokens, {price}\n",
        row.replies, row.usage.input_tokens, row.usage.output_tokens
    )
}

impl Costs {
    /// Counts the turns of a branch up to a place.
    fn of(store: &dyn Store, place: &Place) -> Result<Self, CommandError> {
        let mut costs = Self::default();
        for turn in turns(store, (&place.run, &place.branch), (Sequence::FIRST, place.at())) {
            costs.count(&turn?);
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
            let Some((role, model)) = self.asked.remove(request) else {
                continue;
            };
            let heard = turn::heard(event, &|_| true);
            let named = heard.as_ref().and_then(|heard| heard.model.clone());
            let row = self.rows.entry((role, named.unwrap_or(model))).or_default();
            row.replies += 1;
            row.usage.add(&heard.map(|heard| heard.usage).unwrap_or_default());
        }
        for action in turn.actions.iter().flat_map(Action::done) {
            if let Action::InvokeTool(call) = action
                && let Some(asked) = exchange::asked(call)
            {
                self.asked.insert(call.request, (asked.role, asked.model));
            }
        }
    }
}
