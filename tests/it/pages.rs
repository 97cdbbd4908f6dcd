//! Generated pages of the book: the procedures of actors, each with a program that shows it, and
//! the libraries.
//!
//! INVARIANT: everything that `(duet dataspace)` and `(duet supervision)` export has a docstring, a
//! program in `tests/actors/` that names it in its first line, and a page made of both; every
//! library has a page with the docstrings of its exports. `DUET_PAGES=write cargo test --test it
//! pages::` writes the pages. It does not run the programs; `../programs/actors.rs` does, and its
//! snapshots are what the pages show.
//! Read next: `support/library.rs`, `../programs/actors.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::library::{Libraries, Library, Origin};
use duet_runtime::scheme::description::{Description, descriptions};

/// The libraries whose exports have a page each.
const WITH_EXAMPLES: [&str; 2] = ["duet dataspace", "duet supervision"];
/// A form of the kernel, which the chapter on actors describes.
const CORE_FORM: &str = "pattern";
const PRIMITIVES: &str = "docs/src/primitives";
const LIBRARIES: &str = "docs/src/libraries";
const SUMMARY: &str = "docs/src/SUMMARY.md";
/// The chapter that lists the libraries; in the summary the pages of the libraries follow it.
const OVERVIEW: &str = "- [The libraries](libraries.md)\n";
const DECISIONS: &str = "docs/decisions";
const COLUMNS: usize = 100;
const DECISION_WORDS_MAX: usize = 450;

/// The pages that should be there, by their paths.
type Pages = BTreeMap<String, String>;

/// Compares pages with their files, or writes the files if that is asked for.
#[expect(clippy::disallowed_methods, reason = "pages are written only by who asks for it")]
fn check(pages: &Pages, folder: &str) {
    let is_writing = std::env::var_os("DUET_PAGES").is_some();
    if is_writing {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).unwrap();
        for (path, page) in pages {
            fs::write(path, page).unwrap();
        }
    }
    let mut offenders = Vec::new();
    for (path, page) in pages {
        if fs::read_to_string(path).ok().as_ref() != Some(page) {
            offenders.push(format!("{path} is not up to date"));
        }
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().to_str().unwrap().to_owned();
        if !pages.contains_key(&path) {
            offenders.push(format!("{path} describes nothing that is there"));
        }
    }
    let advice = "run `DUET_PAGES=write cargo test --test it pages::`";
    assert!(offenders.is_empty(), "{advice}:\n{}", offenders.join("\n"));
}

/// The name of a page's file: letters, digits and dashes, different for `signal` and `signal!`.
fn file_name(name: &str) -> String {
    let name = name.replace('?', "-p").replace('!', "-bang").replace(' ', "-");
    format!("{name}.md")
}

/// Wraps a docstring. An empty line separates paragraphs; a text in backticks stays on one line.
fn wrapped(text: &str) -> String {
    let paragraphs: Vec<String> = text.split("\n\n").map(|text| filled(pieces(text))).collect();
    paragraphs.join("\n\n")
}

/// Fills lines with pieces of text, which stay whole.
fn filled(pieces: impl IntoIterator<Item = String>) -> String {
    let mut lines = vec![String::new()];
    for piece in pieces {
        let line = lines.last_mut().unwrap();
        if line.is_empty() {
            *line = piece;
        } else if line.chars().count() + 1 + piece.chars().count() > COLUMNS {
            lines.push(piece);
        } else {
            write!(line, " {piece}").unwrap();
        }
    }
    lines.join("\n")
}

/// The words of a text. Those between two backticks are one piece, up to half a line; so are a word
/// that would mark a list, table, quotation or heading at the start of a line and the word before.
fn pieces(text: &str) -> Vec<String> {
    let (mut pieces, mut is_code) = (Vec::<String>::new(), false);
    for word in text.split_whitespace() {
        let is_marker = word.starts_with(['-', '*', '+', '>', '|', '#']);
        match pieces.last_mut() {
            Some(piece) if is_marker || is_code && piece.chars().count() < COLUMNS / 2 => {
                write!(piece, " {word}").unwrap();
            }
            Some(_) | None => pieces.push(word.to_owned()),
        }
        is_code ^= word.matches('`').count() % 2 == 1;
    }
    pieces
}

/// The ways to call something, as pieces of Markdown, with `inner` under the name `outer`.
fn calls(description: &Description, inner: &str, outer: &str) -> Vec<String> {
    let calls = description.call.lines().map(|call| match call.strip_prefix('(') {
        Some(rest) if rest.starts_with(inner) => format!("`({outer}{}`", &rest[inner.len()..]),
        _ if call == inner => format!("`{outer}`"),
        _ => format!("`{call}`"),
    });
    let mut pieces: Vec<String> = calls.map(|call| call + " or").collect();
    if let Some(last) = pieces.last_mut() {
        last.truncate(last.len() - " or".len());
    }
    pieces
}

/// Programs by the names in their first lines, each with what it logs.
fn programs() -> BTreeMap<String, (String, String)> {
    let mut programs = BTreeMap::new();
    let mut paths: Vec<_> = fs::read_dir("tests/actors")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let journal = fs::read_to_string(format!("tests/journals/{stem}.snap")).unwrap();
        let after_head = journal.split("---\n").nth(2).unwrap();
        let logged = after_head.split("\n\n").next().unwrap().to_owned();
        let (names, program) = text.split_once('\n').unwrap();
        for name in names.trim_start_matches(";;;").split_whitespace() {
            programs
                .entry(name.to_owned())
                .or_insert((program.trim().to_owned(), logged.clone()));
        }
    }
    programs
}

/// Describes a name of a library with examples: by its definition there, or by the runtime's.
fn description(libraries: &Libraries, library: &Library, name: &str) -> Description {
    match libraries.origin(library, name) {
        (Origin::Definition(description), _) => description,
        (Origin::Library(other), inner) => {
            let other = libraries.find(&other).unwrap();
            description(libraries, other, &inner)
        }
        _ => panic!("{name} has no docstring"),
    }
}

fn page_with_example(library: &str, description: &Description, (program, logged): &(String, String)) -> String {
    let name = &description.name;
    let link = format!("in [`({library})`](../libraries/{})", file_name(library));
    let calls = calls(description, name, name);
    format!(
        "# `{name}`\n\n{}\n\n{}\n\n\
         ## Example\n\n```text\n{program}\n```\n\nlogs\n\n```text\n{logged}\n```\n",
        filled(calls.into_iter().chain([link])),
        wrapped(&description.documentation)
    )
}

#[test]
fn every_procedure_of_actors_has_a_page_with_a_program() {
    let libraries = Libraries::of(duet_stdlib::FILES);
    let programs = programs();
    let summary = fs::read_to_string(SUMMARY).unwrap();
    let (mut pages, mut offenders) = (Pages::new(), Vec::new());
    for library in libraries.public() {
        if !WITH_EXAMPLES.contains(&library.name.as_str()) {
            continue;
        }
        for name in libraries.names(library).iter().filter(|name| *name != CORE_FORM) {
            let file = file_name(name);
            if !summary.contains(&format!("(primitives/{file})")) {
                offenders.push(format!("{SUMMARY} lacks `  - [`{name}`](primitives/{file})`"));
            }
            let Some(program) = programs.get(name) else {
                offenders.push(format!("no program in tests/actors/ shows {name}"));
                continue;
            };
            let description = description(&libraries, library, name);
            let page = page_with_example(&library.name, &description, program);
            pages.insert(format!("{PRIMITIVES}/{file}"), page);
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
    check(&pages, PRIMITIVES);
}

/// The first sentence of a text.
fn sentence(text: &str) -> &str {
    text.split_once(". ")
        .map_or(text, |(first, _)| first)
        .trim_end_matches('.')
}

/// The page of a library: its import line, what it defines, and what it has from other libraries.
fn library_page(libraries: &Libraries, library: &Library) -> String {
    let Library { name, about, .. } = library;
    let mut page = format!(
        "# `({name})`\n\n{}\n\n```text\n(import ({name}))\n```\n",
        wrapped(about)
    );
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for outer in libraries.names(library) {
        let (origin, inner) = libraries.origin(library, &outer);
        let renamed = || {
            if inner == outer {
                format!("`{outer}`")
            } else {
                format!("`{outer}` (there `{inner}`)")
            }
        };
        match origin {
            Origin::Library(source) => others.entry(source).or_default().push(renamed()),
            Origin::Keyword => {
                let known = descriptions(&outer, &[]).into_iter().next();
                let documentation = known.map_or("A keyword of other forms.".to_owned(), |known| known.documentation);
                write!(page, "\n## `{outer}`\n\n{}\n", wrapped(&documentation)).unwrap();
            }
            Origin::Definition(description) => {
                let calls = filled(calls(&description, &inner, &outer));
                let text = wrapped(&description.documentation);
                write!(page, "\n## `{outer}`\n\n{calls}\n\n{text}\n").unwrap();
                if WITH_EXAMPLES.contains(&name.as_str()) && outer != CORE_FORM {
                    write!(page, "\n[Example](../primitives/{})\n", file_name(&outer)).unwrap();
                }
            }
        }
    }
    for (source, names) in others {
        let text = wrapped(&names.join(", "));
        let file = file_name(&source);
        write!(
            page,
            "\n## From `({source})`\n\n[`({source})`]({file}) documents\n\n{text}\n"
        )
        .unwrap();
    }
    page
}

/// The chapter that lists the libraries.
fn overview(public: &[&Library]) -> String {
    let about = "Each page lists the exports of one library. A program without an `import` has everything \
                 in `(duet base)`.";
    let mut page = format!("# The libraries\n\n{}\n", wrapped(about));
    let kinds = [("duet", "Duet"), ("scheme", "The reports"), ("srfi", "SRFIs")];
    for (kind, title) in kinds {
        write!(page, "\n## {title}\n\n| Library | Contents |\n|---|---|\n").unwrap();
        for library in public
            .iter()
            .filter(|library| library.name.split(' ').next() == Some(kind))
        {
            let Library { name, about, .. } = library;
            let link = format!("[`({name})`](libraries/{})", file_name(name));
            writeln!(page, "| {link} | {} |", sentence(about).replace('|', "\\|")).unwrap();
        }
    }
    page
}

/// The summary with the pages of the libraries behind their overview.
fn summary(summary: &str, public: &[&Library]) -> String {
    let (before, after) = summary
        .split_once(OVERVIEW)
        .unwrap_or_else(|| panic!("{SUMMARY} lacks {OVERVIEW}"));
    let rest: String = after
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with("  - "))
        .collect();
    let links = public.iter().map(|library| {
        let Library { name, .. } = library;
        format!("  - [`({name})`](libraries/{})\n", file_name(name))
    });
    format!("{before}{OVERVIEW}{}{rest}", links.collect::<String>())
}

#[test]
fn every_library_has_a_page() {
    let libraries = Libraries::of(duet_stdlib::FILES);
    let public = libraries.public();
    let pages: Pages = public
        .iter()
        .map(|library| {
            (
                format!("{LIBRARIES}/{}", file_name(&library.name)),
                library_page(&libraries, library),
            )
        })
        .collect();
    check(&pages, LIBRARIES);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "pages are written only by who asks for it")]
fn the_libraries_are_listed() {
    let libraries = Libraries::of(duet_stdlib::FILES);
    let public = libraries.public();
    let listed = fs::read_to_string(SUMMARY).unwrap();
    let pages = [
        ("docs/src/libraries.md", overview(&public)),
        (SUMMARY, summary(&listed, &public)),
    ];
    for (path, page) in pages {
        if std::env::var_os("DUET_PAGES").is_some() {
            fs::write(path, &page).unwrap();
        }
        let is_equal = fs::read_to_string(path).ok() == Some(page);
        assert!(
            is_equal,
            "{path} is not up to date: run `DUET_PAGES=write cargo test --test it pages::`"
        );
    }
}

#[test]
fn every_decision_is_in_the_index_and_short() {
    let index = fs::read_to_string(Path::new(DECISIONS).join("README.md")).unwrap();
    let mut offenders = Vec::new();
    for entry in fs::read_dir(DECISIONS).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if file == "README.md" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let number = file.split('-').next().unwrap();
        let title = text.lines().next().unwrap_or_default();
        let row = title.strip_prefix(&format!("# {number}: "));
        let is_listed = row.is_some_and(|title| index.contains(&format!("| [{number}]({file}) | {title} |")));
        if !is_listed {
            offenders.push(format!(
                "{file}: docs/decisions/README.md needs its row, with its number and title"
            ));
        }
        let words = text
            .split_whitespace()
            .filter(|word| word.chars().any(char::is_alphanumeric))
            .count();
        if words > DECISION_WORDS_MAX {
            offenders.push(format!("{file}: {words} words, at most {DECISION_WORDS_MAX}"));
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}
