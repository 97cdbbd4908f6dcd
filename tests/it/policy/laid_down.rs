//! Policy that whoever runs a program lays down, and the places that constraints judge.
//!
//! INVARIANT: a program changes nothing that was laid down for it.
//! Read next: `../policy.rs`.

use std::fs;

use super::{Desk, IMPORTS};

const TRY: &str = "(define (try path)
    (guard (c ((policy-refusal? c) (refusal-code c)) (#t (condition-kind c)))
      (dictionary-ref (call-tool 'r \"workspace/read\" (dictionary 'path path)) 'content)))\n";

/// Writes a file in a folder, one to be kept secret, and links to it and to the workspace.
fn lay_out(desk: &Desk) {
    let at = |name: &str| desk.0.path().join(name);
    fs::create_dir(at("docs")).unwrap();
    fs::write(at("docs/a.txt"), "a").unwrap();
    fs::write(at("secret.txt"), "top").unwrap();
    std::os::unix::fs::symlink("secret.txt", at("link")).unwrap();
    std::os::unix::fs::symlink(".", at("here")).unwrap();
}

/// A tool refuses links only where something judges paths.
#[test]
fn constraints_judge_paths_as_they_are_used() {
    let program = "(show (try \"link\"))
        (define-constraint \"no\" :tool 'workspace/read :when '(in args.path #(\"secret.txt\")))
        (show (map try '(\"secret.txt\" \"./secret.txt\" \"docs/../secret.txt\" \"/x/secret.txt\" \"../secret.txt\")))
        (show (map try '(\"link\" \"here/secret.txt\" \"docs/./a.txt\")))";
    let desk = Desk::new(&format!("{IMPORTS}{TRY}{program}"));
    lay_out(&desk);
    desk.check(
        &["run", "p.scm", "--workspace", "."],
        0,
        "\"top\"\n(constraint_deny constraint_deny constraint_deny constraint_malformed constraint_malformed)\n\
         (denied denied \"a\")\n",
    );
}

/// Caveats judge what a tool does, as constraints do.
#[test]
fn caveats_judge_paths_as_they_are_used() {
    let program = "(import (duet capability))
        (define (through cap path)
          (guard (e (#t (condition-kind e)))
            (dictionary-ref (call-tool 'reader cap (dictionary 'path path)) 'content)))
        (show (through (tool-capability \"workspace/read\") \"link\"))
        (define no (attenuate (tool-capability \"workspace/read\") (reject (dict 'path (lit \"secret.txt\")))))
        (define only
          (attenuate (tool-capability \"workspace/read\") (rewrite (bind (dict 'path (lit \"docs/a.txt\"))) (ref 0))))
        (for-each (lambda (path) (show (list path (through no path) (through only path))))
          (list \"secret.txt\" \"./secret.txt\" \"docs/../secret.txt\" (string->utf8 \"secret.txt\") 'secret.txt
            \"/x/secret.txt\" \"../secret.txt\" \"link\" \"here/secret.txt\" \"docs/./a.txt\"))";
    let desk = Desk::new(&format!("{IMPORTS}{program}"));
    lay_out(&desk);
    let no = "capability-denied";
    let expected = [
        ("\"secret.txt\"", no, no),
        ("\"./secret.txt\"", no, no),
        ("\"docs/../secret.txt\"", no, no),
        ("#u8(115 101 99 114 101 116 46 116 120 116)", no, no),
        ("secret.txt", no, no),
        ("\"/x/secret.txt\"", no, no),
        ("\"../secret.txt\"", no, no),
        ("\"link\"", "denied", no),
        ("\"here/secret.txt\"", "denied", no),
        ("\"docs/./a.txt\"", "\"a\"", "\"a\""),
    ];
    let lines = expected.map(|(path, by_no, by_only)| format!("({path} {by_no} {by_only})\n"));
    desk.check(
        &["run", "p.scm", "--workspace", "."],
        0,
        &format!("\"top\"\n{}", lines.concat()),
    );
}

/// An entry whose name stays a symbol would be a fact like any other, and nothing would judge it.
#[test]
fn the_name_of_an_entry_may_be_a_symbol() {
    let program = "(show (told (lambda () (record-fact! 'claim '((kind . \"fact\") (value . 1))))))
        (define-constraint 'no :tool 'workspace/read)
        (show (try \"a.txt\"))
        (show (guard (e (#t (condition-kind e))) (define-constraint 5 :tool 'workspace/read)))";
    let desk = Desk::new(&format!("{IMPORTS}{TRY}{program}"));
    let expected = "(policy-denied block evidence #f)\nconstraint_deny\nwrong-type\n";
    desk.check(&["run", "p.scm", "--workspace", "."], 0, expected);
}

const NO_SECRETS: &str = r#"{"constraint.no": {"v": 1, "effect": "deny", "subject": {"tool_id": "workspace/read"},
    "when": {"op": "in", "args": ["args.path", ["secret.txt"]]}}}"#;

#[test]
fn whoever_runs_a_program_lays_down_a_policy_that_it_cannot_change() {
    let program = "(show (try \"secret.txt\"))
        (show (told (lambda () (define-constraint \"no\" :tool 'workspace/delete))))
        (show (await (user-input :prompt \"go on?\")))
        (show (try \"secret.txt\"))";
    let desk = Desk::new(&format!("{IMPORTS}{TRY}{program}"));
    let put = |name: &str, text: &str| fs::write(desk.0.path().join(name), text).unwrap();
    put("secret.txt", "top");
    put("policy.json", NO_SECRETS);
    let refused = "constraint_deny\n(policy-denied block malformed_value \"constraint.no\")\n\
                   \"y\"\nconstraint_deny\n";
    desk.check(
        &["run", "p.scm", "--policy", "policy.json", "--answer", "y"],
        0,
        refused,
    );
    assert_eq!(desk.duet(&["replay", "p", "--check"]).code, 0);
    // A run that has begun takes it on, and keeps it.
    let waiting = "(show (await (user-input :prompt \"go on?\"))) (show (try \"secret.txt\"))
        (show (await (user-input :prompt \"and on?\"))) (show (try \"secret.txt\"))";
    put("q.scm", &format!("{IMPORTS}{TRY}{waiting}"));
    desk.check(&["run", "q.scm"], 4, "");
    let said = desk.duet(&["resume", "q", "--policy", "policy.json", "--answer", "y"]);
    assert_eq!(
        (said.code, &*said.output),
        (4, "\"y\"\nconstraint_deny\n"),
        "{}",
        said.errors
    );
    assert!(said.errors.contains(" lays down: constraint.no"), "{}", said.errors);
    desk.check(&["resume", "q", "--answer", "z"], 0, "\"z\"\nconstraint_deny\n");
    assert_eq!(desk.duet(&["replay", "q", "--check"]).code, 0);
}

#[test]
fn a_folder_has_the_policy_of_its_manifest_and_changes_none_unless_that_says_so() {
    let desk = Desk::new("");
    let folder = desk.0.path().join("f");
    fs::create_dir(&folder).unwrap();
    let program = "(show (try \"secret.txt\"))
        (show (told (lambda () (define-constraint \"other\" :tool 'workspace/delete) 'entered)))";
    fs::write(folder.join("p.scm"), format!("{IMPORTS}{TRY}{program}")).unwrap();
    fs::write(folder.join("policy.json"), NO_SECRETS).unwrap();
    fs::write(desk.0.path().join("secret.txt"), "top").unwrap();
    let with = |tools: &str| {
        let manifest = format!("((program \"p.scm\") (policy \"policy.json\") (tools workspace/read {tools}))");
        fs::write(folder.join("manifest.scm"), manifest).unwrap();
    };
    with("");
    desk.check(
        &["run", "f"],
        0,
        "constraint_deny\n(policy-denied block namespace_authority #f)\n",
    );
    with("policy/update");
    desk.check(&["run", "f"], 0, "constraint_deny\nentered\n");
    for (text, told) in [
        ("{", "no JSON"),
        ("[]", "it is no object"),
        (r#"{"fact.a": {"v": 1}}"#, "begins with neither constraint. nor policy."),
        (r#"{"constraint.a": {"v": 1, "effect": "forbid"}}"#, "effect is"),
        (r#"{"policy.a": {}}"#, "an integer v"),
    ] {
        fs::write(folder.join("policy.json"), text).unwrap();
        let said = desk.duet(&["run", "f"]);
        assert!(said.code != 0 && said.errors.contains(told), "{text}: {}", said.errors);
    }
}
