//! Rules for signposts: a file that a comment or a page names exists.
//!
//! A name in backticks that ends in `.rs`, `.md`, `.prs`, `.sld` or `.scm` is a signpost. It
//! resolves against four folders: the folder of the file that names it, the `src` of that file's
//! crate, the crate, and the root. A crate is the nearest folder above with a `Cargo.toml`. A name
//! with `<` or `*` is a pattern; the folder before them must exist. A page may also name a file
//! that one of its own quoted blocks names.
//! INVARIANT: the rules know nothing of files but the given ones, so that planted files suffice.
//! Read next: `words.rs`.

use std::collections::BTreeSet;

use super::prose::{Paragraph, paragraphs};
use super::rule::{Offence, planted, require, shown};
use crate::support::tree::{Source, sources};

/// Endings of names that are signposts.
const ENDINGS: [&str; 5] = [".rs", ".md", ".prs", ".sld", ".scm"];

/// Names of files that are not ours: name, whose they are.
const FOREIGN: &[(&str, &str)] = &[
    ("manifest.scm", "a user's project has it"),
    ("shapes/circle.sld", "a user's library, as an example"),
    ("chibi/test.sld", "a file of another implementation's suite"),
    ("sturdy.prs", "a schema of the Syndicate protocol"),
];

/// The given files, as signposts find them.
struct Map<'files> {
    paths: BTreeSet<&'files str>,
    /// Folders with a manifest; the root is the empty one.
    crates: BTreeSet<&'files str>,
}

impl<'files> Map<'files> {
    fn new(files: &'files [Source]) -> Map<'files> {
        let manifests = files.iter().filter(|source| source.path.ends_with("Cargo.toml"));
        Map {
            paths: files.iter().map(|source| source.path.as_str()).collect(),
            crates: manifests.map(Source::folder).collect(),
        }
    }

    /// The folder of the crate to which a file belongs.
    fn crate_of<'path>(&self, folder: &'path str) -> &'path str {
        let mut folder = folder;
        while !self.crates.contains(folder) && !folder.is_empty() {
            folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        folder
    }

    /// Whether a name leads somewhere from a folder.
    fn resolves(&self, folder: &str, name: &str) -> bool {
        let home = self.crate_of(folder);
        let bases = [folder.to_owned(), joined(home, "src"), home.to_owned(), String::new()];
        let placeholder = name.find(['<', '*']);
        bases.iter().any(|base| match placeholder {
            None => self.paths.contains(joined(base, name).as_str()),
            Some(at) => {
                let fixed = name[..at].rsplit_once('/').map_or("", |(fixed, _)| fixed);
                let fixed = format!("{}/", joined(base, fixed));
                fixed == "/" || self.paths.iter().any(|path| path.starts_with(&fixed))
            }
        })
    }
}

/// A path below a folder, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The names in backticks, with their offsets.
fn quoted_names(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut offset = 0;
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            names.push((offset, part));
        }
        offset += part.len() + 1;
    }
    names
}

/// Whether a name in backticks is a signpost.
fn is_signpost(name: &str) -> bool {
    let is_path = name
        .chars()
        .all(|next| next.is_alphanumeric() || "_-./<>*".contains(next));
    let is_file = |ending: &str| {
        name.strip_suffix(ending)
            .is_some_and(|stem| !stem.is_empty() && !stem.ends_with('/'))
    };
    // `NAME/tests.rs` stands for any name.
    let is_sample = name.split('/').any(|part| part == "NAME" || part == "NAME.rs");
    is_path && !is_sample && ENDINGS.iter().any(|ending| is_file(ending))
}

/// Whether the quoted blocks of a page name a file.
fn shows(page: &Source, name: &str) -> bool {
    let mut is_quoted = false;
    page.text.lines().any(|line| {
        is_quoted ^= line.trim_start().starts_with("```");
        is_quoted && line.contains(name)
    })
}

/// Whether a file's prose is searched: all comments, and the pages that readers see.
fn is_searched(source: &Source) -> bool {
    match source.extension() {
        "rs" | "scm" | "sld" => true,
        "md" => source.folder().is_empty() || source.path.starts_with("docs/"),
        _ => false,
    }
}

/// Signposts that lead nowhere.
fn broken_signposts(files: &[Source]) -> Vec<Offence> {
    let map = Map::new(files);
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| is_searched(source)) {
        let leads = |name: &str| {
            map.resolves(source.folder(), name)
                || FOREIGN.iter().any(|(foreign, _)| *foreign == name)
                || (source.extension() == "md" && shows(source, name))
        };
        for paragraph in paragraphs(source) {
            for (offset, name) in quoted_names(&paragraph.text) {
                if is_signpost(name) && !leads(name) {
                    offences.push(Offence::at(source, paragraph.line_at(offset), format!("`{name}`")));
                }
            }
        }
    }
    offences
}

/// A name resolves against four folders: that of its file, the crate's `src`, the crate, the root.
#[test]
fn every_signpost_leads_somewhere() {
    let files = sources(&["rs", "md", "prs", "sld", "scm", "toml"]);
    require(
        &broken_signposts(&files),
        "these files are not there; name them relative to the file's folder, the crate's `src`, the crate or the root",
    );
    let files = [
        planted("Cargo.toml", ""),
        planted(
            "README.md",
            "See `a/src/b.rs`, `gone.md` and `mine.scm`.\n```\ncat mine.scm\n```\n",
        ),
        planted("a/Cargo.toml", ""),
        planted(
            "a/src/b.rs",
            "//! See `b/c.rs`, `b.rs`, `src/b.rs` and\n//! `../d.rs`.\n",
        ),
        planted(
            "a/src/b/c.rs",
            "//! See `b.rs`, `../b.rs`, `a/src/b.rs`, `c.rs` and `d.rs`.\n",
        ),
        planted(
            "a/tests/e.rs",
            "let x = 1; // As `b/*.rs` and `f/*.rs` and `.rs` say.\n",
        ),
    ];
    assert_eq!(
        shown(&broken_signposts(&files)),
        [
            "README.md:1: `gone.md`",
            "a/src/b.rs:2: `../d.rs`",
            "a/src/b/c.rs:1: `d.rs`",
            "a/tests/e.rs:1: `f/*.rs`"
        ]
    );
}

/// Heads whose "Read next:" names no file.
fn idle_heads(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| source.extension() == "rs") {
        let is_head = |paragraph: &&Paragraph| source.text.starts_with("//!") && paragraph.text.contains("Read next:");
        let head = source.text.lines().take_while(|line| line.starts_with("//!")).count();
        for paragraph in paragraphs(source).iter().filter(is_head) {
            let offset = paragraph.text.find("Read next:").unwrap_or_default();
            let names = quoted_names(&paragraph.text[offset..]);
            let line = paragraph.line_at(offset);
            if line <= head && !names.iter().any(|(_, name)| is_signpost(name)) {
                offences.push(Offence::at(source, line, "\"Read next:\" names no file"));
            }
        }
    }
    offences
}

#[test]
fn what_to_read_next_is_a_file() {
    require(&idle_heads(&sources(&["rs"])), "name a file in backticks");
    let files = [
        planted("src/a.rs", "//! It adds.\n//! Read next: `b.rs`.\n"),
        planted("src/b.rs", "//! It adds.\n//! Read next: the other file.\n"),
    ];
    assert_eq!(shown(&idle_heads(&files)), ["src/b.rs:2: \"Read next:\" names no file"]);
}

/// Advice to follow a line through a file that does not exist.
fn lost_lines(files: &[Source]) -> Vec<Offence> {
    let map = Map::new(files);
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| is_searched(source)) {
        for paragraph in paragraphs(source) {
            let text = paragraph.flowing();
            for (offset, _) in text.to_lowercase().match_indices("follow the ") {
                let sentence = text[offset..].split(". ").next().unwrap_or_default();
                let Some((_, place)) = sentence
                    .split_once(" line")
                    .and_then(|(_, rest)| rest.split_once(" in "))
                else {
                    continue;
                };
                let place = place.split_whitespace().next().unwrap_or_default();
                let name = place.trim_matches(['`', ',', ';', '.', ':']);
                if !map.resolves(source.folder(), name) {
                    let what = format!("the line to follow is in `{name}`, which is not there");
                    offences.push(Offence::at(source, paragraph.line_at(offset), what));
                }
            }
        }
    }
    offences
}

#[test]
fn a_line_to_follow_is_in_a_file() {
    let files = sources(&["rs", "md", "prs", "sld", "scm", "toml"]);
    require(&lost_lines(&files), "name the file that has the line");
    let files = [
        planted("Cargo.toml", ""),
        planted("src/a.rs", "//! Follow the turn line in `b.rs`, each step one call.\n"),
        planted("src/c.rs", "// It adds; follow the turn\n// line above in src/a.rs.\n"),
    ];
    assert_eq!(
        shown(&lost_lines(&files)),
        ["src/a.rs:1: the line to follow is in `b.rs`, which is not there"]
    );
}
