//! The cost of judging by the schemas of constraints.
//!
//! INVARIANT: whoever acts pays for the judgement.
//! Read next: `../policy.rs`.

use super::Desk;

/// The schemas of a constraint judge whatever a guest does, so the guest pays.
#[test]
fn whoever_acts_pays_for_the_schemas_of_constraints() {
    // The work doubles with each of twelve levels.
    let program = "(import (scheme base) (scheme write) (scheme process-context) (duet base) (duet dataspace)
  (duet policy) (duet sessions))
(define doubling
  (let double ((n 12))
    (if (= n 0) (dictionary 'type \"string\")
      (let ((next (double (- n 1)))) (dictionary 'anyOf (vector next next))))))
(define-constraint \"deep\" :tool 'workspace/read :when `(not (schema args.path ,doubling)))
(serve-sessions! :imports '((scheme base) (duet base) (duet dataspace)) :grants '(workspace/read)
  :fuel-limit 400000)
(on-assert (session/event :session $id :kind $kind :payload $payload)
  (when (memq kind '(result error))
    (write (list id kind)) (newline)
    (if (equal? id \"a\") (ask! \"b\" '(+ 1 2)))
    (if (equal? id \"b\") (exit 0))))
(define (ask! id payload) (message! (record 'session/request :session id :payload payload :tag 1)))
(ask! \"a\" '(begin (call-tool 'g \"workspace/read\" (dictionary 'path \"p.scm\" 'length 1)) 1))
(await (record 'never))";
    let desk = Desk::new(program);
    let done = desk.duet(&["run", "p.scm", "--workspace", "."]);
    assert_eq!(
        (done.code, &*done.output),
        (0, "(\"a\" error)\n(\"b\" result)\n"),
        "{}",
        done.errors
    );
    let facts = desk.duet(&["log", "p", "-v"]).output;
    assert!(facts.contains("out-of-fuel"), "{facts}");
    assert_eq!(desk.duet(&["replay", "p", "--check"]).code, 0);
}
