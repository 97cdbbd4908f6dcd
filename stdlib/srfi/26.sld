;;; SRFI 26: procedures with some arguments given.
(define-library (srfi 26)
  (export cut cute)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Makes a procedure that calls the first expression with the others; each `<>` is an argument
    ;;;> of its own, and `<...>` at the end stands for all remaining ones.
    (define-syntax cut
      (syntax-rules () ((_ slot ...) (%cut () () slot ...))))

    (define-syntax %cut
      (syntax-rules (<> <...>)
        ((_ (parameter ...) (procedure part ...))
         (lambda (parameter ...) ((begin procedure) part ...)))
        ((_ (parameter ...) (procedure part ...) <...>)
         (lambda (parameter ... . rest) (apply procedure part ... rest)))
        ((_ (parameter ...) (part ...) <> . slots)
         (%cut (parameter ... new) (part ... new) . slots))
        ((_ parameters (part ...) expression . slots)
         (%cut parameters (part ... expression) . slots))))

    ;;;> Like `cut`, but the given expressions are evaluated once, when the procedure is made.
    (define-syntax cute
      (syntax-rules () ((_ slot ...) (%cute () () () slot ...))))

    (define-syntax %cute
      (syntax-rules (<> <...>)
        ((_ (parameter ...) bindings (procedure part ...))
         (let bindings (lambda (parameter ...) (procedure part ...))))
        ((_ (parameter ...) bindings (procedure part ...) <...>)
         (let bindings (lambda (parameter ... . rest) (apply procedure part ... rest))))
        ((_ (parameter ...) bindings (part ...) <> . slots)
         (%cute (parameter ... new) bindings (part ... new) . slots))
        ((_ parameters (binding ...) (part ...) expression . slots)
         (%cute parameters (binding ... (new expression)) (part ... new) . slots))))))
