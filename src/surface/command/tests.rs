//! The table of commands, and the page of the book that describes them.
//!
//! INVARIANT: `docs/src/commands.md` has the words of the parser. `DUET_PAGES=write cargo test
//! -p duet --lib page` writes it.
//! Read next: `surface/command.rs`.

use std::fmt::Write;
use std::fs;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/commands.md");

const HEAD: &str = "\
# Commands

`duet help` lists the commands, `duet help COMMAND` prints the description below, and
`duet COMMAND -h` prints a short form. `duet completions SHELL` prints a script that makes a shell
complete commands and options, and `duet man DIRECTORY` writes manual pages.
";

#[test]
fn the_parser_is_sound() {
    parser().debug_assert();
}

#[test]
fn every_command_and_every_option_is_described() {
    for command in built().get_subcommands() {
        let about = command.get_about().expect("a description").to_string();
        assert!(about.ends_with('.') && !about.contains('\n'), "{about}");
        for argument in command.get_arguments() {
            assert!(
                argument.get_help().is_some(),
                "{} {}",
                command.get_name(),
                argument.get_id()
            );
        }
    }
}

#[test]
fn the_page_describes_what_the_parser_takes() {
    let page = page();
    #[expect(clippy::disallowed_methods, reason = "the page is written only by who asks for it")]
    if std::env::var_os("DUET_PAGES").is_some() {
        fs::write(PAGE, &page).expect("it can be written");
    }
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "write docs/src/commands.md: DUET_PAGES=write cargo test -p duet --lib page"
    );
}

fn built() -> Command {
    let mut parser = parser();
    parser.build();
    parser
}

fn page() -> String {
    let mut built = built();
    let mut page = HEAD.to_owned();
    let mut group = "";
    for row in TABLE {
        if row.group != group {
            group = row.group;
            write!(page, "\n## {group}\n").expect("a string");
        }
        section(
            &mut page,
            built.find_subcommand_mut(row.name).expect("it is in the table"),
        );
    }
    page
}

fn section(page: &mut String, command: &mut Command) {
    let about = command
        .get_long_about()
        .or(command.get_about())
        .map(ToString::to_string);
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    write!(page, "\n### `duet {}`\n\n```text\n{usage}\n```\n\n", command.get_name()).expect("a string");
    page.push_str(&markdown(&about.unwrap_or_default()));
    let arguments: Vec<_> = command
        .get_arguments()
        .filter(|argument| argument.get_id() != "help" && !argument.is_hide_set())
        .collect();
    page.push_str(if arguments.is_empty() { "" } else { "\n" });
    for argument in &arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let default = argument
            .get_default_values()
            .first()
            .filter(|_| argument.get_action().takes_values());
        let default = default
            .map(|default| format!("; otherwise `{}`", default.display()))
            .unwrap_or_default();
        let name = argument.to_string().replace("...", "…");
        page.push_str(&item(&format!("- `{name}`: {help}{default}")));
    }
}

/// An item of a list, in lines of at most 100 columns.
fn item(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(format!("  {word}"));
        } else {
            write!(line, " {word}").expect("a string");
        }
    }
    lines.join("\n") + "\n"
}

/// A description, with its examples, which are indented, as blocks.
fn markdown(about: &str) -> String {
    let paragraphs = about.split("\n\n").map(|paragraph| {
        if paragraph.starts_with("  ") {
            let lines: Vec<&str> = paragraph
                .lines()
                .map(|line| line.get(2..).unwrap_or_default())
                .collect();
            return format!("```text\n{}\n```\n", lines.join("\n"));
        }
        // Without marks, some words would be tags.
        format!("{}\n", paragraph.replace('<', "\\<").replace('*', "\\*"))
    });
    paragraphs.collect::<Vec<_>>().join("\n")
}
