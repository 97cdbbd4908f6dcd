;;; R7RS-small, appendix A: (scheme process-context), without the environment of the process: it is not a program's to see.
(define-library (scheme process-context)
  (export command-line exit emergency-exit)
  (import (duet kernel) (only (duet internal control) %exit-extents) (only (duet internal ports) %flush-console))
  (begin
    ;;;> Leaves all extents, running their `after` thunks, and ends the program.
    (define exit
      (case-lambda
        (() (exit #t))
        ((result) (%exit-extents) (%flush-console) (%exit result))))

    ;;;> Ends the program at once.
    (define emergency-exit
      (case-lambda
        (() (emergency-exit #t))
        ((result) (%flush-console) (%exit result))))))
