;;; An agent that answers one question. `answers.pr` holds recorded replies, which stand in for a
;;; provider of models.
(import (scheme base) (scheme process-context) (scheme write) (duet agents) (@NAME@))

(define question
  (let ((words (cdr (command-line))))
    (if (null? words) "How long is the word Scheme?" (car words))))

(display (ask assistant question))
(newline)
