//! A directory of its own in which the `duet` command is run, as a person runs it.
//!
//! INVARIANT: nothing outside the directory is read or written, except as the programs' grants
//! allow.
//! It knows no command. Read next: `../cli.rs`.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const DUET: &str = env!("CARGO_BIN_EXE_duet");

/// A directory with programs in it.
pub(crate) struct Desk(TempDir, Vec<(&'static str, String)>);

/// The output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) code: i32,
}

/// The folder whose libraries every program finds, wherever it is.
const LISTED: &str = "listed";

impl Desk {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self(TempDir::new().expect("a directory"), Vec::new());
        for (name, text) in files {
            let path = desk.path(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        desk
    }

    /// The same, where commands also find this in their environment.
    pub(crate) fn knowing(mut self, name: &'static str, value: String) -> Self {
        self.1.push((name, value));
        self
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn spawn(&self, line: &str) -> Child {
        self.spawn_words(&words(line))
    }

    /// Runs a command in a folder of the desk.
    pub(crate) fn duet_in(&self, folder: &str, line: &str) -> CommandOutput {
        output_of(self.spawn_in(folder, &words(line)), "")
    }

    fn spawn_words(&self, words: &[String]) -> Child {
        self.spawn_in("", words)
    }

    fn spawn_in(&self, folder: &str, words: &[String]) -> Child {
        let mut command = Command::new(DUET);
        command
            .args(words)
            .current_dir(self.path(folder))
            .env("DUET_LIBRARY_PATH", LISTED)
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env_remove("DUET_JOURNAL")
            .envs(self.1.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("duet starts")
    }

    /// Runs a command whose last word is a text of any characters.
    pub(crate) fn with(&self, line: &str, last: &str) -> CommandOutput {
        let mut words = words(line);
        words.push(last.to_owned());
        output_of(self.spawn_words(&words), "")
    }

    /// Runs a command with some input.
    pub(crate) fn feed(&self, line: &str, input: &str) -> CommandOutput {
        output_of(self.spawn(line), input)
    }

    pub(crate) fn duet(&self, line: &str) -> CommandOutput {
        self.feed(line, "")
    }

    /// Runs a command with `--json` and reads its report.
    #[track_caller]
    pub(crate) fn report(&self, line: &str) -> serde_json::Value {
        let said = self.duet(&format!("{line} --json"));
        serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}{}", said.output, said.errors))
    }

    /// Requires that a branch comes out the same when it is replayed, and that the records of the
    /// journal lead to all its snapshots.
    #[track_caller]
    pub(crate) fn replays(&self, address: &str) {
        let said = self.duet(&format!("replay --check {address}"));
        assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
        assert!(said.output.starts_with("identical: "), "{}{}", said.output, said.errors);
        let proved = self.duet("fsck --deep");
        assert_eq!(proved.code, 0, "{}{}", proved.output, proved.errors);
    }

    /// Runs a command that must end with a code and print exactly this on standard output.
    #[track_caller]
    pub(crate) fn check(&self, line: &str, code: i32, output: &str) -> CommandOutput {
        let said = self.duet(line);
        assert_eq!(
            (said.code, said.output.as_str()),
            (code, output),
            "duet {line}: {}",
            said.errors
        );
        said
    }
}

/// Gives a command some input and waits for its end.
fn output_of(mut child: Child, input: &str) -> CommandOutput {
    // A program may end without reading.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let done = child.wait_with_output().expect("duet ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    CommandOutput {
        output: text(done.stdout),
        errors: text(done.stderr),
        code: done.status.code().unwrap_or(-1),
    }
}

/// Splits at blanks, but not inside double quotes; inside them, `\\"` is a double quote.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (position, part) in line.replace("\\\"", "\u{0}").split('"').enumerate() {
        let part = part.replace('\u{0}', "\"");
        if position % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
