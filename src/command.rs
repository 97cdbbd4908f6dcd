//! The commands: one row each, one file each under `command/`.
//!
//! Owns the table from which dispatch and help follow, and what is done with a failure.
//! INVARIANT: a failure ends in one message on standard error and its exit code, whatever command it came from.
//! It knows nothing of what the commands do.
//! Read next: `command/run.rs`.

use std::ffi::OsString;

use crate::arguments::{Arguments, Form};
use crate::failure::{Code, Failure};
use crate::render;
use crate::terminal::Terminal;

/// One command.
pub(crate) struct Row {
    /// Its name and what it takes.
    pub(crate) form: Form,
    /// What it does, in one line.
    pub(crate) summary: &'static str,
    /// What more there is to know.
    pub(crate) details: &'static str,
    execute: fn(&Arguments, &mut Terminal) -> Result<Code, Failure>,
}

macro_rules! commands {
    ($($module:ident $name:literal $line:literal $summary:literal;)*) => {
        $(pub(crate) mod $module;)*

        /// All commands, in the order in which help lists them.
        pub(crate) static TABLE: &[Row] = &[$(Row {
            form: Form { name: $name, line: $line },
            summary: $summary,
            details: $module::DETAILS,
            execute: $module::execute,
        },)*];
    };
}

commands! {
    run "run" "PROGRAM [--name RUN] [--workspace DIR] [--answer TEXT]… [--headless] [--double FILE] [--secret NAME]… [--allow-host HOST]… [--journal FILE | --memory] [-- ARG…]"
        "run a program, which is a file or a folder with a manifest";
    repl "repl" "[ADDRESS] [--name RUN] [--workspace DIR] [--journal FILE | --memory] [--script]"
        "evaluate what is typed, text by text, in a run of its own";
    resume "resume" "[ADDRESS] [--answer TEXT]… [--again] [--headless] [--double FILE] [--secret NAME]… [--allow-host HOST]… [--journal FILE]"
        "go on after a crash, an interrupt, a question or a goto";
    answer "answer" "ADDRESS TEXT [--again] [--journal FILE]"
        "answer the open question of a waiting run and go on";
    log "log" "[ADDRESS] [--limit N] [--actor NAME] [--label LABEL] [--pattern PATTERN] [--since TURN] [--until TURN] [--json] [--journal FILE]"
        "list the turns of a run, newest first, with its branches";
    show "show" "[ADDRESS] [--json] [--journal FILE]"
        "show one turn in full";
    facts "facts" "[ADDRESS] [PATTERN] [--json] [--journal FILE]"
        "list what is asserted at a turn";
    waits "waits" "[ADDRESS] [--json] [--journal FILE]"
        "list what a run waits for at a turn";
    diff "diff" "A [B] [--json] [--journal FILE]"
        "compare two turns or branches: where they part, and what each has alone";
    why "why" "PATTERN [ADDRESS] [--json] [--journal FILE]"
        "show the turns that led to a fact";
    when "when" "PATTERN [ADDRESS] [--all] [--json] [--journal FILE]"
        "find the first turn after which a fact is there";
    goto "goto" "ADDRESS [--workspace] [--dry-run] [--force] [--json] [--journal FILE]"
        "move the head of a branch to another turn, and put files back";
    undo "undo" "[ADDRESS] [--journal FILE]"
        "take the last move of a branch's head back";
    redo "redo" "[ADDRESS] [--journal FILE]"
        "do again what was undone";
    fork "fork" "ADDRESS BRANCH [BRANCH]… [--journal FILE]"
        "begin branches at a turn";
    amend "amend" "ADDRESS INPUT [--branch NAME] [--journal FILE]"
        "begin a branch on which the world said something else";
    pick "pick" "RANGE --onto BRANCH [--journal FILE]"
        "deliver recorded inputs again on another branch";
    merge "merge" "FROM [--into BRANCH] [--dry-run] [--json] [--journal FILE]"
        "take the facts of one branch over on another";
    eval "eval" "ADDRESS EXPR [--json] [--journal FILE]"
        "evaluate an expression at a turn, without a trace";
    replay "replay" "[ADDRESS] [--check] [--with PROGRAM] [--json] [--journal FILE]"
        "run again from the records and require every turn to come out the same";
    runs "runs" "[--json] [--journal FILE]"
        "list the runs of the journal";
    branches "branches" "[ADDRESS] [--json] [--journal FILE]"
        "list the branches of a run";
    mark "mark" "[ADDRESS] [NAME] [--delete] [--json] [--journal FILE]"
        "give a turn a name, or list the names";
    gc "gc" "[ADDRESS] [--keep BRANCH]… [--turns N] [--age DAYS] [--forks] [--dry-run] [--json] [--journal FILE]"
        "give up branches that were left behind, and the space they take";
    stats "stats" "[ADDRESS] [--json] [--journal FILE]"
        "count what the history of a run consists of";
    export "export" "ADDRESS FILE [--redact TEXT]… [--with-secrets] [--journal FILE]"
        "write a run into one file, from which it can be replayed elsewhere";
    import "import" "FILE [--journal FILE]"
        "check an exported run and take it into the journal";
    fsck "fsck" "[ADDRESS] [--repair] [--json] [--journal FILE]"
        "check the journal, and take damaged branches back to what is sound";
    simulate "simulate" "[--seeds N] [--start S] [--operations K]"
        "let everything happen to random programs and compare them with their journals";
    conform "conform" "SUITE FILE"
        "judge the cases of a conformance file and print each difference";
    tools "tools" "[--json]"
        "list the built-in tools and what they take";
    describe "describe" "NAME"
        "say what a procedure does";
    expand "expand" "FILE"
        "show a program after macro expansion";
    disassemble "disassemble" "FILE"
        "show a program's instructions";
    help "help" "[COMMAND]"
        "list the commands, or explain one";
}

/// Finds a command by its name.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.form.name == name)
}

/// Does what the words say, and shows why if it cannot be done.
pub(crate) fn dispatch(words: Vec<OsString>, terminal: &mut Terminal) -> Code {
    let failure = match dispatch_command(words, terminal) {
        Ok(code) => return code,
        Err(failure) => failure,
    };
    match failure {
        Failure::Problem(problem) => {
            terminal.message(&render::problem(&problem, terminal.is_styled));
            problem.code
        }
        Failure::Shown(text) => {
            terminal.message(&text);
            Code::FAILED
        }
        // Whoever reads no further has what they wanted, as in `| head`.
        Failure::OutputClosed => Code::OK,
    }
}

fn dispatch_command(mut words: Vec<OsString>, terminal: &mut Terminal) -> Result<Code, Failure> {
    if words.is_empty() {
        return Err(Failure::usage("which command?").advise("`duet help` lists them; `duet FILE` runs a program"));
    }
    let first = words.remove(0);
    let name = match first.to_str() {
        Some("--help" | "-h") => "help",
        Some("--version" | "-V") => {
            terminal.data(concat!("duet ", env!("CARGO_PKG_VERSION"), "\n"))?;
            return Ok(Code::OK);
        }
        name => name.unwrap_or_default(),
    };
    let Some(row) = find(name) else {
        return run_file(first, words, terminal);
    };
    let asks_for_help = words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--help" || word == "-h");
    if asks_for_help {
        terminal.data(&help::of(row))?;
        return Ok(Code::OK);
    }
    (row.execute)(&row.form.read(words)?, terminal)
}

/// Runs a program that stands where a command should, as the first line of a script makes it: all words behind it are its own.
fn run_file(program: OsString, arguments: Vec<OsString>, terminal: &mut Terminal) -> Result<Code, Failure> {
    let Some(row) = find("run").filter(|_| std::path::Path::new(&program).exists()) else {
        return Err(unknown(&program.to_string_lossy()));
    };
    let words = [program, "--".into()].into_iter().chain(arguments).collect();
    (row.execute)(&row.form.read(words)?, terminal)
}

/// Says that there is no such command, and which one may have been meant.
pub(crate) fn unknown(name: &str) -> Failure {
    let failure = Failure::usage(format!("there is no command `{name}`"));
    let near = TABLE.iter().map(|row| row.form.name).filter(|known| {
        let shared = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        shared >= 2 || (shared >= 1 && known.len().abs_diff(name.len()) <= 1)
    });
    let near: Vec<String> = near.map(|name| format!("`{name}`")).collect();
    let failure = if near.is_empty() {
        failure
    } else {
        failure.advise(format!("did you mean {}?", near.join(" or ")))
    };
    failure.advise("`duet help` lists the commands")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_explained() {
        for row in TABLE {
            assert!(!row.details.is_empty(), "{}", row.form);
            assert!(row.summary.starts_with(char::is_lowercase), "{}", row.form);
            assert!(
                std::ptr::eq(find(row.form.name).expect("it is in the table"), row),
                "{}",
                row.form
            );
        }
    }
}
