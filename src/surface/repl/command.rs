//! Comma commands: one row each, from which parsing, help and completion follow.
//!
//! Owns their names, their operands, and the errors about wrong ones.
//! INVARIANT: a [`Command`] has all its operands, none of them blank.
//! It executes nothing and does not read data; addresses, names and expressions stay text.
//! Read next: `complete.rs`.

mod help;
mod request;

use std::fmt;
use std::num::NonZeroU64;

use duet_kernel::datum::lexer::Extent;

use crate::text::similar::similar;

pub(crate) use help::help;
pub(crate) use request::request;

/// A command to the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// List the commands, or explain one.
    Help(Option<String>),
    /// Leave.
    Quit,
    /// Load a file.
    Load(String),
    /// Load the file that was loaded last.
    Reload,
    /// Open the definition of a name, or else the last text, in an editor, and evaluate it again.
    Edit(Option<String>),
    /// Limit the characters that are shown of each value, or show all.
    Print(Option<NonZeroU64>),
    /// Describe the binding of a name.
    Describe(String),
    /// List the names that contain a text.
    Apropos(String),
    /// Show the expansion of a form.
    Expand(String),
    /// Show the instructions of a procedure or a form.
    Disassemble(String),
    /// Evaluate and report the cost.
    Time(String),
    /// Evaluate and report the procedures that used fuel.
    Profile(String),
    /// Show the calls of a procedure, or list the procedures of which they are shown.
    Trace(Option<String>),
    /// Show the calls of a procedure no more, or those of all.
    Untrace(Option<String>),
    /// Go back by a number of texts.
    Back(Option<NonZeroU64>),
    /// Go to a turn.
    Goto(String),
    /// Begin a branch here.
    Fork(String),
    /// List the branches.
    Branches,
    /// Go to the head of a branch.
    Switch(String),
    /// List the newest turns, by default 20.
    Log(Option<NonZeroU64>),
    /// List the assertions, or those that match a pattern.
    Facts(Option<String>),
    /// Show the changes of the last text, or the differences from another turn or branch.
    Diff(Option<String>),
    /// Evaluate at a turn of the past: the turn, and the expression.
    At(String, String),
    /// Explain a failure, or what is waited for, now or at a turn.
    Explain(Option<String>),
    /// List the turns that led to a fact.
    Why(String),
    /// Find the first turn after which a fact was there.
    When(String),
    /// Begin a branch with another input in a turn: the turn, and the input.
    Amend(String, String),
    /// Put a changed program in the place of the run's own.
    Patch(String),
    /// Make an actor begin anew.
    Restart(String),
    /// Go on with a changed program on a new branch, with the recorded answers.
    Rerun(String),
    /// Merge the facts of another branch.
    Merge(String),
    /// Deliver the inputs of turns of another branch again.
    Pick(String),
    /// Take the last move of the branch's head back.
    Undo,
    /// Repeat the move that was undone.
    Redo,
    /// Run again from the records and compare.
    Replay,
    /// List the open waits.
    Waits,
    /// Answer an open question, which the first word may name.
    Answer(String),
    /// Show a turn, or the last one.
    Show(Option<String>),
    /// Show where computations stand, now or at a turn.
    Frames(Option<String>),
}

/// The operands of a command, and the command that they make.
enum Operands {
    Nothing(Command),
    Word(fn(String) -> Command),
    OptionalWord(fn(Option<String>) -> Command),
    OptionalCount(fn(Option<NonZeroU64>) -> Command),
    /// The rest of the text, whatever it is.
    Text(fn(String) -> Command),
    OptionalText(fn(Option<String>) -> Command),
    /// The rest of the text, which more lines may complete.
    Datum(fn(String) -> Command),
    /// A word, and the rest of the text, which more lines may complete.
    WordAndDatum(fn(String, String) -> Command),
}

/// One command.
pub(crate) struct Row {
    /// Its name, without the comma.
    pub(crate) name: &'static str,
    /// The operands as help shows them; empty if there are none.
    pub(crate) parameters: &'static str,
    /// Its summary, one line.
    pub(crate) summary: &'static str,
    takes: Operands,
}

macro_rules! commands {
    ($($name:literal $parameters:literal $takes:expr, $summary:literal;)*) => {
        /// All commands, in the order in which help lists them.
        pub(crate) static TABLE: &[Row] = &[$(Row {
            name: $name,
            parameters: $parameters,
            summary: $summary,
            takes: $takes,
        },)*];
    };
}

commands! {
    "help" "[COMMAND]" Operands::OptionalWord(Command::Help), "list the commands, or explain one";
    "quit" "" Operands::Nothing(Command::Quit), "leave";
    "load" "FILE" Operands::Text(Command::Load), "evaluate the forms of a file";
    "reload" "" Operands::Nothing(Command::Reload), "load the file of the last `,load` again";
    "edit" "[NAME]" Operands::OptionalWord(Command::Edit),
        "edit the definition of a name, or the last text, in $VISUAL or $EDITOR, and evaluate it again";
    "print" "[N]" Operands::OptionalCount(Command::Print), "show N characters of each value at most, or else all";
    "describe" "NAME" Operands::Word(Command::Describe), "say what a name stands for";
    "apropos" "TEXT" Operands::Text(Command::Apropos), "list the names that contain a text";
    "expand" "FORM" Operands::Datum(Command::Expand), "show what a form is expanded to; nothing of it stays";
    "disassemble" "NAME-OR-FORM" Operands::Datum(Command::Disassemble),
        "show the instructions of a procedure or a form";
    "time" "EXPR" Operands::Datum(Command::Time), "evaluate an expression and say what that took";
    "profile" "EXPR" Operands::Datum(Command::Profile), "evaluate an expression and say which procedures used the fuel";
    "trace" "[NAME]" Operands::OptionalWord(Command::Trace),
        "show each call of a procedure and its result from here on, or list what is traced";
    "untrace" "[NAME]" Operands::OptionalWord(Command::Untrace), "trace a procedure no more, or none at all";
    "back" "[N]" Operands::OptionalCount(Command::Back), "take back the last text, or the last N";
    "goto" "TURN" Operands::Word(Command::Goto), "go to a turn";
    "fork" "NAME" Operands::Word(Command::Fork), "begin a branch here and go on in it";
    "branches" "" Operands::Nothing(Command::Branches), "list the branches";
    "switch" "BRANCH" Operands::Word(Command::Switch), "go to the head of a branch";
    "log" "[N]" Operands::OptionalCount(Command::Log), "list the newest 20 turns, or the newest N";
    "facts" "[PATTERN]" Operands::OptionalText(Command::Facts),
        "list what is asserted, or what of it matches, as in `,facts <job _>`";
    "diff" "[TURN-OR-BRANCH]" Operands::OptionalWord(Command::Diff),
        "say what the last text has changed, or what is different since a turn or on a branch";
    "at" "TURN EXPR" Operands::WordAndDatum(Command::At),
        "evaluate an expression at a turn of the past, without a trace";
    "explain" "[TURN]" Operands::OptionalWord(Command::Explain),
        "say what failed first and why, or what is waited for, now or at a turn";
    "why" "PATTERN" Operands::Text(Command::Why), "show the turns that led to a fact, as in `,why <job _>`";
    "when" "PATTERN" Operands::Text(Command::When), "find the first turn after which a fact is there";
    "amend" "TURN TEXT" Operands::WordAndDatum(Command::Amend),
        "begin a branch on which the world said, or you typed, something else in a turn, and go on in it";
    "patch" "FILE" Operands::Text(Command::Patch),
        "put a changed program in the place of the one that the run executes";
    "restart" "ACTOR" Operands::Text(Command::Restart), "make an actor begin anew, as in `,restart clerk 3`";
    "rerun" "FILE" Operands::Text(Command::Rerun),
        "run a changed program from its start with the recorded answers, on a new branch, and go on in it";
    "merge" "BRANCH" Operands::Word(Command::Merge), "take the facts of another branch over";
    "pick" "TURNS" Operands::Word(Command::Pick),
        "deliver the inputs of turns of another branch again here, as in `,pick main@12..13`";
    "undo" "" Operands::Nothing(Command::Undo),
        "take the last `,back`, `,goto` or other move of the branch's head back";
    "redo" "" Operands::Nothing(Command::Redo), "do again what was undone";
    "replay" "" Operands::Nothing(Command::Replay),
        "run the session again from its records and require every turn to come out the same";
    "waits" "" Operands::Nothing(Command::Waits), "list what is waited for";
    "answer" "[REQUEST] TEXT" Operands::Text(Command::Answer),
        "answer the oldest open question, or the one with this number or tag";
    "show" "[TURN]" Operands::OptionalWord(Command::Show), "show the last turn, or another, in full";
    "frames" "[TURN]" Operands::OptionalWord(Command::Frames),
        "show where computations stand, and their variables, now or at a turn";
}

impl fmt::Display for Row {
    /// Shows the command as it is typed: `,back [N]`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, ",{}", self.name)?;
        if !self.parameters.is_empty() {
            write!(formatter, " {}", self.parameters)?;
        }
        Ok(())
    }
}

/// An error in a comma command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommaError {
    /// Nothing is called so.
    Unknown {
        /// The name that was given.
        name: String,
        /// Names like it.
        near: Vec<&'static str>,
    },
    /// An operand is missing.
    Missing(&'static str),
    /// There are too many operands: the command's name, and the surplus.
    TooMany(&'static str, String),
    /// The operand is no number of turns: the command's name, and the operand.
    NotACount(&'static str, String),
}

impl fmt::Display for CommaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } if name.is_empty() => {
                write!(formatter, "a comma begins a command, and its name is missing")
            }
            Self::Unknown { name, .. } => write!(formatter, "there is no command `,{name}`"),
            Self::Missing(name) => write!(formatter, "`,{name}` needs {}", parameters(name)),
            Self::TooMany(name, extra) => {
                write!(formatter, "`{extra}` is more than `,{name}` takes")
            }
            Self::NotACount(name, found) => {
                write!(formatter, "`,{name}` takes a whole number from 1 on, not `{found}`")
            }
        }
    }
}

impl std::error::Error for CommaError {}

impl CommaError {
    /// The advice for the person.
    pub(crate) fn advice(&self) -> String {
        match self {
            Self::Unknown { near, .. } if near.is_empty() => "`,help` lists the commands".to_owned(),
            Self::Unknown { near, .. } => {
                let near: Vec<String> = near.iter().map(|name| format!("`,{name}`")).collect();
                format!("did you mean {}?", near.join(" or "))
            }
            Self::Missing(name) | Self::TooMany(name, _) | Self::NotACount(name, _) => match find(name) {
                Some(row) => format!("the form is: {row}"),
                None => "`,help` lists the commands".to_owned(),
            },
        }
    }
}

/// A text that begins with a comma and a name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    /// The name, without the comma.
    pub(crate) name: &'a str,
    /// Where the comma and the name stand, in bytes.
    pub(crate) name_extent: Extent,
    /// Where operands may begin, in bytes.
    pub(crate) operand_start: usize,
}

impl Call<'_> {
    /// Whether the operand is a datum, which may go on over several lines.
    pub(crate) fn takes_datum(&self) -> bool {
        find(self.name).is_some_and(|row| matches!(row.takes, Operands::Datum(_) | Operands::WordAndDatum(_)))
    }
}

/// Takes a comma command apart; nothing if the text is none. A comma begins a command at the start
/// only.
pub(crate) fn split(text: &str) -> Option<Call<'_>> {
    let comma = text.len() - text.trim_start().len();
    let rest = text[comma..].strip_prefix(',')?;
    let length = rest
        .find(|next: char| !(next.is_alphanumeric() || next == '-'))
        .unwrap_or(rest.len());
    let end = comma + 1 + length;
    Some(Call {
        name: &rest[..length],
        name_extent: comma..end,
        operand_start: end,
    })
}

/// Reads a comma command; nothing if the text is none.
///
/// # Errors
/// The error, with [`CommaError::advice`] for the person.
pub(crate) fn read(text: &str) -> Option<Result<Command, CommaError>> {
    let call = split(text)?;
    Some(
        find(call.name)
            .ok_or_else(|| unknown(call.name))
            .and_then(|row| row.read(&text[call.operand_start..])),
    )
}

impl Row {
    fn read(&self, operand: &str) -> Result<Command, CommaError> {
        let operand = operand.trim();
        let given = (!operand.is_empty()).then(|| operand.to_owned());
        let required = || given.clone().ok_or(CommaError::Missing(self.name));
        Ok(match &self.takes {
            Operands::Nothing(command) => {
                self.refuse(operand)?;
                command.clone()
            }
            Operands::Word(make) => make(self.word(&required()?)?),
            Operands::OptionalWord(make) => make(given.map(|given| self.word(&given)).transpose()?),
            Operands::OptionalCount(make) => make(given.map(|given| self.count(given)).transpose()?),
            Operands::Text(make) | Operands::Datum(make) => make(required()?),
            Operands::OptionalText(make) => make(given),
            Operands::WordAndDatum(make) => {
                let given = required()?;
                let (word, rest) = given
                    .split_once(char::is_whitespace)
                    .ok_or(CommaError::Missing(self.name))?;
                make(word.to_owned(), rest.trim_start().to_owned())
            }
        })
    }

    fn word(&self, operand: &str) -> Result<String, CommaError> {
        let (word, extra) = operand.split_once(char::is_whitespace).unwrap_or((operand, ""));
        self.refuse(extra.trim())?;
        Ok(word.to_owned())
    }

    fn count(&self, operand: String) -> Result<NonZeroU64, CommaError> {
        operand.parse().map_err(|_| CommaError::NotACount(self.name, operand))
    }

    fn refuse(&self, extra: &str) -> Result<(), CommaError> {
        if extra.is_empty() {
            return Ok(());
        }
        Err(CommaError::TooMany(self.name, extra.to_owned()))
    }
}

/// Finds a command by its name, without its comma.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

fn parameters(name: &str) -> &'static str {
    find(name).map_or("", |row| row.parameters)
}

/// Advice for a text that is nothing but the name of a comma command, which beginners type without
/// its comma.
pub(crate) fn advice_for_bare(text: &str) -> Option<String> {
    let text = text.trim();
    let name = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
        .unwrap_or(text);
    let name = if name == "exit" { "quit" } else { name };
    let row = find(name)?;
    Some(format!(
        "at this prompt, `,{}` is the command to {}",
        row.name, row.summary
    ))
}

fn unknown(name: &str) -> CommaError {
    CommaError::Unknown {
        name: name.to_owned(),
        near: match name {
            // What other prompts call it.
            "exit" | "bye" | "q" => vec!["quit"],
            name => similar(name, TABLE.iter().map(|row| row.name)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_their_operands() {
        let text = str::to_owned;
        for (line, expected) in [
            (",help", Command::Help(None)),
            (" ,help goto ", Command::Help(Some(text("goto")))),
            (",quit", Command::Quit),
            (",edit", Command::Edit(None)),
            (",edit f", Command::Edit(Some(text("f")))),
            (",print", Command::Print(None)),
            (",print 80", Command::Print(NonZeroU64::new(80))),
            (",describe car", Command::Describe(text("car"))),
            (",apropos string ref", Command::Apropos(text("string ref"))),
            (",time (let ((x 1))\n  x)", Command::Time(text("(let ((x 1))\n  x)"))),
            (",time(f)", Command::Time(text("(f)"))),
            (",back", Command::Back(None)),
            (",back 12", Command::Back(NonZeroU64::new(12))),
            (",goto main@3", Command::Goto(text("main@3"))),
            (",fork try", Command::Fork(text("try"))),
            (",branches", Command::Branches),
            (",switch main", Command::Switch(text("main"))),
            (",log", Command::Log(None)),
            (",log 7", Command::Log(NonZeroU64::new(7))),
            (",facts", Command::Facts(None)),
            (",facts <job _>", Command::Facts(Some(text("<job _>")))),
            (",diff", Command::Diff(None)),
            (",diff other", Command::Diff(Some(text("other")))),
            (",at @3 (f\n  x)", Command::At(text("@3"), text("(f\n  x)"))),
            (",expand (or 1 2)", Command::Expand(text("(or 1 2)"))),
            (",disassemble f", Command::Disassemble(text("f"))),
            (",profile (f)", Command::Profile(text("(f)"))),
            (",trace", Command::Trace(None)),
            (",trace fact", Command::Trace(Some(text("fact")))),
            (",untrace fact", Command::Untrace(Some(text("fact")))),
            (",explain", Command::Explain(None)),
            (",explain 4", Command::Explain(Some(text("4")))),
            (",why <job _>", Command::Why(text("<job _>"))),
            (",when job", Command::When(text("job"))),
            (",amend 3 (f\n  x)", Command::Amend(text("3"), text("(f\n  x)"))),
            (",patch a b.scm", Command::Patch(text("a b.scm"))),
            (",restart clerk 3", Command::Restart(text("clerk 3"))),
            (",rerun new.scm", Command::Rerun(text("new.scm"))),
            (",merge other", Command::Merge(text("other"))),
            (",pick main@3..4", Command::Pick(text("main@3..4"))),
            (",undo", Command::Undo),
            (",redo", Command::Redo),
            (",replay", Command::Replay),
            (",waits", Command::Waits),
            (",answer 5 yes, do", Command::Answer(text("5 yes, do"))),
            (",show", Command::Show(None)),
            (",show 4", Command::Show(Some(text("4")))),
            (",frames", Command::Frames(None)),
            (",frames 4", Command::Frames(Some(text("4")))),
        ] {
            assert_eq!(read(line), Some(Ok(expected)), "{line}");
        }
        for line in ["", "(f)", "x ,quit", "'(,quit)"] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        for (line, problem, advice) in [
            (
                ",",
                "a comma begins a command, and its name is missing",
                "`,help` lists the commands",
            ),
            (
                ",(f)",
                "a comma begins a command, and its name is missing",
                "`,help` lists the commands",
            ),
            (",exit", "there is no command `,exit`", "did you mean `,quit`?"),
            (",bakc", "there is no command `,bakc`", "did you mean `,back`?"),
            (
                ",d",
                "there is no command `,d`",
                "did you mean `,describe` or `,disassemble` or `,diff`?",
            ),
            (",at 3", "`,at` needs TURN EXPR", "the form is: ,at TURN EXPR"),
            (
                ",brnaches",
                "there is no command `,brnaches`",
                "did you mean `,branches`?",
            ),
            (",goto", "`,goto` needs TURN", "the form is: ,goto TURN"),
            (",time  ", "`,time` needs EXPR", "the form is: ,time EXPR"),
            (
                ",branches 3",
                "`3` is more than `,branches` takes",
                "the form is: ,branches",
            ),
            (
                ",fork a b c",
                "`b c` is more than `,fork` takes",
                "the form is: ,fork NAME",
            ),
            (
                ",back x",
                "`,back` takes a whole number from 1 on, not `x`",
                "the form is: ,back [N]",
            ),
            (
                ",back 0",
                "`,back` takes a whole number from 1 on, not `0`",
                "the form is: ,back [N]",
            ),
        ] {
            let error = read(line).expect("it begins with a comma").expect_err("it is wrong");
            assert_eq!(
                (error.to_string().as_str(), error.advice().as_str()),
                (problem, advice),
                "{line}"
            );
        }
    }

    #[test]
    fn names_without_their_comma_are_understood() {
        for (text, advice) in [
            (
                "help",
                Some("at this prompt, `,help` is the command to list the commands, or explain one"),
            ),
            (" quit ", Some("at this prompt, `,quit` is the command to leave")),
            ("exit", Some("at this prompt, `,quit` is the command to leave")),
            (
                "(help)",
                Some("at this prompt, `,help` is the command to list the commands, or explain one"),
            ),
            ("", None),
            ("()", None),
            ("(help 1)", None),
            ("car", None),
        ] {
            assert_eq!(advice_for_bare(text).as_deref(), advice, "{text}");
        }
    }

    #[test]
    fn the_manual_lists_every_row() {
        let manual = include_str!("../../../docs/src/repl.md");
        let listed: Vec<&str> = manual.lines().filter(|line| line.starts_with("| `,")).collect();
        let rows: Vec<String> = TABLE
            .iter()
            .map(|row| format!("| `{row}` | {} |", row.summary))
            .collect();
        let missing: Vec<&String> = rows.iter().filter(|row| !listed.contains(&row.as_str())).collect();
        assert!(missing.is_empty(), "add these rows to docs/src/repl.md: {missing:#?}");
        assert_eq!(
            listed, rows,
            "docs/src/repl.md lists the commands in the order of this table"
        );
    }
}
