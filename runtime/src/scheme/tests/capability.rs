//! Capabilities in programs: what they let pass, what the journal records, and what fails after
//! they are revoked.

use super::*;

/// A capability for the tool `shell` that lets `[run text]` pass as `[safe text]`.
const NARROW: &str = "
    (define full (tool-capability \"shell\"))
    (define narrow
      (attenuate full (record 'rewrite (record 'arr (list (record 'lit 'run) (record 'bind 'String)))
                                       (record 'arr (list (record 'lit 'safe) (record 'ref 0))))))";

#[track_caller]
fn check_narrow(program: &str, answers: &[Result<&str, &str>], expected: &str) {
    check_answered(&format!("{NARROW}\n{program}"), answers, expected);
}

/// Runs a program that must end with this failure.
#[track_caller]
fn fails(program: &str, failure: &str) {
    check_narrow(program, &[], &format!("failed: {failure}\nEnded {{ code: 1 }}"));
}

const NOT_PASSED: &str = "capability-denied: invoke-tool!: the capability for `shell` does not let this payload pass";

/// Storing caveats is not enough; they must restrict the capability.
#[test]
fn attenuation_is_enforced_and_not_only_stored() {
    let program = "
        (define tag (invoke-tool! 'r narrow '(run \"ls\")))
        (log! (%await (record 'tool-result ':tag tag) #f))";
    let expected = "*shell [safe, \"ls\"]\nlisted";
    check_narrow(program, &[Ok("listed")], expected);
    for (payload, shown) in [
        ("(format \"/\")", "[format, \"/\"]"),
        ("(run \"ls\" \"more\")", "[run, \"ls\", \"more\"]"),
        ("(run ls)", "[run, ls]"),
        ("run", "run"),
    ] {
        fails(
            &format!("(yield) (invoke-tool! 'r narrow '{payload})"),
            &format!("{NOT_PASSED}: {shown}"),
        );
    }
}

#[test]
fn what_was_rewritten_is_what_the_journal_has() {
    let program = format!("{NARROW} (invoke-tool! 'r narrow '(run \"secret\") ':tag 't)");
    let mut world = world(&program, &["*"], SnapshotPolicy::NEVER);
    world.drivers.answers = read_answers(&[Ok("done")]);
    world.drive();
    let journal: String = world.turns("main").iter().map(ToString::to_string).collect();
    let call = "invoke-tool shell [safe, \"secret\"] through capability 1";
    assert!(journal.contains(call), "{journal}");
    assert!(!journal.contains("[run, "), "{journal}");
}

#[test]
fn the_newest_caveat_comes_first() {
    let program = "
        (define (wrap label)
          (record 'rewrite (record 'bind (record '_)) (record 'arr (list (record 'lit label) (record 'ref 0)))))
        (define one (attenuate full (wrap 'first) (wrap 'second)))
        (define two (attenuate one (wrap 'third)))
        (invoke-tool! 'r two 0)";
    check_narrow(program, &[Ok("x")], "*shell [first, [second, [third, 0]]]");
}

#[test]
fn a_capability_taken_back_takes_back_what_was_made_of_it() {
    let revoked = "(define narrower (attenuate narrow)) (revoke! narrow)";
    let failure = |what| format!("capability-denied: {what}: capability 2 has been revoked");
    fails(
        &format!("{revoked} (invoke-tool! 'r narrower '(run \"ls\"))"),
        &failure("invoke-tool!"),
    );
    fails(
        &format!("{revoked} (yield) (invoke-tool! 'r narrower '(run \"ls\"))"),
        &failure("invoke-tool!"),
    );
    fails(&format!("{revoked} (attenuate narrower)"), &failure("attenuate"));
    let wider = format!("{revoked} (log! (list (capability? narrow) (capability? 1))) (invoke-tool! 'r full '(still))");
    check_narrow(&wider, &[], "(#t #f)\n*shell [still]");
}

#[test]
fn an_assertion_or_message_that_does_not_pass_is_not_made() {
    let program = "
        (define positive
          (attenuate (dataspace-capability)
            (record 'rewrite (record 'rec 'p (list (record 'bind 'SignedInteger))) \
              (record 'rec 'q (list (record 'ref 0))))))
        (watch (pattern (q $x)) (lambda (event) (log! event)))
        (log! (assert! (record 'p 'no) positive))
        (log! (assert! (record 'q 1) positive))
        (assert! (record 'p 7) positive)
        (define me (attenuate (facet-capability (current-actor) (current-facet)) (record 'reject 'Symbol)))
        (watch (pattern (r $x)) (lambda (event) (log! event)))
        (log! (send! me 'no))
        (send! me (record 'r 5))
        (yield)";
    let expected = "#f
        #f
        #f
        #[added (7) #<handle 2>]
        #[message (5)]";
    check_narrow(program, &[], expected);
    let me = "(define me (facet-capability (current-actor) (current-facet)))";
    fails(
        &format!("{me} (assert! 1 me)"),
        "wrong-type: argument 2 of assert! must be a capability for the dataspace: #:<capability 2>",
    );
    fails(
        "(invoke-tool! 'r (dataspace-capability) 1)",
        "wrong-type: argument 2 of invoke-tool! must be the name of a tool or a capability for one: #:<capability 2>",
    );
}

/// A capability in a fact keeps its caveats, and any actor that finds the fact can use it.
#[test]
fn capabilities_travel_in_facts() {
    let program = "
        (watch (pattern (offer $tool))
          (lambda (event) (invoke-tool! 'r (car (car (record-fields event))) '(run \"there\"))))
        (assert! (record 'offer narrow))
        (yield) (yield)";
    check_narrow(program, &[], "*shell [safe, \"there\"]");
}

#[test]
fn a_template_narrows_the_capabilities_that_pass() {
    let program = "
        (define giver
          (attenuate (dataspace-capability)
            (record 'rewrite (record 'bind (record '_))
              (record 'rec 'given (list (record 'attenuate (record 'ref 0) (list (record 'reject (record '_)))))))))
        (watch (pattern (given $tool))
          (lambda (event) (invoke-tool! 'r (car (car (record-fields event))) '(run \"there\"))))
        (log! (assert! 1 giver))
        (assert! narrow giver)
        (yield) (yield)";
    let expected = format!("#f\nfailed: {NOT_PASSED}: [run, \"there\"]\nEnded {{ code: 1 }}");
    check_narrow(program, &[], &expected);
}

#[test]
fn a_capability_is_not_made_of_what_was_not_granted() {
    for (program, failure) in [
        (
            "(tool-capability \"process/run\")",
            "capability-denied: tool-capability: the capability `process/run` was not granted",
        ),
        (
            "(attenuate (tool-capability \"workspace/read\") (record 'reject 1))",
            "bad-caveat: 1 is no pattern of a caveat",
        ),
        (
            "(attenuate 'workspace/read)",
            "wrong-type: argument 1 of attenuate must be a capability: workspace/read",
        ),
    ] {
        let mut world = world(program, &["workspace/*"], SnapshotPolicy::NEVER);
        world.check(&format!("failed: {failure}\nEnded {{ code: 1 }}"));
    }
}

#[test]
fn a_sturdy_reference_comes_back_as_the_capability_it_stands_for() {
    let signed = "
        (define key (bytevector 1 2 3))
        (define signed
          (sturdyref 'shell key
            (record 'rewrite (record 'bind 'String) (record 'arr (list (record 'lit 'run) (record 'ref 0))))))
        (define less (attenuate-sturdyref signed (record 'reject (record 'lit \"rm\"))))
        (define cap (resolve-sturdyref less key narrow))";
    let program = format!(
        "{signed}
        (log! (sturdyref \"syndicate\" (bytevector)))
        (log! (sturdyref-name less))
        (invoke-tool! 'r cap \"ls\")"
    );
    let expected = "#[ref {oid \"syndicate\" sig #u8(105 202 48 12 29 191 160 143 186 105 33 2 221 130 49 26)}]
        shell
        *shell [safe, \"ls\"]";
    check_narrow(&program, &[], expected);
    fails(
        &format!("{signed} (invoke-tool! 'r cap \"rm\")"),
        &format!("{NOT_PASSED}: \"rm\""),
    );
    for (program, failure) in [
        (
            "(resolve-sturdyref less (bytevector 9) narrow)",
            "the sturdy reference was not signed with this key",
        ),
        (
            "(resolve-sturdyref 'less key narrow)",
            "it is no sturdy reference, which is written <ref {oid: name, sig: bytes}>",
        ),
    ] {
        fails(&format!("{signed} {program}"), &format!("bad-sturdyref: {failure}"));
    }
}
