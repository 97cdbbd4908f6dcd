;;; SRFI 232: curried procedures, which receive their arguments in any number of calls.
(define-library (srfi 232)
  (export curried define-curried)
  (on-demand)
  (import (scheme base) (scheme case-lambda))
  (begin
    ;;;> Makes a procedure that runs once it has received all its arguments, in one call or in
    ;;;> several; additional arguments are passed to its result.
    (define-syntax curried
      (syntax-rules ()
        ((_ () body ...) (let () body ...))
        ((_ (variable ... . rest) body ...) (%curried (variable ... . rest) body ...))
        ((_ rest body ...) (lambda rest body ...))))

    ;;; The formals have at least one variable.
    (define-syntax %curried
      (syntax-rules ()
        ((_ (variable ...) body ...)
         (%curry (length '(variable ...)) #f (lambda (variable ...) body ...) '()))
        ((_ (variable ... . rest) body ...)
         (%curry (length '(variable ...)) #t (lambda (variable ... . rest) body ...) '()))))

    ;;; Makes a procedure that takes the missing ones of `count` arguments.
    (define (%curry count variadic? procedure given)
      (lambda arguments
        (if (null? arguments)
            (%curry count variadic? procedure given)
            (let* ((given (append given arguments)) (extra (- (length given) count)))
              (cond ((< extra 0) (%curry count variadic? procedure given))
                    ((or variadic? (= extra 0)) (apply procedure given))
                    (else
                     (let ((taken (reverse (list-tail (reverse given) extra))))
                       (apply (apply procedure taken) (list-tail given count)))))))))

    ;;;> Defines a curried procedure.
    (define-syntax define-curried
      (syntax-rules ()
        ((_ (name . formals) body ...) (define name (curried formals body ...)))))))
