//! `duet new`: begins a project.
//!
//! INVARIANT: a folder that exists stays as it is; a folder that is made is whole and runs.
//! It runs nothing.
//! Read next: `world/launch/manifest.rs`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::world::launch::MANIFEST;

/// Begins a project: a folder with a manifest, a program, a library, a test and a README.
///
/// The name is that of the folder, the program and the library: small letters, digits and `-`.
/// `--agent` begins with an agent, a tool and recorded replies of a model, `--job` with a program
/// that works every hour, and `--library` with a library that has no program.
///
///   duet new greeter
///   duet new helper --agent
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group = clap::ArgGroup::new("kind").args(["agent", "library", "job"]))]
pub(crate) struct Arguments {
    /// The name of the project.
    name: String,
    /// Begins with an agent.
    #[arg(long)]
    agent: bool,
    /// Begins with a library alone.
    #[arg(long)]
    library: bool,
    /// Begins with a program that works by a schedule.
    #[arg(long)]
    job: bool,
}

/// A kind of project: its texts, in which `@NAME@` stands for the name.
struct Kind {
    /// The sentence about it in the README.
    what: &'static str,
    program: Option<&'static str>,
    library: &'static str,
    test: &'static str,
    answers: Option<&'static str>,
    /// The capabilities that the manifest names.
    tools: &'static str,
    /// The words behind `duet run NAME` with which it runs at once.
    words: &'static str,
}

const PROGRAM: Kind = Kind {
    what: "A program that greets.",
    program: Some(include_str!("new/program.scm")),
    library: include_str!("new/program.sld"),
    test: include_str!("new/program-test.scm"),
    answers: None,
    tools: "",
    words: "",
};

const AGENT: Kind = Kind {
    what: "An agent that answers a question.",
    program: Some(include_str!("new/agent.scm")),
    library: include_str!("new/agent.sld"),
    test: include_str!("new/agent-test.scm"),
    answers: Some(include_str!("new/answers.pr")),
    tools: "\n (tools model/chat)",
    words: " --double @NAME@/answers.pr",
};

const JOB: Kind = Kind {
    what: "A program that reports every hour.",
    program: Some(include_str!("new/job.scm")),
    library: include_str!("new/job.sld"),
    test: include_str!("new/job-test.scm"),
    answers: None,
    tools: "",
    words: " -- once",
};

const LIBRARY: Kind = Kind {
    what: "A library.",
    program: None,
    library: include_str!("new/library.sld"),
    test: include_str!("new/library-test.scm"),
    answers: None,
    tools: "",
    words: "",
};

/// The first parts of names that the standard libraries have.
const TAKEN: [&str; 4] = ["duet", "r6rs", "scheme", "srfi"];

/// The maximum length of a name, in characters.
const NAME_MAX: usize = 64;

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let name = &arguments.name;
    require_name(name)?;
    let kind = match (arguments.agent, arguments.library, arguments.job) {
        (true, ..) => AGENT,
        (_, true, _) => LIBRARY,
        (.., true) => JOB,
        _ => PROGRAM,
    };
    write(name, &kind)?;
    let run = format!("duet run {name}{}", kind.words.replace("@NAME@", name));
    let test = format!("duet test {name}");
    let ways = if kind.program.is_some() {
        format!("`{run}` runs it, `{test}` runs its tests")
    } else {
        format!("`{test}` runs its tests")
    };
    terminal.message(format!(
        "made the folder `{name}`\n{ways}; `{name}/README.md` says more"
    ));
    Ok(ExitCode::OK)
}

/// Requires that a name can be that of a folder, a run and a library.
fn require_name(name: &str) -> Result<(), CommandError> {
    let is_allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let begins = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !begins || !name.chars().all(is_allowed) || name.ends_with('-') || name.len() > NAME_MAX {
        return Err(
            CommandError::usage(format!("`{name}` cannot be a project's name")).advise(format!(
                "a name has small letters, digits and `-`, begins with a letter, and has at most {NAME_MAX} characters"
            )),
        );
    }
    if name == "manifest" {
        return Err(CommandError::usage(format!("`{name}` cannot be a project's name"))
            .because("the program would be in the file of the manifest"));
    }
    if TAKEN.contains(&name) {
        return Err(CommandError::usage(format!("`{name}` cannot be a project's name"))
            .because(format!("the libraries `({name} …)` belong to Duet")));
    }
    Ok(())
}

fn write(name: &str, kind: &Kind) -> Result<(), CommandError> {
    let folder = Path::new(name);
    let wrong = |error: &std::io::Error| CommandError::caused(format!("`{name}` cannot be made"), error);
    fs::create_dir(folder).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            CommandError::usage(format!("there is a file or folder `{name}` already")).advise("choose another name")
        } else {
            wrong(&error)
        }
    })?;
    let written = files(name, kind)
        .into_iter()
        .try_for_each(|(file, text)| fs::write(folder.join(file), text.replace("@NAME@", name)));
    written.map_err(|error| {
        // Half a project would be refused by the next attempt.
        let _ = fs::remove_dir_all(folder);
        wrong(&error)
    })
}

/// The files of a project, with their texts.
fn files(name: &str, kind: &Kind) -> Vec<(String, String)> {
    let main = if kind.program.is_some() {
        "@NAME@.scm"
    } else {
        "@NAME@-test.scm"
    };
    let manifest = format!(
        ";; How `duet run @NAME@` runs: the program, and what it may use.\n((program \"{main}\"){})\n",
        kind.tools
    );
    let mut files = vec![
        (MANIFEST.to_owned(), manifest),
        (format!("{name}.sld"), kind.library.to_owned()),
        (format!("{name}-test.scm"), kind.test.to_owned()),
        (".gitignore".to_owned(), ".duet/\n".to_owned()),
        ("README.md".to_owned(), readme(kind)),
    ];
    files.extend(kind.program.map(|text| (format!("{name}.scm"), text.to_owned())));
    files.extend(kind.answers.map(|text| ("answers.pr".to_owned(), text.to_owned())));
    files
}

fn readme(kind: &Kind) -> String {
    let what = if kind.program.is_some() { "it" } else { "its tests" };
    format!(
        "# @NAME@\n\n{}\n\n```sh\nduet run @NAME@{}    # from the folder above: runs {what}\n\
         duet test @NAME@    # runs its tests\n\
         duet log    # the turns of the last run\n```\n",
        kind.what, kind.words
    )
}
