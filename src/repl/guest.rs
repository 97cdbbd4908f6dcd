//! The prompt of a person in a session of a run that another process executes.
//!
//! A text goes to that process as the message `session/request`; what the session answers is read
//! from the journal, as everybody can read it. Nothing here evaluates.
//! Rejected: texts as inputs of the main program, as the owner's own are; both people would then
//! share one top level, and the end of one's evaluation could not be told from the other's.
//! INVARIANT: each event of the session is shown once, in its order.
//! It does not know how a session works; the library `(duet sessions)` does.
//! Read next: `../command/repl/guest.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_drivers::interrupts;
use duet_drivers::text::Text;
use duet_journal::owner::now_ms;
use duet_journal::{Record, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::failure::Failure;
use duet_runtime::model::identity::ActorId;
use duet_runtime::record::Body;
use duet_runtime::run::source::{Source, genesis};
use preserves::{IOValue, ValueImpl};

use super::complete::{Candidate, Names, Scope};
use super::editor::Line;
use super::event::{Event, Kind, symbol};
use super::session::{self, dispatch_lent};
use super::typist::{Typist, Wanted};
use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::following::Following;
use crate::journal::{Journal, Place};
use crate::render::{self, SourceTexts};
use crate::session::record_at;
use crate::session::serve::Wish;
use crate::terminal::Terminal;
use crate::turn;
use crate::value_text::shown;

/// Lets sessions begin in a run whose program takes texts.
const HOST: &str = "(import (only (duet sessions) serve-sessions!)) (serve-sessions!)";

/// The fact of a run in which sessions can begin.
const HOSTED: &str = "session/hosted";

/// How a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It was evaluated.
    Well,
    /// It failed.
    Failed,
    /// No process executes the run any more.
    Alone,
}

/// A session of a run that another process executes.
pub(crate) struct Guest<'a> {
    pub(super) journal: &'a Journal,
    pub(super) store: Box<dyn Store>,
    pub(super) place: Place,
    /// The name of the session.
    session: String,
    typist: Option<Typist>,
    is_interrupted: Arc<AtomicBool>,
    /// The next turn to read.
    next: u64,
    /// The beginning of the tags of this prompt's requests, and their number.
    tags: (String, u64),
    /// The actor of the session, once it is known.
    actor: Option<ActorId>,
    /// The number of the newest event that was shown.
    shown: u64,
}

impl<'a> Guest<'a> {
    /// Enters a session of a run that another process executes.
    ///
    /// # Errors
    /// If the journal fails, or the program lets no sessions begin.
    pub(crate) fn enter(
        (store, journal): (Box<dyn Store>, &'a Journal),
        place: Place,
        session: String,
        typist: Option<Typist>,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        let is_interrupted =
            interrupts::watch().map_err(|error| CommandError::caused("Ctrl-C cannot be noticed", &error))?;
        let mut guest = Self {
            journal,
            next: place.head.sequence.number() + 1,
            store,
            place,
            session,
            typist,
            is_interrupted,
            tags: (format!("{:x}", now_ms()), 0),
            actor: None,
            shown: 0,
        };
        guest.prepare()?;
        guest.catch_up(terminal)?;
        Ok(guest)
    }

    /// The address of the branch.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}", self.place.run, self.place.branch)
    }

    /// The process that executes the run, in words.
    pub(crate) fn owner(&self) -> Result<String, CommandError> {
        let owner = doors::other_owner(&*self.store, &self.place)?;
        Ok(owner.map_or_else(
            || "nobody".to_owned(),
            |owner| format!("`duet {}`, process {}", owner.command, owner.process),
        ))
    }

    /// Makes sure that sessions can begin at the newest turn.
    fn prepare(&mut self) -> Result<(), CommandError> {
        let is_hosted = |fact: &IOValue| fact.is_simple_record(HOSTED, Some(0));
        if self.facts()?.into_iter().any(|fact| is_hosted(&fact)) {
            return Ok(());
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
        self.ask(&host).map(drop)
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

    /// Shows the events that the session has kept since somebody left it.
    fn catch_up(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let mut kept: Vec<Event> = self.facts()?.into_iter().filter_map(|fact| self.event(&fact)).collect();
        kept.sort_by_key(|event| event.number);
        for event in kept {
            self.show(&event, "", terminal)?;
        }
        self.acknowledge();
        Ok(())
    }

    fn event(&self, fact: &IOValue) -> Option<Event> {
        Event::read(fact).filter(|event| event.session == self.session)
    }

    /// Asks the process that executes the run; `None` if there is none.
    fn ask(&self, wish: &Wish) -> Result<Option<IOValue>, CommandError> {
        doors::hand_over((&*self.store, self.journal), &self.place, &wish.encode())
    }

    fn tell(&self, label: &'static str, fields: Vec<IOValue>) -> Result<bool, CommandError> {
        let mut all = vec![symbol(":session"), self.session.encode()];
        all.extend(fields);
        let value = record(label, all);
        Ok(self.ask(&Wish::Tell { value, stays: false })?.is_some())
    }

    /// Says which events this person has seen, so that the session keeps them no longer. If the
    /// other process has gone, they stay, and the next look at the journal tells the person.
    fn acknowledge(&self) {
        if self.shown > 0 {
            let _gone = self.tell("session/seen", vec![symbol(":number"), self.shown.encode()]);
        }
    }

    /// Has another command read the journal.
    pub(crate) fn consult(&self, words: &[String], terminal: &mut Terminal) -> ExitCode {
        dispatch_lent(words, self.journal.path(), terminal)
    }

    /// Ends the session.
    ///
    /// # Errors
    /// If the journal fails, or the other process refuses.
    pub(crate) fn close(&self) -> Result<(), CommandError> {
        self.tell("session/close", Vec::new()).map(drop)
    }

    /// Answers the oldest open question of the run.
    ///
    /// # Errors
    /// If the other process refuses.
    pub(crate) fn answer(&self, text: &str) -> Result<(), CommandError> {
        let wish = Wish::Answer {
            named: None,
            text: text.to_owned(),
        };
        self.ask(&wish).map(drop)
    }

    /// Has a text evaluated, and shows what the session says until it has ended.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn evaluate(&mut self, text: &str, terminal: &mut Terminal) -> Result<Done, CommandError> {
        self.tags.1 += 1;
        let tag = format!("{}-{}", self.tags.0, self.tags.1).encode();
        let payload = record("text", vec![text.to_owned().encode()]);
        let fields = vec![symbol(":payload"), payload, symbol(":tag"), tag.clone()];
        if !self.tell("session/request", fields)? {
            return Ok(Done::Alone);
        }
        let done = loop {
            let Some(records) = self.newest()? else {
                return Ok(Done::Alone);
            };
            if let Some(done) = self.hear(&records, (&tag, text), terminal)? {
                break done;
            }
            if self.is_interrupted.swap(false, Ordering::Relaxed) {
                self.tell("session/cancel", vec![symbol(":tag"), tag.clone()])?;
            }
        };
        self.acknowledge();
        Ok(done)
    }

    /// Waits a little and returns the turns that have come; `None` if no process executes the run.
    fn newest(&mut self) -> Result<Option<Vec<Record>>, CommandError> {
        let mut following = Following::from(&self.place, self.next);
        let records = following.next(&*self.store)?;
        self.next = following.position();
        Ok(records)
    }

    /// Shows what turns say to this session; returns how the request with a tag has ended, if it
    /// has.
    fn hear(
        &mut self,
        records: &[Record],
        (tag, text): (&IOValue, &str),
        terminal: &mut Terminal,
    ) -> Result<Option<Done>, CommandError> {
        let mut done = None;
        for record in records {
            let Body::Turn(turn) = turn::body(record)? else {
                continue;
            };
            for action in &turn.actions {
                if let Action::Assert(assert) = action {
                    let end = self.hear_fact(&assert.value.value(), turn.actor, (tag, text), terminal)?;
                    done = done.or(end);
                } else if let Action::AskUser(ask) = action
                    && Some(turn.actor) == self.actor
                {
                    self.put(&ask.prompt, terminal)?;
                }
            }
        }
        Ok(done)
    }

    fn hear_fact(
        &mut self,
        fact: &IOValue,
        actor: ActorId,
        (tag, text): (&IOValue, &str),
        terminal: &mut Terminal,
    ) -> Result<Option<Done>, CommandError> {
        if let Some(event) = self.event(fact) {
            self.actor = Some(actor);
            self.show(&event, text, terminal)?;
            return Ok(event.end(tag));
        }
        if self.is_mine(fact, ("session/ready", 2)) {
            (self.actor, self.shown) = (Some(actor), 0);
        } else if self.is_mine(fact, ("session/ended", 4)) {
            self.tell_end(fact, terminal);
            return Ok(Some(Done::Failed));
        }
        Ok(None)
    }

    /// Says whether a fact is a record about this session with so many fields.
    fn is_mine(&self, value: &IOValue, (label, fields): (&str, usize)) -> bool {
        value.is_simple_record(label, Some(fields)) && IOValue::from(value.index(1)) == self.session.encode()
    }

    fn tell_end(&mut self, value: &IOValue, terminal: &mut Terminal) {
        let reason = String::decode(&value.index(3).into()).unwrap_or_default();
        terminal.message(format!(
            "this session has ended: {reason}; the next text begins another one, without its definitions"
        ));
        (self.actor, self.shown) = (None, 0);
    }

    fn show(&mut self, event: &Event, text: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
        if event.number <= self.shown {
            return Ok(());
        }
        self.shown = event.number;
        match &event.kind {
            Kind::Output(output) => terminal.data(Text::lines(output)),
            Kind::Result(values) => values
                .as_slice()
                .iter()
                .try_for_each(|value| terminal.data(format!("{value}\n"))),
            Kind::Error(failure) => {
                terminal.message(render::uncaught(
                    failure,
                    &texts(failure, text),
                    &[],
                    terminal.is_styled,
                ));
                Ok(())
            }
        }
    }

    /// Puts a question of the session to the person.
    fn put(&mut self, prompt: &IOValue, terminal: &mut Terminal) -> Result<(), CommandError> {
        let question: Text = format!("{} ", shown(prompt)).into();
        let Some(typist) = &mut self.typist else {
            terminal.message(question);
            terminal.message("`duet answer` answers it");
            return Ok(());
        };
        typist.ask(Wanted::Answer { question });
        match typist.wait() {
            Ok(Line::Input(answer)) => self.answer(&answer),
            Ok(Line::Interrupted | Line::End) => {
                self.is_interrupted.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(CommandError::caused("the prompt cannot be shown", &error)),
        }
    }

    /// Reads an input, and shows meanwhile what the session says; `None` if no process executes the
    /// run any more, once the person has typed something: the editor has to return, so that the
    /// terminal gets its usual mode back.
    ///
    /// # Errors
    /// If the terminal cannot be read, or the journal fails.
    pub(crate) fn read_input(&mut self, terminal: &mut Terminal) -> Result<Option<Line>, CommandError> {
        let prompt = format!(
            "{} at {}@{}> ",
            self.session,
            self.place.name(),
            self.next.saturating_sub(1)
        )
        .into();
        let names = Names::of(&Nobody);
        if let Some(screen) = &terminal.screen {
            screen.begin_prompt()?;
        }
        let Some(typist) = &mut self.typist else {
            return Ok(Some(Line::End));
        };
        // An interruption counts from the moment when the line is typed.
        self.is_interrupted.store(false, Ordering::Relaxed);
        typist.ask(Wanted::Input { prompt, names });
        let mut is_alone = false;
        while !is_alone && !self.typist.as_mut().is_some_and(Typist::has_line) {
            match self.newest()? {
                None => {
                    is_alone = true;
                    let address = self.address();
                    terminal.message(format!("{}; Enter leaves", alone(&address)));
                }
                Some(records) => {
                    self.hear(&records, (&IOValue::new(false), ""), terminal)?;
                }
            }
        }
        let line = self.typist.as_mut().map_or(Ok(Line::End), Typist::wait);
        if let Some(screen) = &terminal.screen {
            screen.end_prompt()?;
        }
        line.map(|line| (!is_alone).then_some(line))
            .map_err(|error| CommandError::caused("the prompt cannot be shown", &error))
    }
}

/// Says that the process that executed a run has ended.
pub(crate) fn alone(address: &str) -> String {
    format!("the process that executed {address} has ended; `duet repl {address}` or `duet resume {address}` goes on")
}

/// The names that this process knows of the session: none.
struct Nobody;

impl Scope for Nobody {
    fn names(&self) -> Vec<Candidate> {
        Vec::new()
    }
}

/// The text that a failure refers to.
fn texts(failure: &Failure, text: &str) -> SourceTexts {
    let origin = failure.origin.as_ref().map(|origin| origin.source.clone());
    SourceTexts::named_texts(origin.into_iter().map(|name| (name, Arc::from(text))).collect())
}
