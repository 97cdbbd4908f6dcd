//! `duet attach`: shows what a run prints while another process executes it, and answers for the
//! person.

use std::io;
use std::sync::mpsc::{Receiver, channel};

use duet_journal::{Sequence, Store};

use crate::command::answer::oldest;
use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::following::Following;
use crate::journal::{Journal, Place};
use crate::owned_run::serve::OwnerRequest;
use crate::saying::{Way, say};
use crate::standing::{Rest, RunStatus, Standings};
use crate::terminal::Terminal;
use crate::turn;

/// Shows what a run prints while another process executes it.
///
/// It begins with what the run has printed until now, and ends with that process; Ctrl-C ends only
/// the look at it. Each line that is typed answers the oldest open question; `duet waits` lists the
/// questions. The exit code is that of the run, or 4 if it waits for a person.
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
    while let Some(records) = following.next(&store)? {
        for record in &records {
            turn::show_printed(record, terminal)?;
        }
        for text in typed.try_iter() {
            let owner_request = OwnerRequest::Answer {
                named: question_shown(&store, &place, following.position())?,
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

/// The number of the oldest question that the person has seen: the owner may ask another one when
/// the answer comes. `None` if none is open at the newest turn that was shown.
fn question_shown(store: &dyn Store, place: &Place, next: u64) -> Result<Option<String>, CommandError> {
    let shown = next.checked_sub(1).and_then(|number| Sequence::new(number).ok());
    oldest(
        store,
        &Place {
            turn: shown,
            ..place.clone()
        },
    )
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
