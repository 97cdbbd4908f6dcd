;;; SRFI 227: optional arguments.
(define-library (srfi 227)
  (export opt-lambda opt*-lambda let-optionals let-optionals* define-optionals define-optionals*)
  (on-demand)
  (import (scheme base) (scheme case-lambda)
    (only (duet syntax) syntax-case with-syntax syntax datum->syntax syntax->datum))
  (begin
    ;;; Makes a clause for each number of arguments: one that lacks an argument calls `procedure` with
    ;;; the next default. The parameters so far come with the variables that stand for them in these
    ;;; clauses, so no default sees a parameter.
    (define-syntax %at-once
      (syntax-rules ()
        ((_ procedure (clause ...) ((name stand-in) ...) ((option default) . more) body)
         (%at-once procedure (clause ... ((stand-in ...) (procedure stand-in ... default)))
           ((name stand-in) ... (option new)) more body))
        ((_ procedure () (bound ...) (name . more) body)
         (%at-once procedure () (bound ... (name new)) more body))
        ((_ procedure (clause ...) bound (name . more) body)
         (syntax-error "a parameter without a default stands behind one with a default" name))
        ((_ procedure (clause ...) ((name stand-in) ...) rest body)
         (letrec ((procedure (case-lambda clause ... ((name ... . rest) . body)))) procedure))))

    ;;; Like `%at-once`, but a default sees the parameters before it.
    (define-syntax %in-turn
      (syntax-rules ()
        ((_ procedure (clause ...) (name ...) ((option default) . more) body)
         (%in-turn procedure
                   (clause ... ((name ...) (procedure name ... default)))
                   (name ... option)
                   more
                   body))
        ((_ procedure () (bound ...) (name . more) body)
         (%in-turn procedure () (bound ... name) more body))
        ((_ procedure (clause ...) bound (name . more) body)
         (syntax-error "a parameter without a default stands behind one with a default" name))
        ((_ procedure (clause ...) (name ...) rest body)
         (letrec ((procedure (case-lambda clause ... ((name ... . rest) . body)))) procedure))))

    ;;;> Makes a procedure whose last parameters `(name default)` are optional; a default is not in
    ;;;> the scope of the parameters.
    (define-syntax opt-lambda
      (syntax-rules () ((_ formals . body) (%at-once procedure () () formals body))))
    ;;;> Like `opt-lambda`, but a default is in the scope of the parameters before it.
    (define-syntax opt*-lambda
      (syntax-rules () ((_ formals . body) (%in-turn procedure () () formals body))))
    ;;;> Binds the formals of an `opt-lambda` to the elements of a list.
    (define-syntax let-optionals
      (syntax-rules () ((_ list formals . body) (apply (opt-lambda formals . body) list))))
    ;;;> Binds the formals of an `opt*-lambda` to the elements of a list.
    (define-syntax let-optionals*
      (syntax-rules () ((_ list formals . body) (apply (opt*-lambda formals . body) list))))
    ;;; Expands to `(define name (make inner () () formals body))`. `inner` is the symbol `name` as an
    ;;; identifier of this library, so that the procedure has the name and no other form sees it.
    (define-syntax %define-named
      (lambda (form)
        (syntax-case form ()
          ((_ make name formals body)
           (with-syntax ((inner (datum->syntax (syntax here) (syntax->datum (syntax name)))))
             (syntax (define name (make inner () () formals body))))))))

    ;;;> Defines a procedure, as if by `opt-lambda`.
    (define-syntax define-optionals
      (syntax-rules ()
        ((_ (name . formals) . body) (%define-named %at-once name formals body))))
    ;;;> Defines a procedure, as if by `opt*-lambda`.
    (define-syntax define-optionals*
      (syntax-rules ()
        ((_ (name . formals) . body) (%define-named %in-turn name formals body))))))
