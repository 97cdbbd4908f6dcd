//! The commands: one row each, one file each under `command/`.
//!
//! Owns the table from which the parser, dispatch and help follow, and the exit code of each error.
//! INVARIANT: an error ends in one message on standard error and its exit code, whatever command it
//! came from. It knows nothing of what the commands do.
//! Read next: `verb/act/run.rs`.

// The page that they compare with has every command.
#[cfg(all(test, feature = "proofs"))]
mod tests;

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};
use std::iter::once;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use duet_drivers::host::command::{WORDS_ON_INPUT, read_words};

use self::completions::candidates::CANDIDATES;
use crate::settings::native;
use crate::surface::ui::answer::QUESTION;
use crate::text::error::{CommandError, ExitCode};
use crate::text::similar::similar;
use crate::text::terminal::{Task, Terminal};
use crate::text::version;
use crate::verb;

/// One command.
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    /// The heading under which help lists it.
    pub(crate) group: &'static str,
    /// Adds its description, arguments and options to a parser.
    pub(crate) augment: fn(Command) -> Command,
    execute: fn(&ArgMatches, &mut Terminal) -> Result<ExitCode, CommandError>,
}

/// Declares the module of a command, unless it is that of a verb, which has its file elsewhere.
macro_rules! module {
    ($name:ident @verb) => {};
    ($name:ident @acts) => {
        use crate::verb::act::$name;
    };
    ($name:ident $([feature = $feature:literal, file = $file:literal])?) => {
        $(#[cfg(feature = $feature)] #[path = $file])? pub(crate) mod $name;
    };
}

/// The row of a command: that of a verb follows from `verb.rs`, another has `Arguments` and
/// `execute` in its module.
macro_rules! row {
    ($group:literal $name:ident $(@acts)?) => {
        Row {
            name: stringify!($name),
            group: $group,
            augment: $name::Arguments::augment_args,
            execute: |matches, terminal| $name::execute(&$name::Arguments::from_arg_matches(matches)?, terminal),
        }
    };
    ($group:literal $name:ident @verb) => {
        Row {
            name: command_name!($name),
            group: $group,
            augment: |command| super::command_line::augment(command_name!($name), command),
            execute: |matches, terminal| super::command_line::execute(command_name!($name), matches, terminal),
        }
    };
}

/// The name of a command: that of its module, with a hyphen where a name of Rust cannot have one.
macro_rules! command_name {
    (why_not) => {
        "why-not"
    };
    ($name:ident) => {
        stringify!($name)
    };
}

/// Declares the modules of the commands and their table.
///
/// A row is a command, for some with the feature that it belongs to and the file in which it is.
/// `@verb` marks a verb, and `@acts` one whose command line says more than its request.
macro_rules! commands {
    ($($group:literal {
        $($name:ident $(@$kind:ident)? $([feature = $feature:literal, file = $file:literal])?)*
    })*) => {
        $($(module!($name $(@$kind)? $([feature = $feature, file = $file])?);)*)*

        /// All commands, in the order in which help lists them.
        pub(crate) static TABLE: &[Row] = &[
            $($($(#[cfg(feature = $feature)])? row!($group $name $(@$kind)?),)*)*
        ];
    };
}

commands! {
    "Run a program" {
        run @verb
        repl
        test
        resume @acts
        answer @verb
        signal @verb
        message @verb
        attach
        stop @verb
        serve
        work
        grant @verb
        mcp
        ui
    }
    "Write a program" {
        new
        fmt
    }
    "Inspect a run" {
        log @verb
        show @verb
        facts @verb
        waits @verb
        frames @verb
        stale @verb
        explain @verb
        transcript @verb
        diff @verb
        why @verb
        why_not @verb
        when @verb
        stats @verb
        cost @verb
        eval @verb
        replay @acts
    }
    "Go back, branch and merge" {
        goto @verb
        undo @verb
        redo @verb
        fork @verb
        amend @verb
        patch @verb
        restart @verb
        pick @verb
        merge @verb
    }
    "Manage the journal" {
        runs @verb
        branches @verb
        rm @verb
        mark @verb
        gc @verb
        export @verb
        double @verb
        import @verb
        fsck
    }
    "Inspect programs and tools" {
        tools
        providers
        servers
        describe @verb
        schema
        expand
        disassemble
    }
    "Languages of other systems" {
        aeiou
        migrate
        ns
    }
    "Check Duet itself" {
        simulate [feature = "proofs", file = "../../proofs/simulate.rs"]
        conform [feature = "proofs", file = "../../proofs/conform.rs"]
    }
    "Get help" {
        help
        completions
        man
    }
}

/// The parser of the command line. The parser of each command is built when it is needed, so a
/// start does not pay for all.
pub(crate) fn parser() -> Command {
    Command::new("duet")
        .version(version::number())
        .about(help::ABOUT)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommand_value_name("COMMAND")
        .subcommands(TABLE.iter().map(|row| Command::new(row.name).defer(row.augment)))
}

fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// Executes a command line, and shows the error if there is one.
pub(crate) fn dispatch(words: Vec<OsString>, terminal: &mut Terminal) -> ExitCode {
    let done = dispatch_command(words, terminal);
    let paged = terminal.end_paging();
    let done = done.and_then(|code| paged.map(|()| code));
    done.unwrap_or_else(|error| terminal.tell_error(error))
}

fn dispatch_command(mut words: Vec<OsString>, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    native::check()?;
    if *words == [WORDS_ON_INPUT] {
        let read = read_words(std::io::stdin()).map_err(|error| CommandError::caused("no words came", &error))?;
        if let [question, text, journal] = &*read
            && *question == QUESTION
        {
            return crate::surface::ui::answer::execute(text, journal, terminal);
        }
        let request = verb::ChildRequest::read(read)?;
        terminal.task = Task::Request(request.detached());
        return super::command_line::execute_as_child(request, terminal);
    }
    if words.first().is_some_and(|word| word == CANDIDATES) {
        return completions::candidates::tell(&words[1..], terminal);
    }
    if words.is_empty() && has_texts() {
        // A person who names no command wants to type.
        words.push("repl".into());
    }
    if words.first().is_some_and(|word| word == EXPRESSION) {
        expression(&mut words)?;
    }
    let Some(first) = words.first_mut() else {
        return Err(CommandError::usage("which command?").advise("`duet help` lists them; `duet FILE` runs a program"));
    };
    if first == "--help" || first == "-h" {
        *first = "help".into();
    }
    if first.to_str().and_then(find).is_none() && Path::new(first).exists() {
        // A program in the place of a command, as the first line of a script makes it: all words
        // behind it are its own.
        words.insert(1, "--".into());
        words.insert(0, "run".into());
    }
    terminal.task = Task::Words(words.clone());
    let matches = match parser().try_get_matches_from(once("duet".into()).chain(words)) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => return Err(error.into()),
        Err(help) => {
            terminal.data(help.to_string())?;
            return Ok(ExitCode::OK);
        }
    };
    let found = matches
        .subcommand()
        .and_then(|(name, matches)| Some((find(name)?, matches)));
    let (row, matches) = found.ok_or_else(|| CommandError::usage("which command?"))?;
    (row.execute)(matches, terminal)
}

/// Whether somebody sits at standard input, or a pipe or a file there holds a text.
fn has_texts() -> bool {
    let input = std::io::stdin();
    input.is_terminal() || input.lock().fill_buf().is_ok_and(|texts| !texts.is_empty())
}

/// The word before a text in the place of a command.
const EXPRESSION: &str = "-e";

/// Makes `-e TEXT WORD…` a command line of `run`: all words behind the text are the program's.
fn expression(words: &mut Vec<OsString>) -> Result<(), CommandError> {
    if words.len() < 2 {
        return Err(CommandError::usage("which text?").advise("`duet -e '(display (+ 1 2))'` runs a text"));
    }
    let mut text = OsString::from("--text=");
    text.push(words.remove(1));
    words.splice(..1, ["run".into(), text, "--".into()]);
    Ok(())
}

impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> Self {
        match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(name)) => unknown(name),
            Some(_) | None => Self::Usage(error.to_string().trim_end().into()),
        }
    }
}

/// The error about a command that does not exist, with those like it; a word that looks like a file
/// may be a program.
fn unknown(name: &str) -> CommandError {
    if name.contains(['.', '/']) {
        return CommandError::usage(format!("there is no command `{name}`, and no such file"))
            .advise("`duet FILE` and `duet run FILE` run a program; `duet help` lists the commands");
    }
    let mut error = CommandError::usage(format!("there is no command `{name}`"));
    let near = similar(name, TABLE.iter().map(|row| row.name));
    if !near.is_empty() {
        error = error.advise(format!("did you mean `{}`?", near.join("` or `")));
    }
    error.advise("`duet help` lists the commands")
}
