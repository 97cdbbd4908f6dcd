;;; What the job reports, in a library, so that the tests reach it.
(define-library (@NAME@)
  (export report)
  (import (scheme base))
  (begin
    ;;;> Returns the report for a time in milliseconds since 1970.
    (define (report time)
      (string-append "Hour " (number->string (quotient time 3600000)) " since 1970."))))
