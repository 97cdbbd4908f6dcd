;; SRFI 38: data with shared structure.
(import (scheme base) (srfi 38))

(let ((x (list 1 2)))
  (call-with-port (open-output-string)
    (lambda (port) (write-with-shared-structure (list x x) port) (get-output-string port))))
; => "(#0=(1 2) #0#)"
(let ((x (read/ss (open-input-string "(#0=(1) #0#)")))) (eq? (car x) (cadr x)))  ; => #t
