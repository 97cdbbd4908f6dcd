;;; A helper at the command line: it looks around by itself, and runs a command only if a person
;;; approves.
;;;
;;;   duet run examples/helper -- DIRECTORY
(import (duet base) (duet dataspace) (duet agents) (duet policy))

(define-constraint "commands_are_approved"
  :tool 'process/run :on-fail 'ask :reason "the helper wants to run this")

(define-agent helper
  (instructions "You help at the command line. Look before you act. Be brief.")
  (tools "workspace/list" "workspace/read" "workspace/search" "process/run")
  (budget :turns 12 :tokens 50000)
  (compact (keep-last 40)))

(define (answer messages line)
  (guard (failure ((failure-messages failure)
                   => (lambda (messages)
                        (display
                          (string-append "It did not work: " (condition-message failure) "\n"))
                        messages)))
    (let-values (((reply messages) (converse helper messages line)))
      (display (string-append reply "\n"))
      messages)))

(let chat ((messages '()))
  (let ((line (await (user-input :prompt "What can I do? (`bye` ends)"))))
    (unless (equal? line "bye")
      (chat (answer messages line)))))
