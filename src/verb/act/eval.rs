//! `duet eval`: evaluates an expression at a turn of the past.

use duet_journal::Store;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::failure::Failure;
use duet_runtime::scheme::SchemePrograms;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::Place;
use crate::owner::mail::MailArguments;
use crate::owner::owned_run;
use crate::owner::owned_run::expression::{self, ExpressionOutcome};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::settings::native::NativeArgument;
use crate::text::error::{CommandError, ExitCode};
use crate::text::render::{self, SourceTexts};
use crate::text::saying::{Way, say};
use crate::text::value_text;
use crate::text::view::{Driven, Told, View};
use crate::verb::act::tell::tell;
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Evaluates an expression at a turn, without a trace.
///
/// Duet restores the run as it was after the turn, in memory, and the main program's actor
/// evaluates the expression there: it sees the program's imports and definitions, or in a session
/// of `duet repl` the texts that were typed. The program stands still: its handlers, fibers and
/// entities do not run, whatever the expression asserts or sends; fibers and handlers of the
/// expression itself do. Duet records nothing and asks nothing of the world: an expression that
/// calls a tool or waits for the program is abandoned.
///
/// With `--act` the expression is evaluated in the run itself, as a turn like any other, and may
/// act. That needs a run that evaluates texts, as a session of `duet repl` does. If another process
/// executes it, that one evaluates; otherwise the run continues here.
///
///   duet eval plan@3 '(length tasks)'
///   duet eval --act repl '(set! limit 3)'
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the turn.
    pub(crate) address: String,
    /// The expression.
    #[arg(value_name = "EXPR", allow_negative_numbers = true)]
    pub(crate) expression: String,
    /// Evaluates in the run itself, as a turn.
    #[arg(long, conflicts_with = "json")]
    act: bool,
    #[command(flatten)]
    #[serde(flatten)]
    native: NativeArgument,
}

/// What came of an expression.
pub(crate) enum Report {
    /// It was evaluated in the run itself.
    Acted(Driven),
    /// What it printed, and its values, at a turn.
    Shown { address: String, shown: String },
    /// Why it failed, with the texts that the failure points at.
    Failed(Box<Failure>, SourceTexts),
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// It was evaluated in the run itself.
    Acted {
        /// The exit code.
        exit: u8,
    },
    /// It was evaluated at a turn.
    Shown {
        /// The address of the turn.
        address: String,
        /// What it printed, and its values, as Scheme writes them.
        shown: String,
    },
    /// It failed.
    Failed {
        /// The failure, as the journal writes one.
        failure: String,
    },
}

/// The maximum number of turns of an expression.
const TURNS_MAX: u32 = 10_000;

/// Evaluates an expression.
///
/// # Errors
/// If there is no such turn, or the expression wants to act.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    request.native.apply();
    if request.act {
        let text = request.expression.clone();
        return tell(
            project,
            &request.address,
            OwnerRequest::Evaluate { text },
            MailArguments::default(),
        )
        .map(Report::Acted);
    }
    let look = project.look()?;
    let place = look.resolve_turn(Some(&request.address))?;
    evaluate(look.store, &place, &request.expression)
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&match self {
            Self::Acted(driven) => Form::Acted { exit: driven.code.0 },
            Self::Shown { address, shown } => Form::Shown {
                address: address.clone(),
                shown: shown.clone(),
            },
            Self::Failed(failure, _) => Form::Failed {
                failure: value_text::shown(&failure.encode()),
            },
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        match self {
            Self::Acted(driven) => driven.tell(view),
            Self::Shown { shown, .. } => Told::data(shown),
            Self::Failed(failure, texts) => Told {
                code: ExitCode::FAILED,
                ..Told::data("").say(render::uncaught(failure, texts, &[], view.is_styled))
            },
        }
    }
}

/// Evaluates the expression where nobody sees it.
fn evaluate(store: &dyn Store, place: &Place, text: &str) -> Result<Report, CommandError> {
    let mut run = owned_run::restore(store, place)?;
    if run.state().exit.is_some() {
        let over = CommandError::problem(format!("the run is over at {}", place.address(place.at())));
        return Err(match place.at().number().saturating_sub(1) {
            0 => over.because("its first turn has ended it, and before that turn nothing is defined"),
            before => over.advise(say![
                Way::turn("eval", place.name(), before).with("EXPR"),
                " asks before its end",
            ]),
        });
    }
    match expression::evaluate(&mut run, text, TURNS_MAX)? {
        ExpressionOutcome::Value { output, written } => {
            let mut shown = output;
            shown.extend(written.map(|written| format!("{written}\n")));
            let address = place.address(place.at());
            Ok(Report::Shown { address, shown })
        }
        ExpressionOutcome::Raised(failure) => {
            let texts = SourceTexts::of(run.programs::<SchemePrograms>().expander());
            Ok(Report::Failed(Box::new(failure), texts))
        }
        ExpressionOutcome::Abandoned(why) => Err(expression::abandoned(&why).advise(say![
            "to let it act, begin a branch with ",
            Way::of("fork"),
            " and evaluate it there with ",
            Way::of("repl"),
        ])),
    }
}
