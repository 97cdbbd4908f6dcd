//! The way to a run in a journal that this process can read.
//!
//! Requests go to the process that executes the run, through its door; what the session answers is
//! read from the journal, as everybody can read it.
//! Rejected: texts as inputs of the main program, as the owner's own are; both people would then
//! share one top level, and the end of one's evaluation could not be told from the other's.
//! It does not know what is said. Read next: `remote.rs`.

use std::path::Path;

use duet_journal::{Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::codec::Codec;
use duet_runtime::record::Body;
use duet_runtime::run::source::{Source, genesis};
use preserves::{IOValue, ValueImpl};

use super::link::{Link, News};
use super::session;
use crate::doors;
use crate::error::CommandError;
use crate::following::Following;
use crate::journal::{Journal, Place};
use crate::session::record_at;
use crate::session::serve::Wish;
use crate::turn;

/// Lets sessions begin in a run whose program takes texts.
const HOST: &str = "(import (only (duet sessions) serve-sessions!)) (serve-sessions!)";

/// The fact of a run in which sessions can begin.
const HOSTED: &str = "session/hosted";

/// A run that another process executes.
pub(crate) struct Local<'a> {
    journal: &'a Journal,
    store: Box<dyn Store>,
    place: Place,
    /// The next turn to read.
    next: u64,
}

impl<'a> Local<'a> {
    /// Follows a branch from its newest turn on.
    pub(crate) fn new(store: Box<dyn Store>, journal: &'a Journal, place: Place) -> Self {
        Self {
            journal,
            store,
            next: place.head.sequence.number() + 1,
            place,
        }
    }

    fn address(&self) -> String {
        format!("{}/{}", self.place.run, self.place.branch)
    }

    /// Says whether the run is that of a prompt, which takes texts.
    fn is_prompt(&self) -> Result<bool, CommandError> {
        let first = record_at(&*self.store, &self.place, Sequence::FIRST)?;
        let program = genesis(&first)?.program;
        Ok(program.is_record() && IOValue::from(program.index(0)) == session::NAME.to_owned().encode())
    }

    /// The facts after the newest turn.
    fn facts(&self) -> Result<Vec<IOValue>, CommandError> {
        let head = self.store.head(&self.place.run, &self.place.branch)?;
        let at = head.map_or(self.place.head.sequence, |head| head.sequence);
        let source = Source {
            store: &*self.store,
            run: &self.place.run,
            branch: &self.place.branch,
        };
        Ok(Shadow::at(&source, at)?.facts())
    }

    /// Asks the process that executes the run; `None` if there is none.
    fn ask(&self, wish: &Wish) -> Result<Option<IOValue>, CommandError> {
        doors::hand_over((&*self.store, self.journal), &self.place, &wish.encode())
    }
}

impl Link for Local<'_> {
    fn shown(&self) -> String {
        format!("{}@{}", self.place.name(), self.next.saturating_sub(1))
    }

    fn described(&self) -> Result<String, CommandError> {
        Ok(format!("of {}, which {}, executes", self.place.name(), self.owner()?))
    }

    fn owner(&self) -> Result<String, CommandError> {
        let owner = doors::other_owner(&*self.store, &self.place)?;
        Ok(owner.map_or_else(
            || "nobody".to_owned(),
            |owner| format!("`duet {}`, process {}", owner.command, owner.process),
        ))
    }

    fn journal(&self) -> Option<(&Path, String)> {
        Some((self.journal.path(), self.address()))
    }

    fn enter(&mut self, _session: &str) -> Result<Vec<IOValue>, CommandError> {
        let facts = self.facts()?;
        if facts.iter().any(|fact| fact.is_simple_record(HOSTED, Some(0))) {
            return Ok(facts);
        }
        if !self.is_prompt()? {
            let (name, owner) = (self.place.name(), self.owner()?);
            let why = format!("{name} belongs to {owner}, and its program lets no sessions begin");
            return Err(CommandError::problem(why)
                .advise("in a program, `(import (duet sessions)) (serve-sessions!)` lets them begin")
                .advise(format!(
                    "`duet stop {name}` stops the run, so that it goes on elsewhere"
                )));
        }
        let host = Wish::Evaluate { text: HOST.to_owned() };
        self.ask(&host)?;
        Ok(facts)
    }

    fn tell(&mut self, message: IOValue) -> Result<bool, CommandError> {
        let wish = Wish::Tell {
            value: message,
            stays: false,
        };
        Ok(self.ask(&wish)?.is_some())
    }

    fn answer(&mut self, text: &str) -> Result<(), CommandError> {
        let wish = Wish::Answer {
            named: None,
            text: text.to_owned(),
        };
        self.ask(&wish).map(drop)
    }

    fn news(&mut self) -> Result<Option<Vec<News>>, CommandError> {
        let mut following = Following::from(&self.place, self.next);
        let records = following.next(&*self.store)?;
        self.next = following.position();
        let Some(records) = records else {
            return Ok(None);
        };
        let mut news = Vec::new();
        for record in &records {
            let Body::Turn(turn) = turn::body(record)? else {
                continue;
            };
            for action in &turn.actions {
                if let Action::Assert(assert) = action {
                    news.push(News::Fact(assert.value.value(), Some(turn.actor)));
                } else if let Action::AskUser(ask) = action {
                    news.push(News::Question(ask.prompt.clone(), turn.actor));
                }
            }
        }
        Ok(Some(news))
    }

    fn alone(&self) -> String {
        let address = self.address();
        format!(
            "the process that executed {address} has ended; `duet repl {address}` or `duet resume {address}` goes on"
        )
    }
}
