;;; Derived syntax of (scheme base), and its helpers.
(define-library (duet internal syntax)
  (export let-values let*-values features)
  (import (duet kernel))
  (begin
    ;;;> Binds the variables of each formals list to the values of its expression, one after the
    ;;;> other.
    (define-syntax let*-values
      (syntax-rules ()
        ((_ () body ...) (let () body ...))
        ((_ ((formals expression) more ...) body ...)
         (call-with-values (lambda () expression)
           (lambda formals (let*-values (more ...) body ...))))))

    ;;;> Binds the variables of each formals list to the values of its expression; all expressions
    ;;;> are outside the scope.
    (define-syntax let-values
      (syntax-rules ()
        ((_ ((formals expression)) body ...)
         (call-with-values (lambda () expression) (lambda formals body ...)))
        ((_ bindings body ...) (%let-values bindings () (let () body ...)))))

    ;;; Receives values in temporaries, which `bound` collects for one `let` around the body.
    (define-syntax %let-values
      (syntax-rules ()
        ((_ () bound body) (let bound body))
        ((_ ((formals expression) more ...) bound body)
         (%let-values formals () expression (more ...) bound body))
        ((_ () temporaries expression more bound body)
         (call-with-values (lambda () expression)
           (lambda temporaries (%let-values more bound body))))
        ((_ (variable . formals) (temporary ...) expression more (binding ...) body)
         (%let-values formals
                      (temporary ... new)
                      expression
                      more
                      (binding ... (variable new))
                      body))
        ((_ variable (temporary ...) expression more (binding ...) body)
         (call-with-values (lambda () expression)
           (lambda (temporary ... . new) (%let-values more (binding ... (variable new)) body))))))

    ;;;> Returns the features that `cond-expand` knows.
    (define (features) (%features))))
