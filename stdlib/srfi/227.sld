;;; SRFI 227: optional arguments.
(define-library (srfi 227)
  (export opt-lambda opt*-lambda let-optionals let-optionals* define-optionals define-optionals*)
  (on-demand)
  (import (scheme base))
  (begin
    ;;; Divides the formals: required parameters, then those with defaults, then the name of the
    ;;; rest.
    (define-syntax %opt
      (syntax-rules ()
        ((_ bind (required ...) (option ...) ((name default) . more) body)
         (%opt bind (required ...) (option ... (name default)) more body))
        ((_ bind (required ...) () (name . more) body)
         (%opt bind (required ... name) () more body))
        ((_ bind (required ...) options rest body)
         (lambda (required ... . arguments) (bind arguments options rest body)))))

    ;;; Binds one after the other; a default is in the scope of the previous ones.
    (define-syntax %in-turn
      (syntax-rules ()
        ((_ arguments () () (body ...))
         (if (null? arguments) (let () body ...) (error "too many arguments" arguments)))
        ((_ arguments () rest (body ...)) (let ((rest arguments)) body ...))
        ((_ arguments ((name default) . more) rest body)
         (let* ((given? (pair? arguments))
                (name (if given? (car arguments) default))
                (others (if given? (cdr arguments) '())))
           (%in-turn others more rest body)))))

    ;;; Binds all at once; a default is not in the scope of the others.
    (define-syntax %at-once
      (syntax-rules ()
        ((_ arguments options rest body) (%at-once arguments options () rest body))
        ((_ arguments () ((name value) ...) () (body ...))
         (if (null? arguments) (let ((name value) ...) body ...) (error "too many arguments" arguments)))
        ((_ arguments () ((name value) ...) rest (body ...)) (let ((name value) ... (rest arguments)) body ...))
        ((_ arguments ((name default) . more) (bound ...) rest body)
         (let* ((given? (pair? arguments))
                (value (if given? (car arguments) default))
                (others (if given? (cdr arguments) '())))
           (%at-once others more (bound ... (name value)) rest body)))))

    ;;;> Makes a procedure whose last parameters `(name default)` are optional; a default is not in
    ;;;> the scope of other parameters with defaults.
    (define-syntax opt-lambda
      (syntax-rules () ((_ formals body ...) (%opt %at-once () () formals (body ...)))))
    ;;;> Like `opt-lambda`, but a default is in the scope of the parameters before it.
    (define-syntax opt*-lambda
      (syntax-rules () ((_ formals body ...) (%opt %in-turn () () formals (body ...)))))
    ;;;> Binds the formals of an `opt-lambda` to the elements of a list.
    (define-syntax let-optionals
      (syntax-rules () ((_ list formals body ...) (apply (opt-lambda formals body ...) list))))
    ;;;> Binds the formals of an `opt*-lambda` to the elements of a list.
    (define-syntax let-optionals*
      (syntax-rules () ((_ list formals body ...) (apply (opt*-lambda formals body ...) list))))
    ;;;> Defines a procedure, as if by `opt-lambda`.
    (define-syntax define-optionals
      (syntax-rules () ((_ (name . formals) body ...) (define name (opt-lambda formals body ...)))))
    ;;;> Defines a procedure, as if by `opt*-lambda`.
    (define-syntax define-optionals*
      (syntax-rules () ((_ (name . formals) body ...) (define name (opt*-lambda formals body ...)))))))
