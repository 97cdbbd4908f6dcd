//! The prompt of a person in a session of a run that another process executes.
//!
//! A text goes to that process as the message `session/request`; the session answers with facts.
//! Nothing here evaluates.
//! INVARIANT: each event of the session is shown once, in its order.
//! It does not know how a session works; the library `(duet sessions)` does. Nor does it know where
//! the run is; its [`Link`] does.
//! Read next: `../command/repl/guest.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_drivers::interrupts;
use duet_drivers::text::Text;
use duet_journal::owner::now_ms;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::failure::Failure;
use duet_runtime::model::identity::ActorId;
use preserves::{IOValue, ValueImpl};

use super::complete::{Candidate, Names, Scope};
use super::editor::Line;
use super::event::{Event, Kind, symbol};
use super::link::{Link, News};
use super::typist::{Typist, Wanted};
use crate::error::CommandError;
use crate::render::{self, SourceTexts};
use crate::terminal::Terminal;
use crate::value_text::shown;

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
    pub(crate) link: Box<dyn Link + 'a>,
    /// The name of the session.
    session: String,
    typist: Option<Typist>,
    is_interrupted: Arc<AtomicBool>,
    /// The beginning of the tags of this prompt's requests, and their number.
    tags: (String, u64),
    /// The actor of the session, once it is known.
    actor: Option<ActorId>,
    /// The number of the newest event that was shown.
    shown: u64,
}

impl<'a> Guest<'a> {
    /// Enters a session.
    ///
    /// # Errors
    /// If the run cannot be reached, or the program lets no sessions begin.
    pub(crate) fn enter(
        link: Box<dyn Link + 'a>,
        session: String,
        typist: Option<Typist>,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        let is_interrupted =
            interrupts::watch().map_err(|error| CommandError::caused("Ctrl-C cannot be noticed", &error))?;
        let mut guest = Self {
            link,
            session,
            typist,
            is_interrupted,
            tags: (format!("{:x}", now_ms()), 0),
            actor: None,
            shown: 0,
        };
        guest.catch_up(terminal)?;
        Ok(guest)
    }

    /// Shows the events that the session has kept since somebody left it.
    fn catch_up(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let facts = self.link.enter(&self.session)?;
        let mut kept: Vec<Event> = facts.into_iter().filter_map(|fact| self.event(&fact)).collect();
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

    fn tell(&mut self, label: &'static str, fields: Vec<IOValue>) -> Result<bool, CommandError> {
        let mut all = vec![symbol(":session"), self.session.encode()];
        all.extend(fields);
        self.link.tell(record(label, all))
    }

    /// Says which events this person has seen, so that the session keeps them no longer. If the
    /// other process has gone, they stay, and the next look at the journal tells the person.
    fn acknowledge(&mut self) {
        if self.shown > 0 {
            let _gone = self.tell("session/seen", vec![symbol(":number"), self.shown.encode()]);
        }
    }

    /// Ends the session.
    ///
    /// # Errors
    /// If the journal fails, or the other process refuses.
    pub(crate) fn close(&mut self) -> Result<(), CommandError> {
        self.tell("session/close", Vec::new()).map(drop)
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
            let Some(news) = self.link.news()? else {
                return Ok(Done::Alone);
            };
            if let Some(done) = self.hear(news, (&tag, text), terminal)? {
                break done;
            }
            if self.is_interrupted.swap(false, Ordering::Relaxed) {
                self.tell("session/cancel", vec![symbol(":tag"), tag.clone()])?;
            }
        };
        self.acknowledge();
        Ok(done)
    }

    /// Shows what the run says to this session; returns how the request with a tag has ended, if it
    /// has.
    fn hear(
        &mut self,
        news: Vec<News>,
        request: (&IOValue, &str),
        terminal: &mut Terminal,
    ) -> Result<Option<Done>, CommandError> {
        let mut done = None;
        for said in news {
            match said {
                News::Fact(fact, actor) => done = done.or(self.hear_fact(&fact, actor, request, terminal)?),
                News::Question(prompt, actor) if Some(actor) == self.actor => self.put(&prompt, terminal)?,
                News::Question(..) => {}
            }
        }
        Ok(done)
    }

    fn hear_fact(
        &mut self,
        fact: &IOValue,
        actor: Option<ActorId>,
        (tag, text): (&IOValue, &str),
        terminal: &mut Terminal,
    ) -> Result<Option<Done>, CommandError> {
        if let Some(event) = self.event(fact) {
            self.actor = actor;
            self.show(&event, text, terminal)?;
            return Ok(event.end(tag));
        }
        if self.is_mine(fact, ("session/ready", 2)) {
            (self.actor, self.shown) = (actor, 0);
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
            Ok(Line::Input(answer)) => self.link.answer(&answer),
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
        let prompt = format!("{} at {}> ", self.session, self.link.shown()).into();
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
            match self.link.news()? {
                None => {
                    is_alone = true;
                    terminal.message(format!("{}; Enter leaves", self.link.alone()));
                }
                Some(news) => {
                    self.hear(news, (&IOValue::new(false), ""), terminal)?;
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
