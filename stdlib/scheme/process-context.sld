;;; R7RS-small, appendix A: (scheme process-context).
(define-library (scheme process-context)
  (export command-line exit emergency-exit get-environment-variable get-environment-variables)
  (on-demand)
  (import (duet kernel)
          (only (duet internal control) %exit-extents raise guard)
          (only (duet internal sequences) map)
          (only (duet internal ports) %save-files))
  (begin
    ;;; The variables that are looked up if `environment/*` is not granted.
    (define %plain-variables '("HOME" "LANG" "LOGNAME" "PATH" "PWD" "SHELL" "TERM" "TZ" "USER"))

    ;;; Calls `thunk`; without the grant that it needs, calls `otherwise` with the condition.
    (define (%if-granted thunk otherwise)
      (guard (fault ((and (condition? fault) (eq? (condition-kind fault) 'capability-denied))
                     (otherwise fault)))
        (thunk)))

    ;;; Returns a list with the pair of a variable's name and value, or the empty list if the
    ;;; variable is not set or not granted.
    (define (%granted-variable name)
      (let ((value (%if-granted (lambda () (get-environment-variable name)) (lambda (fault) #f))))
        (if value (list (cons name value)) '())))

    ;;;> Returns the environment variables, a list of pairs of name and value: all of them if
    ;;;> `environment/*` is granted, else a few common ones that are granted and set. Fails with
    ;;;> `capability-denied` if none is granted.
    (define (get-environment-variables)
      (%if-granted
        (lambda ()
          (map (lambda (variable) (cons (car variable) (cadr variable))) (%environment-variables)))
        (lambda (fault)
          (let ((granted (apply append (map %granted-variable %plain-variables))))
            (if (null? granted) (raise fault) granted)))))

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
