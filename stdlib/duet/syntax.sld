;;; Procedural macros: `syntax-case` and related forms.
(define-library (duet syntax)
  (export
    ;; Taking syntax apart and making it.
    syntax-case with-syntax syntax quasisyntax unsyntax unsyntax-splicing ... _
    syntax? identifier? bound-identifier=? free-identifier=? syntax->datum datum->syntax
    syntax->list generate-temporaries
    syntax-violation
    ;; Macros that are not forms.
    identifier-syntax make-variable-transformer
    ;; Forms for the code of transformers.
    begin-for-syntax define-for-syntax)
  (on-demand)
  (import (duet kernel))
  (begin
    ;;;> Makes a transformer of identifiers: each use expands to the expression, and with a second
    ;;;> clause each assignment to another.
    (define-syntax identifier-syntax
      (syntax-rules (set!)
        ((_ (identifier expression) ((set! variable value) assignment))
         (make-variable-transformer
           (lambda (form)
             (syntax-case form (set!)
               ((set! variable value) (syntax assignment))
               ((_ operand (... ...)) (syntax (expression operand (... ...))))
               (identifier (identifier? (syntax identifier)) (syntax expression))))))
        ((_ expression)
         (lambda (form)
           (syntax-case form ()
             ((_ operand (... ...)) (syntax (expression operand (... ...))))
             (identifier (identifier? (syntax identifier)) (syntax expression)))))))

    ;;;> Defines a variable or procedure for the code of macros.
    (define-syntax define-for-syntax
      (syntax-rules ()
        ((_ target form ...) (begin-for-syntax (define target form ...)))))))
