//! What `.gitignore` files say of the paths beside and below them.
//!
//! INVARIANT: the lowest file with a rule that matches a path decides; what lies in an ignored
//! directory is ignored, because it is not searched.
//! It does not list directories; `list.rs` and `search.rs` do. The matcher is ripgrep's; its walk
//! is not used, because it knows no directory capabilities.
//! Read next: `tool/workspace/list.rs`.
//!
//! Source: gitignore(5), "Pattern format". Global and per-repository excludes are not read, because
//! they are no part of the workspace.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::Workspace;

/// The name of the files.
const NAME: &str = ".gitignore";

/// The maximum length of a file of rules, in bytes; a longer one is not read.
const RULES_BYTES_MAX: u64 = 1 << 20;

/// The rules of some directories, each below the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored {
    files: Vec<Arc<Gitignore>>,
}

impl Ignored {
    /// Reads the rules that hold in a directory: its own, and those of the directories above it.
    pub(crate) fn of(workspace: &Workspace, directory: &Path) -> Self {
        let mut ignored = Self::default();
        let mut above: Vec<&Path> = directory.ancestors().filter(|path| *path != Path::new(".")).collect();
        above.reverse();
        for home in above {
            ignored = ignored.entering(workspace, home);
        }
        ignored
    }

    /// Adds the rules of a directory below.
    pub(crate) fn entering(&self, workspace: &Workspace, home: &Path) -> Self {
        let mut ignored = self.clone();
        // Like git, it takes a file that cannot be read, or is no text, for an empty one.
        if let Some(text) = read(workspace, &home.join(NAME)) {
            ignored.files.extend(rules(home, &text).map(Arc::new));
        }
        ignored
    }

    /// Says whether a path, relative to the root, is ignored.
    pub(crate) fn includes(&self, path: &Path, is_directory: bool) -> bool {
        let near = self.files.iter().rev().filter(|rules| path.starts_with(rules.path()));
        let mut verdicts = near.map(|rules| rules.matched(path, is_directory));
        verdicts
            .find(|verdict| !verdict.is_none())
            .is_some_and(|verdict| verdict.is_ignore())
    }
}

fn read(workspace: &Workspace, path: &Path) -> Option<String> {
    let metadata = workspace.tree().metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > RULES_BYTES_MAX {
        return None;
    }
    let mut text = String::new();
    workspace.tree().open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// Reads the rules of the directory `home`; a line that is no pattern has no effect.
fn rules(home: &Path, text: &str) -> Option<Gitignore> {
    // Paths of entries begin with their directory's, and that of the root is empty.
    let mut builder = GitignoreBuilder::new(if home == Path::new(".") { Path::new("") } else { home });
    // Like git, it takes a class that is not closed for no pattern.
    builder.allow_unclosed_class(false);
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str, expected: bool) {
        let (path, is_directory) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
        let rules = rules(Path::new("sub"), text).expect("rules");
        let ignored = Ignored {
            files: vec![Arc::new(rules)],
        };
        assert_eq!(
            ignored.includes(Path::new(path), is_directory),
            expected,
            "{text:?} on {path}"
        );
    }

    #[test]
    fn rules_match_as_git_has_them() {
        check("*.o", "sub/a.o", true);
        check("*.o", "sub/deep/a.o", true);
        check("*.o", "a.o", false);
        check("/a.o", "sub/a.o", true);
        check("/a.o", "sub/deep/a.o", false);
        check("deep/*.o", "sub/deep/a.o", true);
        check("deep/*.o", "sub/x/deep/a.o", false);
        check("**/deep/*.o", "sub/x/deep/a.o", true);
        check("deep/**", "sub/deep/a/b", true);
        check("build/", "sub/build/", true);
        check("build/", "sub/build", false);
        check("*.o\n!keep.o", "sub/keep.o", false);
        check("!keep.o\n*.o", "sub/keep.o", true);
        check("# *.o\n\n", "sub/a.o", false);
        check("\\#odd", "sub/#odd", true);
        check("a[12]?", "sub/a1x", true);
        check("a[12]?", "sub/a3x", false);
        check("[", "sub/[", false);
        check("trailing  \r", "sub/trailing", true);
    }
}
