//! `duet answer`: answers an open question of a waiting run and continues the run.

use duet_journal::Store;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::questions::OpenQuestion;
use serde::{Deserialize, Serialize};

use crate::history::journal::Place;
use crate::owner::mail::{Delivery, MailArguments};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::owner::owned_run::{self, OwnedRun, RunView};
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::verb::act::resume::ended;
use crate::verb::project::Project;
use crate::world::world_options::{GoOnArguments, WorldArguments};

pub(crate) use crate::text::view::Driven as Report;

/// Answers an open question of a waiting run and continues it.
///
/// The answer goes to the oldest open question, or to the one that is named by its number, its tag,
/// or its name in the fact that shows it; `duet waits` lists the open ones. What asks for approval
/// has to be named. If the question has choices, the answer must be one of them or the beginning of
/// one. The run then continues, as with `duet resume`; if another process executes it, that one
/// gets the answer and goes on; if that is on another host, or workers (`duet work`) take such
/// runs, by way of the run's inbox. Nothing happens if no such question is open. An answer that
/// comes after the deadline of a timer comes after the timer, also if no process executed the run
/// then: a question that has timed out takes none.
///
///   duet answer review Ada
///   duet answer review 12 yes
///
/// With `--fail KIND`, the question fails: the program raises a condition of this kind where it
/// waits, and the text is its message.
///
///   duet answer review --fail unavailable "nobody is in the office"
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the waiting run or branch.
    address: String,
    /// The answer; before it, if several questions are open, the number or the tag of one.
    #[arg(value_name = "WORD", num_args = 1..=2, required = true, allow_negative_numbers = true)]
    words: Vec<String>,
    /// Fails the question with a condition of this kind; the text is its message.
    #[arg(long, value_name = "KIND")]
    fail: Option<String>,
    /// Makes calls again that the run made before it was taken back.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    #[serde(flatten)]
    mail: MailArguments,
    #[command(flatten)]
    #[serde(flatten)]
    go_on: GoOnArguments,
}

impl Request {
    /// The request of a client, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &WorldArguments) -> Result<Self, String> {
        let go_on = self.go_on.within(granted)?;
        Ok(Self { go_on, ..self })
    }
}

/// Answers a question and goes on.
///
/// # Errors
/// If no such question is open, or the answer is none of its choices.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let (named, text) = match &request.words[..] {
        [named, text] => (Some(named.as_str()), text),
        [text] => (None, text),
        _ => return Err(CommandError::usage("the answer is missing")),
    };
    let options = request.go_on.read()?;
    let mut store = project.change("answer")?;
    let place = project.journal().resolve(&*store, Some(&request.address))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(CommandError::usage(format!(
            "only the newest turn of {name} can be answered, not turn {turn}"
        ))
        .advise(say![Way::turn("goto", name, turn), " goes back there first"]));
    }
    let how = request.mail;
    let read = match named {
        None if project.recipient(&mut *store, &place).is_elsewhere(how)? => {
            read_question(&*store, &place, None)?.map(|request| request.0.to_string())
        }
        _ => None,
    };
    let owner_request = OwnerRequest::Answer {
        named: named.map(str::to_owned).or(read),
        text: text.clone(),
        fails: request.fail.clone(),
    };
    let delivery = project.send(&mut *store, &place, &owner_request, how)?;
    if !matches!(delivery, Delivery::ToNobody) {
        tell_handed_over(project, request, &name, &delivery)?;
        return Ok(ExitCode::OK.into());
    }
    let mut owned = project.resume(&place, &mut *store, options, "answer")?;
    owned.tell_unshown(&*store, project.stage()?)?;
    let question = find(&mut owned, &mut *store, &place, named)?;
    if let Sought::Gone(why) = question {
        let late = format!("{name} takes no answer any more: {why}");
        project.stage()?.message(late);
        let code = owned.drive(&mut *store, true, project.stage()?)?;
        let code = if code == ExitCode::OK { ExitCode::FAILED } else { code };
        return Ok(code.into());
    }
    if let Some(code) = owned.exit() {
        project.stage()?.message(ended(&place, code));
        return Ok(ExitCode::FAILED.into());
    }
    let Sought::Open(question) = question else {
        return Err(no_question(&name, named, &owned));
    };
    match &request.fail {
        Some(kind) => owned.fail_question(question.request, kind, text)?,
        None => owned.answer(&question, text)?,
    }
    owned.tell_code(project.stage()?);
    if request.again {
        owned.call_again();
    }
    project.set_current(&place);
    Ok(owned.drive(&mut *store, true, project.stage()?)?.into())
}

/// Says that somebody else has the answer, or will have it.
fn tell_handed_over(
    project: &mut Project,
    request: &Request,
    name: &str,
    delivery: &Delivery,
) -> Result<(), CommandError> {
    let stage = project.stage()?;
    if let Delivery::Left = delivery {
        let left = format!("the answer is in the inbox of {name}, for whoever executes it next");
        stage.message(left);
        return Ok(());
    }
    if let Some(given) = request.go_on.given() {
        stage.message(format!(
            "warning: the process that executes the run goes on as it began, without the {given}"
        ));
    }
    stage.message(format!("answered; the process that executes {name} goes on with it"));
    Ok(())
}

/// The question that an answer is for.
enum Sought {
    Open(OpenQuestion),
    /// There is none of this name.
    Unknown,
    /// It was open when the person read it, and takes no answer any more, for this reason.
    Gone(&'static str),
}

/// Finds the question that the person has read, after what came before the answer: another one may
/// have taken its place.
///
/// # Errors
/// If the journal fails, or the run was taken back meanwhile.
fn find(
    owned: &mut OwnedRun,
    store: &mut dyn Store,
    place: &Place,
    named: Option<&str>,
) -> Result<Sought, CommandError> {
    let is_moved = !owned.stands_at(place);
    let meant = if is_moved {
        read_question(store, place, named)?
    } else {
        owned.view().question(named).map(|question| question.request)
    };
    owned.come_to_input(store)?;
    let Some(meant) = meant else {
        return Ok(owned.view().question(named).map_or(Sought::Unknown, Sought::Open));
    };
    let mut open = owned.view().open_questions().into_iter();
    Ok(match open.find(|open| open.request == meant) {
        Some(question) => Sought::Open(question),
        None if is_moved => Sought::Gone("somebody else has answered the question, or taken the run back"),
        None => Sought::Gone("the time for it has run out"),
    })
}

/// The question that the person has read: the named or the oldest one that is open at the turn at
/// which the command found the run. Whoever executes it may ask another one when the answer comes.
///
/// # Errors
/// If the journal cannot be read, or the run was taken back to before that turn.
fn read_question(store: &dyn Store, place: &Place, named: Option<&str>) -> Result<Option<RequestId>, CommandError> {
    let run = owned_run::restore(store, &place.at_turn(place.head.sequence))?;
    Ok(RunView::of(&run).question(named).map(|question| question.request))
}

/// The error that no question, or not the named one, is open.
fn no_question(run: &str, named: Option<&str>, owned: &OwnedRun) -> CommandError {
    let at = owned.head();
    let mut open = owned.view().open_questions().into_iter();
    if let (None, Some(question)) = (named, open.find(|open| owned.view().is_approval(open.request))) {
        let number = question.request.0;
        let answer = |text: &str| Way::at("answer", run).with(format!("{number} {text}"));
        return CommandError::problem(format!("{run} waits for an approval, which has to be named"))
            .advise(say![Way::at("waits", run), " shows what it wants to do"])
            .advise(say![answer("yes"), " approves it, ", answer("no"), " does not"]);
    }
    let what = match named {
        None => format!("{run} asks nothing at turn {at}"),
        Some(named) => format!("{run} has no open question `{named}` at turn {at}"),
    };
    CommandError::problem(what).advise(say![
        Way::at("waits", run),
        " lists what it waits for; ",
        Way::at("resume", run),
        " goes on",
    ])
}
