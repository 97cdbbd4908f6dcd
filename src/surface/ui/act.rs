//! Acts of a page: what a person does there, as the request and the command that do the same.
//!
//! INVARIANT: a page sets the members of a request that its act names and no others; a run that
//! goes on has what the person granted who started the page. It performs nothing. Read next:
//! `verb/act/amend.rs`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::history::journal::Journal;
use crate::text::error::CommandError;
use crate::text::saying::quoted;
use crate::verb::Request;
use crate::verb::act::{amend, answer, fork, goto, resume, stop, undo};
use crate::world::world_options::WorldArguments;

/// An act.
#[derive(Debug, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Act {
    /// Begins a branch at a turn.
    Fork { address: String, branch: String },
    /// Takes a branch to a turn.
    Goto { address: String },
    /// Takes the last move of a branch back.
    Undo { address: String },
    /// Begins a branch with another input, which is a text that `input` of the turn reports,
    /// edited.
    Amend {
        address: String,
        text: String,
        branch: Option<String>,
    },
    /// Answers a question.
    Answer {
        address: String,
        request: u64,
        text: String,
    },
    /// Goes on with a run.
    Resume { address: String },
    /// Stops a run that another process executes.
    Stop { address: String },
}

/// What an act asks for, and the command that does the same.
pub(crate) struct PageCommand {
    pub(crate) request: Request,
    name: &'static str,
    options: Vec<String>,
    words: Vec<String>,
}

impl PageCommand {
    fn of(name: &'static str, words: Vec<String>, request: impl Into<Request>) -> Self {
        Self {
            request: request.into(),
            name,
            options: Vec::new(),
            words,
        }
    }

    /// The command as a person types it in a shell.
    pub(crate) fn shown(&self) -> String {
        let is_option = |word: &String| word.starts_with('-');
        let mut words = vec!["duet".to_owned(), self.name.to_owned()];
        words.extend(self.options.iter().map(|word| quoted(word)));
        if self.words.iter().any(is_option) {
            words.push("--".to_owned());
        }
        words.extend(self.words.iter().map(|word| quoted(word)));
        words.join(" ")
    }
}

impl Act {
    /// What the act asks for, within what the person grants who started the page.
    ///
    /// # Errors
    /// If the input of the turn cannot be changed.
    pub(crate) fn command(self, journal: &Journal, granted: &WorldArguments) -> Result<PageCommand, CommandError> {
        let refused = |why: String| CommandError::usage(why);
        Ok(match self {
            Self::Fork { address, branch } => {
                let request = read::<fork::Request>(json!({ "address": address, "branches": [branch] }))?;
                PageCommand::of("fork", vec![address, branch], request)
            }
            Self::Goto { address } => PageCommand::of("goto", vec![address.clone()], goto::Request::to(address)),
            Self::Undo { address } => {
                let request = read::<undo::Request>(json!({ "address": address }))?;
                PageCommand::of("undo", vec![address], request)
            }
            Self::Amend { address, text, branch } => {
                let input = amend::input_of(journal, &address, &text)?;
                let request = amend::Request::of(address.clone(), input.clone()).on(branch.clone());
                PageCommand {
                    options: branch.map(|branch| format!("--branch={branch}")).into_iter().collect(),
                    ..PageCommand::of(
                        "amend",
                        vec![address, input],
                        request.of_person(granted).map_err(refused)?,
                    )
                }
            }
            Self::Answer { address, request, text } => {
                let words = [request.to_string(), text];
                let request = read::<answer::Request>(json!({ "address": address, "words": words }))?;
                let request = request.within(granted).map_err(refused)?;
                PageCommand::of("answer", [address].into_iter().chain(words).collect(), request)
            }
            Self::Resume { address } => {
                let request = read::<resume::Request>(json!({ "address": address }))?;
                let request = request.within(granted, false).map_err(refused)?;
                PageCommand::of("resume", vec![address], request)
            }
            Self::Stop { address } => {
                let request = read::<stop::Request>(json!({ "address": address }))?;
                PageCommand::of("stop", vec![address], request)
            }
        })
    }
}

/// Reads a request from its members.
fn read<R: DeserializeOwned>(members: Json) -> Result<R, CommandError> {
    serde_json::from_value(members).map_err(|error| CommandError::caused("the act is not understood", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(act: Json) -> PageCommand {
        let act: Act = serde_json::from_value(act).expect("an act");
        let command = act.command(&Journal::default(), &WorldArguments::default());
        command.expect("a command")
    }

    #[test]
    fn the_command_of_an_act_is_one_that_a_shell_reads() {
        let command = command(json!({ "act": "answer", "address": "p/main", "request": 3, "text": "it's $5; -y" }));
        assert_eq!(command.shown(), "duet answer p/main 3 'it'\\''s $5; -y'");
    }

    #[test]
    fn words_of_the_page_are_no_options() {
        let command = command(json!({ "act": "fork", "address": "--journal=/etc/passwd", "branch": "-x" }));
        assert_eq!(command.shown(), "duet fork -- --journal=/etc/passwd -x");
    }
}
