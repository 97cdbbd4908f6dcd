//! A source in a directory.
//!
//! Owns the reading of files and the walk that finds library files.
//! INVARIANT: a walk visits a bounded number of folders and returns a bounded number of paths,
//! whatever the directory contains; a text lies in the directory, whatever links there are, and
//! reading it ends.
//! It does not follow what a text includes; `resolver.rs` does.
//! Read next: `source/embedded.rs`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use duet_kernel::expander::SourceError;

use super::Source;

/// Levels of folders below the root that the walk enters.
const LIMIT_DEPTH: usize = 4;
/// Paths that the walk returns at most, and folders that wait for it at most.
const LIMIT_PATHS: usize = 1000;

/// A directory whose files are libraries and what they include.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The tree below `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

/// What a path leads to.
enum Target {
    Text(String),
    Folder,
    /// A file that does not lie below the root.
    Outside,
    /// A pipe or a device, at which a reader could wait for ever.
    Other,
}

impl Directory {
    fn open(&self, path: &str) -> io::Result<Target> {
        let (root, file) = (fs::canonicalize(&self.root)?, fs::canonicalize(self.root.join(path))?);
        let found = fs::metadata(&file)?;
        if !file.starts_with(root) {
            Ok(Target::Outside)
        } else if found.is_dir() {
            Ok(Target::Folder)
        } else if found.is_file() {
            fs::read_to_string(file).map(Target::Text)
        } else {
            Ok(Target::Other)
        }
    }
}

impl Source for Directory {
    fn read(&self, path: &str) -> Result<Option<String>, SourceError> {
        let error = match self.open(path) {
            Ok(Target::Text(text)) => return Ok(Some(text)),
            Ok(Target::Folder) => return Ok(None),
            Ok(Target::Outside) => {
                return Err(SourceError(format!("a link leads out of `{}`", self.root.display())));
            }
            Ok(Target::Other) => return Err(SourceError("it is no regular file".to_owned())),
            Err(error) => error,
        };
        if matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory
        ) {
            return Ok(None);
        }
        if error.kind() == ErrorKind::InvalidData {
            return Err(SourceError("the file is not UTF-8 text".to_owned()));
        }
        Err(SourceError(error.to_string().to_lowercase()))
    }

    fn display_name(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut folders = vec![(String::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for name in names_in(&self.root.join(&folder)) {
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                if path.ends_with(".sld") && paths.len() < LIMIT_PATHS {
                    paths.push(path);
                } else if depth < LIMIT_DEPTH && folders.len() < LIMIT_PATHS && self.root.join(&path).is_dir() {
                    folders.push((path, depth + 1));
                }
            }
        }
        paths.sort();
        paths
    }
}

/// The names of the entries of a folder, in alphabetical order; none if it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files_below_its_root() {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("a")).expect("a folder");
        fs::write(root.path().join("a/b.sld"), "text").expect("a file");
        fs::write(root.path().join("bad.sld"), [0xff, 0xfe]).expect("a file");
        let source = Directory::new(root.path());
        assert_eq!(source.read("a/b.sld"), Ok(Some("text".to_owned())));
        assert_eq!(source.read("a"), Ok(None));
        assert_eq!(source.read("absent.sld"), Ok(None));
        assert_eq!(
            source.read("bad.sld"),
            Err(SourceError("the file is not UTF-8 text".to_owned()))
        );
        assert_eq!(source.paths(), ["a/b.sld", "bad.sld"]);
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out_and_no_pipe_is_waited_at() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().expect("a temporary directory");
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("a")).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("secret.scm"), "secret").expect("a file");
        fs::write(root.join("a/inside.scm"), "inside").expect("a file");
        symlink(outside.join("secret.scm"), root.join("link.scm")).expect("a link");
        symlink(&outside, root.join("folder")).expect("a link");
        symlink("a/inside.scm", root.join("near.scm")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe.scm")).status();
        assert!(made.expect("it can be started").success());
        let source = Directory::new(&root);
        assert_eq!(source.read("near.scm"), Ok(Some("inside".to_owned())));
        for (path, why) in [
            ("link.scm", "a link leads out"),
            ("folder/secret.scm", "a link leads out"),
            ("pipe.scm", "no regular file"),
        ] {
            let refused = source.read(path).expect_err(path);
            assert!(refused.0.contains(why), "{path}: {}", refused.0);
        }
    }
}
