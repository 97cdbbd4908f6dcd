//! Verbs: what can be asked of a project, as data, and what it answers, as data.
//!
//! Owns the table from which the request and the report of every verb follow. A surface (the
//! command line, the prompt, a server) makes a [`Request`], [`perform`]s it, and shows the
//! [`Report`].
//! INVARIANT: a verb is one function from a request to a report; no surface adds a meaning of its
//! own. The derive of a request is the only description of its fields: options, the page of
//! commands and the schemas of tools follow from it.
//! Read next: `verb/log.rs`.

pub(crate) mod agent;
pub(crate) mod command;
pub(crate) mod project;
pub(crate) mod view;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::CommandError;
use crate::journal::Journal;
use project::Project;
use view::{Told, View};

/// What answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The records answer, so a server answers by itself.
    Records,
    /// A run that is restored answers: its program runs again, so it has a process of its own.
    Restored,
}

/// The surfaces that have a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surfaces {
    /// All of them.
    All,
    /// Those at which a person agrees to what cannot be taken back.
    Person,
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
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<Request, clap::Error>,
}

macro_rules! verbs {
    ($(
        $(#[doc = $doc:literal])*
        $module:ident $kind:ident $name:literal $answers:ident $surfaces:ident $long:ident
    )*) => {
        $($(#[doc = $doc])* pub(crate) mod $module;)*

        /// A request: which verb, and its fields.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(tag = "verb", rename_all = "kebab-case")]
        pub(crate) enum Request {
            $($kind($module::Request),)*
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
            read: |matches| $module::Request::from_arg_matches(matches).map(Request::$kind),
        },)*];

        impl Request {
            /// The verb's name.
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                }
            }
        }

        $(impl From<$module::Request> for Request {
            fn from(request: $module::Request) -> Self {
                Self::$kind(request)
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
    /// Compares two turns.
    diff Diff "diff" Records All Short
    /// Shows the turns that led to a fact.
    why Why "why" Records All Short
    /// Says since when a fact holds.
    when When "when" Records All Short
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
    rm Rm "rm" Records Person Short
}

impl Request {
    /// The row of the verb.
    pub(crate) fn row(&self) -> &'static Row {
        find(self.name()).unwrap_or(&TABLE[0])
    }

    /// The words of the errand that performs it in a process of its own.
    pub(crate) fn words(&self, journal: &Journal, is_json: bool) -> Vec<String> {
        // A request has texts, numbers and flags only, which all are JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        let form = if is_json { "json" } else { "text" };
        vec![
            REQUEST.to_owned(),
            text,
            form.to_owned(),
            journal.path().display().to_string(),
        ]
    }
}

impl Row {
    /// Adds the description and the fields of the request to a parser.
    pub(crate) fn augment(&self, command: Command) -> Command {
        (self.augment)(command)
    }
}

/// The first of the words of an errand that is a request: its JSON, the form of the report and the
/// journal follow.
pub(crate) const REQUEST: &str = "--request";

/// The verbs that servers offer.
pub(crate) fn for_agents() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(|row| row.surfaces == Surfaces::All)
}

/// Finds a verb.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}
