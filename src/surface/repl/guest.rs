//! The prompt of a person in a session of a run that another process executes.
//!
//! A text goes to that process as the message `session/request`; the session answers with facts.
//! Nothing here evaluates.
//! INVARIANT: each event of the session is shown once, in its order.
//! It does not know how a session works; the library `(duet sessions)` does. Nor does it know where
//! the run is; its [`RunConnection`] does.
//! Read next: `guest/command.rs`.

mod command;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_drivers::interrupts;
use duet_drivers::text::Text;
use duet_journal::owner::now_ms;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::failure::Failure;
use preserves::{IOValue, ValueImpl};

use super::complete::{Candidate, Scope};
use super::connection::{News, RunConnection};
use super::editor::Line;
use super::editor_thread::{EditorThread, LineRequest};
use super::event::{Event, Kind, symbol};
use super::prompt::{self, Evaluated, PromptEvent};
use super::session_question::{Open, SessionQuestion};
use crate::text::error::CommandError;
use crate::text::render::{self, SourceTexts};
use crate::text::terminal::Terminal;
use crate::verb::describe;

/// A session of a run that another process executes.
pub(crate) struct Guest<'a> {
    pub(crate) connection: Box<dyn RunConnection + 'a>,
    /// The name of the session.
    session: String,
    line_editor: Option<EditorThread>,
    is_interrupted: Arc<AtomicBool>,
    /// The beginning of the tags of this prompt's requests, and their number.
    tags: (String, u64),
    /// The number of the newest event that was shown.
    shown: u64,
    open: Open,
    /// The tools that the session calls, by the names of the calls.
    calls: BTreeMap<String, String>,
    /// The text whose evaluation goes on while the person does something else.
    pending: Option<Request>,
    /// How the pending text has ended, if it did while the person typed.
    ended: Option<Evaluated>,
    /// The number of characters of a value that are shown; all if there is none.
    characters_max: Option<usize>,
}

impl<'a> Guest<'a> {
    /// Enters a session.
    ///
    /// # Errors
    /// If the run cannot be reached, or the program lets no sessions begin.
    pub(crate) fn enter(
        connection: Box<dyn RunConnection + 'a>,
        session: String,
        line_editor: Option<EditorThread>,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandError> {
        let is_interrupted =
            interrupts::watch().map_err(|error| CommandError::caused("Ctrl-C cannot be noticed", &error))?;
        let characters_max = line_editor.is_some().then_some(CHARACTERS_MAX);
        let mut guest = Self {
            connection,
            session,
            line_editor,
            is_interrupted,
            tags: (format!("{:x}", now_ms()), 0),
            shown: 0,
            open: Open::default(),
            calls: BTreeMap::new(),
            pending: None,
            ended: None,
            characters_max,
        };
        guest.catch_up(terminal)?;
        Ok(guest)
    }

    /// Shows the events that the session has kept since somebody left it.
    fn catch_up(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let facts = self.connection.enter(&self.session)?;
        let mut kept: Vec<Event> = facts.into_iter().filter_map(|fact| self.event(&fact)).collect();
        kept.sort_by_key(|event| event.number);
        for event in kept {
            self.show(event, "", terminal)?;
        }
        while let Some(asked) = self.open.unseen() {
            terminal.message(asked.told());
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
        self.connection.tell(record(label, all))
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
    fn request(&mut self, text: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
        self.tags.1 += 1;
        let tag = format!("{}-{}", self.tags.0, self.tags.1).encode();
        let payload = record("text", vec![text.to_owned().encode()]);
        let fields = vec![symbol(":payload"), payload, symbol(":tag"), tag.clone()];
        if !self.tell("session/request", fields)? {
            return Ok(self.leave(terminal));
        }
        let text = text.to_owned();
        self.pursue(Request { tag, text }, terminal)
    }

    /// Shows what the session says until a request has ended, or waits for an answer that the
    /// person gives later.
    fn pursue(&mut self, mut request: Request, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
        let mut patience = Patience::default();
        let done = loop {
            let Some(news) = self.connection.news()? else {
                return Ok(self.leave(terminal));
            };
            patience.look(news.is_empty());
            if let Some(done) = self.hear(news, &request, terminal)? {
                break done;
            }
            if let Some(asked) = self.open.unseen() {
                // Whoever answers first, or goes back, may end the text while the person types.
                (self.pending, self.ended) = (Some(request), None);
                if !self.put(&asked, &mut patience, terminal)? {
                    return Ok(Evaluated::Done);
                }
                request = match self.pending.take() {
                    Some(request) => request,
                    None => break self.ended.unwrap_or(Evaluated::Failed),
                };
            }
            if self.is_interrupted.swap(false, Ordering::Relaxed) && !self.cancel(&request, &mut patience, terminal)? {
                return Ok(Evaluated::Failed);
            }
            if let Some(why) = patience.complaint(&self.open, &self.calls) {
                terminal.message(why);
            }
        };
        self.acknowledge();
        Ok(done)
    }

    /// Says that nobody executes the run any more.
    fn leave(&self, terminal: &mut Terminal) -> Evaluated {
        terminal.message(self.connection.alone());
        Evaluated::Alone
    }

    /// Goes on with the session at another branch, which begins here if it is new; the others stay.
    ///
    /// # Errors
    /// If whoever executes the run refuses, or the journal fails.
    pub(crate) fn go_to(&mut self, branch: &str, is_new: bool, terminal: &mut Terminal) -> Result<(), CommandError> {
        let before = self.connection.shown();
        self.connection.settle();
        let mut others = self.connection.go_to(branch, is_new)?;
        others.retain(|other| *other != self.session);
        let (session, here) = (&self.session, self.connection.shown());
        let stay = match others.as_slice() {
            [] => String::new(),
            [other] => format!("; {other} stays there"),
            others => format!("; {} stay there", others.join(", ")),
        };
        terminal.message(if is_new {
            format!("{session} goes on at {here}, which begins at {before}{stay}")
        } else {
            format!("{session} goes on at {here}")
        });
        if !is_new {
            // The branch has other events than the one before.
            self.shown = 0;
        }
        self.open.clear();
        self.calls.clear();
        self.pending = None;
        self.catch_up(terminal)
    }

    /// Asks the session to cancel a request; false if the person need not wait for the outcome.
    fn cancel(
        &mut self,
        request: &Request,
        patience: &mut Patience,
        terminal: &mut Terminal,
    ) -> Result<bool, CommandError> {
        if patience.is_cancelled || !self.connection.is_heard() {
            terminal.message("the session has not answered; the prompt shows its later answers");
            return Ok(false);
        }
        patience.is_cancelled = true;
        self.tell("session/cancel", vec![symbol(":tag"), request.tag.clone()])?;
        Ok(true)
    }

    /// Shows what the run says to this session; returns how a request has ended, if it has.
    fn hear(
        &mut self,
        news: Vec<News>,
        request: &Request,
        terminal: &mut Terminal,
    ) -> Result<Option<Evaluated>, CommandError> {
        let mut done = None;
        for said in news {
            match said {
                News::Fact(fact) => done = done.or(self.hear_fact(&fact, request, terminal)?),
                News::WentBack(turn) => {
                    self.go_back(turn, terminal)?;
                    done = done.or((!request.text.is_empty()).then_some(Evaluated::Failed));
                }
            }
        }
        Ok(done)
    }

    /// Begins anew where whoever executes the run has gone back to.
    fn go_back(&mut self, turn: u64, terminal: &mut Terminal) -> Result<(), CommandError> {
        (self.shown, self.pending) = (0, None);
        self.open.clear();
        self.calls.clear();
        let facts = self.connection.enter(&self.session)?;
        let is_there = facts
            .as_slice()
            .iter()
            .any(|fact| self.is_mine(fact, "session/ready", 2));
        let what = if is_there {
            "later work of this session is undone"
        } else {
            "this session began after it; the next text begins it anew, without its definitions"
        };
        let owner = self.connection.owner()?;
        terminal.message(format!("{owner} has gone back to turn {turn}; {what}"));
        for fact in facts {
            if let Some(Event {
                kind: Kind::Question(asked),
                ..
            }) = self.event(&fact)
            {
                self.open.add(asked);
            }
        }
        Ok(())
    }

    fn hear_fact(
        &mut self,
        fact: &IOValue,
        request: &Request,
        terminal: &mut Terminal,
    ) -> Result<Option<Evaluated>, CommandError> {
        if let Some(event) = self.event(fact) {
            self.show(event.clone(), &request.text, terminal)?;
            return Ok(event.end(&request.tag));
        }
        if self.is_mine(fact, "session/ready", 2) {
            self.shown = 0;
        } else if self.is_mine(fact, "session/ended", 4) {
            self.tell_end(fact, terminal);
            return Ok(Some(Evaluated::Failed));
        }
        Ok(None)
    }

    /// Says whether a fact is a record about this session with so many fields.
    fn is_mine(&self, value: &IOValue, label: &str, fields: usize) -> bool {
        value.is_simple_record(label, Some(fields)) && IOValue::from(value.index(1)) == self.session.encode()
    }

    fn tell_end(&mut self, value: &IOValue, terminal: &mut Terminal) {
        let reason = String::decode(&value.index(3).into()).unwrap_or_default();
        terminal.message(format!(
            "this session has ended: {reason}; the next text begins another one, without its definitions"
        ));
        self.shown = 0;
        self.open.clear();
        self.calls.clear();
    }

    fn show(&mut self, event: Event, text: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
        if event.number <= self.shown {
            return Ok(());
        }
        self.shown = event.number;
        match event.kind {
            Kind::Output(output) => return terminal.data(Text::lines(&output)),
            Kind::Log(line) => terminal.message(line),
            Kind::Result(values) => {
                let (limit, is_typed) = (self.characters_max, self.line_editor.is_some());
                let mut values = values.into_iter();
                return values.try_for_each(|value| terminal.data(value.shown(limit, is_typed)));
            }
            Kind::Error(failure) => {
                let texts = texts(&failure, text);
                terminal.message(render::uncaught(&failure, &texts, &[], terminal.is_styled));
            }
            Kind::Question(asked) => self.open.add(asked),
            Kind::Closed(id) => drop(self.open.close(&id)),
            Kind::Stale(_) => terminal.message("this question was answered before, or is not asked any more"),
            Kind::Tool { id, tool, status } if matches!(status.as_str(), "called" | "waiting") => {
                self.calls.insert(id, tool);
            }
            Kind::Tool { id, .. } => drop(self.calls.remove(&id)),
        }
        Ok(())
    }

    /// Puts a question of the session to the person; false if it stays open while the person does
    /// something else.
    fn put(
        &mut self,
        asked: &SessionQuestion,
        patience: &mut Patience,
        terminal: &mut Terminal,
    ) -> Result<bool, CommandError> {
        if self.line_editor.is_none() {
            terminal.message(asked.told());
            return Ok(false);
        }
        while self.open.has(&asked.id) {
            let question = asked.shown();
            match self.read(LineRequest::Answer { question }, Some(asked), terminal)? {
                // Somebody else may have answered meanwhile.
                Some(Line::Input(_)) if !self.open.has(&asked.id) => {}
                Some(Line::Input(line)) => match asked.answer(&line) {
                    Err(wrong) => {
                        terminal.message(wrong.to_string());
                        continue;
                    }
                    Ok(value) => {
                        if !self.send_answer(asked, value, terminal)? {
                            return Ok(false);
                        }
                    }
                },
                Some(Line::End) if asked.is_line() => drop(self.send_answer(asked, IOValue::new(false), terminal)?),
                Some(Line::End) => {
                    terminal.message("the question stays open; `,answer TEXT` answers it");
                    return Ok(false);
                }
                Some(Line::Interrupted) => self.is_interrupted.store(true, Ordering::Relaxed),
                None => {}
            }
            break;
        }
        *patience = Patience::default();
        Ok(true)
    }

    /// Sends an answer; says why if it is refused.
    fn send_answer(
        &mut self,
        asked: &SessionQuestion,
        value: IOValue,
        terminal: &mut Terminal,
    ) -> Result<bool, CommandError> {
        if !asked.is_approval {
            let fields = vec![symbol(":question"), asked.id.encode(), symbol(":payload"), value];
            return self.tell("session/answer", fields);
        }
        match self.connection.approve(&self.session, &asked.id, value) {
            Ok(()) => Ok(true),
            Err(CommandError::Problem(problem)) => {
                terminal.message(render::problem(&problem, terminal.speaker, terminal.is_styled));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Answers an open question with a text whose first word may be its number, and goes on with
    /// the text that waits for it.
    ///
    /// # Errors
    /// If the journal fails, or whoever executes the run refuses.
    pub(crate) fn answer(&mut self, text: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
        let mut found = self.open.answered(text);
        // The question may be on its way.
        for _ in 0..LOOKS_MAX / 6 {
            if found.is_ok() {
                break;
            }
            self.go_on(None, terminal)?;
            found = self.open.answered(text);
        }
        let (asked, answer) = match found {
            Ok(found) => found,
            Err(why) => {
                terminal.message(why);
                return Ok(Evaluated::Failed);
            }
        };
        match asked.answer(answer) {
            Ok(value) => {
                if !self.send_answer(&asked, value, terminal)? {
                    return Ok(Evaluated::Failed);
                }
            }
            Err(wrong) => {
                terminal.message(wrong.to_string());
                return Ok(Evaluated::Failed);
            }
        }
        match self.pending.take() {
            Some(request) => self.pursue(request, terminal),
            None => Ok(Evaluated::Done),
        }
    }

    /// Reads a line, and shows meanwhile what the session says.
    fn read(
        &mut self,
        wanted: LineRequest,
        asked: Option<&SessionQuestion>,
        terminal: &mut Terminal,
    ) -> Result<Option<Line>, CommandError> {
        prompt::read(self, wanted, terminal, |guest, terminal| guest.go_on(asked, terminal))
    }

    /// Shows what has come while the person types.
    fn go_on(&mut self, asked: Option<&SessionQuestion>, terminal: &mut Terminal) -> Result<PromptEvent, CommandError> {
        let Some(news) = self.connection.news()? else {
            terminal.message(format!("{}; Enter leaves", self.connection.alone()));
            return Ok(PromptEvent::Alone);
        };
        let was_open = asked.is_some_and(|asked| self.open.has(&asked.id));
        let nothing = Request::default();
        let request = self.pending.take().unwrap_or(nothing);
        let went_back = news.iter().any(|said| matches!(said, News::WentBack(_)));
        let done = self.hear(news, &request, terminal)?;
        if !request.text.is_empty() {
            match done {
                Some(_) => self.ended = done,
                None => self.pending = Some(request),
            }
        }
        match asked {
            Some(asked) if was_open && !self.open.has(&asked.id) => {
                terminal.message(if went_back {
                    "this is not asked any more; Enter goes on"
                } else {
                    "somebody else has answered; Enter goes on"
                });
            }
            Some(_) => {}
            None => {
                while let Some(asked) = self.open.unseen() {
                    terminal.message(asked.told());
                }
            }
        }
        Ok(PromptEvent::GoesOn)
    }
}

/// A text that the session evaluates.
struct Request {
    tag: IOValue,
    text: String,
}

impl Default for Request {
    /// None: the tag of what a session says outside of requests.
    fn default() -> Self {
        Self {
            tag: IOValue::new(false),
            text: String::new(),
        }
    }
}

/// The number of characters of a value that a person at a terminal sees at first, a few screens.
const CHARACTERS_MAX: usize = 8000;

/// How long a person has waited for a session, and what was said about it.
#[derive(Default)]
struct Patience {
    /// The number of looks at the run that showed nothing, one after the other.
    looks: u32,
    is_cancelled: bool,
}

/// The number of looks after which a person learns what the session waits for; about 3 s.
const LOOKS_MAX: u32 = 60;

impl Patience {
    fn look(&mut self, is_quiet: bool) {
        self.looks = if is_quiet { self.looks + 1 } else { 0 };
    }

    /// What the session waits for, once, when it has been quiet for a while.
    fn complaint(&self, open: &Open, calls: &BTreeMap<String, String>) -> Option<String> {
        if self.looks != LOOKS_MAX {
            return None;
        }
        if let Some(asked) = open.oldest() {
            let number = asked.number;
            return Some(format!(
                "question {number} is still open; `,answer {number} TEXT` answers it"
            ));
        }
        let tools: Vec<&str> = calls.values().map(String::as_str).collect();
        (!tools.is_empty()).then(|| format!("waiting for {}", tools.join(", ")))
    }
}

/// The names that a session sees.
struct SessionNames(Vec<(String, bool)>);

impl Scope for SessionNames {
    fn names(&self) -> Vec<Candidate> {
        let names = self.0.iter().cloned();
        names
            .map(|(name, is_keyword)| Candidate {
                signature: describe::signature(&name),
                name,
                is_keyword,
            })
            .collect()
    }
}

/// The text that a failure refers to.
fn texts(failure: &Failure, text: &str) -> SourceTexts {
    let origin = failure.origin.as_ref().map(|origin| origin.source.clone());
    SourceTexts::named_texts(origin.into_iter().map(|name| (name, Arc::from(text))).collect())
}
