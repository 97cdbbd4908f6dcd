//! `(duet test)`: scripts of tools, models and people, and assertions about what was called.
//!
//! INVARIANT: a scripted tool is never called, and a call without a reply fails the test.
//! Read next: `../../drivers/src/world/scripts.rs`.

use crate::support::desk::{CommandOutput, Desk};

const BEGIN: &str = "(import (scheme base) (duet base) (duet dataspace) (duet agents) (duet test) (srfi 64))\n\
    (define (page body) (dictionary 'status 200 'headers (dictionary) 'body body 'truncated #f))\n\
    (define (fetch url) (dictionary-ref (call-tool 'fetcher \"http/get\" (dictionary 'url url)) 'body))\n\
    (test-begin \"t\")\n";

/// Runs one test with a body after the imports.
fn tested(body: &str, more: &str) -> CommandOutput {
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}{body}\n(test-end)\n"))]);
    desk.duet(&format!("test one-test.scm -v{more}"))
}

#[track_caller]
fn check(body: &str, code: i32, told: &[&str]) {
    let said = tested(body, "");
    assert_eq!(said.code, code, "{}{}", said.output, said.errors);
    for told in told {
        assert!(said.output.contains(told), "{told:?} is not in\n{}", said.output);
    }
}

#[test]
fn a_script_answers_the_calls_of_a_tool_by_what_is_asked() {
    let body = r#"
(script-tool! "http/get"
  (asked "first" (returning (page "1")))
  (asked "first" (returning (page "2")))
  (asked (dictionary 'url "http://a/down") (failing 'unavailable "the server is down" 7))
  (asked (lambda (arguments) (string=? (dictionary-ref arguments 'url) "http://a/late"))
    (delaying 60000 (returning (page "late"))))
  (always (lambda (arguments) (page (dictionary-ref arguments 'url)))))
(define begun (current-time))
(test-equal "in order" '("1" "2") (list (fetch "http://a/first") (fetch "http://a/first")))
(test-equal "failure" '(unavailable "the server is down" (7))
  (guard (failure (#t (list (condition-kind failure) (condition-message failure) (condition-irritants failure))))
    (fetch "http://a/down")))
(test-equal "timeout" 'gave-up
  (call-with-timeout 1000 (lambda () (fetch "http://a/late")) (lambda () 'gave-up)))
(test-equal "computed" "http://b" (fetch "http://b"))
(script-tool! "http/get" (asked "http://a/slow" (delaying 5000 (returning (page "slow")))))
(test-equal "the first that fits" "http://a/slow" (fetch "http://a/slow"))
(test-equal "virtual seconds" 1 (quotient (- (current-time) begun) 1000))
(test-error "the schema holds" #t (call-tool 'x "http/get" (dictionary 'uri "http://a")))
(test-call-count "a refused call is none" 6 "http/get")
"#;
    check(body, 0, &["8 passed, 0 failed; 1 file"]);
}

#[test]
fn a_script_answers_all_actors_and_the_calls_of_agents() {
    let body = r#"
(script-tool! "weather/*"
  (lambda (arguments name) (string-append name " " (dictionary-ref arguments 'city))))
(register-entity! 'tool tool-entity)
(spawn-entity! 'tool :config '(forecast "weather/now"))
(test-equal "another actor" "weather/now Oslo" (request 'forecast (dictionary 'city "Oslo")))
(script-tool! "workspace/read"
  (always (returning (dictionary 'content "a text" 'size_bytes 6 'next #f))))
(script-model!
  (calling "workspace/read" (dictionary 'path "a"))
  (asked "a text" (delaying 1000 "It says: a text."))
  (lambda (payload) (failing 'rate-limited "later")))
(define reader (make-agent 'reader :instructions "Read." :tools '("workspace/read")))
(test-equal "an agent" "It says: a text." (ask reader "What does a say?"))
(test-error "a failure" 'rate-limited (ask reader "Again?"))
(test-called "with these" "workspace/read" (dictionary 'path "a"))
(test-not-called "nothing else" "workspace/write")
(test-call-order "in order" "weather/*" (list "model/chat" "What does") "workspace/read" "model/chat")
(test-equal "prompts" "What does a say?" (car (model-prompts)))
(test-equal "who" "main/tool" (caddr (car (test-calls "weather/now"))))
(test-scripts-used "all")
"#;
    check(body, 0, &["9 passed, 0 failed; 1 file"]);
}

#[test]
fn a_script_answers_for_the_person() {
    let body = r#"
(import (duet policy))
(script-person! (asked "Publish" "y") (returning "Ada") 'no)
(define (choose text) (await (user-input :prompt (record 'ask text '(yes no)))))
(test-equal "typed" 'yes (choose "Publish?"))
(test-equal "free" "Ada" (await (user-input :prompt "Name?")))
(test-equal "a choice" 'no (choose "Delete?"))
(define done (dictionary 'size_bytes 0 'changed #t 'previous #f))
(script-tool! "workspace/write" (always (returning done)))
(script-approvals! (asked "workspace/write" #t) "not today")
(define-constraint "asked" :tool 'workspace/write :on-fail 'ask :reason "a person looks")
(define (put path)
  (guard (refusal ((condition? refusal) (refusal-explanation refusal)))
    (call-tool 'w "workspace/write" (dictionary 'path path 'content ""))))
(test-equal "approved" done (put "a"))
(test-assert "refused" (string? (put "b")))
(test-call-count "asked twice" 2 "approval")
(test-call-count "written once" 1 "workspace/write")
(test-call-count "questions" 2 "person" (lambda (prompt) (record? prompt)))
"#;
    check(body, 0, &["8 passed, 0 failed; 1 file"]);
}

#[test]
fn a_procedure_serves_one_call_as_other_replies_do() {
    let body = r#"
(define (price item) (guard (e (#t (condition-kind e))) (call-tool 'x "shop/price" item)))
(script-tool! "shop/price" (lambda (item) 1) (failing 'unavailable "closed")
  (asked "pear" (lambda (item) 2)) (always (lambda (item) item)))
(test-equal "in order" '(1 unavailable 2 "pear" "fig") (map price '("apple" "apple" "pear" "pear" "fig")))
(test-scripts-used "all")
(script-person! (lambda (prompt) 'yes))
(test-scripts-used "one is left")
"#;
    let told = ["ok t / in order", "ok t / all", "actual   (\"person: a procedure\")"];
    check(body, 1, &told);
}

#[test]
fn a_call_without_a_reply_fails_the_test_and_says_what_the_script_has_left() {
    let body = r#"
(script-tool! "http/get" (asked "prices" (returning (page "1"))))
(test-error "refused" 'no-script (fetch "http://other"))
"#;
    let told = "no reply of the script of http/get fits the call {url \"http://other\"}; \
                it has left: (asked \"prices\" (returning {";
    check(body, 1, &["ok t / refused", told]);
    let body = r#"(script-person! (lambda (prompt) (car prompt)))
(test-error "refused" 'no-script (await (user-input :prompt "Name?")))"#;
    check(body, 1, &["the script of person failed: wrong-type: argument 1 of car"]);
    let body = r#"(script-tool! "http/get" (returning "text")) (test-error "refused" 'bad-result (fetch "http://a"))"#;
    check(body, 1, &["http/get never returns what its script does"]);
    let body = r#"(script-person! "perhaps")
(test-error "refused" 'bad-result (await (user-input :prompt (record 'ask "Go?" '(yes no)))))"#;
    check(
        body,
        1,
        &["the script's answer does not fit: `perhaps` is not one of: yes, no"],
    );
    let body =
        r#"(script-tool! "a/b" (lambda (arguments) (await (record 'never)))) (test-equal 1 (call-tool 'x "a/b" 1))"#;
    check(body, 1, &["it waits for a fact or message from outside a test"]);
}

#[test]
fn assertions_about_calls_show_both_values_and_the_place() {
    let body = r#"
(script-tool! "http/get" (returning (page "1")) (asked "never" (returning (page "2"))))
(fetch "http://a")
(test-called "called" "http/get" "b")
(test-not-called "not called" "http/get" "a")
(test-call-count "count" 2 "http/get")
(test-call-order "order" "http/get" "model/chat")
(test-scripts-used "used")
"#;
    let told = [
        "(test-called \"called\" \"http/get\" \"b\")",
        "expected (called \"http/get\" \"b\")\n  actual   (calls (\"http/get\" {url \"http://a\"}))",
        "expected (calls)\n  actual   (calls (\"http/get\" {url \"http://a\"}))",
        "expected 2\n  actual   1",
        "expected (\"http/get\" \"model/chat\")\n  actual   ((\"http/get\" {url \"http://a\"}))",
        "http/get: (asked \\\"never\\\" (returning",
        "0 passed, 5 failed; 1 file",
    ];
    check(body, 1, &told);
}

#[test]
fn scripts_exist_in_tests_only_and_only_for_tools() {
    let text = format!("{BEGIN}(script-tool! \"http/get\")\n");
    let said = Desk::new(&[("one.scm", &text)]).duet("run --memory one.scm");
    assert!(said.errors.contains("error[not-a-test]"), "{}", said.errors);
    for name in ["spawn", "policy/update", "dataspace/assert", "*", "test/report"] {
        let body = format!("(test-error \"refused\" 'bad-argument (script-tool! \"{name}\"))");
        check(&body, 0, &["1 passed"]);
    }
}

#[test]
fn scripted_answers_are_not_recorded() {
    let body =
        "(script-tool! \"chance/integer\" (returning 3))\n(test-equal 3 (random 6))\n(test-assert (real? (random)))";
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}{body}\n(test-end)\n"))]);
    assert_eq!(desk.duet("test --record").code, 0);
    let answers = std::fs::read_to_string(desk.path("one-test.answers")).expect("answers");
    assert!(
        answers.contains("chance/real") && !answers.contains("chance/integer"),
        "{answers}"
    );
    assert_eq!(desk.duet("test --strict").code, 0);
}
