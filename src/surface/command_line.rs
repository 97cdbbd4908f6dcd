//! The command line as a surface: words to requests, reports to the terminal.
//!
//! INVARIANT: a report that is longer than a page is asked for page by page, so memory follows the
//! page.
//! It does not know the verbs. Read next: `command.rs`.

use std::io::{self, IsTerminal, Write};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use duet_drivers::text::Text;

use crate::history::journal::Journal;
use crate::surface::form::{self, handed};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::text::view::View;
use crate::verb::act::run;
use crate::verb::form::as_json;
use crate::verb::log::line::Drawing;
use crate::verb::project::Project;
use crate::verb::{Answers, ChildRequest, Request, find, perform};

/// Whether a report is printed as JSON.
#[derive(Debug, Default, clap::Args)]
struct Form {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// Prints JSON Lines: each item of a list is a line.
    #[arg(long, conflicts_with = "json")]
    json_lines: bool,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// In words.
    Words,
    /// As one value of JSON.
    Json,
    /// As JSON Lines: each item of a list is a line. A report that is no list is one line.
    JsonLines,
}

impl Form {
    fn printed(&self) -> Printed {
        match (self.json, self.json_lines) {
            (false, false) => Printed::Words,
            (true, _) => Printed::Json,
            (false, true) => Printed::JsonLines,
        }
    }
}

impl Printed {
    /// One value of JSON, or words.
    fn json_if(is_json: bool) -> Self {
        if is_json { Self::Json } else { Self::Words }
    }
}

/// How a long report is printed.
#[derive(Debug, clap::Args)]
struct LongReportView {
    /// Shows actions that only move the program along, too.
    #[arg(long, short)]
    verbose: bool,
    /// Shows lines whole, however wide the terminal is.
    #[arg(long)]
    wide: bool,
    /// Shows when each turn became durable, by the clock in UTC, how long every request took, and
    /// pauses of 10 seconds or more; terminals always show the times, the pauses, and durations of
    /// 0.1 seconds or more.
    #[arg(long)]
    times: bool,
    /// Says when lines have colours.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
    /// Goes on with the turns that come, oldest first, until no process executes the run.
    #[arg(long, conflicts_with = "until")]
    follow: bool,
}

/// The verbs whose reports a person reads through a pager.
const PAGED: [&str; 9] = [
    "log",
    "show",
    "transcript",
    "diff",
    "why",
    "explain",
    "facts",
    "waits",
    "frames",
];

/// How a person reads a long report.
#[derive(Debug, clap::Args)]
struct Reading {
    /// Shows everything at once on a terminal too; DUET_PAGER or PAGER names the pager, else it is
    /// `less`.
    #[arg(long)]
    no_pager: bool,
}

/// When lines have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Colour {
    Always,
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Never,
}

/// Adds the description, arguments and options of a verb to a parser.
pub(crate) fn augment(name: &str, command: Command) -> Command {
    let Some(row) = find(name) else { return command };
    let command = row.augment(command);
    let about = command.get_about().cloned().unwrap_or_default();
    let long = command.get_long_about().cloned().unwrap_or_else(|| about.clone());
    let command = if row.is_long {
        LongReportView::augment_args(command)
    } else {
        command
    };
    let command = if PAGED.contains(&name) {
        Reading::augment_args(command)
    } else {
        command
    };
    // The output of a run is no JSON.
    let command = if row.answers == Answers::Drives {
        command
    } else {
        Form::augment_args(command)
    };
    let command = if row.answers == Answers::Language {
        command
    } else {
        Journal::augment_args(command)
    };
    command.about(about).long_about(long)
}

/// Executes a verb.
///
/// # Errors
/// Why it is refused.
pub(crate) fn execute(name: &str, matches: &ArgMatches, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let row = find(name).ok_or_else(|| CommandError::usage(format!("there is no verb `{name}`")))?;
    let request = (row.read)(matches)?;
    let printed = if row.answers == Answers::Drives {
        Printed::Words
    } else {
        Form::from_arg_matches(matches)?.printed()
    };
    let journal = if row.answers == Answers::Language {
        Journal::default()
    } else {
        Journal::from_arg_matches(matches)?
    };
    let mut view = terminal.view();
    let is_followed = row.is_long && LongReportView::from_arg_matches(matches)?.follow;
    if PAGED.contains(&name)
        && printed == Printed::Words
        && !is_followed
        && !Reading::from_arg_matches(matches)?.no_pager
    {
        terminal.page();
    }
    let mut project = Project::of(&journal).on(terminal);
    let mut is_following = false;
    if row.is_long {
        let sight = LongReportView::from_arg_matches(matches)?;
        (view.is_verbose, view.is_wide) = (sight.verbose, sight.wide);
        view.has_times = sight.times || view.columns.is_some();
        view.has_all_durations = sight.times;
        view.is_styled = match sight.color {
            Colour::Always => true,
            Colour::Auto => view.is_styled,
            Colour::Never => false,
        };
        is_following = sight.follow;
    }
    if let Request::Log(request) = request {
        let printing = Printing {
            view,
            printed,
            is_following,
        };
        return printing.log(*request, &mut project);
    }
    let request = if let Request::Rm(request) = request {
        agreed(*request, &mut project, view)?
    } else if let Request::Run(request) = request {
        settled(*request, &mut project, view)?
    } else {
        request
    };
    show(&request, &mut project, view, printed)
}

/// Has a person agree to what a verb will delete.
fn agreed(request: crate::verb::rm::Request, project: &mut Project, view: View) -> Result<Request, CommandError> {
    if request.yes {
        return Ok(request.into());
    }
    let report = crate::verb::rm::perform(project, &request)?;
    let question = report.question().unwrap_or_default();
    if !(view.is_watched && io::stdin().is_terminal()) {
        return Err(CommandError::usage("a person has to agree")
            .because(question)
            .advise("`--yes` agrees"));
    }
    let _ = write!(io::stderr(), "{} [y/N] ", Text::from(question));
    let mut answer = String::new();
    // Whoever closes the input does not agree.
    let _ = io::stdin().read_line(&mut answer);
    if !["y", "yes"].contains(&answer.trim()) {
        return Err(CommandError::problem("nothing is deleted"));
    }
    Ok(crate::verb::rm::Request { yes: true, ..request }.into())
}

/// Asks the person what to do with a program if the run with the name that it is to have is of
/// another text.
fn settled(request: run::Request, project: &mut Project, view: View) -> Result<Request, CommandError> {
    let Some(name_conflict) = run::name_conflict(project, &request)? else {
        return Ok(request.into());
    };
    if !(view.is_watched && io::stdin().is_terminal()) {
        return Err(name_conflict.refusal());
    }
    project.stage()?.message(name_conflict.question());
    let _ = write!(io::stderr(), "which? [n/r/p] ");
    let mut answer = String::new();
    // Whoever closes the input chooses nothing.
    let _ = io::stdin().read_line(&mut answer);
    let chosen = name_conflict.chosen(answer.trim(), request);
    chosen.ok_or_else(|| CommandError::problem("nothing is chosen, so nothing has changed"))
}

/// Performs a request and shows its report.
///
/// # Errors
/// Why it is refused.
pub(crate) fn show(
    request: &Request,
    project: &mut Project,
    view: View,
    printed: Printed,
) -> Result<ExitCode, CommandError> {
    if let Request::Log(request) = request {
        let printing = Printing {
            view,
            printed,
            is_following: false,
        };
        return printing.log((**request).clone(), project);
    }
    let report = perform(project, request)?;
    let told = report.tell(&view);
    let terminal = project.stage()?;
    if printed != Printed::Words {
        let whole = report.json();
        match whole.as_array().filter(|_| printed == Printed::JsonLines) {
            Some(items) => items.iter().try_for_each(|item| terminal.json(item))?,
            None => terminal.json(&whole)?,
        }
        return Ok(told.code);
    }
    if !told.data.as_str().is_empty() {
        terminal.data(told.data)?;
    }
    for message in told.messages {
        terminal.message(message);
    }
    Ok(told.code)
}

/// How a log is printed.
struct Printing {
    view: View,
    printed: Printed,
    is_following: bool,
}

impl Printing {
    fn log(&self, request: crate::verb::log::Request, project: &mut Project) -> Result<ExitCode, CommandError> {
        if self.is_following {
            return self.follow(request, project);
        }
        let mut request = crate::verb::log::Request {
            is_whole: self.printed != Printed::Words,
            ..request
        };
        let mut left = request.limit.map(std::num::NonZeroUsize::get);
        let mut drawing = Drawing::new(self.view);
        let mut kept = crate::verb::log::Kept::default();
        let mut is_first = true;
        loop {
            let report = crate::verb::log::page(project, &request, &mut kept)?;
            let terminal = project.stage()?;
            let mut turns = report.turns.iter().filter_map(|turn| turn.whole.as_ref()).map(as_json);
            match self.printed {
                Printed::Words => terminal.data(drawing.page(&report))?,
                Printed::JsonLines => turns.try_for_each(|turn| terminal.json(&turn))?,
                Printed::Json => turns.try_for_each(|turn| {
                    let before = if is_first { "[" } else { "," };
                    is_first = false;
                    terminal.data(Text::json(&format!("{before}{turn}")))
                })?,
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(report.turns.len());
                match std::num::NonZeroUsize::new(*left) {
                    Some(limit) => request.limit = Some(limit),
                    None => request.before = None,
                }
            }
            match report.more.filter(|_| left != Some(0)) {
                Some(before) => request.before = Some(before),
                None => {
                    if self.printed == Printed::Words {
                        terminal.data(drawing.end())?;
                        if let Some(message) = drawing.nothing(&report) {
                            terminal.message(message);
                        }
                    }
                    break;
                }
            }
        }
        if self.printed == Printed::Json {
            project
                .stage()?
                .data(Text::json(if is_first { "[]" } else { "]" }).ended())?;
        }
        Ok(ExitCode::OK)
    }

    /// Prints the newest turns, oldest first, and then those that come.
    fn follow(&self, request: crate::verb::log::Request, project: &mut Project) -> Result<ExitCode, CommandError> {
        let mut request = crate::verb::log::Request {
            is_whole: self.printed != Printed::Words,
            ..request
        };
        let mut drawing = Drawing::new(self.view);
        let mut following = crate::verb::log::follow(project, &mut request)?;
        while let Some(turns) = following.next(project, &request)? {
            let terminal = project.stage()?;
            for turn in turns {
                if let Some(whole) = &turn.whole {
                    terminal.json(&as_json(whole))?;
                } else {
                    terminal.data(drawing.alone(&turn))?;
                }
            }
        }
        let over = format!("no process executes {} any more", following.name());
        project.stage()?.message(over);
        Ok(ExitCode::OK)
    }
}

/// Performs a request for whoever executes commands for others: gives a report that has a form as
/// JSON and in words, or as JSON only.
///
/// # Errors
/// If it is no request, or is refused.
pub(crate) fn execute_as_child(child: ChildRequest, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let request: Request = serde_json::from_value(child.request)
        .map_err(|error| CommandError::caused("the request is not understood", &error))?;
    let mut project = Project::of(&child.journal).on(terminal);
    if child.is_json || !form::is_handed(request.row().name) {
        return show(&request, &mut project, View::default(), Printed::json_if(child.is_json));
    }
    let report = perform(&mut project, &request)?;
    let told = report.tell(&View::default());
    let both = handed(&report.json(), told.data.as_str());
    let terminal = project.stage()?;
    terminal.data(Text::json(&both))?;
    told.messages.into_iter().for_each(|message| terminal.message(message));
    Ok(told.code)
}
