//! Grants to runs that have begun: by options, by name, taken back, forked, imported.
//!
//! INVARIANT: no test speaks to anything but a provider of its own.
//! The tests of `trust.rs` cover the grants of imported runs.
//! Read next: `trust.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; a provider has threads"
)]

use serde_json::json;

use crate::support::desk::Desk;
use crate::support::provider::Provider;

fn provider() -> Provider {
    Provider::start(|request| json!({"content": format!("I am {}", request["model"].as_str().unwrap())}))
}

const ASK: &str = "(import (duet base) (duet dataspace) (duet agents))
(define helper (make-agent 'helper))
(display (ask helper \"Hello\"))
(newline)";

/// Tries to write a file, before and after each of two questions.
const WRITE: &str = "(import (duet base) (duet dataspace))
(define (try)
  (guard (e (#t (display (condition-kind e)) (newline)))
    (call-tool 'w \"workspace/write\" (dictionary 'path \"out.txt\" 'content \"x\"))
    (display \"written\")
    (newline)))
(try)
(await (user-input :prompt \"Go on?\"))
(try)
(await (user-input :prompt \"And on?\"))
(try)";

#[test]
fn a_run_that_forgot_its_provider_is_granted_one() {
    let provider = provider();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let said = desk.check("run p.scm", 1, "").errors;
    assert!(
        said.contains("`duet resume RUN --grant model/chat`") && said.contains("duet goto p@0"),
        "{said}"
    );
    desk.duet("goto p@0");
    let line = format!("resume p {} --model small", provider.option());
    let granted = desk.check(&line, 0, "I am small\n").errors;
    assert!(
        granted.contains("p@1 grants the run: model/chat, models of local="),
        "{granted}"
    );
    assert_eq!(desk.duet("replay p --check").code, 0);
    let log = desk.duet("log p").output;
    assert!(log.contains("grant model/chat, models of local="), "{log}");
    let shown = desk.duet("show p@1").output;
    assert!(shown.contains("granted   model/chat, models of local="), "{shown}");
    // A fork behind the grant has it, and what is before it has not.
    desk.duet("fork p@1 kept");
    desk.check("resume p/kept", 0, "I am small\n");
    desk.duet("goto p@0");
    desk.check("resume p", 1, "");
    assert_eq!(desk.duet("fsck --deep").code, 0);
}

#[test]
fn the_same_options_grant_nothing_twice() {
    let provider = provider();
    let program = format!("(import (duet base))\n(await (user-input :prompt \"Go on?\"))\n{ASK}");
    let desk = Desk::new(&[("p.scm", &program)]);
    let waits = desk.duet("run p.scm");
    assert_eq!(waits.code, 4, "{waits:?}");
    let line = format!("resume p {} --model small", provider.option());
    assert!(desk.duet(&line).errors.contains("p@2 grants the run"));
    let again = desk.duet(&line).errors;
    assert!(!again.contains("grants the run"), "{again}");
    // The grant stays without the options.
    desk.check("answer p yes", 0, "I am small\n");
}

#[test]
fn a_session_goes_on_with_models_and_all_that_it_had() {
    let provider = provider();
    let desk = Desk::new(&[]);
    let ask = format!("{ASK}\n");
    let failed = desk.feed("repl --name s", &format!("(define who \"Ada\")\n{ask}"));
    assert_eq!(failed.code, 1, "{failed:?}");
    let line = format!("repl s {} --model small", provider.option());
    let done = desk.feed(&line, "(display (ask helper who))\n");
    assert_eq!((done.code, &*done.output), (0, "I am small"), "{done:?}");
    // The third text from the end was typed before the grant.
    let text = "(display (ask helper who))\n";
    let done = desk.feed("repl s", &format!("{text},back 3\n{text}"));
    assert_eq!((done.code, &*done.output), (1, "I am small"), "{done:?}");
    assert!(done.errors.contains("`model/chat` was not granted"), "{done:?}");
}

#[test]
fn a_capability_is_granted_by_its_name() {
    let desk = Desk::new(&[("w.scm", WRITE)]);
    desk.check("run w.scm", 4, "capability-denied\n");
    desk.check("resume w --grant workspace/write --answer yes", 4, "written\n");
    assert_eq!(std::fs::read_to_string(desk.path("out.txt")).unwrap(), "x");
    for (line, problem) in [
        (
            "--grant dataspace/asert",
            "`dataspace/asert` is none of dataspace/observe",
        ),
        ("--grant none", "was begun here"),
        ("--grant workspace/wirte", "did you mean `workspace/write`?"),
        (
            "--grant http/get --workspace .",
            "it goes on in the workspace that it began with",
        ),
    ] {
        let said = desk.duet(&format!("resume w {line}"));
        assert!(said.code == 2 && said.errors.contains(problem), "{line}: {said:?}");
    }
    assert_eq!(desk.duet("replay w --check").code, 0);
}

#[test]
fn a_grant_of_what_does_not_exist_begins_no_branch_of_changed_code() {
    let desk = Desk::new(&[("p.scm", WRITE), ("new.scm", &WRITE.replace("out.txt", "new.txt"))]);
    desk.check("run p.scm", 4, "capability-denied\n");
    let runs = desk.duet("runs").output;
    let line = "resume p --with new.scm --grant workspace/wriet";
    let said = desk.check(line, 2, "").errors;
    assert!(
        said.contains("there is no tool `workspace/wriet`") && said.contains("did you mean `workspace/write`?"),
        "{said}"
    );
    assert!(!said.contains("begins with"), "{said}");
    assert_eq!(desk.duet("runs").output, runs);
}

#[test]
fn options_add_nothing_to_the_manifest_of_a_folder() {
    let provider = provider();
    let desk = Desk::new(&[("f/manifest.scm", "((program \"p.scm\"))"), ("f/p.scm", ASK)]);
    desk.check("run f", 1, "");
    desk.duet("goto f@0");
    let line = format!("resume f {} --model small", provider.option());
    let said = desk.check(&line, 1, "").errors;
    assert!(said.contains("f@1 grants the run: models of local="), "{said}");
    desk.duet("goto f@0");
    desk.check(&format!("{line} --grant model/chat"), 0, "I am small\n");
}

#[test]
fn a_double_grants_nothing_to_a_run_that_has_begun() {
    let desk = Desk::new(&[
        ("w.scm", WRITE),
        ("d.pr", "{\"workspace/write\": [<returns {}> <returns {}>]}"),
    ]);
    desk.check("run w.scm", 4, "capability-denied\n");
    desk.check("resume w --double d.pr --answer yes", 4, "capability-denied\n");
}

#[test]
fn a_tool_that_was_granted_for_its_double_is_called_only_there() {
    let double = "{\"workspace/write\": [<returns {}> <returns {}> <returns {}>]}";
    let desk = Desk::new(&[("w.scm", WRITE), ("d.pr", double)]);
    desk.check("run w.scm --double d.pr", 4, "written\n");
    desk.duet("fork w granted");
    desk.check("answer w/main yes", 4, "denied\n");
    desk.check("answer w/main yes --double d.pr", 0, "written\n");
    assert!(!desk.path("out.txt").exists());
    let said = desk.check("resume w/granted --grant workspace/write --answer yes", 4, "written\n");
    assert!(said.errors.contains("grants the run: workspace/write"), "{said:?}");
    assert!(desk.path("out.txt").exists());
    desk.check("answer w/granted yes", 0, "written\n");
}

#[test]
fn a_grant_does_not_travel() {
    let desk = Desk::new(&[("w.scm", WRITE)]);
    desk.check("run w.scm", 4, "capability-denied\n");
    desk.check("resume w --grant workspace/write --answer yes", 4, "written\n");
    desk.check("export w w.duet", 0, "");
    desk.check("import w.duet --journal j", 0, "");
    std::fs::remove_file(desk.path("out.txt")).unwrap();
    let said = desk.duet("resume w --answer yes --journal j");
    assert!(said.code == 1 && said.errors.contains("workspace/write"), "{said:?}");
    // The imported run may do what is granted here, and the turns say what they said there.
    desk.check("resume w --grant none --answer yes --journal j", 0, "denied\n");
    assert!(!desk.path("out.txt").exists());
    assert_eq!(desk.duet("replay w --check --journal j").code, 0);
}

#[test]
fn a_run_is_granted_a_tool_when_it_begins() {
    let program = "(import (duet base) (duet dataspace))
(call-tool 'w \"workspace/write\" (dictionary 'path \"out.txt\" 'content \"x\"))
(display \"written\")";
    let manifest = "((program \"p.scm\") (tools workspace/read))";
    let desk = Desk::new(&[("p.scm", program), ("f/p.scm", program), ("f/manifest.scm", manifest)]);
    let said = desk.check("run p.scm", 1, "").errors;
    assert!(said.contains("`duet run --grant workspace/write` grants it"), "{said}");
    desk.check("run p.scm --name granted --grant workspace/write", 0, "written");
    assert!(desk.duet("show granted@0").output.contains("workspace/write"));
    assert_eq!(desk.duet("replay granted --check").code, 0);
    // A name adds to the manifest of a folder, too.
    desk.check("run f", 1, "");
    desk.check("run f --grant workspace/write", 0, "written");
    desk.check(
        "run p.scm --memory --grant workspace/stat,workspace/write",
        0,
        "written",
    );
    for (name, why) in [
        ("no/such", "there is no tool `no/such` to grant"),
        ("dataspace/no", "`dataspace/no` is none of"),
    ] {
        let said = desk
            .check(&format!("run p.scm --name none --grant {name}"), 2, "")
            .errors;
        assert!(said.contains(why), "{said}");
    }
    assert!(!desk.duet("runs").output.contains("none "), "no run begins");
}

#[test]
fn a_manifest_may_name_the_workspace_of_a_folder() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(display (call-tool 'host \"workspace/exists\" (dictionary 'path \"note\")))";
    let desk = Desk::new(&[
        (
            "jobs/nightly/manifest.scm",
            "((program \"a.scm\") (workspace \"../data\") (tools workspace/exists))",
        ),
        ("jobs/nightly/a.scm", program),
        ("jobs/data/note", ""),
        ("other/none", ""),
    ]);
    desk.check("run jobs/nightly", 0, "#t");
    desk.check("run jobs/nightly --workspace other", 0, "#f");
    std::fs::write(
        desk.path("jobs/nightly/manifest.scm"),
        "((program \"a.scm\") (workspace \"nowhere\") (tools workspace/exists))",
    )
    .unwrap();
    let said = desk.check("run jobs/nightly", 1, "");
    assert!(
        said.errors
            .contains("cannot use `jobs/nightly/nowhere` as the workspace"),
        "{}",
        said.errors
    );
}
