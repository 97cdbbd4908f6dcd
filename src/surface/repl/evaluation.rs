//! The pace of a session: how long the prompt waits for a text, and what goes on below the prompt.
//!
//! Owns the evaluation of one text, the questions of the program, and the reports about failures in
//! the background.
//! INVARIANT: the prompt returns as soon as the text's own evaluation has ended or can no longer go
//! on by itself; one interruption ends it; and a failure in the background is reported once.
//! It does not know commands; `owner.rs` does.
//! Read next: `session.rs`, then the crate's `owner/owned_run/stepwise.rs`.

use std::io;
use std::num::NonZeroU64;

use duet_drivers::ask::Question;
use duet_drivers::text::Text;
use duet_journal::Sequence;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::{did_you_mean, similar_names};
use duet_runtime::action::Action;
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure::Failure;
use duet_runtime::model::identity::FiberId;
use duet_runtime::record::{Body, Outcome, TurnRecord};
use duet_runtime::run::Advance;
use duet_runtime::run::questions::OpenQuestion;
use duet_runtime::state::event::Event;
use preserves::ValueImpl;

use super::command::Command;
use super::complete::Names;
use super::editor::Line;
use super::editor_thread::{EditorThread, LineRequest};
use super::owner;
use super::pipe::Pipe;
use super::prompt::{self, EditedText, Evaluated, Prompt, PromptEvent};
use super::session::{After, Live, limiting_text};
use super::session_question::SessionQuestion;
use crate::history::turn;
use crate::owner::owned_run::Waited;
use crate::text::error::{CommandError, ExitCode};
use crate::text::exports::home_of;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::act::goto;
use crate::verb::stale::outdated_since;

/// The maximum number of turns that follow from a text before the next text of a file; fibers that
/// yield without end go on beside it.
const TURNS_MAX: usize = 1_000;

/// Why the session stopped waiting for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// Its evaluation has ended.
    Ended,
    /// It waits, and nothing is under way that could end its wait.
    Waiting,
    /// The person interrupts it.
    Interrupted,
}

/// The failure of a text.
struct FailedText {
    failure: Failure,
    /// Whether the text was evaluated in the one turn that failed.
    is_whole: bool,
}

impl FailedText {
    /// The failure of a turn, if it failed.
    fn of(turn: TurnRecord) -> Option<Self> {
        let is_whole = turn.events.iter().any(|event| matches!(event, Event::Evaluate { .. }));
        match turn.outcome {
            Outcome::Failed { failure } => Some(Self { failure, is_whole }),
            Outcome::Committed {} => None,
        }
    }
}

impl Prompt for Live {
    fn line_editor(&mut self) -> Option<&mut EditorThread> {
        self.prompt_state.line_editor.as_mut()
    }

    fn greet(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        terminal.message(format!(
            "duet {}, session {}; `,help` lists the commands",
            env!("CARGO_PKG_VERSION"),
            self.name()
        ));
        self.tell_end(terminal);
        Ok(())
    }

    fn read_input(&mut self, terminal: &mut Terminal) -> Result<Option<Line>, CommandError> {
        let prompt = format!("{}@{}> ", self.name(), self.turn()).into();
        self.owned.inspector().prepare_names();
        let names = Names::of(self);
        let wanted = LineRequest::Input { prompt, names };
        prompt::read(self, wanted, terminal, |live, terminal| live.go_on(true, terminal))
    }

    fn forget_interruptions(&mut self) {
        self.owned.forget_interruptions();
    }

    fn read_piped(&mut self, terminal: &mut Terminal) -> Result<String, CommandError> {
        self.pipe().ask();
        let mut is_there = self.pipe().has_line_soon();
        while !is_there {
            match self.owned.advance(&mut *self.store)? {
                Advance::Turn | Advance::Interrupted => {}
                Advance::Idle | Advance::Ended { .. } => {
                    self.report(terminal)?;
                    if !self.pipe().has_line() {
                        self.owned.wait();
                    }
                }
            }
            is_there = self.pipe().has_line();
        }
        self.pipe().wait().map_err(|error| unreadable(&error))
    }

    fn evaluate(&mut self, text: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
        if self.tell_end(terminal) {
            return Ok(Evaluated::Failed);
        }
        let before = self.owned.head();
        let older = self.owned.view().newest_evaluation();
        let sources = self.sources(text);
        let loaded = self.owned.inspector().loaded_units();
        self.renew_traced();
        if !self.owned.evaluate(text.to_owned(), sources)? {
            // The interruption that withdrew the text is still to be taken.
            self.owned.advance(&mut *self.store)?;
            terminal.message("interrupted");
            return Ok(Evaluated::Failed);
        }
        self.tell_calls(terminal);
        let pause = self.pursue(older, terminal)?;
        self.owned.settle(&mut *self.store)?;
        self.tell_calls(terminal);
        let own = if pause == Pause::Ended {
            self.own_failure()?
        } else {
            None
        };
        match (pause, own) {
            (Pause::Interrupted, _) => return self.give_up(before, older, terminal),
            (Pause::Ended, Some(failed)) if failed.failure.is_interruption() => {
                let given_up = self.give_up(before, older, terminal)?;
                // The interruption itself is still to be taken.
                self.owned.advance(&mut *self.store)?;
                return Ok(given_up);
            }
            (Pause::Ended, Some(failed)) => {
                return self.tell_own(&failed, before, terminal);
            }
            (Pause::Ended, None) => {}
            (Pause::Waiting, _) => self.tell_waits(terminal),
        }
        if self.prompt_state.line_editor.is_none() {
            self.catch_up()?;
        }
        self.report(terminal)?;
        self.tell_outdated(loaded, terminal);
        Ok(match self.owned.exit() {
            Some(code) => Evaluated::Ended(ExitCode::of_run(code)),
            None => Evaluated::Done,
        })
    }

    fn names_with(&self, word: &str) -> Vec<String> {
        let names = self.owned.view().names().into_iter().map(|(name, _)| name);
        names.filter(|name| name.contains(word)).collect()
    }

    fn last_loaded(&mut self) -> Result<Option<String>, CommandError> {
        Self::last_loaded(self)
    }

    fn limit_printed(
        &mut self,
        characters_max: Option<NonZeroU64>,
        terminal: &mut Terminal,
    ) -> Result<Evaluated, CommandError> {
        self.evaluate(&limiting_text(characters_max), terminal)
    }

    fn edit(&mut self, name: Option<&str>) -> Result<EditedText, CommandError> {
        self.edited(name)
    }

    fn obey(self, command: Command, terminal: &mut Terminal) -> Result<(Self, Evaluated), CommandError> {
        owner::obey(self, command, terminal)
    }

    fn go_back(self, turn: Sequence, terminal: &mut Terminal) -> Result<Self, CommandError> {
        let back = goto::Request::to(format!("{}@{turn}", self.address())).into();
        self.lend(&back, &After::Here, terminal)
    }

    fn come_to_rest(&mut self, terminal: &mut Terminal) -> Result<bool, CommandError> {
        self.prompt_state.streams.close();
        self.owned.run_on(&mut *self.store)?;
        self.report(terminal)?;
        Ok(!self.prompt_state.has_failed)
    }
}

impl Live {
    /// Says that the session is over and how it goes on, and whether it is over.
    pub(crate) fn tell_end(&self, terminal: &mut Terminal) -> bool {
        let is_over = self.owned.exit().is_some();
        if is_over {
            terminal.message("the session is over; `,back` goes back to before its end");
        }
        is_over
    }

    /// Says what goes on in the code of procedures that a text has defined anew; `loaded` units of
    /// code were there before it.
    fn tell_outdated(&mut self, loaded: usize, terminal: &mut Terminal) {
        let outdated = outdated_since(loaded, self.owned.inspector().into_run());
        let Some((first, others)) = outdated.split_first() else {
            return;
        };
        let told = format!("goes on in the code before: {first}");
        terminal.message(match (others.len(), &self.journal) {
            (0, _) => say![told],
            (count, Some(_)) => say![
                format!("{told}, and {count} more; "),
                Way::at("stale", self.place.name()),
                " lists them",
            ],
            (count, None) => say![format!("{told}, and {count} more")],
        });
    }

    /// Lets the run go on until the evaluations that are newer than a given one have ended.
    fn pursue(&mut self, older: Option<FiberId>, terminal: &mut Terminal) -> Result<Pause, CommandError> {
        loop {
            if self.owned.view().newest_evaluation() <= older {
                return Ok(Pause::Ended);
            }
            self.tell_next_calls(terminal)?;
            match self.owned.advance(&mut *self.store)? {
                Advance::Turn => self.tell_calls(terminal),
                Advance::Ended { .. } => return Ok(Pause::Ended),
                Advance::Interrupted => return Ok(Pause::Interrupted),
                Advance::Idle => {
                    if let Some(pause) = self.await_world(terminal)? {
                        return Ok(pause);
                    }
                }
            }
        }
    }

    /// Takes the turns that follow from a text at once, so that texts from a file have the same
    /// output each time.
    fn catch_up(&mut self) -> Result<(), CommandError> {
        for _ in 0..TURNS_MAX {
            if self.owned.advance(&mut *self.store)? != Advance::Turn {
                break;
            }
        }
        self.owned.settle(&mut *self.store)
    }

    /// Waits for the world or the person, where the run cannot go on by itself.
    fn await_world(&mut self, terminal: &mut Terminal) -> Result<Option<Pause>, CommandError> {
        self.report(terminal)?;
        if let Some(question) = self
            .unseen_question()
            .filter(|_| self.prompt_state.line_editor.is_some())
        {
            return self.ask(&question, terminal);
        }
        if self.prompt_state.streams.is_input_wanted() && self.owned.view().is_reading() {
            return self.read_for_program(terminal);
        }
        if !self.owned.is_expecting() {
            return Ok(Some(Pause::Waiting));
        }
        Ok((self.owned.wait() == Waited::Interrupted).then_some(Pause::Interrupted))
    }

    /// Asks the person a question of the program; with the end of input it stays open.
    fn ask(&mut self, question: &OpenQuestion, terminal: &mut Terminal) -> Result<Option<Pause>, CommandError> {
        match self.read_line(Question::read(&question.prompt).shown(), terminal)? {
            Line::Interrupted => return Ok(Some(Pause::Interrupted)),
            Line::End => {
                self.prompt_state.seen.insert(question.request);
            }
            Line::Input(line) => {
                if let Err(CommandError::Problem(problem)) = self.owned.answer(question, &line) {
                    terminal.message(&problem.what);
                }
            }
        }
        Ok(None)
    }

    /// Reads a line that the program wants from standard input.
    fn read_for_program(&mut self, terminal: &mut Terminal) -> Result<Option<Pause>, CommandError> {
        let line = if self.prompt_state.line_editor.is_some() {
            self.read_line(Text::from(""), terminal)?
        } else {
            self.pipe().ask();
            let line = self.pipe().wait().map_err(|error| unreadable(&error))?;
            self.prompt_state.streams.give(line.into_bytes());
            return Ok(None);
        };
        match line {
            Line::Interrupted => return Ok(Some(Pause::Interrupted)),
            Line::End => self.prompt_state.streams.give(Vec::new()),
            Line::Input(line) => self.prompt_state.streams.give(format!("{line}\n").into_bytes()),
        }
        Ok(None)
    }

    fn pipe(&mut self) -> &mut Pipe {
        let waker = self.prompt_state.streams.waker();
        self.prompt_state.pipe.get_or_insert_with(|| Pipe::start(waker))
    }

    fn read_line(&mut self, question: Text, terminal: &mut Terminal) -> Result<Line, CommandError> {
        let wanted = LineRequest::Answer { question };
        let line = prompt::read(self, wanted, terminal, |live, terminal| live.go_on(false, terminal))?;
        Ok(line.unwrap_or(Line::End))
    }

    /// Lets the run go on for a turn, or until an input or a typed line comes.
    fn go_on(&mut self, is_prompt: bool, terminal: &mut Terminal) -> Result<PromptEvent, CommandError> {
        match self.owned.advance(&mut *self.store)? {
            Advance::Turn if self.owned.is_settled() => self.report(terminal)?,
            Advance::Turn => {}
            Advance::Interrupted => return Ok(self.interrupted()),
            Advance::Idle | Advance::Ended { .. } => {
                self.report(terminal)?;
                if is_prompt {
                    self.tell_questions(terminal);
                }
                if !prompt::has_line(self) && self.owned.wait() == Waited::Interrupted {
                    return Ok(self.interrupted());
                }
            }
        }
        Ok(PromptEvent::GoesOn)
    }

    /// What an interruption means: the terminal sends a signal only after the editor has returned.
    fn interrupted(&mut self) -> PromptEvent {
        if self
            .prompt_state
            .line_editor
            .as_mut()
            .is_some_and(EditorThread::has_line_soon)
        {
            PromptEvent::Interrupted
        } else {
            PromptEvent::GoesOn
        }
    }

    /// Ends the evaluations that the person interrupted.
    fn give_up(
        &mut self,
        before: Sequence,
        older: Option<FiberId>,
        terminal: &mut Terminal,
    ) -> Result<Evaluated, CommandError> {
        if self.owned.view().newest_evaluation() > older {
            self.owned.abandon()?;
            self.owned.settle(&mut *self.store)?;
            self.report(terminal)?;
        } else {
            self.report_before_newest(terminal)?;
        }
        terminal.message("interrupted");
        if self.can_take_back(before)? {
            return Ok(Evaluated::PartlyDone(before));
        }
        terminal.message("what was done before stands; `,back` takes it back");
        Ok(Evaluated::Failed)
    }

    /// The failure of the text whose evaluation ended in the newest turn.
    fn own_failure(&mut self) -> Result<Option<FailedText>, CommandError> {
        let newest = self.turn_at(self.owned.head())?;
        Ok(newest.filter(|turn| turn.actor == MAIN).and_then(FailedText::of))
    }

    fn turn_at(&mut self, at: Sequence) -> Result<Option<TurnRecord>, CommandError> {
        match turn::body(&self.record_at(at)?)? {
            Body::Turn(turn) => Ok(Some(turn)),
            Body::Genesis(_) => Ok(None),
        }
    }

    /// Reports the failure of a text in the newest turn.
    fn tell_own(
        &mut self,
        failed: &FailedText,
        before: Sequence,
        terminal: &mut Terminal,
    ) -> Result<Evaluated, CommandError> {
        self.report_before_newest(terminal)?;
        let FailedText { failure, is_whole } = failed;
        let is_torn = !is_whole && self.can_take_back(before)?;
        let mut ways = self.meant(failure).into_iter().collect::<Vec<_>>();
        if !is_torn {
            ways.push(self.way_to_see(self.owned.head()));
        }
        if !is_torn && !is_whole {
            ways.push("what was done before that turn stands; `,back` takes it back".to_owned());
        }
        self.owned.tell_failure(failure, &ways, terminal);
        Ok(if is_torn {
            Evaluated::PartlyDone(before)
        } else {
            Evaluated::Failed
        })
    }

    fn way_to_see(&self, at: Sequence) -> String {
        format!("`,show {at}` shows the turn that failed; it left no other trace")
    }

    /// Reports the failures in the background, up to the newest durable turn.
    fn report(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        self.tell_calls(terminal);
        self.report_until(self.owned.view().newest_durable(), terminal)
    }

    /// Reports the failures in the background before the newest turn, which is reported otherwise.
    fn report_before_newest(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let newest = self.owned.head();
        let before = Sequence::new(newest.number().saturating_sub(1)).unwrap_or(Sequence::FIRST);
        self.report_until(before, terminal)?;
        self.reported = newest;
        Ok(())
    }

    fn report_until(&mut self, newest: Sequence, terminal: &mut Terminal) -> Result<(), CommandError> {
        while let Some(at) = self.reported.next().filter(|at| *at <= newest) {
            self.reported = at;
            let Some(turn) = self.turn_at(at)? else {
                continue;
            };
            // The session's world shows the failures of other actors that nobody takes.
            let is_reported = |action: &Action| matches!(action, Action::ReportFailure(_));
            self.prompt_state.has_failed |= turn.actions.iter().any(is_reported);
            if turn.actor == MAIN
                && let Outcome::Failed { failure } = &turn.outcome
            {
                self.prompt_state.has_failed = true;
                let who = "it happened in the background: what failed has ended, the session goes on".to_owned();
                self.owned.tell_failure(failure, &[who, self.way_to_see(at)], terminal);
            }
        }
        Ok(())
    }

    /// The oldest open question that the person has not seen.
    fn unseen_question(&self) -> Option<OpenQuestion> {
        let mut open = self.owned.view().open_questions().into_iter();
        open.find(|open| !self.prompt_state.seen.contains(&open.request))
    }

    /// Shows the questions that came up while the prompt stands.
    fn tell_questions(&mut self, terminal: &mut Terminal) {
        while let Some(OpenQuestion { request, prompt, .. }) = self.unseen_question() {
            self.prompt_state.seen.insert(request);
            let asked = SessionQuestion {
                number: request.0,
                id: String::new(),
                is_approval: self.owned.view().is_approval(request),
                prompt,
                is_put: true,
            };
            terminal.message(asked.told());
        }
    }

    /// Answers an open question with a text whose first word may name it, and takes the turns that
    /// follow, so that the next answer finds the next question.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn answer(&mut self, text: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
        let named = text
            .split_once(char::is_whitespace)
            .and_then(|(named, rest)| Some((self.owned.view().question(Some(named))?, rest.trim_start())));
        let asked = named.or_else(|| Some((self.owned.view().question(None)?, text)));
        let Some((question, answer)) = asked else {
            terminal.message(if self.owned.view().open_questions().is_empty() {
                "no question is open"
            } else {
                "what asks for approval has to be named by its number: `,waits` shows it"
            });
            return Ok(());
        };
        if let Err(CommandError::Problem(problem)) = self.owned.answer(&question, answer) {
            terminal.message(&problem.what);
        }
        self.catch_up()
    }

    /// Says why the prompt is back although the text has not ended.
    fn tell_waits(&self, terminal: &mut Terminal) {
        if self.owned.view().open_questions().is_empty() {
            let fibers = self.owned.view().waiting_fibers();
            terminal.message(format!("waiting: {fibers}; `,waits` lists them"));
        } else {
            terminal.message("a question is open; `,waits` shows it, `,answer TEXT` answers it");
        }
    }

    /// Says which library has the name that has no value, or asks whether a similar one was meant.
    fn meant(&self, failure: &Failure) -> Option<String> {
        let missing = failure
            .irritants
            .first()
            .filter(|_| failure.kind == Failure::UNDEFINED_VARIABLE)?;
        let name = missing.as_symbol()?;
        if let Some(library) = home_of(&name) {
            return Some(format!("`{name}` is in `{library}`: `(import {library})` brings it"));
        }
        let names: Vec<Name> = self
            .owned
            .view()
            .names()
            .into_iter()
            .map(|(name, _)| Name::from(name.as_str()))
            .collect();
        did_you_mean(&similar_names(
            &name,
            names.iter().filter(|known| known.as_str() != name),
        ))
    }

    /// Whether nothing was asked of the world after a turn, and the journal can go back to it
    /// without the loss of a call that is under way.
    fn can_take_back(&mut self, before: Sequence) -> Result<bool, CommandError> {
        let mut next = before.next();
        while let Some(at) = next.filter(|at| *at <= self.owned.head()) {
            if let Some(turn) = self.turn_at(at)?
                && turn.actions.iter().any(|action| action.effects().next().is_some())
            {
                return Ok(false);
            }
            next = at.next();
        }
        Ok(self.journal.is_some() && !self.owned.view().is_calling())
    }
}

fn unreadable(error: &io::Error) -> CommandError {
    CommandError::caused("standard input cannot be read", error)
}
