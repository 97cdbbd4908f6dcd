;;; Sessions of `(duet aeiou)` in several actors: one turn in flight for each SID of the run.
(define-library (asker)
  (export asker)
  (import (duet base) (duet dataspace) (duet aeiou))
  (begin
    (define done
      (string-append "<<<NSENV:V4:START>>>\n<<<NSENV:V4:USERDATA>>>\n{}\n<<<NSENV:V4:ACTIONS>>>\n"
        "command\nemit \"<<<LOOP:DONE>>> ok\"\nendcommand\n<<<NSENV:V4:END>>>\n"))
    (define (asker config)
      (sleep (cadr config))
      (assert!
        (record 'answer (car config) (cadr config)
          (guard (problem ((aeiou-error? problem) (aeiou-error-code problem)))
            (outcome-result
              (run-loop (lambda (rules envelope) (sleep 50) done)
                (dictionary 'subject "s" 'fields (dictionary)) :sid (car config)))))))))
(import (duet base) (duet dataspace) (duet aeiou) (asker))
(register-entity! 'asker asker)
(on-assert (answer $sid $delay $result) (log! (list sid delay result)))
(spawn-entity! 'asker :config '("one" 1))
(spawn-entity! 'asker :config '("one" 20))
(spawn-entity! 'asker :config '("two" 1))
(spawn-entity! 'asker :config '("one" 200))
(sleep 400)
(log! "without the rights that it needs")
(spawn-entity! 'asker :config '("three" 1)
  :grants '((dataspace/assert (pattern (answer _ _ _))) clock/timer dataspace/message)
  :on-exit (lambda (reason) (log! (list 'three (condition-kind reason)))))
(sleep 50)
(log! "a session lasts; it is free when its loop has ended, failed or been stopped")
(define (go . lines)
  (define reply
    (string-append "<<<NSENV:V4:START>>>\n<<<NSENV:V4:USERDATA>>>\n{}\n<<<NSENV:V4:ACTIONS>>>\n"
      (string-join (append '("command") lines '("endcommand")) "\n") "\n<<<NSENV:V4:END>>>\n"))
  (try (lambda (rules envelope) reply)))
(define (try model)
  (log!
    (guard (problem ((condition? problem) (condition-message problem)))
      (let ((outcome (run-loop model (dictionary 'subject "s" 'fields (dictionary)) :sid "own"
                               :tools '("store.*"))))
        (list (outcome-result outcome) (dictionary-values (outcome-counters outcome)))))))
(go "call tool.store.set(\"k\", [1])" "emit \"<<<LOOP:DONE>>> set\"")
(go "emit \"<<<LOOP:DONE>>> \" + tool.store.get(\"k\")")
(try (lambda (rules envelope) (error "the model fails")))
(define stopped (spawn-facet!))
(spawn (lambda () (try (lambda (rules envelope) (sleep 100000)))) stopped)
(sleep 10)
(go "emit \"<<<LOOP:DONE>>> not yet\"")
(stop-facet! stopped)
(go "call tool.store.delete(\"k\")" "emit \"<<<LOOP:DONE>>> \" + len(tool.store.keys())")
