//! House rules that neither the compiler nor Clippy checks.
//!
//! Owns one test per rule; each names every offender and says what to do about it.
//! INVARIANT: an exception stands in a table here, with its reason, and is refused once nothing needs it.
//! It reads files only; what programs do is tested elsewhere.
//! Read next: `support/tree.rs`.

mod support {
    pub(crate) mod expectation;
    pub(crate) mod scan;
    pub(crate) mod tree;
}

use support::expectation::steps;
use support::tree::{Source, sources};

/// Lines a file may have.
const LINES_MAX: usize = 600;

/// Files that may be longer: path, ceiling in lines, reason. Ceilings only ever go down.
const LONG_FILES: &[(&str, usize, &str)] = &[];

/// Files that may mention the words of [`FORBIDDEN_WORDS`]: path prefix, reason.
const MAY_MENTION: &[(&str, &str)] = &[
    ("tests/tidy.rs", "it names what it forbids"),
    ("examples/review", "it looks for such notes"),
];

/// Files that may override the workspace's ban on unsafe code: path, reason.
const MAY_BE_UNSAFE: &[(&str, &str)] = &[];

/// Words that mark work as unfinished, and what to do instead.
const FORBIDDEN_WORDS: [(&str, &str); 5] = [
    ("TODO", "do it, or leave it out"),
    ("FIXME", "fix it"),
    ("XXX", "say what is wrong, or fix it"),
    ("for now", "say what holds and why; the reader cannot see when"),
    ("unimplemented", "implement it, or refuse the input with a typed error"),
];

/// Endings of type and module names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utilities"];

/// Ways to reach the world that the deterministic crates must not know.
const WORLDLY: [&str; 6] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "std::time",
];

impl Source {
    /// The path without its last part.
    fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The last part of the path without its extension.
    fn stem(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
}

/// The text of a file at the root or below, or nothing if there is none.
fn text_of(path: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).unwrap_or_default()
}

/// Fails with all offenders and the advice, unless there are none.
fn check(offenders: &[String], advice: &str) {
    assert!(offenders.is_empty(), "{advice}:\n  {}\n", offenders.join("\n  "));
}

/// Line numbers (from 1) with their lines.
fn numbered(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Whether `word` occurs in `text` with no letter, digit or `_` beside it.
fn mentions(text: &str, word: &str) -> bool {
    let is_part = |next: char| next.is_alphanumeric() || next == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// The word behind a keyword, if the line (visibility aside) starts with it.
fn declared<'line>(line: &'line str, keyword: &str) -> Option<&'line str> {
    let line = line.trim_start();
    let line = line
        .strip_prefix("pub")
        .map_or(line, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            None => rest,
        });
    let rest = line.trim_start().strip_prefix(keyword)?.strip_prefix(' ')?;
    rest.split(|next: char| !(next.is_alphanumeric() || next == '_')).next()
}

/// Whether a Rust file has `mod NAME;`.
/// Whether the file has `mod name;`, or names it in a row of a table whose macro writes the `mod` lines, or points at it with `#[path]`.
fn declares_module(source: &Source, name: &str) -> bool {
    let makes_modules = source.text.contains("mod $module;") || source.text.contains("mod $name;");
    let file = format!("{name}.rs\"]");
    source.text.lines().any(|line| {
        let is_row = makes_modules && line.split_whitespace().next() == Some(name);
        let is_path = line.trim_start().starts_with("#[path = ") && line.contains(&file);
        is_row || is_path || (declared(line, "mod") == Some(name) && line.trim_end().ends_with(';'))
    })
}

#[test]
fn every_source_file_is_declared() {
    let files = sources(&["rs"]);
    let is_root = |source: &&Source| {
        let folder = source.folder();
        let stem = source.stem();
        let in_source = folder == "src" || folder.ends_with("/src");
        let is_target =
            ["tests", "benches", "examples", "bin"].contains(&folder.rsplit('/').next().unwrap_or_default());
        (in_source && ["lib", "main"].contains(&stem))
            || is_target
            || stem == "build"
            || source.path.contains("/fuzz_targets/")
    };
    let is_declared = |source: &Source| {
        let folder = source.folder();
        let parents = [
            format!("{folder}.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        // A test target declares `mod support { mod name; }`; its own file stands beside the folder.
        let is_test_support = folder.starts_with("tests/") || folder.contains("/tests/") || folder.contains("benches/");
        let beside = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        files.iter().any(|file| {
            let may_declare = parents.contains(&file.path) || (is_test_support && file.folder() == beside);
            may_declare && declares_module(file, source.stem())
        })
    };
    let lost: Vec<String> = files
        .iter()
        .filter(|source| !is_root(source) && !is_declared(source))
        .map(|source| source.path.clone())
        .collect();
    check(
        &lost,
        "these files are never compiled; add their `mod` line to the parent module, or delete them",
    );
}

#[test]
fn every_module_says_what_it_owns() {
    let silent: Vec<String> = sources(&["rs"])
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path)
        .collect();
    check(
        &silent,
        "begin these files with `//!`: what the module owns, one invariant, what it does not do, what to read next",
    );
}

#[test]
fn files_stay_short() {
    let mut offenders = Vec::new();
    for source in sources(&["rs", "scm", "sld"]) {
        let lines = source.text.lines().count();
        let listed = LONG_FILES.iter().find(|(path, _, _)| *path == source.path);
        let limit = listed.map_or(LINES_MAX, |(_, ceiling, _)| *ceiling);
        if lines > limit {
            offenders.push(format!(
                "{}: {lines} lines, limit {limit}: find its second subject and give it a file",
                source.path
            ));
        } else if listed.is_some() && lines <= LINES_MAX {
            offenders.push(format!(
                "{}: {lines} lines: it needs no exception any more; drop it from LONG_FILES",
                source.path
            ));
        } else if listed.is_some() && lines + 50 < limit {
            offenders.push(format!(
                "{}: {lines} lines: lower its ceiling in LONG_FILES from {limit}",
                source.path
            ));
        }
    }
    check(&offenders, "lengths out of bounds");
}

#[test]
fn modules_are_files_beside_their_folder() {
    let offenders: Vec<String> = sources(&["rs"])
        .into_iter()
        .filter(|source| source.stem() == "mod")
        .map(|source| source.path)
        .collect();
    check(&offenders, "rename NAME/mod.rs to NAME.rs");
}

#[test]
fn nothing_is_left_unfinished() {
    let mut offenders = Vec::new();
    for source in sources(&["rs", "scm", "sld", "prs"]) {
        if MAY_MENTION.iter().any(|(prefix, _)| source.path.starts_with(prefix)) {
            continue;
        }
        for (number, line) in numbered(&source) {
            for (word, advice) in FORBIDDEN_WORDS.iter().filter(|(word, _)| mentions(line, word)) {
                offenders.push(format!("{}:{number}: {word:?}: {advice}", source.path));
            }
        }
    }
    check(&offenders, "sources speak of what is, not of what is missing");
}

#[test]
fn names_say_something() {
    let mut offenders = Vec::new();
    for source in sources(&["rs"]) {
        for (number, line) in numbered(&source) {
            let types = ["struct", "enum", "trait", "type", "union"]
                .iter()
                .filter_map(|keyword| declared(line, keyword));
            for name in types.filter(|name| EMPTY_NAMES.iter().any(|empty| name.ends_with(empty))) {
                offenders.push(format!("{}:{number}: {name}", source.path));
            }
        }
        if EMPTY_NAMES
            .iter()
            .any(|empty| source.stem().eq_ignore_ascii_case(empty))
        {
            offenders.push(source.path);
        }
    }
    check(&offenders, "name these for what they do, in the field's words");
}

/// The type a line implements the trait `Store` for, if it does.
fn implemented_store(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("impl")?.split_once(" Store for ")?;
    rest.split(|next: char| !(next.is_alphanumeric() || next == '_')).next()
}

#[test]
fn every_store_is_in_the_conformance_list() {
    let list = text_of("journal/tests/conformance.rs");
    let mut offenders = Vec::new();
    for source in sources(&["rs"])
        .iter()
        .filter(|source| source.folder() == "journal/src/store")
    {
        for name in source
            .text
            .lines()
            .filter_map(implemented_store)
            .filter(|name| !mentions(&list, name))
        {
            offenders.push(format!("{}: {name}", source.path));
        }
    }
    check(
        &offenders,
        "run the conformance tests on these stores: name them in journal/tests/conformance.rs",
    );
}

#[test]
fn every_library_source_is_embedded() {
    let embedding: String = sources(&["rs"])
        .into_iter()
        .filter(|source| source.folder() == "stdlib/src")
        .map(|source| source.text)
        .collect();
    let is_embedded = |source: &Source| {
        let path = source.path.trim_start_matches("stdlib/").trim_start_matches("src/");
        embedding.contains(&format!("{path}\""))
    };
    let offenders: Vec<String> = sources(&["scm", "sld"])
        .into_iter()
        .filter(|source| {
            source.path.starts_with("stdlib/") && !source.path.starts_with("stdlib/tests/") && !is_embedded(source)
        })
        .map(|source| source.path)
        .collect();
    check(&offenders, "embed these files in stdlib/src, or delete them");
}

#[test]
fn every_script_expects_something() {
    let mut offenders = Vec::new();
    let mut count = 0;
    for source in sources(&["scm"])
        .iter()
        .filter(|source| source.path.starts_with("tests/scripts/"))
    {
        count += 1;
        if let Err(error) = steps(&source.text) {
            offenders.push(format!("{}: {error}", source.path));
        }
    }
    assert!(count > 0, "tests/scripts/ is empty: the language is tested nowhere");
    check(&offenders, "a script carries its answers");
}

#[test]
fn the_deterministic_crates_do_not_touch_the_world() {
    let mut offenders = Vec::new();
    for source in sources(&["rs"]) {
        if !["kernel/src/", "runtime/src/", "stdlib/src/"]
            .iter()
            .any(|prefix| source.path.starts_with(prefix))
        {
            continue;
        }
        for (number, line) in numbered(&source).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for path in WORLDLY.iter().filter(|path| mentions(line, path)) {
                offenders.push(format!("{}:{number}: {path}", source.path));
            }
        }
    }
    check(
        &offenders,
        "take what the world offers as an argument; stores, module sources, drivers and src/ bring it in",
    );
}

#[test]
fn unsafe_code_stays_where_it_is() {
    let overrides = ["allow(unsafe_code", "expect(unsafe_code", "warn(unsafe_code"];
    let has_override = |source: &Source| overrides.iter().any(|text| source.text.contains(text));
    let mut offenders = Vec::new();
    for source in sources(&["rs"]).iter().filter(|source| source.path != "tests/tidy.rs") {
        let listed = MAY_BE_UNSAFE.iter().any(|(path, _)| *path == source.path);
        if has_override(source) && !listed {
            offenders.push(format!(
                "{}: unsafe code lives in the kernel's one module only",
                source.path
            ));
        } else if listed && !has_override(source) {
            offenders.push(format!("{}: drop it from MAY_BE_UNSAFE", source.path));
        }
    }
    check(&offenders, "unsafe code");
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    let machine = ["/home/", "/root/", "/tmp/", "/work/", "/Users/", "C:\\Users"];
    let mut offenders = Vec::new();
    for source in sources(&["rs", "scm", "sld", "md", "toml", "prs", "snap", "json", "yml", ""]) {
        if source.path == "tests/tidy.rs" {
            continue;
        }
        for (number, line) in numbered(&source).filter(|(_, line)| machine.iter().any(|path| line.contains(path))) {
            offenders.push(format!("{}:{number}: {}", source.path, line.trim()));
        }
    }
    check(
        &offenders,
        "use a path relative to the workspace, or a fresh temporary directory",
    );
}

#[test]
fn scheme_sources_are_clean_text() {
    let mut offenders = Vec::new();
    for source in sources(&["scm", "sld", "md"]) {
        for (number, line) in
            numbered(&source).filter(|(_, line)| line.ends_with([' ', '\t', '\r']) || line.starts_with('\t'))
        {
            offenders.push(format!("{}:{number}: {line:?}", source.path));
        }
        if !source.text.ends_with('\n') {
            offenders.push(format!("{}: no newline at the end", source.path));
        }
    }
    check(
        &offenders,
        "indent with spaces, end lines with a bare newline and nothing before it",
    );
}

#[test]
fn every_crate_keeps_the_workspace_rules() {
    let root = text_of("Cargo.toml");
    let members = root
        .lines()
        .find(|line| line.starts_with("members"))
        .unwrap_or_default();
    let defaults = root
        .lines()
        .find(|line| line.starts_with("default-members"))
        .unwrap_or_default();
    let mut offenders = Vec::new();
    for manifest in sources(&["toml"])
        .iter()
        .filter(|source| source.stem() == "Cargo" && !source.folder().is_empty())
    {
        let folder = manifest.folder();
        if !members.contains(&format!("{folder:?}")) {
            continue;
        }
        if !defaults.contains(&format!("{folder:?}")) {
            offenders.push(format!(
                "{folder}: list it in default-members, so that `cargo test` reaches it"
            ));
        }
        if !manifest.text.contains("[lints]\nworkspace = true") {
            offenders.push(format!("{folder}: add `[lints]` with `workspace = true`"));
        }
    }
    check(&offenders, "manifests");
}

#[test]
fn the_changelog_has_a_place_for_the_next_change() {
    let text = text_of("CHANGELOG.md");
    let (_, rest) = text
        .split_once("## [Unreleased]")
        .expect("CHANGELOG.md has a section `## [Unreleased]`");
    let section = rest.split("\n## ").next().unwrap_or_default();
    assert!(
        section.lines().any(|line| line.starts_with("- ")),
        "CHANGELOG.md: say under Unreleased what users will notice"
    );
}

#[test]
fn the_gate_runs_the_command_visitors_type() {
    let command = "\ncargo test\n";
    assert!(
        text_of("README.md").contains(command),
        "README.md shows `cargo test` on a line of its own"
    );
    let gate = text_of(".ci/run");
    assert!(
        gate.contains("step_test() {\n    cargo test\n}"),
        ".ci/run ends with exactly README.md's test command"
    );
}

#[test]
fn every_chapter_is_in_the_summary() {
    let summary = text_of("docs/src/SUMMARY.md");
    let offenders: Vec<String> = sources(&["md"])
        .into_iter()
        .filter_map(|source| source.path.strip_prefix("docs/src/").map(str::to_owned))
        .filter(|path| path != "SUMMARY.md" && !summary.contains(&format!("]({path})")))
        .collect();
    check(&offenders, "link these chapters from docs/src/SUMMARY.md");
}
