//! Rules for manifests: every member of the workspace follows its lints and is tested by default.
//!
//! INVARIANT: the members are read from the root's manifest, so that none can be forgotten.
//! It does not judge dependencies; `.ci/run edges` does.
//! Read next: `authority.rs`.

use super::rule::{Offence, planted, require, shown};
use crate::support::tree::{Source, sources};

/// The line of a manifest that begins with a word.
fn line_of<'text>(text: &'text str, word: &str) -> &'text str {
    text.lines().find(|line| line.starts_with(word)).unwrap_or_default()
}

fn lax_members(files: &[Source]) -> Vec<Offence> {
    let Some(root) = files.iter().find(|source| source.path == "Cargo.toml") else {
        return vec![Offence::of_file(&planted("Cargo.toml", ""), "there is none")];
    };
    let (members, defaults) = (line_of(&root.text, "members"), line_of(&root.text, "default-members"));
    let mut offences = Vec::new();
    for manifest in files.iter().filter(|source| source.stem() == "Cargo") {
        let name = format!("{:?}", manifest.folder());
        if manifest.folder().is_empty() || !members.contains(&name) {
            continue;
        }
        if !defaults.contains(&name) {
            let what = "list it in default-members, so that `cargo test` reaches it";
            offences.push(Offence::of_file(manifest, what));
        }
        if !manifest.text.contains("[lints]\nworkspace = true") {
            offences.push(Offence::of_file(manifest, "add `[lints]` with `workspace = true`"));
        }
    }
    offences
}

#[test]
fn every_crate_keeps_the_workspace_rules() {
    require(&lax_members(&sources(&["toml"])), "manifests");
    let files = [
        planted(
            "Cargo.toml",
            "members = [\"a\", \"b\"]\ndefault-members = [\".\", \"a\"]\n",
        ),
        planted("a/Cargo.toml", "[package]\n"),
        planted("b/Cargo.toml", "[lints]\nworkspace = true\n"),
    ];
    assert_eq!(
        shown(&lax_members(&files)),
        [
            "a/Cargo.toml: add `[lints]` with `workspace = true`",
            "b/Cargo.toml: list it in default-members, so that `cargo test` reaches it"
        ]
    );
}
