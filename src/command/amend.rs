//! `duet amend`: a branch on which the world said something else.

use duet_drivers::ask::Question;
use duet_journal::{BranchName, Sequence, Store};
use duet_runtime::driver::{EffectKind, Input};
use duet_runtime::history::input::{Recorded, What, answer, recorded};
use duet_runtime::model::codec::is_labelled;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::heads::move_head;
use duet_runtime::run::source::Source;
use preserves::IOValue;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{self, Journal, Place, owner};
use crate::outfit::Outfit;
use crate::query::read_value;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The turn must be one in which the world said something. A new branch begins right before it, is told INPUT instead, and goes on
from there; the branch addressed stays as it is. INPUT is text for a question or for reading, the text to evaluate, and for a
tool its result as a value in Preserves text, or `<tool-failed KIND MESSAGE []>`.

  --branch NAME    what the new branch is called; otherwise it is named for the branch and the turn, such as main-3

    duet amend review@7 no --branch refused
    duet amend review@3 '{content: \"other text\", next: #f, size_bytes: 10}'";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let text = arguments.word(1).unwrap_or_default();
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("amend")?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let Some(turn) = place.turn else {
        return Err(Failure::usage("the input of which turn?").advise(format!("`duet amend {}@N INPUT`", place.name())));
    };
    let source = Source {
        store: &store,
        run: &place.run,
        branch: &place.branch,
    };
    let said = recorded(&source, (turn, turn))?.into_iter().next();
    let (Some(said), Some(before)) = (
        said,
        turn.number()
            .checked_sub(1)
            .and_then(|before| Sequence::new(before).ok()),
    ) else {
        return Err(
            Failure::problem(format!("the world said nothing in {}", place.address(turn)))
                .advise(format!("`duet log {}` shows which turns had an input", place.name())),
        );
    };
    let input = changed(&said, text)?;
    let branch = new_branch(&store, &place, turn, arguments.one("branch"))?;
    let owner = owner("amend");
    move_head(&mut store, (&place.run, &place.branch, &owner), before, Some(&branch))?;
    let address = format!("{}/{branch}", place.run);
    terminal.message(&format!(
        "{address} begins at {} and is told something else",
        place.address(before)
    ));
    let place = journal.resolve(&store, Some(&address))?;
    let mut session = Session::resume(&place, (&mut store, journal.path()), Outfit::default(), "amend")?;
    session.parts().0.deliver_first(input);
    journal.set_current(&place.run, &place.branch);
    session.drive(&mut store, true, terminal)
}

/// Makes the input that says `text` where the world said something else.
fn changed(said: &Recorded, text: &str) -> Result<Input, Failure> {
    let (request, question) = match &said.what {
        What::Answer { request, question, .. } => (*request, question),
        What::Unasked(Input::Evaluate { sources, .. }) => {
            return Ok(Input::Evaluate {
                text: text.to_owned(),
                sources: sources.clone(),
            });
        }
        What::Unasked(_) => {
            return Err(Failure::problem(format!(
                "what the world said in turn {} has no other form",
                said.turn
            )));
        }
    };
    let outcome = outcome(question, text)?;
    let unfit = || Failure::usage(format!("`{text}` is nothing that turn {} could be told", said.turn));
    answer(RequestId(request.0), question, &outcome).ok_or_else(unfit)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is answered")]
fn outcome(question: &EffectKind, text: &str) -> Result<Result<IOValue, IOValue>, Failure> {
    match question {
        EffectKind::Ask { prompt } => {
            let value = Question::read(prompt)
                .answer(text)
                .map_err(|error| Failure::usage(error.to_string()))?;
            Ok(Ok(value))
        }
        EffectKind::Read { .. } => Ok(Ok(IOValue::bytes(text.as_bytes().to_vec()))),
        _ => {
            let value = read_value(text)?;
            Ok(if is_labelled(&value, "tool-failed") {
                Err(value)
            } else {
                Ok(value)
            })
        }
    }
}

fn new_branch(store: &dyn Store, place: &Place, turn: Sequence, name: Option<&str>) -> Result<BranchName, Failure> {
    let heads = store.heads(&place.run)?;
    let is_free = |name: &BranchName| heads.iter().all(|head| head.branch != *name);
    let wrong = |name: &str, error: &dyn std::fmt::Display| {
        Failure::usage(format!("`{name}` cannot be a branch's name: {error}"))
    };
    if let Some(name) = name {
        let branch = BranchName::new(name).map_err(|error| wrong(name, &error))?;
        return if is_free(&branch) {
            Ok(branch)
        } else {
            Err(
                Failure::usage(format!("{} has a branch {branch} already", place.run)).advise(format!(
                    "`duet branches {}` lists them",
                    journal::name(&place.run, &branch)
                )),
            )
        };
    }
    let first = format!("{}-{turn}", place.branch);
    for number in 1_u64.. {
        let name = if number == 1 {
            first.clone()
        } else {
            format!("{first}-{number}")
        };
        let branch = BranchName::new(name.as_str())
            .map_err(|error| wrong(&name, &error).advise("name it with `--branch NAME`"))?;
        if is_free(&branch) {
            return Ok(branch);
        }
    }
    Err(Failure::problem("the run has every branch already"))
}
