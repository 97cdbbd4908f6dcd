//! Files taken back, and calls that were in flight: the workspace as the `duet` command leaves it.
//!
//! INVARIANT: every test has a directory of its own, with a journal and a workspace in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Writes `a.txt` twice, makes `sub/dir/b.txt` and deletes `old.txt`.
const WRITER: &str = r#"
(define (tool name . fields)
  (await (tool-result :tag (invoke-tool! 'worker name (apply dictionary fields)))))
(tool "workspace/write" 'path "a.txt" 'content "one")
(write (tool "workspace/write" 'path "a.txt" 'content "two"))
(newline)
(tool "workspace/write" 'path "sub/dir/b.txt" 'content "b")
(write (tool "workspace/delete" 'path "old.txt"))
(newline)
"#;

const WROTE: &str = "{changed #t previous \"one\" size_bytes 3}\n{previous \"old\"}\n";

/// A directory with a program and a workspace `ws`.
struct Desk(TempDir);

impl Desk {
    fn new(program: &str, files: &[(&str, &str)]) -> Self {
        let desk = Self(TempDir::new().expect("a directory"));
        fs::write(desk.0.path().join("p.scm"), program).expect("a program");
        fs::create_dir(desk.workspace()).expect("a workspace");
        for (path, text) in files {
            desk.put(path, text);
        }
        desk
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().join("ws")
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.workspace().join(path), text).expect("a file");
    }

    /// The files of the workspace and what is in them.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut directories = vec![self.workspace()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    let name = path
                        .strip_prefix(self.workspace())
                        .expect("inside")
                        .display()
                        .to_string();
                    files.insert(name, fs::read_to_string(path).expect("text"));
                }
            }
        }
        files
    }

    #[track_caller]
    fn holds(&self, expected: &[(&str, &str)]) {
        let expected = expected
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        assert_eq!(self.files(), expected.collect());
    }

    /// Runs a command that must end with a code and print exactly this; returns its standard error.
    #[track_caller]
    fn check(&self, line: &str, code: i32, output: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        let done = command
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("duet starts");
        let errors = String::from_utf8(done.stderr).expect("UTF-8");
        let found = String::from_utf8(done.stdout).expect("UTF-8");
        assert_eq!(
            (done.status.code(), found.as_str()),
            (Some(code), output),
            "duet {line}: {errors}"
        );
        let root = fs::canonicalize(self.0.path()).expect("a path");
        errors.replace(&root.display().to_string(), "DESK")
    }
}

const BEFORE: [(&str, &str); 2] = [("a.txt", "zero"), ("old.txt", "old")];
const AFTER: [(&str, &str); 2] = [("a.txt", "two"), ("sub/dir/b.txt", "b")];

#[test]
fn going_back_takes_the_files_along_and_going_forward_brings_them_again() {
    let desk = Desk::new(WRITER, &BEFORE);
    desk.check("run p.scm --workspace ws", 0, WROTE);
    desk.holds(&AFTER);
    let listed = "replace a.txt: now a file of 3 bytes, then a file of 4 bytes\n\
        make old.txt: a file of 3 bytes\n\
        delete sub/dir/b.txt: now a file of 1 byte\n";
    desk.check("goto --workspace --dry-run p@1", 0, listed);
    desk.holds(&AFTER);
    let json =
        "[{\"changed_outside\":false,\"now\":\"nothing\",\"path\":\"old.txt\",\"then\":\"a file of 3 bytes\"}]\n";
    desk.check("goto --workspace --dry-run --json p@7", 0, json);

    let said = desk.check("goto --workspace p@1", 0, "");
    assert!(
        said.starts_with("3 files in `DESK/ws` were restored\np is at turn 1"),
        "{said}"
    );
    desk.holds(&BEFORE);
    assert!(
        !Path::new(&desk.workspace().join("sub")).exists(),
        "directories that were made for a file go with it"
    );
    desk.check("goto --workspace p@9", 0, "");
    desk.holds(&AFTER);
    // Between the two writes.
    desk.check("goto --workspace p@3", 0, "");
    desk.holds(&[("a.txt", "one"), ("old.txt", "old")]);
    desk.check("resume p", 0, WROTE);
    desk.holds(&AFTER);
    desk.check("replay --check p", 0, "identical: 9 turns\n");
}

#[test]
fn folders_that_turns_have_made_go_with_them_and_those_of_others_stay() {
    let program = r#"
(define (tool name . fields)
  (await (tool-result :tag (invoke-tool! 'worker name (apply dictionary fields)))))
(define (put path) (tool "workspace/write" 'path path 'content "x"))
(put "d/z") (put "d/a") (put "d/e/f/b") (put "d/e/c")
(put "own/new/x") (put "gone/y") (tool "workspace/delete" 'path "gone/y")
(put "kept/z")
"#;
    let desk = Desk::new(program, &[]);
    fs::create_dir(desk.workspace().join("own")).expect("a folder");
    desk.check("run p.scm --workspace ws", 0, "");
    fs::write(desk.workspace().join("kept/other"), "somebody's").expect("a file");
    desk.check("goto --workspace p@0", 0, "");
    desk.holds(&[("kept/other", "somebody's")]);
    let mut folders: Vec<String> = fs::read_dir(desk.workspace())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    folders.sort();
    assert_eq!(folders, ["kept", "own"]);
    assert_eq!(fs::read_dir(desk.workspace().join("own")).expect("a folder").count(), 0);
    desk.check("resume p", 0, "");
    assert_eq!(desk.files().len(), 7);
    // The folder of the file that was deleted again was there then.
    desk.check("mark p end", 0, "");
    desk.check("goto --workspace p@end", 0, "");
    assert!(desk.workspace().join("gone").exists());
}

#[test]
fn without_being_asked_goto_leaves_the_files_and_says_so() {
    let desk = Desk::new(WRITER, &BEFORE);
    desk.check("run p.scm --workspace ws", 0, WROTE);
    let said = desk.check("goto p@1", 0, "");
    let told = "files that were written in those turns stay as they are; `duet goto --workspace p@1` restores them\n";
    assert!(said.ends_with(told), "{said}");
    desk.holds(&AFTER);
    desk.check("goto --workspace p@1", 0, "");
    desk.holds(&BEFORE);
    let told = "written stay as they are; `duet goto --workspace p@9` makes them those of turn 9\n";
    let said = desk.check("undo p", 0, "");
    assert!(said.ends_with(told), "{said}");
    desk.holds(&BEFORE);
    let told = told.replace('9', "1");
    let said = desk.check("redo p", 0, "");
    assert!(said.ends_with(&told), "{said}");
    let said = desk.check("goto --dry-run p@1", 2, "");
    assert!(
        said.starts_with("error: the following required arguments were not provided:\n  --workspace\n"),
        "{said}"
    );
}

#[test]
fn what_was_changed_outside_is_overwritten_only_by_force() {
    let desk = Desk::new(WRITER, &BEFORE);
    desk.check("run p.scm --workspace ws", 0, WROTE);
    desk.put("a.txt", "mine");
    let said = desk.check("goto --workspace p@1", 1, "");
    let expected = "error: 1 file was changed outside Duet in `DESK/ws`; nothing was done\n |\n \
        = help: replace a.txt: now a file of 4 bytes, then a file of 4 bytes; changed outside Duet\n \
        = help: `duet goto --workspace --force p@1` overwrites them; their present contents are then lost\n";
    assert_eq!(said, expected);
    desk.holds(&[("a.txt", "mine"), ("sub/dir/b.txt", "b")]);
    desk.check("replay --check p", 0, "identical: 9 turns\n");
    desk.check("goto --workspace --force p@1", 0, "");
    desk.holds(&BEFORE);
}

#[test]
fn files_taken_back_are_never_those_of_the_journal_that_is_used() {
    let program = r#"
(define (write! text)
  (await (tool-result :tag (invoke-tool! 'worker "workspace/write" (dictionary 'path "later.db" 'content text)))))
(write! "one")
(write! "two")
"#;
    let desk = Desk::new(program, &[]);
    desk.check("run p.scm --workspace ws --journal ws/first.db", 0, "");
    let journal = fs::read(desk.0.path().join("ws/first.db")).expect("a journal");
    for force in ["", "--force"] {
        let later = desk.0.path().join("ws/later.db");
        fs::write(&later, &journal).expect("the journal under a name that the run has written");
        let said = desk.check(&format!("goto --workspace {force} p@1 --journal ws/later.db"), 1, "");
        assert!(said.contains("`later.db` belongs to the journal"), "{said}");
        desk.check("replay --check p --journal ws/later.db", 0, "identical: 5 turns\n");
    }
}

/// The journal ends after the backup for a write; nobody knows whether the write has happened.
#[test]
fn a_write_repeated_after_a_crash_tells_what_its_first_attempt_found() {
    for (is_done, text) in [(true, "two"), (false, "one")] {
        let desk = Desk::new(WRITER, &BEFORE);
        desk.check("run p.scm --workspace ws", 0, WROTE);
        desk.check("goto --workspace p@4", 0, "");
        desk.put("a.txt", text);
        desk.check("resume p", 0, WROTE);
        desk.holds(&AFTER);
        desk.check("replay --check p", 0, "identical: 9 turns\n");
        assert!(is_done || text == "one");
    }
}

/// The same for a deletion: a file that is gone already is no failure, and its content is not lost.
#[test]
fn a_deletion_repeated_after_a_crash_tells_what_it_deleted() {
    let desk = Desk::new(WRITER, &BEFORE);
    desk.check("run p.scm --workspace ws", 0, WROTE);
    desk.check("goto p@8", 0, "");
    desk.check("resume p", 0, "{previous \"old\"}\n");
    desk.holds(&AFTER);
}

/// The branch that `goto` leaves has the result, so the write is not made again.
#[test]
fn a_move_to_the_middle_of_a_write_takes_the_recorded_result_if_the_file_has_changed_since() {
    let desk = Desk::new(WRITER, &BEFORE);
    desk.check("run p.scm --workspace ws", 0, WROTE);
    desk.check("goto p@4", 0, "");
    desk.put("a.txt", "mine");
    let said = desk.check("resume p", 1, "{changed #t previous \"one\" size_bytes 3}\n");
    assert!(said.starts_with("error[not-found]: there is no `old.txt`"), "{said}");
    desk.holds(&[("a.txt", "mine"), ("sub/dir/b.txt", "b")]);
}

/// Before the call has reported what it replaces, and after: the files are as the call left them.
#[test]
fn a_move_to_the_middle_of_a_patch_takes_what_its_first_attempt_did() {
    let deletion = "--- a/f.txt\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-a\\n";
    let change = "--- a/f.txt\\n+++ b/f.txt\\n@@ -1 +1 @@\\n-a\\n+b\\n";
    let deleted = "({path \"f.txt\" change deleted size_bytes 0})";
    let changed = "({path \"f.txt\" change changed size_bytes 2})";
    for (call, said, left) in [
        (format!("patch\" 'patch \"{deletion}\""), deleted, None),
        (format!("patch\" 'patch \"{change}\""), changed, Some("b\n")),
        ("delete\" 'path \"f.txt\"".to_owned(), "{previous \"a\\n\"}", None),
    ] {
        let program = format!(
            "(define (tool name . fields) (call-tool 'x name (apply dictionary fields)))
(tool \"workspace/write\" 'path \"f.txt\" 'content \"a\\n\")
(write (tool \"workspace/{call}))"
        );
        for turn in [3, 4] {
            for [go, resume] in [["goto p@", "resume p"], ["fork b p@", "resume p/b"]] {
                let desk = Desk::new(&program, &[]);
                desk.check("run p.scm --workspace ws", 0, said);
                let go = match go.strip_prefix("fork b ") {
                    Some(place) => format!("fork {place}{turn} b"),
                    None => format!("{go}{turn}"),
                };
                desk.check(&go, 0, "");
                desk.check(resume, 0, said);
                let files: Vec<(&str, &str)> = left.map(|text| ("f.txt", text)).into_iter().collect();
                desk.holds(&files);
            }
        }
    }
}

/// A fork to the middle of a write, after which the same file was written again.
#[test]
fn a_fork_to_the_middle_of_a_write_takes_the_recorded_result() {
    let program = r#"
(define (write! text) (call-tool 'w "workspace/write" (dictionary 'path "f.txt" 'content text)))
(write! "one")
(write! "two")
(display (await (user-input :prompt "end?")))
"#;
    let desk = Desk::new(program, &[]);
    desk.check("run p.scm --workspace ws", 4, "");
    desk.holds(&[("f.txt", "two")]);
    desk.check("fork p@2 b", 0, "");
    desk.check("resume p/b", 4, "");
    desk.holds(&[("f.txt", "two")]);
}

/// Counts its own calls in a file, and returns their number.
const COUNTER: &str = r#"
(define tag
  (invoke-tool! 'worker "process/run" (dictionary 'arguments (list "sh" "-c" "echo x >> count; wc -l < count"))))
(display (dictionary-ref (await (tool-result :tag tag)) 'stdout))
"#;

/// A tool that may not be repeated is called once, though two branches wait for it: the second
/// takes the result from the first.
#[test]
fn a_result_in_flight_at_a_fork_goes_to_every_branch_that_waits_for_it() {
    let desk = Desk::new(COUNTER, &[]);
    let manifest = "((program \"p.scm\") (workspace (argument 1)) (tools process/run))";
    fs::write(desk.0.path().join("manifest.scm"), manifest).expect("a manifest");
    desk.check("run . --name p -- ws", 0, "1\n");
    desk.check("fork p@1 other", 0, "");
    desk.check("resume p/other", 0, "1\n");
    // The branch that `goto` leaves is one of those that have the result.
    desk.check("goto p@1", 0, "");
    desk.check("resume p", 0, "1\n");
    desk.holds(&[("count", "x\n")]);
    desk.check("replay --check p/other", 0, "identical: 2 turns\n");
}
