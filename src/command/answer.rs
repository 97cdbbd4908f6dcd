//! `duet answer`: answers an open question of a waiting run and continues the run.

use crate::command::resume::ended;
use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::session::Session;
use crate::session::serve::Wish;
use crate::terminal::Terminal;
use crate::world_options::GoOnArguments;

/// Answers an open question of a waiting run and continues it.
///
/// The answer goes to the oldest open question, or to the one that is named by its number, its tag,
/// or its name in the fact that shows it; `duet waits` lists the open ones. What asks for approval
/// has to be named. If the question has choices, the answer must be one of them or the beginning of
/// one. The run then continues, as with `duet resume`; if another process executes it, that one
/// gets the answer and goes on. Nothing happens if no such question is open. An answer that comes
/// after the deadline of a timer comes after the timer, also if no process executed the run then: a
/// question that has timed out takes none.
///
///   duet answer review Ada
///   duet answer review 12 yes
///
/// With `--fail KIND`, the question fails: the program raises a condition of this kind where it
/// waits, and the text is its message.
///
///   duet answer review --fail unavailable "nobody is in the office"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
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
    go_on: GoOnArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let (named, text) = match &arguments.words[..] {
        [named, text] => (Some(named.as_str()), text),
        [text] => (None, text),
        _ => return Err(CommandError::usage("the answer is missing")),
    };
    let options = arguments.go_on.read()?;
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("answer")?;
    let place = journal.resolve(&store, Some(&arguments.address))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(CommandError::usage(format!(
            "only the newest turn of {name} can be answered, not turn {turn}"
        ))
        .advise(format!("`duet goto {}` goes back there first", place.address(turn))));
    }
    let wish = Wish::Answer {
        named: named.map(str::to_owned),
        text: text.clone(),
        fails: arguments.fail.clone(),
    };
    if doors::hand_over((&store, journal), &place, &wish.encode())?.is_some() {
        if let Some(given) = arguments.go_on.given() {
            terminal.message(format!(
                "warning: the process that executes the run goes on as it began, without the {given}"
            ));
        }
        terminal.message(format!("answered; the process that executes {name} goes on with it"));
        return Ok(ExitCode::OK);
    }
    let mut session = Session::resume(&place, (&mut store, journal.path()), options, "answer")?;
    session.tell_unshown(&store, terminal)?;
    let was_open = session.question(named).is_some();
    session.catch_up(&mut store)?;
    if was_open && session.question(named).is_none() {
        terminal.message(format!("{name} takes no answer any more: the time for it has run out"));
        let code = session.drive(&mut store, true, terminal)?;
        return Ok(if code == ExitCode::OK { ExitCode::FAILED } else { code });
    }
    if let Some(code) = session.exit() {
        terminal.message(ended(&place, code));
        return Ok(ExitCode::FAILED);
    }
    match session.question(named) {
        None => return Err(no_question(&name, named, &session)),
        Some((request, prompt)) => match &arguments.fail {
            Some(kind) => session.fail_question(request, kind, text)?,
            None => session.answer(request, &prompt, text)?,
        },
    }
    session.tell_changed_texts(terminal);
    if arguments.again {
        session.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    session.drive(&mut store, true, terminal)
}

/// The error that no question, or not the named one, is open.
fn no_question(run: &str, named: Option<&str>, session: &Session) -> CommandError {
    let at = session.head();
    let mut open = session.open_questions().into_iter();
    if let (None, Some((request, _))) = (named, open.find(|(request, _)| session.is_approval(*request))) {
        let number = request.0;
        return CommandError::problem(format!("{run} waits for an approval, which has to be named"))
            .advise(format!("`duet waits {run}` shows what it wants to do"))
            .advise(format!(
                "`duet answer {run} {number} yes` approves it, `duet answer {run} {number} no` does not"
            ));
    }
    let what = match named {
        None => format!("{run} asks nothing at turn {at}"),
        Some(named) => format!("{run} has no open question `{named}` at turn {at}"),
    };
    CommandError::problem(what).advise(format!(
        "`duet waits {run}` lists what it waits for; `duet resume {run}` goes on"
    ))
}
