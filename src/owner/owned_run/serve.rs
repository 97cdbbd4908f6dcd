//! What the owner of a run does for other processes: what they ask for becomes an input of the run,
//! a turn like any other.
//!
//! INVARIANT: an answer says what is durable; a refused request has changed nothing.
//! It does not know how requests come in. Read next: the crate's `owner/doors.rs`.

use duet_drivers::door::Request;
use duet_journal::{BranchName, Letter, Sequence, Store, Taken};
use duet_runtime::codec_enum;
use duet_runtime::driver::{Drivers, Input, check_foreign};
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::value::Fact;
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::error::RunError;
use duet_runtime::run::heads;
use duet_runtime::run::questions::OpenQuestion;
use duet_runtime::run::source::HeldBranch;
use duet_runtime::scheme::SchemePrograms;
use preserves::{IOValue, ValueImpl};

use super::{OwnedRun, rescue};
use crate::history::journal::Place;
use crate::history::turn;
use crate::owner::mail;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;

/// What a command may ask the owner of a run for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnerRequest {
    /// To answer a question with a text: the one that is named, or the oldest. With a kind, the
    /// answer is a failure of this kind, and the text is its message.
    Answer {
        named: Option<String>,
        text: String,
        fails: Option<String>,
    },
    /// To evaluate a text in the run.
    Evaluate { text: String },
    /// To tell the dataspace something that becomes a fact, or a message.
    Tell { value: IOValue, stays: bool },
    /// To take a request over HTTP that came for the webhook of a name.
    Webhook { name: String, request: IOValue },
    /// To put a changed text in the place of the one that the run executes.
    Patch { text: ChangedText },
    /// To begin branches at a turn.
    Fork { turn: u64, branches: Vec<String> },
    /// To answer what a session wants approved.
    Approve {
        session: String,
        question: String,
        answer: IOValue,
    },
    /// To execute a further branch of the run.
    Branch { name: String },
    /// To list the names that a session sees, each with whether it is a keyword.
    Names { session: String },
    /// To stop.
    Stop {},
}

codec_enum!(OwnerRequest "a request to an owner" {
    Answer "answer" { named, text, fails }
    Evaluate "evaluate" { text }
    Tell "tell" { value, stays }
    Webhook "webhook" { name, request }
    Patch "patch" { text }
    Fork "fork" { turn, branches }
    Approve "approve" { session, question, answer }
    Branch "branch" { name }
    Names "names" { session }
    Stop "stop" {}
});

impl OwnerRequest {
    /// Returns the request as it is sent.
    pub(crate) fn encode(&self) -> IOValue {
        Codec::encode(self)
    }
}

/// Why a request was not granted.
pub(super) enum Refusal {
    /// It changed nothing.
    Why(String),
    /// The run cannot go on.
    Run(RunError),
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        Self::Why(error.first_line())
    }
}

/// Refuses a value that the run cannot hold, before anything is recorded.
fn fitting(value: &IOValue) -> Result<(), Refusal> {
    let refuse = |unfit| Refusal::Why(format!("the run cannot receive this value: {unfit}"));
    check_foreign(value).map_err(refuse)
}

impl OwnedRun {
    /// Grants or refuses what other processes have asked for. Returns the request to stop, if there
    /// is one, which is answered when the run has stopped.
    ///
    /// # Errors
    /// If the run cannot go on.
    pub(super) fn attend(&mut self, store: &mut dyn Store) -> Result<Option<Request>, RunError> {
        if let Some(trouble) = self.ownership.lease().take_trouble() {
            self.world.tell(trouble);
        }
        if self.ownership.lease().is_lost() {
            store.check_claim(self.run.id(), self.run.epoch())?;
        }
        while let Some(request) = self.world.take_asked() {
            // A process that was stopped may have lost the run since the request came.
            store.check_claim(self.run.id(), self.run.epoch())?;
            let here = format!("{}/{}", self.run.id(), self.run.branch());
            let is_of_run = request.what.is_simple_record("branch", Some(1));
            if request.run != here && !is_of_run {
                let there = request.run.clone();
                request.reply(Err(format!(
                    "the process that owns the run executes {here}, not {there}; at a prompt `,switch` goes to the one \
                     or the other, and `duet stop {here}` stops it"
                )));
                continue;
            }
            let Ok(owner_request) = OwnerRequest::decode(&request.what) else {
                request.reply(Err(
                    "the process that owns the run does not know this request; it is of another version".to_owned(),
                ));
                continue;
            };
            if owner_request == (OwnerRequest::Stop {}) {
                return Ok(Some(request));
            }
            // What came before it, has its turns before it.
            self.run.catch_up()?;
            match self.grant(owner_request, store, None) {
                Ok(done) => request.reply(Ok(done)),
                Err(Refusal::Why(why)) => request.reply(Err(why)),
                Err(Refusal::Run(error)) => {
                    request.reply(Err(error.to_string()));
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Takes the turns of what came before now in a run that nobody drove: of timers whose
    /// deadlines have passed, in the order of these, and of what they set off.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn catch_up(&mut self, store: &mut dyn Store) -> Result<(), CommandError> {
        let caught_up = self.catch_up_with_timers(store);
        caught_up.map_err(|error| rescue::explained(error, &self.run, store, &self.place))
    }

    fn catch_up_with_timers(&mut self, store: &mut dyn Store) -> Result<(), RunError> {
        if self.run.holds_effects() {
            self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
        }
        // A run that a worker wakes has its next rest in the same commit.
        if self.run_out_timers()? && !self.manner.sleeps {
            self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
        }
        Ok(())
    }

    /// Takes the turns of what came before an input of this process's person: as
    /// [`catch_up`](Self::catch_up), and those that wait to be taken, such as the beginning of a
    /// run that has not begun. So the input is heard as by an owner that executes the run.
    ///
    /// # Errors
    /// As [`catch_up`](Self::catch_up).
    pub(crate) fn come_to_input(&mut self, store: &mut dyn Store) -> Result<(), CommandError> {
        self.leave_when_interrupted();
        self.catch_up(store)?;
        let caught_up = self.run.catch_up();
        caught_up.map_err(|error| rescue::explained(error, &self.run, store, &self.place))
    }

    /// Does for the person of this process what others may ask for.
    ///
    /// # Errors
    /// If it is refused, or the run cannot go on.
    pub(crate) fn fulfil(&mut self, owner_request: OwnerRequest, store: &mut dyn Store) -> Result<(), CommandError> {
        self.come_to_input(store)?;
        match self.grant(owner_request, store, None) {
            Ok(_) => Ok(()),
            Err(Refusal::Why(why)) => Err(CommandError::problem(why)),
            Err(Refusal::Run(error)) => Err(error.into()),
        }
    }

    /// Does what others ask for; with a letter, in the commit that takes it.
    pub(super) fn grant(
        &mut self,
        owner_request: OwnerRequest,
        store: &mut dyn Store,
        letter: Option<&Letter>,
    ) -> Result<IOValue, Refusal> {
        if let Some(code) = self.exit() {
            return Err(Refusal::Why(format!("the run has ended with code {code}")));
        }
        let before = self.head();
        match owner_request {
            OwnerRequest::Answer { named, text, fails } => {
                let question = self
                    .view()
                    .question(named.as_deref())
                    .ok_or_else(|| self.no_question(named))?;
                match fails {
                    Some(kind) => self.fail_question(question.request, &kind, &text)?,
                    None => self.answer_in_time(&question, &text)?,
                }
                self.world.withdraw_question(question.request);
            }
            OwnerRequest::Evaluate { text } => {
                let text = self.world.mask_text(&text);
                let sources = Vec::new();
                self.run.deliver_first(Input::Evaluate { text, sources });
            }
            OwnerRequest::Tell { value, stays } => {
                fitting(&value)?;
                let value = Fact::new(self.world.mask_value(&value));
                let value =
                    value.map_err(|error| Refusal::Why(format!("the run cannot receive this value: {error}")))?;
                self.run.deliver_first(Input::Tell { value, stays });
            }
            OwnerRequest::Webhook { name, request } => {
                fitting(&request)?;
                let call = self.inbox_call(&name).ok_or_else(|| self.no_webhook(&name))?;
                self.run.deliver_first(Input::ToolResult {
                    request: call,
                    outcome: Ok(self.world.mask_value(&request)),
                });
                self.world.withdraw_question(call);
            }
            OwnerRequest::Patch { text } => {
                self.run.deliver_first(Input::Patch { text });
            }
            OwnerRequest::Fork { turn, branches } => {
                self.fork(turn, &branches, store)?;
                return Ok(self.turns(before));
            }
            OwnerRequest::Approve {
                session,
                question,
                answer,
            } => self.approve(&session, &question, answer)?,
            OwnerRequest::Branch { name } => {
                self.begin_branch(&name, store)?;
                return Ok(self.turns(before));
            }
            OwnerRequest::Names { session } => return Ok(self.inspector().names_of(&session).encode()),
            // The run stops when its owner has read this answer; `attend` sees to it.
            OwnerRequest::Stop {} => return Ok(self.turns(before)),
        }
        self.take_turn_of_input()?;
        let done = match self.newest_failure() {
            Some(why) => Err(format!("turn {} failed: {why}", self.head())),
            None => Ok(self.turns(before)),
        };
        if let Some(letter) = letter.filter(|_| self.run.unflushed().is_some()) {
            self.run.hear(Taken {
                letter: letter.id,
                reply: mail::reply(done.clone()),
            });
        }
        self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
        done.map_err(Refusal::Why)
    }

    /// Takes the turn of an input that others have asked for.
    fn take_turn_of_input(&mut self) -> Result<(), Refusal> {
        let patches = self.run.state().patches.len();
        match self.run.step() {
            // The text has left no trace, so the run goes on as it was.
            Err(RunError::Patch(failure)) => return Err(Refusal::Why(failure.to_string())),
            step => step?,
        };
        if self.run.state().patches.len() != patches {
            self.texts = SourceTexts::of(self.run.programs::<SchemePrograms>().expander());
        }
        Ok(())
    }

    /// The turns that a request has led to: those after the first number, up to the second.
    fn turns(&self, before: Sequence) -> IOValue {
        record("turns", vec![before.number().encode(), self.head().number().encode()])
    }

    /// Why the newest turn failed, if it did and is not durable yet.
    fn newest_failure(&self) -> Option<String> {
        let append = self.run.unflushed()?;
        let Ok(Body::Turn(turn)) = turn::body(append.records.last()?) else {
            return None;
        };
        match turn.outcome {
            Outcome::Failed { failure } => Some(failure.to_string()),
            Outcome::Committed {} => None,
        }
    }

    fn fork(&mut self, turn: u64, branches: &[String], store: &mut dyn Store) -> Result<(), Refusal> {
        let why = |error: &dyn std::fmt::Display| Refusal::Why(error.to_string());
        self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
        let turn = Sequence::new(turn).map_err(|error| why(&error))?;
        let names: Result<Vec<BranchName>, _> = branches.iter().map(BranchName::new).collect();
        let names = names.map_err(|error| why(&error))?;
        let held = HeldBranch::new(self.run.id(), self.run.branch(), self.run.epoch());
        heads::fork_held(store, held, turn, &names).map_err(|error| {
            if rescue::is_fenced(&error) {
                Refusal::Run(error)
            } else {
                why(&error)
            }
        })
    }

    /// Answers what a session wants approved, in the place of the person.
    fn approve(&mut self, session: &str, question: &str, value: IOValue) -> Result<(), Refusal> {
        let actor = self.view().actor_of(session);
        let found = self.view().question(Some(question)).filter(|found| {
            let known = self.run.state().requests.get(&found.request);
            self.view().is_approval(found.request) && known.is_some_and(|known| Some(known.actor) == actor)
        });
        fitting(&value)?;
        let OpenQuestion { request, .. } = found
            .ok_or_else(|| Refusal::Why(format!("session {session} asks for no approval of this name any more")))?;
        self.run.deliver_first(Input::Answer { request, value });
        self.world.withdraw_question(request);
        Ok(())
    }

    /// Executes a further branch of the run, unless it is executed already.
    fn begin_branch(&mut self, name: &str, store: &mut dyn Store) -> Result<(), Refusal> {
        let branch = BranchName::new(name).map_err(|error| Refusal::Why(error.to_string()))?;
        if branch == *self.run.branch() || self.ownership.branches().has(&branch) {
            return Ok(());
        }
        let run = self.run.id().clone();
        let head = store.head(&run, &branch).map_err(RunError::from)?;
        let head = head.ok_or_else(|| Refusal::Why(format!("{run} has no branch {branch}")))?;
        let Some(journal) = self.place.journal.clone().filter(|_| !self.place.is_further) else {
            return Err(Refusal::Why("only the owner of a run executes its branches".to_owned()));
        };
        let place = Place {
            run,
            branch,
            head,
            turn: None,
        };
        self.ownership
            .branches()
            .begin(journal, place, self.run.epoch())
            .map_err(Refusal::Why)
    }

    /// The call by which the run waits for requests of a name.
    fn inbox_call(&self, name: &str) -> Option<RequestId> {
        let requests = self.run.state().requests.iter();
        let mut waiting = requests.filter(|(_, request)| request.inbox_name().as_deref() == Some(name));
        waiting.next().map(|(id, _)| *id)
    }

    fn no_webhook(&self, name: &str) -> Refusal {
        let (run, at) = (self.run.id(), self.head());
        Refusal::Why(format!("{run} takes no requests for the webhook `{name}` at turn {at}"))
    }

    fn no_question(&self, named: Option<String>) -> Refusal {
        let (run, at) = (self.run.id(), self.head());
        Refusal::Why(match named {
            Some(named) => format!("{run} has no open question `{named}` at turn {at}"),
            None if self.view().open_questions().is_empty() => format!("{run} asks nothing at turn {at}"),
            None => format!("{run} waits for an approval, which has to be named: `duet waits {run}` lists it"),
        })
    }
}
