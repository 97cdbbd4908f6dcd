;;; The agent of `coder.scm`, mended: who is asked for advice sees what the tests say.
;;;
;;;   duet patch coder examples/coder/told.scm
;;;
;;; A run of `coder.scm` that waits for advice takes this text on, or is run again with it.
(import (duet base) (duet dataspace) (duet agents) (duet json))

;;; Whether a program has run is not known after a crash; the tests can run again.
(define (run-tests role)
  (guard (failure ((and (condition? failure) (eq? (condition-kind failure) 'interrupted))
                   (run-tests role)))
    (let ((ended (call-tool role "process/run" (dictionary 'arguments '("sh" "test.sh")))))
      (dictionary 'passed (eqv? (json-ref ended 'exit) 0) 'output (json-ref ended 'stdout)))))

(define-tool (test) "Runs the tests of the repository. Says whether they passed, and their output."
  (run-tests 'coder))

(define-model writer (tools "workspace/*" "test") (budget :turns 40 :tokens 200000))

(define-agent coder
  (model writer)
  (tools "workspace/list" "workspace/read" "workspace/search" "workspace/write" test)
  (instructions "You repair programs in the workspace. Read before you write. Change little.")
  (result (object (summary string "what you changed and why, in a sentence"))))

(define (ask-person text) (await (user-input :prompt text)))

(define (work-on advice messages)
  (let*-values (((report messages) (converse coder messages advice))
                ((tests) (values (run-tests 'checker))))
    (display (string-append "coder: " (json-ref report 'summary) "\n"))
    (display (string-append "tests: " (json-ref tests 'output)))
    (assert! (record 'attempt advice (json-ref tests 'passed)))
    (if (not (json-ref tests 'passed))
        (work-on (ask-person (string-append "The tests fail: " (json-ref tests 'output)))
                 messages))))

(work-on (ask-person "What should the coder do?") '())
