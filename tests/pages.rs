//! The pages of the book about what actors can do: one for each procedure and form, from its docstring and from a program that shows it.
//!
//! INVARIANT: everything that `(duet dataspace)` and `(duet supervision)` export has a docstring, a program in `tests/actors/` that names it in
//! its first line, and a page that says what these two say. `DUET_PAGES=write cargo test --test pages` writes the pages.
//! It does not run the programs; `actors.rs` does, and its snapshots are what the pages show.
//! Read next: `actors.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

const LIBRARIES: [&str; 2] = ["dataspace", "supervision"];
/// A form of the kernel, which the chapter on actors describes.
const CORE_FORM: &str = "pattern";
const FOLDER: &str = "docs/src/primitives";

/// The names that a library exports.
fn exports(library: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("stdlib/duet/{library}.sld")).unwrap();
    let (_, rest) = text.split_once("(export").unwrap();
    let (names, _) = rest.split_once(')').unwrap();
    let names = names.split_whitespace().filter(|name| *name != CORE_FORM);
    names.map(str::to_owned).collect()
}

/// What `duet describe` says.
fn description(name: &str) -> String {
    let duet = env!("CARGO_BIN_EXE_duet");
    let output = Command::new(duet).args(["describe", name]).output().unwrap();
    assert!(output.status.success(), "{name} has no docstring");
    String::from_utf8(output.stdout).unwrap()
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
        let logged = journal
            .split("---\n")
            .nth(2)
            .unwrap()
            .split("\n\n")
            .next()
            .unwrap()
            .to_owned();
        let (names, program) = text.split_once('\n').unwrap();
        for name in names.trim_start_matches(";;;").split_whitespace() {
            programs
                .entry(name.to_owned())
                .or_insert((program.trim().to_owned(), logged.clone()));
        }
    }
    programs
}

/// The name of a page's file: letters, digits and dashes, different for `signal` and `signal!`.
fn file_name(name: &str) -> String {
    let name = name.replace('?', "-p").replace('!', "-bang");
    format!("{name}.md")
}

fn page(library: &str, name: &str, programs: &BTreeMap<String, (String, String)>) -> String {
    let (program, logged) = programs
        .get(name)
        .unwrap_or_else(|| panic!("no program in tests/actors/ shows {name}"));
    let descriptions = description(name);
    // Libraries may have the same name for different things.
    let here = format!("  in (duet {library})");
    let mut entries = descriptions.split("\n\n");
    let description = entries.find(|entry| entry.contains(&here)).unwrap_or(&descriptions);
    // The ways to call it stand at the margin, and what it does is indented.
    let (heads, documentation): (Vec<&str>, Vec<&str>) = description
        .lines()
        .filter(|line| !line.is_empty())
        .partition(|line| !line.starts_with(' '));
    let heads: Vec<&str> = heads.iter().map(|head| head.split("  in ").next().unwrap()).collect();
    let head = heads.join("` or `");
    let documentation: Vec<&str> = documentation.into_iter().map(str::trim).collect();
    let mut page = format!(
        "# `{name}`\n\n`{head}` in `(duet {library})`\n\n{}\n",
        documentation.join("\n")
    );
    write!(
        page,
        "\n## Example\n\n```text\n{program}\n```\n\nlogs\n\n```text\n{logged}\n```\n"
    )
    .unwrap();
    page
}

#[test]
#[expect(clippy::disallowed_methods, reason = "pages are written only by who asks for it")]
fn every_page_says_what_docstring_and_program_say() {
    let is_writing = std::env::var_os("DUET_PAGES").is_some();
    let programs = programs();
    let summary = fs::read_to_string("docs/src/SUMMARY.md").unwrap();
    let mut offenders = Vec::new();
    for library in LIBRARIES {
        for name in exports(library) {
            let (file, page) = (file_name(&name), page(library, &name, &programs));
            let path = Path::new(FOLDER).join(&file);
            if is_writing {
                fs::create_dir_all(FOLDER).unwrap();
                fs::write(&path, &page).unwrap();
            }
            if fs::read_to_string(&path).ok().as_ref() != Some(&page) {
                offenders.push(format!("{} is not up to date", path.display()));
            }
            if !summary.contains(&format!("(primitives/{file})")) {
                offenders.push(format!("docs/src/SUMMARY.md lacks `  - [`{name}`](primitives/{file})`"));
            }
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}
