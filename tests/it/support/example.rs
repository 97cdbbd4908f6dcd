//! The examples of a Markdown page: fenced blocks of programs and commands, with their output.
//!
//! Owns the search for blocks and their reading: ```` ```scheme ```` is a program with
//! `; prints: line` comments, ```` ```console ```` is `$ duet …` commands with their output.
//! INVARIANT: a fence in no known language is an error, so a misspelt one cannot escape the tests.
//! It runs nothing.
//! Read next: `page.rs`.

use std::fmt;

/// One runnable block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Example {
    /// A program.
    Program {
        /// Line of the opening fence, from 1.
        line: usize,
        /// The block's text, comments included.
        text: String,
        /// `; file: NAME`: the name later commands of the page use for it.
        file: Option<String>,
        /// `; prints: TEXT`, in order: its whole standard output.
        prints: Vec<String>,
        /// `; exits: N`; 0 if the block does not say.
        exit_code: i32,
    },
    /// Commands.
    Console {
        /// Line of the opening fence, from 1.
        line: usize,
        /// In order; they share the page's directory.
        commands: Vec<Command>,
    },
}

/// One `$` line of a console block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The command line, without the `$`.
    pub(crate) words: Vec<String>,
    /// The lines shown below it.
    pub(crate) output: Vec<String>,
}

/// A block that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageError {
    /// Line of the fault, from 1.
    pub(crate) line: usize,
    /// The fault.
    pub(crate) fault: PageFault,
}

/// The faults that a block can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageFault {
    /// The page ends inside a block.
    Unclosed,
    /// The fence names none of the languages in [`LANGUAGES`].
    Language(String),
    /// A console block shows output before any command.
    OutputFirst,
    /// A command is not `duet …`.
    NotDuet(String),
    /// `; exits:` is not followed by a number.
    ExitCode(String),
}

/// Languages that a fence may name, and whether tests run its blocks.
pub(crate) const LANGUAGES: [(&str, bool); 8] = [
    ("scheme", true),
    ("console", true),
    ("sh", false),
    ("text", false),
    ("rust", false),
    ("toml", false),
    ("json", false),
    ("mermaid", false),
];

impl fmt::Display for PageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: ", self.line)?;
        match &self.fault {
            PageFault::Unclosed => write!(formatter, "the page ends inside this block; close it with ```"),
            PageFault::Language(name) => {
                let known: Vec<_> = LANGUAGES.iter().map(|(language, _)| *language).collect();
                write!(formatter, "fence language {name:?} is none of {}", known.join(", "))
            }
            PageFault::OutputFirst => write!(formatter, "a console block begins with a `$ duet …` line"),
            PageFault::NotDuet(word) => write!(
                formatter,
                "{word:?} is not duet; put what is not tested in an `sh` block"
            ),
            PageFault::ExitCode(text) => write!(formatter, "{text:?} is not an exit code"),
        }
    }
}

/// Finds the runnable blocks of a page, in order.
///
/// # Errors
/// [`PageError`] at the first block that cannot be read.
pub(crate) fn examples(markdown: &str) -> Result<Vec<Example>, PageError> {
    let mut found = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((index, opening)) = lines.next() {
        let Some(language) = opening.trim_start().strip_prefix("```") else {
            continue;
        };
        let line = index + 1;
        let indent = opening.len() - opening.trim_start().len();
        let mut body = Vec::new();
        loop {
            let Some((_, text)) = lines.next() else {
                return Err(PageError {
                    line,
                    fault: PageFault::Unclosed,
                });
            };
            if text.trim() == "```" {
                break;
            }
            body.push(text.get(indent..).unwrap_or_default());
        }
        found.extend(example(language.trim(), line, &body)?);
    }
    Ok(found)
}

fn example(language: &str, line: usize, body: &[&str]) -> Result<Option<Example>, PageError> {
    match LANGUAGES.iter().find(|(name, _)| *name == language) {
        None => Err(PageError {
            line,
            fault: PageFault::Language(language.to_owned()),
        }),
        Some((_, false)) => Ok(None),
        Some(("console", true)) => console(line, body).map(Some),
        Some((_, true)) => program(line, body).map(Some),
    }
}

fn program(line: usize, body: &[&str]) -> Result<Example, PageError> {
    let mut file = None;
    let mut prints = Vec::new();
    let mut exit_code = 0;
    for (index, text) in body.iter().enumerate() {
        if let Some(printed) = after(text, "; prints:") {
            prints.push(printed.to_owned());
        } else if let Some(name) = after(text, "; file:") {
            file = Some(name.to_owned());
        } else if let Some(code) = after(text, "; exits:") {
            let fault = PageFault::ExitCode(code.to_owned());
            exit_code = code.parse().map_err(|_| PageError {
                line: line + 1 + index,
                fault,
            })?;
        }
    }
    let text = body.iter().map(|text| format!("{text}\n")).collect();
    Ok(Example::Program {
        line,
        text,
        file,
        prints,
        exit_code,
    })
}

/// The rest of the line behind a marker and one space.
fn after<'text>(line: &'text str, marker: &str) -> Option<&'text str> {
    let (_, rest) = line.split_once(marker)?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

fn console(line: usize, body: &[&str]) -> Result<Example, PageError> {
    let mut commands: Vec<Command> = Vec::new();
    for (index, text) in body.iter().enumerate() {
        let at = |fault| PageError {
            line: line + 1 + index,
            fault,
        };
        if let Some(typed) = text.strip_prefix("$ ") {
            let words = words(typed);
            let program = words.first().cloned().unwrap_or_default();
            if program != "duet" {
                return Err(at(PageFault::NotDuet(program)));
            }
            commands.push(Command {
                words,
                output: Vec::new(),
            });
        } else {
            let command = commands.last_mut().ok_or_else(|| at(PageFault::OutputFirst))?;
            command.output.push((*text).to_owned());
        }
    }
    Ok(Example::Console { line, commands })
}

/// Splits at white space outside quotes; quotes are dropped, as a shell does.
fn words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for next in typed.chars() {
        match (quote, next) {
            (Some(open), _) if open == next => quote = None,
            (None, '\'' | '"') => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            (None, _) if next.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, _) => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    words
}
