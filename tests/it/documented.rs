//! The commands that the documentation names exist: suites, benchmarks, scripts and steps of the
//! gate.
//!
//! Owns the reading of commands from text: spans between backquotes and blocks of a shell.
//! INVARIANT: a command that a page names can be typed; a script that can be typed is on a page.
//! It runs nothing; the pages' examples of `duet` are run by `tests/programs/pages.rs`.
//! Read next: `tidy.rs`.

use std::path::Path;

use crate::support::tree::{Source, sources};

/// Where a word stands that is a placeholder, as in `benches/NAME`.
fn is_placeholder(word: &str) -> bool {
    word.contains(['…', '*', '<', '$', '~']) || word.split(['/', '.']).any(|part| part.len() > 1 && is_capital(part))
}

fn is_capital(part: &str) -> bool {
    part.chars().all(|letter| letter.is_ascii_uppercase())
}

/// The lines that a page tells its reader to type.
fn typed(page: &Source) -> Vec<String> {
    let mut commands = Vec::new();
    let mut language: Option<&str> = None;
    for line in page.text.lines() {
        if let Some(tag) = line.trim_start().strip_prefix("```") {
            language = if language.is_some() { None } else { Some(tag) };
            continue;
        }
        match language {
            Some("sh") => commands.push(line.to_owned()),
            Some("console") => commands.extend(line.strip_prefix("$ ").map(str::to_owned)),
            Some(_) => {}
            None => commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    let parts = commands.iter().flat_map(|line| line.split("&&"));
    let without_comment = parts.map(|part| part.split(" #").next().unwrap_or_default());
    without_comment.map(|part| part.trim().to_owned()).collect()
}

fn exists(path: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_default()
}

/// The value of an option, `-p` or `--package`.
fn option<'words>(words: &[&'words str], names: [&str; 2]) -> Option<&'words str> {
    let at = words.iter().position(|word| names.contains(word))?;
    words.get(at + 1).copied()
}

/// The folder of a crate, from its name.
fn folder(package: &str) -> String {
    match package.strip_prefix("duet-") {
        Some(folder) => format!("{folder}/"),
        None => String::new(),
    }
}

/// Whether a filter picks a module or a test of the crate's suite.
fn picks_something(folder: &str, suite: &str, filter: &str) -> bool {
    let name = filter.split("::").next().unwrap_or_default();
    let last = filter.rsplit("::").find(|part| !part.is_empty()).unwrap_or_default();
    let has_file = |folder: &str| exists(&format!("{folder}{name}.rs")) || exists(&format!("{folder}{name}"));
    match suite {
        "it" if filter.contains("::") => has_file(&format!("{folder}tests/it/")) && (last == name || is_test(last)),
        "it" => is_test(filter),
        "programs" => ["script", "actor", "page"].contains(&filter) || exists(&format!("tests/scripts/{filter}")),
        _ => is_test(last) || has_file(&format!("{folder}src/")),
    }
}

/// Whether a test or a module has a name with this part.
fn is_test(part: &str) -> bool {
    sources(&["rs"]).iter().any(|source| {
        source.text.lines().any(|line| {
            let line = line.trim_start();
            let named = line.strip_prefix("fn ").or_else(|| line.strip_prefix("mod "));
            named.is_some_and(|named| named.split(['(', ';', ' ']).next().unwrap_or_default().contains(part))
        })
    })
}

/// The fault of the words behind `cargo`.
fn fault_of_cargo(words: &[&str]) -> Option<String> {
    let package = option(words, ["-p", "--package"]).unwrap_or("duet");
    let folder = folder(package);
    let manifest = text(&format!("{folder}Cargo.toml"));
    if !manifest.contains(&format!("name = \"{package}\"")) {
        return Some(format!("there is no crate {package}"));
    }
    let has_target = |kind: &str, name: &str| {
        exists(&format!("{folder}{kind}/{name}.rs"))
            || exists(&format!("{folder}{kind}/{name}/main.rs"))
            || manifest.contains(&format!("name = \"{name}\""))
    };
    for (flag, kind) in [("--test", "tests"), ("--bench", "benches")] {
        if let Some(name) = option(words, [flag, flag])
            && !has_target(kind, name)
        {
            return Some(format!("{package} has no {kind}/{name}"));
        }
    }
    (words.first() == Some(&"test"))
        .then(|| fault_of_filters(&folder, words))
        .flatten()
}

fn fault_of_filters(folder: &str, words: &[&str]) -> Option<String> {
    let suite = option(words, ["--test", "--test"]).unwrap_or("");
    let takes_value = ["-p", "--package", "--test", "--skip", "--test-threads"];
    let mut filters = words
        .iter()
        .skip(1)
        .enumerate()
        .filter(|(at, word)| !word.starts_with('-') && !takes_value.contains(&words[*at]));
    let missing = filters.find(|(_, filter)| !is_placeholder(filter) && !picks_something(folder, suite, filter));
    missing.map(|(_, filter)| format!("no test is picked by {filter}"))
}

/// The fault of a command. Commands of others have none.
fn fault(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_variable = |word: &&&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(is_of_variable))
    };
    let variables = words.iter().take_while(is_variable).count();
    let unknown = words[..variables].iter().filter_map(|word| word.split('=').next());
    if let Some(unknown) = unknown
        .filter(|name| name.starts_with("DUET_"))
        .find(|name| !is_read(name))
    {
        return Some(format!("nothing reads the variable {unknown}"));
    }
    let words = &words[variables..];
    let first = *words.first()?;
    if is_placeholder(first) {
        return None;
    }
    match first {
        "cargo" if ["test", "bench"].contains(words.get(1)?) => fault_of_cargo(&words[1..]),
        "bash" if words.get(1) == Some(&".ci/run") => {
            let gate = text(".ci/run");
            let mut steps = words[2..].iter();
            let missing = steps.find(|step| !gate.contains(&format!("step_{step}()")));
            missing.map(|step| format!("the gate has no step {step}"))
        }
        path if ["tests/", "benches/", ".ci/"]
            .iter()
            .any(|folder| path.starts_with(folder)) =>
        {
            let path = path.trim_end_matches(['.', ',', ';', ':']);
            // The fuzzer makes its folder when it finds something.
            (!exists(path) && path != "tests/fuzz/artifacts").then(|| format!("there is no {path}"))
        }
        _ => None,
    }
}

fn is_of_variable(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
}

fn is_read(variable: &str) -> bool {
    let quoted = format!("\"{variable}\"");
    let read = |source: &Source| source.text.contains(&quoted) || source.text.contains(&format!("{variable}:-"));
    sources(&["rs", "py", ""]).iter().any(read)
}

/// The pages that people read, without those that are generated.
fn pages() -> Vec<Source> {
    let mut pages = sources(&["md"]);
    let is_generated = |path: &str| path.starts_with("docs/src/primitives/") || path.starts_with("docs/src/libraries/");
    pages.retain(|page| !is_generated(&page.path) && page.path != "CHANGELOG.md");
    pages
}

#[test]
fn the_commands_of_the_documentation_exist() {
    let mut faults = Vec::new();
    for page in pages() {
        for command in typed(&page) {
            faults.extend(fault(&command).map(|fault| format!("{}: `{command}`: {fault}", page.path)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    for (command, expected) in [
        ("cargo test --test nothing", "duet has no tests/nothing"),
        ("cargo test --test it nowhere::", "no test is picked by nowhere::"),
        (
            "cargo test -p duet-kernel --test it crash::",
            "no test is picked by crash::",
        ),
        ("cargo test -p duet-nobody", "there is no crate duet-nobody"),
        ("cargo bench --bench nothing", "duet has no benches/nothing"),
        (
            "DUET_NOTHING_READS_THIS=1 cargo test",
            "nothing reads the variable DUET_NOTHING_READS_THIS",
        ),
        ("tests/nothing/run", "there is no tests/nothing/run"),
        ("bash .ci/run lint nothing", "the gate has no step nothing"),
    ] {
        assert_eq!(fault(command).as_deref(), Some(expected), "{command}");
    }
}

#[test]
fn every_script_is_on_a_page_and_the_gate_checks_every_crate() {
    let pages = pages();
    let is_script = |source: &Source| source.text.starts_with("#!") && !source.path.contains("/corpus/");
    let scripts = sources(&["", "py", "sh"]).into_iter().filter(is_script);
    let silent = scripts.filter(|script| !pages.iter().any(|page| page.text.contains(&script.path)));
    let silent: Vec<String> = silent.map(|script| script.path).collect();
    assert!(silent.is_empty(), "no page names {silent:?}");
    let (gate, root) = (text(".ci/run"), text("Cargo.toml"));
    for manifest in sources(&["toml"]) {
        let Some(folder) = manifest.path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        let is_member = root.contains(&format!("\"{folder}\""));
        assert!(is_member || gate.contains(&manifest.path), "nothing compiles {folder}");
    }
}
