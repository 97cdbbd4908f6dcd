;;; SRFI 141: division of integers.
(define-library (srfi 141)
  (export
    floor/ floor-quotient floor-remainder
    truncate/ truncate-quotient truncate-remainder
    ceiling/ ceiling-quotient ceiling-remainder
    round/ round-quotient round-remainder
    euclidean/ euclidean-quotient euclidean-remainder
    balanced/ balanced-quotient balanced-remainder)
  (on-demand)
  (import (scheme base) (only (duet kernel) %make-condition)
    (only (duet internal control) %wrong-type))
  (begin
    ;;; Requires that a procedure was called with integers that can be divided.
    (define (%check procedure n d)
      (if (not (integer? n)) (%wrong-type procedure "an integer" n))
      (if (not (integer? d)) (%wrong-type procedure "an integer" d))
      (if (= d 0)
          (raise
            (%make-condition 'divide-by-zero
                             (string-append (symbol->string procedure) ": division by zero")
                             '()))))

    (define (%remainder n d q) (- n (* d q)))
    (define (%both n d q) (values q (%remainder n d q)))

    (define (%ceiling n d) (- (floor-quotient (- n) d)))

    (define (%round n d)
      (let* ((q (floor-quotient n d)) (twice (* 2 (abs (- n (* d q))))) (whole (abs d)))
        (cond ((< twice whole) q)
              ((> twice whole) (+ q 1))
              ((even? q) q)
              (else (+ q 1)))))

    (define (%euclidean n d) (if (> d 0) (floor-quotient n d) (%ceiling n d)))

    (define (%balanced n d)
      (let* ((q (%euclidean n d)) (r (- n (* d q))))
        (cond ((< (* 2 r) (abs d)) q)
              ((> d 0) (+ q 1))
              (else (- q 1)))))

    ;;;> Returns the quotient rounded upwards.
    (define (ceiling-quotient n d) (%check 'ceiling-quotient n d) (%ceiling n d))
    ;;;> Returns the quotient and the remainder, the quotient rounded upwards.
    (define (ceiling/ n d) (%check 'ceiling/ n d) (%both n d (%ceiling n d)))
    ;;;> Returns the remainder for `ceiling-quotient`.
    (define (ceiling-remainder n d) (%check 'ceiling-remainder n d) (%remainder n d (%ceiling n d)))

    ;;;> Returns the quotient rounded to the nearest integer, a half to the even one.
    (define (round-quotient n d) (%check 'round-quotient n d) (%round n d))
    ;;;> Returns the quotient and the remainder, the quotient rounded to the nearest integer, a half
    ;;;> to the even one.
    (define (round/ n d) (%check 'round/ n d) (%both n d (%round n d)))
    ;;;> Returns the remainder for `round-quotient`.
    (define (round-remainder n d) (%check 'round-remainder n d) (%remainder n d (%round n d)))

    ;;;> Returns the quotient for which the remainder is not negative.
    (define (euclidean-quotient n d) (%check 'euclidean-quotient n d) (%euclidean n d))
    ;;;> Returns the quotient and the remainder, the quotient rounded so that the remainder is not
    ;;;> negative.
    (define (euclidean/ n d) (%check 'euclidean/ n d) (%both n d (%euclidean n d)))
    ;;;> Returns the remainder for `euclidean-quotient`.
    (define (euclidean-remainder n d)
      (%check 'euclidean-remainder n d)
      (%remainder n d (%euclidean n d)))

    ;;;> Returns the quotient for which the remainder is at least minus half the divisor's magnitude
    ;;;> and less than half of it.
    (define (balanced-quotient n d) (%check 'balanced-quotient n d) (%balanced n d))
    ;;;> Returns the quotient and the remainder, the quotient rounded so that the remainder is at
    ;;;> least minus half the divisor's magnitude and less than half of it.
    (define (balanced/ n d) (%check 'balanced/ n d) (%both n d (%balanced n d)))
    ;;;> Returns the remainder for `balanced-quotient`.
    (define (balanced-remainder n d)
      (%check 'balanced-remainder n d)
      (%remainder n d (%balanced n d)))))
