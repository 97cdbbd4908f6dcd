;;; The program of `duet aeiou`. Its words are the action, the path and the text of the file, and
;;; the options, a JSON object.
(import (duet base) (scheme process-context) (duet json) (duet aeiou))

(define (say . parts) (for-each display parts) (newline))

(define (complain . parts)
  (parameterize ((current-output-port (current-error-port))) (apply say parts)))

;;; Shows a typed error, and ends the program.
(define (give-up code message)
  (complain "error[" code "]: " message)
  (exit 1))

(define (main action path text options)
  (define (option name) (json-ref options name))
  (define tools (option "tools"))
  (define (lints envelope)
    (append (envelope-lints envelope) (userdata-lints (envelope-userdata envelope))))
  (define (check)
    (let* ((envelope (parse-envelope text))
           (called (check-actions (envelope-actions envelope) tools)))
      (if (option "json")
          (say (value->json
                 (dictionary 'userdata (envelope-userdata envelope)
                   'scratchpad (envelope-scratchpad envelope) 'output (envelope-output envelope)
                   'actions (envelope-actions envelope)
                   'lints (map symbol->string (lints envelope)) 'tools called)))
          (begin
            (say path ": an envelope of AEIOU v4 whose actions are permitted")
            (for-each (lambda (lint) (say "lint: " lint)) (lints envelope))
            (for-each (lambda (name) (say "calls " name)) called)))))
  (define (run)
    (let* ((envelope (parse-envelope text))
           (done (run-actions (envelope-actions envelope) :tools tools))
           (problem (execution-error done))
           (scan (scan-emissions (execution-emissions done))))
      (if (option "json")
          (say (value->json
                 (dictionary 'emissions (execution-emissions done)
                   'whispers (execution-whispers done) 'error (or problem 'null)
                   'done (scan-done? scan) 'result (or (scan-result scan) 'null)
                   'lints (map symbol->string (append (lints envelope) (scan-lints scan))))))
          (begin
            (for-each say (execution-emissions done))
            (for-each (lambda (lint) (complain "lint: " lint)) (lints envelope))))
      (if problem
          (give-up 'ERR_ACTIONS_FAILED
            (string-append "line " (number->string (caddr problem)) ": " (cadr problem))))))
  (define (show-turn entry)
    (say "turn " (json-ref entry "turn_index") ": " (json-ref entry "decision")
      (let ((why (json-ref/default (json-ref/default "" entry "error") entry "reason")))
        (if (string=? why "") "" (string-append ", " why)))))
  (define (converse)
    (let ((outcome
            (run-loop (tool (option "model")) text :tools tools
              :max-turns (option "max_turns") :no-progress (option "no_progress")
              :on-invalid (if (option "feedback") 'feedback 'halt))))
      (if (option "json")
          (say (value->json
                 (dictionary 'decision (symbol->string (outcome-decision outcome))
                   'reason (if (outcome-reason outcome)
                               (symbol->string (outcome-reason outcome))
                               'null)
                   'result (or (outcome-result outcome) 'null) 'output (outcome-output outcome)
                   'log (outcome-log outcome) 'counters (outcome-counters outcome))))
          (begin
            (for-each show-turn (outcome-log outcome))
            (if (outcome-result outcome) (say (outcome-result outcome)))))
      (if (eq? (outcome-decision outcome) 'HALT)
          (give-up (outcome-reason outcome)
            (string-append "the loop halted in turn "
              (number->string (length (outcome-log outcome))))))))
  (guard (problem ((aeiou-error? problem)
                   (give-up (aeiou-error-code problem)
                     (string-append path ": " (condition-message problem)))))
    (case action
      ((check) (check))
      ((run) (run))
      (else (converse)))))

(let ((words (cdr (command-line))))
  (main (string->symbol (car words)) (cadr words) (caddr words) (json->value (cadddr words))))
