//! A journal in a folder that may only be read: a backup, the folder of another user.
//!
//! INVARIANT: looking works there as elsewhere, and nothing is written; what has to write says that
//! it may not.
//! It does not test the store. Read next: `owners.rs`.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use crate::support::desk::Desk;

/// A user who owns nothing here.
const NOBODY: &str = "65534";

fn shell(folder: &Path, line: &str) -> Output {
    let shell = Command::new("sh").args(["-c", line]).current_dir(folder).output();
    shell.expect("a shell")
}

/// Whether this process may write everywhere, so that others have to look in its place.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a command there as somebody who may only read.
fn looks(desk: &Desk, line: &str) -> (Option<i32>, String, String) {
    let duet = env!("CARGO_BIN_EXE_duet");
    let someone = if is_root() {
        format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups ")
    } else {
        String::new()
    };
    let done = shell(
        &desk.path(""),
        &format!("HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent {someone}{duet} {line}"),
    );
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn a_journal_in_a_folder_that_may_only_be_read_can_be_looked_at() {
    let desk = Desk::new(&[("p.scm", "(assert! (record 'v 1)) (display 1) (newline)")]);
    desk.check("run p.scm --name p", 0, "1\n");
    let lines = [
        "runs",
        "log p",
        "log p --pattern '<v _>'",
        "facts p",
        "show p@1",
        "replay p",
        "fsck",
        "fsck --deep",
        "diff p@0 p@1",
        "why '<v 1>' p",
        "when '<v 1>' p",
        "waits p",
        "stats p",
        "cost p",
        "eval p@0 1",
        "branches p",
        "attach p",
        "export p /dev/null",
        "double p",
    ];
    let before = lines.map(|line| looks_at_home(&desk, line));
    let closed = shell(&desk.path(""), "chmod 755 . && chmod -R a-w . && chmod -R a+rX .");
    assert!(closed.status.success(), "{closed:?}");
    for (line, (code, output)) in lines.iter().zip(before) {
        let found = looks(&desk, line);
        assert_eq!((found.0, &found.1), (code, &output), "{line}: {}", found.2);
    }
    let (code, _, errors) = looks(&desk, "resume p");
    assert_eq!(code, Some(1));
    assert!(errors.contains("its file or its folder may only be read"), "{errors}");
    let open = shell(&desk.path(""), "chmod -R u+w .");
    assert!(open.status.success(), "so that it can be removed");
}

/// The same as its owner.
fn looks_at_home(desk: &Desk, line: &str) -> (Option<i32>, String) {
    let done = shell(&desk.path(""), &format!("{} {line}", env!("CARGO_BIN_EXE_duet")));
    (done.status.code(), String::from_utf8(done.stdout).expect("UTF-8"))
}
