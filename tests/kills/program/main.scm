;;; Adds twelve lines to a file, one by one, sleeps between them, and asks once; the third line has
;;; the answer. Its exit code is the number of calls of which nobody knows whether they happened.
(import (scheme base) (scheme process-context) (duet base) (duet dataspace))

(define name (list-ref (command-line) 2))
(define unknown 0)

(define (note! word)
  (guard (failure ((and (condition? failure) (eq? (condition-kind failure) 'interrupted))
                   (set! unknown (+ unknown 1))))
    (call-tool 'note "process/run"
      (dictionary 'arguments
        (list "sh" "-c" (string-append "echo " name "-" word " >> notes"))))))

(note! "1")
(sleep 1300)
(note! "2")
(note! (await (user-input :prompt "Go on?" :tag "go")))
(let loop ((step 4))
  (when (<= step 12)
    ;; A worker lets go of a run that sleeps for more than a second.
    (sleep (if (even? step) 1300 50))
    (note! (number->string step))
    (loop (+ step 1))))
(exit unknown)
