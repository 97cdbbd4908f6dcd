//! The way to a run in a journal that this process can read.
//!
//! Requests go to the process that executes the run, through its door; what the session answers is
//! read from the journal, as everybody can read it.
//! Rejected: texts as inputs of the main program, as the owner's own are; both people would then
//! share one top level, and the end of one's evaluation could not be told from the other's.
//! It does not know what is said. Read next: `remote.rs`.

use std::collections::VecDeque;
use std::time::Duration;

use duet_journal::{BranchName, RecordHash, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::codec::{Codec, Fields};
use duet_runtime::record::Body;
use preserves::{IOValue, ValueImpl};

use super::connection::{News, RunConnection};
use crate::history::following::Following;
use crate::history::journal::{Journal, Place};
use crate::history::records::hash_at;
use crate::history::turn;
use crate::owner::doors;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// Lets sessions begin in a run whose program takes texts.
pub(super) const HOST: &str = "(import (only (duet sessions) serve-sessions!)) (serve-sessions!)";

/// The fact of a run in which sessions can begin.
const HOSTED: &str = "session/hosted";

/// A run that another process executes.
pub(crate) struct Local<'a> {
    journal: &'a Journal,
    store: Box<dyn Store>,
    place: Place,
    /// The branch that the owner of the run executes itself.
    home: Place,
    /// The next turn to read.
    next: u64,
    /// The newest turns that were read, by which a way back is noticed.
    known: VecDeque<(Sequence, RecordHash)>,
    /// The number of looks at which nobody has executed the run.
    looks_absent: u32,
    /// The turn in which the run received the newest message.
    told: u64,
}

/// The number of looks, one after the other, at which nobody executes the run until it is left.
const LOOKS_ABSENT_MAX: u32 = 20;

/// The number of looks until a session must have received a message.
const LOOKS_SETTLED_MAX: u32 = 40;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of turns that are remembered.
const KNOWN_MAX: usize = 1_000;

impl<'a> Local<'a> {
    /// Follows a branch from its newest turn on.
    pub(crate) fn new(store: Box<dyn Store>, journal: &'a Journal, place: Place) -> Self {
        Self {
            journal,
            store,
            next: place.head.sequence.number() + 1,
            known: VecDeque::from([(place.head.sequence, place.head.hash)]),
            looks_absent: 0,
            told: 0,
            home: place.clone(),
            place,
        }
    }

    fn address(&self) -> String {
        format!("{}/{}", self.place.run, self.place.branch)
    }

    /// Says whether the run is that of a prompt, which takes texts.
    fn is_prompt(&self) -> Result<bool, CommandError> {
        crate::history::prompts::is_of_prompt(&*self.store, &self.place)
    }

    /// The facts after the newest turn.
    fn facts(&self) -> Result<Vec<IOValue>, CommandError> {
        let head = self.store.head(&self.place.run, &self.place.branch)?;
        let at = head.map_or(self.place.head.sequence, |head| head.sequence);
        let source = self.place.source(&*self.store);
        Ok(Shadow::at(&source, at)?.facts())
    }

    /// The turn to which the run has gone back since the last look, if it has: the newest of the
    /// known turns that are still there. The turns after it are read again.
    fn turn_back(&mut self) -> Result<Option<u64>, CommandError> {
        let mut is_back = false;
        while let Some((sequence, hash)) = self.known.back() {
            let head = self.store.head(&self.place.run, &self.place.branch)?;
            let is_there = head.is_some_and(|head| head.sequence >= *sequence)
                && hash_at(self.place.source(&*self.store), *sequence)? == Some(*hash);
            if is_there {
                break;
            }
            is_back = true;
            self.known.pop_back();
        }
        if !is_back {
            return Ok(None);
        }
        let turn = match self.known.back() {
            Some((sequence, _)) => sequence.number(),
            // The run has gone back to before the first turn that was read.
            None => {
                let head = self.store.head(&self.place.run, &self.place.branch)?;
                let head = head.map_or(0, |head| head.sequence.number());
                head.min(self.place.head.sequence.number())
            }
        };
        self.next = turn + 1;
        Ok(Some(turn))
    }

    /// Asks the process that executes the run; `None` if there is none.
    fn ask(&self, owner_request: &OwnerRequest) -> Result<Option<IOValue>, CommandError> {
        doors::hand_over(&*self.store, self.journal, &self.place, &owner_request.encode())
    }
}

/// The name of a session, if a fact says that it is there.
fn ready(fact: &IOValue) -> Option<String> {
    let is_ready = fact.is_simple_record("session/ready", Some(2));
    is_ready.then(|| String::decode(&fact.index(1).into()).ok()).flatten()
}

impl RunConnection for Local<'_> {
    fn shown(&self) -> String {
        format!("{}@{}", self.place.name(), self.next.saturating_sub(1))
    }

    fn described(&self) -> Result<String, CommandError> {
        Ok(format!("of {}, which {} executes", self.place.name(), self.owner()?))
    }

    fn owner(&self) -> Result<String, CommandError> {
        let owner = doors::other_owner(&*self.store, &self.place)?;
        Ok(owner.map_or_else(
            || "nobody".to_owned(),
            |owner| format!("`duet {}` (process {})", owner.command, owner.process),
        ))
    }

    fn journal(&self) -> Option<(&Journal, String)> {
        Some((self.journal, self.address()))
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
                .advise(say![
                    Way::at("stop", name),
                    " stops the run, so that it goes on elsewhere",
                ]));
        }
        let host = OwnerRequest::Evaluate { text: HOST.to_owned() };
        self.ask(&host)?;
        Ok(facts)
    }

    fn tell(&mut self, message: IOValue) -> Result<bool, CommandError> {
        let owner_request = OwnerRequest::Tell {
            value: message,
            stays: false,
        };
        let turns = self.ask(&owner_request)?;
        let read = |turns: &IOValue| {
            Fields::of(turns, "turns", 2).and_then(|mut fields| {
                fields.read::<u64>("before")?;
                fields.read::<u64>("after")
            })
        };
        self.told = turns.as_ref().and_then(|turns| read(turns).ok()).unwrap_or(self.told);
        Ok(turns.is_some())
    }

    fn approve(&mut self, session: &str, question: &str, answer: IOValue) -> Result<(), CommandError> {
        let owner_request = OwnerRequest::Approve {
            session: session.to_owned(),
            question: question.to_owned(),
            answer,
        };
        self.ask(&owner_request).map(drop)
    }

    fn settle(&mut self) {
        // The session hears it in the turn after the one that took it.
        for _ in 0..LOOKS_SETTLED_MAX {
            let head = self.store.head(&self.place.run, &self.place.branch);
            if !head.is_ok_and(|head| head.is_some_and(|head| head.sequence.number() <= self.told)) {
                return;
            }
            #[expect(clippy::disallowed_methods, reason = "a person looks on; nothing enters a record")]
            std::thread::sleep(INTERVAL / 10);
        }
    }

    fn is_heard(&self) -> bool {
        true
    }

    fn go_to(&mut self, branch: &str, is_new: bool) -> Result<Vec<String>, CommandError> {
        let (run, here) = (self.place.run.clone(), self.place.branch.clone());
        let names = self.facts()?.as_slice().iter().filter_map(ready).collect();
        let gone = || CommandError::problem(self.alone());
        let name = BranchName::new(branch).map_err(|error| CommandError::usage(error.to_string()))?;
        if is_new && self.store.head(&run, &name)?.is_some() {
            let why = format!("{run} has a branch {branch} already");
            return Err(CommandError::usage(why).advise(format!("`,switch {branch}` goes on there")));
        }
        if is_new {
            let head = self.store.head(&run, &here)?.unwrap_or(self.place.head.clone());
            let owner_request = OwnerRequest::Fork {
                turn: head.sequence.number(),
                branches: vec![branch.to_owned()],
            };
            self.ask(&owner_request)?.ok_or_else(gone)?;
        }
        let owner_request = OwnerRequest::Branch {
            name: branch.to_owned(),
        };
        doors::hand_over(&*self.store, self.journal, &self.home, &owner_request.encode())?.ok_or_else(gone)?;
        let place = self.journal.resolve(&*self.store, Some(&format!("{run}/{branch}")))?;
        self.next = place.head.sequence.number() + 1;
        self.known = VecDeque::from([(place.head.sequence, place.head.hash)]);
        self.place = place;
        Ok(names)
    }

    fn names(&self, session: &str) -> Vec<(String, bool)> {
        let owner_request = OwnerRequest::Names {
            session: session.to_owned(),
        };
        let names = self.ask(&owner_request).ok().flatten();
        names.and_then(|names| Codec::decode(&names).ok()).unwrap_or_default()
    }

    fn news(&mut self) -> Result<Option<Vec<News>>, CommandError> {
        if let Some(turn) = self.turn_back()? {
            return Ok(Some(vec![News::WentBack(turn)]));
        }
        let mut following = Following::from(&self.place, self.next);
        let records = following.next(&*self.store)?;
        self.next = following.position();
        let Some(records) = records else {
            // Whoever goes back gives the run up for a moment.
            self.looks_absent += 1;
            if self.looks_absent > LOOKS_ABSENT_MAX {
                return Ok(None);
            }
            #[expect(clippy::disallowed_methods, reason = "a person looks on; nothing enters a record")]
            std::thread::sleep(INTERVAL);
            return Ok(Some(Vec::new()));
        };
        self.looks_absent = 0;
        let mut news = Vec::new();
        for record in &records {
            self.known.push_back((record.header().sequence, record.hash()));
            let Body::Turn(turn) = turn::body(record)? else {
                continue;
            };
            for action in &turn.actions {
                if let Action::Assert(assert) = action {
                    news.push(News::Fact(assert.value.value()));
                }
            }
        }
        while self.known.len() > KNOWN_MAX {
            self.known.pop_front();
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
