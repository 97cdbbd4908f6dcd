;;; R7RS-small, appendix A: (scheme process-context).
(define-library (scheme process-context)
  (export command-line exit emergency-exit get-environment-variable get-environment-variables)
  (on-demand)
  (import (duet kernel) (only (duet internal control) %exit-extents) (only (duet internal sequences) map)
          (only (duet internal ports) %save-files))
  (begin
    ;;;> All environment variables, a list of pairs of name and value; needs the grant of `environment/*`.
    (define (get-environment-variables)
      (map (lambda (variable) (cons (car variable) (cadr variable))) (%environment-variables)))

    ;;;> Leaves all extents, running their `after` thunks, and ends the program.
    (define exit
      (case-lambda
        (() (exit #t))
        ((result) (%exit-extents) (%save-files) (%exit result))))

    ;;;> Ends the program at once.
    (define emergency-exit
      (case-lambda
        (() (emergency-exit #t))
        ((result) (%save-files) (%exit result))))))
