;;; Greets the person whom the command line names.
(import (scheme base) (scheme process-context) (scheme write) (@NAME@))

(define name
  (let ((words (cdr (command-line))))
    (if (null? words) "world" (car words))))

(display (greeting name))
(newline)
