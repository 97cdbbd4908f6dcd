//! What `.gitignore` files say of the paths beside and below them.
//!
//! INVARIANT: of the rules that match a path, the last one of the lowest file decides; what lies in an ignored directory is ignored, because nobody
//! looks there.
//! It does not list directories; `list.rs` and `search.rs` do.
//! Read next: `tool/workspace/list.rs`.
//!
//! Source: gitignore(5), "Pattern format". Global and per-repository excludes are not looked at: they are no part of the workspace.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::Workspace;

/// The name of the files.
const NAME: &str = ".gitignore";

/// A larger file of rules is not looked at, in bytes.
const RULES_BYTES_MAX: u64 = 1 << 20;

/// The rules of some directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored {
    files: Vec<File>,
}

/// The rules of one file.
#[derive(Clone, Debug)]
struct File {
    /// The directory it is in, relative to the root; empty for the root.
    home: PathBuf,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    glob: GlobMatcher,
    /// Whether it takes back what others ignore.
    is_exception: bool,
    /// Whether it is about directories only.
    is_for_directories: bool,
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
        // One that cannot be read, or is no text, ignores nothing; so git has it.
        if let Some(text) = read(workspace, &home.join(NAME)) {
            let home = if home == Path::new(".") {
                PathBuf::new()
            } else {
                home.to_owned()
            };
            ignored.files.push(File {
                home,
                rules: text.lines().filter_map(Rule::parse).collect(),
            });
        }
        ignored
    }

    /// Says whether a path, relative to the root, is ignored.
    pub(crate) fn includes(&self, path: &Path, is_directory: bool) -> bool {
        for file in self.files.iter().rev() {
            let Ok(inside) = path.strip_prefix(&file.home) else {
                continue;
            };
            let mut rules = file.rules.iter().rev();
            if let Some(rule) =
                rules.find(|rule| (is_directory || !rule.is_for_directories) && rule.glob.is_match(inside))
            {
                return !rule.is_exception;
            }
        }
        false
    }
}

fn read(workspace: &Workspace, path: &Path) -> Option<String> {
    let metadata = workspace.dir().metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > RULES_BYTES_MAX {
        return None;
    }
    let mut text = String::new();
    workspace.dir().open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

impl Rule {
    /// Reads a line; nothing comes of an empty one, a comment, or one that is no pattern.
    fn parse(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (is_exception, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (is_for_directories, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        // A slash at the beginning or within ties the pattern to the file's directory.
        let pattern = match line.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if line.contains('/') => line.to_owned(),
            None => format!("**/{line}"),
        };
        let glob = GlobBuilder::new(&pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .ok()?;
        Some(Self {
            glob: glob.compile_matcher(),
            is_exception,
            is_for_directories,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &str, path: &str, expected: bool) {
        let (path, is_directory) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
        let file = File {
            home: PathBuf::from("sub"),
            rules: rules.lines().filter_map(Rule::parse).collect(),
        };
        let ignored = Ignored { files: vec![file] };
        assert_eq!(
            ignored.includes(Path::new(path), is_directory),
            expected,
            "{rules:?} on {path}"
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
