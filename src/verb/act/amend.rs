//! `duet amend`: begins a branch with another input in one turn.

use std::path::Path;

use duet_drivers::ask::Question;
use duet_journal::{BranchName, Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::{EffectKind, Input};
use duet_runtime::history::input::{self, Recorded, RecordedInput, What, answer, recorded};
use duet_runtime::model::codec::is_labelled;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Outcome;
use duet_runtime::run::heads::move_head;
use duet_runtime::run::source::BranchClaim;
use duet_runtime::scheme::SchemePrograms;
use preserves::{IOValue, Map, Value, ValueImpl};
use serde::{Deserialize, Serialize};

use crate::history::journal::{self, Journal, Place};
use crate::history::records::turns;
use crate::owner::doors;
use crate::owner::owned_run::compiled;
use crate::settings::editing::edit;
use crate::text::error::{CommandError, ExitCode};
use crate::text::query::read_told;
use crate::text::render::{self, SourceTexts};
use crate::text::saying::{Way, say};
use crate::text::value_text::shown;
use crate::verb::project::Project;
use crate::world::world_options::{GoOnArguments, WorldArguments, WorldOptions};

pub(crate) use crate::text::view::Driven as Report;

/// The tool whose results are replies of models.
const MODEL: &str = "model/chat";

/// What a reply of a model looks like.
const REPLY: &str = "a model replies with a dictionary such as `{content: \"text\"}`; `--editor` opens the text alone";

/// Begins a branch with another input in one turn.
///
/// The turn must be one with an input from outside. A new branch begins right before it, receives
/// INPUT instead, and continues from there; the addressed branch does not change. INPUT is the text
/// of an answer, of a line that is read, or of an expression to evaluate. For a tool it is the
/// result as a value in Preserves text, or `<tool-failed KIND MESSAGE []>`; the result of a model
/// is a dictionary such as `{content: "text"}`.
///
/// With `--editor` the recorded input is opened in the editor that the variables VISUAL or EDITOR
/// name: of a model's reply the text that the model said, of another tool's result the value. The
/// branch begins when the editor is closed.
///
///   duet amend review@7 no --branch refused
///   duet amend review@9 --editor --approve process/run
///   duet amend review@3 '{content: "other text", next: #f, size_bytes: 10}'
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the turn.
    address: String,
    /// The other input.
    #[arg(allow_negative_numbers = true, required_unless_present = "editor")]
    input: Option<String>,
    /// Opens the recorded input in an editor.
    #[arg(long, conflicts_with = "input")]
    editor: bool,
    /// Names the new branch; without it the name is that of the branch with the turn, as in main-3.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Whether an approval stays as it is.
    #[arg(skip)]
    not_approvals: bool,
    #[command(flatten)]
    #[serde(flatten)]
    go_on: GoOnArguments,
}

impl Request {
    /// Another input in a turn.
    pub(crate) fn of(address: String, input: String) -> Self {
        Self {
            address,
            input: Some(input),
            ..Self::default()
        }
    }

    /// The request of a client, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &WorldArguments) -> Result<Self, String> {
        Ok(Self {
            not_approvals: true,
            ..self.of_person(granted)?
        })
    }

    /// The request of the person who runs a server.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn of_person(self, granted: &WorldArguments) -> Result<Self, String> {
        Ok(Self {
            go_on: self.go_on.within(granted)?,
            ..self
        })
    }

    /// The request with a name for the branch.
    pub(crate) fn on(self, branch: Option<String>) -> Self {
        Self { branch, ..self }
    }
}

/// Begins a branch with another input, and goes on with it.
///
/// # Errors
/// If the turn has no input, or the other one does not fit.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let options = WorldOptions {
        screen: project.stage()?.screen.clone(),
        ..request.go_on.read()?
    };
    let mut store = project.change("amend")?;
    let place = project.journal().resolve_turn(&*store, Some(&request.address))?;
    let Some(turn) = place.turn else {
        return Err(
            CommandError::usage("the input of which turn?").advise(Way::turn("amend", place.name(), "N").with("INPUT"))
        );
    };
    let source = place.source(&*store);
    let said = recorded(&source, turn, turn)?.into_iter().next();
    let before = turn.number().checked_sub(1);
    let (Some(said), Some(before)) = (said, before.and_then(|before| Sequence::new(before).ok())) else {
        return Err(CommandError::problem(format!("{} has no input", place.address(turn)))
            .advise(say![Way::at("log", place.name()), " shows which turns had an input"]));
    };
    if request.not_approvals && is_approval(&said) {
        return Err(CommandError::problem(format!(
            "the input of {} is an approval, which only the person changes",
            place.address(turn)
        )));
    }
    let input = match request.input.as_deref() {
        Some(text) => Some(fitting(&said, text)?),
        None => edited(&said, &place, project)?,
    };
    let Some(input) = input else {
        return Ok(ExitCode::OK.into());
    };
    project.take_from_worker(&mut *store, &place)?;
    let branch = new_branch(&*store, &place, turn, request.branch.as_deref())?;
    let owner = doors::successor(&*store, &place.run, "amend")?;
    move_head(
        &mut *store,
        BranchClaim::new(&place.run, &place.branch, &owner),
        before,
        Some(&branch),
    )?;
    let address = format!("{}/{branch}", place.run);
    let begins = format!("{address} begins at {} with another input", place.address(before));
    project.stage()?.message(begins);
    tell_left_behind(&*store, &place, turn, &address, project)?;
    let place = project.journal().resolve(&*store, Some(&address))?;
    let mut owned = project.resume(&place, &mut *store, options, "amend")?;
    owned.leave_when_interrupted();
    owned.take_in_time(input)?;
    project.set_current(&place);
    let code = owned.drive(&mut *store, true, project.stage()?)?;
    let has_failed = code == ExitCode::OK && tell_failed(&*store, before, &address, project)?;
    Ok(if has_failed { ExitCode::FAILED } else { code }.into())
}

/// Names the way to deliver again the inputs after the amended turn that no request asked for, such
/// as typed texts.
fn tell_left_behind(
    store: &dyn Store,
    place: &Place,
    turn: Sequence,
    branch: &str,
    project: &mut Project,
) -> Result<(), CommandError> {
    let last = place.head.sequence;
    let Some(first) = turn.next().filter(|first| *first <= last) else {
        return Ok(());
    };
    for turn in turns(place.source(store), first..=last) {
        let inputs = input::said(&turn?);
        if inputs.iter().any(|said| matches!(said, RecordedInput::Unasked(_))) {
            let from = format!("{}/{}", place.run, place.branch);
            let way = Way::turn("pick", from, format!("{first}..{last}")).with(format!("--onto {branch}"));
            project
                .stage()?
                .message(say![way, " delivers the inputs that came after it here, too"]);
            // One is enough: the rest of a long run is not read.
            break;
        }
    }
    Ok(())
}

/// Shows the failures of the main program after a turn, which did not end the run: those of texts
/// that were typed. Returns whether there are any.
fn tell_failed(
    store: &dyn Store,
    before: Sequence,
    address: &str,
    project: &mut Project,
) -> Result<bool, CommandError> {
    let place = project.journal().resolve(store, Some(address))?;
    let (mut failed, mut at) = (Vec::new(), before);
    let first = before.next().unwrap_or(before);
    for turn in turns(place.source(store), first..=place.at()) {
        at = at.next().unwrap_or(at);
        let turn = turn?;
        if let (MAIN, Outcome::Failed { failure }) = (turn.actor, turn.outcome) {
            failed.push((at, failure));
        }
    }
    if failed.is_empty() {
        return Ok(false);
    }
    let run = compiled::sight(store, &place)?;
    let texts = SourceTexts::of(run.programs::<SchemePrograms>().expander());
    let terminal = project.stage()?;
    for (at, failure) in failed {
        let way = Way::turn("show", address, at);
        let way = say![way, " shows the turn that failed; it left no other trace"].spelled(terminal.speaker);
        let way = way.as_str().to_owned();
        terminal.message(render::uncaught(&failure, &texts, &[way], terminal.is_styled));
    }
    Ok(true)
}

fn is_approval(said: &Recorded) -> bool {
    matches!(&said.what, What::Answer { question: EffectKind::Ask { approves, .. }, .. } if !approves.is_empty())
}

/// Makes an input with `text` in place of a recorded one, and checks it.
fn fitting(said: &Recorded, text: &str) -> Result<Input, CommandError> {
    let input = changed(said, text)?;
    check_result(said, &input)?;
    Ok(input)
}

/// Lets the person edit a recorded input; nothing if it stays as it is.
fn edited(said: &Recorded, place: &Place, project: &mut Project) -> Result<Option<Input>, CommandError> {
    let before = editable(said)?;
    let file = format!(".amend-{}-{}-{}.{}", place.run, place.branch, said.turn, before.ending);
    let edited = edit(&before.text, project.journal().beside(&file))?;
    let after = edited.text.trim_end_matches('\n');
    if after == before.text.trim_end_matches('\n') {
        edited.done();
        let stage = project.stage()?;
        stage.message("the text is as it was, so no branch begins");
        return Ok(None);
    }
    let input = fitting(said, &before.with(after)).map_err(|error| edited.kept(error))?;
    edited.done();
    Ok(Some(input))
}

/// A recorded input as a text.
pub(crate) struct Editable {
    pub(crate) text: String,
    /// The ending of the name of a file with it.
    ending: &'static str,
    /// The reply of a model, if the text is its content.
    reply: Option<IOValue>,
}

impl Editable {
    /// The input with another text.
    fn with(&self, text: &str) -> String {
        match &self.reply {
            None => text.to_owned(),
            Some(reply) => shown(&with_content(reply, text)),
        }
    }
}

/// The input of a turn as a text; nothing if the turn has none that can be changed.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn input_at(store: &dyn Store, place: &Place) -> Result<Option<Editable>, CommandError> {
    let at = place.at();
    let said = recorded(&place.source(store), at, at)?.into_iter().next();
    Ok(said.and_then(|said| editable(&said).ok()))
}

/// The input of `duet amend` by which the input of a turn gets another text.
///
/// # Errors
/// If the turn has no input that can be changed.
pub(crate) fn input_of(journal: &Journal, address: &str, text: &str) -> Result<String, CommandError> {
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, Some(address))?;
    let input = input_at(&store, &place)?;
    let none = || {
        CommandError::problem(format!(
            "{} has no input that can be changed",
            place.address(place.at())
        ))
    };
    Ok(input.ok_or_else(none)?.with(text))
}

fn editable(said: &Recorded) -> Result<Editable, CommandError> {
    let plain = |text: String| Editable {
        text,
        ending: "txt",
        reply: None,
    };
    let (question, outcome) = match &said.what {
        What::Unasked(Input::Evaluate { text, .. }) => return Ok(plain(text.clone())),
        What::Unasked(_) => return Err(unchangeable(said)),
        What::Answer { question, outcome, .. } => (question, outcome),
    };
    let value = outcome.as_ref().unwrap_or_else(|failure| failure);
    let text = value.as_string().map(std::borrow::Cow::into_owned);
    Ok(match (question, outcome) {
        (EffectKind::Ask { .. }, _) => plain(text.unwrap_or_else(|| word_of(value))),
        (EffectKind::Read { .. }, _) => {
            let bytes = value.as_bytestring().unwrap_or_default();
            plain(String::from_utf8_lossy(&bytes).into_owned())
        }
        (EffectKind::Tool { name, .. }, Ok(reply)) if name == MODEL && content(reply).is_some() => Editable {
            reply: Some(reply.clone()),
            ..plain(content(reply).unwrap_or_default())
        },
        _ => Editable {
            ending: "pr",
            ..plain(shown(value))
        },
    })
}

/// The word with which a person chooses a value.
fn word_of(value: &IOValue) -> String {
    match value.as_boolean() {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => shown(value),
    }
}

/// What a model said, if it said something and wants no tools.
fn content(reply: &IOValue) -> Option<String> {
    let member = |name: &'static str| reply.get(&IOValue::symbol(name).into()).map(IOValue::from);
    let has_calls = member("tool_calls").is_some_and(|calls| calls.len() > 0);
    let said = member("content")?.as_string()?.into_owned();
    (!said.is_empty() && !has_calls).then_some(said)
}

fn with_content(reply: &IOValue, said: &str) -> IOValue {
    let members = reply.entries().map(|(key, member)| {
        let is_content = key.as_symbol().is_some_and(|name| name == "content");
        let member = if is_content {
            IOValue::new(said.to_owned())
        } else {
            member.into()
        };
        (key, member)
    });
    IOValue::new(members.collect::<Map<Value<IOValue>, IOValue>>())
}

fn unchangeable(said: &Recorded) -> CommandError {
    CommandError::problem(format!("the input of turn {} cannot be changed", said.turn))
}

/// Makes an input with `text` in place of a recorded one.
fn changed(said: &Recorded, text: &str) -> Result<Input, CommandError> {
    let (request, question) = match &said.what {
        What::Answer { request, question, .. } => (*request, question),
        What::Unasked(Input::Evaluate { sources, .. }) => {
            return Ok(Input::Evaluate {
                text: text.to_owned(),
                sources: sources.clone(),
            });
        }
        What::Unasked(_) => return Err(unchangeable(said)),
    };
    let outcome = outcome(question, text)?;
    let unfit = || CommandError::usage(format!("`{text}` is no input for turn {}", said.turn));
    answer(RequestId(request.0), question, &outcome).ok_or_else(unfit)
}

/// Checks that a result is one that the tool could have returned, or a failure in its form. If not
/// even the recorded result is, a double stood in for the tool, and nothing is known of results.
///
/// # Errors
/// What the shape of the tool's results forbids.
fn check_result(said: &Recorded, input: &Input) -> Result<(), CommandError> {
    let What::Answer {
        question: EffectKind::Tool { name, .. },
        outcome: recorded,
        ..
    } = &said.what
    else {
        return Ok(());
    };
    let Input::ToolResult { outcome: Ok(value), .. } = input else {
        return Ok(());
    };
    let tools = WorldOptions::default().tools(Path::new("."))?;
    let Ok(tool) = tools.find(name) else { return Ok(()) };
    let shape = &tool.description().returns;
    let is_known = recorded.as_ref().map_or(true, |recorded| shape.check(recorded).is_ok());
    match shape.check(value) {
        Err(complaint) if is_known => Err(CommandError::usage(format!("{name} cannot return this: {complaint}"))
            .advise(format!("`{name}` returns {}", tool.description().result))
            .advise("`<tool-failed KIND MESSAGE []>` stands for a failure")),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is answered")]
fn outcome(question: &EffectKind, text: &str) -> Result<Result<IOValue, IOValue>, CommandError> {
    match question {
        EffectKind::Ask { prompt, .. } => {
            let value = Question::read(prompt)
                .answer(text)
                .map_err(|error| CommandError::usage(error.to_string()))?;
            Ok(Ok(value))
        }
        EffectKind::Read { .. } => Ok(Ok(IOValue::bytes(text.as_bytes().to_vec()))),
        _ => {
            let of_model = matches!(question, EffectKind::Tool { name, .. } if name == MODEL);
            let advised = |error: CommandError| if of_model { error.advise(REPLY) } else { error };
            let value = read_told(text).map_err(advised)?;
            if is_labelled(&value, "tool-failed") {
                return Ok(Err(value));
            }
            if of_model && !is_reply(&value) {
                return Err(advised(CommandError::usage(format!("`{text}` is no reply of a model"))));
            }
            Ok(Ok(value))
        }
    }
}

/// Whether a value says something as a model does; all else of a reply can be absent.
fn is_reply(value: &IOValue) -> bool {
    let has = |member: &'static str| value.get(&IOValue::symbol(member).into()).is_some();
    has("content") || has("tool_calls") || has("stop")
}

fn new_branch(
    store: &dyn Store,
    place: &Place,
    turn: Sequence,
    name: Option<&str>,
) -> Result<BranchName, CommandError> {
    let heads = store.heads(&place.run)?;
    let is_free = |name: &BranchName| heads.iter().all(|head| head.branch != *name);
    let wrong = |name: &str, error: &dyn std::fmt::Display| {
        CommandError::usage(format!("`{name}` cannot be a branch's name: {error}"))
    };
    if let Some(name) = name {
        let branch = BranchName::new(name).map_err(|error| wrong(name, &error))?;
        return if is_free(&branch) {
            Ok(branch)
        } else {
            Err(
                CommandError::usage(format!("{} has a branch {branch} already", place.run)).advise(say![
                    Way::at("branches", journal::name(&place.run, &branch)),
                    " lists them",
                ]),
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
    Err(CommandError::problem("the run has every branch already"))
}
