;;; Options of procedures: lists of keywords and values.
(define-library (duet internal options)
  (export %check-options %option)
  (on-demand)
  (import (duet kernel) (only (duet internal control) %wrong-type))
  (begin
    ;;; Fails unless a list has pairs of a known keyword and a value.
    (define (%check-options procedure options known)
      (cond ((null? options) #t)
            ((not (memq (car options) known)) (%wrong-type procedure (%one-of known) (car options)))
            ((null? (cdr options)) (%wrong-type procedure "a value after the keyword" (car options)))
            (else (%check-options procedure (cddr options) known))))

    (define (%one-of keywords)
      (let ((first (string-append ":" (symbol->string (keyword->symbol (car keywords))))))
        (if (null? (cdr keywords))
            first
            (string-append first " or " (%one-of (cdr keywords))))))

    ;;; Returns the value after a keyword, or `default`.
    (define (%option options keyword default)
      (cond ((null? options) default)
            ((eq? (car options) keyword) (cadr options))
            (else (%option (cddr options) keyword default))))))
