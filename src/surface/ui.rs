//! The page in which a run is seen and changed: the files of the page, and what stands behind it.
//!
//! The page asks verbs and nothing else: its questions are requests as JSON, its answers are
//! reports as JSON. What it changes, it changes by the commands that a person would give.
//! INVARIANT: without `--act` nothing is changed. No text of a run becomes part of a page; the
//! page puts it into elements as text.
//! It serves nothing itself; `duet_drivers::host::page` does.
//! Read next: `ui/answer.rs`, `ui/act.rs`, `ui/files.rs`.

pub(crate) mod act;
pub(crate) mod answer;
mod files;

use std::sync::{Mutex, PoisonError};

use duet_drivers::host::Job;
use duet_drivers::host::page::{Heard, Source};
use duet_journal::{RunId, Store};
use serde_json::{Value as Json, json};

pub(crate) use files::FILES;

use crate::history::journal::Journal;
use crate::surface::ui::act::Act;
use crate::text::error::CommandError;
use crate::verb::Request;
use crate::world::world_options::WorldArguments;

/// What stands behind a page.
pub(crate) struct Service {
    journal: Journal,
    /// What runs reach that acts continue; nothing if the page may only look.
    granted: Option<WorldArguments>,
    /// The connection by which news of a journal on a server are read.
    connection: Mutex<Option<Box<dyn Store>>>,
}

impl Source for Service {
    fn hear(&self, message: &[u8]) -> Heard {
        let message: Json = match serde_json::from_slice(message) {
            Ok(message) => message,
            Err(error) => return Heard::Refused(format!("the message is no JSON: {error}")),
        };
        if message.get("about").is_some() {
            return Heard::Known(self.about());
        }
        if message.get("check").is_some() {
            return Heard::Command(answer::check_words(&self.journal));
        }
        if message.get("act").is_some() {
            return self.act(message);
        }
        match serde_json::from_value::<Request>(message) {
            Ok(request) if !request.row().is_looking() => {
                Heard::Refused("the page does not do this; the command line does".to_owned())
            }
            // A process of its own holds what a run holds, and is gone afterwards.
            Ok(request) => Heard::Question(Job::Command(answer::words(&request, &self.journal))),
            Err(error) => Heard::Refused(format!("the request is not understood: {error}")),
        }
    }

    fn news(&self, run: &str) -> Result<String, String> {
        let told = |error: CommandError| answer::refusal(error)["error"].as_str().unwrap_or_default().to_owned();
        self.standing(run).map(|news| news.to_string()).map_err(told)
    }
}

impl Service {
    pub(crate) fn new(journal: Journal, granted: Option<WorldArguments>) -> Self {
        Self {
            journal,
            granted,
            connection: Mutex::default(),
        }
    }

    /// What the page has to know before its first question.
    fn about(&self) -> Json {
        json!({
            "acts": self.granted.is_some(),
            "version": env!("CARGO_PKG_VERSION"),
            "journal": self.journal.shown(),
        })
    }

    fn act(&self, mut message: Json) -> Heard {
        let Some(granted) = &self.granted else {
            return Heard::Refused("this page may only look; `duet ui --act` lets it change runs".to_owned());
        };
        let is_preview = message
            .as_object_mut()
            .and_then(|members| members.remove("preview"))
            .is_some_and(|preview| preview == json!(true));
        let act: Act = match serde_json::from_value(message) {
            Ok(act) => act,
            Err(error) => return Heard::Refused(format!("the act is not understood: {error}")),
        };
        let made = act.command(&self.journal, granted).and_then(|command| {
            let child = command.request.for_child(&self.journal, false)?;
            Ok((command, child))
        });
        match made {
            Err(error) => Heard::Known(answer::refusal(error)),
            Ok((command, _)) if is_preview => Heard::Known(json!({ "command": command.shown() })),
            Ok((_, child)) => Heard::Command(child.words()),
        }
    }

    /// The branches of a run with their newest turns, and whether a process executes it.
    fn standing(&self, run: &str) -> Result<Json, CommandError> {
        let run = RunId::new(run).map_err(|error| CommandError::usage(error.to_string()))?;
        if !self.journal.is_on_server() {
            // A file may take the place of another at any time.
            return standing(&*self.journal.open_to_read()?, &run);
        }
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let store = match connection.take() {
            Some(store) => store,
            None => self.journal.open_to_read()?,
        };
        let standing = standing(&*store, &run)?;
        *connection = Some(store);
        Ok(standing)
    }
}

fn standing(store: &dyn Store, run: &RunId) -> Result<Json, CommandError> {
    let heads = store.heads(run)?;
    if heads.is_empty() {
        return Err(CommandError::problem(format!("the journal has no run {run} any more")));
    }
    let branches = heads
        .iter()
        .map(|head| json!({ "branch": head.branch.as_str(), "turn": head.sequence.number() }));
    let is_running = store.claimed(run)?.is_some_and(|claim| claim.living().is_some());
    Ok(json!({ "branches": branches.collect::<Vec<_>>(), "running": is_running }))
}
