//! `duet attach`: shows what a run prints while another process executes it, and answers for the
//! person.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, channel};

use duet_drivers::ask::Question;
use duet_journal::{Record, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Body;

use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::following::Following;
use crate::journal::{Journal, Place};
use crate::owned_run::serve::OwnerRequest;
use crate::owned_run::{compiled, is_approval};
use crate::saying::{Way, say};
use crate::standing::{Rest, RunStatus, Standings, deadline, until};
use crate::terminal::Terminal;
use crate::turn;

/// Shows what a run prints while another process executes it.
///
/// It begins with what the run has printed until now, and ends with that process; Ctrl-C ends only
/// the look at it. It shows the open questions, each with its number, its choices and the end of
/// its time, and those that come. Each line that is typed answers the oldest one; a line that
/// begins with the number of a question answers that, and only so something is approved. The exit
/// code is that of the run, or 4 if it waits for a person.
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
    while let Some(records) = following.next(&store)? {
        for record in &records {
            turn::show_printed(record, terminal)?;
            guest.is_behind |= asks(record)?;
        }
        guest.position = following.position();
        if guest.has_caught_up()? {
            guest.show_questions(terminal)?;
        }
        for line in typed.try_iter() {
            let (named, text) = answered(&guest.open()?, line);
            let owner_request = OwnerRequest::Answer {
                named,
                text,
                fails: None,
            };
            match doors::hand_over(&store, journal, &place, &owner_request.encode()) {
                Ok(_) => {}
                Err(refused) => terminal.message(refused.first_line()),
            }
        }
    }
    let Some(head) = store.head(&place.run, &place.branch)? else {
        return Ok(ExitCode::OK);
    };
    let mut standings = Standings::of(journal);
    let (standing, _) = standings.standing(&store, &place.run, &head)?;
    let RunStatus::Resting(rest) = standing else {
        return Ok(ExitCode::OK);
    };
    let stands = format!("no process executes {}: {}", place.name(), rest.shown());
    terminal.message(match rest {
        Rest::Asking(_) => say![stands, "; ", Way::at("answer", place.name()).with("TEXT"), " answers"],
        Rest::Ended(_)
        | Rest::Waiting
        | Rest::Listening
        | Rest::Sleeping
        | Rest::Queued
        | Rest::Stuck
        | Rest::Left
        | Rest::Broken => stands.into(),
    });
    Ok(match rest {
        Rest::Ended(code) => ExitCode::of_run(code),
        Rest::Asking(_) | Rest::Waiting | Rest::Listening | Rest::Sleeping | Rest::Queued => ExitCode::WAITING,
        Rest::Left => ExitCode::INTERRUPTED,
        Rest::Stuck | Rest::Broken => ExitCode::FAILED,
    })
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
