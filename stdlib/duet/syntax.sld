;;; Procedural macros: `syntax-case` and what goes with it.
(define-library (duet syntax)
  (export
    ;; Taking syntax apart and making it.
    syntax-case with-syntax syntax quasisyntax unsyntax unsyntax-splicing ... _
    syntax? identifier? bound-identifier=? free-identifier=? syntax->datum datum->syntax syntax->list generate-temporaries
    syntax-violation
    ;; Macros that are no forms.
    identifier-syntax make-variable-transformer
    ;; What transformers use.
    begin-for-syntax define-for-syntax)
  (on-demand)
  (import (duet kernel))
  (begin
    ;;;> A transformer of identifiers: each use stands for the expression, and with a second clause each assignment for another.
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
