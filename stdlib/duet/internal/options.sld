;;; Options of procedures: lists of keywords and values.
(define-library (duet internal options)
  (export %check-options %check-time %option)
  (on-demand)
  (import (duet kernel) (only (duet internal control) %wrong-type raise))
  (begin
    ;;; Fails unless a list has pairs of a known keyword and a value. The failure names the keyword
    ;;; that is meant, if one is near, or else all.
    (define (%check-options procedure options known)
      (cond ((null? options) #t)
            ((not (memq (car options) known))
             (%wrong-type procedure (%one-of (%near (car options) known)) (car options)))
            ((null? (cdr options))
             (%wrong-type procedure "a value after the keyword" (car options)))
            (else (%check-options procedure (cddr options) known))))

    ;;; Fails unless a time is one that a fiber can wait: at most 100 years of 366 days.
    (define (%check-time procedure milliseconds)
      (if (not (and (exact-integer? milliseconds) (<= 0 milliseconds 3162240000000)))
          (raise (%make-condition 'bad-descriptor
                   (string-append (symbol->string procedure)
                     ": a time is an exact number of milliseconds from 0 to a hundred years")
                   (list milliseconds)))))

    ;;; Returns a list of the keyword that is near an object, or all if none is.
    (define (%near object keywords)
      (let loop ((rest (if (keyword? object) keywords '())) (nearest keywords) (least 3))
        (if (null? rest)
            nearest
            (let ((distance (%distance (%letters object) (%letters (car rest)))))
              (if (< distance least)
                  (loop (cdr rest) (list (car rest)) distance)
                  (loop (cdr rest) nearest least))))))

    (define (%letters keyword) (string->list (symbol->string (keyword->symbol keyword))))

    ;;; Returns how many letters must be added, removed or replaced to make one list of another.
    (define (%distance from to)
      (define (first-row to count)
        (if (null? to) (list count) (cons count (first-row (cdr to) (+ count 1)))))
      (define (next-row letter above to left)
        (if (null? to)
            (list left)
            (cons left
              (next-row letter (cdr above) (cdr to)
                (min (+ left 1)
                     (+ (cadr above) 1)
                     (+ (car above) (if (eqv? letter (car to)) 0 1)))))))
      (let loop ((from from) (row (first-row to 0)))
        (if (null? from)
            (car (reverse row))
            (loop (cdr from) (next-row (car from) row to (+ (car row) 1))))))

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
