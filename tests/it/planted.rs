//! Faults planted in the source, one at a time: each must make its test fail.
//!
//! A test that passes with its defence taken away proves nothing. The short form checks that the
//! list still fits the source and the manual; the long form plants each fault in a copy of the
//! workspace and runs the test there, which takes two minutes for each fault.
//! INVARIANT: the workspace itself is never changed.
//! Read next: `planted/faults.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub(crate) mod faults;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use faults::{FAULTS, Fault};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_planted_fault_fits_the_source_and_the_manual() {
    let manual = read("docs/src/testing.md");
    for Fault {
        defence,
        file,
        from,
        test,
        at,
        ..
    } in FAULTS
    {
        assert_eq!(
            read(file).matches(from).count(),
            1,
            "{defence}: {file} has once {from:?}"
        );
        assert!(read(at).contains(&format!("fn {test}()")), "{defence}: {at} has {test}");
        let row = format!("| {defence} | `{file}` | `{test}` |");
        assert!(manual.contains(&row), "docs/src/testing.md has the row {row}");
    }
}

/// Copies the files that git knows, with their present contents.
fn copied() -> PathBuf {
    let copy = root().join("target/planted");
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .unwrap();
    for name in String::from_utf8(listed.stdout).unwrap().split_terminator('\0') {
        let (from, to) = (root().join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue };
        // An unchanged file keeps its time, so that cargo does not compile it again.
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, bytes).unwrap();
        }
    }
    copy
}

/// Runs a test in the copy; says whether it failed.
fn fails(copy: &Path, fault: &Fault) -> Result<bool, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--locked", "-p"]).args(fault.suite);
    cargo.arg("--target-dir").arg(root().join("target"));
    cargo.args(["--", fault.test]);
    let done = cargo.current_dir(copy).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    if printed.contains("test result: ok. 1 passed") {
        Ok(false)
    } else if printed.contains("test result: FAILED. 0 passed; 1 failed") {
        Ok(true)
    } else {
        Err(format!("{printed}{}", String::from_utf8_lossy(&done.stderr)))
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the environment chooses the long form")]
fn every_planted_fault_is_noticed() {
    let wanted = std::env::var("DUET_PLANTED").unwrap_or_default();
    if wanted.is_empty() {
        return;
    }
    let copy = copied();
    let mut unnoticed = Vec::new();
    let chosen = |fault: &&Fault| wanted == "all" || fault.test.contains(&wanted) || fault.file.contains(&wanted);
    for fault in FAULTS.iter().filter(chosen) {
        let path = copy.join(fault.file);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replacen(fault.from, fault.to, 1)).unwrap();
        let outcome = fails(&copy, fault);
        fs::write(&path, whole).unwrap();
        println!("{}: {outcome:?}", fault.defence);
        if outcome != Ok(true) {
            unnoticed.push(fault.defence);
        }
    }
    assert_eq!(unnoticed, Vec::<&str>::new(), "no test notices these faults");
}
