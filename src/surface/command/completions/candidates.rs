//! Candidates for the word that a person types in a shell: runs, branches, libraries and names.
//!
//! The parser knows which argument the word is; its value's name says what may stand there.
//! INVARIANT: nothing is written, and whatever goes wrong, the shell receives fewer candidates and
//! no message.
//! It completes no option, and no command but behind `help`; the shell's script does.
//! Read next: `surface/command/completions.rs`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use clap::{Arg, Command};

use crate::history::journal::Journal;
use crate::surface::command::help::TOPICS;
use crate::surface::command::{TABLE as COMMANDS, parser};
use crate::surface::form::TABLE;
use crate::text::error::{CommandError, ExitCode};
use crate::text::exports::names_elsewhere;
use crate::text::terminal::Terminal;

/// The first word of the command line by which a shell's script asks.
pub(crate) const CANDIDATES: &str = "--candidates";

/// The names of values that are addresses of runs and branches.
const ADDRESSES: [&str; 5] = ["ADDRESS", "RUN", "A", "B", "FROM"];

/// Prints the candidates for the last of the words behind `duet`, one on a line.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn tell(words: &[OsString], terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    for candidate in candidates(&words) {
        terminal.data(format!("{candidate}\n"))?;
    }
    Ok(ExitCode::OK)
}

fn candidates(words: &[String]) -> Vec<String> {
    let Some(([name, before @ ..], [typed])) = words.split_last_chunk::<1>() else {
        return Vec::new();
    };
    let mut parser = parser();
    let Some(command) = parser.find_subcommand_mut(name) else {
        return Vec::new();
    };
    command.build();
    let typed = typed.trim_start_matches(['"', '\'']).replace('\\', "");
    let mut all = match wanted(command, before, &typed) {
        Some(argument) if is_address(name, argument) => addresses(before, &typed),
        Some(argument) if value_name(argument) == "LIBRARY" => libraries(Path::new(".")),
        Some(argument) => names(name, argument, &typed),
        None => Vec::new(),
    };
    all.retain(|candidate| candidate.starts_with(&typed));
    all.sort();
    all.dedup();
    all
}

/// The words that a command itself knows.
fn names(command: &str, argument: &Arg, typed: &str) -> Vec<String> {
    match (command, argument.is_positional()) {
        ("describe", true) => {
            // All names at once are of no help.
            let exported = if typed.is_empty() {
                Vec::new()
            } else {
                names_elsewhere(typed)
            };
            let exported = exported.into_iter().map(|export| export.name);
            exported.chain(libraries(Path::new("."))).collect()
        }
        ("help", true) => {
            let topics = TOPICS.iter().map(|(topic, _)| *topic);
            let commands = COMMANDS.iter().map(|row| row.name);
            commands.chain(topics).map(str::to_owned).collect()
        }
        ("schema", true) => TABLE.iter().map(|forms| forms.name.to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Says whether a value is the address of a run or branch that exists.
fn is_address(command: &str, argument: &Arg) -> bool {
    match value_name(argument).as_str() {
        // Elsewhere it is the name of a branch that begins.
        "BRANCH" => ["pick", "merge"].contains(&command),
        name => ADDRESSES.contains(&name),
    }
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let first = names.first().map(ToString::to_string);
    first.unwrap_or_else(|| argument.get_id().as_str().to_uppercase())
}

/// Finds the argument whose value comes behind the words.
fn wanted<'a>(command: &'a Command, before: &[String], typed: &str) -> Option<&'a Arg> {
    let (mut pending, mut count, mut are_options_over) = (None, 0_usize, false);
    for word in before {
        if pending.take().is_some() {
            continue;
        }
        if are_options_over || !word.starts_with('-') || word == "-" {
            count += 1;
        } else if word == "--" {
            are_options_over = true;
        } else {
            pending = option(command, word).filter(|option| option.get_action().takes_values());
        }
    }
    if pending.is_some() {
        return pending;
    }
    if typed.starts_with('-') && !are_options_over {
        return None;
    }
    let mut positionals = command.get_positionals();
    let last = command.get_positionals().last();
    positionals
        .nth(count)
        .or_else(|| last.filter(|last| last.get_num_args().is_some_and(|range| range.max_values() > 1)))
}

/// Finds the option that a word names, unless the word has its value too.
fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| match word.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => word.chars().nth(2).is_none() && argument.get_short() == word.chars().nth(1),
    })
}

/// The runs of the journal that the words name, or of the usual one; behind a `/` the branches.
fn addresses(words: &[String], typed: &str) -> Vec<String> {
    read_addresses(words, typed).unwrap_or_default()
}

fn read_addresses(words: &[String], typed: &str) -> Option<Vec<String>> {
    let named = words.iter().position(|word| word == "--journal");
    let named = named.and_then(|at| words.get(at + 1));
    let journal = match named {
        Some(name) => Journal::named(name).ok()?,
        None => Journal::default(),
    };
    // A server may be far away, and nobody waits for a word.
    if journal.is_on_server() {
        return None;
    }
    let store = journal.open_to_read().ok()?;
    let runs = store.runs().ok()?;
    let Some((run, _)) = typed.split_once('/') else {
        return Some(runs.iter().map(ToString::to_string).collect());
    };
    let run = runs.into_iter().find(|known| known.as_str() == run)?;
    let heads = store.heads(&run).ok()?;
    Some(heads.iter().map(|head| format!("{run}/{}", head.branch)).collect())
}

/// The libraries that come with Duet, and those in a folder and the folders in it.
fn libraries(folder: &Path) -> Vec<String> {
    let own = duet_stdlib::FILES.iter().map(|(path, _)| *path);
    let is_public = |path: &&str| !path.contains("/internal/") && !path.starts_with("duet/kernel");
    let mut all: Vec<String> = own.filter(is_public).filter_map(library).collect();
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries(folder) {
        let name = entry.file_name().to_string_lossy().into_owned();
        all.extend(library(&name));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.starts_with('.');
        if is_folder {
            let inner = entries(&entry.path()).map(|inner| inner.file_name().to_string_lossy().into_owned());
            all.extend(inner.filter_map(|inner| library(&format!("{name}/{inner}"))));
        }
    }
    all
}

/// The name of the library in a file.
fn library(path: &str) -> Option<String> {
    let parts = path.strip_suffix(".sld")?;
    Some(format!("({})", parts.replace('/', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let [name, before @ .., typed] = &words[..] else {
            panic!("too few words");
        };
        let mut parser = parser();
        let command = parser.find_subcommand_mut(name).expect("a command");
        command.build();
        let found = wanted(command, before, typed).map(value_name);
        assert_eq!(found.as_deref(), expected, "{line}");
    }

    #[test]
    fn the_argument_is_found_behind_options_and_their_values() {
        check("log ", Some("ADDRESS"));
        check("log --journal a.sqlite ", Some("ADDRESS"));
        check("log --journal ", Some("FILE"));
        check("log --journal=a.sqlite ", Some("ADDRESS"));
        check("log a ", None);
        check("log --js", None);
        check("rm -- -", Some("RUN"));
        check("diff a ", Some("B"));
        check("fork a b ", Some("BRANCH"));
        check("run --preload ", Some("LIBRARY"));
    }

    #[test]
    fn libraries_are_named_by_their_files() {
        assert_eq!(library("duet/agents.sld").as_deref(), Some("(duet agents)"));
        assert_eq!(library("duet/agents/tools.scm"), None);
        let found = candidates(&["run", "--preload", "'(duet age"].map(str::to_owned));
        assert_eq!(found, ["(duet agents)"]);
        assert!(candidates(&["log".to_owned()]).is_empty());
    }
}
