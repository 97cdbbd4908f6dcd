//! `duet attach`: shows what a run prints while another process executes it, and answers for the
//! person.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use duet_drivers::ask::Question;
use duet_journal::{Record, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Body;

use crate::history::following::Following;
use crate::history::journal::{Journal, Place};
use crate::history::turn;
use crate::owner::mail::{Delivery, MailArguments, Recipient};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::owner::owned_run::{compiled, is_approval};
use crate::owner::work::member::Member;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::standing::{Rest, RunStatus, Standings, deadline, until};

/// The time between two looks at a run that rests.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows what a run prints while another process executes it.
///
/// It begins with what the run has printed until now. It ends with the process that executes the
/// run; but while a worker takes the run, it says how long the run sleeps or what it waits for,
/// stays, and ends with the run. Ctrl-C ends only the look at it. It shows the open questions, each
/// with its number, its choices and the end of its time, and those that come. Each line that is
/// typed answers the oldest one; a line that begins with the number of a question answers that, and
/// only so something is approved. The exit code is that of the run, or 4 if it waits for a person.
///
///   duet run --detach review.scm
///   duet attach review
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the run or branch.
    address: Option<String>,
    /// Leaves out what was printed until now.
    #[arg(long)]
    new: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, arguments.address.as_deref())?;
    let mut following = if arguments.new {
        Following::after(&place, place.head.sequence)
    } else {
        Following::whole(&place)
    };
    let typed = typed_lines();
    let mut guest = Guest::of(&store, journal, &place);
    let mut pause = None;
    loop {
        let records = match following.next(&store)? {
            Some(records) => {
                pause = None;
                records
            }
            None => {
                // A process that has just begun with the run may end without a record.
                let known = pause.take().filter(|pause: &Pause| pause.rest.is_some());
                let mut known = known.map_or_else(|| Pause::of(&store, journal, &place), Ok)?;
                if !known.is_of_worker(&store, &place)? {
                    return Ok(known.end(&place, terminal));
                }
                known.rest(&place, journal.now_ms(), terminal);
                pause = Some(known);
                Vec::new()
            }
        };
        for record in &records {
            turn::show_printed(record, terminal)?;
            guest.is_behind |= asks(record)?;
        }
        guest.position = following.position();
        if guest.has_caught_up()? {
            guest.show_questions(terminal)?;
        }
        for line in typed.try_iter() {
            if let Err(refused) = guest.answer(line) {
                terminal.message(refused.first_line());
            }
        }
    }
}

/// Why no process executes the run.
struct Pause {
    /// How the run stands; `None` if another process has just begun with it.
    rest: Option<Rest>,
    /// What it waits for, and until when at most.
    words: String,
    until_ms: Option<u64>,
    is_told: bool,
}

impl Pause {
    fn of(store: &dyn Store, journal: &Journal, place: &Place) -> Result<Self, CommandError> {
        let mut standings = Standings::of(journal);
        let head = store.head(&place.run, &place.branch)?.unwrap_or(place.head.clone());
        let (found, _) = standings.found(store, &place.run, &head)?;
        Ok(Self {
            rest: match found.standing {
                RunStatus::Resting(rest) => Some(rest),
                RunStatus::Running(..) => None,
            },
            words: found.words,
            until_ms: found.until_ms,
            is_told: false,
        })
    }

    /// Whether a worker will go on with the run.
    fn is_of_worker(&self, store: &dyn Store, place: &Place) -> Result<bool, CommandError> {
        Ok(match self.rest {
            None => true,
            Some(Rest::Asking(_) | Rest::Waiting | Rest::Listening | Rest::Sleeping | Rest::Queued) => {
                Member::takes(store, &place.run)?
            }
            Some(Rest::Ended(_) | Rest::Reading | Rest::Stuck | Rest::Left | Rest::Broken) => false,
        })
    }

    /// Says once that the run rests, and waits a little.
    fn rest(&mut self, place: &Place, now_ms: u64, terminal: &mut Terminal) {
        if let (Some(rest), false) = (self.rest, std::mem::replace(&mut self.is_told, true)) {
            let words = self.what();
            let until = self.until_ms.map(|at_ms| format!(" {}", until(at_ms, now_ms)));
            let until = until.unwrap_or_default();
            terminal.message(format!("{} is {}{words}{until}", place.name(), rest.shown()));
        }
        #[expect(clippy::disallowed_methods, reason = "a person looks on; nothing enters a record")]
        std::thread::sleep(INTERVAL);
    }

    /// What the run waits for, behind a colon; an empty text if nothing is known.
    fn what(&self) -> String {
        match self.words.as_str() {
            "" => String::new(),
            words => format!(": {}", duet_drivers::text::line(words)),
        }
    }

    /// Says how the run stands for good.
    fn end(self, place: &Place, terminal: &mut Terminal) -> ExitCode {
        let Some(rest) = self.rest else { return ExitCode::OK };
        let name = place.name();
        let stands = format!("no process executes {name}: {}{}", rest.shown(), self.what());
        terminal.message(match rest {
            Rest::Asking(_) => say![stands, "; ", Way::at("answer", name).with("TEXT"), " answers"],
            Rest::Reading => say![
                stands,
                "; ",
                Way::at("resume", name),
                " goes on with it and reads there"
            ],
            Rest::Left => say![stands, "; ", Way::at("resume", name), " goes on with it"],
            Rest::Ended(code) if code != 0 => say![stands, "; ", Way::at("explain", name), " says why"],
            Rest::Stuck | Rest::Broken => say![stands, "; ", Way::at("explain", name), " says why"],
            Rest::Ended(_) | Rest::Waiting | Rest::Listening | Rest::Sleeping | Rest::Queued => stands.into(),
        });
        match rest {
            Rest::Ended(code) => ExitCode::of_run(code),
            Rest::Asking(_) | Rest::Waiting | Rest::Listening | Rest::Sleeping | Rest::Queued | Rest::Reading => {
                ExitCode::WAITING
            }
            Rest::Left => ExitCode::INTERRUPTED,
            Rest::Stuck | Rest::Broken => ExitCode::FAILED,
        }
    }
}

/// A person who looks on, and the questions that this person has seen.
struct Guest<'a> {
    store: &'a dyn Store,
    journal: &'a Journal,
    place: &'a Place,
    /// The number of the turn that is shown next.
    position: u64,
    /// Whether there may be questions that the person has not seen.
    is_behind: bool,
    seen: BTreeSet<RequestId>,
}

/// An open question.
struct Open {
    request: RequestId,
    is_approval: bool,
    /// The question with its choices.
    question: String,
    /// When it is withdrawn, in milliseconds since 1970.
    until_ms: Option<u64>,
}

impl<'a> Guest<'a> {
    fn of(store: &'a dyn Store, journal: &'a Journal, place: &'a Place) -> Self {
        Self {
            store,
            journal,
            place,
            position: 0,
            is_behind: true,
            seen: BTreeSet::new(),
        }
    }

    /// Whether there may be new questions, and the newest turn is shown: those that were answered
    /// since are nobody's any more.
    fn has_caught_up(&self) -> Result<bool, CommandError> {
        if !self.is_behind || self.position == 0 {
            return Ok(false);
        }
        let head = self.store.head(&self.place.run, &self.place.branch)?;
        Ok(head.is_some_and(|head| head.sequence.number() < self.position))
    }

    /// Shows the open questions that the person has not seen.
    fn show_questions(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        self.is_behind = false;
        for open in self.open()? {
            if self.seen.insert(open.request) {
                terminal.message(open.told(self.journal.now_ms()));
            }
        }
        Ok(())
    }

    /// Hands the answer in a line to whoever executes the run, or will.
    ///
    /// # Errors
    /// If it is refused, or nobody is there for it.
    fn answer(&self, line: String) -> Result<(), CommandError> {
        let (named, text) = answered(&self.open()?, line);
        let owner_request = OwnerRequest::Answer {
            named,
            text,
            fails: None,
        };
        let (journal, place) = (self.journal, self.place);
        let mut store = journal.open_to_write("attach")?;
        let mut recipient = Recipient {
            store: &mut *store,
            journal,
            place,
        };
        match recipient.hand_over(&owner_request, MailArguments::default())? {
            Delivery::Done(_) | Delivery::Left => Ok(()),
            Delivery::ToNobody => Err(CommandError::problem(format!("no process executes {}", place.name()))),
        }
    }

    /// The questions that are open at the newest turn that was shown, oldest first: the owner may
    /// ask another one when an answer comes.
    fn open(&self) -> Result<Vec<Open>, CommandError> {
        let shown = self
            .position
            .checked_sub(1)
            .and_then(|number| Sequence::new(number).ok());
        let place = Place {
            turn: shown,
            ..self.place.clone()
        };
        let run = compiled::sight(self.store, &place)?;
        let open = |(request, prompt)| Open {
            request,
            is_approval: is_approval(run.state(), request),
            question: Question::read(&prompt).shown().as_str().trim_end().to_owned(),
            until_ms: deadline::of_question(run.state(), request),
        };
        Ok(run.questions().into_iter().map(open).collect())
    }
}

impl Open {
    fn told(&self, now_ms: u64) -> String {
        let (number, question) = (self.request.0, &self.question);
        let until = self.until_ms.map(|at_ms| format!(" ({})", until(at_ms, now_ms)));
        let until = until.unwrap_or_default();
        if self.is_approval {
            format!("approval {number}: {question}{until}\n`{number} yes` approves it, `{number} no` does not")
        } else {
            format!(
                "question {number}: {question}{until}\na line that is typed answers the oldest question, \
                 `{number} TEXT` this one"
            )
        }
    }
}

/// Whether a turn asks a person something.
fn asks(record: &Record) -> Result<bool, CommandError> {
    let Body::Turn(turn) = turn::body(record)? else {
        return Ok(false);
    };
    let is_question = |action: &Action| matches!(action, Action::AskUser(_) | Action::Propose(_));
    Ok(turn.actions.iter().any(is_question))
}

/// The question that a line answers, whose first word may be its number, and the answer. Only by
/// its number is something approved.
fn answered(open: &[Open], line: String) -> (Option<String>, String) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
    let number = word.parse::<u64>().ok();
    if let Some(named) = open.iter().find(|open| Some(open.request.0) == number) {
        return (Some(named.request.0.to_string()), rest.trim_start().to_owned());
    }
    let oldest = open.iter().find(|open| !open.is_approval);
    (oldest.map(|open| open.request.0.to_string()), line)
}

/// The lines of standard input as they are typed.
#[expect(clippy::disallowed_methods, reason = "reading waits, and the run is shown meanwhile")]
fn typed_lines() -> Receiver<String> {
    let (lines, typed) = channel();
    // It ends with the process.
    std::thread::spawn(move || {
        let typed = io::stdin().lines().map_while(Result::ok);
        typed.map(|line| lines.send(line)).take_while(Result::is_ok).count()
    });
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_answers_the_oldest_question_or_the_one_that_it_names() {
        let open = [(3, true), (5, false), (8, false)].map(|(number, is_approval)| Open {
            request: RequestId(number),
            is_approval,
            question: String::new(),
            until_ms: None,
        });
        for (line, named, text) in [
            ("Ada", Some("5"), "Ada"),
            ("yes", Some("5"), "yes"),
            ("3 yes", Some("3"), "yes"),
            ("8 a line", Some("8"), "a line"),
            ("7 up", Some("5"), "7 up"),
        ] {
            let found = answered(&open, line.to_owned());
            assert_eq!((found.0.as_deref(), &*found.1), (named, text), "{line}");
        }
        assert_eq!(answered(&open[..1], "yes".to_owned()), (None, "yes".to_owned()));
    }
}
