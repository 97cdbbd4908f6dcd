//! Verbs: what can be asked of a project, as data, and what it answers, as data.
//!
//! Owns the table from which the request and the report of every verb follow. A surface (the
//! command line, the prompt, a server) makes a [`Request`], [`perform`]s it, and shows the
//! [`Report`].
//! INVARIANT: a verb is one function from a request to a report; no surface adds a meaning of its
//! own. The derive of a request is the only description of its fields: options, the page of
//! commands and the schemas of tools follow from it.
//! Read next: `verb/log.rs`.

pub(crate) mod act;
pub(crate) mod describe;
pub(crate) mod fitting;
pub(crate) mod form;
pub(crate) mod project;
pub(crate) mod rerun;
pub(crate) mod run_times;
pub(crate) mod sought;
pub(crate) mod standing;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::Journal;
use crate::text::error::CommandError;
use crate::text::view::{Told, View};
use crate::verb::act::{amend, answer, double, eval, export, fork, gc, goto, grant, import, mark, merge};
use crate::verb::act::{message, patch, pick, redo, replay, restart, resume, run, signal, stop, undo};
use project::Project;

/// What answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The language itself answers, without a journal.
    Language,
    /// The records answer, so a server answers by itself.
    Records,
    /// A run that is restored answers: its program runs again, so it has a process of its own.
    Restored,
    /// A run that is restored answers by evaluating a text of the asker's.
    Evaluated,
    /// The journal changes, and no program runs.
    Changes,
    /// A run goes on in the world; what it prints and asks is shown as it comes.
    Drives,
}

/// The surfaces that have a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surfaces {
    /// All of them.
    All,
    /// Those of a person: the command line and the prompt.
    People,
    /// Those at which a person agrees to what cannot be taken back.
    Person,
    /// The page alone.
    Page,
}

/// How long a report can be.
enum Length {
    /// As long as a run.
    Long,
    Short,
}

/// One verb.
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    pub(crate) answers: Answers,
    pub(crate) surfaces: Surfaces,
    /// Whether its report is as long as a run, so that it is fitted to the terminal and followed.
    pub(crate) is_long: bool,
    pub(crate) augment: fn(Command) -> Command,
    pub(crate) read: fn(&ArgMatches) -> Result<Request, clap::Error>,
}

macro_rules! verbs {
    ($(
        $(#[doc = $doc:literal])*
        $module:ident $kind:ident $name:literal $answers:ident $surfaces:ident $long:ident
    )* @command {
        $($act:ident $act_kind:ident $act_name:literal $act_answers:ident $act_surfaces:ident)*
    }) => {
        $($(#[doc = $doc])* pub(crate) mod $module;)*

        table! {
            $($module $kind $name $answers $surfaces $long)*
            $($act $act_kind $act_name $act_answers $act_surfaces Short)*
        }
    };
}

macro_rules! table {
    ($($module:ident $kind:ident $name:literal $answers:ident $surfaces:ident $long:ident)*) => {
        /// A request: which verb, and its fields.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(tag = "verb", rename_all = "kebab-case")]
        pub(crate) enum Request {
            $($kind(Box<$module::Request>),)*
        }

        /// The answer to a request.
        pub(crate) enum Report {
            $($kind(Box<$module::Report>),)*
        }

        /// All verbs.
        pub(crate) static TABLE: &[Row] = &[$(Row {
            name: $name,
            answers: Answers::$answers,
            surfaces: Surfaces::$surfaces,
            is_long: matches!(Length::$long, Length::Long),
            augment: $module::Request::augment_args,
            read: |matches| $module::Request::from_arg_matches(matches).map(Request::from),
        },)*];

        impl Request {
            /// The row of the verb.
            pub(crate) fn row(&self) -> &'static Row {
                enum Index {
                    $($kind,)*
                }
                let index = match self {
                    $(Self::$kind(_) => Index::$kind,)*
                };
                &TABLE[index as usize]
            }
        }

        $(impl From<$module::Request> for Request {
            fn from(request: $module::Request) -> Self {
                Self::$kind(Box::new(request))
            }
        })*

        /// Answers a request.
        ///
        /// # Errors
        /// Why it is refused.
        pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
            match request {
                $(Request::$kind(request) => {
                    Ok(Report::$kind(Box::new($module::perform(project, request)?)))
                })*
            }
        }

        impl Report {
            /// The report as JSON.
            pub(crate) fn json(&self) -> Json {
                match self {
                    $(Self::$kind(report) => report.json(),)*
                }
            }

            /// The report in words.
            pub(crate) fn tell(&self, view: &View) -> Told {
                match self {
                    $(Self::$kind(report) => report.tell(view),)*
                }
            }
        }
    };
}

verbs! {
    /// Lists turns.
    log Log "log" Records All Long
    /// Shows one turn.
    show Show "show" Restored All Short
    /// Lists facts.
    facts Facts "facts" Restored All Short
    /// Lists what is waited for.
    waits Waits "waits" Restored All Short
    /// Shows where computations stand, with their variables.
    frames Frames "frames" Restored All Short
    /// Lists what still runs the code of earlier texts.
    stale Stale "stale" Restored All Short
    /// Explains a failure or a wait.
    explain Explain "explain" Restored All Short
    /// Compares two turns.
    diff Diff "diff" Records All Short
    /// Shows the turns that led to a fact or to a line of output.
    why Why "why" Restored All Short
    /// Shows what stands in the way of a fact.
    why_not WhyNot "why-not" Restored All Short
    /// Says since when a fact holds, or when an expression changes.
    when When "when" Restored All Short
    /// Counts turns, actions and bytes.
    stats Stats "stats" Records All Short
    /// Adds up the costs of language models.
    cost Cost "cost" Records All Short
    /// Lists branches.
    branches Branches "branches" Records All Short
    /// Shows conversations with language models.
    transcript Transcript "transcript" Records All Short
    /// Lists runs.
    runs Runs "runs" Restored All Short
    /// Deletes a run.
    rm Rm "rm" Changes Person Short
    /// Says where the branches of a run begin.
    tree Tree "tree" Records Page Short
    /// Gives the input of a turn as a text to edit.
    input Input "input" Records Page Short
    @command {
        run Run "run" Drives All
        resume Resume "resume" Drives All
        answer Answer "answer" Drives All
        signal Signal "signal" Drives All
        message Message "message" Drives All
        stop Stop "stop" Changes All
        eval Eval "eval" Evaluated All
        replay Replay "replay" Evaluated All
        goto Goto "goto" Changes All
        undo Undo "undo" Changes All
        redo Redo "redo" Changes People
        fork Fork "fork" Changes All
        amend Amend "amend" Drives All
        patch Patch "patch" Changes All
        restart Restart "restart" Changes All
        pick Pick "pick" Drives People
        merge Merge "merge" Drives People
        mark Mark "mark" Changes People
        grant Grant "grant" Changes People
        gc Gc "gc" Changes People
        export Export "export" Restored People
        double Double "double" Restored People
        import Import "import" Changes People
        describe Describe "describe" Language All
    }
}

impl Request {
    /// The request for a process of its own that performs it.
    ///
    /// # Errors
    /// If a path in it is no text.
    pub(crate) fn for_child(&self, journal: &Journal, is_json: bool) -> Result<ChildRequest, CommandError> {
        let request = serde_json::to_value(self)
            .map_err(|error| CommandError::caused("the request cannot be handed to another process", &error))?;
        Ok(ChildRequest {
            request,
            is_json,
            journal: journal.clone(),
        })
    }
}

/// A request for a process of its own, which reads it from standard input.
#[derive(Clone, Debug)]
pub(crate) struct ChildRequest {
    /// The request as JSON.
    pub(crate) request: Json,
    /// Whether the report is to be JSON.
    pub(crate) is_json: bool,
    pub(crate) journal: Journal,
}

impl ChildRequest {
    /// As it is handed over.
    pub(crate) fn words(&self) -> Vec<String> {
        let form = if self.is_json { JSON } else { "text" };
        let journal = self.journal.text();
        vec![self.request.to_string(), form.to_owned(), journal]
    }

    /// As it is handed to a process that has no terminal.
    pub(crate) fn detached(&self) -> Vec<String> {
        let mut detached = self.clone();
        detached.request["detached"] = true.into();
        detached.words()
    }

    /// Reads it.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn read(words: Vec<String>) -> Result<Self, CommandError> {
        let none = || CommandError::usage("the request is not understood");
        let [request, form, journal] = <[String; 3]>::try_from(words).map_err(|_| none())?;
        Ok(Self {
            request: serde_json::from_str(&request).map_err(|_| none())?,
            is_json: form == JSON,
            journal: Journal::named(&journal)?,
        })
    }
}

/// The form of a report that is JSON.
const JSON: &str = "json";

impl Row {
    /// Adds the description and the fields of the request to a parser.
    pub(crate) fn augment(&self, command: Command) -> Command {
        (self.augment)(command)
    }

    /// Whether a page that may only look has the verb: it changes nothing, in the journal or
    /// elsewhere, and evaluates no text of the asker's.
    pub(crate) fn is_looking(&self) -> bool {
        let has_page = matches!(self.surfaces, Surfaces::All | Surfaces::Page);
        has_page && matches!(self.answers, Answers::Language | Answers::Records | Answers::Restored)
    }
}

/// The verbs that servers offer.
pub(crate) fn for_agents() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(|row| row.surfaces == Surfaces::All)
}

impl Answers {
    /// Whether a verb changes nothing.
    pub(crate) fn is_reading(self) -> bool {
        matches!(self, Self::Language | Self::Records | Self::Restored | Self::Evaluated)
    }

    /// Whether a server can answer by itself, because nothing of a program runs.
    pub(crate) fn is_at_once(self) -> bool {
        matches!(self, Self::Language | Self::Records)
    }
}

/// Finds a verb.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_looks_has_no_verb_that_changes_or_writes_anything() {
        let looking: Vec<&str> = TABLE
            .iter()
            .filter(|row| row.is_looking())
            .map(|row| row.name)
            .collect();
        let expected = [
            "log",
            "show",
            "facts",
            "waits",
            "frames",
            "stale",
            "explain",
            "diff",
            "why",
            "why-not",
            "when",
            "stats",
            "cost",
            "branches",
            "transcript",
            "runs",
            "tree",
            "input",
            "describe",
        ];
        assert_eq!(looking, expected);
    }
}
