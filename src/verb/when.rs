//! `when`: the first turn after which a fact is there, or all in which it came or went; or a turn
//! in which an expression changes.
//!
//! INVARIANT: for facts, the index beside the journal answers, and no program runs.
//! Read next: `history/changes.rs`.

mod value;

use duet_runtime::history::changes::{FactChange, Sought};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form::as_json;
use super::project::{Project, ProjectReader};
use super::sought::Asked;
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::turn::line::actor;
use crate::text::error::{CommandError, ExitCode};
use crate::text::query::Query;
use crate::text::saying::{Way, quoted, say};
use crate::text::value_json;
use crate::text::value_text::shown;
use crate::text::view::{Told, View};
use value::{Valued, Values};

/// Finds the first turn after which a fact is there, or a turn in which an expression changes.
///
/// An index beside the journal answers for facts; Duet first adds the turns that the index lacks,
/// and does not run the program. A pattern is a value in which `_` matches anything; a label alone
/// finds all its records. The exit code is 1 if there was never such a fact.
///
/// A text that begins with a parenthesis is an expression over the state. Duet
/// evaluates it as `duet eval` does at the first turn and at the last, and by bisection finds a
/// turn in which it changes, with its value before and after; an error counts as a value. If it
/// changes several times, that turn may be any of them, and if it is the same at both ends, none is
/// found: `--first` evaluates it at each turn and finds the first change. The exit code is 1 if
/// there is none. The address may also come first, where it cannot be the pattern.
///
///   duet when '<greeted _>'
///   duet when greeted review/what-if --all
///   duet when '(length tasks)' review --first
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The pattern that the fact must match, or an expression.
    pub(crate) pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Lists every turn in which a matching fact came (+) or went (-).
    #[arg(long)]
    all: bool,
    /// Finds the first change of an expression, at every turn.
    #[arg(long, conflicts_with = "all")]
    first: bool,
}

/// The changes.
pub(crate) enum Report {
    /// Those of facts that match.
    Facts(Facts),
    /// That of an expression.
    Expression(Expression),
}

/// The changes of facts that match.
pub(crate) struct Facts {
    place: Place,
    found: Vec<FactChange>,
    /// The names of the actors in whose turns they are.
    names: Vec<String>,
    notes: Vec<String>,
}

/// A change of an expression.
pub(crate) struct Expression {
    place: Place,
    text: String,
    is_first: bool,
    found: Option<value::ValueChange>,
    /// Its value at the last turn, if no change was found.
    unchanged: Option<Valued>,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// The changes of facts.
    Facts(Vec<Changed>),
    /// The change of an expression.
    Expression(ExpressionForm),
}

/// The change of an expression.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExpressionForm {
    expression: String,
    /// Whether every turn before it was looked at.
    is_first: bool,
    /// The change; null if none was found.
    change: Option<ValueForm>,
}

/// The values before and after a turn, as Scheme writes them.
#[derive(Serialize, JsonSchema)]
struct ValueForm {
    turn: u64,
    before: String,
    after: String,
}

/// A change of a fact.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Changed {
    turn: u64,
    /// The number of the actor whose turn it was.
    actor: u64,
    /// Its name.
    name: String,
    /// Whether the fact came; otherwise it went.
    came: bool,
    fact: Value,
}

/// Finds changes.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the journal or its index is damaged.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let asked = Asked::of(&look, &request.pattern, request.address.as_deref());
    if asked.what.trim_start().starts_with('(') {
        return expression(&look, asked, request.first);
    }
    let query = Query::read(asked.what)?;
    let place = asked.place(&look, "when")?;
    let sought = if request.all { Sought::All } else { Sought::First };
    let (found, notes) = look.changes(&place, &query, sought)?;
    let mut origins = Origins::of(place.source(look.store));
    let name = |change: &FactChange| {
        let role = origins.role(change.actor, change.sequence)?;
        Ok::<_, CommandError>(actor(change.actor, role.as_deref()))
    };
    let names = found.iter().map(name).collect::<Result<_, _>>()?;
    Ok(Report::Facts(Facts {
        found,
        names,
        notes,
        place,
    }))
}

fn expression(look: &ProjectReader<'_>, asked: Asked<'_>, is_first: bool) -> Result<Report, CommandError> {
    let text = asked.what;
    let place = asked.place(look, "when")?;
    let values = Values {
        look,
        place: &place,
        text,
    };
    let found = if is_first { values.first()? } else { values.bisect()? };
    let unchanged = if found.is_none() { values.newest()? } else { None };
    Ok(Report::Expression(Expression {
        text: text.to_owned(),
        is_first,
        found,
        unchanged,
        place,
    }))
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Facts(facts) => facts.json(),
            Self::Expression(expression) => as_json(&Form::Expression(expression.form())),
        }
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        match self {
            Self::Facts(facts) => facts.tell(view),
            Self::Expression(expression) => expression.tell(),
        }
    }
}

impl Expression {
    fn form(&self) -> ExpressionForm {
        ExpressionForm {
            expression: self.text.clone(),
            is_first: self.is_first,
            change: self.found.as_ref().map(|change| ValueForm {
                turn: change.at.number(),
                before: change.before.words(),
                after: change.after.words(),
            }),
        }
    }

    fn tell(&self) -> Told {
        let text = duet_drivers::text::line(&self.text);
        let name = self.place.name();
        let Some(change) = &self.found else {
            return self.tell_unchanged(&text);
        };
        let (before, after) = (change.before.words(), change.after.words());
        let line = |words: &str| duet_drivers::text::line(words).into_owned();
        Told::data(format!(
            "{} {text}: {} → {}\n",
            self.place.address(change.at),
            line(&before),
            line(&after)
        ))
        .say(say![Way::turn("show", &name, change.at), " shows the turn"])
    }

    /// Says that no change was found, and what the value is; one that fails may be misspelt.
    fn tell_unchanged(&self, text: &str) -> Told {
        let until = self.place.address(self.place.at());
        let value = match &self.unchanged {
            Some(value) => format!(": {}", duet_drivers::text::line(&value.words())),
            None => String::new(),
        };
        let mut told = if self.is_first {
            Told::data("").say(format!("{text} does not change up to {until}{value}"))
        } else {
            let name = self.place.name();
            Told::data("")
                .say(format!("{text} is the same at the first turn and at {until}{value}"))
                .say(say![
                    Way::at("when", &name).with(format!("{} --first", quoted(text))),
                    " looks at the turns between them",
                ])
        };
        told.code = ExitCode::FAILED;
        told
    }
}

impl Facts {
    fn json(&self) -> Value {
        let rows = self.found.iter().zip(&self.names).map(|(change, name)| Changed {
            turn: change.sequence.number(),
            actor: change.actor.0,
            name: name.clone(),
            came: change.came,
            fact: value_json::of(&change.fact.value()),
        });
        as_json(&Form::Facts(rows.collect()))
    }

    fn tell(&self, _view: &View) -> Told {
        let line = |(change, name): (&FactChange, &String)| {
            format!(
                "{} {name:<8} {} {}\n",
                self.place.address(change.sequence),
                if change.came { "+" } else { "-" },
                shown(&change.fact.value())
            )
        };
        let told = Told::data(self.found.iter().zip(&self.names).map(line).collect::<String>());
        let mut told = self.notes.iter().fold(told, |told, note| told.say(note));
        if self.found.is_empty() {
            let place = &self.place;
            told = told.say(format!("there was no such fact up to {}", place.address(place.at())));
            told.code = ExitCode::FAILED;
        }
        told
    }
}
